// SPDX-License-Identifier: BSD-3-Clause

package queue

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func job(id invasive.JobID, flex invasive.Flex, least, most uint32) *invasive.Job {
	return &invasive.Job{ID: id, Flex: flex, MinCores: least, MaxCores: most}
}

func TestQueue(t *testing.T) {
	q := New(2)
	require.NoError(t, q.Add(Entry{Job: job(1, invasive.Rigid, 1, 1)}))
	var known *KnownError
	assert.ErrorAs(t, q.Add(Entry{Job: job(1, invasive.Rigid, 1, 1)}), &known)
	var field *invasive.FieldError
	assert.ErrorAs(t, q.Add(Entry{Job: job(2, invasive.Rigid, 1, 2)}), &field)
	require.NoError(t, q.Add(Entry{Job: job(2, invasive.Moldable, 1, 2)}))
	assert.True(t, q.Full())
	assert.EqualError(t, q.Add(Entry{Job: job(3, invasive.Rigid, 1, 1)}), "the queue is full: it has 2 jobs, the most that it takes")
	q.Remove(1)
	assert.NoError(t, q.Add(Entry{Job: job(3, invasive.Rigid, 1, 1)}))
	assert.Equal(t, 2, q.Len())
}

// Points: older, more important and more pressing jobs come first, and a deadline that
// is lost doesn't count.
func TestPoints(t *testing.T) {
	m := DefaultMetrics()
	now := 10 * time.Hour
	entry := func(wait time.Duration, priority, limit uint32, deadline time.Duration) Entry {
		j := job(1, invasive.Rigid, 1, 1)
		j.Priority, j.Limit = priority, limit
		e := Entry{Job: j, Submitted: now - wait}
		if deadline > 0 {
			e.Deadline = now + deadline
		}
		return e
	}
	tests := []struct {
		name  string
		entry Entry
		want  float64
	}{
		{"new", entry(0, 0, 0, 0), 100},
		{"two hours", entry(2*time.Hour, 0, 0, 0), 300},
		{"priority", entry(0, 50, 0, 0), 150},
		{"a deadline far away", entry(0, 0, 3600, 5*time.Hour), 100},
		{"half of the horizon", entry(0, 0, 3600, 90*time.Minute), 600},
		{"the last moment", entry(0, 0, 3600, time.Hour), 1100},
		{"too late", entry(0, 0, 3600, 30*time.Minute), 100},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.InDelta(t, test.want, m.points(&test.entry, now), 1e-9) })
	}
}

// The selection of the first n is that of a complete sort.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := DefaultMetrics()
		q := New(1000)
		var waiting []*invasive.Job
		for i := range rapid.IntRange(0, 200).Draw(t, "jobs") {
			j := job(invasive.JobID(i+1), invasive.Rigid, 1, 1)
			j.Priority = uint32(rapid.IntRange(0, 9).Draw(t, "priority"))
			waiting = append(waiting, j)
		}
		n := rapid.IntRange(1, 50).Draw(t, "n")
		want := slices.Clone(waiting)
		slices.SortStableFunc(want, func(a, b *invasive.Job) int { return cmp.Compare(b.Priority, a.Priority) })
		var got []*invasive.Job
		for _, r := range m.rank(nil, q.Entries(nil, waiting, 0), n, 0) {
			got = append(got, r.entry.Job)
		}
		assert.Equal(t, len(want[:min(n, len(want))]), len(got))
		for i := range got {
			assert.Equal(t, want[i].ID, got[i].ID)
		}
	})
}

func parts(p ...invasive.Part) *invasive.Offer { return &invasive.Offer{Parts: p, Jobs: 100} }

