// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// crowd is a cluster on which more jobs wait than run.
func crowd(nodes, jobs int) ([]Node, []Job) {
	rng := rand.New(rand.NewPCG(1, 2))
	ns := make([]Node, nodes)
	for i := range ns {
		ns[i] = Node{ID: i, Memory: 128, Bandwidth: 0.1, Cores: 20}
	}
	js := make([]Job, jobs)
	for i := range js {
		cores := 1 + rng.IntN(20)
		js[i] = Job{ID: int64(i), Submit: int64(i / 4), Duration: 3600, WallTime: int64(3600 * (1 + rng.IntN(20))), Cores: cores,
			File: int64(1 + i/10*20 + cores), FileSize: 6.4 * float64(cores), Class: Evaluated}
	}
	return ns, js
}

// A plan from scratch allocates nothing once every slice has found its size.
func TestPlanAllocatesNothing(t *testing.T) {
	for _, mode := range []Mode{Paper, Reference} {
		for _, p := range Policies() {
			t.Run(mode.String()+"/"+p, func(t *testing.T) {
				nodes, jobs := crowd(20, 300)
				r, err := newRun(nodes, jobs, Options{Policy: p, Mode: mode})
				require.NoError(t, err)
				r.runHistory()
				for r.queue.started < 40 && len(r.coming) > 0 {
					r.now = r.nextEvent()
					if ended := r.endJobs(); mode == Reference {
						r.reference(ended)
					} else {
						r.text(ended)
					}
				}
				require.Greater(t, r.queue.waiting(), 25)
				plan := r.replanText
				if mode == Reference {
					plan = r.replanAll
				}
				for range 3 {
					plan()
				}
				require.Zero(t, testing.AllocsPerRun(10, plan))
			})
		}
	}
}
