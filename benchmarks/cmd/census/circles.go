// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"regexp"
)

// defined are the names of functions that a C file of Slurm's style defines for others:
// "extern TYPE NAME(".
var defined = regexp.MustCompile(`(?m)^extern [^;{=]*?\b(\w+)\([^;]*?\)\n\{`)

// comments call nobody, nor do texts.
var comments = regexp.MustCompile(`(?s)/\*.*?\*/|"(?:[^"\\\n]|\\.)*"`)

// words are what a file may call.
var words = regexp.MustCompile(`\b\w+\b`)

// graph is which file leads to which.
type graph map[string]map[string]bool

func (g graph) add(from, to string) {
	if g[from] == nil {
		g[from] = make(map[string]bool)
	}
	g[from][to] = true
}

// calls are those between C files.
func calls(files map[string]string) graph {
	home, g := make(map[string]string), make(graph)
	for name, text := range files {
		for _, m := range defined.FindAllStringSubmatch(text, -1) {
			home[m[1]] = name
		}
	}
	for name, text := range files {
		for _, w := range words.FindAllString(comments.ReplaceAllString(text, " "), -1) {
			if to := home[w]; to != "" && to != name {
				g.add(name, to)
			}
		}
	}
	return g
}

// arrows are those between the files of a package: who uses what another one declares.
func (h *house) arrows(p *pkg) graph {
	g, info := make(graph), types.Info{Uses: make(map[*ast.Ident]types.Object)}
	// What is imported is not looked for, so that there are errors, which say nothing.
	config := types.Config{Importer: nothing{}, Error: func(error) {}}
	ours, _ := config.Check(p.dir, h.files, p.files, &info)
	for id, o := range info.Uses {
		if from, to := h.files.File(id.Pos()), h.files.File(o.Pos()); o.Pkg() == ours && to != nil && from != to {
			g.add(from.Name(), to.Name())
		}
	}
	return g
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// back counts the arrows that run back: from where they end one gets to where they begin.
func (g graph) back() (n int) {
	for from, all := range g {
		for to := range all {
			if g.reach(to)[from] {
				n++
			}
		}
	}
	return n
}

// back counts those of the product's packages that want takes.
func (h *house) back(want func(dir string) bool) (n int) {
	for dir, p := range h.packages {
		if p.wing == product && want(dir) {
			n += h.arrows(p).back()
		}
	}
	return n
}

// circles counts groups of files that lead to each other both ways, directly or through others.
func (g graph) circles() (n int) {
	done := make(map[string]bool)
	for a := range g {
		if done[a] || !g.reach(a)[a] {
			continue
		}
		n++
		for b := range g.reach(a) {
			if g.reach(b)[a] {
				done[b] = true
			}
		}
	}
	return n
}

// reach are the files that a file leads to, directly or through others.
func (g graph) reach(from string) map[string]bool {
	seen := make(map[string]bool)
	var visit func(string)
	visit = func(at string) {
		for to := range g[at] {
			if !seen[to] {
				seen[to] = true
				visit(to)
			}
		}
	}
	visit(from)
	return seen
}
