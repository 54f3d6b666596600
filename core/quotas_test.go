// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/nodeset"
)

// drawCharges draws what a request counts against so many quotas, mostly against one.
func drawCharges(rng *rand.Rand, quotas int, scale int64) (charges nodeset.Uses) {
	for q := range quotas {
		if rng.IntN(quotas) > 0 {
			continue
		}
		c := nodeset.Use{Row: q}
		for _, rate := range []*int64{&c.PerJob, &c.PerNode, &c.PerCore, &c.PerGPU} {
			if rng.IntN(2) == 0 {
				*rate = scale * rng.Int64N(4)
			}
		}
		charges = append(charges, c)
	}
	return charges
}

// counts is a dumb twin of place.Count: what an allocation counts against a quota.
func counts(charges nodeset.Uses, quota int, segs []nodeset.Segment) (sum int64) {
	for _, c := range charges {
		if c.Row != quota || len(segs) == 0 {
			continue
		}
		sum += c.PerJob
		for _, s := range segs {
			for range s.Len() {
				sum += c.PerNode + c.PerCore*int64(s.Cores) + c.PerGPU*int64(s.GPUs)
			}
		}
	}
	return sum
}

// drawLimited draws a snapshot with quotas, of which some run out.
func drawLimited(t *rapid.T) *Snapshot {
	s := drawSnapshot(t)
	limit(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "quotas"), 53)), s)
	return s
}

// limit gives a snapshot quotas. In a large unit numbers are beyond what solvers tell apart.
func limit(t require.TestingT, rng *rand.Rand, s *Snapshot) {
	scale := []int64{1, 1, 3, 1 << 20, 1<<20 + 1, 1 << 32}[rng.IntN(6)]
	charges := make([]nodeset.Uses, 1+rng.IntN(3))
	quotas := 1 + rng.IntN(4)
	for i := range charges {
		charges[i] = drawCharges(rng, quotas, scale)
	}
	total := int64(0)
	for _, job := range s.Pending {
		if rng.IntN(4) > 0 {
			job.Charges = charges[rng.IntN(len(charges))]
		}
		total += place.LeastCores(&job.Request)
		for k := range job.Alternatives {
			job.Alternatives[k].Charges = drawCharges(rng, quotas, scale)
		}
	}
	for i := range s.Running {
		s.Running[i].Charges = drawCharges(rng, quotas, scale)
	}
	for q := range quotas {
		s.Quotas = append(s.Quotas, Quota{Name: fmt.Sprint("quota ", q), Left: min(scale*rng.Int64N(total+2), bids.MaxRate)})
	}
	require.NoError(t, s.Validate())
}

// Whatever the quotas are, no plan passes one, its objective is within its bounds, and it says why
// jobs wait.
func TestQuotasAreNeverPassed(t *testing.T) {
	race.Slow(t)
	over, started, free := 0, 0, 0
	checkUntil(t, func() bool { return over > 200 && started > 200 && free > 200 }, func(t *rapid.T) {
		s, a := drawLimited(t), drawAuction(t)
		before := new(nodeset.Table)
		before.CopyFrom(s.Nodes)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		require.Equal(t, before, s.Nodes)
		require.LessOrEqual(t, p.Objective, p.Bound)
		used := make([]int64, len(s.Quotas))
		require.True(t, slices.IsSortedFunc(p.Decisions, func(a, b Decision) int { return a.Job - b.Job }))
		for _, d := range p.Decisions {
			require.Equal(t, d.Start, d.Reason == "")
			require.Equal(t, d.Start, d.Why == 0)
			charges := s.Pending[d.Job].Charges
			switch {
			case d.Why == OverQuota:
				over++
				require.NotEmpty(t, charges)
				require.Contains(t, d.Reason, "quota ")
			case d.Start && len(charges) > 0:
				started++
			case d.Start:
				free++
			}
			for q := range used {
				used[q] += counts(charges, q, d.Segs)
			}
		}
		for q := range used {
			require.LessOrEqual(t, used[q], s.Quotas[q].Left)
		}
	})
}

