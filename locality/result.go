package locality

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
}

const (
	boundedStretchLeast = 300
	longQueue           = 25000
	// programmeBandwidth is what the programme's stretch takes for the bandwidth of all nodes, GB/s.
	programmeBandwidth = 0.1
)

// sums collects a Result.
type sums struct {
	res              Result
	stretch, bounded float64
}

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

func (s *sums) result(o Options) *Result {
	res := s.res
	res.Policy, res.Mode = o.Policy.String(), o.Mode.String()
	n := float64(res.Jobs)
	res.StretchMean, res.BoundedStretchMean = s.stretch/n, s.bounded/n
	res.QueueMean, res.FlowMean = float64(res.QueueTotal)/n, float64(res.FlowTotal)/n
	return &res
}
