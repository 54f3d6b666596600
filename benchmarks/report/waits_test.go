// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"encoding/csv"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// row is a job of jobs.csv that ran.
type row struct{ submit, start, end, wait, cores, gpus, nominal float64 }

// readJobs reads jobs.csv back: the jobs that ran, and of all that could have the first and last
// submission.
func readJobs(t require.TestingT, text string) (rows map[string]row, first, last float64) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		return x
	}
	rows, first, last = map[string]row{}, math.Inf(1), math.Inf(-1)
	for _, l := range lines[1:] {
		if l[7] == "REJECTED" && !strings.HasSuffix(l[16], "(the machine is idle)") {
			continue
		}
		submit := number(l[3])
		first, last = min(first, submit), max(last, submit)
		if l[7] == "REJECTED" {
			continue
		}
		r := row{submit: submit, start: number(l[8]), end: number(l[10]), wait: number(l[11]),
			nominal: max(1, min(number(l[5]), number(strings.TrimPrefix(l[2], "delay"))))}
		_, err := fmt.Sscanf(l[16], "cores=%g gpus=%g", &r.cores, &r.gpus)
		require.NoError(t, err)
		rows[l[0]] = r
	}
	return rows, first, last
}

// dumbWaits are the figures of sim.Waits, as they are defined, and nothing else.
func dumbWaits(jobs []row, users map[string][]float64, cores, gpus float64) (w sim.Waits) {
	if len(jobs) == 0 {
		return w
	}
	width := func(r row) float64 {
		if gpus > 0 && r.gpus/gpus > r.cores/cores {
			return r.gpus / gpus
		}
		return r.cores / cores
	}
	var waits []float64
	var area float64
	for _, r := range jobs {
		waits = append(waits, r.wait)
		area += width(r) * (r.end - r.start)
		w.AreaWeighted += width(r) * (r.end - r.start) * r.wait
		w.BoundedSlowdown += max(1, (r.end-r.submit)/max(10, r.end-r.start)) / float64(len(jobs))
	}
	w.AreaWeighted /= area
	sort.Float64s(waits)
	n := len(waits)
	if w.Median = waits[n/2]; n%2 == 0 {
		w.Median = (w.Median + waits[n/2-1]) / 2
	}
	for w.P95 = waits[n-1]; ; {
		shorter := sort.SearchFloat64s(waits, w.P95) // jobs that wait for less
		if shorter*100 < 95*n {
			break
		}
		w.P95 = waits[shorter-1]
	}
	w.Max = waits[n-1]
	// Each job that is as wide as the border has the same chance to be one of the tenth.
	tenth := max(1, n/10)
	for _, r := range jobs {
		wider, equal := 0, 0
		for _, other := range jobs {
			if width(other) > width(r) {
				wider++
			} else if width(other) == width(r) {
				equal++
			}
		}
		chance := float64(tenth-wider) / float64(equal)
		w.Widest10 += max(0, min(1, chance)) * r.wait / float64(tenth)
	}
	for _, of := range users {
		sum := 0.0
		for _, x := range of {
			sum += x
		}
		w.UserWorst = max(w.UserWorst, sum/float64(len(of)))
	}
	return w
}

// What a result says of waits and of the time until the last submission, jobs.csv says too.
func TestWaitsAgreeWithJobsCSV(t *testing.T) {
	compared, users, tails := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, jobs := drawWorkload(t)
		if rapid.IntRange(0, 3).Draw(t, "no GPUs") == 0 {
			for n := range nodes {
				nodes[n].GPUs = 0
			}
		}
		grain := rapid.SampledFrom([]int64{1, 1, 500}).Draw(t, "grain") // of times: with ties
		names := rapid.SampledFrom([][]string{{""}, {"a"}, {"", "a", "b", "c"}}).Draw(t, "users")
		for i := range jobs {
			jobs[i].Submit -= jobs[i].Submit % grain
			jobs[i].Duration -= jobs[i].Duration % grain
			jobs[i].User = rapid.SampledFrom(names).Draw(t, "user")
		}
		p, _ := simulate(t, nodes, jobs)
		var out strings.Builder
		require.NoError(t, WriteJobsCSV(&out, p.Workload, &p.Runs[0]))
		rows, first, last := readJobs(t, out.String())
		got, worst := p.Runs[0].Result, map[string][]float64{}
		all := gather(jobs, rows, worst)
		cores, gpus := machine(nodes)
		requireNear(t, dumbWaits(all, worst, cores, gpus), got.Waits)
		var work, devices float64
		for _, r := range all {
			inside := max(0, min(r.end, last)-r.start)
			work += r.cores * r.nominal * inside / (r.end - r.start)
			devices += r.gpus * inside
			if inside < r.end-r.start {
				tails++
			}
		}
		if last > first {
			require.InDelta(t, work/cores/(last-first), got.CPUUtilizationLoaded, 1e-9)
			require.InDelta(t, devices/max(1, gpus)/(last-first), got.GPUUtilizationLoaded, 1e-9)
			compared++
		} else {
			require.Zero(t, got.CPUUtilizationLoaded+got.GPUUtilizationLoaded)
		}
		users += len(worst)
	})
	require.Positive(t, compared*users*tails)
}

// gather has the rows in the order of jobs, and the waits of each user.
func gather(jobs []workload.Job, rows map[string]row, users map[string][]float64) (all []row) {
	for i := range jobs {
		r, ok := rows[jobs[i].ID]
		if !ok {
			continue
		}
		all = append(all, r)
		if u := jobs[i].User; u != "" {
			users[u] = append(users[u], r.wait)
		}
	}
	return all
}

func machine(nodes []nodeset.Capacity) (cores, gpus float64) {
	for _, n := range nodes {
		cores, gpus = cores+float64(n.Cores), gpus+float64(n.GPUs)
	}
	return cores, gpus
}

func requireNear(t require.TestingT, want, got sim.Waits) {
	for _, x := range []struct {
		name      string
		want, got float64
	}{
		{"median", want.Median, got.Median}, {"p95", want.P95, got.P95}, {"max", want.Max, got.Max},
		{"area-weighted", want.AreaWeighted, got.AreaWeighted}, {"widest tenth", want.Widest10, got.Widest10},
		{"bounded slowdown", want.BoundedSlowdown, got.BoundedSlowdown}, {"worst user", want.UserWorst, got.UserWorst},
	} {
		require.InDelta(t, x.want, x.got, 1e-9*max(1, x.want), x.name)
	}
}
