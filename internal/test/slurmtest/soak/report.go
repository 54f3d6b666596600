// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Memory is a fit of slurmctld's memory over the second half of a run.
type Memory struct {
	FirstMB, LastMB, MaxMB float64
	// MBPerHour is the slope, over the samples of processes that are older than two minutes: each
	// process counts from its own mean. 0 if there are none.
	MBPerHour float64
}

// settled is the age at which a process's memory is looked at: what it needs it has by then.
const settled = 2 * time.Minute

// FitMemory fits samples.
func FitMemory(samples []Sample) Memory {
	var m Memory
	if len(samples) == 0 {
		return m
	}
	mb := func(s Sample) float64 { return float64(s.KB) / 1024 }
	m.FirstMB, m.LastMB = mb(samples[0]), mb(samples[len(samples)-1])
	half := samples[len(samples)-1].At / 2
	begun := map[int]time.Duration{}
	byPid := map[int][]Sample{}
	for _, s := range samples {
		m.MaxMB = max(m.MaxMB, mb(s))
		if _, ok := begun[s.Pid]; !ok {
			begun[s.Pid] = s.At
		}
		if s.At >= half && s.At >= begun[s.Pid]+settled {
			byPid[s.Pid] = append(byPid[s.Pid], s)
		}
	}
	var xx, xy float64
	for _, group := range byPid {
		var mx, my float64
		for _, s := range group {
			mx, my = mx+s.At.Hours()/float64(len(group)), my+mb(s)/float64(len(group))
		}
		for _, s := range group {
			dx := s.At.Hours() - mx
			xx, xy = xx+dx*dx, xy+dx*(mb(s)-my)
		}
	}
	if xx > 0 {
		m.MBPerHour = xy / xx
	}
	return m
}

// Figures are what a report says of one run.
type Figures struct {
	Mode      Mode
	Attempts  int // calls of sbatch, srun and salloc
	Accepted  int
	Jobs      int // tasks of arrays one by one
	Right     int
	Excused   int
	Kills     int
	Actions   map[Verb]int // that were taken
	Starts    int          // by the auction
	Words     map[Word]int
	Referee   int // moments at which something was given twice
	Looks     int // moments at which the referee looked
	Log       map[string]int
	Helps     map[string]int
	Memory    Memory
	NotOn     map[string]int // seconds
	Left      []string       // lines of squeue
	Failed    []string       // faults that could not be made
	Findings  []Finding
	Incidents []string // what the referee saw
}

// FiguresOf sums a run up.
func FiguresOf(o *Outcome) Figures {
	v, twice := Judge(o), givenTwice(o)
	f := Figures{Mode: o.Mode, Attempts: len(o.Attempts), Jobs: v.Jobs, Right: v.Right,
		Excused: v.Excused, Kills: len(o.Kills), Starts: o.Starts,
		Words: map[Word]int{}, Referee: len(twice), Looks: o.Referee.Looks, Log: o.Log, Helps: map[string]int{},
		Memory: FitMemory(o.Watch.Memory), NotOn: o.Watch.NotOn, Left: o.Left, Failed: o.Faults, Findings: v.Findings}
	for _, a := range o.Attempts {
		if a.Accepted {
			f.Accepted++
		}
	}
	for _, w := range Words {
		f.Words[w] = v.Count(w)
	}
	f.Actions = map[Verb]int{}
	for _, d := range o.Done {
		f.Actions[d.Action.Verb]++
	}
	for _, h := range o.Helps {
		f.Helps[h.What]++
	}
	for _, x := range twice {
		f.Incidents = append(f.Incidents, x.String())
	}
	return f
}

// Report compares the same plan on stock Slurm and with aucsched.
type Report struct {
	Seed    uint64
	Minutes float64
	Slurm   string // its version
	Stock   *Figures
	Ours    *Figures
	Worse   []string // in what ours is worse
}

