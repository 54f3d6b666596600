// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// Table I of the IPSCHED paper, on ten nodes: the first job could be anywhere, the
// others need half of the nodes each, with their GPUs. All start only if the first
// leaves them cores on every node.
func ExampleAuction() {
	machine, _ := nodeset.NewUniform(10, nodeset.Capacity{Cores: 8, GPUs: 2})
	snapshot := &core.Snapshot{Nodes: machine, Pending: []*core.Job{
		{ID: "flexible", Priority: 30, TimeLimit: 600, Request: bids.Request{Cores: 40}},
		{ID: "left", Priority: 20, TimeLimit: 600, Request: bids.Request{Cores: 20, MinNodes: 5, MaxNodes: 5, MinGPUs: 2}},
		{ID: "right", Priority: 10, TimeLimit: 600, Request: bids.Request{Cores: 20, MinNodes: 5, MaxNodes: 5, MinGPUs: 2}},
		{ID: "too large", Priority: 5, TimeLimit: 600, Request: bids.Request{Cores: 81}},
		{ID: "next", Priority: 1, TimeLimit: 600, Request: bids.Request{Cores: 8}},
	}}
	auction, err := core.NewAuction(core.Preset("none"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var plan core.Plan
	if err := auction.Decide(context.Background(), snapshot, core.Limits{Seed: 1}, &plan); err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range plan.Decisions {
		if d.Start {
			fmt.Println(snapshot.Pending[d.Job].ID, "starts on", d.Segs)
		} else {
			fmt.Printf("%s waits (until %d): %s\n", snapshot.Pending[d.Job].ID, d.Expected, d.Reason)
		}
	}
	fmt.Println(plan.Stats.Status, core.Verify(snapshot, &plan))
	// Output:
	// flexible starts on [{0 9 4 0}]
	// left starts on [{0 4 4 2}]
	// right starts on [{5 9 4 2}]
	// too large waits (until 0): can never run: needs 81 cores, its nodes have at most 80
	// next waits (until 600): blocked: its place is reserved from the expected start on
	// optimal <nil>
}

// Why a job waits, and what would help.
func ExampleExplainer() {
	machine, _ := nodeset.NewUniform(8, nodeset.Capacity{Cores: 8, GPUs: 2})
	held := []nodeset.Segment{{First: 0, Last: 4, Cores: 8, GPUs: 2}}
	_ = machine.Allocate(held)
	snapshot := &core.Snapshot{Nodes: machine, Running: []core.Running{{ID: "R", End: 300, Segs: held}}, Pending: []*core.Job{
		{ID: "wide", Priority: 2, TimeLimit: 600, Request: bids.Request{MinNodes: 4, MaxNodes: 4, TasksPerNode: 8, MinGPUs: 2}},
	}}
	ctx := context.Background()
	auction, err := core.NewAuction(core.Preset("none"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := core.NewExplainer(ctx, auction, snapshot, core.Limits{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := e.Explain(ctx, 0, core.ExplainOptions{Trials: 200})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d of %d nodes\n", x.Lacks[0].Row, x.Lacks[0].Has, x.Lacks[0].Needs)
	fmt.Printf("held by %s, room at second %d\n", snapshot.Running[x.Rivals[0].Job].ID, x.Expected)
	for _, s := range x.Suggestions {
		fmt.Printf("%+v starts it on %v\n", s.Changes, s.Segs)
	}
	// Output:
	// gpus_per_node: 3 of 4 nodes
	// held by R, room at second 300
	// [{Field:nodes From:4 To:3}] starts it on [{5 7 8 2}]
}
