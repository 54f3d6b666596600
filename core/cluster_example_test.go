// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// Four nodes, of which one is drained. A job that is too wide for now has a place kept.
func ExampleCluster() {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cluster, err := core.NewCluster(core.ClusterOptions{Clock: func() time.Time { return clock }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		if err := cluster.SetNode(core.Node{Name: name, Capacity: nodeset.Capacity{Cores: 8, GPUs: 2}, Down: name == "a4"}); err != nil {
			fmt.Println(err)
		}
	}
	for _, job := range []core.JobSpec{
		{ID: "small", Request: bids.Request{Cores: 4, MinGPUs: 1}, Priority: 9, TimeLimit: time.Hour},
		{ID: "wide", Request: bids.Request{MinNodes: 3, TasksPerNode: 8}, Priority: 5, TimeLimit: time.Hour},
		{ID: "small", Request: bids.Request{Cores: 4}, Priority: 1, TimeLimit: time.Hour},
	} {
		if err := cluster.Submit(job); err != nil {
			fmt.Println(err)
		}
	}
	for range 2 {
		cycle, err := cluster.Decide(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, s := range cycle.Starts {
			fmt.Println(s.Job, "starts on", s.Nodes)
		}
		for _, w := range cycle.Waiting {
			fmt.Println(w.Job, "waits until", w.Expected.Format(time.TimeOnly))
		}
		if err := cluster.Ended("small"); err != nil {
			fmt.Println(err)
		}
		clock = clock.Add(10 * time.Minute)
	}
	// Output:
	// job small: id: small: there are two jobs of this id
	// small starts on [{a1 4 1}]
	// wide waits until 13:00:00
	// wide starts on [{a1 8 0} {a2 8 0} {a3 8 0}]
	// job small: id: small: no job of this id waits or runs
}

// Nodes with memory and GPUs of two types: a job takes what it needs of them by name.
func ExampleNode() {
	cluster, err := core.NewCluster(core.ClusterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	node := core.Node{Name: "g1", Capacity: nodeset.Capacity{Cores: 32, GPUs: 4},
		Resources: map[string]int64{"memory": 256_000, "gpu:a100": 2, "gpu:v100": 2}}
	fmt.Println(cluster.SetNode(node))
	a100 := func(id string, gpus int) error {
		return cluster.Submit(core.JobSpec{ID: id, Request: bids.Request{Cores: 8, MinGPUs: gpus}, Priority: 1, TimeLimit: time.Hour,
			Takes: map[string]nodeset.Use{"memory": {PerCore: 4000}, "gpu:a100": {PerGPU: 1}}})
	}
	fmt.Println(a100("one", 1), a100("two", 2))
	cycle, err := cluster.Decide(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cycle.Starts[0].Job, "starts,", cycle.Waiting[0].Job, "waits though", "2 GPUs are idle")
	node.Resources = map[string]int64{"memory": 30_000, "gpu:a100": 2}
	fmt.Println(cluster.SetNode(node))
	// Output:
	// <nil>
	// <nil> <nil>
	// two starts, one waits though 2 GPUs are idle
	// node g1: resources.memory: 30000: jobs hold more there
}

// The low level: the caller keeps the table, and allocates what the plan starts.
func ExamplePlan_Apply() {
	table, _ := nodeset.NewUniform(4, nodeset.Capacity{Cores: 8})
	queue := []*core.Job{{ID: "J1", Priority: 1, TimeLimit: 60, Request: bids.Request{Cores: 16}}}
	policy, err := core.NewAuction(core.Preset("none"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var plan core.Plan
	snapshot := &core.Snapshot{Nodes: table, Pending: queue}
	if err := policy.Decide(context.Background(), snapshot, core.Limits{}, &plan); err != nil {
		fmt.Println(err)
		return
	}
	starts, err := plan.Apply(table)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, start := range starts {
		fmt.Println(queue[start.Job].ID, start.Segs)
	}
	fmt.Println(table.FreeCores())
	// Output:
	// J1 [{0 1 8 0}]
	// [0 0 8 8]
}

// Two GPUs, three jobs that want a part of one, and one that wants a whole one.
func ExampleJobSpec() {
	cluster, err := core.NewCluster(core.ClusterOptions{})
	if err == nil { // a share is a per cent
		err = cluster.SetNode(core.Node{Name: "g1", Capacity: nodeset.Capacity{Cores: 16, GPUs: 2}, GPUShares: 100})
	}
	for _, job := range []core.JobSpec{
		{ID: "a", Request: bids.Request{Cores: 1}, GPUShare: 60, Priority: 4, TimeLimit: time.Hour},
		{ID: "b", Request: bids.Request{Cores: 1}, GPUShare: 30, Priority: 3, TimeLimit: time.Hour},
		{ID: "whole", Request: bids.Request{Cores: 1, MinGPUs: 1}, Priority: 2, TimeLimit: time.Hour},
		{ID: "c", Request: bids.Request{Cores: 1}, GPUShare: 10, Priority: 1, TimeLimit: time.Hour},
	} {
		err = errors.Join(err, cluster.Submit(job))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	cycle, err := cluster.Decide(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range cycle.Starts {
		fmt.Println(s.Job, "has", s.Nodes, "and", s.GPUShare, "of GPU", s.SharedGPU)
	}
	// Output:
	// a has [{g1 1 0}] and 60 of GPU 1
	// b has [{g1 1 0}] and 30 of GPU 1
	// whole has [{g1 1 1}] and 0 of GPU 0
	// c has [{g1 1 0}] and 10 of GPU 1
}

// A maintenance of all nodes at two o'clock, and an hour for a class before it: who would run into either
// waits, and is told until when.
func ExampleCluster_SetReservation() {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cluster, err := core.NewCluster(core.ClusterOptions{Clock: func() time.Time { return clock }})
	for _, name := range []string{"a1", "a2"} {
		err = errors.Join(err, cluster.SetNode(core.Node{Name: name, Capacity: nodeset.Capacity{Cores: 8}}))
	}
	at := func(hour int) time.Time { return clock.Truncate(24 * time.Hour).Add(time.Duration(hour) * time.Hour) }
	err = errors.Join(err,
		cluster.SetReservation(core.Reservation{Name: "maint", Start: at(14), End: at(18)}),
		cluster.SetReservation(core.Reservation{Name: "class", Nodes: []string{"a1"}, Start: at(12), End: at(13)}))
	node := bids.Request{MinNodes: 1, TasksPerNode: 8}
	for _, job := range []core.JobSpec{
		{ID: "long", Request: node, Priority: 3, TimeLimit: 3 * time.Hour},
		{ID: "short", Request: node, Priority: 2, TimeLimit: 2 * time.Hour},
		{ID: "lesson", Request: node, Priority: 1, TimeLimit: time.Hour, Reservation: "class"},
	} {
		err = errors.Join(err, cluster.Submit(job))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	why, err := cluster.Explain(ctx, "long", core.ExplainOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("long:", why.Why, "by", why.Rivals[0].ID)
	cycle, err := cluster.Decide(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range cycle.Starts {
		fmt.Println(s.Job, "starts on", s.Nodes[0].Node)
	}
	for _, w := range cycle.Waiting {
		fmt.Println(w.Job, "waits until", w.Expected.Format(time.TimeOnly))
	}
	// Output:
	// long: reserved by maint
	// short starts on a2
	// lesson starts on a1
	// long waits until 18:00:00
}
