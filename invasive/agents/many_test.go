// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive"
)

// Many agents, each a process: AUCSCHED_AGENTS_MANY says how many. It prints how long what takes.
func TestManyAgents(t *testing.T) {
	nodes := 10
	if text := os.Getenv("AUCSCHED_AGENTS_MANY"); text != "" {
		nodes = number(text)
	}
	began := time.Now()
	lap := func(what string) {
		t.Logf("%-60s %v", what, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
	c := newCluster(t, nodes, 2, "5m")
	all := 2 * nodes
	c.submit(c.bag(1, 1, uint32(all), 8*all, 500*time.Millisecond))
	c.hasCores(1, all)
	lap("from nothing until a job has all cores")
	urgent := c.bag(2, uint32(nodes), uint32(nodes), nodes, time.Millisecond)
	urgent.Urgent, urgent.MinNodes, urgent.MaxNodes = true, uint32((nodes+1)/2), uint32(nodes)
	c.submit(urgent)
	c.hasCores(2, nodes)
	lap("until an urgent job has half of them, from its submission")
	require.Zero(t, c.exit(2))
	lap("until it has run a command on each")
	c.hasCores(1, all)
	lap("until the first has them again")
	kill(c.head)
	c.startHead()
	c.submit(&invasive.Job{ID: 3, MinCores: 1, MaxCores: 1, Urgent: true, Args: []string{"true"}})
	require.Zero(t, c.exit(3))
	lap("from the head's death until another has run an urgent job")
	require.Zero(t, c.exit(1))
	c.verify(map[invasive.JobID]int{1: 8 * all, 2: nodes})
}
