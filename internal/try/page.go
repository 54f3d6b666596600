// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/style"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"span": cli.Seconds, "percent": func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) },
	"interval": interval, "when": when, "width": barWidth,
	"style": style.Sheet,
}).Parse(pageText))

// HTML writes the report as one page that needs nothing besides.
func (r *Report) HTML(out io.Writer) error { return page.Execute(out, r) }

// barWidth is how long the bar of a mean wait is, in percent of the longest of a group.
func barWidth(g Group, k int) int {
	most := 0.0
	for _, f := range g.Figures {
		most = max(most, f.Mean)
	}
	if most == 0 {
		return 0
	}
	return int(100 * g.Figures[k].Mean / most)
}

// when is a second since 1970 as sacct prints it, in its zone.
func when(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02T15:04:05") }

// interval is a ratio with its interval; "-" where nobody waits.
func interval(r Ratio) string {
	if r.Of == 0 {
		return "-"
	}
	if r.High == 0 {
		return fmt.Sprintf("%.2f", r.Of)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", r.Of, r.Low, r.High)
}

// Text writes the report for a terminal.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s, %d nodes, %d jobs\n\n%s\n\n", when(r.From), when(r.To), r.Nodes, r.All.Jobs, wrap(r.Verdict(), 80))
	for _, x := range r.Missing {
		fmt.Fprintf(&b, "not in the accounts: %s: %s\n", x.Columns, x.So)
	}
	for _, x := range r.Assumed {
		fmt.Fprintf(&b, "assumed: %s\n", x)
	}
	if len(r.Assumed) > 0 {
		fmt.Fprintln(&b)
	}
	if r.Says() {
		r.figures(&b)
	}
	for _, x := range r.Left {
		fmt.Fprintf(&b, "left out: %d jobs: %s\n", x.Jobs, x.Reason)
	}
	for _, x := range r.Adjusted {
		fmt.Fprintf(&b, "changed: %d jobs: %s\n", x.Jobs, x.Reason)
	}
	fmt.Fprintf(&b, "\nnext: %s\n", wrap(r.Next(), 80))
	_, err := io.WriteString(out, b.String())
	return err
}

// figures writes the tables, how to read them, and how to have what they show.
func (r *Report) figures(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "policy\tmean wait\tto backfill's\tmedian\tp95\tlongest\tslowdown\tCPUs\tGPUs\t")
	for k, name := range r.Policies {
		f := r.All.Figures[k]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.1f%%\t%.1f%%\t\n", name, cli.Seconds(f.Mean), interval(r.All.Ratios[k]),
			cli.Seconds(f.Median), cli.Seconds(f.P95), cli.Seconds(f.Longest), f.Slowdown, 100*f.CPUs, 100*f.GPUs)
	}
	t.Flush()
	for _, x := range r.Tables() {
		fmt.Fprintln(b)
		fmt.Fprintf(t, "%s\tjobs\t", x.Title)
		for _, name := range r.Policies {
			fmt.Fprintf(t, "%s\t", name)
		}
		fmt.Fprintln(t)
		for _, g := range x.Groups {
			fmt.Fprintf(t, "%s\t%d\t", printable(g.Name), g.Jobs)
			for k := range g.Figures {
				if k < 2 {
					fmt.Fprintf(t, "%s\t", cli.Seconds(g.Figures[k].Mean))
				} else {
					fmt.Fprintf(t, "%s, %s\t", cli.Seconds(g.Figures[k].Mean), interval(g.Ratios[k]))
				}
			}
			fmt.Fprintln(t)
		}
		t.Flush()
	}
	if r.MoreUsers > 0 {
		fmt.Fprintf(b, "and %d more users\n", r.MoreUsers)
	}
	fmt.Fprintf(b, "\n%s\n\nIn short, for a decision:\n", wrap(r.Legend(), 80))
	for _, line := range r.Summary() {
		fmt.Fprintf(b, "%s\n", wrap(line, 80))
	}
	fmt.Fprintln(b)
	for _, line := range r.Settings {
		fmt.Fprintf(b, "to have Slurm do as %s\n", line)
	}
}

