// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the jobs of a malleable day are, and what is killed.
const (
	aBag     = "bag"     // crew bag
	aProgram = "program" // crew run
	aRigid   = "rigid"
	anUrgent = "urgent"

	aMember     = "member" // of a companion, by SIGKILL
	aLead       = "lead"   // its job is requeued
	aController = "slurmctld"
	aNode       = "slurmd"
)

// dayJob is a job that is submitted.
type dayJob struct {
	at     time.Duration
	kind   string
	user   string
	nodes  int // of its own; and of companions at most
	more   int
	slots  int           // CPUs of a node
	tasks  int           // of a bag or a program
	length time.Duration // of a task, or of a rigid job
	steps  bool          // a rigid job runs a step on all its nodes
}

// dayKill is something that is killed; pick says which one.
type dayKill struct {
	at   time.Duration
	kind string
	pick int
	down time.Duration
}

// day is all that is done to a cluster of 16 nodes from outside.
type day struct {
	jobs  []dayJob
	kills []dayKill
}

// dayLength is the time in which jobs come.
const dayLength = 270 * time.Second

// newDay draws a day: 200 jobs, of which half are malleable, and 30 kills.
func newDay(seed uint64) day {
	rng := rand.New(rand.NewPCG(seed, 16))
	between := func(lo, hi time.Duration) time.Duration {
		return lo + time.Duration(rng.Int64N(int64((hi-lo)/time.Millisecond)+1))*time.Millisecond
	}
	var d day
	add := func(count int, kind string, draw func(*dayJob)) {
		for range count {
			j := dayJob{at: between(0, dayLength), kind: kind, nodes: 1, slots: 1 + rng.IntN(2)}
			j.user = []string{Alice, Bob, Carol}[rng.IntN(3)]
			draw(&j)
			d.jobs = append(d.jobs, j)
		}
	}
	add(90, aBag, func(j *dayJob) {
		if rng.IntN(8) == 0 {
			j.nodes = 2
		}
		j.more = rng.IntN(9 - j.nodes)
		j.tasks, j.length = 3+rng.IntN(12), between(500*time.Millisecond, 1500*time.Millisecond)
		if rng.IntN(6) == 0 {
			j.more, j.tasks = 8-j.nodes, 60+rng.IntN(60)
		}
	})
	add(10, aProgram, func(j *dayJob) {
		j.more, j.tasks, j.length = 1+rng.IntN(7), 8+rng.IntN(12), between(500*time.Millisecond, time.Second)
	})
	add(75, aRigid, func(j *dayJob) {
		j.nodes, j.length, j.steps = min(1+rng.IntN(8), 1+rng.IntN(8)), between(500*time.Millisecond, 3*time.Second), rng.IntN(3) == 0
	})
	add(25, anUrgent, func(j *dayJob) {
		j.nodes, j.slots, j.length, j.steps = 1+rng.IntN(8), 2, between(500*time.Millisecond, 2*time.Second), rng.IntN(2) == 0
	})
	slices.SortStableFunc(d.jobs, func(a, b dayJob) int { return cmp.Compare(a.at, b.at) })
	kills := rand.New(rand.NewPCG(seed, 17))
	for _, k := range []struct {
		kind  string
		count int
	}{{aMember, 14}, {aLead, 7}, {aController, 4}, {aNode, 5}} {
		for range k.count {
			d.kills = append(d.kills, dayKill{at: 10*time.Second + time.Duration(kills.Int64N(int64(dayLength))), kind: k.kind,
				pick: kills.IntN(1 << 20), down: time.Duration(kills.Int64N(int64(3 * time.Second)))})
		}
	}
	slices.SortFunc(d.kills, func(a, b dayKill) int { return cmp.Compare(a.at, b.at) })
	return d
}

func TestDayIsDrawn(t *testing.T) {
	d := newDay(7)
	require.Equal(t, d, newDay(7))
	require.NotEqual(t, d, newDay(8))
	require.Len(t, d.jobs, 200)
	require.Len(t, d.kills, 30)
}
