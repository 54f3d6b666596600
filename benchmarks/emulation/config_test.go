// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Groups are runs of nodes that are alike: spelt out they are the machine.
func TestGroups(t *testing.T) {
	require.Empty(t, groups(nil))
	require.Equal(t, []slurmtest.Group{{Nodes: 2, Cores: 8, GPUs: 2}, {Nodes: 1, Cores: 8}, {Nodes: 1, Cores: 8, GPUs: 2}},
		groups([]nodeset.Capacity{{Cores: 8, GPUs: 2}, {Cores: 8, GPUs: 2}, {Cores: 8}, {Cores: 8, GPUs: 2}}))
	rapid.Check(t, func(t *rapid.T) {
		machine := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) nodeset.Capacity {
			return nodeset.Capacity{Cores: uint16(rapid.IntRange(1, 2).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 1).Draw(t, "gpus"))}
		}), 1, 20).Draw(t, "machine")
		var spelt []nodeset.Capacity
		got := groups(machine)
		for i, g := range got {
			for range g.Nodes {
				spelt = append(spelt, nodeset.Capacity{Cores: uint16(g.Cores), GPUs: uint8(g.GPUs)})
			}
			require.False(t, i > 0 && g.Cores == got[i-1].Cores && g.GPUs == got[i-1].GPUs, "could be one")
		}
		require.Equal(t, machine, spelt)
	})
}

// At any rate a timeout of the network is long in the world, and one that Slurm takes: 16 bits.
func TestLines(t *testing.T) {
	for _, rate := range []float64{1, 10, 200, 1093, MostRate} {
		o := Options{Rate: rate}
		for _, key := range []string{"MessageTimeout", "TCPTimeout"} {
			n := 0
			for _, l := range o.lines() {
				if value, ok := strings.CutPrefix(l, key+"="); ok {
					var err error
					n, err = strconv.Atoi(value)
					require.NoError(t, err)
				}
			}
			require.LessOrEqual(t, n, 65535)
			require.GreaterOrEqual(t, n, 60)
			require.GreaterOrEqual(t, float64(n)/rate, 13.0, "real seconds")
		}
		require.NotContains(t, fmt.Sprint(o.lines()), "Priority")
	}
	o := Options{Rate: 1, Multifactor: true}
	require.Subset(t, o.lines(), []string{"PriorityMaxAge=10080", "PriorityWeightJobSize=10080",
		"PrioritySiteFactorPlugin=site_factor/age"})
}

func TestCluster(t *testing.T) {
	o := Options{Tools: "/tools", Plugins: "/plugins", Machine: []nodeset.Capacity{{Cores: 8, GPUs: 2}},
		Rate: 10, Parameters: "bf_interval=1", Ephemeral: true}
	cfg := o.cluster("/dir/clock")
	require.Equal(t, []string{"LD_PRELOAD=/tools/vclock.so", "AUCSCHED_VCLOCK=/dir/clock", "TZ=UTC"}, cfg.DaemonEnv)
	require.Equal(t, []string{"/tools/vslurmd"}, cfg.NodeDaemon)
	require.True(t, cfg.Ephemeral)
	require.Equal(t, []any{"", "", "bf_interval=1"}, []any{cfg.PriorityType, cfg.JobSubmitPlugins, cfg.SchedulerParameters})
	require.Empty(t, cfg.PluginDirs)

	o.Full, o.Auction, o.Multifactor, o.Ephemeral = true, true, true, false
	cfg = o.cluster("/dir/clock")
	require.Nil(t, cfg.NodeDaemon)
	require.False(t, cfg.Ephemeral)
	require.Equal(t, []string{"/plugins", "/tools/plugins"}, cfg.PluginDirs)
	require.Equal(t, []any{"priority/multifactor", "aucsched", "bf_interval=1"},
		[]any{cfg.PriorityType, cfg.JobSubmitPlugins, cfg.SchedulerParameters})
}

func TestValidate(t *testing.T) {
	good := func() Options { return Options{Jobs: make([]workload.Job, 1), Rate: 200, Busy: 10} }
	o := good()
	require.NoError(t, o.Validate())
	for _, c := range []struct {
		want   string
		change func(o *Options)
	}{
		{"no jobs", func(o *Options) { o.Jobs = nil }},
		{"rate 0.5: must be from 1 to 5000", func(o *Options) { o.Rate = 0.5 }},
		{"rate 5001", func(o *Options) { o.Rate = 5001 }},
		{"busy rate 201: must be from 1 to 200", func(o *Options) { o.Busy = 201 }},
		{"busy rate 0.5", func(o *Options) { o.Busy = 0.5 }},
		{"stall -1ns", func(o *Options) { o.Stall = -1 }},
		{"has alternatives", func(o *Options) { o.Jobs[0].Alternatives = append(o.Jobs[0].Alternatives, o.Jobs[0].Request) }},
	} {
		o := good()
		c.change(&o)
		require.ErrorContains(t, o.Validate(), c.want)
	}
}
