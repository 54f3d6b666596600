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

// siteKinds are kinds of jobs that the site takes; the model of the auction knows some of them
// in part or not at all.
var siteKinds = []string{
	"-n1", "-n4", "-n6 -N2-4", "-N2 --ntasks-per-node=2 -c2", "-n1 -N1 -c3", "-n4 -N2 -c2", "-n4 -c2", "-n4 --ntasks-per-node=2", "-c4",
	"-N1 -n16", "-n1 -C ib", "-n1 -C skylake|gpu", "-n1 --mem=100", "-N1 -n2 --mem=20G", "-n4 --mem-per-cpu=900", "-n2 -N2 --exclusive",
	"-n1 --exclusive", "-n1 -L matlab:1", "-n1 --nodelist=n0002", "-n2 -N2 --switches=1",
	"-n1 --hint=nomultithread", "-n2 --ntasks-per-socket=1",
	"-n1 --mincpus=4", "-n1 -p cpu,long", "-n1 -p debug", "-n1 -p long", "-n1 --exclude=n0001",
	"-n1 --deadline=now+10hours", "-n1 -A limited",
	"-n1 --qos=lim", "-n1 --qos=share",
	"-p gpu -n1 --gres=gpu:1", "-p gpu -n1 --gres=gpu:a100:1", "-p gpu -n1 --gres=gpu:v100:1",
	"-p gpu -n1 --gpus=2", "-p gpu -n2 --gpus-per-task=1",
	"-p gpu -n1 --gres=gpu:a100:2", "-p gpu -n2 -N2 --gres=gpu:1", "-p gpu -n1 --cpus-per-gpu=2 --gpus=2",
}

// siteMix submits n random jobs of all kinds in random order, the same for a seed, and returns
// how long each waited.
func siteMix(t *testing.T, m mode, n int, seed uint64) (kinds []string, took []time.Duration) {
	t.Helper()
	c := cluster(t, m, Site())
	w := watch(t, c)
	r := rand.New(rand.NewPCG(seed, 0))
	var ids []uint32
	for range n {
		kind := siteKinds[r.IntN(len(siteKinds))]
		user := Alice
		if !strings.Contains(kind, "limited") && r.IntN(2) == 0 {
			user = Bob
		}
		args := append(strings.Fields(kind), fmt.Sprintf("--time=%d", 1+r.IntN(10)), "-o", "/dev/null")
		ids = append(ids, submit(t, c, fmt.Sprintf("sleep %d", 1+r.IntN(8)), as(user, args...)...))
		kinds = append(kinds, kind)
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 20*time.Minute))
	require.NoError(t, c.RanOnce(ids))
	_, err := w.Look(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		took = append(took, waited(t, j))
	}
	return kinds, took
}

// A queue of jobs of all kinds is never done later than by stock Slurm by more than the net by time
// allows, and no kind of job is kept from starting.
func TestNobodyWaitsLong(t *testing.T) {
	long(t)
	n, seed := 500, uint64(time.Now().UnixNano())
	_, stock := siteMix(t, siteStock, n, seed)
	t.Logf("seed %d: stock's longest wait is %v, the mean %v", seed, slices.Max(stock), mean(stock))
	for _, net := range []time.Duration{20 * time.Second, time.Minute} {
		t.Run(net.String(), func(t *testing.T) {
			kinds, took := siteMix(t, mode{"auction", func(t *testing.T, c Config) Config {
				c.SchedulerParameters = join(",", c.SchedulerParameters, fmt.Sprintf("auc_net_s=%d", int(net/time.Second)))
				return siteAuction.setup(t, c)
			}}, n, seed)
			most := slices.Max(took)
			kind := kinds[slices.Index(took, most)]
			t.Logf("the longest wait is %v (%s), the mean %v", most, kind, mean(took))
			require.LessOrEqual(t, most, slices.Max(stock)+net, "seed %d, %s", seed, kind)
			require.LessOrEqual(t, mean(took), mean(stock)+siteInterval, "seed %d", seed)
		})
	}
}

func mean(of []time.Duration) (m time.Duration) {
	for _, d := range of {
		m += d / time.Duration(len(of))
	}
	return m
}
