// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// optionsMachine is the machine of the tests of submit options.
func optionsMachine() Config { return Config{Groups: Uniform(16, 8, 4)} }

// What sbatch asks for is what the job gets, as before.
func TestOptions(t *testing.T) {
	beside(t)
	rows := []leftRow{
		{"-n5", "", Ask{CPUs: 5}},
		{"-n1", "", Ask{CPUs: 1, MinNodes: 1, MaxNodes: 1}},
		{"-n20 -N4", "", Ask{CPUs: 20, MinNodes: 4, MaxNodes: 4}},
		{"-n12 -N2-6", "", Ask{CPUs: 12, MinNodes: 2, MaxNodes: 6}},
		{"-n9 -N3 --contiguous", "", Ask{CPUs: 9, MinNodes: 3, MaxNodes: 3, Contiguous: true}},
		{"-N3 --ntasks-per-node=2", "", Ask{CPUs: 6, MinNodes: 3, MaxNodes: 3, CPUsPerNode: 2}},
		{"-n6 --ntasks-per-node=3", either, Ask{CPUs: 6, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 3}},
		{"-n4 -c2", "", Ask{CPUs: 8}},
		{"-n4 -N2 -c4", either, Ask{CPUs: 16, MinNodes: 2, MaxNodes: 2}},
		// 8 and 3, says stock 22.05
		{"-n4 -N2 -c3", either, Ask{MinCPUs: 11, MinNodes: 2, MaxNodes: 2}},
		{"-N2 --ntasks-per-node=2 -c2", "", Ask{CPUs: 8, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 4}},
		{"-n4 -N2 --gres=gpu:2", "", Ask{CPUs: 4, MinNodes: 2, MaxNodes: 2}.GPURange(2, 2)},
		{"-n2 -N2 --gpus-per-node=1", "", Ask{CPUs: 2, MinNodes: 2, MaxNodes: 2}.GPURange(1, 1)},
		{"-n2 --gres=gpu", "", Ask{CPUs: 2}.GPURange(1, 1)},
		{"-n1", "", Ask{CPUs: 1}.GPURange(0, 0)},
	}
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, optionsMachine())
		w := watch(t, c)
		var ids []uint32
		for _, r := range rows {
			args := strings.Fields(r.args)
			id := submit(t, c, "sleep 12", append(args, "--time=1", "-J", strings.ReplaceAll(r.args, " ", ""))...)
			w.Expect(id, r.ask)
			ids = append(ids, id)
		}
		running(t, c, patience, ids...)
		_, err := w.Look(t.Context())
		require.NoError(t, err)
		if m.name == "auction" {
			for i, id := range ids {
				t.Run(rows[i].args, func(t *testing.T) { requireRoute(t, c, id, rows[i].left) })
			}
		}
		require.NoError(t, c.WaitEmpty(t.Context(), 30*time.Second))
		require.NoError(t, c.RanOnce(ids))
	})
}

// A job that must be over by some time has no longer a limit when it starts, as
// in Slurm's main loop.
func TestDeadlineIsALimit(t *testing.T) {
	beside(t)
	bothModes(t, func(t *testing.T, m mode) {
		c := cluster(t, m, optionsMachine())
		for _, args := range []string{"-n1 --deadline=now+600", "-n1 --deadline=now+600 --time=100 --time-min=2"} {
			id := submit(t, c, "sleep 5", strings.Fields(args)...)
			running(t, c, patience, id)
			out, err := c.Scontrol(t.Context(), "show", "job", fmt.Sprint(id))
			require.NoError(t, err)
			require.Regexp(t, `TimeLimit=00:(10|09):00 `, string(out), args)
			if m.name == "auction" {
				requireByAuction(t, c, id)
			}
		}
		id := submit(t, c, "true", "-n1", "--deadline=now+600", "--time=3")
		require.NoError(t, c.WaitEmpty(t.Context(), 40*time.Second))
		out, err := c.Scontrol(t.Context(), "show", "job", fmt.Sprint(id))
		require.NoError(t, err)
		require.Contains(t, string(out), "TimeLimit=00:03:00 ")
	})
}

// requireRoute checks who started the job: see leftRow. A job that is Slurm's may have
// started before a cycle could say so.
func requireRoute(t *testing.T, c *Cluster, id uint32, left string) {
	t.Helper()
	routes, err := c.Routes()
	require.NoError(t, err)
	switch left {
	case "":
		requireByAuction(t, c, id)
	case either:
		require.Empty(t, routes[id].Left)
	default:
		require.Zero(t, routes[id].Started)
		require.Contains(t, []string{left, ""}, routes[id].Left)
	}
}

