// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"cmp"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/style"
)

// HTML writes the report as one page that needs no other file.
func (r *Report) HTML(out io.Writer) error { return r.document().HTML(out) }

// Text writes the report for a terminal.
func (r *Report) Text(out io.Writer) error { return r.document().Text(out) }

// document has the verdict first, tables only if they say something of the site, and the next step.
func (r *Report) document() *style.Document {
	d := &style.Document{Title: "What aucsched would have done"}
	class := cmp.Or(map[Judgement]string{Agrees: "good", Short: "note"}[r.Judged], "bad")
	var missing []string
	for _, x := range r.Missing {
		missing = append(missing, fmt.Sprintf("not in the accounts: %s: %s", x.Columns, x.So))
	}
	d.Parts = append(d.Parts,
		style.Part{Text: []string{fmt.Sprintf("%s to %s, %s, %s", when(r.From), when(r.To),
			cli.Count(r.Nodes, "node"), cli.Count(r.All.Jobs, "job"))}},
		style.Part{Class: class, Text: []string{r.Verdict()}, Items: missing})
	if r.Assumed != nil {
		d.Parts = append(d.Parts, style.Part{Heading: "Assumed", Items: r.Assumed})
	}
	if r.Says() {
		d.Parts = append(d.Parts, style.Part{Heading: "In short, for a decision", Items: r.Summary()}, r.all())
		for _, x := range []struct {
			title string
			of    []Group
		}{{"partition", r.Partitions}, {"size", r.Widths}, {"user", r.Users}} {
			d.Parts = append(d.Parts, r.table(x.title, x.of))
		}
		d.Parts[len(d.Parts)-1].More = r.MoreUsers
		d.Parts = append(d.Parts, style.Part{Heading: "How to read this", Class: "note", Text: []string{r.Legend()}},
			style.Part{Heading: "To have Slurm do as a row, set in slurm.conf; auc_mode=on when the pilot is over", Items: r.Settings})
	}
	var rest []string
	for _, x := range r.Left {
		rest = append(rest, fmt.Sprintf("left out: %s: %s", cli.Count(x.Jobs, "job"), x.Reason))
	}
	for _, x := range r.Adjusted {
		rest = append(rest, fmt.Sprintf("changed: %s: %s", cli.Count(x.Jobs, "job"), x.Reason))
	}
	if rest != nil {
		d.Parts = append(d.Parts, style.Part{Heading: "Jobs that are not as in the accounts", Items: rest})
	}
	d.Parts = append(d.Parts, style.Part{Heading: "Next", Text: []string{r.Next()}})
	return d
}

// all is the table of all jobs.
func (r *Report) all() style.Part {
	t := [][]style.Cell{style.Row("policy", "mean wait", "to backfill's", "median", "p95", "longest", "slowdown", "CPUs", "GPUs")}
	longest := 0.0
	for _, f := range r.All.Figures {
		longest = max(longest, f.Mean)
	}
	for k, f := range r.All.Figures {
		row := style.Row(r.Policies[k], cli.Seconds(f.Mean), r.All.against(k), cli.Seconds(f.Median), cli.Seconds(f.P95),
			cli.Seconds(f.Longest), fmt.Sprintf("%.2f", f.Slowdown), fmt.Sprintf("%.1f%%", 100*f.CPUs), fmt.Sprintf("%.1f%%", 100*f.GPUs))
		row[1].Percent = 100 * f.Mean / max(longest, 1)
		t = append(t, row)
	}
	return style.Part{Heading: "All jobs", Table: t, Head: true}
}

// table has the mean waits of groups.
func (r *Report) table(title string, groups []Group) style.Part {
	t := [][]style.Cell{append(style.Row(title, "jobs"), style.Row(r.Policies...)...)}
	for _, g := range groups {
		row := style.Row(g.Name, fmt.Sprint(g.Jobs))
		for k, f := range g.Figures {
			c := style.Cell{Text: cli.Seconds(f.Mean)}
			if k > 1 {
				c.Small = g.against(k)
			}
			row = append(row, c)
		}
		t = append(t, row)
	}
	return style.Part{Heading: "Mean waits by " + title, Table: t, Head: true}
}

// against holds a policy's mean wait against the simulated Slurm's: their ratio with its interval, or
// their difference if both are below shortWait; "-" where nobody waits.
func (g *Group) against(k int) string {
	x, change := g.Ratios[k], g.Figures[k].Mean-g.Figures[1].Mean
	switch {
	case k == 1 || x.Of == 0:
		return "-"
	case max(g.Figures[k].Mean, g.Figures[1].Mean) < shortWait:
		return fmt.Sprintf("%+.0f s", change)
	case x.High == 0:
		return fmt.Sprintf("%.2f", x.Of)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", x.Of, x.Low, x.High)
}

// Legend says how to read the figures.
func (r *Report) Legend() string {
	return fmt.Sprintf("Each mean wait is compared with the simulated backfill's: the ratio, with a 95%% bootstrap confidence interval "+
		"over the %d parts of this time, each of %s. If it contains 1, no difference is shown. There is none where too few days have "+
		"waits. Where both wait less than a minute, their difference is shown instead. Waits count from when a job could begin "+
		"(sacct's Eligible). %s of before are simulated but not counted. Not known: limits of users and accounts, "+
		"reservations, nodes that were down, preemption, features, and priorities that changed as jobs waited.",
		r.Blocks, cli.Seconds(float64(r.Block)), cli.Count(r.Before, "job"))
}

// Summary is what the report comes to, for who decides and reads no tables.
func (r *Report) Summary() (lines []string) {
	all := &r.All
	lines = append(lines, fmt.Sprintf("In these %s, %s waited %.1f h in all under the simulated Slurm, %s each.",
		cli.Seconds(float64(r.To-r.From)), cli.Count(all.Jobs, "job"),
		all.Figures[1].Mean*float64(all.Jobs)/3600, cli.Seconds(all.Figures[1].Mean)))
	for _, e := range r.Effects {
		what := "auc_preset=" + e.Policy + ": "
		switch within := fmt.Sprintf("95%% interval %.1f to %.1f h", e.Low, e.High); {
		case e.Low == 0 && e.High == 0:
			what += fmt.Sprintf("%.1f h of waiting saved; too few days have waits for an interval", e.Hours)
		case e.Low <= 0 && e.High >= 0:
			what += "no difference is shown (hours saved: " + within + ")"
		case e.Hours > 0:
			what += fmt.Sprintf("%.1f h less waiting (%s)", e.Hours, within)
		default:
			what += fmt.Sprintf("%.1f h more waiting (hours saved: %s)", -e.Hours, within)
		}
		lines = append(lines, fmt.Sprintf("%s. Of %s, %d would have waited less and %d longer, by more than 10%% and a minute a job.",
			what, cli.Count(e.Users, "user"), e.Shorter, e.Longer))
	}
	return append(lines, "Not known is what users would submit if they waited less, and what limits, reservations, preemption and down "+
		"nodes would do. The best of several rows looks better than it is: try it on other weeks (--from, --to) first.")
}

// Next is what to do after this.
func (r *Report) Next() string {
	switch r.Judged {
	case Agrees:
		return "choose a preset by these figures. Install the plug-ins (docs/howto/install.md) with its setting and auc_mode=shadow, " +
			"in which Slurm goes on alone. Then continue with docs/howto/pilot.md."
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
