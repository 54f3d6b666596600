// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// readers are four nodes with stores of 100 bytes, of which node 2 alone may be in use, by a
// job that reads file 7.
func readers(running bool, jobs ...Read) *Input {
	in := &Input{Now: 1000, JobReads: jobs}
	for n := range 4 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 8, Up: 1})
		in.Stores = append(in.Stores, Store{uint64(n + 1), 100})
	}
	if running {
		in.Nodes[2].FreeCores = 0
		in.Running, in.Segments = []Running{{End: 2000, Segments: 1}}, []Segment{{First: 2, Last: 2, Cores: 8}}
		in.RunningReads = []Read{{File: 7, Bytes: 60}}
	}
	for range jobs {
		in.Jobs = append(in.Jobs, Job{Priority: 1, Cores: 8, MinNodes: 1, MaxNodes: 1, TimeLimit: 60, Mask: -1})
	}
	return in
}

// nodeOf is where the first job starts, and how many of its nodes hold its file.
func nodeOf(t *testing.T, e *Engine, in *Input) (node, holders uint32) {
	t.Helper()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, Starts, out.Decisions[0].Why)
	return out.Segments[out.Decisions[0].FirstSegment].First, out.Decisions[0].Holders
}

func TestJobsPreferHolders(t *testing.T) {
	for _, settings := range []string{"", "paper=yes", "throughput=yes", "window=1 depth=0"} {
		t.Run(settings, func(t *testing.T) {
			e := open(t, settings)
			var out Output
			require.NoError(t, e.Cycle(readers(true), &out), "a cycle without jobs tells as well")
			require.Equal(t, []int{1, 1}, []int{out.Files, out.Copies})
			node, holders := nodeOf(t, e, readers(false, Read{File: 7, Bytes: 60}))
			require.Equal(t, []uint32{2, 1}, []uint32{node, holders})
			_, holders = nodeOf(t, e, readers(false, Read{File: 8, Bytes: 60}))
			require.Zero(t, holders, "another file")
			without := readers(false, Read{File: 7, Bytes: 60})
			without.Stores, without.JobReads = nil, nil
			node, holders = nodeOf(t, e, without)
			require.NotEqual(t, uint32(2), node, "files are not looked at")
			require.Zero(t, holders)
			node, _ = nodeOf(t, e, readers(false, Read{File: 7, Bytes: 60}))
			require.Equal(t, uint32(2), node, "what was known is known still")
		})
	}
}

func TestFilesAge(t *testing.T) {
	e := open(t, "file_age_s=50")
	var out Output
	require.NoError(t, e.Cycle(readers(true), &out))
	changes := out.FileChanges
	later := readers(false)
	later.Now += 50
	require.NoError(t, e.Cycle(later, &out))
	require.Equal(t, 1, out.Files)
	require.Equal(t, changes, out.FileChanges)
	later.Now++
	require.NoError(t, e.Cycle(later, &out))
	require.Zero(t, out.Files)
	require.NotEqual(t, changes, out.FileChanges)
}

// Settings may change; a later process takes over what was known, whatever has become
// of the nodes' order.
func TestFilesOutlastTheEngine(t *testing.T) {
	e := open(t, "")
	var out Output
	require.NoError(t, e.Cycle(readers(true), &out))
	require.NoError(t, e.Configure("window=5"))
	saved := e.AppendFiles(nil)
	next := open(t, "")
	require.NoError(t, next.LoadFiles(saved))
	turned := readers(false, Read{File: 7, Bytes: 60})
	slices.Reverse(turned.Stores)
	node, holders := nodeOf(t, next, turned)
	require.Equal(t, []uint32{1, 1}, []uint32{node, holders})

	saved[len(saved)/2] ^= 1
	var fault *FilesError
	require.ErrorAs(t, next.LoadFiles(saved), &fault)
	require.ErrorContains(t, fault, "files: damaged")
	_, holders = nodeOf(t, next, turned)
	require.Zero(t, holders)
}

func TestFileFaults(t *testing.T) {
	e := open(t, "")
	var out Output
	for want, spoil := range map[string]func(in *Input){
		"stores: 3: must be none, or one for each of the 4": func(in *Input) { in.Stores = in.Stores[:3] },
		"stores: 0: must be one for each node":              func(in *Input) { in.Stores = nil },
		"reads: 1048577: there must be at most":             func(in *Input) { in.JobReads = make([]Read, 1+MaxJobs) },
	} {
		in := readers(true, Read{File: 7, Bytes: 60})
		spoil(in)
		err := e.Cycle(in, &out)
		require.ErrorContains(t, err, want)
		var fault *InputError
		require.ErrorAs(t, err, &fault)
		require.Empty(t, out.Decisions)
		require.Zero(t, out.Files)
	}
}

