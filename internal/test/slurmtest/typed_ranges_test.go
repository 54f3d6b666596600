// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// typedMachine has GPUs of two types.
func typedMachine() Config {
	return Config{Groups: []Group{{Nodes: 4, Cores: 8, GPUs: 4, GPUType: "a100"}, {Nodes: 4, Cores: 8, GPUs: 2, GPUType: "v100"}}}
}

// A range may name the type of the GPUs. A preset that plans would give two of 1-3 on nodes with four:
// with three nobody has any use for the fourth. This one gives what is free.
func TestTypedRanges(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, plain, typedMachine())
	t.Run("sbatch", func(t *testing.T) { testSbatchTyped(t, c) })
	t.Run("srun and salloc", func(t *testing.T) { testStepsTyped(t, c) })
	t.Run("requeue", func(t *testing.T) { testRequeuedTyped(t, c) })
	t.Run("alternative", func(t *testing.T) { testTypedAlternative(t, c) })
	t.Run("refused", func(t *testing.T) { testRefusedTyped(t, c) })
	t.Run("update", func(t *testing.T) { testTypedUpdate(t, c) })
}

// ofType is what TresPerNode says of so many GPUs of a type, in any version of Slurm.
func ofType(j Job) string {
	return strings.TrimPrefix(strings.TrimPrefix(j.Fields["TresPerNode"], "gres:"), "gres/")
}

func testSbatchTyped(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	for _, r := range []struct {
		option, note, tres string
		gpus               int
	}{
		{"--gres=gpu:a100:1-3", "auc:gpu=a100:1-3", "gpu:a100:3", 3},
		{"--gpus-per-node=a100:2-4", "auc:gpu=a100:2-4", "gpu:a100:4", 4},
		{"--gres=gpu:v100:1-2", "auc:gpu=v100:1-2", "gpu:v100:2", 2},
	} {
		id := submit(t, c, "sleep 30", "-n2", "-N2", "--time=1", r.option)
		j := running(t, c, patience, id)[0]
		requireByAuction(t, c, id)
		require.Equal(t, r.note, strings.TrimSpace(j.Fields["AdminComment"]))
		require.Equal(t, r.tres, ofType(j), "the start keeps the type")
		for _, n := range j.Nodes {
			require.Len(t, n.GPUs, r.gpus)
			require.Equal(t, strings.HasPrefix(r.tres, "gpu:a100"), n.Node <= "n0004", "%s has that type", n.Node)
		}
		cancelOne(t, c, id)
	}
}

func testStepsTyped(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, option := range []string{"--gres=gpu:a100:2-3", "--gpus-per-node=a100:2-3"} {
		out, err := c.Srun(ctx, "-N2", "-n2", "--time=1", option, "sh", "-c", inStep)
		require.NoError(t, err)
		requireStepsSeeGPUs(t, out, 2, 2, 3)
		require.Contains(t, out, "gpu:a100:")
		out, err = c.Salloc(ctx, "-N2", "-n2", "--time=1", option, "srun", "sh", "-c", inStep)
		require.NoError(t, err)
		requireStepsSeeGPUs(t, out, 2, 2, 3)
		require.Contains(t, out, "gpu:a100:")
	}
}

func testRequeuedTyped(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	id := submit(t, c, "sleep 60", "-n2", "-N2", "--gres=gpu:a100:1-3", "--time=2", "--requeue")
	require.Equal(t, "gpu:a100:3", ofType(running(t, c, patience, id)[0]))
	requeueHold(t, c, id)
	var j Job
	require.NoError(t, c.poll(t.Context(), patience, "the range to be back", func() (bool, error) {
		var err error
		j, err = c.ShowJob(t.Context(), id)
		return ofType(j) == "gpu:a100:1", err
	}), "TresPerNode=%s", j.Fields["TresPerNode"])
	require.Equal(t, "auc:gpu=a100:1-3", strings.TrimSpace(j.Fields["AdminComment"]))
}

// A job with a typed range that ran as an alternative has its range, with the type, again.
func testTypedAlternative(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	filler := submit(t, c, "sleep 60", "-N4", "--ntasks-per-node=1", "--gres=gpu:a100:4", "--time=2")
	running(t, c, patience, filler)
	id := submitWith(t, c, "sleep 60", []string{"-n2 --gres=gpu:v100:1-2"}, "-n2",
		"-N2", "--gpus-per-node=a100:2-3", "--time=2", "--requeue")
	j := running(t, c, patience, id)[0]
	requireByAuction(t, c, id)
	require.Equal(t, "gpu:v100:2", ofType(j))
	require.Contains(t, j.Fields["AdminComment"], "auc:gpu=v100:1-2")
	requeueHold(t, c, id)
	require.NoError(t, c.poll(t.Context(), patience, "the first request to be back", func() (bool, error) {
		var err error
		j, err = c.ShowJob(t.Context(), id)
		return ofType(j) == "gpu:a100:2", err
	}), "TresPerNode=%s", j.Fields["TresPerNode"])
	require.Contains(t, j.Fields["AdminComment"], "auc:gpu=a100:2-3")
}