func TestDecide(t *testing.T) {
	node := func(n, cores, delay uint32) invasive.Part { return invasive.Part{Node: n, Cores: cores, Delay: delay} }
	wide := job(1, invasive.Rigid, 8, 8)
	tests := []struct {
		name  string
		jobs  []*invasive.Job
		offer *invasive.Offer
		final bool
		want  map[invasive.JobID]uint32 // cores; nil: rejected
		text  string
	}{
		{"all fit", []*invasive.Job{job(1, invasive.Rigid, 2, 2), job(2, invasive.Rigid, 2, 2)}, parts(node(0, 4, 0)), false,
			map[invasive.JobID]uint32{1: 2, 2: 2}, ""},
		{"a moldable job takes all", []*invasive.Job{job(1, invasive.Moldable, 2, 100)}, parts(node(3, 4, 0), node(7, 3, 0)), false,
			map[invasive.JobID]uint32{1: 7}, ""},
		{"or makes room", []*invasive.Job{job(1, invasive.Moldable, 2, 8), job(2, invasive.Rigid, 8, 8)},
			parts(node(0, 4, 0), node(1, 6, 0)), false,
			map[invasive.JobID]uint32{1: 2, 2: 8}, ""},
		{"nothing fits", []*invasive.Job{wide}, parts(node(0, 4, 0)), false, nil, "no job fits"},
		{"nothing fits, but it has to", []*invasive.Job{wide}, parts(node(0, 4, 0)), true, map[invasive.JobID]uint32{}, ""},
		{"nothing is offered", []*invasive.Job{wide}, parts(), true, map[invasive.JobID]uint32{}, ""},
		{"cores that come soon", []*invasive.Job{wide}, parts(node(0, 4, 0), node(1, 4, 5)), false, map[invasive.JobID]uint32{1: 8}, ""},
		{"cores that come late", []*invasive.Job{wide}, parts(node(0, 4, 0), node(1, 4, 500)), false, nil, "no job fits"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := NewMapper(DefaultOptions())
			require.NoError(t, err)
			ev, err := m.Decide(context.Background(), New(10).Entries(nil, test.jobs, 0), test.offer, test.final, 0)
			require.NoError(t, err)
			assert.Equal(t, invasive.Decided, ev.Kind)
			assert.Equal(t, test.want != nil, ev.Accept)
			assert.Equal(t, test.text, ev.Text)
			got := make(map[invasive.JobID]uint32)
			for _, e := range ev.Map {
				for _, p := range e.Parts {
					got[e.Job.ID] += p.Cores
				}
			}
			if test.want != nil {
				assert.Equal(t, test.want, got)
			}
		})
	}
}

// The first job's place is kept free once offers tell when cores come, and an offer that is filled
// by others is no longer good when it has waited for too long.
func TestFirstIsProtected(t *testing.T) {
	opts := DefaultOptions()
	m, err := NewMapper(opts)
	require.NoError(t, err)
	q := New(10)
	first := job(1, invasive.Rigid, 8, 8)
	first.Priority = 10
	small := job(2, invasive.Rigid, 4, 4)
	small.Limit = 3600
	require.NoError(t, q.Add(Entry{Job: first}))
	require.NoError(t, q.Add(Entry{Job: small}))
	jobs := []*invasive.Job{first, small}
	decide := func(o *invasive.Offer, final bool, now time.Duration) invasive.Event {
		ev, err := m.Decide(context.Background(), q.Entries(nil, jobs, now), o, final, now)
		require.NoError(t, err)
		return ev
	}
	short := parts(invasive.Part{Node: 0, Cores: 4})
	assert.Len(t, decide(short, false, time.Minute).Map, 1, "the small job fills the offer")
	assert.Equal(t, "job 1 has waited for too long", decide(short, false, time.Hour).Text)
	long := parts(invasive.Part{Node: 0, Cores: 4}, invasive.Part{Node: 1, Cores: 4, Delay: 600})
	assert.Empty(t, decide(long, true, time.Hour).Map, "the small job would delay the first one")
	small.Limit = 60
	assert.Len(t, decide(long, true, time.Hour).Map, 1, "now it ends in time")
}

// Whatever is offered and asked for, a mapping keeps to both.
func TestMappings(t *testing.T) {
	m, err := NewMapper(DefaultOptions())
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		o := drawOffer(t)
		var jobs []*invasive.Job
		for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
			jobs = append(jobs, drawJob(t, invasive.JobID(i+1)))
		}
		ev, err := m.Decide(context.Background(), New(10).Entries(nil, jobs, 0), o, rapid.Bool().Draw(t, "final"), 0)
		require.NoError(t, err)
		require.NoError(t, Verify(o, ev.Map))
		require.True(t, o.Covers(ev.Map))
	})
}

