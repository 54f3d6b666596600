// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math"
)

// Result is the outcome of a simulation, over the evaluated jobs. Times are in seconds.
type Result struct {
	Policy string `json:"policy"`
	Mode   string `json:"mode"`
	Jobs   int    `json:"jobs"`
	// Stretch is the time from submission to end, divided by what it would be on an empty cluster:
	// duration and load of the file (section 3). BoundedStretch divides by at least 300 s.
	StretchMean        float64 `json:"stretch_mean"`
	StretchMax         float64 `json:"stretch_max"`
	BoundedStretchMean float64 `json:"bounded_stretch_mean"`
	BoundedStretchMax  float64 `json:"bounded_stretch_max"`
	// Queue is the time from submission to start, flow that from submission to end.
	QueueMean  float64 `json:"queue_mean_s"`
	QueueMax   int64   `json:"queue_max_s"`
	QueueTotal int64   `json:"queue_total_s"`
	FlowMean   float64 `json:"flow_mean_s"`
	FlowMax    int64   `json:"flow_max_s"`
	FlowTotal  int64   `json:"flow_total_s"`
	// Transfer is the time that jobs spent loading their files, LoadWait that which they waited for
	// loads of other jobs.
	Transfer int64 `json:"transfer_s"`
	LoadWait int64 `json:"load_wait_s"`
	// Reused counts the jobs that had nothing to load, or waited for the load of another job.
	Reused int `json:"reused"`
	// LongQueue counts the jobs that waited more than 25000 s to start.
	LongQueue int `json:"long_queue"`
	// CoreTime is the core-seconds that were used, load included.
	CoreTime int64 `json:"core_time_s"`
	// Makespan is when the last job ended, on the log's clock.
	Makespan int64 `json:"makespan_s"`

	// What follows means what it does for other policies.

	// Runtime is from the first submission to the last end.
	Runtime int64 `json:"runtime_s"`
	// TheoreticalRuntime is the sum of duration x cores, without loads, over all
	// cores of the cluster.
	TheoreticalRuntime float64 `json:"theoretical_runtime_s"`
	// CPUUtilization is TheoreticalRuntime over Runtime: the evaluated jobs' share alone.
	CPUUtilization float64 `json:"cpu_utilization"`
	// WaitMean is QueueMean, WaitStd its deviation.
	WaitMean float64 `json:"wait_mean_s"`
	WaitStd  float64 `json:"wait_std_s"`
	// Slowdown is flow over the time from start to end.
	SlowdownMean float64 `json:"slowdown_mean"`
	SlowdownStd  float64 `json:"slowdown_std"`
	// Cycles is how often the queue was planned.
	Cycles int64 `json:"cycles"`
}

const (
	boundedStretchLeast = 300
	longQueue           = 25000
	// programmeBandwidth is what the programme's stretch takes for the
	// bandwidth of all nodes, GB/s.
	programmeBandwidth = 0.1
)

// sums collects a Result.
type sums struct {
	res              Result
	stretch, bounded float64
	wait, slowdown   moments
	work             float64 // core-seconds, without loads
	first            int64   // first submission; -1: none yet
}

// moments adds up a mean and a standard deviation (Welford's recurrence), over
// the whole population.
type moments struct{ n, mean, m2 float64 }

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

func (m *moments) std() float64 { return math.Sqrt(m.m2 / m.n) }

// add takes a job that starts.
func (s *sums) add(r *run, j *job) {
	res := &s.res
	queue, flow := j.start-j.Submit, j.end-j.Submit
	res.Jobs++
	res.QueueTotal += queue
	res.QueueMax = max(res.QueueMax, queue)
	res.FlowTotal += flow
	res.FlowMax = max(res.FlowMax, flow)
	res.Transfer += j.transfer
	res.LoadWait += j.wait
	res.CoreTime += (j.end - j.start) * int64(j.Cores)
	res.Makespan = max(res.Makespan, j.end)
	s.wait.add(float64(queue))
	s.slowdown.add(float64(flow) / float64(j.end-j.start))
	s.work += float64(min(j.Duration, j.WallTime)) * float64(j.Cores)
	if s.first < 0 || j.Submit < s.first {
		s.first = j.Submit
	}
	if queue > longQueue {
		res.LongQueue++
	}
	if r.mode == Reference && (j.transfer == 0 || j.wait != 0) || r.mode == Paper && j.kept {
		res.Reused++
	}
	alone := float64(j.Duration) + float64(r.aloneLoad(j))
	stretch, bounded := float64(flow)/alone, float64(flow)/max(alone, boundedStretchLeast)
	s.stretch += stretch
	s.bounded += bounded
	res.StretchMax = max(res.StretchMax, stretch)
	res.BoundedStretchMax = max(res.BoundedStretchMax, bounded)
}

// aloneLoad is the time in which a job's file is loaded on an empty cluster.
func (r *run) aloneLoad(j *job) float64 {
	switch {
	case r.mode == Reference:
		return float64(float32(j.FileSize)) / programmeBandwidth
	case !j.hasFile:
		return 0
	}
	return float64(r.load(j, r.fastest))
}

// result is what has been collected, of a run on so many cores.
func (s *sums) result(p policy, mode Mode, cores int, passes int64) *Result {
	res := s.res
	res.Policy, res.Mode = p.String(), mode.String()
	res.Runtime = res.Makespan - s.first
	res.TheoreticalRuntime = s.work / float64(cores)
	res.CPUUtilization = res.TheoreticalRuntime / float64(res.Runtime)
	res.WaitMean, res.WaitStd = s.wait.mean, s.wait.std()
	res.SlowdownMean, res.SlowdownStd = s.slowdown.mean, s.slowdown.std()
	res.Cycles = passes
	n := float64(res.Jobs)
	res.StretchMean, res.BoundedStretchMean = s.stretch/n, s.bounded/n
	res.QueueMean, res.FlowMean = float64(res.QueueTotal)/n, float64(res.FlowTotal)/n
	return &res
}
