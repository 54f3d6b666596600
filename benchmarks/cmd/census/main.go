// SPDX-License-Identifier: BSD-3-Clause

// Census counts what is in view of a checkout, so that two can be compared, or held to a budget:
//
//	census DIR...
//	census -budget FILE DIR
//
// A row is a figure, a column a directory: lines of Go and C by wing, those of the product by
// directory, exported names, arrows between files that run back, and the like. A budget has a
// figure a line, the number first, and no figure may exceed it, nor the budget what it was before,
// as git knows it; the product's directories may, as their sum may not.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	budget := flag.String("budget", "", "hold the figures of the directory to those of `FILE`")
	flag.Parse()
	if err := run(os.Stdout, *budget, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "census:", err)
		os.Exit(1)
	}
}

// run counts each directory and prints a table, or holds one to the budget.
func run(out io.Writer, budget string, dirs []string) error {
	all := make([]map[string]int, 0, len(dirs))
	for _, dir := range dirs {
		h, err := count(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		all = append(all, h.figures())
	}
	switch {
	case len(dirs) == 0 || budget != "" && len(dirs) > 1:
		return errors.New("usage: census DIR..., or census -budget FILE DIR")
	case budget != "":
		return hold(out, budget, all[0])
	}
	names := make(map[string]int)
	for _, f := range all {
		maps.Copy(names, f)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\t%s\n", strings.Join(dirs, "\t"))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprint(t, name)
		for _, f := range all {
			fmt.Fprint(t, "\t", f[name])
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// figures are the rows.
func (h *house) figures() map[string]int {
	f := map[string]int{
		"lines: product":                  h.lines[product],
		"lines: benchmarks":               h.lines[laboratory],
		"lines: invasive and examples":    h.lines[invasive],
		"lines: adapters":                 h.lines[adapter],
		"lines: tests and their test bed": h.lines[tests],
		"packages":                        len(h.packages),
		"packages that others can import": len(h.public()),
		"exported names: product":         h.exported(product) - h.names(simulator),
		"exported names: simulate":        h.names(simulator),
		"exported names: benchmarks":      h.exported(laboratory),
		"exported names: invasive":        h.exported(invasive),
		"imports: below core":             len(h.below("core")),
		"imports: below the command":      len(h.below("cmd/aucsched")),
		"imports: longest chain":          h.floors(),
		"functions over 80 lines":         h.longFunctions,
		"longest line":                    h.longest,
		"lines over 140 columns":          h.over140,
		"circles of C files":              calls(h.c).circles(),
		"arrows back: core":               h.back(func(dir string) bool { return dir == "core" }),
		"arrows back: elsewhere":          h.back(func(dir string) bool { return dir != "core" }),
		"sentences: only one knows it":    h.sentences,
	}
	for area, n := range h.areas {
		f[areas+area] = n
	}
	return f
}

// areas begins the names of the figures of the product's directories.
const areas = "lines: product: "
