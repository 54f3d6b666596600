// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asUser runs a command as Alice, who is nobody special. What slurmctld refuses is no matter.
func (c *Cluster) asUser(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env, cmd.Dir = c.environ(), "/"
	alice, err := accountOf(Alice)
	require.NoError(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	asUser(cmd.SysProcAttr, alice)
	text, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(text)), err
}

// oddNumbers are the ends of the ranges of record fields, and of what the library takes.
var oddNumbers = []string{"0", "1", "2", "3", "8", "255", "65533", "65534", "65535",
	"65536", "500000", "1048577", "536870911", "2147483647",
	"2147483648", "3000000000", "4294967292", "4294967293", "4294967294", "4294967295", "4294967296", "-1", "18446744073709551615"}

// oddUpdate is something that users may try to do to their jobs.
func oddUpdate(r *rand.Rand) string {
	number := func() string { return oddNumbers[r.IntN(len(oddNumbers))] }
	fields := []string{"NumTasks", "NumTasks", "NumCPUs", "MinCPUsNode", "NumNodes", "CPUsPerTask", "NTasksPerNode", "MinMemoryNode",
		"MinMemoryCPU", "MinTmpDiskNode", "TimeLimit", "TresPerNode", "Features",
		"Contiguous", "NumNodes", "Priority", "ExcNodeList", "OverSubscribe"}
	field := fields[r.IntN(len(fields))]
	switch field {
	case "NumNodes", "NumCPUs":
		if r.IntN(2) == 0 {
			return fmt.Sprintf("%s=%s-%s", field, number(), number())
		}
	case "TresPerNode":
		return field + "=gres:gpu:" + number()
	case "Features":
		return field + "=" + []string{"fast", "fast&slow", "none", "[fast|slow]", "fast*2", "fast|"}[r.IntN(6)]
	case "Contiguous", "OverSubscribe":
		return field + "=" + []string{"yes", "no"}[r.IntN(2)]
	case "ExcNodeList":
		return field + "=" + []string{"n0001", "n[0001-0008]", ""}[r.IntN(3)]
	}
	return field + "=" + number()
}

// Nothing that users do to their own jobs stops the auction: no cycle fails.
func TestOddJobs(t *testing.T) {
	beside(t)
	c := cluster(t, auction, Config{
		Groups:     []Group{{Nodes: 8, Cores: 4, GPUs: 2, Features: "fast"}},
		Partitions: []Partition{{Name: "p", Default: true}, {Name: "q", Options: "OverSubscribe=EXCLUSIVE"}},
	})
	require.NoError(t, os.Chmod(c.Dir, 0o755))
	running(t, c, patience, submit(t, c, "sleep 600", "-N8", "-n31", "--time=20"))
	n := 60
	if os.Getenv("AUCSCHED_SLURM_LONG") == "1" {
		n = 2000
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	done, refused := 0, 0
	update := func(id uint32, what string) {
		if _, err := c.asUser(t, "scontrol", "update", fmt.Sprint("JobId=", id), what); err != nil {
			refused++
			return
		}
		done++
	}
	check := func() {
		t.Helper()
		s, err := c.Status()
		require.NoError(t, err)
		require.Equal(t, "on", s.State, "seed %d: %s", seed, s.StateText)
		require.Zero(t, s.CyclesFailed, "seed %d: %s", seed, s.LastFailure)
		require.Empty(t, logLines(t, c, "faults in what the library was shown"), "seed %d: what it would not take is left to Slurm", seed)
	}
	for i := range n {
		args := []string{"--uid=" + Alice, "-N1", "-n1", "--time=5", "--begin=now+2",
			"--partition=" + []string{"p", "p", "p", "q"}[r.IntN(4)]}
		script := "#!/bin/sh\n" + fmt.Sprintf("#AUCSCHED --alternative --nodes=%d --ntasks-per-node=%s\n",
			1+r.IntN(9), oddNumbers[1+r.IntN(8)]) + "true\n"
		id, err := c.Sbatch(t.Context(), args, script)
		if err != nil { // the alternative is against a limit
			id = submit(t, c, "true", args...)
		}
		if i%10 == 0 { // a user's job with more tasks than the library takes
			update(id, "NumTasks=3000000000")
			continue
		}
		for range 1 + r.IntN(3) {
			update(id, oddUpdate(r))
		}
		check()
	}
	require.Greater(t, done, n/2, "updates that slurmctld took; it refused %d", refused)
	time.Sleep(3 * time.Second)
	waitCycles(t, c, 2)
	check()
	// It does start jobs.
	require.NoError(t, c.Scancel(t.Context(), "--user=root"))
	require.NoError(t, c.Scancel(t.Context(), "--user="+Alice))
	id := submit(t, c, "true", "-n1", "--time=1")
	_, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
	requireByAuction(t, c, id)
	check()
}
