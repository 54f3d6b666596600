// SPDX-License-Identifier: BSD-3-Clause

package nodes_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestJobs: what becomes of jobs, on one cluster.
func TestJobs(t *testing.T) {
	const rate = 60
	c := bed(t, options{rate: rate}, group{"n[1-12]", 8, 2, 1000})
	c.idle(t, 12)
	want := 0

	t.Run("take as long as they say", func(t *testing.T) {
		seconds := map[int]float64{}
		for i := range 24 {
			s := float64(60 + 37*i%300)
			seconds[c.sbatch(t, script(s), "-t", "30", "-n", strconv.Itoa(1+i*7%40))] = s
		}
		want += len(seconds)
		jobs, late := c.ended(t, want), 0
		for id, s := range seconds {
			took := jobs[id].end.Sub(jobs[id].start).Seconds()
			require.Equal(t, "COMPLETED", jobs[id].state)
			require.GreaterOrEqual(t, took, s-1, "slurmctld notes whole seconds")
			if took >= s+3*rate { // this machine may be busy for a while
				late++
			}
			require.Equal(t, 1, c.launches(t, id))
		}
		require.Less(t, late, len(seconds)/2)
		c.idle(t, 12)
	})

	t.Run("time limit", func(t *testing.T) {
		id := c.sbatch(t, script(6000), "-t", "1", "-N", "3")
		want++
		j := c.ended(t, want)[id]
		require.Equal(t, "TIMEOUT", j.state)
		took := j.end.Sub(j.start)
		require.GreaterOrEqual(t, took, 59*time.Second)
		require.Less(t, took, 30*time.Minute)
		c.idle(t, 12)
		require.Equal(t, 1, c.said(t, "job %d: ended by slurmctld", id))
	})

	t.Run("cancelled", func(t *testing.T) {
		running := c.sbatch(t, script(60000), "-N", "12", "--exclusive")
		c.running(t, running)
		pending := c.sbatch(t, script(60), "-N", "12", "--exclusive")
		want += 2
		for _, id := range []int{pending, running} {
			_, err := c.run("", "scancel", strconv.Itoa(id))
			require.NoError(t, err)
		}
		jobs := c.ended(t, want)
		require.Equal(t, "CANCELLED", jobs[running].state)
		require.Equal(t, "CANCELLED", jobs[pending].state)
		require.Zero(t, c.launches(t, pending))
		c.idle(t, 12)
		require.Equal(t, 1, c.said(t, "job %d: ended by slurmctld", running))
	})

	t.Run("signals", func(t *testing.T) {
		id := c.sbatch(t, script(60000), "-N", "2")
		c.running(t, id)
		signal := func(args ...string) {
			_, err := c.run("", append(append([]string{"scancel"}, args...), strconv.Itoa(id))...)
			require.NoError(t, err)
		}
		signal("-s", "USR1")            // for steps: there are none
		signal("--batch", "-s", "CONT") // ends nothing
		time.Sleep(300 * time.Millisecond)
		require.Equal(t, "RUNNING", c.state(id))
		signal("--batch", "-s", "USR1")
		want++
		require.Equal(t, "FAILED", c.ended(t, want)[id].state)
		out, err := c.run("", "scontrol", "show", "job", strconv.Itoa(id))
		require.NoError(t, err)
		require.Contains(t, out, " ExitCode=0:10")
		c.idle(t, 12)
	})

	t.Run("without a time", func(t *testing.T) {
		scripts := []string{
			"#!/bin/sh\nsleep 10\n", "#!/bin/sh\n# aucsched-emulation: soon\n", "#!/bin/sh\n# aucsched-emulation: -1\n",
			"#!/bin/sh\n# aucsched-emulation: 10 minutes\n", "#!/bin/sh\n# aucsched-emulation:\n10\n",
			"#!/bin/sh\n# aucsched-emulation: 1e300\n",
			"#!/bin/sh\n" + strings.Repeat("#\n", 19) + "# aucsched-emulation: 1\n",
		}
		var ids []int
		for _, s := range scripts {
			ids = append(ids, c.sbatch(t, s))
		}
		want += len(ids)
		jobs := c.ended(t, want)
		for i, id := range ids {
			require.Equal(t, "FAILED", jobs[id].state, scripts[i])
			require.Equal(t, "2:0", jobs[id].exit)
			require.Equal(t, 1, c.said(t, "job %d: its script does not say", id))
		}
	})

	t.Run("no time at all", func(t *testing.T) {
		id := c.sbatch(t, "#!/bin/sh\n"+strings.Repeat("#\n", 18)+"# aucsched-emulation: 0 \n")
		want++
		require.Equal(t, "COMPLETED", c.ended(t, want)[id].state)
		c.idle(t, 12)
	})
}

