// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aucsched/aucsched/internal/settings"
)

// repository is what pages may claim: files, make's targets, the command's words and flags.
type repository struct {
	root     string
	files    map[string]bool // files and directories, with slashes
	folders  map[string]bool // the last element of every directory
	pages    []*page
	byName   map[string]*page
	targets  map[string]map[string]bool // by the directory of the Makefile
	commands map[string]bool
	flags    map[string]bool
	exported map[string]map[string]bool // by package, the names that it declares
	mentions []mention
}

// mention is a page that a file of source speaks of.
type mention struct {
	file string
	line int
	page string
}

// notWritten are directories whose pages nobody wrote as a page: what tests expect and what was
// built.
var notWritten = map[string]bool{"testdata": true, "bin": true, "build": true}

func openRepository(root string) (*repository, error) {
	r := &repository{
		root: root, files: map[string]bool{}, folders: map[string]bool{}, byName: map[string]*page{},
		targets:  map[string]map[string]bool{},
		commands: map[string]bool{"help": true, "completion": true},
		flags:    map[string]bool{"help": true, "version": true},
		exported: map[string]map[string]bool{},
	}
	for _, s := range settings.All { // whose flags are made in a loop
		r.flags[s.Flag()] = true
	}
	if err := filepath.WalkDir(root, r.visit); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *repository) visit(file string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	name, err := filepath.Rel(r.root, file)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	hidden := strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci"
	if d.IsDir() && (hidden || name == "bin" || name == "build") {
		return fs.SkipDir
	}
	r.files[name] = true
	if d.IsDir() {
		r.folders[d.Name()] = true
		return nil
	}
	switch path.Ext(name) {
	case ".md":
		return r.addPage(name)
	case ".go":
		return errors.Join(r.addMentions(name), r.addSource(name))
	case ".c", ".h", ".sh":
		return r.addMentions(name)
	}
	if path.Base(name) == "Makefile" || path.Base(name) == "targets.mk" {
		return errors.Join(r.addMentions(name), r.addTargets(name))
	}
	return nil
}

var mentioned = regexp.MustCompile(`\b(?:invasive/)?(?:docs|benchmarks/results)/[a-z/-]+\.(?:md|csv|svg|png)`)

// addMentions notes of which pages a file of source speaks. The tests of this program and of census
// speak of pages that there are not.
func (r *repository) addMentions(name string) error {
	if strings.HasPrefix(name, "benchmarks/cmd/docscheck/") || name == "benchmarks/cmd/census/census_test.go" {
		return nil
	}
	text, err := r.read(name)
	if err != nil {
		return err
	}
	line := 0
	for l := range strings.Lines(text) {
		line++
		for _, p := range mentioned.FindAllString(l, -1) {
			r.mentions = append(r.mentions, mention{name, line, p})
		}
	}
	return nil
}

func (r *repository) addTargets(name string) error {
	text, err := r.read(name)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if path.Base(name) == "targets.mk" { // which the Makefile of the root includes
		dir = "."
	}
	if r.targets[dir] == nil {
		r.targets[dir] = map[string]bool{}
	}
	for _, m := range target.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Fields(m[1]) {
			r.targets[dir][name] = true
		}
	}
	return nil
}

func (r *repository) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	return string(text), err
}

func (r *repository) addPage(name string) error {
	for _, part := range strings.Split(path.Dir(name), "/") {
		if notWritten[part] {
			return nil
		}
	}
	text, err := r.read(name)
	if err != nil {
		return err
	}
	p := newPage(name, text)
	r.pages = append(r.pages, p)
	r.byName[name] = p
	return nil
}

// commandSource are the directories of the command aucsched, of those that it hands words on to,
// and of what they share.
var commandSource = regexp.MustCompile(`(^|/)cmd/aucsched[^/]*/|^internal/cli/|^benchmarks/(simulate|replay)/`)

var (
	target   = regexp.MustCompile(`(?m)^([A-Za-z0-9_./ -]+):`)
	flagCall = regexp.MustCompile(`(?:[fF]lags(?:\(\))?|\bs)\.\w+\((?:[^,"()]+, )?"([a-z][a-z0-9-]*)"`)
	useWord  = regexp.MustCompile(`\bUse:\s+"([a-z][a-z-]*)`)
	declared = regexp.MustCompile(`(?m)^(?:func |type |var |const |\t)([A-Z]\w*)\b`)
	methodOf = regexp.MustCompile(`(?m)^func \([^)]*\) ([A-Z]\w*)\(`)
	packaged = regexp.MustCompile(`(?m)^package (\w+)`)
)

// addSource notes what a Go file declares. It reads by line: the compiler has seen to the rest.
func (r *repository) addSource(name string) error {
	text, err := r.read(name)
	if err != nil {
		return err
	}
	if commandSource.MatchString(name) && !strings.HasSuffix(name, "_test.go") {
		for _, m := range flagCall.FindAllStringSubmatch(text, -1) {
			r.flags[m[1]] = true
		}
		for _, m := range useWord.FindAllStringSubmatch(text, -1) {
			r.commands[m[1]] = true
		}
	}
	m := packaged.FindStringSubmatch(text)
	if m == nil || m[1] == "main" || strings.HasSuffix(m[1], "_test") {
		return nil
	}
	if r.exported[m[1]] == nil {
		r.exported[m[1]] = map[string]bool{}
	}
	for _, re := range []*regexp.Regexp{declared, methodOf} {
		for _, d := range re.FindAllStringSubmatch(text, -1) {
			r.exported[m[1]][d[1]] = true
		}
	}
	return nil
}
