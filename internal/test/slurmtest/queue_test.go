// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What users do with waiting jobs has the effect that it always had.
func TestQueue(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := cluster(t, m, optionsMachine())
		for _, s := range []struct {
			name string
			test func(t *testing.T, c *Cluster)
		}{
			{"array", testArray}, {"array limit", testArrayLimit}, {"held", testHeld}, {"begin", testBegin},
			{"cancel", testCancelPending}, {"dependencies", testDependencies}, {"aftercorr", testAfterCorr},
		} {
			t.Run(s.name, func(t *testing.T) {
				if s.name == "begin" && m.name == "stock" {
					t.Skip("stock Slurm notices up to a minute late (sched_interval)")
				}
				defer cancelAll(t, c)
				s.test(t, c)
			})
		}
	})
}

// tasks are the jobs of an array, once all of them have a record of their own.
func tasks(t *testing.T, c *Cluster, array uint32, n int) []uint32 {
	t.Helper()
	jobs, err := c.Jobs(t.Context())
	require.NoError(t, err)
	var ids []uint32
	numbers := map[string]bool{}
	for _, j := range jobs {
		if j.ArrayID == array {
			ids = append(ids, j.ID)
			numbers[j.ArrayTask] = true
		}
	}
	require.Len(t, ids, n)
	require.Len(t, numbers, n)
	return ids
}

func testArray(t *testing.T, c *Cluster) {
	w := watch(t, c)
	id := submit(t, c, "sleep 1", "-n2", "--time=1", "--array=0-99")
	w.Expect(id, Ask{CPUs: 2})
	require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
	require.NoError(t, c.RanOnce(tasks(t, c, id, 100)))
	r := w.Stop()
	require.Greater(t, r.MostRunning, 20, "128 cores, 2 a task: they run side by side")
}

func testArrayLimit(t *testing.T, c *Cluster) {
	w := watch(t, c)
	id := submit(t, c, "sleep 1", "-n1", "--time=1", "--array=0-19%5")
	require.NoError(t, c.poll(t.Context(), 60*time.Second, "the array to end", func() (bool, error) {
		jobs, err := w.Look(t.Context())
		n, left := 0, 0
		for _, j := range jobs {
			if j.ArrayID != id {
				continue
			}
			if j.State == "RUNNING" {
				n++
			}
			if !j.Ended() {
				left++
			}
		}
		if n > 5 {
			return false, fmt.Errorf("%d tasks run, at most 5 may", n)
		}
		return left == 0, err
	}))
	require.NoError(t, c.WaitEmpty(t.Context(), patience))
	require.NoError(t, c.RanOnce(tasks(t, c, id, 20)))
}

func testHeld(t *testing.T, c *Cluster) {
	id := submit(t, c, "sleep 1", "-n1", "-H", "--time=1")
	other := submit(t, c, "sleep 1", "-n1", "--time=1")
	_, err := c.WaitFor(t.Context(), other, patience, "COMPLETED")
	require.NoError(t, err)
	j, err := c.ShowJob(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)
	_, err = c.Scontrol(t.Context(), "release", fmt.Sprint(id))
	require.NoError(t, err)
	_, err = c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
}

// when is a time that Slurm prints.
func when(t *testing.T, j Job, key string) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02T15:04:05", j.Fields[key], time.Local)
	require.NoError(t, err, "job %d %s", j.ID, key)
	return at
}

func testBegin(t *testing.T, c *Cluster) {
	id := submit(t, c, "sleep 1", "-n1", "--begin=now+4", "--time=1")
	j, err := c.WaitFor(t.Context(), id, patience, "COMPLETED")
	require.NoError(t, err)
	begin := when(t, j, "EligibleTime") // sbatch's clock has set it, maybe in the second before SubmitTime
	require.GreaterOrEqual(t, begin.Sub(when(t, j, "SubmitTime")), 3*time.Second)
	require.False(t, when(t, j, "StartTime").Before(begin))
}

