// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/style"
)

//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"colour": func(method int) int { return method % 6 }, // page.css has as many
}).ParseFS(assets, "assets/page.html"))

// WritePage writes the report as one file of HTML, pictures and all, that command made.
// It asks nothing of the network and has no script.
func (r *Report) WritePage(w io.Writer, command string) error {
	own, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return err
	}
	var tables []tablePage
	for i := range r.Tables {
		tables = append(tables, r.Tables[i].page())
	}
	return pageTemplate.Execute(w, map[string]any{
		"Seeds": r.seeds(), "Command": command, "Warnings": r.warnings(), "HowToRead": howToRead(), "Tables": tables,
		"Style": style.Sheet() + template.CSS(own), "Width": chartWidth,
	})
}

// tablePage is what the page shows of a table.
type tablePage struct {
	*TableReport
	Methods  []string
	Charts   []chart
	Compared []string // titles of metrics
	Duels    []duel
	Summary  []string
	Remarks  []string
	Header   []string
	Rows     []struct{ Cells []string }
	Commands []string
}

func (t *TableReport) page() tablePage {
	p := tablePage{TableReport: t, Methods: t.methods(), Summary: t.summaryLines(), Remarks: t.remarks()}
	for _, m := range t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Ours[m.Key]; return ok }) {
		if m.Ordered {
			p.Charts = append(p.Charts, t.chart(m.Title, func(r *RowReport) mark { return r.mark(&m) }))
		}
	}
	if t.bounded() {
		p.Charts = append(p.Charts, t.chart("runtime, "+boundTitle, (*RowReport).boundMark))
	}
	compared := t.shown(func(m *Metric, r *RowReport) bool { _, ok := r.Orders[m.Key]; return ok })
	for _, m := range compared {
		p.Compared = append(p.Compared, m.Title)
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Against != "" {
			p.Duels = append(p.Duels, r.duel(compared))
		}
		p.Commands = append(p.Commands, "aucsched simulate "+strings.Join(t.Rows[i].Args, " "))
	}
	g := t.figures()
	p.Header = g.header
	for _, row := range g.rows {
		p.Rows = append(p.Rows, struct{ Cells []string }{row})
	}
	return p
}

// methods are those of the rows, in the order of their colours.
func (t *TableReport) methods() []string {
	var names []string
	for i := range t.Rows {
		if !slices.Contains(names, t.Rows[i].Method) {
			names = append(names, t.Rows[i].Method)
		}
	}
	return names
}

// duel is a row that is compared with another one.
type duel struct {
	Workload, Method, Baseline string
	Cells                      []verdict
}

type verdict struct{ Text, Class string }

func (r *RowReport) duel(compared []Metric) duel {
	d := duel{Workload: r.Workload, Method: r.Method, Baseline: r.Against}
	for _, m := range compared {
		c, ok := r.Orders[m.Key]
		if !ok {
			d.Cells = append(d.Cells, verdict{})
			continue
		}
		ours := c.Ours.Mean
		if math.Abs(ours) <= c.Ours.Noise {
			ours = 0
		}
		class := map[Order]string{Same: "yes", SameOnce: "yes", Noise: "noise", Opposite: "no", OpposedOnce: "no"}[c.Order]
		d.Cells = append(d.Cells,
			verdict{fmt.Sprintf("%s %s (%s %s)", m.winner(ours), signed(c.Ours.Mean, m.decimals),
				m.winner(c.Paper), signedText(m.printed(c.Paper))), class})
	}
	return d
}

// winner says whom a difference of method and baseline speaks for.
func (m *Metric) winner(difference float64) string {
	const tie = 1e-9 // the rounding of a subtraction
	more := m.Key == CPUUtilization || m.Key == GPUUtilization
	switch {
	case math.Abs(difference) < tie:
		return "neither"
	case difference > 0 == more:
		return "method"
	}
	return "baseline"
}
