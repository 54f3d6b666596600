// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// page is a file in Markdown, taken apart.
type page struct {
	name    string
	text    string
	prose   []piece // paragraphs, items, tables
	spans   []piece // `code` in them
	blocks  []piece // the lines of fenced code, continued ones joined
	lines   []string
	fenced  []bool // by line
	anchors map[string]bool
}

// piece is a part of a page, and the line that it begins in.
type piece struct {
	line int
	text string
}

var (
	span    = regexp.MustCompile("``?([^`]+)``?")
	heading = regexp.MustCompile(`^#{1,6} +(.*?)\s*#*$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func newPage(name, text string) *page {
	p := &page{name: name, text: text, lines: strings.Split(text, "\n"), anchors: map[string]bool{}}
	p.fenced = make([]bool, len(p.lines))
	var fence, continued bool
	var paragraph []string
	flush := func(next int) {
		if len(paragraph) > 0 {
			p.prose = append(p.prose, piece{next - len(paragraph) + 1, strings.Join(paragraph, "\n")})
			paragraph = nil
		}
	}
	for i, l := range p.lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			flush(i)
			fence, continued = !fence, false
			p.fenced[i] = true
			continue
		}
		if p.fenced[i] = fence; fence {
			if continued {
				last := &p.blocks[len(p.blocks)-1]
				last.text = strings.TrimSuffix(last.text, "\\") + " " + strings.TrimSpace(l)
			} else {
				p.blocks = append(p.blocks, piece{i + 1, l})
			}
			continued = strings.HasSuffix(l, "\\")
			continue
		}
		if m := heading.FindStringSubmatch(l); m != nil {
			p.addAnchor(m[1])
		}
		if strings.TrimSpace(l) == "" {
			flush(i)
			continue
		}
		paragraph = append(paragraph, l)
	}
	flush(len(p.lines))
	for _, t := range p.prose {
		for _, m := range span.FindAllStringSubmatchIndex(t.text, -1) {
			p.spans = append(p.spans, piece{t.line + strings.Count(t.text[:m[0]], "\n"),
				strings.Join(strings.Fields(t.text[m[2]:m[3]]), " ")})
		}
	}
	return p
}

// addAnchor notes a heading under the name by which links reach it, GitHub's.
func (p *page) addAnchor(heading string) {
	heading = strings.ToLower(strings.ReplaceAll(linked.ReplaceAllString(heading, "$1"), "`", ""))
	slug := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
			return c
		}
		return -1
	}, heading)
	name := slug
	for i := 1; p.anchors[name]; i++ {
		name = fmt.Sprintf("%s-%d", slug, i)
	}
	p.anchors[name] = true
}

// measured tells whether a program wrote the page.
func (p *page) measured() bool {
	return path.Dir(p.name) == "benchmarks/results" && path.Base(p.name) != "README.md" ||
		strings.HasPrefix(p.name, "benchmarks/emulation/matrix/")
}

// code is all that stands in code.
func (p *page) code() []piece { return append(append([]piece(nil), p.spans...), p.blocks...) }

func (p *page) problem(line int, format string, args ...any) problem {
	return problem{p.name, line, fmt.Sprintf(format, args...)}
}