func testRefusedTyped(t *testing.T, c *Cluster) {
	for _, r := range []struct{ option, words string }{
		{"--gres=gpu:a100:3-1", "gpu:a100:3-1: the range ends below its beginning"},
		{"--gpus-per-node=a100:1-x", "gpu:a100:1-x: neither a range"},
		{"--gres=gpu:1-2,gpu:a100:3", "gpu:1-2,gres:gpu:a100:3: a range of GPUs can't be asked for beside other GPUs"},
		{"--gres=gpu:a100:1-2 --gpus-per-node=1-2", "beside other GPUs"},
		{"--gres=gpu:a100:1 --gpus-per-node=1-2", "beside other GPUs"},
		{"--gres=gpu:h100:1-2", "h100 is no GPU type of this cluster"},
		{"--gres=gpu:1-1024", "gpu:1-1024: no node has so many GPUs; the most is 4"},
		{"--gpus-per-node=1-5", "gpu:1-5: no node has so many GPUs; the most is 4"},
		{"--gres=gpu:v100:1-3", "gpu:v100:1-3: no node has so many GPUs of this type; the most is 2"},
	} {
		for _, command := range []string{"sbatch", "srun", "salloc"} {
			argv := append([]string{command, "-n1"}, strings.Fields(r.option)...)
			if command == "sbatch" {
				argv = append(argv, "--wrap")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			_, err := c.Run(ctx, append(argv, "true")...)
			require.Error(t, err, "%s %s", command, r.option)
			require.NoError(t, ctx.Err(), "refused at once")
			require.Contains(t, strings.ReplaceAll(Stderr(err), "gres/", "gres:"), r.words, "%s %s", command, r.option)
			cancel()
		}
	}
	out, err := c.Squeue(t.Context(), "%i")
	require.NoError(t, err)
	require.Empty(t, strings.TrimSpace(out), "nothing was queued")
}

// settled waits until a job's update was judged, and returns its comment.
func settled(t *testing.T, c *Cluster, id uint32) Job {
	t.Helper()
	var j Job
	require.NoError(t, c.poll(t.Context(), patience, "the update to be judged", func() (bool, error) {
		var err error
		j, err = c.ShowJob(t.Context(), id)
		return !strings.Contains(j.Fields["AdminComment"], "auc:update="), err
	}), "AdminComment=%s", j.Fields["AdminComment"])
	return j
}

// An update with another range is one for the auction, the same low end or not.
func testTypedUpdate(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	id := submit(t, c, "sleep 60", "-n2", "-N2", "--gres=gpu:a100:1-3", "--time=2", "-H")
	for _, r := range []struct{ gres, note, tres string }{
		{"gpu:a100:1-2", "auc:gpu=a100:1-2", "gpu:a100:1"},
		{"gpu:a100:2", "", "gpu:a100:2"},
		{"gpu:a100:2-4", "auc:gpu=a100:2-4", "gpu:a100:2"},
	} {
		_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "Gres="+r.gres)
		require.NoError(t, err)
		j := settled(t, c, id)
		require.Equal(t, r.note, strings.TrimSpace(j.Fields["AdminComment"]), r.gres)
		require.Equal(t, r.tres, ofType(j), r.gres)
	}
}

// What slurmctld refuses changes nothing; it is asked after the plug-in was.
func TestRefusedUpdates(t *testing.T) {
	beside(t)
	c := cluster(t, auction, optionsMachine())
	defer cancelAll(t, c)
	const note = "auc:alt=n1,N1-0;auc:gpu=1-3"
	for _, r := range []struct {
		update  string
		refused bool
		after   string // the comment
	}{
		{"NumTasks=5 Partition=nothere", true, note},
		{"Gres=gpu:1-2 Partition=nothere", true, note},
		{"Gres=gpu:2 ReqNodeList=nothere", true, note},
		{"NumNodes=3 Licenses=nothere:1", true, note},
		{"Gres=gpu:nothere:1-2", true, note},
		{"NumTasks=5 Features=nothere", true, "auc:gpu=1-3"}, // it has 5 tasks all the same
		{"NumTasks=4", false, "auc:gpu=1-3"},
		{"Gres=gpu:2-3", false, "auc:gpu=2-3"},
		{"Gres=gpu:1", false, ""},
		{"JobName=x", false, note},
	} {
		id := submitWith(t, c, "sleep 60", []string{"-n1"}, "-n2", "-N2", "--gres=gpu:1-3", "--time=2", "-H")
		_, err := c.Scontrol(t.Context(), append([]string{"update", fmt.Sprint("JobId=", id)}, strings.Fields(r.update)...)...)
		require.Equal(t, r.refused, err != nil, "%s: %v", r.update, err)
		j := settled(t, c, id)
		require.Equal(t, r.after, strings.TrimSpace(j.Fields["AdminComment"]), r.update)
		require.NotContains(t, ofType(j), ":0", "spelled as ever")
	}
}
