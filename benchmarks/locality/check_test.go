// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What no reader lets through is found as well.
func TestSimulateFaults(t *testing.T) {
	good := Job{ID: 7, Submit: 0, Duration: 1, WallTime: 1, Cores: 1, File: 1, FileSize: 1, Class: Evaluated}
	with := func(change func(*Job)) []Job {
		j := good
		change(&j)
		return []Job{j}
	}
	for want, c := range map[string]struct {
		nodes []Node
		jobs  []Job
		o     Options
	}{
		"cluster: 0 nodes: must be in 1..65536":        {nodes: []Node{}, jobs: []Job{good}},
		"cluster: node 1: core: 0: must be in 1..1024": {nodes: machine(1, 0), jobs: []Job{good}},
		"cluster: node 0: memory: NaN: must be above 0 and at most 1e+09 GB": {nodes: []Node{{Memory: math.NaN(),
			Bandwidth: 1, Cores: 1}}, jobs: []Job{good}},
		"cluster: node 0: bandwidth: 0: must be above 0 and at most 1e+09 GB/s": {nodes: []Node{{Memory: 1,
			Cores: 1}}, jobs: []Job{good}},
		"job 7: cores: 2: no node has more than 1":  {jobs: with(func(j *Job) { j.Cores = 2 })},
		"job 7: delay: 0: must be in 1..2000000000": {jobs: with(func(j *Job) { j.Duration = 0 })},
		"job 7: data_size: +Inf: must be in 0..1e+09 GB": {jobs: with(func(j *Job) {
			j.FileSize = math.Inf(1)

		})},
		"job 7: workload: 3: must be in -2..2": {jobs: with(func(j *Job) { j.Class = 3 })},
		"job 7: data_size: 1e+09: takes more than 1e+09 s to a node": {nodes: []Node{{Memory: 1, Bandwidth: 0.5, Cores: 1}},
			jobs: with(func(j *Job) {
				j.FileSize = 1e9

			})},
		"job 7: start_time_from_history: -2000000001: must be in -2000000000..2000000000": {jobs: with(func(j *Job) {
			j.Class, j.Started = Running, -MaxTime-1

		})},
		"no job of class 1, which the results would be of": {jobs: with(func(j *Job) { j.Class = WarmUp })},
		"mode: 2 is unknown": {jobs: []Job{good}, o: Options{Mode: 2}},
	} {
		t.Run(want, func(t *testing.T) {
			nodes := c.nodes
			if nodes == nil {
				nodes = machine(1)
			}
			_, err := Simulate(context.Background(), nodes, c.jobs, c.o)
			require.EqualError(t, err, want)
		})
	}
}

// Every policy goes by its name, and fcfs by none too.
func TestPolicies(t *testing.T) {
	jobs := []Job{{ID: 7, Duration: 1, WallTime: 1, Cores: 1, Class: Evaluated}}
	require.Equal(t, "fcfs fcfs-bf eft eft-bf lea lea-bf leo leo-bf lem lem-bf lead lead-bf", strings.Join(Policies(), " "))
	for _, name := range append(Policies(), "") {
		r, err := Simulate(context.Background(), machine(1), jobs, Options{Policy: name})
		require.NoError(t, err)
		require.Equal(t, cmp.Or(name, "fcfs"), r.Policy)
	}
	for _, name := range []string{"lru", "-bf", "fcfs-bf-bf", "FCFS"} {
		_, err := Simulate(context.Background(), machine(1), jobs, Options{Policy: name})
		require.EqualError(t, err, fmt.Sprintf("policy: %q is unknown; known are %s", name, strings.Join(Policies(), ", ")))
	}
}

// D3 can leave the programme with jobs that it will never look at again.
func TestProgrammeStalls(t *testing.T) {
	jobs := []Job{
		{ID: 1, Duration: 10, WallTime: 100, Cores: 1, Class: Evaluated},
		{ID: 2, Submit: 20, Duration: 5, WallTime: 5, Cores: 1, Class: Evaluated},
	}
	_, err := Simulate(context.Background(), machine(1), jobs, Options{Mode: Reference})
	require.ErrorIs(t, err, ErrStalled)
	r, err := Simulate(context.Background(), machine(1), jobs, Options{Mode: Paper})
	require.NoError(t, err)
	require.Equal(t, int64(25), r.Makespan)
}
