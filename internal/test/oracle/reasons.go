// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/aucsched/aucsched/core"
)

// trueReasons explains each job that waits, and judges that.
func trueReasons(w *World, o *Outcome) string {
	e, err := w.explainer()
	if err != nil {
		return err.Error()
	}
	var tried []*Job
	for _, x := range o.Waits {
		job := &w.Jobs[x.Job]
		if slices.ContainsFunc(tried, job.asksAs) && len(w.Jobs) > 10 {
			continue // of a long queue
		}
		tried = append(tried, job)
		found, err := e.Explain(context.Background(), x.Job, core.ExplainOptions{})
		if err != nil {
			return err.Error()
		}
		if broken := w.trueReason(o, &x, found); broken != "" {
			return fmt.Sprintf("%s (%q, explained by %s): %s", job.ID, x.Reason, found.Why, broken)
		}
	}
	return ""
}

func (w *World) explainer() (*core.Explainer, error) {
	s, err := w.Snapshot()
	if err != nil {
		return nil, err
	}
	a, err := core.NewAuction(w.Options(), nil)
	if err != nil {
		return nil, err
	}
	return core.NewExplainer(context.Background(), a, s, core.Limits{Seed: 1})
}

// alone reports whether a job would start if it were alone, with some things changed.
func (w *World) fitsAlone(job int, change func(*World)) bool {
	c := w.clone()
	c.Quotas = slices.Clone(w.Quotas)
	for n := range c.Nodes {
		c.Nodes[n].More = slices.Clone(c.Nodes[n].More)
	}
	change(c)
	return c.Room(c.Now, c.Now+1, c.Running).fits(c.waysAt(&c.Jobs[job], c.Now), &budget{1_000_000})
}

func asItIs(*World) {}

// unbooked leaves out reservations, but for the nodes of one's own.
func unbooked(w *World) { w.unbooked = true }

// idle takes away all that runs, and has all nodes up.
func idle(w *World) {
	w.Running, w.unbooked = nil, true
	for n := range w.Nodes {
		w.Nodes[n].Up = true
	}
}

func noQuotas(w *World) {
	for q := range w.Quotas {
		w.Quotas[q] = math.MaxInt32
	}
}

// trueWords judges what the plan itself says of jobs that wait.
func trueWords(w *World, o *Outcome) string {
	for _, x := range o.Waits {
		switch {
		case x.Looked && x.Reason == "":
			return w.Jobs[x.Job].ID + " waits, and it is not said why"
		case x.Why == core.Never && w.fitsAlone(x.Job, idle):
			return w.Jobs[x.Job].ID + " is said never to run, and this machine can run it"
		case x.Why == core.NoFit && w.fitsAlone(x.Job, noQuotas):
			return w.Jobs[x.Job].ID + " is said to be suited by nothing that is free, and would start if it were alone"
		case x.Why == core.Lost && !w.fitsAlone(x.Job, asItIs):
			return w.Jobs[x.Job].ID + " is said to have lost, and would not start if it were alone"
		}
	}
	return ""
}

// trueReason says what is not true of how one job is explained.
func (w *World) trueReason(o *Outcome, x *Wait, found *core.Explanation) string {
	job := &w.Jobs[x.Job]
	possible := w.fitsAlone(x.Job, idle)
	suits := w.fitsAlone(x.Job, noQuotas) || w.fitsAlone(x.Job, unbooked) // where both are in its way it may lack something else
	switch {
	case found.Why == core.Never && possible:
		return "this machine can run it"
	case found.Why != core.Never && !possible:
		return "this machine can never run it, and that is not said"
	case found.Why == core.Never:
		return ""
	case found.Why == core.NoFit && suits:
		return "what is free suits it"
	case (found.Why == core.Lost || found.Why == core.Reserved || found.Why == 0) && !w.fitsAlone(x.Job, unbooked):
		return "nothing that is free suits it, or a quota is too small"
	}
	if broken := w.lacks(o, x, found); broken != "" {
		return broken
	}
	if found.Why == core.Lost || found.Why == core.Reserved {
		if !w.withoutRivals(o, job, found) {
			return "without those in its way it would have no room either"
		}
	}
	return w.foreseen(o, job, found)
}

