// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

func explainer(t require.TestingT, p Policy, s *Snapshot) *Explainer {
	e, err := NewExplainer(context.Background(), p, s, Limits{Seed: 5})
	require.NoError(t, err)
	return e
}

func explain(t require.TestingT, e *Explainer, job int, o ExplainOptions) *Explanation {
	x, err := e.Explain(context.Background(), job, o)
	require.NoError(t, err)
	return x
}

// startsIf decides, with an auction of its own, the window with one job changed.
func startsIf(t require.TestingT, o AuctionOptions, s *Snapshot, job int, changed *Job) *Decision {
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	c := *s
	c.Pending = slices.Clone(s.Pending)
	c.Pending[job] = changed
	p := decideOn(t, a, &c)
	require.NoError(t, Verify(&c, p))
	for i := range p.Decisions {
		if p.Decisions[i].Job == job && p.Decisions[i].Start {
			return &p.Decisions[i]
		}
	}
	return nil
}

// fewer is the suggested job with one of its changes made smaller by one.
func fewer(e *Explainer, x *Explanation, s *Suggestion) []*Job {
	job := e.s.Pending[x.Decision.Job]
	var all []*Job
	d := (&inquiry{e, x, job}).dimensions()
	find := func(base *Job) {
		for i := range d {
			for n := int64(1); n <= min(d[i].steps, 5000); n++ {
				if reflect.DeepEqual(d[i].with(base, n), &s.Job) {
					all = append(all, d[i].with(base, n-1))
				}
			}
		}
	}
	find(job)
	if len(all) > 0 {
		return all
	}
	for i := range d {
		for n := int64(1); n <= min(d[i].steps, 5000); n++ {
			find(d[i].with(job, n))
		}
	}
	return all
}

// trialWork is enough work for tests that decide windows many times, whatever the choice is.
const trialWork = 100_000

// Each suggestion, tried with another auction, has the job start, and one less of it
// does not.
func TestSuggestionsHold(t *testing.T) {
	race.Slow(t)
	made, several, byField := 0, 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawEither(t), drawAuction(t)
		a.opts.Work = min(a.opts.Work, trialWork)
		e := explainer(t, a, s)
		jobs := 0
		for i := range s.Pending {
			x := explain(t, e, i, ExplainOptions{Trials: 200})
			require.LessOrEqual(t, x.Trials, 200)
			if x.Decision.Start {
				require.Empty(t, x.Suggestions)
				continue
			}
			if a.opts.Goal != settings.NoGoal && s.Pending[i].hasRange() {
				continue // how many GPUs it waits for is not its own affair
			}
			last := 0.0
			for _, c := range x.Suggestions {
				made++
				require.GreaterOrEqual(t, c.Size, last, "in order of size")
				last = c.Size
				require.NotEmpty(t, c.Changes)
				for _, f := range c.Changes {
					byField[f.Field]++
				}
				d := startsIf(t, a.opts, s, i, &c.Job)
				require.NotNil(t, d, "job %d: %v", i, c.Changes)
				require.Equal(t, d.Segs, c.Segs)
				require.Equal(t, d.Class, c.Class)
				if !c.Smallest {
					require.NotEmpty(t, x.Cut)
					continue
				}
				less := fewer(e, x, &c)
				require.NotEmpty(t, less)
				if len(c.Changes) > 1 {
					several++
				}
				for _, j := range less {
					if j.Validate() == nil {
						require.Nil(t, startsIf(t, a.opts, s, i, j), "job %d: %v is more than needed: %+v", i, c.Changes, j)
					}
				}
			}
			if len(x.Suggestions) > 0 {
				if jobs++; jobs == 2 {
					return // enough of this window
				}
			}
		}
	})
	t.Log(made, "suggestions, of them with several changes", several, byField)
	require.Greater(t, made, 60)
	require.Positive(t, several)
}

