// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/localitylog"
	"github.com/aucsched/aucsched/benchmarks/resample"
	"github.com/aucsched/aucsched/benchmarks/traces"
)

// localityDay is a workload.
type localityDay struct {
	name  string
	nodes []locality.Node
	jobs  func() ([]locality.Job, error)
}

// dayLoads are the loads for which each seed makes a day: from a cluster with nodes to spare to
// one that is overrun.
var dayLoads = []float64{0.7, 0.82, 0.94, 1.06}

// The evaluated time of a day begins at a whole multiple of three hours after the log does, from 6
// h to 45 h on, and lasts 18 h: the log has three days.
const (
	firstWindow  = 6 * 3600
	windowStep   = 3 * 3600
	windowStarts = 14
	windowLength = 18 * 3600
	copySpread   = 2 * 3600
)

// authorsLog is the log that days are made of.
type authorsLog struct {
	nodes  []locality.Node
	jobs   []locality.Job
	shrink int
}

// readLog reads the log, and one in shrink of its nodes.
func readLog(dir string, shrink int) (*authorsLog, error) {
	log := &authorsLog{shrink: shrink}
	err := withFile(filepath.Join(dir, "cluster_486x20.txt"), func(f *os.File) (err error) {
		log.nodes, err = localitylog.ReadCluster(f, f.Name())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("-data: %w", err)
	}
	err = withFile(filepath.Join(dir, "workload_2022-09-10.txt"), func(f *os.File) (err error) {
		log.jobs, err = localitylog.ReadWorkload(f, f.Name())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("-data: %w", err)
	}
	if len(log.nodes) < shrink {
		return nil, fmt.Errorf("-shrink: %d: the log has %d nodes", shrink, len(log.nodes))
	}
	log.nodes = log.nodes[:len(log.nodes)/shrink]
	return log, nil
}

func withFile(path string, read func(f *os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

// days are those of the seeds, one of each load.
func (l *authorsLog) days(seeds seedRange) []localityDay {
	var out []localityDay
	for seed := seeds.First; seed <= seeds.Last; seed++ {
		from := rand.New(rand.NewPCG(seed, 0)).Int64N(windowStarts)*windowStep + firstWindow
		for _, load := range dayLoads {
			o := resample.Options{Load: load, Scale: 1 / float64(l.shrink), From: from,
				Window: windowLength, Spread: copySpread, Seed: seed}
			out = append(out, localityDay{
				name:  fmt.Sprintf("log 1:%d, seed %d, load %v, from %d h", l.shrink, seed, load, from/3600),
				nodes: l.nodes,
				jobs:  func() ([]locality.Job, error) { return resample.Day(l.nodes, l.jobs, o) },
			})
		}
	}
	return out
}

// The trace of a cluster of other users: metacentrum-wagap-2013, 17,900 jobs of 89 days, on nodes
// of 40 cores. Its own cluster, of 2176 cores, is never full; on the sizes of otherNodes some days
// are under-used and some saturated.
const (
	otherTrace      = "metacentrum-wagap-2013.swf"
	otherCores      = 40
	otherMemory     = 128 // GB
	otherBandwidth  = 0.1 // GB/s
	daySeconds      = 86400
	otherFirst      = 5 // days: the cluster has filled by then
	otherEvery      = 4 // days
	warmUpDays      = 3
	leastJobsOfADay = 50
)

var otherNodes = []int{36, 24}

// traceDays are, for each size of the cluster, up to so many days of a trace of other users, which
// gets files as in the report's section 5.1: each is simulated from three days before on. Days with
// few jobs are left out.
func traceDays(dir string, most int) ([]localityDay, error) {
	w, err := traces.ReadFile(filepath.Join(dir, otherTrace), traces.Options{})
	if err != nil {
		return nil, fmt.Errorf("-traces: %w", err)
	}
	jobs, err := localitylog.FromTrace(w, localitylog.TraceOptions{CoresPerNode: otherCores, MemoryPerNode: otherMemory})
	if err != nil {
		return nil, fmt.Errorf("-traces: %w", err)
	}
	var out []localityDay
	for _, size := range otherNodes {
		nodes := make([]locality.Node, size)
		for i := range nodes {
			nodes[i] = locality.Node{ID: i, Memory: otherMemory, Bandwidth: otherBandwidth, Cores: otherCores}
		}
		days := 0
		for day := int64(otherFirst); days < most && jobs[0].Submit+day*daySeconds < jobs[len(jobs)-1].Submit; day += otherEvery {
			some, count := cutDay(jobs, jobs[0].Submit+day*daySeconds)
			if count < leastJobsOfADay {
				continue
			}
			days++
			out = append(out, localityDay{fmt.Sprintf("metacentrum, %d nodes, day %d", size, day),
				nodes, func() ([]locality.Job, error) { return some, nil }})
		}
	}
	return out, nil
}

// cutDay are the jobs from three days before second from to a day after the day that begins then
// and is evaluated, and how many are evaluated.
func cutDay(jobs []locality.Job, from int64) (out []locality.Job, evaluated int) {
	for _, j := range jobs {
		switch after := j.Submit - from; {
		case after < -warmUpDays*daySeconds || after >= 2*daySeconds:
			continue
		case after < 0:
			j.Class = locality.WarmUp
		case after < daySeconds:
			j.Class = locality.Evaluated
			evaluated++
		default:
			j.Class = locality.Pressure
		}
		out = append(out, j)
	}
	return out, evaluated
}

// queueMeter adds up what waiting jobs ask for while the evaluated jobs are submitted.
type queueMeter struct {
	jobs     []locality.Job
	from, to int64
	cores    int
	asked    int64 // core-seconds
}

func newQueueMeter(nodes []locality.Node, jobs []locality.Job) *queueMeter {
	q := &queueMeter{jobs: jobs, from: -1}
	for i := range jobs {
		if jobs[i].Class != locality.Evaluated {
			continue
		}
		if q.from < 0 {
			q.from = jobs[i].Submit
		}
		q.to = max(q.to, jobs[i].Submit)
	}
	for i := range nodes {
		q.cores += nodes[i].Cores
	}
	return q
}

// start takes a job that starts; those that do not start until the last evaluated
// one has came after it.
func (q *queueMeter) start(s locality.Start) {
	j := &q.jobs[s.Job]
	if from, to := max(j.Submit, q.from), min(s.At, q.to); from < to {
		q.asked += (to - from) * int64(j.Cores)
	}
}

// mean is how many cores waiting jobs ask for, of all cores.
func (q *queueMeter) mean() float64 {
	return float64(q.asked) / float64(max(1, q.to-q.from)) / float64(q.cores)
}