// A read with a fault is not noted, and its job starts without a preference.
func TestFaultsOfOneRead(t *testing.T) {
	for want, c := range map[string]struct {
		job   int // of the queue that is at fault, or -1
		spoil func(in *Input)
	}{
		"job_reads[0].job: 1: there are 1 jobs":         {-1, func(in *Input) { in.JobReads[0].Job = 1 }},
		"job_reads[1].job: 0: must be above":            {0, func(in *Input) { in.JobReads = append(in.JobReads, in.JobReads[0]) }},
		"running_reads[0].job: 9: there are 1":          {-1, func(in *Input) { in.RunningReads[0].Job = 9 }},
		"running_reads[0].file: 0: must not be 0":       {-1, func(in *Input) { in.RunningReads[0].File = 0 }},
		"job_reads[0].bytes: 0: must be 1 to":           {0, func(in *Input) { in.JobReads[0].Bytes = 0 }},
		"job_reads[0].bytes: 1152921504606846977: must": {0, func(in *Input) { in.JobReads[0].Bytes = MaxFile + 1 }},
		"job_reads[0].reserved: 1: must be 0":           {0, func(in *Input) { in.JobReads[0].Reserved = 1 }},
	} {
		in := readers(true, Read{File: 7, Bytes: 60})
		c.spoil(in)
		out := decideInSpite(t, open(t, ""), in, c.job, want)
		require.Equal(t, []int{1, 0}, []int{out.Starts, out.LeftOut})
	}
	in := readers(true, Read{File: 7, Bytes: 60}, Read{Job: 1, File: 8, Bytes: 60})
	in.Jobs[0].Cores = 0 // nobody prefers a node for its sake
	out := decideInSpite(t, open(t, ""), in, 0, "jobs[0].cores: 0")
	require.Equal(t, []uint8{Faulty, Starts}, []uint8{out.Decisions[0].Why, out.Decisions[1].Why})
}

// Jobs that begin together and read the same file share nodes, before anybody holds it.
func TestJobsGather(t *testing.T) {
	in := &Input{Now: 1}
	for n := range 40 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 8, Up: 1})
		in.Stores = append(in.Stores, Store{uint64(n + 1), 100})
	}
	for j := range 64 {
		in.Jobs = append(in.Jobs, Job{Priority: 1000 - uint64(j), Cores: 2, MinNodes: 1, MaxNodes: 1, TimeLimit: 60, Mask: -1})
		in.JobReads = append(in.JobReads, Read{Job: uint32(j), File: 1 + uint64(j)%8, Bytes: 60})
	}
	pairs := func() int {
		var out Output
		require.NoError(t, open(t, "deadline_ms=60000").Cycle(in, &out))
		require.NoError(t, check(in, &out))
		require.Equal(t, 64, out.Starts)
		seen := map[[2]uint64]bool{}
		for j, d := range out.Decisions {
			seen[[2]uint64{uint64(out.Segments[d.FirstSegment].First), uint64(j) % 8}] = true
		}
		return len(seen)
	}
	require.Less(t, pairs(), 24, "8 files on 16 nodes at best")
	in.Stores, in.JobReads = nil, nil
	require.Greater(t, pairs(), 40)
}

// Stores without a job that reads change no decision.
func TestFilesOfNobodyChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	e := open(t, "deadline_ms=60000 work=100000")
	for range 20 {
		in := randomInput(rng, 60, 30)
		var want, got Output
		require.NoError(t, e.Cycle(in, &want))
		for n := range in.Nodes {
			in.Stores = append(in.Stores, Store{uint64(n + 1), 100})
		}
		require.NoError(t, e.Cycle(in, &got))
		want.Elapsed, got.Elapsed, got.FileChanges, want.FileChanges = 0, 0, 0, 0
		require.Equal(t, want, got)
	}
}

// Cycles of jobs that read, with what the ones before left behind: sound, and without allocating.
func TestCyclesWithFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 8))
	e, held := open(t, "work=100000"), uint32(0)
	for range 40 {
		in := randomInput(rng, 80, 30)
		for n := range in.Nodes {
			in.Stores = append(in.Stores, Store{uint64(n + 1), rng.Uint64N(100)})
		}
		for j := range in.Jobs {
			in.JobReads = append(in.JobReads, Read{Job: uint32(j), File: 1 + rng.Uint64N(6), Bytes: 1 + rng.Uint64N(60)})
		}
		for j := range in.Running {
			in.RunningReads = append(in.RunningReads, Read{Job: uint32(j), File: 1 + rng.Uint64N(6), Bytes: 1 + rng.Uint64N(60)})
		}
		var out Output
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		for _, d := range out.Decisions {
			held += d.Holders
		}
		require.NoError(t, e.LoadFiles(e.AppendFiles(nil)))
	}
	require.Greater(t, held, uint32(50))
}
