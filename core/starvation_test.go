// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// A stream of small jobs, more of them than the machine can serve, and one job
// that needs all of it, submitted soon after the first ones.
const (
	smallLimit  = 120 // seconds, of every small job
	streamEnd   = 6000
	wideArrives = 30
)

func stream(nodes int) []workload.Job {
	rng := rand.New(rand.NewPCG(12, 34))
	var jobs []workload.Job
	add := func(id string, submit int64, r bids.Request, duration int64) {
		jobs = append(jobs, workload.Job{Job: core.Job{ID: id, Request: r, TimeLimit: smallLimit}, Submit: submit, Duration: duration})
	}
	for submit := int64(0); submit < streamEnd; submit += 2 {
		if submit == wideArrives {
			add("wide", submit, bids.Request{MinNodes: nodes, TasksPerNode: 4}, 60)
		}
		add(fmt.Sprint("small", submit), submit, bids.Request{Cores: 1 + rng.IntN(4)}, 60+rng.Int64N(61))
	}
	workload.AssignBasicPriorities(jobs)
	return jobs
}

// wideStart is when the wide job starts under the auction, and how many small jobs
// have started before it.
func wideStart(t *testing.T, reservations int) (at int64, before int) {
	const nodes = 16
	machine := make([]nodeset.Capacity, nodes)
	for n := range machine {
		machine[n] = nodeset.Capacity{Cores: 4}
	}
	o := core.Preset("none")
	o.Reservations, o.Window, o.Work = reservations, 40, 20_000
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	c := sim.NewConfig(machine)
	var starts []int64
	c.OnEnd = func(r sim.Record) {
		if starts = append(starts, r.Start); r.Job.ID == "wide" {
			at = r.Start
		}
	}
	jobs := stream(nodes)
	_, err = sim.Run(context.Background(), c, a, jobs)
	require.NoError(t, err)
	require.Len(t, starts, len(jobs), "all jobs run in the end")
	for _, s := range starts {
		if s < at {
			before++
		}
	}
	return at, before
}

func TestWideJobIsNotStarved(t *testing.T) {
	race.Slow(t)
	require.Equal(t, int64(1), int64(core.Preset("none").Reservations), "the default keeps a place for the first")
	at, _ := wideStart(t, core.Preset("none").Reservations)
	const interval = 3 // of the simulator's cycles
	require.GreaterOrEqual(t, at, int64(wideArrives))
	require.LessOrEqual(t, at, int64(wideArrives+smallLimit+interval), "as soon as the jobs ahead of it have reached their limits")
}

// Without reservations the papers' auction lets one small job after the other go
// ahead, for as long as there are any.
func TestWideJobStarvesWithoutReservations(t *testing.T) {
	race.Slow(t)
	at, before := wideStart(t, 0)
	require.Greater(t, at, int64(streamEnd), "it has to wait for the stream's end")
	require.Equal(t, len(stream(16))-1, before, "every small job goes ahead")
}

// With places for the largest first, a small job among wide ones that take the whole machine, and
// more of them than it can serve, has its turn as well.
func TestSmallJobAmongWideOnesIsNotStarved(t *testing.T) {
	const nodes = 16
	machine := make([]nodeset.Capacity, nodes)
	for n := range machine {
		machine[n] = nodeset.Capacity{Cores: 4}
	}
	var jobs []workload.Job
	add := func(id string, submit int64, r bids.Request) {
		jobs = append(jobs, workload.Job{Job: core.Job{ID: id, Request: r, TimeLimit: 120}, Submit: submit, Duration: 120})
	}
	for submit := int64(0); submit < 60_000; submit += 100 { // 120 s each
		if submit == 1000 {
			add("small", submit, bids.Request{Cores: 1})
		}
		add(fmt.Sprint("wide", submit), submit, bids.Request{MinNodes: nodes, TasksPerNode: 4})
	}
	workload.AssignBasicPriorities(jobs)
	o := core.Preset("packed")
	o.Work, o.Patience = 20_000, 1800
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	c := sim.NewConfig(machine)
	at := int64(-1)
	c.OnEnd = func(r sim.Record) {
		if r.Job.ID == "small" {
			at = r.Start
		}
	}
	_, err = sim.Run(context.Background(), c, a, jobs)
	require.NoError(t, err)
	require.Greater(t, at, int64(1000), "it is passed over for a while")
	// Wide jobs that come up to 2 x 1800 s later go first, 36 of them, and those that
	// are there, 120 s each.
	require.Less(t, at, int64(1000+120*(10+36)+120+3))
}
