// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
)

// printShadow writes the report as text.
func printShadow(out io.Writer, p *shadow.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "What the auction would have started, and what Slurm %s did, from %s to %s\n",
		cli.Plain(p.Slurm), clock(p.From), clock(p.To))
	fmt.Fprintf(w, "aucsched %s, a cycle every %d s: %s\n\n", cli.Plain(p.Version), p.Interval, cli.Plain(p.Settings))
	fmt.Fprintf(w, "Jobs:\t%d\n", p.All.Jobs)
	for _, o := range shadow.Outcomes {
		fmt.Fprintf(w, "  %s:\t%d\n", shadow.Words(o), p.All.Of(o))
	}
	for i, c := range p.LeftWhy {
		if i == shadow.MostRows {
			printMore(w, len(p.LeftWhy))
			break
		}
		fmt.Fprintf(w, "    left, %s:\t%d\n", cli.Cell(c.Why), c.Jobs)
	}
	fmt.Fprintf(w, "Earlier by, median:\t%s, of %s\n", cli.Seconds(p.All.EarlierMedian), cli.Count(p.All.Earlier, "job"))
	fmt.Fprintf(w, "Later by:\tnot known, of %s\n", cli.Count(p.All.Later, "job"))
	fmt.Fprintf(w, "Wait with Slurm, median:\t%s\n", cli.Seconds(p.All.WaitMedian))
	fmt.Fprintf(w, "Wait with Slurm, mean:\t%s\n", cli.Seconds(p.All.WaitMean))
	fmt.Fprintf(w, "%s\n", shadow.NoSum)
	if p.BadLines > 0 || p.Lost > 0 {
		fmt.Fprintf(w, "Lines that could not be read:\t%d\nLines that there was no room for:\t%d\n", p.BadLines, p.Lost)
	}
	for _, t := range []struct {
		name string
		rows []shadow.Tally
	}{{"Partition", p.Partitions}, {"User", p.Users}, {"CPUs", p.Widths}} {
		printTallies(w, t.name, t.rows)
	}
	printMachine(w, &p.Machine)
	printJobs(w, "Earliest", p.Earliest)
	printJobs(w, "All jobs", p.Jobs)
	fmt.Fprintf(w, "\nNot in these figures:\n")
	for _, words := range p.Caveats {
		fmt.Fprintf(w, "- %s\n", words)
	}
	return w.Flush()
}

func clock(t int64) string {
	if t == 0 {
		return "-"
	}
	return time.Unix(t, 0).Format("2006-01-02T15:04:05")
}

func printTallies(w io.Writer, name string, rows []shadow.Tally) {
	fmt.Fprintf(w, "\n%s\tjobs\tearlier\tsame\tlater\tat once\tleft\tlimits\tcancelled\twaiting"+
		"\tearlier by, median\twait, median\twait, mean\n", name)
	for i := range rows {
		if i == shadow.MostRows {
			printMore(w, len(rows))
			return
		}
		t := &rows[i]
		fmt.Fprintf(w, "%s\t%d", cli.Cell(t.Name), t.Jobs)
		for _, o := range shadow.Outcomes {
			fmt.Fprintf(w, "\t%d", t.Of(o))
		}
		fmt.Fprintf(w, "\t%s\t%s\t%s\n", cli.Seconds(t.EarlierMedian), cli.Seconds(t.WaitMedian), cli.Seconds(t.WaitMean))
	}
}

// printMore says that a table has only its first rows.
func printMore(w io.Writer, all int) { fmt.Fprintf(w, "and %d more: --json\n", all-shadow.MostRows) }

func printMachine(w io.Writer, m *shadow.Machine) {
	if m.Samples == 0 {
		return
	}
	fmt.Fprintf(w, "\nMachine, mean of %d samples:\tSlurm\twith what the auction would have started just then\n", m.Samples)
	fmt.Fprintf(w, "  Cores in use:\t%.1f%%\t%.1f%%\n", 100*m.CoresUsed, 100*m.CoresWould)
	fmt.Fprintf(w, "  GPUs in use:\t%.1f%%\t%.1f%%\n", 100*m.GPUsUsed, 100*m.GPUsWould)
	fmt.Fprintf(w, "  GPUs stranded, on nodes without a free core:\t%.1f\t%.1f\n", m.Stranded, m.WouldStranded)
	fmt.Fprintf(w, "  Jobs queued:\t%.1f, at most %d\n", m.QueueMean, m.QueueMax)
}

func printJobs(w io.Writer, title string, jobs []shadow.Job) {
	if len(jobs) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\toutcome\tearlier by s\tuser\tpartition\tCPUs\tauction\tits nodes\tSlurm\tits nodes\n", title)
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\n", j.Job, strings.ReplaceAll(string(j.Outcome), "_", " "), j.Seconds,
			cli.Cell(j.User), cli.Cell(j.Partition), j.CPUs, place(j.Would), place(j.Slurm))
	}
}

func place(p *shadow.Place) string {
	if p == nil {
		return "-\t-"
	}
	return clock(p.Time) + "\t" + cli.Cell(p.Nodes)
}
