// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// directives puts lines into a script, before its first command.
func directives(script string, lines ...string) string {
	return strings.Replace(script, "\n", "\n"+strings.Join(lines, "\n")+"\n", 1)
}

// submitWith submits a job with alternatives.
func submitWith(t *testing.T, c *Cluster, body string, alternatives []string, args ...string) uint32 {
	t.Helper()
	var lines []string
	for _, a := range alternatives {
		lines = append(lines, "#AUCSCHED --alternative "+a)
	}
	id, err := c.Sbatch(t.Context(), args, directives(c.Script(body), lines...))
	require.NoError(t, err)
	return id
}

// shape is what scontrol shows of a job's request.
func shape(j Job) map[string]string {
	m := map[string]string{}
	for _, key := range []string{"NumNodes", "NumCPUs", "NumTasks", "CPUs/Task", "ReqB:S:C:T", "TRES", "ReqTRES", "AllocTRES",
		"Socks/Node", "NtasksPerN:B:S:C", "MinCPUsNode", "Contiguous", "TresPerNode"} {
		m[key] = j.Fields[key]
	}
	return m
}

// A job may give several requests, of which it gets one.
func TestAlternatives(t *testing.T) {
	beside(t)
	c := cluster(t, auction, optionsMachine())
	t.Run("first", func(t *testing.T) { testFirstIsPreferred(t, c) })
	t.Run("like that request", func(t *testing.T) { testAlternativeIsTheRequest(t, c) })
	t.Run("in the script", func(t *testing.T) { testScriptOfAnAlternative(t, c) })
	t.Run("range", func(t *testing.T) { testAlternativeRange(t, c) })
	t.Run("requeue", func(t *testing.T) { testRequeuedAlternative(t, c) })
	t.Run("wrong note", func(t *testing.T) { testWrongFirstRequest(t, c) })
	t.Run("array", func(t *testing.T) { testAlternativesOfAnArray(t, c) })
	t.Run("update", func(t *testing.T) { testUpdatedAlternative(t, c) })
	t.Run("refused", func(t *testing.T) { testRefusedAlternatives(t, c) })
}

// With room for any of them a job gets what it asked for first.
func testFirstIsPreferred(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	id := submitWith(t, c, "sleep 30", []string{"-n1", "-N2 --ntasks-per-node=8 --gres=gpu:4"}, "-n64", "--time=1")
	j := running(t, c, patience, id)[0]
	requireByAuction(t, c, id)
	require.Equal(t, 64, j.NumCPUs)
	require.NotContains(t, j.Fields["AdminComment"], "auc:first")
}

// fill leaves 4 of the 16 nodes of 8 cores and 4 GPUs.
func fill(t *testing.T, c *Cluster) {
	t.Helper()
	filler := submit(t, c, "sleep 100", "-N12", "--ntasks-per-node=8", "--time=5")
	running(t, c, patience, filler)
}

// cancelOne cancels a job and waits until it has given its nodes back.
func cancelOne(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(id)))
	_, err := c.WaitFor(t.Context(), id, patience, "CANCELLED")
	require.NoError(t, err)
}

// What runs as an alternative is shown as a job that was submitted with that request.
func testAlternativeIsTheRequest(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	for i, options := range []string{
		"--nodes=4 --ntasks-per-node=8 --gres=gpu:2",
		"-N3 -n6 --contiguous",
		"-n 20",
		"-N 2 --ntasks-per-node 1 --gpus-per-node=4",
		"-n3 -N1",
		"--ntasks=7 --nodes=2-4",
	} {
		t.Run(options, func(t *testing.T) {
			if i > 2 { // more of the same kind
				slow(t)
			}
			twin := submit(t, c, "sleep 100", append(strings.Fields(options), "--time=2")...)
			want := shape(running(t, c, patience, twin)[0])
			cancelOne(t, c, twin)
			id := submitWith(t, c, "sleep 100", []string{options}, "-n64", "--gres=gpu:1", "--time=2")
			got := running(t, c, patience, id)[0]
			requireByAuction(t, c, id)
			require.Equal(t, want, shape(got))
			cancelOne(t, c, id)
		})
	}
}