// The same with several ways to meet a job, each of which counts in a way of its own.
func TestQuotasOfManyWays(t *testing.T) {
	race.Slow(t)
	further := 0
	checkUntil(t, func() bool { return further > 20 }, func(t *rapid.T) {
		s, a := drawWays(t), drawAuction(t)
		limit(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "quotas"), 59)), s)
		p := decideOn(t, a, s)
		require.NoError(t, Verify(s, p))
		for _, d := range p.Decisions {
			if d.Start && d.Alternative > 0 {
				further++
			}
		}
	})
}

// Quotas of which there is plenty change nothing.
func TestPlentyOfQuotasChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, a := drawSnapshot(t), drawAuction(t)
		plain := decideOn(t, a, s)
		objective, decisions := plain.Objective, fmt.Sprint(plain.Decisions)
		s.Quotas = []Quota{{"a", bids.MaxRate}, {"b", 1 << 22}}
		for i, job := range s.Pending {
			if i%2 == 0 {
				job.Charges = nodeset.Uses{{Row: 0, PerCore: 3600}, {Row: 1, PerJob: 1, PerNode: 1, PerGPU: 1}}
			} else {
				job.Charges = nodeset.Uses{{Row: 0, PerCore: 3600}, {Row: 1, PerNode: 1, PerJob: 1, PerGPU: 1}}
			}
		}
		limited := decideOn(t, a, s)
		require.Equal(t, objective, limited.Objective)
		require.Equal(t, decisions, fmt.Sprint(limited.Decisions))
	})
}

// Nobody waits who has room on what the others left, also of quotas.
func TestNoQuotaIsLeftLying(t *testing.T) {
	race.Slow(t)
	waiting := 0
	checkUntil(t, func() bool { return waiting > 100 }, func(t *rapid.T) {
		s := drawLimited(t)
		for i := range s.Quotas {
			s.Quotas[i].Left %= 1 << quotaBits // beyond that rounding counts
		}
		o := Preset("none")
		o.Reservations = 0
		o.Window = rapid.SampledFrom([]int{1, 4, 200}).Draw(t, "window")
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		p := decideOn(t, a, s)
		left := new(nodeset.Table)
		left.CopyFrom(s.Nodes)
		room := make([]int64, len(s.Quotas))
		for q := range room {
			room[q] = s.Quotas[q].Left
			for _, d := range p.Decisions {
				room[q] -= counts(s.Pending[d.Job].Charges, q, d.Segs)
			}
		}
		for _, d := range p.Decisions {
			require.NoError(t, left.Allocate(d.Segs))
		}
		for _, d := range p.Decisions {
			job := s.Pending[d.Job]
			if d.Start || d.Why == Never {
				continue
			}
			waiting++
			for n := 1; n <= s.Nodes.Len(); n++ { // on exactly so many nodes
				r := job.Request
				if r.MinNodes > n || r.MaxNodes > 0 && r.MaxNodes < n {
					continue
				}
				r.MinNodes, r.MaxNodes = n, n
				segs, ok := requests.Place(left, &r, r.MinGPUs)
				if !ok || place.CheckSegments(&job.Request, segs, s.Nodes.Len()) != nil {
					continue
				}
				fits := true
				for q := range room {
					fits = fits && counts(job.Charges, q, segs) <= room[q]
				}
				require.False(t, fits, "job %s has room on %d nodes: %s", job.ID, n, d.Reason)
			}
		}
	})
}

