package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
)

func TestShareInputs(t *testing.T) {
	job := func(submit int64, r bids.Request) Job { return Job{Job: core.Job{Request: r}, Submit: submit} }
	jobs := []Job{
		job(0, bids.Request{Cores: 5}),
		job(0, bids.Request{Cores: 20}),
		job(100, bids.Request{Cores: 5}),
		job(800, bids.Request{Cores: 5}),
		job(801, bids.Request{Cores: 20}),
		job(802, bids.Request{Cores: 20}),
		job(803, bids.Request{MinNodes: 3, TasksPerNode: 40}),
		job(804, bids.Request{Cores: 30, MinNodes: 3}),
	}
	o := DefaultShareOptions(20)
	o.Memory = 1000
	require.NoError(t, ShareInputs(jobs, o))
	var got []Input
	for _, j := range jobs {
		got = append(got, j.Input)
	}
	require.Equal(t, []Input{{1, 250}, {2, 1000}, {1, 250}, {1, 250}, {3, 1000}, {3, 1000}, {4, 1000}, {5, 500}}, got)

	o.Most = 2
	require.NoError(t, ShareInputs(jobs, o))
	require.NotEqual(t, jobs[2].Input, jobs[3].Input, "two jobs have the file already")
	require.Equal(t, jobs[0].Input, jobs[2].Input)
}

func TestShareInputsRejects(t *testing.T) {
	for want, spoil := range map[string]func(o *ShareOptions){
		"within: -1":            func(o *ShareOptions) { o.Within = -1 },
		"most: 0":               func(o *ShareOptions) { o.Most = 0 },
		"memory: 0":             func(o *ShareOptions) { o.Memory = 0 },
		"cores: 65536: must be": func(o *ShareOptions) { o.Cores = 65536 },
	} {
		o := DefaultShareOptions(20)
		spoil(&o)
		jobs := []Job{{}}
		require.ErrorContains(t, ShareInputs(jobs, o), want)
		require.Zero(t, jobs[0].Input)
	}
}