// A range of GPUs is a wish that Slurm itself doesn't know.
func TestGPURanges(t *testing.T) {
	beside(t)
	c := cluster(t, auction, optionsMachine())
	t.Run("sbatch", func(t *testing.T) { testSbatchRanges(t, c) })
	t.Run("srun", func(t *testing.T) { testSrunRange(t, c) })
	t.Run("salloc", func(t *testing.T) { testSallocRange(t, c) })
	t.Run("refused", func(t *testing.T) { testRefusedRanges(t, c) })
	t.Run("narrow", func(t *testing.T) { testNarrowRange(t, c) })
	t.Run("requeue", func(t *testing.T) { testRequeuedRange(t, c) })
}

func testSbatchRanges(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	w := watch(t, c)
	var ids []uint32
	for _, r := range []struct {
		args string
		ask  Ask
	}{
		{"-n4 -N2 --gres=gpu:1-3", Ask{CPUs: 4, MinNodes: 2, MaxNodes: 2}.GPURange(1, 3)},
		{"-n2 -N2 --gpus-per-node=1-3", Ask{CPUs: 2, MinNodes: 2, MaxNodes: 2}.GPURange(1, 3)},
		{"-n6 -N3 --gres=gpu:2-2", Ask{CPUs: 6, MinNodes: 3, MaxNodes: 3}.GPURange(2, 2)},
		{"-n3 -N3 --contiguous --gres=gpu:2-4", Ask{CPUs: 3, MinNodes: 3, MaxNodes: 3, Contiguous: true}.GPURange(2, 4)},
		{"-n1 --gres=gpu:2", Ask{CPUs: 1}.GPURange(2, 2)},
	} {
		id := submit(t, c, "sleep 30", append(strings.Fields(r.args), "--time=1")...)
		w.Expect(id, r.ask)
		ids = append(ids, id)
	}
	running(t, c, patience, ids...)
	for _, id := range ids {
		requireByAuction(t, c, id)
	}
	_, err := w.Look(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.report.Err())
}

// inStep prints what a step sees and, after it, what its job holds.
const inStep = `echo "step $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"; ` +
	`[ "$SLURM_PROCID" != 0 ] || { sleep 0.5; echo; scontrol show job -d $SLURM_JOB_ID; }`

var stepLine = regexp.MustCompile(`(?m)^step (\S+) ([0-9,]*)$`)

// requireStepsSeeGPUs checks the output of inStep on nodes nodes: each step must have
// seen just the GPUs that its job holds on its node, from lo to hi.
func requireStepsSeeGPUs(t *testing.T, out string, nodes, lo, hi int) {
	t.Helper()
	steps := stepLine.FindAllStringSubmatch(out, -1)
	require.Len(t, steps, nodes, out)
	at := strings.Index(out, "JobId=")
	require.GreaterOrEqual(t, at, 0, out)
	jobs, err := ParseJobs(stepLine.ReplaceAllString(out[at:], ""))
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	held := map[string]string{}
	for _, s := range jobs[0].Nodes {
		held[s.Node] = strings.Trim(strings.ReplaceAll(fmt.Sprint(s.GPUs), " ", ","), "[]")
		require.GreaterOrEqual(t, len(s.GPUs), lo)
		require.LessOrEqual(t, len(s.GPUs), hi)
	}
	for _, s := range steps {
		require.Equal(t, held[s[1]], s[2], "CUDA_VISIBLE_DEVICES on %s", s[1])
	}
}