// Jobs that are cancelled while they wait never run, and take nobody with them.
func testCancelPending(t *testing.T, c *Cluster) {
	w := watch(t, c)
	rng := rand.New(rand.NewPCG(1, 2))
	blocker := submit(t, c, "sleep 600", "-n128", "--time=10")
	running(t, c, patience, blocker)
	var ids, cancelled, kept []uint32
	together(t, c, func() {
		for i := range 40 {
			ids = append(ids, submit(t, c, "sleep 1", "-n", fmt.Sprint(1+i%9), "--time=1"))
		}
	})
	for _, i := range rng.Perm(len(ids)) { // over several cycles, while they begin to start
		if len(cancelled) < 20 {
			if err := c.Scancel(t.Context(), "--state=PENDING", fmt.Sprint(ids[i])); err != nil {
				require.Contains(t, Stderr(err), "Invalid job id", "it has ended: this machine is slow")
			}
			cancelled = append(cancelled, ids[i])
			if len(cancelled) == 5 {
				require.NoError(t, c.Scancel(t.Context(), fmt.Sprint(blocker)))
			}
			time.Sleep(100 * time.Millisecond)
		} else {
			kept = append(kept, ids[i])
		}
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 60*time.Second))
	require.NoError(t, c.RanOnce(kept))
	starts, err := c.Starts()
	require.NoError(t, err)
	never := 0
	for _, id := range cancelled {
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		ran := false
		for _, s := range starts {
			ran = ran || s.ID == id
		}
		require.Equal(t, j.State == "COMPLETED", ran, "job %d is %s", id, j.State)
		if j.State == "CANCELLED" {
			never++
		}
	}
	require.GreaterOrEqual(t, never, 5, "while nothing could start")
	require.NotNil(t, w)
}

func testDependencies(t *testing.T, c *Cluster) {
	submitAfter := func(kind string, on uint32, body string, args ...string) uint32 {
		return submit(t, c, body, append(args, "-n1", "--time=1", fmt.Sprintf("--dependency=%s:%d", kind, on))...)
	}
	first := submit(t, c, "sleep 2", "-n1", "--time=1")
	second := submitAfter("afterok", first, "sleep 1")
	third := submitAfter("afterok", second, "false")
	fourth := submitAfter("afterany", third, "true")
	fifth := submitAfter("afternotok", third, "true")
	never := submitAfter("afterok", third, "true")
	twins := []uint32{
		submit(t, c, "sleep 2", "-n1", "--time=1", "-J", "twin", "--dependency=singleton"),
		submit(t, c, "sleep 2", "-n1", "--time=1", "-J", "twin", "--dependency=singleton"),
	}
	ended := map[uint32]Job{}
	for id, state := range map[uint32]string{first: "COMPLETED", second: "COMPLETED", third: "FAILED", fourth: "COMPLETED",
		fifth: "COMPLETED", twins[0]: "COMPLETED", twins[1]: "COMPLETED"} {
		j, err := c.WaitFor(t.Context(), id, 40*time.Second, state)
		require.NoError(t, err)
		ended[id] = j
	}
	for _, pair := range [][2]uint32{{first, second}, {second, third}, {third, fourth}, {third, fifth}, {twins[0], twins[1]}} {
		end, start := when(t, ended[pair[0]], "EndTime"), when(t, ended[pair[1]], "StartTime")
		require.False(t, start.Before(end), "job %d starts %v, before job %d ends %v", pair[1], start, pair[0], end)
	}
	j, err := c.ShowJob(t.Context(), never)
	require.NoError(t, err)
	require.Equal(t, "PENDING DependencyNeverSatisfied", j.State+" "+j.Reason)
}

func testAfterCorr(t *testing.T, c *Cluster) {
	first := submit(t, c, "sleep $SLURM_ARRAY_TASK_ID", "-n1", "--time=1", "--array=1,4")
	second := submit(t, c, "true", "-n1", "--time=1", "--array=1,4", fmt.Sprintf("--dependency=aftercorr:%d", first))
	require.NoError(t, c.WaitEmpty(t.Context(), 40*time.Second))
	jobs, err := c.Jobs(t.Context())
	require.NoError(t, err)
	byTask := map[string]Job{}
	for _, j := range jobs {
		byTask[fmt.Sprintf("%d_%s", j.ArrayID, strings.TrimSpace(j.ArrayTask))] = j
	}
	for _, task := range []string{"1", "4"} {
		a, b := byTask[fmt.Sprintf("%d_%s", first, task)], byTask[fmt.Sprintf("%d_%s", second, task)]
		require.Equal(t, "COMPLETED", b.State)
		require.False(t, when(t, b, "StartTime").Before(when(t, a, "EndTime")), "task %s", task)
	}
}