// Jobs of one node each, on a few nodes, under quotas: the auction's choice is the best of all.
func TestQuotasBruteForce(t *testing.T) {
	bound := 0
	checkUntil(t, func() bool { return bound > 60 }, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 61))
		nodes := 1 + rng.IntN(3)
		table, err := nodeset.NewUniform(nodes, nodeset.Capacity{Cores: 8, GPUs: 2})
		require.NoError(t, err)
		s := &Snapshot{Nodes: table}
		quotas := 1 + rng.IntN(3)
		for q := range quotas {
			s.Quotas = append(s.Quotas, Quota{fmt.Sprint("q", q), rng.Int64N(20)})
		}
		for i := range 1 + rng.IntN(7) {
			r := bids.Request{MinNodes: 1, MaxNodes: 1, Cores: 1 + rng.IntN(6), MinGPUs: rng.IntN(2)}
			r.MaxGPUs = r.MinGPUs
			r.Charges = drawCharges(rng, quotas, 1)
			s.Pending = append(s.Pending, &Job{ID: string(rune('a' + i)), Request: r, Priority: 10 * (1 + rng.Int64N(5)), TimeLimit: 60})
		}
		// preferences are worth less than the least priority (equation 10)
		s.Pending[0].Priority = 10
		sortQueue(s.Pending)
		o := Preset("none")
		o.Reservations = 0
		if rng.IntN(2) == 0 {
			o.Determiner = layouts
		}
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		require.NoError(t, a.Decide(context.Background(), s, Limits{Seed: 1}, &p))
		require.NoError(t, Verify(s, &p))
		got := int64(0)
		for _, d := range p.Decisions {
			if d.Start {
				got += s.Pending[d.Job].Priority
			}
		}
		best := bestWithin(s, s.Quotas)
		require.Equal(t, best, got)
		if best < bestWithin(s, nil) {
			bound++
		}
	})
}

// bestWithin is the most that any assignment of jobs to nodes is worth within the quotas.
func bestWithin(s *Snapshot, quotas []Quota) (best int64) {
	cores, gpus := make([]int, s.Nodes.Len()), make([]int, s.Nodes.Len())
	used := make([]int64, len(quotas))
	var try func(j int, worth int64)
	try = func(j int, worth int64) {
		if best = max(best, worth); j == len(s.Pending) {
			return
		}
		try(j+1, worth)
		r := &s.Pending[j].Request
		for n := range cores {
			free := s.Nodes.Free(n)
			fits := cores[n]+r.Cores <= int(free.Cores) && gpus[n]+r.MinGPUs <= int(free.GPUs)
			segs := []nodeset.Segment{{First: int32(n), Last: int32(n), Cores: uint16(r.Cores), GPUs: uint8(r.MinGPUs)}}
			for q := range used {
				fits = fits && used[q]+counts(r.Charges, q, segs) <= quotas[q].Left
			}
			if !fits {
				continue
			}
			add := func(sign int) {
				cores[n], gpus[n] = cores[n]+sign*r.Cores, gpus[n]+sign*r.MinGPUs
				for q := range used {
					used[q] += int64(sign) * counts(r.Charges, q, segs)
				}
			}
			add(1)
			try(j+1, worth+s.Pending[j].Priority)
			add(-1)
		}
	}
	try(0, 0)
	return best
}

// account is a job of one node, with so many cores, that counts its cores against quota 0.
func account(id string, cores int, limit, priority int64) *Job {
	return &Job{ID: id, Priority: priority, TimeLimit: limit,
		Request: bids.Request{Cores: cores, MinNodes: 1, MaxNodes: 1, Charges: nodeset.Uses{{PerCore: 1}}}}
}

func says(t *testing.T, o AuctionOptions, s *Snapshot) map[string]Decision {
	t.Helper()
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	var p Plan
	require.NoError(t, a.Decide(context.Background(), s, Limits{}, &p))
	require.NoError(t, Verify(s, &p))
	say := map[string]Decision{}
	for _, d := range p.Decisions {
		say[s.Pending[d.Job].ID] = d
	}
	return say
}

