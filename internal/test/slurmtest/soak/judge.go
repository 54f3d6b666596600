// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Word is what became of a job that ought to have run exactly once.
type Word string

// The words. A job may have several.
const (
	// Lost: it was accepted and never ran to its end.
	Lost Word = "lost"
	// Forgotten: it was accepted just before a kill, and nobody knew of it afterwards. No scheduler
	// has seen it.
	Forgotten Word = "forgotten"
	// Doubled: it ran to its end more often than it was to, or twice at the same time.
	Doubled Word = "doubled"
	// Interrupted: a run of it was cut short.
	Interrupted Word = "interrupted"
	// Phantom: the last word of Slurm's completion log or of sacct is that it
	// completed, and it never did.
	Phantom Word = "phantom"
	// Unsaid: it ran to its end, and the last word of one of them is another.
	Unsaid Word = "unsaid"
	// Stuck: it ran for slurmctld long after its end.
	Stuck Word = "stuck"
)

// Words are all of them, worst first. All but those of Tolerated count.
var Words = []Word{Lost, Doubled, Interrupted, Stuck, Phantom, Unsaid, Forgotten}

// Tolerated words are no fault of a scheduler.
var Tolerated = []Word{Forgotten}

// Finding is a word about a job, with what the job wrote.
type Finding struct {
	Job   string   `json:"job"`
	ID    uint32   `json:"id"`
	Word  Word     `json:"word"`
	Why   string   `json:"why"`
	Lines []string `json:"lines"`
}

// Verdict is what a judge says of a run.
type Verdict struct {
	Jobs     int // tasks of arrays one by one; those that were accepted
	Right    int // of these: nothing is wrong
	Excused  int // of these: their users cancelled or spoiled them
	Findings []Finding
}

// Count is how many jobs have a word.
func (v *Verdict) Count(w Word) int {
	n := 0
	for _, f := range v.Findings {
		if f.Word == w {
			n++
		}
	}
	return n
}

// case_ is all that is known of a job.
type case_ struct {
	key      Key
	attempt  Attempt
	form     Form
	records  []Record
	ended    []slurmtest.Ended
	account  string // sacct's last word, or ""
	excused  bool   // it need not run, or not to its end
	stray    bool   // cancelled, for its srun or salloc was over
	requeues int    // it may run so much oftener
	stuck    time.Duration
}

// Judge compares what jobs wrote with the plan and with what Slurm said.
func Judge(o *Outcome) Verdict {
	var v Verdict
	for _, c := range cases(o) {
		found := c.judge(o.Kills)
		if c.attempt.Accepted {
			v.Jobs++
			switch {
			case c.excused:
				v.Excused++
			case len(found) == 0:
				v.Right++
			}
		}
		v.Findings = append(v.Findings, found...)
	}
	return v
}

// cases gathers what is known, by job.
func cases(o *Outcome) []*case_ {
	byKey := map[Key]*case_{}
	for _, a := range o.Attempts {
		s := &o.Plan.Submissions[a.Key.Submission]
		for task := min(s.Tasks, 1); task <= s.Tasks; task++ {
			k := a.Key
			k.Task = task
			byKey[k] = &case_{key: k, attempt: a, form: s.Form}
		}
	}
	for _, d := range o.Done {
		for _, c := range byKey {
			if c.key.Submission != d.Key.Submission || c.key.Try != d.Key.Try {
				continue
			}
			switch d.Action.Verb {
			case Cancel, Spoil:
				c.excused = true
			case Requeue:
				c.requeues++
			case Suspend:
				// a slurmctld that forgets it takes a job for running whose processes are stopped
				c.excused = c.excused || lately(d.At, o.Kills)
			}
		}
	}
	for _, r := range o.Records {
		if c := byKey[r.Key]; c != nil {
			c.records = append(c.records, r)
		}
	}
	for _, e := range o.Ended {
		k, ok := ParseName(e.Name)
		_, _ = fmt.Sscan(e.Fields["ArrayTaskId"], &k.Task)
		if c := byKey[k]; ok && c != nil {
			c.ended = append(c.ended, e)
		}
	}
	for _, h := range o.Helps {
		for _, j := range parseQueue(h.Of) {
			if c := byKey[j.key]; c != nil {
				c.stray = c.stray || h.What == "cancel"
			}
		}
	}
	for _, c := range byKey {
		c.stuck, c.account = o.Watch.Stuck[c.key.String()], o.Accounts[c.key]
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b *case_) int {
		return cmp.Or(cmp.Compare(a.key.Submission, b.key.Submission), cmp.Compare(a.key.Try, b.key.Try),
			cmp.Compare(a.key.Task, b.key.Task))
	})
}

