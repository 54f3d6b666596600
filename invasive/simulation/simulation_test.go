// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/nodeset"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func eight() Config {
	c := NewConfig(invasive.Partition{Name: "invasic", Nodes: 2, Sockets: 1, CoresPerSocket: 4})
	c.Latency, c.Think = 0, 0
	return c
}

func rigid(submit, duration time.Duration, cores uint32) Job {
	return Job{Submit: submit * time.Second, Duration: duration * time.Second,
		Limit: duration * time.Second, Cores: cores, MinCores: cores, MaxCores: cores}
}

func malleable(submit, duration time.Duration, cores, least, most uint32) Job {
	j := rigid(submit, duration, cores)
	j.Kind, j.MinCores, j.MaxCores = invasive.Malleable, least, most
	return j
}

func evolving(submit, duration time.Duration, cores uint32, wishes ...Wish) Job {
	j := rigid(submit, duration, cores)
	j.Kind, j.MinCores, j.MaxCores, j.Wishes = invasive.Evolving, 2, 8, wishes
	return j
}

func urgent(j Job) Job {
	j.Urgent = true
	return j
}

// What happens to a few jobs on eight cores, by hand. To let go of cores takes a second, and a
// change of cores costs another one.
func TestByHand(t *testing.T) {
	serial := malleable(0, 100, 4, 1, 8)
	serial.Serial = 1
	tests := []struct {
		name   string
		change func(*Config)
		jobs   []Job
		want   [][2]float64 // start and end of each
	}{
		{"a malleable job takes all cores", nil, []Job{malleable(0, 100, 4, 1, 8)}, [][2]float64{{0, 50}}},
		{"more cores don't help one that is serial", nil, []Job{serial}, [][2]float64{{0, 100}}},
		// It has done 8*11 at second 11, 4*9 more from 12 to 21, and the rest
		// on 8 cores from 22 on.
		{"it makes room, and grows again", nil, []Job{malleable(0, 100, 4, 1, 8), rigid(10, 10, 4)}, [][2]float64{{0, 56.5}, {11, 21}}},
		{"a rigid job doesn't", nil, []Job{rigid(0, 50, 8), rigid(10, 10, 4)}, [][2]float64{{0, 50}, {50, 60}}},
		{"unless the other one is urgent", nil, []Job{rigid(0, 50, 8), urgent(rigid(10, 10, 4))}, [][2]float64{{0, 61}, {11, 21}}},
		{"it may be killed", func(c *Config) { c.Policy.Means = []invasive.How{invasive.Shrink, invasive.Kill} },
			[]Job{rigid(0, 50, 8), urgent(rigid(10, 10, 4))}, [][2]float64{{0, 11}, {11, 21}}},
		{"or not, and the urgent one waits like others", func(c *Config) { c.Policy.Means = []invasive.How{invasive.Shrink} },
			[]Job{rigid(0, 50, 8), urgent(rigid(10, 10, 4))}, [][2]float64{{0, 50}, {50, 60}}},
		// It has done 100 of 300 on 8 cores at second 12.5, 8 more until it has let go, 92 on 2
		// cores from 14.5 to 60.5, and the rest on 6 from 61.5 on.
		{"an evolving job has its wishes", nil, []Job{evolving(0, 75, 4, Wish{1. / 3, 2}, Wish{2. / 3, 6})},
			[][2]float64{{0, 61.5 + 100./6}}},
		// The wish at second 25 is fulfilled at 60: 240 are done.
		{"when cores are free", nil, []Job{evolving(0, 75, 4, Wish{1. / 3, 8}), rigid(0, 60, 4)}, [][2]float64{{0, 61 + 60./8}, {0, 60}}},
		{"power for one node", func(c *Config) { c.Policy.CapWatts, c.Policy.SocketWatts, c.Policy.CoreWatts = 150, 100, 10 },
			[]Job{rigid(0, 50, 4), rigid(0, 50, 4)}, [][2]float64{{0, 50}, {50, 100}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := eight()
			if test.change != nil {
				test.change(&c)
			}
			s, err := newSystem(context.Background(), c, test.jobs)
			require.NoError(t, err)
			require.NoError(t, s.run())
			var got [][2]float64
			for i := range s.jobs {
				got = append(got, [2]float64{s.jobs[i].start.Seconds(), s.jobs[i].end.Seconds()})
			}
			assert.Equal(t, len(test.want), len(got))
			for i := range got {
				assert.InDelta(t, test.want[i][0], got[i][0], 1e-6, "start of job %d", i+1)
				assert.InDelta(t, test.want[i][1], got[i][1], 1e-6, "end of job %d", i+1)
			}
		})
	}
}

