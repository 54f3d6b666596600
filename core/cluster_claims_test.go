// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// scavenger is a job of a node that jobs which preempt class 3 may have stopped.
func scavenger(id string, price int64) core.JobSpec {
	s := wholeNodes(id, 1)
	s.Price, s.Class = price, 3
	return s
}

// urgent is a job that may preempt class 3.
func urgent(id string, nodes int) core.JobSpec {
	s := wholeNodes(id, nodes)
	s.Priority, s.Preempts = 1000, 1<<3
	return s
}

func TestClusterStopsBeforeItStarts(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Submit(scavenger("dear", 20)))
	require.NoError(t, c.Submit(scavenger("cheap", 10)))
	first := decide(t, c)
	require.Len(t, first.Starts, 2)
	require.EqualValues(t, 20, first.Starts[0].Price)
	require.Equal(t, 3, first.Starts[0].Class)

	require.NoError(t, c.Submit(urgent("a", 1)))
	for range 2 { // and again, for as long as it runs
		cycle := decide(t, c)
		require.Empty(t, cycle.Starts)
		require.Equal(t, []core.Preempted{{Job: "cheap", For: []string{"a"}}}, cycle.Preempted)
		require.Len(t, cycle.Waiting, 1)
		require.Equal(t, "waits for running jobs that are being stopped for it", cycle.Waiting[0].Reason)
		require.Equal(t, core.Preempting, cycle.Waiting[0].Why)
		require.NoError(t, c.Update(scavenger("dear", 5))) // that which is being stopped is cheaper still
	}
	require.NoError(t, c.Ended("cheap"))
	cycle := decide(t, c)
	require.Equal(t, "a", cycle.Starts[0].Job)
	require.Empty(t, cycle.Preempted)

	require.NoError(t, c.Update(scavenger("dear", 0)))
	require.NoError(t, c.Submit(urgent("b", 1)))
	cycle = decide(t, c)
	require.Empty(t, cycle.Starts)
	require.Empty(t, cycle.Preempted)
	require.NoError(t, c.Update(scavenger("dear", 999)))
	require.Len(t, decide(t, c).Preempted, 1)
}

// A Cluster that continues another has the places of those who wait, though it was told all anew.
func TestClusterContinues(t *testing.T) {
	c, clock := newCluster(t, 2)
	for _, id := range []string{"kept", "stopped"} {
		require.NoError(t, c.Submit(scavenger(id, 10)))
	}
	decide(t, c)
	require.NoError(t, c.Submit(urgent("waits", 2)))
	require.Len(t, decide(t, c).Preempted, 2)

	clock.Advance(time.Minute)
	next, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now, Continues: c})
	require.NoError(t, err)
	require.Empty(t, next.Nodes())
	require.Empty(t, next.Running())
	for _, n := range c.Nodes() {
		require.NoError(t, next.SetNode(n))
	}
	for _, s := range c.Running() {
		if s.Job == "kept" {
			require.NoError(t, next.Adopt(s))
		}
	}
	late := wholeNodes("late", 1)
	late.Priority = 2000
	for _, spec := range []core.JobSpec{late, urgent("waits", 2)} {
		require.NoError(t, next.Submit(spec))
	}
	cycle := decide(t, next)
	require.Empty(t, cycle.Starts, "the free node is claimed")
	require.Equal(t, []core.Preempted{{Job: "kept", For: []string{"waits"}}}, cycle.Preempted)
}

func TestClusterPriceErrors(t *testing.T) {
	c, _ := newCluster(t, 1)
	bad := scavenger("x", -1)
	require.EqualError(t, c.Submit(bad), "job x: price: -1: must be 0 to 1099511627776")
	bad.Price, bad.Class = 1, 64
	require.EqualError(t, c.Submit(bad), "job x: class: 64: must be 0 to 63")
	require.NoError(t, c.Submit(scavenger("x", 1)))
	decide(t, c)
	require.EqualError(t, c.Update(scavenger("x", -1)), "job x: price: -1: must be 0 to 1099511627776")
	require.EqualError(t, c.Adopt(core.Start{Job: "y", Price: -1, Nodes: []core.Share{{Node: "n1", Cores: 1}}}),
		"job y: price: -1: must be 0 to 1099511627776")
}

