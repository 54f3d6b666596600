// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

var origin = time.Unix(epoch, 0).Add(2 * time.Second)

// had is what a job had: cores 0 upwards of nodes, and GPUs in all.
func had(gres string, cores int, nodes ...string) *slurmtest.Job {
	j := &slurmtest.Job{ID: 3, Fields: map[string]string{"JOB_GRES": gres}}
	for _, n := range nodes {
		s := slurmtest.NodeShare{Node: n}
		for c := range cores {
			s.CPUs = append(s.CPUs, c)
		}
		j.Nodes = append(j.Nodes, s)
	}
	return j
}

func TestRecord(t *testing.T) {
	jobs := []workload.Job{{}, {Submit: 5}}
	good := slurmtest.Ended{ID: 3, Name: "j1", NodeList: "n[0002-0003]", Start: "2026-01-01T00:00:10", End: "2026-01-02T00:00:02"}
	r, i, err := record(&good, had("gpu:2", 4, "n0003", "n0002"), jobs, origin)
	require.NoError(t, err)
	require.Equal(t, 1, i)
	require.Equal(t, sim.Record{Job: &jobs[1], Submit: 5, Start: 8, End: 86400,
		Segs: []nodeset.Segment{{First: 1, Last: 2, Cores: 4, GPUs: 1}}}, r)

	for _, c := range []struct {
		want   string
		change func(e *slurmtest.Ended)
		had    *slurmtest.Job
	}{
		{`job "j2" is not of the workload`, func(e *slurmtest.Ended) { e.Name = "j2" }, had("", 4, "n0002", "n0003")},
		{"StartTime", func(e *slurmtest.Ended) { e.Start = "Unknown" }, had("", 4, "n0002", "n0003")},
		{"EndTime", func(e *slurmtest.Ended) { e.End = "2026-01-02" }, had("", 4, "n0002", "n0003")},
		{"the completion log says n[0002-0003]", nil, had("", 4, "n0002")},
		{"the completion log says n[0002", func(e *slurmtest.Ended) { e.NodeList = "n[0002" }, had("", 4, "n0002")},
		{"job j1: scontrol does not say", nil, had("", 4)},
	} {
		bad := good
		if c.change != nil {
			c.change(&bad)
		}
		_, _, err := record(&bad, c.had, jobs, origin)
		require.ErrorContains(t, err, c.want)
	}
}

func TestSegments(t *testing.T) {
	mixed := had("gpu:a100:4", 2, "n0001", "n0002")
	mixed.Nodes = append(mixed.Nodes, had("", 3, "n0003", "n0010").Nodes...)
	segs, err := segments(mixed)
	require.NoError(t, err)
	require.Equal(t, []nodeset.Segment{{First: 0, Last: 1, Cores: 2, GPUs: 1},
		{First: 2, Last: 2, Cores: 3, GPUs: 1}, {First: 9, Last: 9, Cores: 3, GPUs: 1}}, segs)

	for _, c := range []struct {
		want string
		had  *slurmtest.Job
	}{
		{"does not say what it had", had("gpu:1", 1)},
		{"3 GPUs on 2 nodes", had("gpu:3", 1, "n0001", "n0002")},
		{`node "login" is not of the machine`, had("", 1, "login")},
		{`node "n0000" is not of the machine`, had("", 1, "n0000")},
		{"JOB_GRES=nic:1", had("nic:1", 1, "n0001")},
	} {
		_, err := segments(c.had)
		require.ErrorContains(t, err, c.want)
	}
}

func TestGPUsOf(t *testing.T) {
	for text, want := range map[string]int{"": 0, "(null)": 0, "gpu:4": 4, "gpu:a100:12": 12, "gpu:0": 0} {
		got, err := gpusOf(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"gpu", "gpu:", "gpu:x", "nic:2", "gpu:2,nic:1", "gpu:-1", "gpu:2(IDX:0-1)"} {
		_, err := gpusOf(text)
		require.ErrorContains(t, err, "JOB_GRES="+text, text)
	}
}
