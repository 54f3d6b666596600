// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"maps"
	"regexp"
	"slices"
)

// defined are the names of functions that a C file of Slurm's style defines for others:
// "extern TYPE NAME(".
var defined = regexp.MustCompile(`(?m)^extern [^;{=]*?\b(\w+)\([^;]*?\)\n\{`)

// comments call nobody, nor do texts.
var comments = regexp.MustCompile(`(?s)/\*.*?\*/|"(?:[^"\\\n]|\\.)*"`)

// words are what a file may call.
var words = regexp.MustCompile(`\b\w+\b`)

// circles counts groups of C files that call each other both ways, directly or through others.
func circles(files map[string]string) int {
	home := make(map[string]string)
	for name, text := range files {
		for _, m := range defined.FindAllStringSubmatch(text, -1) {
			home[m[1]] = name
		}
	}
	calls := make(map[string]map[string]bool)
	for name, text := range files {
		calls[name] = make(map[string]bool)
		for _, w := range words.FindAllString(comments.ReplaceAllString(text, " "), -1) {
			if to := home[w]; to != "" && to != name {
				calls[name][to] = true
			}
		}
	}
	n, done := 0, make(map[string]bool)
	for _, a := range slices.Sorted(maps.Keys(calls)) {
		if done[a] {
			continue
		}
		from := reach(calls, a)
		alone := true
		for b := range from {
			if b != a && reach(calls, b)[a] {
				done[b], alone = true, false
			}
		}
		if !alone {
			n++
		}
	}
	return n
}

// reach are the files that a file calls, directly or through others.
func reach(calls map[string]map[string]bool, from string) map[string]bool {
	seen := make(map[string]bool)
	var visit func(string)
	visit = func(at string) {
		for to := range calls[at] {
			if !seen[to] {
				seen[to] = true
				visit(to)
			}
		}
	}
	visit(from)
	return seen
}