// TestRestart: slurmctld is killed in the middle, is down for a while in which jobs end, and
// comes back: every job has run once, and completed.
func TestRestart(t *testing.T) {
	c := bed(t, options{rate: 60}, group{"n[1-60]", 4, 0, 1000})
	c.idle(t, 60)
	var ids []int
	for i := range 40 {
		ids = append(ids, c.sbatch(t, script(float64(200+i*20)), "-t", "60", "-N", strconv.Itoa(1+i%5), "--exclusive"))
	}
	poll(t, "jobs to run", func() bool {
		out, err := c.run("", "squeue", "-h", "-t", "R")
		return err == nil && strings.Count(out+"\n", "\n") > 15
	})
	// What slurmctld has not saved it does not know afterwards: it saves within 5 seconds.
	time.Sleep(time.Second)
	before := len(c.completed(t))
	require.NoError(t, kill(c.controller, syscall.SIGKILL))
	time.Sleep(4 * time.Second) // 240 seconds, in which jobs end
	require.NoError(t, c.startController())
	require.Less(t, before, len(ids))

	jobs := c.ended(t, len(ids))
	for _, id := range ids {
		require.Equal(t, "COMPLETED", jobs[id].state, "job %d", id)
		require.Equal(t, 1, c.launches(t, id), "job %d", id)
	}
	c.idle(t, 60)
	require.Positive(t, c.said(t, "can't be told to slurmctld"), "no job has ended while it was down: the test shows nothing")
}

