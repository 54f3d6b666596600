// SPDX-License-Identifier: BSD-3-Clause

// Command prosetext writes what people read of the sources for a linter of prose: comments of Go
// and C, and the strings of Go and C that are sentences, which are help texts, errors and lines of
// logs. Of the source DIR/x.go it writes OUT/DIR/x.go.md, in which a paragraph of source line N is
// line 2N-1.
//
//	go run ./benchmarks/cmd/prosetext OUT DIR...
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: prosetext OUT DIR...")
		os.Exit(2)
	}
	for _, dir := range os.Args[2:] {
		if err := write(os.Args[1], dir); err != nil {
			fmt.Fprintln(os.Stderr, "prosetext:", err)
			os.Exit(1)
		}
	}
}

func write(out, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "test" || d.Name() == "ctest" || d.Name() == "pb"):
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var page page
		switch ext := filepath.Ext(name); {
		case ext == ".go" && !strings.HasSuffix(name, "_test.go"):
			page, err = ofGo(name, text)
		case ext == ".c" || ext == ".h":
			page = ofC(string(text))
		}
		if err != nil || page == nil {
			return err
		}
		file := filepath.Join(out, name+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(page.String()), 0o666)
	})
}

// page has the paragraphs of a source by their first lines, from 1.
type page map[int]string

func (p page) String() string {
	var b strings.Builder
	last := 1
	for _, line := range slices.Sorted(maps.Keys(p)) {
		b.WriteString(strings.Repeat("\n", 2*line-1-last))
		b.WriteString(p[line])
		last = 2*line - 1
	}
	return b.String() + "\n"
}

var (
	item = regexp.MustCompile(`^(?:[-*]|\d+\.) `)
	// What is no prose: directives, licences, rules between parts, HTML.
	noProse = regexp.MustCompile(`^(?:go:|nolint|line |SPDX-|Copyright|[-=*#/]+$|<|\.TH|@)`)
)

// add adds the paragraphs of a text whose lines begin at a source line. Indented lines are code or
// tables.
func (p page) add(line int, text string) {
	at, list := 0, false // the first line of the paragraph that is open, 0: none is; it is an item
	for i, l := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(l)
		switch indented := strings.HasPrefix(l, "\t") || strings.HasPrefix(l, "  "); {
		case trimmed == "" || noProse.MatchString(trimmed):
			at = 0
		case item.MatchString(trimmed):
			at, list = line+i, true
			p[at] = item.ReplaceAllString(trimmed, "")
		case at != 0 && indented && !list:
			at = 0
		case at != 0:
			p[at] += " " + trimmed
		case !indented:
			at, list = line+i, false
			if p[at] != "" { // the line has two
				trimmed = p[at] + ". " + trimmed
			}
			p[at] = trimmed
		}
	}
}

// ofGo has the comments of a Go file, and its strings of several words.
func ofGo(name string, text []byte) (page, error) {
	set, p := token.NewFileSet(), page{}
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), " "))
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(text, "#include") { // cgo's is C
			p.add(set.Position(group.Pos()).Line, text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, is := n.(*ast.ImportSpec); is {
			return false
		}
		if f, is := n.(*ast.Field); is && f.Tag != nil {
			return false
		}
		e, is := n.(ast.Expr)
		if s, whole := sentence(e); is && whole {
			p.message(set.Position(n.Pos()).Line, s)
			return false
		}
		return true
	})
	return p, nil
}

// sentence joins a string that is written in parts; false unless all of them are strings.
func sentence(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, a := sentence(e.X)
		right, b := sentence(e.Y)
		return left + right, a && b && e.Op == token.ADD
	}
	return "", false
}

// message adds a string if it has three words at least, and is neither HTML nor a list of names.
func (p page) message(line int, s string) {
	if len(strings.Fields(s)) >= 3 && !strings.ContainsAny(s, "<{") && strings.Count(s, "_") < 9 {
		p.add(line, strings.TrimLeft(s, " \n"))
	}
}

var (
	piece   = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*|'(?:[^'\\]|\\.)'`)
	between = regexp.MustCompile(`(?m)"\s*"`)
	star    = regexp.MustCompile(`(?m)^[ \t]*\*? ?|\*/$`)
)

// ofC has the same of a file in C.
func ofC(text string) page {
	p := page{}
	for _, at := range piece.FindAllStringIndex(text, -1) {
		s, line := text[at[0]:at[1]], 1+strings.Count(text[:at[0]], "\n")
		switch s[0] {
		case '"':
			s = between.ReplaceAllString(s[1:len(s)-1], "")
			p.message(line, strings.ReplaceAll(s, `\n`, " "))
		case '/':
			p.add(line, star.ReplaceAllString(s[2:], ""))
		}
	}
	return p
}