// A dumb twin tries every step of every kind. What the search says is seldom missing and
// seldom larger than need be.
func TestSearchAgainstTryingEverything(t *testing.T) {
	race.Slow(t)
	exist, found, least := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		a.opts.Work = min(a.opts.Work, trialWork)
		e := explainer(t, a, s)
		i := slices.IndexFunc(s.Pending, func(j *Job) bool {
			d := e.decisionOf(slices.Index(s.Pending, j))
			return d != nil && !d.Start
		})
		if i < 0 {
			return
		}
		job := s.Pending[i]
		x := explain(t, e, i, ExplainOptions{Trials: 10_000})
		require.Empty(t, x.Cut)
		d := (&inquiry{e, x, job}).dimensions()
		for k := range d {
			for n := int64(1); n <= min(d[k].steps, 30); n++ {
				c := d[k].with(job, n)
				if c.Validate() != nil || startsIf(t, a.opts, s, i, c) == nil {
					continue
				}
				exist++
				want, size := changes(s.Nodes, job, c)
				if slices.ContainsFunc(x.Suggestions, func(g Suggestion) bool { return g.Size <= size }) {
					found++
				}
				if slices.ContainsFunc(x.Suggestions, func(g Suggestion) bool { return slices.Equal(g.Changes, want) }) {
					least++
				}
				break
			}
		}
	})
	t.Logf("of %d kinds of changes that help, a suggestion no larger is found for %d, and the very same for %d", exist, found, least)
	require.Greater(t, exist, 20)
	require.GreaterOrEqual(t, found, exist*9/10)
	require.GreaterOrEqual(t, least, exist*9/10)
}

// Rivals gone, the job has room; with any one of them back, it has none.
func TestRivalsAreInTheWay(t *testing.T) {
	race.Slow(t)
	reasons := []Why{NoFit, Lost, Reserved, Never}
	seen := map[Why]int{}
	all := func() bool { return !slices.ContainsFunc(reasons, func(w Why) bool { return seen[w] == 0 }) }
	checkUntil(t, all, func(t *rapid.T) {
		s, a := drawEither(t), drawAuction(t)
		e := explainer(t, a, s)
		for i := range s.Pending {
			x := explain(t, e, i, ExplainOptions{})
			job := s.Pending[i]
			_, alone := requests.Place(s.Nodes, &job.Request, job.MinGPUs)
			if x.Decision.Start {
				require.Zero(t, x.Why)
				continue
			}
			seen[x.Why]++
			require.Equal(t, x.Why == Never, place.CanEverRun(s.Nodes, &job.Request) != nil)
			require.Equal(t, x.Why == Never, x.NeverWhy != "")
			require.Equal(t, x.Why == NoFit, len(x.Lacks) > 0)
			if x.Why == Never {
				continue
			}
			require.Equal(t, x.Why == NoFit, !alone)
			if x.Place == nil {
				for _, r := range x.Rivals {
					require.Equal(t, roleKept, r.Role, "all that is known is whose reservations there are")
					require.False(t, slices.ContainsFunc(e.reserved, func(o claim) bool { return o.Job == r.Job }))
				}
				continue
			}
			require.NotEmpty(t, x.Rivals)
			require.NoError(t, place.CheckSegments(&job.Request, x.Place, s.Nodes.Len()))
			require.True(t, e.roomBut(t, job, x, -1))
			for k, r := range x.Rivals {
				require.False(t, e.roomBut(t, job, x, k), "job %d does not need rival %d gone", i, k)
				require.NotEmpty(t, r.Segs)
				if x.Why == NoFit {
					require.LessOrEqual(t, r.At, e.roomWithoutWindow(t, job), "the last has to end when there is room first")
				}
			}
		}
	})
	t.Log(seen)
}

// roomWithoutWindow is when the job has room if nothing starts any more.
func (e *Explainer) roomWithoutWindow(t require.TestingT, job *Job) int64 {
	l := future{s: e.s}
	return l.earliest(t, job)
}

// suspect is a job in a role.
type suspect struct {
	role string
	job  int
}

// roomBut is a dumb twin: is there room for the job, second by second, when the rivals
// are gone, all but one?
func (e *Explainer) roomBut(t require.TestingT, job *Job, x *Explanation, but int) bool {
	gone := map[suspect]bool{}
	for k, r := range x.Rivals {
		gone[suspect{r.Role, r.Job}] = k != but
	}
	s := *e.s
	s.Nodes = new(nodeset.Table)
	s.Nodes.CopyFrom(e.s.Nodes)
	s.Running = nil
	for i, r := range e.s.Running {
		if !gone[suspect{roleRuns, i}] {
			s.Running = append(s.Running, r)
			continue
		}
		require.NoError(t, s.Nodes.Release(r.Segs, r.Uses...))
	}
	l := future{s: &s}
	if x.Why == NoFit { // the window's jobs and reservations are not to blame
		_, ok := requests.Place(s.Nodes, &job.Request, job.MinGPUs)
		return ok
	}
	for _, i := range e.started {
		if !gone[suspect{roleStarts, i}] {
			l.more = append(l.more, claim{End: s.Now + e.s.Pending[i].TimeLimit, Held: place.Held{Segs: e.decisionOf(i).Segs, Uses: e.decisionOf(i).Uses}})
		}
	}
	least := l.at(t, s.Now)
	for _, r := range e.reserved {
		if r.Job == x.Decision.Job || gone[suspect{roleKept, r.Job}] || r.Start >= s.Now+job.TimeLimit {
			continue
		}
		then := l.at(t, r.Start)
		for _, o := range e.reserved {
			if o.Job != x.Decision.Job && !gone[suspect{roleKept, o.Job}] && o.Start <= r.Start && r.Start < o.End {
				require.NoError(t, then.Allocate(o.Segs, o.Uses...))
			}
		}
		least.SetLeast(0, least.Len()-1, least, then)
	}
	_, ok := requests.Place(least, &job.Request, job.MinGPUs)
	return ok
}