// Whatever the settings and the jobs, the referee finds no fault, and all jobs come to their end;
// once more it is the same to the last bit.
func TestRandom(t *testing.T) {
	race.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
		c := NewConfig(invasive.Partition{Nodes: uint32(n("nodes", 1, 6)),
			Sockets: uint32(n("sockets", 1, 2)), CoresPerSocket: uint32(n("cores", 1, 4))})
		c.Attempts = uint32(n("attempts", 1, 4))
		c.Latency, c.Think = time.Duration(n("latency", 0, 3000))*time.Millisecond, time.Duration(n("think", 0, 3000))*time.Millisecond
		c.Release, c.ResizeCost = time.Duration(n("release", 0, 5))*time.Second, time.Duration(n("cost", 0, 5))*time.Second
		c.Policy.Means = rapid.SampledFrom([][]invasive.How{nil, {invasive.Shrink},
			{invasive.Suspend}, {invasive.Shrink, invasive.Suspend, invasive.Kill}}).Draw(t, "means")
		c.Policy.MinUse, c.Policy.Compact = float64(n("use", 0, 4))/4, rapid.Bool().Draw(t, "compact")
		c.Policy.Horizon = uint32(rapid.SampledFrom([]int{0, 60, 1 << 20}).Draw(t, "horizon"))
		cores := c.Partition.Cores()
		mix := Mix{Jobs: n("jobs", 1, 25), Load: float64(n("load", 1, 30)) / 10, MaxShare: 1, Shortest: time.Second,
			Longest: time.Duration(n("longest", 1, 300)) * time.Second, LimitFactor: 3, Seed: uint64(n("seed", 0, 1000))}
		jobs, err := mix.Generate(cores)
		require.NoError(t, err)
		f := DefaultFlexibility()
		f.Malleable, f.Urgent, f.Serial = float64(n("malleable", 0, 4))/4, float64(n("urgent", 0, 4))/4, float64(n("serial", 0, 2))/2
		f.Evolving, f.Moldable = float64(n("evolving", 0, 2))/4, float64(n("moldable", 0, 2))/4
		if jobs, err = f.Apply(jobs, cores); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "capped") { // so that each job may run
			most := uint32(0)
			for _, j := range jobs {
				most = max(most, j.Cores)
			}
			sockets := c.Partition.Nodes * c.Partition.Sockets
			c.Policy.SocketWatts, c.Policy.CoreWatts = 20, 5
			c.Policy.CapWatts = float64(20*min(sockets, most) + 5*most + uint32(n("cap", 0, 50)))
		}
		first, err := Run(context.Background(), c, jobs)
		require.NoError(t, err)
		again, err := Run(context.Background(), c, jobs)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
}

// Under a power cap no malleable job is asked for cores that the one that waits may not have then:
// where letting go takes no time they would go to and fro for ever.
func TestStandingTime(t *testing.T) {
	c := NewConfig(invasive.Partition{Nodes: 6, Sockets: 2, CoresPerSocket: 1})
	c.Attempts, c.Latency, c.Think, c.Release, c.ResizeCost = 2, 128*time.Millisecond, 248*time.Millisecond, 0, 3*time.Second
	c.Policy.Means = []invasive.How{invasive.Shrink, invasive.Suspend, invasive.Kill}
	c.Policy.MinUse, c.Policy.Compact, c.Policy.Horizon = 0.5, true, 1<<20
	mix := Mix{Jobs: 17, Load: 1.4, MaxShare: 1, Shortest: time.Second, Longest: time.Second, LimitFactor: 3, Seed: 25}
	jobs, err := mix.Generate(c.Partition.Cores())
	require.NoError(t, err)
	f := DefaultFlexibility()
	f.Malleable, f.Urgent, f.Serial = 0.75, 0.25, 1
	jobs, err = f.Apply(jobs, c.Partition.Cores())
	require.NoError(t, err)
	most := uint32(0)
	for _, j := range jobs {
		most = max(most, j.Cores)
	}
	c.Policy.SocketWatts, c.Policy.CoreWatts = 20, 5
	c.Policy.CapWatts = float64(20*min(12, most) + 5*most + 7)
	_, err = Run(context.Background(), c, jobs)
	require.NoError(t, err)
}

// Malleability is worth something: jobs wait less, and cores idle less. And what it is compared
// with, all jobs rigid, is no straw man: they don't wait longer than under backfill.
func TestWorth(t *testing.T) {
	race.Slow(t)
	p := invasive.Partition{Name: "invasic", Nodes: 16, Sockets: 2, CoresPerSocket: 8}
	mix := DefaultMix()
	mix.Jobs = 150
	flex := DefaultFlexibility()
	flex.Urgent = 0
	study := Study{Config: NewConfig(p), Flexibility: flex, Shares: []float64{0, 1}, Seeds: []uint64{1},
		Jobs: func(seed uint64) ([]Job, error) { mix.Seed = seed; return mix.Generate(p.Cores()) }}
	cases, err := study.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, cases, 2)
	none, all := cases[0], cases[1]
	assert.Zero(t, none.Malleable)
	assert.Equal(t, 150, all.Malleable)
	assert.Less(t, all.Wait, none.Wait/2)
	assert.Less(t, all.Slowdown, none.Slowdown)
	assert.Greater(t, all.Utilisation, none.Utilisation)

	jobs, err := study.Jobs(1)
	require.NoError(t, err)
	backfill, err := sim.NewBackfill(sim.DefaultBackfill())
	require.NoError(t, err)
	r, err := sim.Run(context.Background(), sim.NewConfig(machine(&p)), backfill, asWorkload(jobs))
	require.NoError(t, err)
	assert.Less(t, none.Wait, r.WaitMean)
}

