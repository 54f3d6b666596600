// SPDX-License-Identifier: BSD-3-Clause

package locality_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/localitylog"
)

// Node 0 runs the first job until 1000 s; its file of 64 GB takes 640 s to a node. The second
// job could start on node 1 right away: FCFS has it do so and load the file again, EFT has it
// wait where the file is.
func ExampleSimulate() {
	cluster := `{ id: 0 memory: 128 bandwidth: 0.1 core: 10 }
{ id: 1 memory: 128 bandwidth: 0.1 core: 10 }`
	const asks, known = "walltime: %d cores: 10 user: u data: 1 data_size: 64",
		"start_time_from_history: 0 start_node_from_history: 1"
	jobs := fmt.Sprintf("{ id: 1 subtime: 0 delay: 500 "+asks+" workload: 0 "+known+" }\n"+
		"{ id: 2 subtime: 700 delay: 500 "+asks+" workload: 1 "+known+" }", 1000, 2000)
	nodes, err := localitylog.ReadCluster(strings.NewReader(cluster), "cluster")
	if err != nil {
		panic(err)
	}
	work, err := localitylog.ReadWorkload(strings.NewReader(jobs), "jobs")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"fcfs", "eft"} {
		r, err := locality.Simulate(context.Background(), nodes, work, locality.Options{Policy: name})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: waits %.0f s, loads %d s, stretch %.2f\n", r.Policy, r.QueueMean, r.Transfer, r.StretchMean)
	}
	// Output:
	// fcfs: waits 0 s, loads 640 s, stretch 1.00
	// eft: waits 300 s, loads 0 s, stretch 0.70
}
