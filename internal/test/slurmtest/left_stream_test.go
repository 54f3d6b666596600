// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// streamed are requests that are left to Slurm, one of each kind that this machine can have.
var streamed = []string{
	"-n2 --spread-job",
	"-n6 -N2 --spread-job",
	"-n1 --prefer=fast",
	"-N2 -n2 -C [fast*1&slow*1]",
	"-n1 --sockets-per-node=2",
	"-n4 -N2-4 --use-min-nodes",
	"-n2 -N1-2 --exclusive",
	"-n1 --core-spec=1",
	"-n1 -s -p q",
	"-N2 -n2 -w n0003",
	"-n2 --gpus=2 --gpus-per-socket=1 --sockets-per-node=1",
	"-n1 : -n2 -N2",
}

// besideThem are requests that the auction decides on, as they come beside those.
var besideThem = []string{
	"-n1", "-n1", "-n1", "-n1", "-n2", "-n4", "-n8", "-N2 -n8", "-N1 -n8", "-n6 -N2-4", "-c4", "-n1 --gres=gpu:1",
	"-N4 -n16", "-n2 -N2 --exclusive", "-n1 -C fast", "-n1 --mem=4000", "-n1 -p p,q",
}

// A submission is what is submitted in a second of a stream: of one of streamed, or kind is "".
type submission struct {
	kind, body string
	args       []string
}

// A streamLoad is what is submitted to a machine, second by second.
type streamLoad struct {
	name     string
	machine  func() Config
	interval time.Duration // of backfill
	slack    time.Duration // for a busy machine: a single job waits by chance
	modes    []mode
	seeds    uint64
	stream   func(r *rand.Rand) [][]submission
	rare     func(t *testing.T) // when it is not run
}

var streamLoads = []streamLoad{
	{"half full", leftMachine, 5 * time.Second, 10 * time.Second, atWork[:2], 1, arrays(8, 1000), func(*testing.T) {}},
	{"nearly full", leftMachine, 5 * time.Second, 10 * time.Second, atWork[:2], 1, arrays(18, 1000), slow},
	{"full, in order", leftMachine, 5 * time.Second, 10 * time.Second, atWork[:2], 1, arrays(26, 0), slow},
	{"multifactor", multifactor, 10 * time.Second, 0, atWork, 3, mixed(2), slow},
	{"multifactor, overloaded", multifactor, 10 * time.Second, 0, atWork, 3, mixed(4), long},
}

// atWork are stock's schedulers, the auction, and the plug-ins without it, with intervals that
// sites have.
var atWork = []mode{
	{"stock", func(_ *testing.T, c Config) Config { return c }},
	{"auction", func(t *testing.T, c Config) Config { return c.WithAuction(pluginDir(t), "") }},
	{"off", func(t *testing.T, c Config) Config { return c.WithAuction(pluginDir(t), "auc_enabled=no") }},
}

// Whoever is left to Slurm waits no longer than without the auction, but for an interval of
// backfill: while a stream of other jobs comes. Backfill must not plan whole nodes for those that
// it must not start, or it finds none beside them; and those that come after a left job must not
// have every core that gets free before backfill's next pass.
func TestLeftUnderAStream(t *testing.T) {
	for _, load := range streamLoads {
		t.Run(load.name, func(t *testing.T) {
			load.rare(t)
			beside(t)
			waits := make([]map[string][]time.Duration, len(load.modes))
			for seed := range load.seeds {
				found := sideBySide(t, namesOf(load.modes), func(t *testing.T, i int) map[string][]time.Duration {
					return underStream(t, load.modes[i], load, seed)
				})
				for i, kinds := range found {
					if waits[i] == nil {
						waits[i] = map[string][]time.Duration{}
					}
					for kind, all := range kinds {
						waits[i][kind] = append(waits[i][kind], all...)
					}
				}
			}
			for _, kind := range streamed {
				row := kind
				for i, m := range load.modes {
					row += fmt.Sprintf(" | %s %.1f %v", m.name, mean(waits[i][kind]).Seconds(), waits[i][kind])
				}
				t.Log(row)
			}
			for _, kind := range streamed {
				require.LessOrEqual(t, mean(waits[1][kind]), mean(waits[0][kind])+load.interval+load.slack, kind)
			}
		})
	}
}