// A user with hundreds of jobs at his limit, first in the queue, takes no seat and no place from
// others: alike ones, and others that each ask for something else.
func TestHogTakesNoSeats(t *testing.T) {
	for _, alike := range []bool{true, false} {
		for _, left := range []int64{0, 40, 64} {
			nodes, err := nodeset.NewUniform(8, nodeset.Capacity{Cores: 32})
			require.NoError(t, err)
			s := &Snapshot{Nodes: nodes, Quotas: []Quota{{"cpu of account limited", left}}}
			for i := range 900 {
				limit := int64(300)
				if !alike {
					limit += int64(i)
				}
				s.Pending = append(s.Pending, account(fmt.Sprint("hog", i), 32, limit, int64(100_000-i)))
			}
			for i := range 40 {
				job := account(fmt.Sprint("bob", i), 4, 60, int64(1000-i))
				job.Charges = nil
				s.Pending = append(s.Pending, job)
			}
			o := Preset("none")
			o.Window, o.Depth = 60, 0
			say := says(t, o, s)
			hogs := int64(0)
			for i := range 900 {
				d := say[fmt.Sprint("hog", i)]
				if d.Start {
					hogs++
				} else {
					require.NotEmpty(t, d.Reason, "%v: hog%d", alike, i)
				}
			}
			require.Equal(t, left/32, hogs)
			if left < 32 {
				require.Equal(t, OverQuota, say["hog0"].Why)
				require.Equal(t, "cpu of account limited: too little is left for it", say["hog0"].Reason)
			}
			for i := range 40 {
				require.True(t, say[fmt.Sprint("bob", i)].Start, "%v, %d: bob%d: %s", alike, left, i, say[fmt.Sprint("bob", i)].Reason)
			}
		}
	}
}

// What a quota's first blocked job counts is kept for it, from the moment on at which there is
// enough: smaller ones of the quota don't pass it for ever, and no node is kept from others.
func TestQuotasAreReserved(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	holds := Running{ID: "holds", End: 100, Charges: nodeset.Uses{{PerCore: 1}},
		Segs: []nodeset.Segment{{First: 0, Last: 1, Cores: 4}}}
	require.NoError(t, nodes.Allocate(holds.Segs))
	other := account("other", 8, 500, 1)
	other.Charges = nil
	s := &Snapshot{Nodes: nodes, Running: []Running{holds}, Quotas: []Quota{{"cores", 4}}, Pending: []*Job{
		account("large", 8, 60, 9), account("second", 6, 60, 8),
		account("long", 4, 500, 7), account("short", 2, 100, 5), account("small", 2, 500, 4), other}}
	s.Pending[3].TimeLimit = 90
	say := says(t, Preset("none"), s)
	require.Equal(t, OverQuota, say["large"].Why)
	require.True(t, say["large"].Kept)
	require.Equal(t, int64(100), say["large"].Expected, "8 come back")
	require.False(t, say["second"].Kept, "one a quota")
	require.True(t, say["long"].Start, "12 are left then: 4 beside the large one")
	require.False(t, say["short"].Start, "nothing is left now")
	require.True(t, say["other"].Start)

	s.Pending[0].Cores = 8
	s.Quotas[0].Left = 3
	say = says(t, Preset("none"), s)
	require.False(t, say["long"].Start, "4 are not left")
	require.True(t, say["short"].Start, "it ends before")
	require.False(t, say["small"].Start, "1 is left")

	s.Pending[0].Charges = nodeset.Uses{{PerCore: 2}}
	s.Quotas[0].Left = 9
	say = says(t, Preset("none"), s)
	require.Equal(t, int64(100), say["large"].Expected)
	require.False(t, say["long"].Start, "16 of 17 are the large one's from 100 on")
	require.True(t, say["short"].Start)
	require.True(t, say["other"].Start)
}

