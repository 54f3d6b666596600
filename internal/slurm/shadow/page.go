// SPDX-License-Identifier: BSD-3-Clause

package shadow

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/style"
)

// Jobs that are listed one by one.
const mostOnPage = 5000

// MostRows is how many partitions, users and so on a table for people lists: those with the most
// jobs. JSON has them all.
const MostRows = 100

// Document is the report for people.
func (r *Report) Document() *style.Document {
	d := &style.Document{Title: "What the auction would have started, and what Slurm did"}
	first := style.Part{Text: []string{
		fmt.Sprintf("Slurm %s, from %s to %s", r.Slurm, clock(r.From), clock(r.To)),
		fmt.Sprintf("aucsched %s, a cycle every %d s: %s", r.Version, r.Interval, r.Settings)}}
	sum := style.Part{Table: [][]style.Cell{style.Row("Jobs:", fmt.Sprint(r.All.Jobs))}}
	row := func(words, value string) { sum.Table = append(sum.Table, style.Row(words+":", value)) }
	for _, o := range outcomes {
		n, class := *o.of(&r.All), string(o.Outcome)
		first.Bar = append(first.Bar, style.Share{Class: class, Percent: 100 * float64(n) / float64(max(r.All.Jobs, 1))})
		row(o.words, fmt.Sprint(n))
		sum.Table[len(sum.Table)-1][0].Key = class
	}
	row("Earlier by, median", cli.Seconds(r.All.EarlierMedian)+", of "+cli.Count(r.All.Earlier, "job"))
	row("Later by", "not known, of "+cli.Count(r.All.Later, "job"))
	row("Wait with Slurm of these, median", cli.Seconds(r.All.LaterWaitMedian))
	row("Wait with Slurm, median", cli.Seconds(r.All.WaitMedian))
	row("Wait with Slurm, mean", cli.Seconds(r.All.WaitMean))
	if r.BadLines > 0 || r.Lost > 0 {
		row("Lines that could not be read", fmt.Sprint(r.BadLines))
		row("Lines that there was no room for", fmt.Sprint(r.Lost))
	}
	d.Parts = append(d.Parts, first, sum, style.Part{Class: "note", Text: []string{NoSum}})
	if len(r.LeftWhy) > 0 {
		left := style.Part{Heading: "Left to Slurm", More: max(len(r.LeftWhy)-MostRows, 0)}
		for _, c := range r.LeftWhy[:len(r.LeftWhy)-left.More] {
			left.Table = append(left.Table, style.Row(c.Why, fmt.Sprint(c.Jobs)))
		}
		d.Parts = append(d.Parts, left)
	}
	d.Parts = append(d.Parts, tallied("Partition", r.Partitions), tallied("User", r.Users), tallied("CPUs", r.Widths))
	if m := &r.Machine; m.Samples > 0 {
		percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
		one := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		d.Parts = append(d.Parts, style.Part{Head: true, Table: [][]style.Cell{
			style.Row("Machine, mean of "+cli.Count(m.Samples, "sample"), "Slurm",
				"with what the auction would have started just then"),
			style.Row("Cores in use", percent(m.CoresUsed), percent(m.CoresWould)),
			style.Row("GPUs in use", percent(m.GPUsUsed), percent(m.GPUsWould)),
			style.Row("GPUs stranded, on nodes without a free core", one(m.Stranded), one(m.WouldStranded)),
			style.Row("Jobs queued", fmt.Sprintf("%.1f, at most %d", m.QueueMean, m.QueueMax), "")}})
	}
	if len(r.Earliest) > 0 {
		d.Parts = append(d.Parts, listed("Earliest", r.Earliest))
	}
	if len(r.Jobs) > 0 {
		d.Parts = append(d.Parts, listed("All jobs", r.Jobs))
	}
	d.Parts = append(d.Parts, style.Part{Heading: "Not in these figures", Items: r.Caveats})
	return d
}

func clock(t int64) string {
	if t == 0 {
		return "-"
	}
	return time.Unix(t, 0).Format("2006-01-02T15:04:05")
}

func tallied(name string, rows []Tally) style.Part {
	p := style.Part{Head: true, More: max(len(rows)-MostRows, 0)}
	p.Table = [][]style.Cell{style.Row(name, "jobs", "earlier", "same", "later", "at once", "left", "limits", "cancelled", "waiting",
		"earlier by, median", "wait, median", "wait, mean")}
	for i := range rows[:len(rows)-p.More] {
		t := &rows[i]
		row := style.Row(t.Name, fmt.Sprint(t.Jobs))
		for _, o := range outcomes {
			row = append(row, style.Cell{Text: fmt.Sprint(*o.of(t))})
		}
		p.Table = append(p.Table, append(row,
			style.Row(cli.Seconds(t.EarlierMedian), cli.Seconds(t.WaitMedian), cli.Seconds(t.WaitMean))...))
	}
	return p
}

func listed(title string, jobs []Job) style.Part {
	p := style.Part{Head: true, More: max(len(jobs)-mostOnPage, 0)}
	p.Table = [][]style.Cell{style.Row(title, "outcome", "earlier by s", "user", "partition", "CPUs",
		"auction", "its nodes", "Slurm", "its nodes")}
	for i := range jobs[:len(jobs)-p.More] {
		j := &jobs[i]
		row := style.Row(j.Job, strings.ReplaceAll(string(j.Outcome), "_", " "), fmt.Sprint(j.Seconds), j.User, j.Partition,
			fmt.Sprint(j.CPUs))
		for _, at := range []*Place{j.Would, j.Slurm} {
			if at == nil {
				at = &Place{Nodes: "-"}
			}
			row = append(row, style.Row(clock(at.Time), at.Nodes)...)
		}
		for _, k := range []int{1, 3, 4, 7, 9} {
			row[k].Words = true
		}
		p.Table = append(p.Table, row)
	}
	return p
}
