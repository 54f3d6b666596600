// SPDX-License-Identifier: BSD-3-Clause

package simulate_test

import (
	"context"
	"fmt"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	"github.com/aucsched/aucsched/simulate"
)

// inTurn starts whole-node jobs in queue order, each on the next nodes that are free, and stops at the
// first that does not fit.
type inTurn struct{}

func (inTurn) Name() string { return "in turn" }

func (inTurn) Decide(_ context.Context, s *core.Snapshot, _ core.Limits, p *core.Plan) error {
	p.Decisions = p.Decisions[:0]
	var free []int32
	for n := range s.Nodes.Len() {
		if s.Nodes.Free(n) == s.Nodes.Total(n) {
			free = append(free, int32(n))
		}
	}
	for i, job := range s.Pending {
		if job.MinNodes > len(free) {
			break
		}
		d := core.Decision{Job: i, Start: true}
		for _, n := range free[:job.MinNodes] {
			d.Segs = nodeset.Append(d.Segs, nodeset.Segment{First: n, Last: n, Cores: uint16(job.TasksPerNode)})
		}
		p.Decisions, free = append(p.Decisions, d), free[job.MinNodes:]
	}
	return nil
}

// A policy of one's own beside Slurm's backfill, EASY and the auction.
func ExampleRun() {
	job := func(id string, submit int64, nodes int, hours int64) simulate.Job {
		return simulate.Job{Job: core.Job{ID: id, TimeLimit: hours * 3600,
			Request: bids.Request{MinNodes: nodes, MaxNodes: nodes, TasksPerNode: 8}}, Submit: submit, Duration: hours * 3600}
	}
	jobs := []simulate.Job{job("long", 0, 3, 4), job("wide", 60, 4, 1), job("short", 120, 1, 1), job("other", 180, 1, 3)}
	machine := make([]nodeset.Capacity, 4)
	for n := range machine {
		machine[n] = nodeset.Capacity{Cores: 8}
	}
	auction, _ := core.NewAuction(core.Preset("default"), nil)
	easy, _ := simulate.EASY("sjf")
	for _, policy := range []core.Policy{inTurn{}, simulate.Backfill(), easy, auction} {
		m, ran, err := simulate.Run(context.Background(), jobs, policy, simulate.Options{Nodes: machine})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-9s mean wait %.1f h, all done after %.1f h; short began after %.1f h\n",
			policy.Name(), m.WaitMean/3600, float64(m.Runtime)/3600, float64(ran[2].Start)/3600)
	}
	// Output:
	// in turn   mean wait 3.5 h, all done after 8.0 h; short began after 5.0 h
	// backfill  mean wait 2.2 h, all done after 8.0 h; short began after 0.0 h
	// easy-sjf  mean wait 2.2 h, all done after 8.0 h; short began after 0.0 h
	// auction2  mean wait 1.2 h, all done after 5.0 h; short began after 0.0 h
}
