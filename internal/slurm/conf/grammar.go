// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"fmt"
	"strings"
)

// The grammar is that of Slurm's src/common/parse_config.c:
//
//   - A comment begins at a # that has an even number of backslashes right before it. It ends with
//     the line, and goes first.
//   - A line that ends with an odd number of backslashes, and blanks, is continued: the last
//     backslash and the blanks go.
//   - Other backslashes go too, and what follows one stays: \# is #, \\ is \.
//   - A line is a list of KEY=VALUE with blanks between them. Blanks may stand around the =, which
//     may have one of + - * / right before it. A value is all up to a blank; or, if the next blank
//     or the end is right behind its second double quote, all between the two.

// space are what C's isspace has in the locale C.
const space = " \t\n\v\f\r"

// Field is KEY=VALUE of a line.
type Field struct{ Key, Value string }

// Line is a line, with those that continue it, and where it begins. It has at least one field.
type Line struct {
	File   string
	Number int
	Fields []Field
}

// Get is the value of a key, whatever its case; the last of several.
func (l *Line) Get(key string) (value string, ok bool) {
	for i := len(l.Fields) - 1; i >= 0; i-- {
		if strings.EqualFold(l.Fields[i].Key, key) {
			return l.Fields[i].Value, true
		}
	}
	return "", false
}

// Is reports whether the line begins with a key.
func (l *Line) Is(key string) bool { return strings.EqualFold(l.Fields[0].Key, key) }

// bad is an error of a field of the line.
func (l *Line) bad(field, value, format string, args ...any) error {
	return &Error{l.File, l.Number, field, value, fmt.Errorf(format, args...)}
}

// logicalLines calls take for each line of a text, continued ones in one, with the number of the
// first, until that fails.
func logicalLines(text string, take func(line string, number int) error) error {
	var logical strings.Builder
	first, n := 1, 0
	for physical := range strings.Lines(text) {
		n++
		part, more := cutContinuation(cutComment(physical))
		logical.WriteString(part)
		if more {
			continue
		}
		if err := take(unescape(logical.String()), first); err != nil {
			return err
		}
		logical.Reset()
		first = n + 1
	}
	if logical.Len() == 0 {
		return nil
	}
	return take(unescape(logical.String()), first)
}

// cutComment is a line without its comment.
func cutComment(line string) string {
	escaped := false
	for i := range len(line) {
		switch {
		case line[i] == '#' && !escaped:
			return line[:i]
		case line[i] == '\\':
			escaped = !escaped
		default:
			escaped = false
		}
	}
	return line
}

// cutContinuation takes off a line what says that the next one continues it.
func cutContinuation(line string) (part string, more bool) {
	end := strings.TrimRight(line, space)
	backslashes := len(end) - len(strings.TrimRight(end, `\`))
	if backslashes%2 == 0 {
		return line, false
	}
	return end[:len(end)-1], true
}

// unescape drops backslashes except for those that follow one.
func unescape(line string) string {
	if strings.IndexByte(line, '\\') < 0 {
		return line
	}
	b := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			if i++; i == len(line) {
				break
			}
		}
		b = append(b, line[i])
	}
	return string(b)
}

// included is the name of the file that a line includes, and what stands behind it.
func included(line string) (name, rest string, ok bool) {
	const word = "include"
	if len(line) <= len(word) || !strings.EqualFold(line[:len(word)], word) || strings.IndexByte(space, line[len(word)]) < 0 {
		return "", "", false
	}
	line = strings.TrimLeft(line[len(word):], space)
	end := strings.IndexAny(line+" ", space)
	return line[:end], line[end:], true
}

// fields reads as many fields of a line as there are; rest is what begins with none.
func fields(line string) (all []Field, rest string) {
	for {
		f, behind, ok := cutField(line)
		if !ok {
			return all, line
		}
		all, line = append(all, f), behind
	}
}

// cutField takes the first field off a line.
func cutField(line string) (f Field, rest string, ok bool) {
	line = strings.TrimLeft(line, space)
	end := 0
	for end < len(line) && keyByte(line[end]) {
		end++
	}
	f.Key = line[:end]
	line = strings.TrimLeft(line[end:], space)
	if len(line) > 1 && line[1] == '=' && strings.IndexByte("+-*/", line[0]) >= 0 {
		line = line[1:]
	}
	if f.Key == "" || line == "" || line[0] != '=' {
		return Field{}, "", false
	}
	line = strings.TrimLeft(line[1:], space)
	if line == "" {
		return Field{}, "", false
	}
	if line[0] == '"' {
		end := strings.IndexByte(line[1:], '"') + 1
		if behind := line[end+1:]; end > 0 && (behind == "" || strings.IndexByte(space, behind[0]) >= 0) {
			f.Value = line[1:end]
			return f, behind, true
		}
	}
	end = strings.IndexAny(line, space)
	if end < 0 {
		end = len(line)
	}
	f.Value = line[:end]
	return f, line[end:], true
}

func keyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.'
}

// Error is what is wrong with a file, a line of it, or a field of that.
type Error struct {
	File         string
	Line         int    // 0: the file as a whole
	Field, Value string // both may be empty
	Err          error
}

func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", text, e.Line)
	}
	if e.Field != "" {
		text = fmt.Sprintf("%s: %s: %.200q", text, e.Field, e.Value)
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