// The window that a Cluster writes is decided as the Cluster decides.
func TestClusterWritesWhoMayBePreempted(t *testing.T) {
	c, _ := newCluster(t, 2)
	require.NoError(t, c.Adopt(core.Start{Job: "dear", Nodes: []core.Share{{Node: "n1", Cores: 8}}, Price: 20, Class: 3}))
	require.NoError(t, c.Adopt(core.Start{Job: "cheap", Nodes: []core.Share{{Node: "n2", Cores: 8}}, Price: 10, Class: 3}))
	require.NoError(t, c.Submit(urgent("a", 1)))
	var text bytes.Buffer
	require.NoError(t, c.WriteWindow(&text))
	w, err := window.Read(&text, "w.json")
	require.NoError(t, err)
	require.EqualValues(t, 1<<3, w.Snapshot.Pending[0].Preempts)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(context.Background(), &w.Snapshot, core.Limits{}, &p))
	require.Equal(t, []core.Preemption{{Running: 1, For: []int{0}}}, p.Preempted)
	require.Equal(t, []core.Preempted{{Job: "cheap", For: []string{"a"}}}, decide(t, c).Preempted)
}

// What a stop frees is kept for the job it was done for: others, and the victim come back, don't get
// it, whatever the prices are. One stop a job.
func TestNobodyTakesThePlaceOfWhomAStopWasFor(t *testing.T) {
	for _, preset := range []string{"none", "default", "short", "throughput"} {
		for _, price := range []int64{1, 5, 10} {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			o := core.Preset(preset)
			o.Clock = func() time.Time { return now }
			policy, err := core.NewAuction(o, nil)
			require.NoError(t, err)
			c, err := core.NewCluster(core.ClusterOptions{Policy: policy, Clock: o.Clock})
			require.NoError(t, err)
			for i := range 16 {
				require.NoError(t, c.SetNode(core.Node{Name: fmt.Sprintf("n%d", i+1), Capacity: nodeset.Capacity{Cores: 4}}))
			}
			job := func(id string, priority, price int64, limit time.Duration, preempts uint64) {
				one := bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: 4}
				require.NoError(t, c.Submit(core.JobSpec{ID: id, Request: one, Priority: priority, TimeLimit: limit,
					Price: price, Preempts: preempts}))
			}
			for i := range 24 {
				job(fmt.Sprint("s", i), 10, price, 10*time.Hour, 0)
			}
			ends, urgent, started, stops := map[string]time.Time{}, 0, 0, 0
			for step := range 400 {
				if step%30 == 10 && step < 320 {
					job(fmt.Sprint("u", urgent), 1000, 0, 30*time.Minute, 1)
					urgent++
				}
				for id, end := range ends {
					if !end.After(now) {
						require.NoError(t, c.Ended(id))
						delete(ends, id)
					}
				}
				for _, s := range decide(t, c).Starts {
					if s.Job[0] == 'u' {
						started++
						ends[s.Job] = s.End
					}
				}
				for _, x := range decide(t, c).Preempted {
					stops++
					require.NoError(t, c.Ended(x.Job))
					job(x.Job, 10, price, 10*time.Hour, 0)
				}
				now = now.Add(10 * time.Second)
			}
			require.Equal(t, urgent, started, "%s, price %d", preset, price)
			require.LessOrEqual(t, stops, urgent+2, "%s, price %d", preset, price)
		}
	}
}

// A claim holds as nodes come and go, and is over when its job starts or leaves.
func TestClaimsFollowTheirNodes(t *testing.T) {
	c, _ := newCluster(t, 3)
	for i, price := range []int64{20, 10, 30} {
		require.NoError(t, c.Submit(scavenger(fmt.Sprint("s", i), price)))
	}
	require.Len(t, decide(t, c).Starts, 3)
	require.NoError(t, c.Submit(urgent("a", 1)))
	require.NoError(t, c.Submit(wholeNodes("b", 1)))
	require.Equal(t, []core.Preempted{{Job: "s1", For: []string{"a"}}}, decide(t, c).Preempted)
	require.NoError(t, c.Ended("s1"))
	require.NoError(t, c.Ended("s0"))
	_, err := c.RemoveNode("n1")
	require.NoError(t, err)
	require.NoError(t, c.SetNode(core.Node{Name: "n4", Capacity: nodeset.Capacity{Cores: 8}}))
	starts := decide(t, c).Starts
	require.Len(t, starts, 2)
	require.Equal(t, "a", starts[0].Job)
	require.Equal(t, "n2", starts[0].Nodes[0].Node)
	require.Equal(t, "n4", starts[1].Nodes[0].Node)

	require.NoError(t, c.Submit(urgent("c", 1)))
	require.Len(t, decide(t, c).Preempted, 1)
	require.NoError(t, c.Ended("s2"))
	require.NoError(t, c.Cancel("c"))
	require.NoError(t, c.Submit(wholeNodes("d", 1)))
	require.Equal(t, "d", decide(t, c).Starts[0].Job)
}