// lacks gives the job what it is said to lack, until it has room.
func (w *World) lacks(o *Outcome, x *Wait, found *core.Explanation) string {
	if found.Why != core.NoFit && found.Why != core.OverQuota {
		return ""
	}
	if found.Why == core.OverQuota {
		beside := w.fitsAlone(x.Job, func(c *World) { c.Running = w.then(o) })
		switch gone := func(c *World) { c.Running = w.but(o.Stops) }; {
		case beside && w.fitsAlone(x.Job, asItIs):
			return "no quota is too small, beside what starts"
		case !beside && w.fitsAlone(x.Job, gone): // it is short beside what starts
			return ""
		}
	}
	c := w.clone()
	c.Jobs = []Job{c.Jobs[x.Job]}
	c.Jobs[0].Ways = slices.Clone(c.Jobs[0].Ways[:1]) // reasons are the first way's
	c.Jobs[0].Preempts = 0
	if c.fitsAlone(0, asItIs) || !c.fitsAlone(0, idle) {
		return ""
	}
	for range c.Jobs[0].Ways[0].Parts { // of which the first is told that lacks something
		e, err := c.explainer()
		if err != nil {
			return err.Error()
		}
		again, err := e.Explain(context.Background(), 0, core.ExplainOptions{})
		if err != nil {
			return err.Error()
		}
		if again.Decision.Start {
			return ""
		}
		before := c.String()
		for i := range again.Lacks {
			c.give(&again.Lacks[i])
		}
		switch {
		case c.fitsAlone(0, asItIs):
			return ""
		case c.String() == before:
			return fmt.Sprintf("alone it waits (%s), and all that it is said to lack is %+v", again.Why, again.Lacks)
		}
	}
	return "given all that it is said to lack it has no room"
}

// give has plenty of a row that the only job lacks, or leaves out a demand.
func (w *World) give(l *core.Lack) {
	part := 0
	if len(l.Parts) > 0 {
		part = l.Parts[0]
	}
	p := &w.Jobs[0].Ways[0].Parts[part]
	w.Quotas = slices.Clone(w.Quotas)
	for q := range w.Quotas {
		if fmt.Sprint("quota", q) == l.Row {
			w.Quotas[q] += 1000
		}
	}
	for n := range w.Nodes {
		node := &w.Nodes[n]
		switch l.Row {
		case "nodes":
			node.Up, w.unbooked = true, true
		case "cores_per_node", "cores":
			node.Cores += 100
		case "gpus_per_node", "share":
			node.GPUs += 4
		}
		node.More = slices.Clone(node.More)
		for r := range w.More {
			if w.More[r] == l.Row {
				node.More[r] += 1000
			}
		}
	}
	switch l.Row {
	case "contiguous":
		p.Contiguous = false
	case "switches":
		p.Switches, p.Within, p.Segment = 0, 0, 0
	case "apart":
		for k := range w.Jobs[0].Ways[0].Parts {
			w.Jobs[0].Ways[0].Parts[k].Apart = false
		}
	case "all_within":
		w.Jobs[0].Ways[0].AllWithin = 0
	}
}

// withoutRivals reports whether a job has room if those are gone that are said to be in its way.
func (w *World) withoutRivals(o *Outcome, job *Job, found *core.Explanation) bool {
	gone := make(map[int]bool)
	for _, r := range found.Rivals {
		if r.Role == "starting" || r.Role == "reserved" {
			gone[r.Job] = true
		}
	}
	for _, r := range found.Rivals {
		w = w.openTo(job, r.ID)
	}
	claims := slices.Concat(w.but(o.Stops), o.startedClaims(func(j int) bool { return !gone[j] }))
	places := w.keptPlaces(o, func(x Wait) bool { return !gone[x.Job] && &w.Jobs[x.Job] != job })
	places = slices.DeleteFunc(places, func(k kept) bool { return k.at >= w.Now+job.Limit })
	b := budget{50_000}
	return w.possible(claims, append([]kept{{job, w.Now}}, places...), &b) || b.spent()
}

// openTo is the world in which a reservation keeps nobody off, or if it is the job's own, has begun.
func (w *World) openTo(job *Job, name string) *World {
	c := *w
	c.Reserved = slices.Clone(w.Reserved)
	for i := range c.Reserved {
		if r := &c.Reserved[i]; r.Name == name {
			if r.open = true; name == job.Reservation {
				r.From = w.Now
			}
		}
	}
	return &c
}

// foreseen judges from when on a job is said to have room, if it has no place.
func (w *World) foreseen(o *Outcome, job *Job, found *core.Explanation) string {
	if !found.Foreseen || found.Kept || len(o.Stops) > 0 || found.Expected >= w.Now+Endless/2 {
		return ""
	}
	places := w.keptPlaces(o, func(x Wait) bool { return &w.Jobs[x.Job] != job })
	b := budget{50_000}
	if !w.possible(w.then(o), append(slices.Clone(places), kept{job, found.Expected}), &b) && !b.spent() {
		return fmt.Sprintf("it has no room in %d", found.Expected-w.Now)
	}
	for _, t := range append([]int64{w.Now}, moments(w.then(o))...) {
		if t >= w.Now && t < found.Expected && w.couldStartAt(t, job, [][]Claim{w.then(o)}, places) {
			return fmt.Sprintf("it has room in %d, not only in %d", t-w.Now, found.Expected-w.Now)
		}
	}
	return ""
}