// srun in the script runs what the alternative says.
func testScriptOfAnAlternative(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	body := `srun sh -c 'echo "task $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"'; ` +
		`env | grep -E '^(AUCSCHED|SLURM_(NTASKS|NPROCS|NNODES|TASKS_PER_NODE))' | sort; echo end; sleep 30`
	for name, first := range map[string][]string{
		"tasks":          {"-n64"},
		"tasks per node": {"-N8", "--ntasks-per-node=8", "--gpus-per-node=4"},
	} {
		for _, a := range []struct {
			options       string
			tasks, nodes  int
			gpus, perNode string
		}{
			{"-N4 --ntasks-per-node=3 --gpus-per-node=2", 12, 4, "0,1", "3(x4)"},
			{"-n10 -N2 --gres=gpu:1", 10, 2, "0", "5(x2)"},
		} {
			t.Run(name+", "+a.options, func(t *testing.T) {
				if name == "tasks per node" {
					slow(t)
				}
				out := filepath.Join(c.path("work"), "alternative.out")
				os.Remove(out)
				id := submitWith(t, c, body, []string{a.options}, append(first, "--time=2", "-o", out)...)
				j := running(t, c, patience, id)[0]
				var text string
				require.NoError(t, c.poll(t.Context(), patience, "the script to end", func() (bool, error) {
					b, _ := os.ReadFile(out)
					text = string(b)
					return strings.Contains(text, "\nend\n"), nil
				}), "%s", text)
				require.Equal(t, a.tasks, strings.Count(text, "task "), text)
				for _, n := range j.Nodes {
					require.Contains(t, text, fmt.Sprintf("task %s %s\n", n.Node, a.gpus))
				}
				require.Len(t, j.Nodes, a.nodes)
				require.Contains(t, text, "AUCSCHED_ALTERNATIVE=1\n")
				for _, name := range []string{"SLURM_NTASKS", "SLURM_NPROCS"} {
					require.Contains(t, text, fmt.Sprintf("\n%s=%d\n", name, a.tasks))
				}
				require.Contains(t, text, fmt.Sprintf("\nSLURM_NNODES=%d\n", a.nodes))
				require.Contains(t, text, "\nSLURM_TASKS_PER_NODE="+a.perNode+"\n")
				cancelOne(t, c, id)
			})
		}
	}
}

func testAlternativeRange(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	w := watch(t, c)
	id := submitWith(t, c, "sleep 100", []string{"-N4 -n4 --gres=gpu:1-3"}, "-n64", "--gres=gpu:2-4", "--time=2")
	w.Expect(id, Ask{CPUs: 4, MinNodes: 4, MaxNodes: 4}.GPURange(1, 3))
	j := running(t, c, patience, id)[0]
	require.Len(t, j.Nodes[0].GPUs, 3, "of idle nodes it gets the most")
	require.Contains(t, j.Fields["AdminComment"], "auc:gpu=1-3")
	requeueHold(t, c, id)
	var err error
	require.NoError(t, c.poll(t.Context(), patience, "the first range to be back", func() (bool, error) {
		j, err = c.ShowJob(t.Context(), id)
		return strings.Contains(j.Fields["AdminComment"], "auc:gpu=2-4") && strings.HasSuffix(j.Fields["TresPerNode"], "gpu:2"), err
	}), "%v", j.Fields)
}

// requeueHold has a job go back to the queue and stay there.
func requeueHold(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	_, err := c.Scontrol(t.Context(), "requeuehold", fmt.Sprint(id))
	require.NoError(t, err)
	_, err = c.WaitFor(t.Context(), id, patience, "PENDING")
	require.NoError(t, err)
}

// releaseNow releases a job that was requeued: by itself Slurm has it wait for two minutes.
func releaseNow(t *testing.T, c *Cluster, id uint32) {
	t.Helper()
	release(t, c, id)
	_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "StartTime=now")
	require.NoError(t, err)
}

// requireFirst waits until a pending job asks for what it asked for before it ran.
func requireFirst(t *testing.T, c *Cluster, id uint32, first Job) {
	t.Helper()
	var j Job
	var err error
	require.NoError(t, c.poll(t.Context(), patience, "the first request to be back", func() (bool, error) {
		j, err = c.ShowJob(t.Context(), id)
		return j.Fields["AdminComment"] == first.Fields["AdminComment"], err
	}), "%s instead of %s", j.Fields["AdminComment"], first.Fields["AdminComment"])
	require.Equal(t, shape(first), shape(j))
}