// A job of several parts is stopped with all of them, and stops others.
func TestGangsPreemptAndArePreempted(t *testing.T) {
	c, _ := newCluster(t, 3)
	gang := scavenger("gang", 5)
	gang.Components = []core.Way{{Request: bids.Request{MinNodes: 2, MaxNodes: 2, TasksPerNode: 8, Apart: true}}}
	require.NoError(t, c.Submit(gang))
	require.Len(t, decide(t, c).Starts, 1)
	other := gang
	other.ID, other.Price, other.Priority, other.Preempts = "other", 0, 1000, 1<<3
	require.NoError(t, c.Submit(other))
	require.Equal(t, []core.Preempted{{Job: "gang", For: []string{"other"}}}, decide(t, c).Preempted)
	require.NoError(t, c.Ended("gang"))
	require.NoError(t, c.Submit(gang))
	cycle := decide(t, c)
	require.Equal(t, "other", cycle.Starts[0].Job)
	require.Len(t, cycle.Waiting, 1)
	other.Price = 7
	require.NoError(t, c.Update(other))
	var text bytes.Buffer
	require.NoError(t, c.WriteWindow(&text))
	w, err := window.Read(&text, "w.json")
	require.NoError(t, err)
	require.Equal(t, []int64{7, 0}, []int64{w.Snapshot.Running[0].Price, w.Snapshot.Running[1].Price})
	require.Equal(t, w.Snapshot.Running[0].ID, w.Snapshot.Running[1].ID)
}

// What was borrowed of a quota is given back to whom it is, though nodes are free.
func TestQuotaIsReclaimed(t *testing.T) {
	c, _ := newCluster(t, 4)
	require.NoError(t, c.SetQuota("cohort", 16))
	counts := map[string]nodeset.Use{"cohort": {PerCore: 1}}
	for i, price := range []int64{3, 2} {
		s := scavenger(fmt.Sprint("borrower", i), price)
		s.Counts = counts
		require.NoError(t, c.Submit(s))
	}
	require.Len(t, decide(t, c).Starts, 2)
	owner, other := urgent("owner", 1), wholeNodes("other", 1)
	owner.Counts, other.Counts = counts, counts
	require.NoError(t, c.Submit(owner))
	require.NoError(t, c.Submit(other))
	require.Equal(t, []core.Preempted{{Job: "borrower1", For: []string{"owner"}}}, decide(t, c).Preempted)
	require.NoError(t, c.Ended("borrower1"))
	cycle := decide(t, c)
	require.Equal(t, "owner", cycle.Starts[0].Job)
	require.Equal(t, core.OverQuota, cycle.Waiting[0].Why)
}

// Prices add up, or a higher class stops any number of lower ones; and nobody goes before his time.
func TestStrictPreemptionAndLeastTime(t *testing.T) {
	for _, strict := range []bool{false, true} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		o := core.ClusterOptions{Clock: func() time.Time { return now }}
		o.StrictPreemption = strict
		c, err := core.NewCluster(o)
		require.NoError(t, err)
		require.NoError(t, c.SetNode(core.Node{Name: "n", Capacity: nodeset.Capacity{Cores: 11}}))
		for i := range 11 {
			require.NoError(t, c.Submit(core.JobSpec{ID: fmt.Sprint("low", i), Priority: 100, TimeLimit: 10 * time.Hour,
				Request: bids.Request{Cores: 1}, Price: 100, Class: 1, Exempt: time.Minute}))
		}
		starts := decide(t, c).Starts
		require.Len(t, starts, 11)
		require.NoError(t, c.Submit(core.JobSpec{ID: "high", Priority: 1000, TimeLimit: time.Hour,
			Request: bids.Request{Cores: 11}, Preempts: 2}))
		require.Empty(t, decide(t, c).Preempted)
		o.StrictPreemption = false // the window says it
		again, err := core.ReadWindow(strings.NewReader(windowOfCluster(t, c)), "w", o)
		require.NoError(t, err)
		for _, c := range []*core.Cluster{c, again} {
			require.Empty(t, decide(t, c).Preempted)
			require.Equal(t, starts[0].Exempt, c.Running()[0].Exempt)
		}
		now = now.Add(time.Minute)
		for _, c := range []*core.Cluster{c, again} {
			require.Len(t, decide(t, c).Preempted, map[bool]int{false: 0, true: 11}[strict])
		}
	}
}

