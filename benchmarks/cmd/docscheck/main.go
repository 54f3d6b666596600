// SPDX-License-Identifier: BSD-3-Clause

// Command docscheck looks for what the Markdown pages of a repository claim and is not so: links
// and paths that lead nowhere, targets and flags that there are not, figures of a finding that
// its page does not have, lines that are too long. Of the sources it reads which pages they name.
//
//	go run ./benchmarks/cmd/docscheck [DIRECTORY]
package main

import (
	"fmt"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	problems, err := check(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "docscheck:", err)
		os.Exit(1)
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// problem is a claim that does not hold.
type problem struct {
	file string // from the root
	line int
	text string
}

func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

// rules are what is asked of every page.
var rules = []func(*repository, *page) []problem{
	links, paths, targets, flags, names, findings, lines,
}

func check(root string) ([]problem, error) {
	r, err := openRepository(root)
	if err != nil {
		return nil, err
	}
	var out []problem
	for _, p := range r.pages {
		for _, rule := range rules {
			out = append(out, rule(r, p)...)
		}
	}
	out = append(out, contradictions(r)...)
	for _, m := range r.mentions {
		if !r.files[m.page] {
			out = append(out, problem{m.file, m.line, "there is no " + m.page})
		}
	}
	return out, nil
}
