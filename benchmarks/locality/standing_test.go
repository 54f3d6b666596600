// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// What stands of the pass before is what a search for each job comes to, also where more nodes
// change than are kept account of.
func TestStandingIsSearch(t *testing.T) {
	for _, mode := range []Mode{Paper, Reference} {
		for _, size := range []int{3, 12, 80} {
			for seed := range race.Fewer(4) {
				nodes, jobs := sessions(uint64(seed), size, 12*size)
				for i := range jobs {
					// So that many end together, and that the queue is long.
					jobs[i].Submit /= int64(size)
					jobs[i].Duration += -jobs[i].Duration % 300
					jobs[i].Duration = max(jobs[i].Duration, 1)
				}
				o := Options{Policy: "fcfs", Mode: mode}
				requireAsPlain(t, nodes, jobs, o, "%v, %d nodes, seed %d", mode, size, seed)
			}
		}
	}
}

// searches counts searches among all nodes.
type searches struct {
	timeline
	count *int
}

func (s searches) earliest(j *job) (int64, int) {
	*s.count++
	return s.timeline.earliest(j)
}

// Most places stand from pass to pass.
func TestMostPlacesStand(t *testing.T) {
	for _, mode := range []Mode{Paper, Reference} {
		nodes, jobs := sessions(2, 80, 4000)
		for i := range jobs {
			jobs[i].Submit /= 20
		}
		r, err := newRun(nodes, jobs, Options{Policy: "fcfs", Mode: mode})
		require.NoError(t, err)
		searched, placed := 0, 0
		r.line = searches{r.line, &searched}
		r.onPlan = func(*job) { placed++ }
		require.NoError(t, r.run(context.Background()))
		t.Logf("%v: %d places, %d searches", mode, placed, searched)
		require.Greater(t, placed, 2*len(jobs))
		require.Less(t, searched-len(jobs), (placed-len(jobs))/4, mode)
	}
}