// The referee and the machines agree on what keeps to an offer.
func TestVerify(t *testing.T) {
	good, bad := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := drawOffer(t)
		var mapping []invasive.Mapping
		for i := range rapid.IntRange(0, 3).Draw(t, "jobs") {
			j := drawJob(t, invasive.JobID(max(1, i+rapid.IntRange(0, 1).Draw(t, "next"))))
			e := invasive.Mapping{Job: j}
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				e.Parts = append(e.Parts, invasive.Part{Node: uint32(rapid.IntRange(0, 5).Draw(t, "node")),
					Cores: uint32(rapid.IntRange(1, 4).Draw(t, "cores"))})
			}
			mapping = append(mapping, e)
		}
		err := Verify(o, mapping)
		if require.Equal(t, o.Covers(mapping), err == nil, "%v", err); err == nil {
			good++
		} else {
			bad++
		}
	})
	assert.Positive(t, good)
	assert.Positive(t, bad)
	assert.EqualError(t, Verify(parts(), []invasive.Mapping{{Job: job(1, invasive.Rigid, 1, 1), Parts: []invasive.Part{{Node: 0}}}}),
		"job 1: a part of node 0 with 0 cores and a delay of 0 s")
}

func drawOffer(t *rapid.T) *invasive.Offer {
	o := &invasive.Offer{Jobs: uint32(rapid.IntRange(0, 10).Draw(t, "most jobs"))}
	for range rapid.IntRange(0, 8).Draw(t, "offered") {
		o.Parts = append(o.Parts, invasive.Part{Node: uint32(rapid.IntRange(0, 5).Draw(t, "offers")),
			Cores: uint32(rapid.IntRange(1, 8).Draw(t, "of")),
			Delay: uint32(rapid.SampledFrom([]int{0, 0, 1, 60, 61, 100}).Draw(t, "delay"))})
	}
	return o
}

func drawJob(t *rapid.T, id invasive.JobID) *invasive.Job {
	least := uint32(rapid.IntRange(1, 12).Draw(t, "min"))
	j := job(id, invasive.Moldable, least, least+uint32(rapid.IntRange(0, 30).Draw(t, "more")))
	j.Flex = invasive.Flex(rapid.IntRange(0, 3).Draw(t, "flex"))
	if j.Flex == invasive.Rigid {
		j.MaxCores = j.MinCores
	}
	if rapid.Bool().Draw(t, "on nodes") {
		j.MinNodes = uint32(rapid.IntRange(0, 3).Draw(t, "min nodes"))
		j.MaxNodes = j.MinNodes + uint32(rapid.IntRange(0, 2).Draw(t, "more nodes"))
	}
	return j
}

func TestOptions(t *testing.T) {
	o := DefaultOptions()
	o.Fill = 101
	_, err := NewMapper(o)
	assert.EqualError(t, err, "fill 101%: must be at most 100%")
	o = DefaultOptions()
	o.Auction.Window = 0
	_, err = NewMapper(o)
	assert.Error(t, err)
	m, err := NewMapper(DefaultOptions())
	require.NoError(t, err)
	_, err = m.Decide(context.Background(), nil, parts(invasive.Part{Node: 2, Cores: 70000}), false, 0)
	assert.EqualError(t, err, "node 2 has 70000 cores on offer: at most 65535 can be mapped")
}

// Ranking a long queue takes no memory once there is some.
func TestRankAllocates(t *testing.T) {
	m := DefaultMetrics()
	waiting := make([]Entry, 10_000)
	for i := range waiting {
		waiting[i].Job = job(invasive.JobID(i+1), invasive.Rigid, 1, 1)
		waiting[i].Job.Priority = uint32(i * 7919 % 1000)
	}
	buffer := m.rank(nil, waiting, 250, 0)
	assert.Zero(t, testing.AllocsPerRun(5, func() { buffer = m.rank(buffer[:0], waiting, 250, 0) }))
}