// A node whose GPUs are shared takes nobody's right, there or elsewhere.
func TestSharedGPUsAndPreemption(t *testing.T) {
	c, _ := newCluster(t, 1)
	require.NoError(t, c.SetNode(core.Node{Name: "mig", Capacity: nodeset.Capacity{Cores: 2, GPUs: 1}, GPUShares: 7}))
	low := scavenger("low", 5)
	require.NoError(t, c.Submit(low))
	share := scavenger("share", 5)
	share.Request, share.GPUShare = bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: 1}, 5
	require.NoError(t, c.Submit(share))
	require.Len(t, decide(t, c).Starts, 2)
	require.NoError(t, c.Submit(urgent("a", 1)))
	b := urgent("b", 1)
	b.Request, b.GPUShare, b.Priority = share.Request, 3, 900
	require.NoError(t, c.Submit(b))
	require.Len(t, decide(t, c).Preempted, 2)
	require.NoError(t, c.Ended("low"))
	require.NoError(t, c.Ended("share"))
	require.Len(t, decide(t, c).Starts, 2)
}

// A second cycle, of another process that has the state or of one that was told what the first decided: who
// waited for a stop starts, nobody else does, and nobody is stopped again.
func TestClaimsAreStored(t *testing.T) {
	for _, parts := range []int{1, 2} {
		c, clock := newCluster(t, 4)
		for i := range 4 {
			require.NoError(t, c.Submit(scavenger(fmt.Sprint("v", i), int64(2+i))))
		}
		decide(t, c)
		high, low := urgent("high", 3-parts), urgent("low", 1)
		if parts == 2 {
			high.Components = []core.Way{{Request: high.Request}}
		}
		low.Priority, low.Preempts = 50, 0
		require.NoError(t, c.Submit(high))
		require.NoError(t, c.Submit(low))
		text := windowOfCluster(t, c)
		first := decide(t, c)
		require.Len(t, first.Preempted, 2)
		for _, x := range first.Preempted {
			require.NoError(t, c.Ended(x.Job))
		}
		clock.Advance(time.Minute)
		stored, err := core.ReadWindow(strings.NewReader(windowOfCluster(t, c)), "w", core.ClusterOptions{Clock: clock.Now})
		require.NoError(t, err)
		told, err := core.ReadWindow(strings.NewReader(afterPlan(t, text)), "w", core.ClusterOptions{Clock: clock.Now})
		require.NoError(t, err)
		for _, c := range []*core.Cluster{stored, told, c} {
			cycle := decide(t, c)
			require.Equal(t, "high", cycle.Starts[0].Job)
			require.Len(t, cycle.Starts, 1)
			require.Empty(t, cycle.Preempted)
		}
	}
}

// afterPlan is a window when those are gone whom a plan stops, with the plan's claims.
func afterPlan(t *testing.T, text string) string {
	w, err := window.Read(strings.NewReader(text), "w")
	require.NoError(t, err)
	a, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	var p core.Plan
	require.NoError(t, a.Decide(t.Context(), &w.Snapshot, core.Limits{}, &p))
	o, err := window.NewOutcome("", w, &p)
	require.NoError(t, err)
	var next map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &next))
	next["running"] = slices.DeleteFunc(next["running"].([]any), func(r any) bool {
		return slices.ContainsFunc(o.Preempted, func(x window.Preemption) bool { return x.Job == r.(map[string]any)["id"] })
	})
	next["claims"] = o.Claims
	again, err := json.Marshal(next)
	require.NoError(t, err)
	return string(again)
}