func machine(p *invasive.Partition) []nodeset.Capacity {
	nodes := make([]nodeset.Capacity, p.Nodes)
	for i := range nodes {
		nodes[i].Cores = uint16(p.Sockets * p.CoresPerSocket)
	}
	return nodes
}

func asWorkload(jobs []Job) []workload.Job {
	var w []workload.Job
	for i, j := range jobs {
		w = append(w, workload.Job{Job: core.Job{ID: strconv.Itoa(i + 1),
			Request: bids.Request{Cores: int(j.Cores)}, TimeLimit: int64(j.Limit / time.Second)},
			Submit: int64(j.Submit / time.Second), Duration: int64(j.Duration / time.Second)})
	}
	workload.AssignBasicPriorities(w)
	return w
}

// The jobs of a share are malleable at every greater share too, and the others stay what they are.
func TestApply(t *testing.T) {
	mix := DefaultMix()
	jobs, err := mix.Generate(64)
	require.NoError(t, err)
	f := DefaultFlexibility()
	f.Evolving, f.Moldable = 0.5, 0.25
	var before []Job
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		f.Malleable = share
		now, err := f.Apply(jobs, 64)
		require.NoError(t, err)
		n := map[invasive.Flex]int{}
		for i := range now {
			n[now[i].Kind]++
			assert.Equal(t, now[i].Kind == invasive.Evolving, len(now[i].Wishes) == 2)
			if before != nil {
				assert.Equal(t, before[i].Urgent, now[i].Urgent)
				assert.True(t, before[i].Kind == now[i].Kind || now[i].Kind == invasive.Malleable)
			}
		}
		for kind, of := range map[invasive.Flex]float64{invasive.Malleable: share,
			invasive.Evolving: (1 - share) / 2, invasive.Moldable: (1 - share) / 4} {
			assert.InDelta(t, of*0.95*500, n[kind], 50, kind)
		}
		before = now
	}
}

func TestBadInput(t *testing.T) {
	wide := rigid(0, 10, 9)
	spread := rigid(0, 10, 5)
	spread.MinNodes, spread.MaxNodes = 1, 1
	late := rigid(0, 10, 1)
	late.Limit = time.Second
	tests := []struct {
		change func(*Config)
		jobs   []Job
		err    string
	}{
		{nil, nil, "the workload has no jobs"},
		{nil, []Job{wide}, "job 1: needs 9 cores on 0 nodes: the partition has 8 on 2"},
		{nil, []Job{spread}, "job 1: needs 5 cores on 1 nodes: a node has 4"},
		{nil, []Job{late}, "job 1: submitted at 0s for 10s with a limit of 1s: must be positive, and ascend"},
		{func(c *Config) { c.Partition.Nodes = 0 }, []Job{rigid(0, 1, 1)},
			"partition of 0 nodes of 1 sockets of 4 cores: must be 1 to 16777216 cores in all"},
		{func(c *Config) { c.Attempts = 0 }, []Job{rigid(0, 1, 1)}, "attempts 0: must be 1 to 1000"},
		{func(c *Config) { c.Think = -1 }, []Job{rigid(0, 1, 1)}, "think -1ns: must be 0 to 1h"},
		{func(c *Config) { c.Report = 0 }, []Job{rigid(0, 1, 1)}, "report 0s: must be 1s to 24h0m0s"},
	}
	for _, test := range tests {
		c := eight()
		if test.change != nil {
			test.change(&c)
		}
		_, err := Run(context.Background(), c, test.jobs)
		assert.EqualError(t, err, test.err)
	}
	dark := eight()
	dark.Policy.CapWatts, dark.Policy.CoreWatts = 20, 5
	_, err := Run(context.Background(), dark, []Job{rigid(0, 1, 8)})
	assert.ErrorContains(t, err, "1 jobs wait, and nothing has run for 16m40s: they don't fit what is offered")
	for _, f := range []Flexibility{{Malleable: 2, Most: 1}, {Serial: -1, Most: 1}, {Most: 0.5}} {
		_, err := f.Apply(nil, 1)
		assert.Error(t, err)
	}
	for _, change := range []func(*Mix){func(m *Mix) { m.Jobs = 0 }, func(m *Mix) { m.Load = 0 }, func(m *Mix) { m.MaxShare = 2 },
		func(m *Mix) { m.Longest = 0 }, func(m *Mix) { m.LimitFactor = 0 }} {
		m := DefaultMix()
		change(&m)
		_, err := m.Generate(8)
		assert.Error(t, err)
	}
}
