// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/style"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"colour": func(run int) int { return run % 6 }, // page.css has as many
}).ParseFS(assets, "assets/page.html"))

// Run is one simulation: what it measured, and the log of its jobs.
type Run struct {
	Result *sim.Result
	// Bound is the least runtime that was possible, in seconds; 0 if that is not known.
	Bound float64
	Log   *Log
	// Settings are those of the policy.
	Settings []Setting
	// Figures are the lines of the table; nil: those of Result, of which otherwise only the
	// policy's name and the jobs that did not run count. All runs have the same names.
	Figures []Figure
}

// Figure is a line of the table by name, in words, and its value.
type Figure struct{ Name, Meaning, Value string }

// Setting is a setting by name, its value, and in words what it does.
type Setting struct{ Name, Value, Meaning string }

// Page is what to show: one workload on one machine under one or more policies.
type Page struct {
	Workload *workload.Workload
	Nodes    []nodeset.Capacity
	Runs     []Run
	// Settings are those that all runs share.
	Settings []Setting
	// Command is the command line that makes the page again.
	Command string
	// From and To are between when the jobs are submitted that count, on the workload's clock, To
	// excluded: the page then shows their part. Both 0: all count.
	From, To int64
}

// Write writes the page: one file that holds its style, script and data, and asks
// nothing of the network. The runs must be of the page's workload and machine.
func (p *Page) Write(w io.Writer) error {
	// encoding/json writes <, > and & as escapes, so the data cannot end its element.
	text, err := json.Marshal(p.data())
	if err != nil {
		return err
	}
	var script []byte
	for _, name := range []string{"data.js", "gantt.js", "charts.js", "locality.js", "page.js"} {
		part, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		script = append(script, part...)
	}
	cores, gpus := total(p.Nodes)
	return pageTemplate.Execute(w, map[string]any{
		"Page": p, "Name": filepath.Base(p.Workload.Name), "Policies": p.policies(), "Machine": p.machine(), "Cores": cores, "GPUs": gpus,
		"Metrics": p.metrics(), "Unrun": p.unrun(),
		"Style": style.Sheet(), "Script": template.JS(script), "Data": template.JS(text),
	})
}

func (p *Page) policies() string {
	var names []string
	for i := range p.Runs {
		names = append(names, p.Runs[i].Result.Policy)
	}
	return strings.Join(names, ", ")
}

// machine says in words what the nodes are.
func (p *Page) machine() string {
	var parts []string
	for _, g := range groups(p.Nodes) {
		s := fmt.Sprintf("%s of %s", count(g.Nodes, "node"), count(g.Cores, "core"))
		if g.GPUs > 0 {
			s += " and " + count(g.GPUs, "GPU")
		}
		parts = append(parts, s)
		if len(parts) == 6 {
			parts = append(parts, "and so on")
			break
		}
	}
	return strings.Join(parts, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// CommandLine is the command with the flags that decide what comes out, in
// alphabetical order.
func CommandLine(c *cobra.Command) string {
	line := c.CommandPath()
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "html", "jobs-csv", "json", "csv", "markdown", "plot", "panels", "parallel", "verbose":
			return
		}
		value := f.Value.String()
		if strings.ContainsAny(value, " \t\n'\"\\$&;<>()|*?#~`") {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		line += " --" + f.Name
		if f.Value.Type() != "bool" || value != "true" {
			line += "=" + value
		}
	})
	return line
}
