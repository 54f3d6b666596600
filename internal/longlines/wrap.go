// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"go/format"
	"regexp"
	"slices"
	"strings"
)

// rewrap is a file with its long comments wrapped anew, and formatted. It changes nothing but
// where comments stand and where their lines break.
func rewrap(src []byte) ([]byte, error) {
	// Where one comment has moved, gofmt may move those of its neighbours: a few rounds settle it.
	for range 20 {
		f, err := parse(src)
		if err != nil {
			return nil, err
		}
		next := []byte(strings.Join(f.wrapped(), "\n"))
		if bytes.Equal(next, src) {
			break
		}
		if src, err = format.Source(next); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// wrapped are the lines of the file, those of long paragraphs filled again. If a comment behind
// code has to move, that is all that changes: its paragraph is filled in the next round.
func (f *source) wrapped() []string {
	if moved, ok := f.moveOne(); ok {
		return moved
	}
	var out []string
	for i := 0; i < len(f.lines); {
		n := f.paragraph(i)
		if n == 0 {
			out = append(out, f.lines[i])
			i++
			continue
		}
		out = append(out, f.filled(i, i+n)...)
		i += n
	}
	return out
}

// moveOne moves the first comment that is too far behind its code above it, or, where the code
// opens a block, to the block's first line. It leaves those that would run into another comment.
func (f *source) moveOne() (moved []string, ok bool) {
	for i, k := range f.kinds {
		if k != behind || width(f.lines[i]) <= commentLimit {
			continue
		}
		statement, text := strings.TrimRight(f.lines[i][:f.at[i]], " \t"), f.lines[i][f.at[i]:]
		own := indentation(statement) + text
		opens := opening.MatchString(statement)
		neighbour := i - 1
		if opens {
			own, neighbour = "\t"+own, i+1
		}
		if neighbour >= 0 && f.at[neighbour] >= 0 && f.kinds[neighbour] != behind {
			continue
		}
		pair := []string{own, statement}
		if opens {
			slices.Reverse(pair)
		}
		return slices.Concat(f.lines[:i], pair, f.lines[i+1:]), true
	}
	return nil, false
}

// opening is a line whose comment is about what follows it.
var opening = regexp.MustCompile(`\{$|^\s*(case\b.*|default):$`)

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

var (
	// item is the first line of an item of a list.
	item = regexp.MustCompile(`^ +([-*+•]|\d+[.)]) +\S`)
	// marker is a word that would begin an item or a heading at the beginning of a line.
	marker = regexp.MustCompile(`^([-*+•]|\d+[.)]|#+)$`)
	// apart is a line that is no part of a paragraph: a heading, the address of a link, columns.
	apart = regexp.MustCompile(`^ #+ |^ \[[^\]]*\]: |\S\s{3,}\S|\S\t`)
)

// text is what line i has behind //, if it is a comment alone on its line that may be wrapped.
func (f *source) text(i int) (string, bool) {
	if i >= len(f.lines) || f.kinds[i] != comment {
		return "", false
	}
	text := f.lines[i][f.at[i]+2:]
	return text, strings.HasPrefix(text, " ") && strings.TrimSpace(text) != "" && !apart.MatchString(text)
}

// paragraph is of how many lines the paragraph or item is that begins at line i; 0: none does.
func (f *source) paragraph(i int) int {
	first, ok := f.text(i)
	listed := item.MatchString(first)
	depth := len(indentation(first))
	if !ok || !listed && depth > 1 {
		return 0
	}
	n := 1
	for ; ; n++ {
		next, ok := f.text(i + n)
		in := len(indentation(next))
		if !ok || item.MatchString(next) || f.at[i+n] != f.at[i] ||
			listed && in <= depth || !listed && in != depth {
			return n
		}
	}
}

// filled are the lines of a paragraph, from a line to before another, filled if one is too long.
func (f *source) filled(from, to int) []string {
	lines := f.lines[from:to]
	if !slices.ContainsFunc(lines, func(l string) bool { return width(l) > commentLimit }) {
		return lines
	}
	var words []string
	for i := from; i < to; i++ {
		text, _ := f.text(i)
		words = append(words, strings.Fields(text)...)
	}
	first, _ := f.text(from)
	head := lines[0][:f.at[from]] + "//"
	begin := head + indentation(first)
	rest := begin
	if item.MatchString(first) {
		rest = head + strings.Repeat(" ", len(item.FindString(first))-1)
		if to > from+1 {
			second, _ := f.text(from + 1)
			rest = head + indentation(second)
		}
	}
	return settle(words, begin, rest)
}

// settle fills lines. They end earlier if the last would otherwise be a word or two alone.
func settle(words []string, begin, rest string) []string {
	full := fill(words, begin, rest, commentLimit)
	for limit := commentLimit; limit >= commentLimit-20; limit-- {
		narrow := fill(words, begin, rest, limit)
		if len(narrow) > len(full) {
			break
		}
		if width(narrow[len(narrow)-1])-width(rest) >= 20 {
			return narrow
		}
	}
	return full
}

// fill puts words on lines up to a limit; a line may begin with a word that is wider.
func fill(words []string, begin, rest string, limit int) (out []string) {
	line, empty := begin, true
	for i := 0; i < len(words); {
		n := 1 // words that stay together
		for i+n < len(words) && (marker.MatchString(words[i+n]) || i == 0 && n == 1 && marker.MatchString(words[0])) {
			n++
		}
		chunk := strings.Join(words[i:i+n], " ")
		if !empty && width(line)+1+width(chunk) > limit {
			out, line, empty = append(out, line), rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+chunk, false
		i += n
	}
	return append(out, line)
}