// judge is what is wrong with a job.
func (c *case_) judge(kills []time.Time) []Finding {
	var found []Finding
	say := func(w Word, format string, v ...any) {
		f := Finding{Job: c.key.String(), ID: c.attempt.ID, Word: w, Why: fmt.Sprintf(format, v...)}
		for _, r := range c.records {
			f.ID, f.Lines = r.ID, append(f.Lines, r.Line)
		}
		for _, e := range c.ended {
			f.Lines = append(f.Lines, fmt.Sprintf("slurm %d %s %s-%s on %s", e.ID, e.State, e.Start, e.End, e.NodeList))
		}
		found = append(found, f)
	}
	starts, ends, overlap := c.count()
	switch {
	case ends > 1+c.requeues:
		say(Doubled, "ran to its end %d times, requeued %d times by its user", ends, c.requeues)
	case overlap:
		say(Doubled, "a run began before the one before it had ended")
	}
	cut := starts - ends
	if !c.excused && cut > c.requeues {
		say(Interrupted, "%d runs began, %d reached the end, requeued %d times by its user", starts, ends, c.requeues)
	}
	if c.form == Batch && c.attempt.Accepted && !c.excused && ends == 0 {
		if starts == 0 && len(c.ended) == 0 && lately(c.attempt.At, kills) {
			say(Forgotten, "accepted at %s", c.attempt.At.Format(time.TimeOnly))
		} else {
			say(Lost, "accepted at %s", c.attempt.At.Format(time.TimeOnly))
		}
	}
	if c.stuck > 0 {
		say(Stuck, "ran for slurmctld %v after its end", c.stuck.Round(time.Second))
	}
	var last []string
	if len(c.ended) > 0 {
		last = append(last, c.ended[len(c.ended)-1].State)
	}
	if c.account != "" {
		last = append(last, c.account)
	}
	switch {
	case c.excused || c.stray:
	case ends == 0 && slices.Contains(last, "COMPLETED"):
		say(Phantom, "Slurm says %v", last)
	case ends > 0 && c.attempt.Accepted && slices.ContainsFunc(last, func(s string) bool { return s != "COMPLETED" }):
		say(Unsaid, "Slurm says %v", last)
	}
	return found
}

// count is how often a job began and ended, and whether it ever ran twice at a time. A run that was
// cut short leaves no word of when that was, so of two runs the first must have reached its end.
func (c *case_) count() (starts, ends int, overlap bool) {
	var open []int // places of the starts whose ends have not come
	last := -1     // that of the last start
	for i, r := range c.records {
		if !r.End {
			starts++
			open, last = append(open, i), i
			continue
		}
		ends++
		for at, begun := range slices.Backward(open) {
			if s := c.records[begun]; s.ID == r.ID && s.Restart == r.Restart {
				overlap = overlap || begun < last
				open = slices.Delete(open, at, at+1)
				break
			}
		}
	}
	return starts, ends, overlap
}

// forgets is how far back a killed slurmctld may have forgotten: it saves every 5 s,
// and saving takes time.
const forgets = 10 * time.Second

// lately says whether slurmctld was killed soon after t.
func lately(t time.Time, kills []time.Time) bool {
	return slices.ContainsFunc(kills, func(k time.Time) bool { return k.After(t.Add(-time.Second)) && k.Before(t.Add(forgets)) })
}

// givenTwice are what the referee saw, but for jobs that were suspended: others may have what they
// held, and Slurm resumes them all the same.
func givenTwice(o *Outcome) []slurmtest.Violation {
	suspended := map[uint32]bool{}
	for _, d := range o.Done {
		if d.Action.Verb != Suspend {
			continue
		}
		for _, a := range o.Attempts {
			if a.Key == d.Key {
				suspended[a.ID] = true
			}
		}
		for _, r := range o.Records {
			if r.Key.Submission == d.Key.Submission && r.Key.Try == d.Key.Try {
				suspended[r.ID] = true
			}
		}
	}
	var out []slurmtest.Violation
	for _, v := range o.Referee.Violations {
		var other uint32
		if _, text, ok := strings.Cut(v.What, "is also job "); ok {
			fmt.Sscan(strings.TrimSuffix(text, "'s"), &other)
		}
		if !suspended[v.Job] && !suspended[other] {
			out = append(out, v)
		}
	}
	return out
}