// Compare makes a report. Without a run of stock Slurm everything that is wrong counts.
func Compare(seed uint64, length time.Duration, version string, stock, ours *Outcome) Report {
	r := Report{Seed: seed, Minutes: length.Minutes(), Slurm: version}
	var s Figures
	if stock != nil {
		s = FiguresOf(stock)
		r.Stock = &s
	}
	if ours == nil {
		return r
	}
	f := FiguresOf(ours)
	r.Ours = &f
	worse := func(what string, ours, stock int) {
		if ours > stock {
			r.Worse = append(r.Worse, fmt.Sprintf("%s: %d, stock %d", what, ours, stock))
		}
	}
	for _, w := range Words {
		if !slices.Contains(Tolerated, w) {
			worse(string(w), f.Words[w], s.Words[w])
		}
	}
	for _, name := range judged {
		worse(name, f.Log[name], s.Log[name])
	}
	worse("given twice", f.Referee, s.Referee)
	worse("nodes resumed", f.Helps["resume node"], s.Helps["resume node"])
	worse("left in the queue", len(f.Left), len(s.Left))
	worse("faults that failed", len(f.Failed), len(s.Failed))
	for _, state := range slices.Sorted(maps.Keys(f.NotOn)) {
		worse("seconds "+state, f.NotOn[state], 0)
	}
	return r
}

// JSON writes a report.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Table writes a report's figures as a table for the documentation.
func (r *Report) Table(w io.Writer) {
	fmt.Fprintf(w, "Slurm %s, seed %d, %.4g minutes:\n\n| | stock | aucsched |\n|---|---|---|\n", r.Slurm, r.Seed, r.Minutes)
	row := func(name string, value func(*Figures) string) {
		cell := func(f *Figures) string {
			if f == nil {
				return "-"
			}
			return value(f)
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, cell(r.Stock), cell(r.Ours))
	}
	number := func(name string, value func(*Figures) int) {
		row(name, func(f *Figures) string { return fmt.Sprint(value(f)) })
	}
	number("submissions", func(f *Figures) int { return f.Attempts })
	number("of these accepted", func(f *Figures) int { return f.Accepted })
	number("jobs (tasks one by one)", func(f *Figures) int { return f.Jobs })
	number("of these cancelled or spoiled by their users", func(f *Figures) int { return f.Excused })
	number("ran once, to the end", func(f *Figures) int { return f.Right })
	for _, word := range Words {
		number(string(word), func(f *Figures) int { return f.Words[word] })
	}
	number("kill -9 of slurmctld", func(f *Figures) int { return f.Kills })
	row("actions of users", func(f *Figures) string {
		words := map[string]int{}
		for verb, n := range f.Actions {
			words[string(verb)] = n
		}
		return counts(words)
	})
	number("starts by the auction", func(f *Figures) int { return f.Starts })
	row("given twice (looks)", func(f *Figures) string { return fmt.Sprintf("%d (%d)", f.Referee, f.Looks) })
	for _, name := range append(slices.Clone(judged), "errors in all") {
		number("log: "+name, func(f *Figures) int { return f.Log[name] })
	}
	row("helped by hand", func(f *Figures) string { return counts(f.Helps) })
	row("slurmctld's memory, MB: first, last, most; per hour", func(f *Figures) string {
		m := f.Memory
		return fmt.Sprintf("%.1f, %.1f, %.1f; %+.1f", m.FirstMB, m.LastMB, m.MaxMB, m.MBPerHour)
	})
	row("not on, s", func(f *Figures) string { return counts(f.NotOn) })
	number("left in the queue", func(f *Figures) int { return len(f.Left) })
	if len(r.Worse) > 0 {
		fmt.Fprintf(w, "\nWorse than stock: %s\n", strings.Join(r.Worse, "; "))
	}
}

// counts is a map in words, most first.
func counts(m map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return cmp.Or(strings.Join(keys, ", "), "-")
}
