// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestMultifactor(t *testing.T) {
	const day = 24 * 60 * 60
	m, err := NewMultifactor(1024, 8192, 0)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		req  bids.Request
		age  int64
		want int64
	}{
		{"the whole machine, just submitted", bids.Request{MinNodes: 1024, Cores: 8192}, 0, 10080},
		{"a minute is worth one", bids.Request{MinNodes: 1024, Cores: 8192}, 60, 1 + 10080},
		{"less than a minute is not", bids.Request{MinNodes: 1024, Cores: 8192}, 59, 10080},
		// a node is 4.92
		{"all cores, on any number of nodes", bids.Request{Cores: 8192}, 0, 5040 + 4},
		{"a 32nd of the cores", bids.Request{Cores: 256}, 600, 10 + 162}, // 157.5 + 4.92
		{"rounded down", bids.Request{Cores: 1}, 0, 5},                   // 0.62 + 4.92
		{"cores by nodes", bids.Request{MinNodes: 64, TasksPerNode: 4}, 600, 10 + 472},
		{"a week", bids.Request{Cores: 256}, 7 * day, 10080 + 162},
		{"age counts for a week only", bids.Request{Cores: 256}, 9 * day, 10080 + 162},
		{"never more than all cores", bids.Request{MinNodes: 2000, Cores: 9000}, 0, 10080},
		{"before its submission", bids.Request{MinNodes: 1024, Cores: 8192}, -5, 10080},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := workload.Job{Job: core.Job{Request: c.req}, Submit: 100}
			require.Equal(t, c.want, m.Priority(&j, 100+c.age))
		})
	}
}

func TestMultifactorErrors(t *testing.T) {
	for _, c := range []struct {
		nodes, cores, age int64
		want              string
	}{
		{0, 8, 0, "nodes of the machine: 0: must be in 1..1048576"},
		{1, 0, 0, "cores of the machine: 0: must be in 1..68718428160"},
		{1, 8, -60, "age at which it counts fully: -60: must be whole minutes in 60..3153600000 seconds"},
		{1, 8, 90, "age at which it counts fully: 90: must be whole minutes in 60..3153600000 seconds"},
		{1, 8, 60 * 52560001, "age at which it counts fully: 3153600060: must be whole minutes in 60..3153600000 seconds"},
	} {
		_, err := NewMultifactor(c.nodes, c.cores, c.age)
		require.EqualError(t, err, c.want)
	}
}

// The greatest numbers stay in range: a priority is that of exact arithmetic.
func TestMultifactorIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.Int64Range(1, nodeset.MaxNodes).Draw(t, "nodes")
		cores := rapid.Int64Range(1, nodeset.MaxNodes*bids.MaxCoresPerNode).Draw(t, "cores")
		minutes := rapid.Int64Range(1, core.NoTimeLimit/60).Draw(t, "minutes")
		j := workload.Job{Submit: rapid.Int64Range(0, 1<<50).Draw(t, "submit")}
		j.Cores, j.MinNodes = rapid.IntRange(1, bids.MaxCores).Draw(t, "wanted"), rapid.IntRange(0, nodeset.MaxNodes).Draw(t, "least nodes")
		now := j.Submit + rapid.Int64Range(0, 1<<40).Draw(t, "age")
		m, err := NewMultifactor(nodes, cores, 60*minutes)
		require.NoError(t, err)
		w := big.NewInt(minutes)
		age := big.NewInt((now - j.Submit) / 60)
		if age.Cmp(w) > 0 {
			age = w
		}
		share := big.NewRat(min(int64(max(j.MinNodes, 1)), nodes), nodes)
		share.Add(share, big.NewRat(min(int64(j.Cores), cores), cores)).Mul(share, big.NewRat(minutes, 2))
		size := new(big.Int).Quo(share.Num(), share.Denom())
		require.Equal(t, max(size.Add(size, age).Int64(), 1), m.Priority(&j, now))
		require.LessOrEqual(t, m.Priority(&j, now), int64(core.MaxPriority))
	})
}
