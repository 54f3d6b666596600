// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// codeLines are the lines of a package's code: of its files, and of its functions with what is
// said about them.
type codeLines struct {
	total int
	part  map[string]int // by name of the file or function
}

// readLines counts the lines of the package in a directory, without its tests.
func readLines(dir string) (*codeLines, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("-source %s: no Go files there", dir)
	}
	c := &codeLines{part: map[string]int{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if err := c.read(path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *codeLines) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	n := bytes.Count(text, []byte("\n"))
	c.total += n
	c.part[filepath.Base(path)] = n
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		c.part[f.Name.Name] += set.Position(f.End()).Line - set.Position(from).Line + 1
	}
	return nil
}

// of adds up files and functions, all of which have to be there.
func (c *codeLines) of(names []string) (n int, err error) {
	for _, name := range names {
		lines, ok := c.part[name]
		if !ok {
			return 0, fmt.Errorf("no file or function %s", name)
		}
		n += lines
	}
	return n, nil
}
