// SPDX-License-Identifier: BSD-3-Clause

// Census counts what is in view of a checkout, so that two can be compared:
//
//	census DIR...
//
// A row is a figure, a column a directory: lines by wing, packages, exported names, imports of core
// and of the command, the longest chain of imports, long lines and long functions.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: census DIR...")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "census:", err)
		os.Exit(1)
	}
}

// run counts each directory and prints a table.
func run(out io.Writer, dirs []string) error {
	all := make([]*house, 0, len(dirs))
	for _, dir := range dirs {
		h, err := count(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		all = append(all, h)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "figure\t%s\n", strings.Join(dirs, "\t"))
	for _, f := range figures {
		fmt.Fprint(t, f.name)
		for _, h := range all {
			fmt.Fprint(t, "\t", f.of(h))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// figures are the rows.
var figures = []struct {
	name string
	of   func(*house) int
}{
	{"Go lines, product", func(h *house) int { return h.lines[product] }},
	{"Go lines, laboratory", func(h *house) int { return h.lines[laboratory] }},
	{"Go lines, invasive", func(h *house) int { return h.lines[invasive] }},
	{"C lines, product", func(h *house) int { return h.clines[product] }},
	{"C lines, laboratory", func(h *house) int { return h.clines[laboratory] }},
	{"Go lines of tests", func(h *house) int { return h.tests }},
	{"packages", func(h *house) int { return len(h.packages) }},
	{"packages that others can import", func(h *house) int { return len(h.public()) }},
	{"exported names", func(h *house) int { return h.exported(func(*pkg) bool { return true }) }},
	{"exported names, product", func(h *house) int { return h.exported(func(p *pkg) bool { return p.wing == product }) }},
	{"our packages below core", func(h *house) int { return len(h.below("core")) }},
	{"our packages below the command", func(h *house) int { return len(h.below("cmd/aucsched")) }},
	{"floors (longest chain of imports)", (*house).floors},
	{"functions over 80 lines", func(h *house) int { return h.longFunctions }},
	{"longest line", func(h *house) int { return h.longest }},
	{"lines over 140 columns", func(h *house) int { return h.over140 }},
	{"circles of C files", func(h *house) int { return h.circles }},
}
