// SPDX-License-Identifier: BSD-3-Clause

package shadow

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/aucsched/aucsched/internal/style"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": style.Sheet,
	"clock": func(t int64) string {
		if t == 0 {
			return "-"
		}
		return time.Unix(t, 0).Format("2006-01-02 15:04:05")
	},
	"percent": func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) },
	"one":     func(v float64) string { return fmt.Sprintf("%.1f", v) },
	"words":   Words,
	"of":      func(t Tally, o Outcome) int { return t.Of(o) },
	"part": func(t Tally, o Outcome) string { // of a bar
		return fmt.Sprintf("%.2f", 100*float64(t.Of(o))/float64(max(t.Jobs, 1)))
	},
	"groups": func(r *Report) []pageGroup {
		return []pageGroup{groupOf("Partition", r.Partitions), groupOf("User", r.Users), groupOf("CPUs asked for", r.Widths)}
	},
	"first":    func(all []Count) []Count { return all[:min(len(all), MostRows)] },
	"outcomes": func() []Outcome { return Outcomes },
	"tables": func(r *Report) []pageJobs {
		shown := r.Jobs[:min(len(r.Jobs), mostOnPage)]
		return []pageJobs{{"Those that would have started earliest", r.Earliest, 0},
			{"All jobs", shown, len(r.Jobs) - len(shown)}}
	},
}).Parse(pageText))

// Jobs that the page lists.
const mostOnPage = 5000

// MostRows is how many partitions, users and the like a table for people lists: those with the most
// jobs. JSON has them all.
const MostRows = 100

type pageGroup struct {
	Name string
	Rows []Tally
	More int // that are not shown
}

func groupOf(name string, rows []Tally) pageGroup {
	shown := rows[:min(len(rows), MostRows)]
	return pageGroup{name, shown, len(rows) - len(shown)}
}

type pageJobs struct {
	Title string
	Jobs  []Job
	More  int // that are not shown
}

// WritePage writes one page of HTML that needs nothing else. All names are escaped.
func (r *Report) WritePage(w io.Writer) error { return page.Execute(w, r) }

// Words are an outcome in words.
func Words(o Outcome) string {
	switch o {
	case Earlier:
		return "Earlier with the auction"
	case Same:
		return "At the same time, within an interval"
	case Later:
		return "Later with the auction, which put others first"
	case AtOnce:
		return "Started by Slurm before a cycle saw them"
	case Left:
		return "Left to Slurm"
	case Limited:
		return "Kept out by limits or the length of the queue"
	case Cancelled:
		return "Ended before Slurm started them"
	}
	return "Would have been started, and wait still"
}