// Whom a quota keeps out of the window is told why he waits where no node is free, too.
func TestFullMachineTellsThoseBehindAQuota(t *testing.T) {
	nodes, err := nodeset.NewUniform(1, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	holds := Running{ID: "holds", End: 100, Segs: []nodeset.Segment{{Cores: 4}}}
	require.NoError(t, nodes.Allocate(holds.Segs))
	s := &Snapshot{Nodes: nodes, Running: []Running{holds}, Quotas: []Quota{{"cores", 1}}}
	o := Preset("none")
	o.Window = 2 * quotaSeats
	for i := range 3 * quotaSeats {
		s.Pending = append(s.Pending, account(fmt.Sprint("job", i), 1, 100, int64(99-i)))
	}
	for id, d := range says(t, o, s) {
		require.Contains(t, []Why{NoFit, Reserved}, d.Why, "%s: %q", id, d.Reason)
	}
}

// A stream of small jobs of one account does not starve a large one.
func TestNobodyStarvesUnderAQuota(t *testing.T) {
	nodes, err := nodeset.NewUniform(8, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	a, err := NewAuction(Preset("none"), nil)
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Quotas: []Quota{{"cores", 16}}}
	var p Plan
	for ; s.Now < 2000; s.Now += 20 {
		s.Running = slices.DeleteFunc(s.Running, func(r Running) bool {
			if r.End > s.Now {
				return false
			}
			require.NoError(t, nodes.Release(r.Segs))
			s.Quotas[0].Left += counts(r.Charges, 0, r.Segs)
			return true
		})
		for i := range 3 {
			s.Pending = append(s.Pending, account(fmt.Sprint("small", s.Now, i), 4, 100, 50))
		}
		if s.Now == 20 { // when small ones run
			large := account("large", 16, 100, 51)
			large.MinNodes, large.MaxNodes = 2, 2
			s.Pending = append([]*Job{large}, s.Pending...)
		}
		require.NoError(t, a.Decide(context.Background(), s, Limits{}, &p))
		require.NoError(t, Verify(s, &p))
		starts, err := p.Apply(nodes)
		require.NoError(t, err)
		for _, d := range starts {
			job := s.Pending[d.Job]
			if job.ID == "large" {
				require.LessOrEqual(t, s.Now, int64(120), "those of before have ended by then")
				return
			}
			s.Running = append(s.Running, Running{ID: job.ID, End: s.Now + job.TimeLimit, Segs: d.Segs, Charges: job.Charges})
			s.Quotas[0].Left -= counts(job.Charges, 0, d.Segs)
		}
		s.Pending = slices.DeleteFunc(s.Pending, func(job *Job) bool {
			return slices.ContainsFunc(s.Running, func(r Running) bool { return r.ID == job.ID })
		})
	}
	t.Fatal("the large job has not started")
}

func TestVerifyCountsQuotas(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Quotas: []Quota{{"cores of x", 7}}, Pending: []*Job{account("a", 4, 60, 2), account("b", 4, 60, 1)}}
	p := Plan{Decisions: []Decision{
		{Job: 0, Start: true, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 4}}},
		{Job: 1, Start: true, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 4}}}}}
	require.ErrorContains(t, Verify(s, &p), "quota cores of x: 8 are counted, 7 are left")
	s.Quotas[0].Left = 8
	require.NoError(t, Verify(s, &p))
	s.Pending[0].Charges = nodeset.Uses{{Row: 1}}
	require.ErrorContains(t, Verify(s, &p), "job a: it counts against quota 1 of 1")
}