// A requeued job has its first request again, and its alternatives.
func testRequeuedAlternative(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	id := submitWith(t, c, `echo "which ${AUCSCHED_ALTERNATIVE:-none} $SLURM_NTASKS"; sleep 100`,
		[]string{"-N20 -n20", "-N2 --ntasks-per-node=4 --gres=gpu:1"}, "-n64", "--time=2",
		"-H", "--requeue", "-o", c.path("work", "which.%j"), "-e", "/dev/null", "--open-mode=append")
	first, err := c.ShowJob(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, first.Fields["AdminComment"], "auc:alt=")
	var out []byte
	requireLines := func(n int) { // a job that runs may not have begun its script yet
		require.NoError(t, c.poll(t.Context(), patience, "its script to begin", func() (bool, error) {
			out, err = os.ReadFile(c.path("work", fmt.Sprint("which.", id)))
			return strings.Count(string(out), "\n") == n, nil
		}), "%s", out)
	}
	fill(t, c)
	release(t, c, id)
	j := running(t, c, patience, id)[0]
	require.Equal(t, 8, j.NumCPUs)
	requireLines(1)
	requeueHold(t, c, id)
	requireFirst(t, c, id, first)
	releaseNow(t, c, id)
	var again Job
	require.NoError(t, c.poll(t.Context(), patience, "the job to run again", func() (bool, error) {
		again, err = c.ShowJob(t.Context(), id)
		return again.State == "RUNNING" && again.Restarts == 1, err
	}))
	require.Equal(t, 8, again.NumCPUs, "its alternatives are there again")
	requireLines(2)
	requeueHold(t, c, id)
	requireFirst(t, c, id, first)
	require.NoError(t, c.Scancel(t.Context(), "--state=RUNNING", "--user=root"))
	releaseNow(t, c, id)
	require.NoError(t, c.poll(t.Context(), patience, "the job to run with its first request", func() (bool, error) {
		again, err = c.ShowJob(t.Context(), id)
		return again.State == "RUNNING" && again.Restarts == 2, err
	}))
	// any of them will do
	last := map[int]string{64: "none 64", 20: "1 20", 8: "2 8"}[again.NumCPUs]
	require.NotEmpty(t, last)
	requireLines(3)
	require.Equal(t, "which 2 8\nwhich 2 8\nwhich "+last+"\n", string(out))
}

// A requeued job whose first request can't be restored never runs with less than that.
func testWrongFirstRequest(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	id := submitWith(t, c, "sleep 100", []string{"-N2 -n2"}, "-n64", "--gres=gpu:1", "--time=2", "--requeue")
	j := running(t, c, patience, id)[0]
	note := j.Fields["AdminComment"]
	require.Contains(t, note, "gpu:1")
	_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "AdminComment="+strings.Replace(note, "gpu:1", "gone:1", 1))
	require.NoError(t, err)
	_, err = c.Scontrol(t.Context(), "requeue", fmt.Sprint(id))
	require.NoError(t, err)
	require.NoError(t, c.poll(t.Context(), patience, "the job to be held", func() (bool, error) {
		j, err = c.ShowJob(t.Context(), id)
		return j.State == "PENDING" && j.Reason == "JobHeldAdmin", err
	}), "%s (%s)", j.State, j.Reason)
	require.Len(t, logLines(t, c, fmt.Sprintf("JobId=%d is held: its first request, .*gone:1, is not valid", id)), 1)
}

// Each task of an array may get another one.
func testAlternativesOfAnArray(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	w := watch(t, c)
	id := submitWith(t, c, "sleep 100", []string{"-N1 --ntasks-per-node=8 --gres=gpu:3"}, "-n64", "--array=1-6", "--time=2")
	w.Expect(id, Ask{CPUs: 8, MinNodes: 1, MaxNodes: 1}.GPURange(3, 3))
	var jobs []Job
	require.NoError(t, c.poll(t.Context(), patience, "four tasks to run", func() (bool, error) {
		all, err := c.Jobs(t.Context())
		jobs = slices.DeleteFunc(all, func(j Job) bool { return j.ArrayID != id })
		n := 0
		for _, j := range jobs {
			if j.State == "RUNNING" {
				n++
			}
		}
		return n == 4, err
	}))
	for _, j := range jobs {
		if j.State == "PENDING" {
			require.Equal(t, 64, j.NumCPUs, "the tasks that wait ask for the first request")
			require.NotContains(t, j.Fields["AdminComment"], "auc:first")
		}
	}
	_, err := w.Look(t.Context())
	require.NoError(t, err)
}