// TestKinds: nodes of several kinds, and jobs over more of them than slurmctld asks at once.
func TestKinds(t *testing.T) {
	c := bed(t, options{rate: 60, extra: "TreeWidth=10"},
		group{"z[001-090]", 4, 0, 1000}, group{"a[1-7]", 16, 4, 64000}, group{"b,login", 2, 1, 500})
	c.idle(t, 99)
	for node, want := range map[string]string{"z090": "CPUTot=4", "a7": "CPUTot=16", "login": "CPUTot=2"} {
		out, err := c.run("", "scontrol", "-o", "show", "node", node)
		require.NoError(t, err)
		require.Contains(t, out, want)
		require.Contains(t, out, "Version=")
	}
	wide := c.sbatch(t, script(120), "-N", "99", "-n", "99")
	gpus := c.sbatch(t, script(120), "-N", "7", "--gres=gpu:4", "-n", "112")
	one := c.sbatch(t, script(120), "-N", "1", "--gres=gpu:4", "--mem=60000", "-n", "16")
	jobs := c.ended(t, 3)
	require.Equal(t, job{"COMPLETED", "0:0", "a[1-7],b,login,z[001-090]", jobs[wide].start, jobs[wide].end}, jobs[wide])
	require.Equal(t, job{"COMPLETED", "0:0", "a[1-7]", jobs[gpus].start, jobs[gpus].end}, jobs[gpus])
	require.Equal(t, "COMPLETED", jobs[one].state)
	require.Regexp(t, "^a[1-7]$", jobs[one].nodes)
	c.idle(t, 99)
	log, err := os.ReadFile(c.path("slurmctld.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "wrong node")
	// slurmctld splits the nodes of a job in 10 parts and asks one node of each.
	require.LessOrEqual(t, c.said(t, "REQUEST_TERMINATE_JOB"), 10+7+1)
	require.NotContains(t, string(log), "gres/gpu")
}

// TestReconfigure: nodes are as slurm.conf says now, and jobs go on.
func TestReconfigure(t *testing.T) {
	c := bed(t, options{rate: 60}, group{"n[1-4]", 4, 0, 1000})
	c.idle(t, 4)
	id := c.sbatch(t, script(600), "-t", "60", "-N", "3")
	c.running(t, id)
	text, err := os.ReadFile(c.path("slurm.conf"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.path("slurm.conf"),
		bytes.Replace(text, []byte("RealMemory=1000"), []byte("RealMemory=2000"), 1), 0o644))
	_, err = c.run("", "scontrol", "reconfigure")
	require.NoError(t, err)
	poll(t, "nodes to register again", func() bool {
		return c.said(t, "all nodes are registered, 4 of them anew") >= 2
	})
	out, err := c.run("", "sinfo", "-h", "-N", "-o", "%N %m %T")
	require.NoError(t, err)
	require.Regexp(t, "^(n[1-4] 2000 (idle|mixed|allocated)\\s*){4}$", out)
	require.Equal(t, "COMPLETED", c.ended(t, 1)[id].state)
	c.idle(t, 4)
	log, err := os.ReadFile(c.path("slurmctld.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "different slurm.conf")
}

// TestMunge: with credentials as usual.
func TestMunge(t *testing.T) {
	c := bed(t, options{rate: 60, munge: true}, group{"n[1-4]", 4, 1, 1000})
	c.idle(t, 4)
	id := c.sbatch(t, script(300), "-N", "3")
	require.Equal(t, "COMPLETED", c.ended(t, 1)[id].state)
	c.idle(t, 4)
}

// TestShutdown: scontrol ends both daemons. At rate 1: slurmctld waits for the nodes 30 of
// its seconds at most.
func TestShutdown(t *testing.T) {
	c := bed(t, options{rate: 1}, group{"n[1-4]", 4, 0, 1000})
	c.idle(t, 4)
	_, err := c.run("", "scontrol", "shutdown")
	require.NoError(t, err)
	timer := time.AfterFunc(patience, func() { c.nodes.Process.Kill() })
	defer timer.Stop()
	require.NoError(t, c.nodes.Wait(), "vslurmd")
	require.NoError(t, c.controller.Wait(), "slurmctld")
}

// TestRefuses: command lines and configurations that can't be.
func TestRefuses(t *testing.T) {
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("needs Slurm's library: AUCSCHED_SLURM_TEST=1 to run it")
	}
	built, err := build()
	require.NoError(t, err)
	const head = "ClusterName=emulation\nSlurmctldHost=localhost(127.0.0.1)\n" +
		"AuthType=auth/none\nCredType=cred/none\nPartitionName=p Nodes=ALL\n"
	for name, c := range map[string]struct{ conf, want string }{
		"no nodes":       {head, "no NodeName"},
		"range of ports": {head + "NodeName=n[1-2] Port=[7001-7002]\n", "must have the same one port"},
		"two ports":      {head + "NodeName=a Port=7001\nNodeName=b Port=7002\n", "must have the same one"},
		"no file":        {"", "usage: "},
	} {
		t.Run(name, func(t *testing.T) {
			var args []string
			if c.conf != "" {
				path := filepath.Join(t.TempDir(), "slurm.conf")
				require.NoError(t, os.WriteFile(path, []byte(c.conf), 0o644))
				args = []string{"-f", path}
			}
			out, err := exec.Command(filepath.Join(built, "vslurmd"), args...).CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Positive(t, exit.ExitCode())
			require.Contains(t, string(out), c.want)
		})
	}
}
