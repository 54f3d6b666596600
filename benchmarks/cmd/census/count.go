// SPDX-License-Identifier: BSD-3-Clause

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
	"strings"
	"unicode/utf8"
)

// wing is a part of the house that can be understood by itself.
type wing int

const (
	product wing = iota
	laboratory
	invasive
	adapter
	tests // and what only they use
	wings
)

// module is the import path of the root.
const module = "github.com/aucsched/aucsched"

// wingOf is the wing of a file.
func wingOf(rel string) wing {
	under := func(roots ...string) bool {
		return slices.ContainsFunc(roots, func(r string) bool { return strings.HasPrefix(rel, r+"/") })
	}
	switch {
	case strings.HasSuffix(rel, "_test.go"),
		under("internal/test", "cshim/ctest", "slurmplugin/test", "adapters/kubernetes/internal/kubetest"):
		return tests
	case under("benchmarks"):
		return laboratory
	case under("invasive", "examples"):
		return invasive
	case under("adapters"):
		return adapter
	}
	return product
}

// pkg is a package of the tree.
type pkg struct {
	dir     string // from the root
	name    string
	wing    wing
	names   int
	imports map[string]bool // ours, by directory
	files   []*ast.File
}

// house is what a tree has.
type house struct {
	packages      map[string]*pkg
	lines         [wings]int
	areas         map[string]int // lines of the product, by directory of the root
	longFunctions int
	longest       int
	over140       int
	sentences     int
	c             map[string]string // source by file of slurmplugin
	files         *token.FileSet
}

// excuses are what a sentence says of a feature that does not go with another.
var excuses = regexp.MustCompile(`(?i)\bonly \[?[\w.]+\]? (knows|looks at)\b|\bOnly \[?Auction\b|\b(is|are) off where\b`)

// margins are line breaks within a sentence.
var margins = regexp.MustCompile(`\n\s*(//|\*)?\s*`)

// skipped are directories that hold nothing of ours.
var skipped = []string{".git", "build", "bin", "testdata", "results", "node_modules"}

func count(root string) (*house, error) {
	h := &house{packages: make(map[string]*pkg), areas: make(map[string]int), c: make(map[string]string), files: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return h.add(filepath.ToSlash(rel), path)
	})
	if err != nil {
		return nil, err
	}
	if len(h.packages) == 0 {
		return nil, fmt.Errorf("no Go package is in it")
	}
	return h, nil
}

// add counts one file.
func (h *house) add(rel, path string) error {
	dir, kind := filepath.ToSlash(filepath.Dir(rel)), filepath.Ext(rel)
	page := kind == ".md" && (dir == "." || strings.HasPrefix(rel, "docs/")) && rel != "CHANGELOG.md"
	if kind != ".go" && kind != ".c" && kind != ".h" && !page {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w := wingOf(rel)
	if w == product {
		h.sentences += len(excuses.FindAll(margins.ReplaceAll(text, []byte(" ")), -1))
	}
	if page {
		return nil
	}
	lines := strings.Count(string(text), "\n")
	h.lines[w] += lines
	if w == product {
		area, _, _ := strings.Cut(rel, "/")
		h.areas[area] += lines
	}
	if kind == ".c" && dir == "slurmplugin" {
		h.c[strings.TrimSuffix(filepath.Base(rel), ".c")] = string(text)
	}
	if kind != ".go" || strings.HasSuffix(rel, "_test.go") {
		return nil
	}
	return h.parse(dir, rel, text)
}

// parse counts what a Go file declares, and notes what it imports.
func (h *house) parse(dir, rel string, text []byte) error {
	f, err := parser.ParseFile(h.files, rel, text, parser.ParseComments)
	if err != nil {
		return err
	}
	p := h.packages[dir]
	if p == nil {
		p = &pkg{dir: dir, wing: wingOf(rel), imports: make(map[string]bool)}
		h.packages[dir] = p
	}
	p.name, p.files = f.Name.Name, append(p.files, f)
	for _, i := range f.Imports {
		if to, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); ours {
			p.imports[to] = true
		}
	}
	if !ast.IsGenerated(f) {
		h.measureLines(string(text))
	}
	for _, d := range f.Decls {
		p.names += exportedOf(d)
		if fn, ok := d.(*ast.FuncDecl); ok && h.files.Position(fn.End()).Line-h.files.Position(fn.Pos()).Line >= 80 {
			h.longFunctions++
		}
	}
	return nil
}

func (h *house) measureLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") // a tab is 4 wide
		h.longest = max(h.longest, n)
		if n > 140 {
			h.over140++
		}
	}
}

// exportedOf counts the exported names of a declaration: types, functions, methods of exported
// types, constants and variables.
func exportedOf(d ast.Decl) (n int) {
	one := func(id *ast.Ident) {
		if id.IsExported() {
			n++
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
			one(d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				one(s.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					one(id)
				}
			}
		}
	}
	return n
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// public are the packages that another module can import.
func (h *house) public() (out []*pkg) {
	for _, p := range h.packages {
		if p.name != "main" && !strings.Contains("/"+p.dir+"/", "/internal/") {
			out = append(out, p)
		}
	}
	return out
}

// exported counts the names of the public packages of a wing.
func (h *house) exported(of wing) (n int) {
	for _, p := range h.public() {
		if p.wing == of {
			n += p.names
		}
	}
	return n
}

// simulator is the public package for who studies policies. Embedders of core need none of it, so its
// names are counted by themselves.
const simulator = "simulate"

// names counts the exported names of a package.
func (h *house) names(dir string) int {
	if p := h.packages[dir]; p != nil {
		return p.names
	}
	return 0
}

// below are the packages of ours that a package imports, directly or not.
func (h *house) below(dir string) []string {
	seen := make(map[string]bool)
	var visit func(string)
	visit = func(at string) {
		p := h.packages[at]
		if p == nil {
			return
		}
		for to := range p.imports {
			if !seen[to] {
				seen[to] = true
				visit(to)
			}
		}
	}
	visit(dir)
	return slices.Sorted(maps.Keys(seen))
}

// floors is the number of packages in the longest chain of imports.
func (h *house) floors() int {
	high := make(map[string]int)
	var of func(string) int
	of = func(dir string) int {
		if n, ok := high[dir]; ok {
			return n
		}
		high[dir] = 1
		if p := h.packages[dir]; p != nil {
			for to := range p.imports {
				high[dir] = max(high[dir], 1+of(to))
			}
		}
		return high[dir]
	}
	most := 0
	for dir := range h.packages {
		most = max(most, of(dir))
	}
	return most
}
