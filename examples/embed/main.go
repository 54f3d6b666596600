// SPDX-License-Identifier: BSD-3-Clause

// Embed keeps a cluster scheduled with core.Cluster: nodes join, jobs come and end, one node is
// drained. The jobs are simulated, a minute of theirs a step; a real program launches what starts.
//
//	go run ./examples/embed
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	cluster, err := core.NewCluster(core.ClusterOptions{
		Clock:    func() time.Time { return now },
		Deadline: time.Second,
	})
	if err != nil {
		return err
	}
	node := nodeset.Capacity{Cores: 16, GPUs: 4}
	for n := 1; n <= 8; n++ {
		if err := cluster.SetNode(core.Node{Name: fmt.Sprint("node", n), Capacity: node}); err != nil {
			return err
		}
	}
	ends := make(map[string]time.Time) // of the simulated jobs that run
	for minute := range 90 {
		if minute%2 == 0 && minute < 24 { // a job of 1, 3, 5 or 7 nodes every other minute
			job := core.JobSpec{ID: fmt.Sprint("job", minute), Priority: 1, TimeLimit: 20 * time.Minute,
				Request: bids.Request{MinNodes: 1 + minute%8, TasksPerNode: 16, MinGPUs: 2}}
			if err := cluster.Submit(job); err != nil {
				return err
			}
		}
		if err := cluster.SetNode(core.Node{Name: "node8", Capacity: node, Down: minute >= 10 && minute <= 30}); err != nil {
			return err
		}
		for id, end := range ends {
			if !now.Before(end) {
				delete(ends, id)
				if err := cluster.Ended(id); err != nil {
					return err
				}
			}
		}
		cycle, err := cluster.Decide(ctx)
		if err != nil {
			return err
		}
		for _, start := range cycle.Starts {
			ends[start.Job] = now.Add(10 * time.Minute) // jobs end before their limits
			fmt.Fprintf(out, "%s %s starts on %d nodes, from %s; %d wait\n", now.Format("15:04"),
				start.Job, len(start.Nodes), start.Nodes[0].Node, len(cycle.Waiting))
		}
		now = now.Add(time.Minute)
	}
	return nil
}
