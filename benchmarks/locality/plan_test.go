// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sessions is a small cluster on which long queues of jobs wait for few files: users submit some
// jobs of one kind together, most of which end long before their wall time.
func sessions(seed uint64, nodes, jobs int) ([]Node, []Job) {
	rng := rand.New(rand.NewPCG(seed, 3))
	ns := make([]Node, nodes)
	for i := range ns {
		ns[i] = Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 8}
		if seed%2 == 1 {
			ns[i] = Node{ID: i, Memory: 128 * float64(1+i%2), Bandwidth: 0.1 * float64(1+i%3), Cores: 8 - i%3}
		}
	}
	js, at := make([]Job, 0, jobs), int64(0)
	for len(js) < jobs {
		j := Job{Cores: 1 + rng.IntN(6), WallTime: []int64{900, 3600, 14400}[rng.IntN(3)], File: 1 + rng.Int64N(12), Class: Evaluated}
		j.FileSize = float64(j.File) * 3.7
		for n := rng.IntN(16); n >= 0 && len(js) < jobs; n-- {
			j.ID, j.Submit, j.Duration = int64(len(js)), at, 1+rng.Int64N(j.WallTime)
			js = append(js, j)
			at += rng.Int64N(40) * int64(rng.IntN(2))
		}
		at += rng.Int64N(2400)
	}
	return ns, js
}

// A plan that stands from pass to pass is the one that comes of planning the whole queue anew, with
// all nodes looked at for each job.
func TestPlanStands(t *testing.T) {
	for _, p := range Policies() {
		if strings.HasPrefix(p, "fcfs") {
			continue
		}
		t.Run(p, func(t *testing.T) {
			for seed := range uint64(4) {
				nodes, jobs := sessions(seed, 10, 160)
				var fast, plain []Start
				_, err := Simulate(context.Background(), nodes, jobs, Options{Policy: p, OnStart: started(&fast)})
				require.NoError(t, err)
				_, err = Simulate(context.Background(), nodes, jobs, Options{Policy: p, OnStart: started(&plain), plain: true})
				require.NoError(t, err)
				require.Equal(t, plain, fast, "seed %d", seed)
			}
		})
	}
}
