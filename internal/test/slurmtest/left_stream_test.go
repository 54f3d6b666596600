// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// streamed are requests that are left to Slurm, one of each kind that this machine can have.
var streamed = []string{
	"-n2 --spread-job",
	"-n4 -N2 --spread-job",
	"-n1 --prefer=fast",
	"-N2 -n2 -C [fast*1&slow*1]",
	"-n1 --sockets-per-node=2",
	"-n4 -N2-4 --use-min-nodes",
	"-n2 -N1-2 --exclusive",
	"-n1 --core-spec=1",
	"-n1 -s -p q",
	"-n1 : -n2 -N2",
}

// streamSeconds is how long a stream lasts.
const streamSeconds = 45

// A streamLoad is jobs that the auction decides on: an array a second, of so many tasks
// of one core, which run for some seconds. Nice is by how much the priority of those
// that are left is lower.
type streamLoad struct {
	name         string
	tasks, sleep int
	nice         int
}

// Whoever is left to Slurm waits no longer than without the auction, but for an interval of
// backfill: while a stream of other jobs comes. Before, backfill planned whole nodes for those
// that it must not start, and found none beside them.
func TestLeftUnderAStream(t *testing.T) {
	const interval, busyMachine = 5 * time.Second, 10 * time.Second
	for i, load := range []streamLoad{{"half full", 8, 4, 1000}, {"nearly full", 18, 4, 1000}, {"full, in order", 26, 4, 0}} {
		t.Run(load.name, func(t *testing.T) {
			if i > 0 {
				slow(t)
			}
			beside(t)
			waits := map[string][]time.Duration{}
			t.Run("at once", func(t *testing.T) {
				var lock sync.Mutex
				for _, m := range []mode{asInstalled("stock"), asInstalled("auction")} {
					t.Run(m.name, func(t *testing.T) {
						t.Parallel()
						all := underStream(t, m, load, fmt.Sprintf("bf_interval=%d", interval/time.Second))
						lock.Lock()
						defer lock.Unlock()
						waits[m.name] = all
					})
				}
			})
			require.Len(t, waits, 2)
			t.Logf("stock %v, auction %v", waits["stock"], waits["auction"])
			for i, args := range streamed {
				require.LessOrEqual(t, waits["auction"][i], waits["stock"][i]+interval+busyMachine, "%s", args)
			}
		})
	}
}

// asInstalled are stock's schedulers, or the auction, with intervals that sites have.
func asInstalled(name string) mode {
	return mode{name, func(t *testing.T, c Config) Config {
		if name == "auction" {
			c = c.WithAuction(pluginDir(t), "")
		}
		return c
	}}
}

// underStream is how long each of streamed waits, at most until the stream ends.
func underStream(t *testing.T, m mode, load streamLoad, parameters string) []time.Duration {
	t.Helper()
	cfg := leftMachine()
	cfg.SchedulerParameters = parameters
	c := cluster(t, m, cfg)
	w := watch(t, c)
	var ids []uint32
	begin := time.Now()
	for second := range streamSeconds {
		submit(t, c, fmt.Sprintf("sleep %d", load.sleep), "-n1", "--time=5", fmt.Sprintf("--array=1-%d", load.tasks))
		if second == 5 {
			for _, args := range streamed {
				var all []string // of each part of a heterogeneous job
				for part := range strings.SplitSeq(args, ":") {
					all = append(append(all, strings.Fields(part)...), "--time=20", fmt.Sprintf("--nice=%d", load.nice), ":")
				}
				ids = append(ids, submit(t, c, "sleep 2", all[:len(all)-1]...))
			}
		}
		if second > 5 && second%3 == 0 {
			_, err := w.Look(t.Context())
			require.NoError(t, err)
		}
		time.Sleep(time.Until(begin.Add(time.Duration(second+1) * time.Second)))
	}
	waits := make([]time.Duration, len(ids))
	started, longest := 0, time.Duration(0)
	for i, id := range ids {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		if j.State == "PENDING" {
			waits[i] = time.Since(when(t, j, "SubmitTime")).Round(time.Second)
		} else {
			waits[i] = waited(t, j)
			started, longest = started+1, max(longest, waits[i])
		}
	}
	if m.name == "auction" {
		require.NoError(t, c.poll(t.Context(), 20*time.Second, "the status to have counted them", func() (bool, error) {
			s, err := c.Status()
			return s.LeftWaits.Started >= int64(started), err
		}))
		s, err := c.Status()
		require.NoError(t, err)
		require.InDelta(t, longest.Seconds(), float64(s.LeftWaits.Longest), 2, "%+v", s.LeftWaits)
	}
	cancelAll(t, c)
	return waits
}