// Table is a table of groups.
type Table struct {
	Title    string
	Policies []string
	Groups   []Group
}

// Tables are those of the report.
func (r *Report) Tables() []Table {
	return []Table{{"partition", r.Policies, r.Partitions}, {"asks for", r.Policies, r.Widths}, {"user", r.Policies, r.Users}}
}

// Legend says how to read the figures.
func (r *Report) Legend() string {
	return fmt.Sprintf("Mean waits by group; behind them, in proportion to the simulated backfill's, with a 95%% bootstrap "+
		"confidence interval over the %d parts of this time, each of %s. If it contains 1, no difference is shown; "+
		"without one there are too few days with waits. "+
		"Waits count from when a job could begin (sacct's Eligible). %d jobs that ran or waited before are simulated and "+
		"not counted. Not known here: limits of users and accounts, reservations, nodes that were down, preemption, "+
		"features, and priorities that changed as jobs waited.",
		r.Blocks, cli.Seconds(float64(r.Block)), r.Before)
}

// Summary is what the report comes to, for who decides and reads no tables.
func (r *Report) Summary() (lines []string) {
	all := &r.All
	lines = append(lines, fmt.Sprintf("In these %s, %d jobs waited %s in all in the simulated Slurm, %s each.", cli.Seconds(float64(r.To-r.From)),
		all.Jobs, hours(all.Figures[1].Mean*float64(all.Jobs)/3600), cli.Seconds(all.Figures[1].Mean)))
	for _, e := range r.Effects {
		what := "auc_preset=" + e.Policy + ": "
		switch within := fmt.Sprintf("95%% interval %.0f to %.0f h", e.Low, e.High); {
		case e.Low == 0 && e.High == 0:
			what += fmt.Sprintf("%s saved, from too few days for an interval", hours(e.Hours))
		case e.Low <= 0 && e.High >= 0:
			what += "no difference in the waits is shown (saved: " + within + ")"
		case e.Hours > 0:
			what += fmt.Sprintf("%s less waiting (%s)", hours(e.Hours), within)
		default:
			what += fmt.Sprintf("%s more waiting (saved: %s)", hours(-e.Hours), within)
		}
		lines = append(lines, fmt.Sprintf("%s; of %s %d would have waited shorter and %d longer, by more than a tenth and a minute a job.",
			what, cli.Count(e.Users, "user"), e.Shorter, e.Longer))
	}
	return append(lines, "It can't say what users would submit if they waited less, nor what limits, reservations, preemption and down "+
		"nodes would do. The best of several rows looks better than it is: try it on other weeks (--from, --to) first.")
}

// hours is a number of hours of waiting.
func hours(h float64) string {
	if h < 10 {
		return fmt.Sprintf("%.1f h", h)
	}
	return fmt.Sprintf("%.0f h", h)
}

// Next is what to do after this.
func (r *Report) Next() string {
	switch r.Judged {
	case Agrees:
		return "choose a preset by these figures, install the plug-ins (docs/howto/install.md) with auc_mode=shadow before its setting, " +
			"in which Slurm goes on alone, and run aucsched pilot, which names each further step."
	case Short:
		return "try busier weeks (--from, --to): at waits like these there is little to gain. If there are none, leave Slurm as it is."
	case Apart:
		if len(r.Assumed) > 0 {
			return "give --conf slurm.conf: the machine was inferred, and that may be all that is wrong."
		}
		return "try weeks without maintenance or new limits (--from, --to). If no weeks agree, install the plug-ins with " +
			"auc_mode=shadow (docs/howto/pilot.md): there the auction sees your real queue, and Slurm goes on alone."
	case Void:
		return "run the command that aucsched try --how prints, and try again with its output."
	}
	return "see that the accounts are of the machine that slurm.conf describes, and name weeks with jobs (--from, --to)."
}

// printable has what is no printable character stand by its code.
func printable(text string) string {
	quoted := fmt.Sprintf("%q", text)
	return quoted[1 : len(quoted)-1]
}

// wrap breaks a text at blanks.
func wrap(text string, columns int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case at > 0 && at+1+len(word) > columns:
			b.WriteByte('\n')
			at = 0
		case at > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}