func namesOf(modes []mode) (names []string) {
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

// multifactor is that machine as a site has it: with 16 nodes, accounts, fair share and weights,
// memory that is consumed, and switches.
func multifactor() Config {
	c, site := leftMachine(), Site()
	c.Groups[0].Nodes = 12
	c.Groups[0].Options, c.Groups[1].Options = "Weight=1", "Weight=2"
	c.Topology = []string{"SwitchName=s1 Nodes=n[0001-0008]", "SwitchName=s2 Nodes=n[0009-0016]", "SwitchName=top Switches=s[1-2]"}
	c.Accounting, c.SlurmUser, c.PriorityType, c.MinJobAge = site.Accounting, site.SlurmUser, site.PriorityType, site.MinJobAge
	c.SelectTypeParameters = site.SelectTypeParameters
	c.ExtraLines = append(c.ExtraLines, site.ExtraLines...)
	return c
}

// arrays is an array a second, of so many tasks of one core, and one job of each of streamed after
// five seconds, with a priority that is lower by nice.
func arrays(tasks, nice int) func(*rand.Rand) [][]submission {
	return func(*rand.Rand) [][]submission {
		stream := make([][]submission, 45)
		for second := range stream {
			stream[second] = []submission{{"", "sleep 4", []string{"-n1", "--time=5", fmt.Sprintf("--array=1-%d", tasks)}}}
		}
		for _, kind := range streamed {
			stream[5] = append(stream[5], submission{kind, "sleep 2", inParts(kind, "--time=20", fmt.Sprintf("--nice=%d", nice))})
		}
		return stream
	}
}

// mixed is so many jobs a second or up to two more, of all sizes and users, and four of each of
// streamed among them.
func mixed(least int) func(*rand.Rand) [][]submission {
	return func(r *rand.Rand) [][]submission {
		stream := make([][]submission, 80)
		add := func(second int, kind, request string) {
			args := as([]string{Alice, Bob, Carol}[r.IntN(3)], inParts(request, fmt.Sprintf("--time=%d", 1+r.IntN(20)))...)
			stream[second] = append(stream[second], submission{kind, fmt.Sprintf("sleep %d", 2+r.IntN(10)), args})
		}
		for second := range stream {
			for range least + r.IntN(3) {
				add(second, "", besideThem[r.IntN(len(besideThem))])
			}
		}
		for _, kind := range streamed {
			for range 4 {
				add(3+r.IntN(70), kind, kind)
			}
		}
		return stream
	}
}

// inParts adds arguments to each part of a request: a heterogeneous job has several.
func inParts(request string, more ...string) (args []string) {
	for part := range strings.SplitSeq(request, " : ") {
		args = slices.Concat(args, strings.Fields(part), more, []string{":"})
	}
	return args[:len(args)-1]
}

// underStream is how long the jobs of streamed wait, by kind, at most until a minute after the
// stream has ended.
func underStream(t *testing.T, m mode, load streamLoad, seed uint64) map[string][]time.Duration {
	t.Helper()
	cfg := load.machine()
	cfg.SchedulerParameters = fmt.Sprintf("bf_interval=%d", load.interval/time.Second)
	c := cluster(t, m, cfg)
	w := watch(t, c)
	ids, kinds := []uint32{}, []string{}
	begin := time.Now()
	for second, all := range load.stream(rand.New(rand.NewPCG(seed, 0))) {
		for _, s := range all {
			id := submit(t, c, s.body, append(s.args, "-o", "/dev/null")...)
			if s.kind != "" {
				ids, kinds = append(ids, id), append(kinds, s.kind)
			}
		}
		if second > 5 && second%3 == 0 {
			_, err := w.Look(t.Context())
			require.NoError(t, err)
		}
		time.Sleep(time.Until(begin.Add(time.Duration(second+1) * time.Second)))
	}
	_ = c.poll(t.Context(), time.Minute, "all of them to have started", func() (bool, error) {
		jobs, err := c.Jobs(t.Context())
		return !slices.ContainsFunc(jobs, func(j Job) bool { return j.State == "PENDING" && slices.Contains(ids, j.ID) }), err
	})
	waits, started, longest := map[string][]time.Duration{}, 0, time.Duration(0)
	for i, id := range ids {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		took := time.Since(when(t, j, "SubmitTime")).Round(time.Second)
		if j.State != "PENDING" {
			took = waited(t, j)
			started, longest = started+1, max(longest, took)
		}
		waits[kinds[i]] = append(waits[kinds[i]], took)
	}
	if m.name == "auction" {
		require.NoError(t, c.poll(t.Context(), 20*time.Second, "the status to have counted them", func() (bool, error) {
			s, err := c.Status()
			return s.LeftWaits.Started >= int64(started), err
		}))
		s, err := c.Status()
		require.NoError(t, err)
		// others may have been left to Slurm too
		require.GreaterOrEqual(t, float64(s.LeftWaits.Longest), longest.Seconds()-2, "%+v", s.LeftWaits)
	}
	cancelAll(t, c, Alice, Bob, Carol)
	return waits
}
