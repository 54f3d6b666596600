// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aucsched/aucsched/internal/cli"
)

// statusSections are the fields that the page has a name for, by their place in the
// file. Those that a file lacks are left out; those that are not here come last, as
// they are.
var statusSections = []struct {
	title string
	lines [][2]string // label, field
}{
	{"", [][2]string{
		{"State", "state"}, {"Because", "state_text"}, {"Version", "version"}, {"Slurm", "slurm"},
		{"Library", "library"}, {"Settings", "settings"},
	}},
	{"Cycles of the auction", [][2]string{
		{"Run", "cycles"}, {"Skipped", "cycles_skipped"}, {"Failed", "cycles_failed"}, {"Late", "cycles_late"}, {"Last failure",
			"last_failure"},
		{"Without the auction", "fallbacks"},
	}},
	{"Last cycle", [][2]string{
		{"Nodes", "nodes"}, {"Jobs running", "running"}, {"Jobs queued", "queue"},
		{"Jobs in the window", "window"}, {"Bids", "solver.bids"},
		{"Choice", "solver.status"}, {"Objective", "solver.objective"}, {"Upper bound", "solver.bound"},
	}},
	{"State of jobs", [][2]string{{"Journal", "journal"}, {"Saves failed", "saves_failed"}}},
	{"Jobs", [][2]string{
		{"Started", "started"}, {"Starts failed", "starts_failed"}, {"", "missed"}, {"Preempted for them", "preempted"},
		{"Overdue, and Slurm's", "overdue"}, {"Left to Slurm", "handed_jobs"}, {"", "handed"},
		{"  longest wait of these, s", "left_waits.pending_longest_s"}, {"Left ones started", "left_waits.started"},
		{"  mean wait of these, s", "left_waits.mean_s"}, {"  longest, s", "left_waits.longest_s"},
		{"Waiting, of the last decision", "waits"},
	}},
	{"Input files", [][2]string{ // with auc_locality=yes
		{"Held by nodes", "files.known"}, {"Copies in all", "files.copies"},
		{"Starts of jobs that name one", "files.starts"}, {"On nodes that all held it", "files.on_holders"},
	}},
}

// page is a status under way to paper: fields are taken out as they are printed.
type page struct {
	*tabwriter.Writer
	rest map[string]any
}

// print writes the status as a page in the manner of sdiag. It takes the fields out.
func (s *status) print(out io.Writer, now time.Time) error {
	p := &page{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), s.fields}
	pids := show(p.take("pid"))
	if engine, ok := p.rest["engine_pid"]; ok {
		p.take("engine_pid")
		pids += ", engine " + show(engine)
	}
	p.take("time")
	p.take("interval_s")
	rule := strings.Repeat("*", 55)
	clock := func(t time.Time) string {
		return fmt.Sprintf("%s (%d)", t.In(now.Location()).Format("Mon Jan 02 15:04:05 2006"), t.Unix())
	}
	fmt.Fprintf(p, "%s\naucsched status at %s\n", rule, clock(s.written))
	if began, err := s.seconds("began", 1, 1<<40); err == nil {
		p.take("began")
		fmt.Fprintf(p, "Data since %s\n", clock(time.Unix(int64(began), 0)))
	}
	fmt.Fprintf(p, "written %s ago, every %v, by slurmctld (pid %s)\n%s\n", ago(s.age(now)), s.interval, pids, rule)
	if state, ok := p.rest["state"]; ok && s.stale(now) {
		p.rest["state"] = fmt.Sprintf("unknown: the file is stale; %v when it was written", state)
	}
	p.take("left_waits.sum_s")
	for i, section := range statusSections {
		if _, has := p.rest["files"]; i < len(statusSections)-1 || has {
			p.section(section.title, section.lines)
		}
	}
	p.times()
	p.others()
	return p.Flush()
}

// ago is a time since then: "5m13s", "3h12m", "12 days".
func ago(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= time.Hour:
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
	}
	return d.String()
}

// take removes a field, whose name may have the form outer.inner, and returns it;
// nil if there is none.
func (p *page) take(name string) any {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		v := p.rest[outer]
		delete(p.rest, outer)
		return v
	}
	object, ok := p.rest[outer].(map[string]any)
	if !ok {
		return nil
	}
	v := object[inner]
	delete(object, inner)
	if len(object) == 0 {
		delete(p.rest, outer)
	}
	return v
}

func (p *page) section(title string, lines [][2]string) {
	indent := ""
	if fmt.Fprintln(p); title != "" {
		fmt.Fprintf(p, "%s:\n", title)
		indent = "  "
	}
	for _, line := range lines {
		switch v := p.take(line[1]).(type) {
		case nil:
		case map[string]any:
			if line[0] != "" {
				fmt.Fprintf(p, "%s%s:\n", indent, line[0])
			}
			p.reasons(v)
		default:
			if v != "" {
				fmt.Fprintf(p, "%s%s:\t%s\n", indent, line[0], show(v))
			}
		}
	}
}

// reasons are the counts of starts that failed, or of jobs that are left to Slurm, the most
// frequent first.
func (p *page) reasons(counts map[string]any) {
	count := func(reason string) float64 {
		n, _ := counts[reason].(json.Number)
		f, _ := n.Float64()
		return f
	}
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(count(b), count(a)), strings.Compare(a, b))
	}) {
		fmt.Fprintf(p, "    %s:\t%s\n", cli.Plain(name), show(counts[name]))
	}
}

// times is the table of all fields that end in _us and have a last, a mean and a max.
func (p *page) times() {
	first := true
	for _, name := range timesOrder(p.rest) {
		v, ok := p.rest[name].(map[string]any)
		if !ok || v["last"] == nil || v["mean"] == nil || v["max"] == nil {
			continue
		}
		if first {
			fmt.Fprintf(p, "\nTime (microseconds):\tlast\tmean\tmax\n")
			first = false
		}
		fmt.Fprintf(p, "  %s:\t%s\t%s\t%s\n", cli.Plain(strings.TrimSuffix(name, "_us")), show(v["last"]), show(v["mean"]), show(v["max"]))
		for _, field := range []string{"last", "mean", "max", "sum", "count"} {
			p.take(name + "." + field)
		}
	}
}

// timesOrder has the stages in the order in which they happen, then others.
func timesOrder(fields map[string]any) []string {
	names := []string{"cycle_us", "snapshot_us", "decide_us", "start_us", "lock_us"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if strings.HasSuffix(name, "_us") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// others are the fields without a name on the page.
func (p *page) others() {
	var lines []string
	var walk func(prefix string, o map[string]any)
	walk = func(prefix string, o map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(o)) {
			if inner, ok := o[name].(map[string]any); ok && len(inner) > 0 {
				walk(prefix+name+".", inner)
			} else if o[name] != "" {
				lines = append(lines, fmt.Sprintf("  %s:\t%s\n", cli.Plain(prefix+name), show(o[name])))
			}
		}
	}
	if walk("", p.rest); len(lines) > 0 {
		fmt.Fprintf(p, "\nOther:\n%s", strings.Join(lines, ""))
	}
}

// show is a value of the file on one line.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return cli.Plain(v)
	case json.Number:
		return number(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return cli.Plain(string(text))
}

// number drops digits that say nothing.
func number(n json.Number) string {
	if _, err := n.Int64(); err == nil {
		return n.String()
	}
	if f, err := n.Float64(); err == nil && math.Abs(f) < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return n.String()
}