// Who changes what a job asks for has one request from then on; other changes leave the rest alone.
func testUpdatedAlternative(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	fill(t, c)
	updates := []struct {
		update string
		keeps  bool
	}{
		{"TimeLimit=1", true}, {"JobName=x", true}, {"NumTasks=50", false}, {"NumNodes=6", false},
		{"Contiguous=yes", false}, {"Gres=gpu:1", false},
	}
	var ids []uint32
	for _, u := range updates {
		id := submitWith(t, c, "sleep 100", []string{"-N1 -n1"}, "-n64", "--time=2", "-H")
		_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), u.update)
		require.NoError(t, err)
		j := settled(t, c, id)
		require.Equal(t, u.keeps, strings.Contains(j.Fields["AdminComment"], "auc:alt="), "%s: %s", u.update, j.Fields["AdminComment"])
		ids = append(ids, id)
	}
	release(t, c, ids...)
	waitCycles(t, c, 3)
	for i, u := range updates {
		j, err := c.ShowJob(t.Context(), ids[i])
		require.NoError(t, err)
		require.Equal(t, u.keeps, j.State == "RUNNING", "%s: %s (%s)", u.update, j.State, j.Reason)
	}
}

// Alternatives of jobs with other wishes, and those that are left out.
func TestAlternativesOfOtherKinds(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, Config{
		Groups:     []Group{{Nodes: 4, Cores: 8, GPUs: 4, GPUType: "a100"}, {Nodes: 12, Cores: 8, GPUs: 2, GPUType: "v100"}},
		Partitions: []Partition{{Name: "p", Default: true}, {Name: "small", Options: "MaxNodes=3"}},
		Licenses:   "lic:1",
	})
	fillers := []uint32{
		submit(t, c, "sleep 200", "-N4", "--ntasks-per-node=8", "--gres=gpu:a100:4", "--time=5"),
		submit(t, c, "sleep 200", "-N8", "--ntasks-per-node=8", "--gres=gpu:v100:1", "--time=5"),
	}
	running(t, c, patience, fillers...)
	for _, r := range []struct {
		first, alternatives string // separated by blanks, and by bars
		ask                 Ask
		log                 string
	}{
		{"-N2 -n2 --gres=gpu:a100:2", "-N4 -n4 --gres=gpu:v100:2", Ask{CPUs: 4, MinNodes: 4, MaxNodes: 4}.GPURange(2, 2), ""},
		{"-N8 -n32 -c2", "-N2 --ntasks-per-node=2", Ask{CPUs: 8, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 4}.GPURange(0, 0), ""},
		{"-N8 --exclusive", "-N2", Ask{CPUs: 16, MinNodes: 2, MaxNodes: 2, CPUsPerNode: 8}, ""},
		{"-N8 --mem=100 --licenses=lic:1", "-N4 -n9 --contiguous", Ask{CPUs: 9, MinNodes: 4, MaxNodes: 4, Contiguous: true}, ""},
		{"-p small -N3 -n24 --gres=gpu:a100:1", "-N4 -n4|-N1 -n3 --gres=gpu:v100:1-2",
			Ask{CPUs: 3, MinNodes: 1, MaxNodes: 1}.GPURange(2, 2), "alternative 1 is left out: limits"},
	} {
		t.Run(r.first+" or "+r.alternatives, func(t *testing.T) {
			w := watch(t, c)
			alternatives := strings.Split(r.alternatives, "|")
			id := submitWith(t, c, "sleep 100", alternatives, append(strings.Fields(r.first), "--time=2")...)
			w.Expect(id, r.ask)
			running(t, c, patience, id)
			requireByAuction(t, c, id)
			_, err := w.Look(t.Context())
			require.NoError(t, err)
			log := c.Logs("slurmctld.log", 1<<20)
			require.Regexp(t, fmt.Sprintf(`started JobId=%d .*, alternative %d\n`, id, len(alternatives)), log)
			if r.log != "" {
				require.Equal(t, 1, strings.Count(log, fmt.Sprintf("JobId=%d: %s", id, r.log)))
			}
			cancelOne(t, c, id)
		})
	}
}