func TestQuotaFaults(t *testing.T) {
	nodes, err := nodeset.NewUniform(2, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	for want, s := range map[string]*Snapshot{
		"quotas[0] (x): left: -1099511627777: must be -1099511627776 to 1099511627776": {Quotas: []Quota{{"x", -bids.MaxRate - 1}}},
		"quotas[1] (y): left: 1099511627777":                                           {Quotas: []Quota{{"x", 0}, {"y", bids.MaxRate + 1}}},
		"running job r: charges: quota 0 of 0":                                         {Running: []Running{{ID: "r", Charges: nodeset.Uses{{}}}}},
	} {
		s.Nodes = nodes
		require.ErrorContains(t, s.Validate(), want)
	}
	s := &Snapshot{Nodes: nodes, Quotas: []Quota{{"x", 5}}, Pending: []*Job{
		account("a", 4, 60, 9), account("b", 4, 60, 8), account("c", 4, 60, 7)}}
	s.Pending[0].Charges = nodeset.Uses{{Row: 1}}
	s.Pending[1].Charges = nodeset.Uses{{Row: 0, PerCore: -1}}
	say := says(t, Preset("none"), s)
	require.Equal(t, "charges: quota 1 of 1", say["a"].Reason)
	require.Contains(t, say["b"].Reason, "charges: 1: quota 0: -1: must be 0 to")
	require.Equal(t, Never, say["b"].Why)
	require.True(t, say["c"].Start)
}

// The greatest numbers are in range, and what a job counts is rounded up, never down.
func TestGreatestCharges(t *testing.T) {
	nodes, err := nodeset.NewUniform(100, nodeset.Capacity{Cores: 60_000, GPUs: 200})
	require.NoError(t, err)
	s := &Snapshot{Nodes: nodes, Quotas: []Quota{{"x", bids.MaxRate}, {"y", 1<<30 + 1}, {"z", 1 << 30}}}
	huge := account("huge", 60_000, 60, 9)
	huge.MinNodes, huge.MaxNodes, huge.Cores, huge.MinGPUs, huge.MaxGPUs = 100, 100, 6_000_000, 200, 200
	huge.Charges[0] = nodeset.Use{PerJob: bids.MaxRate, PerNode: bids.MaxRate, PerCore: bids.MaxRate, PerGPU: bids.MaxRate}
	odd := []*Job{account("odd0", 1, 60, 8), account("odd1", 1, 60, 7)}
	for _, job := range odd {
		job.Charges = nodeset.Uses{{Row: 1, PerJob: 1<<29 + 1}, {Row: 2, PerJob: 1 << 29}}
	}
	s.Pending = append([]*Job{huge}, odd...)
	say := says(t, Preset("none"), s)
	require.Equal(t, OverQuota, say["huge"].Why)
	require.True(t, say["odd0"].Start)
	require.False(t, say["odd1"].Start, "2^30 + 2 of y")
	for _, job := range odd {
		job.Charges = job.Charges[1:]
	}
	say = says(t, Preset("none"), s)
	require.True(t, say["odd0"].Start && say["odd1"].Start, "2^30 of z")
	require.Equal(t, int64(1<<60), place.Count(&nodeset.Use{PerJob: 1 << 40, PerCore: 1 << 40}, place.Size{Cores: 1 << 40}))
}

// windowOfQuotas is a window of which so many quotas bind, or none.
func windowOfQuotas(t testing.TB, jobs, quotas int) *Snapshot {
	s := windowOfMemory(t, 128, jobs, 0)
	for q := range quotas {
		s.Quotas = append(s.Quotas, Quota{fmt.Sprint("quota ", q), 200})
	}
	for i, job := range s.Pending {
		if quotas > 0 {
			job.Charges = nodeset.Uses{{Row: i % quotas, PerCore: 1, PerGPU: 4}}
		}
	}
	return s
}

// The steady state of a cycle with quotas allocates nothing.
func TestQuotasAllocateNothing(t *testing.T) {
	race.Allocates(t)
	s := windowOfQuotas(t, 60, 5)
	holds := []nodeset.Segment{{First: 0, Last: 3, Cores: 30}}
	require.NoError(t, s.Nodes.Allocate(holds))
	s.Running = []Running{{End: 50, Segs: holds, Charges: nodeset.Uses{{Row: 1, PerCore: 1}}}}
	wide := account("wide", 300, 600, 2000)
	wide.MinNodes, wide.MaxNodes, wide.Charges = 10, 10, nodeset.Uses{{Row: 1, PerCore: 1}}
	s.Pending = append([]*Job{wide}, s.Pending...)
	o := Preset("none")
	o.Clock = func() time.Time { return time.Time{} }
	o.Work = 300_000
	for _, by := range []bool{false, true} {
		if by {
			o.Determiner = layouts
		}
		a, err := NewAuction(o, nil)
		require.NoError(t, err)
		var p Plan
		decide := func() {
			if err := a.Decide(context.Background(), s, Limits{Seed: 5}, &p); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			decide()
		}
		require.Equal(t, OverQuota, p.Decisions[0].Why)
		require.True(t, p.Decisions[0].Kept)
		require.Zero(t, testing.AllocsPerRun(20, decide))
	}
}

func BenchmarkQuotas(b *testing.B) {
	for _, quotas := range []int{0, 1, 20} {
		b.Run(fmt.Sprint(quotas), func(b *testing.B) {
			s := windowOfQuotas(b, 90, quotas)
			o := Preset("none")
			o.Work = 300_000
			a, err := NewAuction(o, nil)
			require.NoError(b, err)
			var p Plan
			for b.Loop() {
				if err := a.Decide(context.Background(), s, Limits{Seed: 5}, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An explanation names the quota, what of it is needed and left, and who has it.
func TestQuotasAreExplained(t *testing.T) {
	nodes, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	require.NoError(t, err)
	holds := []Running{
		{ID: "first", End: 100, Charges: nodeset.Uses{{PerCore: 1}}, Segs: []nodeset.Segment{{First: 0, Last: 0, Cores: 4}}},
		{ID: "second", End: 200, Charges: nodeset.Uses{{PerCore: 1}}, Segs: []nodeset.Segment{{First: 1, Last: 1, Cores: 4}}},
		{ID: "other", End: 50, Segs: []nodeset.Segment{{First: 2, Last: 2, Cores: 1}}},
	}
	for _, r := range holds {
		require.NoError(t, nodes.Allocate(r.Segs))
	}
	s := &Snapshot{Nodes: nodes, Running: holds, Quotas: []Quota{{"cores of x", 4}}, Pending: []*Job{
		account("wants 7", 7, 60, 9), account("starts", 3, 60, 8), account("beside", 2, 60, 7), account("never", 8, 60, 1)}}
	s.Pending[3].Charges = nodeset.Uses{{PerCore: 10}}
	o := Preset("none")
	a, err := NewAuction(o, nil)
	require.NoError(t, err)
	e := explainer(t, a, s)
	about := func(i int) *Explanation { return explain(t, e, i, ExplainOptions{}) }
	rivals := func(x *Explanation) (names []string) {
		for _, r := range x.Rivals {
			if r.Role == roleRuns {
				names = append(names, s.Running[r.Job].ID)
			} else {
				names = append(names, s.Pending[r.Job].ID)
			}
		}
		return names
	}

	x := about(0)
	require.Equal(t, OverQuota, x.Why)
	require.Contains(t, x.Lacks, Lack{Row: "cores of x", In: "quota", Needs: 7, Has: 4})
	require.Equal(t, []string{"first"}, rivals(x))
	require.True(t, x.Kept)
	require.Equal(t, int64(100), x.Expected)

	require.True(t, about(1).Decision.Start)

	x = about(2)
	require.Equal(t, OverQuota, x.Why)
	require.Equal(t, []Lack{{Row: "cores of x", In: "quota", Needs: 2, Has: 1}}, x.Lacks)
	require.Equal(t, []string{"starts"}, rivals(x))

	x = about(3)
	require.Equal(t, Never, x.Why)
	require.Contains(t, x.NeverWhy, "can never run: counts 80 against cores of x, of which there are ")
	require.Empty(t, rivals(x))
	require.False(t, x.Foreseen)
}