// drawEither draws a snapshot, of a machine with further resources, with GPUs that are shared, or
// with neither.
func drawEither(t *rapid.T) *Snapshot {
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return drawMore(t)
	case 1:
		return drawShared(t, rapid.IntRange(1, 5).Draw(t, "nodes"), 10)
	}
	return drawSnapshot(t)
}

// Something is short if and only if a job has no place; then it is less than needed, and of what
// nodes give, they could give more if they had plenty of it.
func TestLacks(t *testing.T) {
	short := map[string]int{}
	all := 10 // three of further resources, one of shares
	checkUntil(t, func() bool { return len(short) == all }, func(t *rapid.T) {
		s := drawEither(t)
		e := &Explainer{s: s}
		e.normal.reset(s)
		e.answers.Reset(s.Nodes)
		for _, job := range s.Pending {
			_, ok := requests.Place(s.Nodes, &job.Request, job.MinGPUs)
			e.normal.read(job)
			if e.normal.never(&e.answers, job) != "" {
				continue
			}
			lacks := e.lacks(&view{nodes: s.Nodes}, e.normal.specs[0])
			require.Equal(t, ok, len(lacks) == 0, "%+v: %+v", job.Request, lacks)
			for _, l := range lacks {
				short[l.Row]++
				if l.In == "cores" && l.Row != "cores" {
					short["cores, for want of another"]++
				}
				require.Less(t, l.Has, l.Needs, "%+v", l)
				require.True(t, l.In != "nodes" || int64(l.Among) >= l.Needs, "%+v", l)
			}
		}
	})
	t.Log(short)
}

// Without reservations, the expected start is the earliest at which the limits of what
// runs and starts now leave room.
func TestExpectedStart(t *testing.T) {
	known := 0
	checkUntil(t, func() bool { return known > 30 }, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		a.opts.Reservations = 0
		e := explainer(t, a, s)
		l := future{s: s}
		for _, i := range e.started {
			l.more = append(l.more, claim{End: s.Now + s.Pending[i].TimeLimit, Held: place.Held{Segs: e.decisionOf(i).Segs}})
		}
		for i, job := range s.Pending {
			x := explain(t, e, i, ExplainOptions{})
			require.False(t, x.Kept)
			if x.Decision.Start || x.Why == Never {
				require.False(t, x.Foreseen)
				continue
			}
			want := l.earliest(t, job)
			if _, now := requests.Place(l.at(t, s.Now), &job.Request, job.MinGPUs); now {
				want = s.Now
			}
			require.Equal(t, want, x.Expected)
			if x.Foreseen {
				known++
			}
		}
	})
}

// The same explanation comes of another explainer that was asked other things before,
// and the snapshot is as it was.
func TestExplanationsAreRepeated(t *testing.T) {
	race.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		a.opts.Work = min(a.opts.Work, trialWork)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		pending := slices.Clone(s.Pending)
		e := explainer(t, a, s)
		all, asked := make([]*Explanation, len(s.Pending)), askedOf(e)
		o := ExplainOptions{Trials: 4}
		for i := (len(s.Pending) + 2) % 3; i < len(s.Pending); i += 3 {
			all[i] = explain(t, e, i, o)
		}
		require.Equal(t, asked, askedOf(e), "a trial changed what jobs ask for")
		b, err := NewAuction(a.opts, nil)
		require.NoError(t, err)
		e = explainer(t, b, s)
		for i := len(s.Pending) - 1; i >= 0; i -= 3 {
			require.Equal(t, all[i], explain(t, e, i, o))
		}
		require.Equal(t, before, s.Nodes)
		require.Equal(t, pending, s.Pending)
	})
}

// askedOf are the jobs of the queue as the policy understands them.
func askedOf(e *Explainer) []Job {
	var jobs []Job
	for _, job := range e.s.Pending {
		jobs = append(jobs, *e.auction.window.asks(job, false))
	}
	return jobs
}
