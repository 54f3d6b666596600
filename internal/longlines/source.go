// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
)

// source is a file of Go by its lines.
type source struct {
	lines []string
	kinds []kind // of lines
	at    []int  // of lines: the byte at which a comment with // begins, or -1
}

// kind is what a line is made of.
type kind int

const (
	code    kind = iota
	comment      // alone on its line, with //
	block        // a part of a comment with /* */, alone on its line
	behind       // code, and a comment with // behind it
	fixed        // a comment, or text of a string, that has to stay as it is
)

// long is a line that is too long.
type long struct {
	line, columns, limit int
	what                 string
}

func (l long) String() string {
	return fmt.Sprintf("%d: %s of %d columns, more than %d", l.line, l.what, l.columns, l.limit)
}

func parse(src []byte) (*source, error) {
	lines := strings.Split(string(src), "\n")
	f := &source{lines: lines, kinds: make([]kind, len(lines)), at: make([]int, len(lines))}
	for i := range f.at {
		f.at[i] = -1
	}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(src))
	var errs scanner.ErrorList
	var s scanner.Scanner
	s.Init(file, src, errs.Add, scanner.ScanComments)
	preamble := -1 // the first line of the comment before the token
	for imports := false; ; {
		pos, tok, text := s.Scan()
		at := file.PositionFor(pos, false)
		switch {
		case tok == token.EOF:
			f.keepOutput()
			return f, errs.Err()
		case tok == token.COMMENT:
			f.note(at.Line-1, at.Column-1, text)
			if preamble < 0 {
				preamble = at.Line - 1
			}
			continue
		case tok == token.STRING && imports && text == `"C"`:
			f.keep(preamble, at.Line-1)
		case tok == token.STRING:
			for i := range strings.Count(text, "\n") {
				f.kinds[at.Line+i] = fixed
			}
		}
		if tok != token.IMPORT && tok != token.STRING {
			preamble = -1
		}
		imports = tok == token.IMPORT
	}
}

// note marks the lines of a comment, which begins at a byte of a line.
func (f *source) note(line, at int, text string) {
	alone := strings.TrimSpace(f.lines[line][:at]) == ""
	if strings.HasPrefix(text, "//") {
		f.at[line] = at
		switch {
		case directive.MatchString(text):
			f.kinds[line] = fixed
		case alone:
			f.kinds[line] = comment
		default:
			f.kinds[line] = behind
		}
		return
	}
	for i := range strings.Count(text, "\n") + 1 {
		if i > 0 || alone {
			f.kinds[line+i] = block
		}
	}
}

// directive is a comment for a program: a letter or a digit follows //.
var directive = regexp.MustCompile(`^//[^\s/]`)

// keep marks comments from a line to before another as they have to stay.
func (f *source) keep(from, to int) {
	for i := max(from, 0); i < to; i++ {
		if f.kinds[i] == comment || f.kinds[i] == block {
			f.kinds[i] = fixed
		}
	}
}

var output = regexp.MustCompile(`(?i)^// *(unordered )?output:`)

// keepOutput keeps the expected output of examples.
func (f *source) keepOutput() {
	expected := false
	for i, k := range f.kinds {
		if k != comment {
			expected = false
			continue
		}
		if expected = expected || output.MatchString(f.lines[i][f.at[i]:]); expected {
			f.kinds[i] = fixed
		}
	}
}

// tooLong are the lines over their limit.
func (f *source) tooLong() (out []long) {
	for i, line := range f.lines {
		what, limit := "code", codeLimit
		switch f.kinds[i] {
		case fixed:
			continue
		case comment, block:
			what, limit = "a comment", commentLimit
			if len(strings.Fields(strings.TrimLeft(line, "/* \t"))) < 2 {
				continue
			}
		case behind:
			what, limit = "code with a comment", commentLimit
		}
		if n := width(line); n > limit {
			out = append(out, long{i + 1, n, limit, what})
		}
	}
	return out
}

// width is how many columns a line has.
func width(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += tabWidth - n%tabWidth
		} else {
			n++
		}
	}
	return n
}