// A slurmctld that is killed while a job runs as an alternative, or after it has given it its
// nodes and before it has launched it, knows what the job asked for first.
func TestKilledWithAlternatives(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(2, 4, 1), ExtraLines: impatient})
	ctx := t.Context()
	alternative := []string{"-n2 -N1 --gres=gpu:1"}
	lives := submit(t, c, "sleep 40", "-n4", "-w", "n0002", "--time=1")
	running(t, c, patience, lives)
	id := submitWith(t, c, "sleep 20", alternative, "-n8", "-N2", "--time=1", "-H")
	first, err := c.ShowJob(ctx, id)
	require.NoError(t, err)
	release(t, c, id)
	before := running(t, c, patience, id)[0]
	require.Equal(t, 2, before.NumCPUs)
	waitSaved(t, c) // it may be seen to run before that
	kill(t, c)
	after := running(t, c, patience, id)[0]
	require.Equal(t, shape(before), shape(after))
	require.Equal(t, before.Fields["AdminComment"], after.Fields["AdminComment"])
	requeueHold(t, c, id)
	requireFirst(t, c, id, first)
	cancelOne(t, c, id)

	require.Eventually(t, func() bool { // a node that does not answer its end is not used any more
		node, err := c.ShowNode(ctx, "n0001")
		return err == nil && node["State"] == "IDLE"
	}, patience, 100*time.Millisecond)
	require.NoError(t, c.stopNode(ctx, "n0001")) // nobody is there to take the job
	id = submitWith(t, c, "sleep 1", alternative, "-n8", "-N2", "--time=1", "-H")
	first, err = c.ShowJob(ctx, id)
	require.NoError(t, err)
	release(t, c, id)
	require.Equal(t, 2, running(t, c, patience, id)[0].NumCPUs)
	waitSaved(t, c)
	kill(t, c)
	require.NoError(t, c.startNode("n0001"))
	j, err := c.WaitFor(ctx, id, 30*time.Second, "PENDING")
	require.NoError(t, err)
	require.Equal(t, 1, j.Restarts)
	requireFirst(t, c, id, first)
	// a node refuses a credential of the second in which it was told to end the job
	time.Sleep(2 * time.Second)
	_, err = c.Scontrol(ctx, "update", fmt.Sprint("JobId=", id), "StartTime=now")
	require.NoError(t, err)
	_, err = c.WaitFor(ctx, id, patience, "COMPLETED")
	require.NoError(t, err)
	require.NoError(t, c.WaitEmpty(ctx, 60*time.Second))
	requireOneStartEach(t, c, []uint32{id, lives})
}

// However often slurmctld is killed, and whenever: what starts as an alternative runs once.
func TestAlternativesKilledAtRandom(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, Config{Groups: Uniform(16, 8, 2), ExtraLines: impatient})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	holds := submit(t, c, "sleep 50", "-N1", "--ntasks-per-node=8", "--time=2")
	// so that no job can start with its first request for a while
	running(t, c, patience, holds)
	var ids []uint32
	for range 60 {
		alternatives := []string{fmt.Sprintf("-N%d --ntasks-per-node=%d --gres=gpu:1-2",
			1+rng.IntN(3), 1+rng.IntN(4)), fmt.Sprint("-n", 1+rng.IntN(20))}
		ids = append(ids, submitWith(t, c, fmt.Sprint("sleep ", rng.IntN(4)), alternatives, "-n128", "--time=2", "-H"))
	}
	waitSaved(t, c)
	release(t, c, ids...)
	waitSaved(t, c)
	for range 4 {
		wait := time.Duration(rng.IntN(1500)) * time.Millisecond
		t.Logf("killed %v after it answers", wait)
		time.Sleep(wait)
		kill(t, c)
	}
	waitEmptyHelping(t, c, 120*time.Second, false)
	requireOneStartEach(t, c, ids)
	require.Greater(t, strings.Count(c.Logs("slurmctld.log", 64<<20), ", alternative "), 50)
}

func testRefusedAlternatives(t *testing.T, c *Cluster) {
	for _, r := range []struct{ line, words string }{
		{"#AUCSCHED", "the directive is --alternative"},
		{"#AUCSCHED --other", "--other: the directive is --alternative"},
		{"#AUCSCHED --alternative", "needs --ntasks or --nodes"},
		{"#AUCSCHED --alternative --nodes=0", "0: nodes are"},
		{"#AUCSCHED --alternative -n4 --gres=gpu:3-1", "3-1: GPUs on each node"},
		{"#AUCSCHED --alternative -n4 --gres=gpu:nothere:1", "nothere: is neither"},
		{"#AUCSCHED --alternative -n4 --mem=7G", "--mem=7G: is no option of an alternative"},
	} {
		t.Run(r.line, func(t *testing.T) {
			_, err := c.Sbatch(t.Context(), []string{"-n1"}, directives(c.Script("true"), "#SBATCH --time=1", "", r.line))
			require.Error(t, err)
			require.Contains(t, Stderr(err), "#AUCSCHED in script line 4: ")
			require.Contains(t, Stderr(err), r.words)
		})
	}
	out, err := c.Squeue(t.Context(), "%i")
	require.NoError(t, err)
	require.Empty(t, strings.TrimSpace(out), "nothing was queued")
	// behind the first command
	id := submit(t, c, "#AUCSCHED --alternative --nonsense\ntrue", "-n1")
	_, err = c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
}
