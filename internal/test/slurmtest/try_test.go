// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/try"
	"github.com/aucsched/aucsched/internal/workload"
)

// siteJob is a random job of a site's user.
func siteJob(rng *rand.Rand) (body string, args []string) {
	user := []string{Alice, Bob, Carol}[rng.IntN(3)]
	args = as(user, "--time="+[]string{"1", "2", "5"}[rng.IntN(3)])
	switch rng.IntN(7) {
	case 0:
		args = append(args, "-N2", "--ntasks-per-node=16")
	case 1:
		args = append(args, "-n1", "-c8", "--mem=20000")
	case 2:
		args = append(args, "-p", "gpu", "-N1", "-n4", fmt.Sprint("--gres=gpu:a100:", 1+rng.IntN(2)))
	case 3:
		args = append(args, "-p", "gpu", "-N1", "-n2", "--gres=gpu:1")
	case 4:
		args = append(args, "-p", "long", "-N1", "-n32") // 26.05 keeps 32 tasks without -N out of a partition with MaxNodes=4
	case 5:
		args = append(args, "-n4", "--array=1-3")
	default:
		args = append(args, "-n", fmt.Sprint(1+rng.IntN(60)))
	}
	return fmt.Sprint("sleep ", 3+rng.IntN(25)), args
}

// What slurmdbd has of some minutes of mixed load is read whatever fields sacct prints, and the
// simulated Slurm does as the real one did.
func TestTry(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, siteStock, Site())
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(25, 4))
	began := time.Now()
	var ids []uint32
	for at := time.Duration(0); at < 150*time.Second; at += time.Duration(rng.Int64N(int64(2400 * time.Millisecond))) {
		time.Sleep(time.Until(began.Add(at)))
		body, args := siteJob(rng)
		ids = append(ids, submit(t, c, body, args...))
	}
	cancelled := submit(t, c, "sleep 5", as(Bob, "-n1", "--time=1", "--begin=now+600")...)
	require.NoError(t, c.Scancel(ctx, fmt.Sprint(cancelled)))
	requeued := submit(t, c, "sleep 8", as(Bob, "-n1", "--time=1", "--requeue")...)
	running(t, c, 2*time.Minute, requeued)
	_, err := c.Scontrol(ctx, "requeue", fmt.Sprint(requeued))
	require.NoError(t, err)
	submit(t, c, "sleep 1", as(Alice, "-n1", "--time=1", ":", "-n2", "-N2")...)
	require.NoError(t, c.WaitEmpty(ctx, 6*time.Minute))
	dir := t.TempDir()
	for name, format := range map[string]string{"the fields that are asked for": workload.PastFormat, "many fields": workload.PastFormat +
		",Cluster,Suspended,ExitCode,Reason,Reserved,Flags,WorkDir,Constraints,CPUTimeRAW,JobName,Comment"} {
		t.Run(name, func(t *testing.T) {
			text, err := c.Run(ctx, "sacct", "-a", "-X", "-D", "--parsable2", "--starttime=now-1hours", "--format="+format)
			require.NoError(t, err)
			file := filepath.Join(dir, "sacct.txt")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			past, err := try.Read(file, c.conf(), try.Options{Weeks: 1})
			require.NoError(t, err)
			simulated, err := past.Replay(ctx, past.Slurm(), try.Setting{Interval: 1, Seed: 1})
			require.NoError(t, err)
			short, err := past.Replay(ctx, try.Preset("short"), try.Setting{Interval: 3, Seed: 1})
			require.NoError(t, err)
			report := past.NewReport([]*try.Replay{past.What(), simulated, short}, 1)
			require.NoError(t, report.Text(os.Stderr))
			require.Greater(t, report.All.Jobs, len(ids))
			require.Equal(t, []string{"cpu", "gpu", "long"}, sortedNames(report.Partitions))
			require.Empty(t, simulated.Unrun)
			require.True(t, report.Says(), report.Verdict())
		})
	}
}

func sortedNames(groups []try.Group) (names []string) {
	for _, g := range groups {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	return names
}