func testSrunRange(t *testing.T, c *Cluster) {
	// Other jobs hold GPU 0 here and there, so that the indices are not just 0, 1, 2.
	submit(t, c, "sleep 60", "-n8", "-N8", "--gres=gpu:1")
	defer cancelAll(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := c.Srun(ctx, "-N2", "-n2", "--time=1", "--gres=gpu:1-3", "sh", "-c", inStep)
	require.NoError(t, err)
	requireStepsSeeGPUs(t, out, 2, 1, 3)
	out, err = c.Srun(ctx, "-N2", "-n2", "--time=1", "--gpus-per-node=2-3", "sh", "-c", inStep)
	require.NoError(t, err)
	requireStepsSeeGPUs(t, out, 2, 2, 3)
	out, err = c.Srun(ctx, "-N2", "-n2", "--time=1", "--gres=gpu:2", "sh", "-c", inStep)
	require.NoError(t, err)
	requireStepsSeeGPUs(t, out, 2, 2, 2)
}

func testSallocRange(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := c.Salloc(ctx, "-N2", "-n2", "--time=1", "--gres=gpu:1-3", "srun", "sh", "-c", inStep)
	require.NoError(t, err)
	requireStepsSeeGPUs(t, out, 2, 1, 3)
}

func testRefusedRanges(t *testing.T, c *Cluster) {
	for _, bad := range []string{"gpu:3-1", "gpu:0-0", "gpu:a-b", "gpu:1-", "gpu:-3", "gpu:1-2-3", "gpu:1-99999999999"} {
		for _, command := range []string{"sbatch", "srun", "salloc"} {
			t.Run(command+" "+bad, func(t *testing.T) {
				argv := []string{command, "-n1", "--gres=" + bad, "true"}
				if command == "sbatch" {
					argv = []string{"sbatch", "-n1", "--gres=" + bad, "--wrap", "true"}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				_, err := c.Run(ctx, argv...)
				require.Error(t, err)
				require.NoError(t, ctx.Err(), "refused at once")
				require.Contains(t, Stderr(err), bad, "the words name what was asked for")
			})
		}
	}
	out, err := c.Squeue(t.Context(), "%i")
	require.NoError(t, err)
	require.Empty(t, strings.TrimSpace(out), "nothing was queued")
}

// Where only one GPU of each node is free, a range that begins at one runs with one.
func testNarrowRange(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	w := watch(t, c)
	filler := submit(t, c, "sleep 60", "-n16", "-N16", "--gres=gpu:3")
	running(t, c, patience, filler)
	id := submit(t, c, "sleep 60", "-n2", "-N2", "--gres=gpu:1-3", "--time=2")
	never := submit(t, c, "sleep 60", "-n2", "-N2", "--gres=gpu:2-3", "--time=2")
	w.Expect(id, Ask{CPUs: 2, MinNodes: 2, MaxNodes: 2}.GPURange(1, 1))
	running(t, c, patience, id)
	j, err := c.ShowJob(t.Context(), never)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)
}

// A range job that is requeued is a range job again.
func testRequeuedRange(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	ctx := t.Context()
	id := submit(t, c, "sleep 60", "-n2", "-N2", "--gres=gpu:1-4", "--time=2", "--requeue")
	w := watch(t, c)
	w.Expect(id, Ask{CPUs: 2, MinNodes: 2, MaxNodes: 2}.GPURange(1, 4))
	before := running(t, c, patience, id)[0]
	require.Len(t, before.Nodes[0].GPUs, 4, "of an idle machine a job gets the most")
	_, err := c.Scontrol(ctx, "requeuehold", fmt.Sprint(id))
	require.NoError(t, err)
	_, err = c.WaitFor(ctx, id, patience, "PENDING")
	require.NoError(t, err)
	var j Job
	require.NoError(t, c.poll(ctx, patience, "the range to be back", func() (bool, error) {
		j, err = c.ShowJob(ctx, id)
		low := j.Fields["TresPerNode"]
		return low == "gres:gpu:1" || low == "gres/gpu:1", err // the latter from 23.11 on
	}), "it had 4: TresPerNode=%s", j.Fields["TresPerNode"])
	require.Contains(t, j.Fields["AdminComment"], "1-4", "scontrol shows the range")

	filler := submit(t, c, "sleep 60", "-n16", "-N16", "--gres=gpu:3")
	running(t, c, patience, filler)
	_, err = c.Scontrol(ctx, "release", fmt.Sprint(id))
	require.NoError(t, err)
	// else it waits for two minutes
	_, err = c.Scontrol(ctx, "update", fmt.Sprint("JobId=", id), "StartTime=now")
	require.NoError(t, err)
	var after Job
	require.NoError(t, c.poll(ctx, patience, "the job to run again", func() (bool, error) {
		after, err = c.ShowJob(ctx, id)
		return after.State == "RUNNING" && after.Restarts == 1, err
	}), "%s (%s)", after.State, after.Reason)
	require.Len(t, after.Nodes[0].GPUs, 1, "now there is one")
}
