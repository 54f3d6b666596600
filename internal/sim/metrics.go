// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Result is what one simulation measured, over the jobs that ran. Its JSON form is
// that of `aucsched simulate`. Deviations divide by the number of jobs.
type Result struct {
	Policy string `json:"policy"`
	// Jobs is the number of jobs that ran.
	Jobs int `json:"jobs"`
	// Runtime is from the first submission to the last end.
	Runtime int64 `json:"runtime_s"`
	// TheoreticalRuntime is the sum of duration x requested cores over all cores of the machine. A
	// range of GPUs counts with the fewest, alternatives with the request that was met.
	TheoreticalRuntime float64 `json:"theoretical_runtime_s"`
	// CPUUtilization is TheoreticalRuntime over Runtime.
	CPUUtilization float64 `json:"cpu_utilization"`
	// GPUUtilization is the allocated GPU time over Runtime x all GPUs, a share of a
	// GPU counting as that part of one; 0 without GPUs.
	GPUUtilization float64 `json:"gpu_utilization"`
	// The same two until the last submission, a job's work spread evenly over its run: what
	// comes after it is the tail of a finite workload. 0 if all jobs come at once.
	CPUUtilizationLoaded float64 `json:"cpu_utilization_loaded"`
	GPUUtilizationLoaded float64 `json:"gpu_utilization_loaded"`
	// Wait is from submission to start.
	WaitMean float64 `json:"wait_mean_s"`
	WaitStd  float64 `json:"wait_std_s"`
	Waits
	// Slowdown is (wait + execution) over execution time.
	SlowdownMean float64 `json:"slowdown_mean"`
	SlowdownStd  float64 `json:"slowdown_std"`
	// Fragmentation is the number of contiguous blocks of nodes.
	FragmentationMean float64 `json:"fragmentation_mean"`
	FragmentationStd  float64 `json:"fragmentation_std"`
	// Spread is (last node - first node + 1) over the number of nodes.
	SpreadMean float64 `json:"spread_mean"`
	SpreadStd  float64 `json:"spread_std"`
	// PackingFactor is the number of nodes over the fewest that would have
	// done on the empty machine.
	PackingFactorMean float64 `json:"packing_factor_mean"`
	PackingFactorStd  float64 `json:"packing_factor_std"`
	// GPUQueue is what the GPUs do while jobs wait for some; nil without GPUs.
	GPUQueue *GPUQueue `json:"gpu_queue,omitempty"`
	// StrandedGPUHours is GPUQueue.Stranded in hours of whole GPUs; nil without GPUs.
	StrandedGPUHours *float64 `json:"stranded_gpu_h,omitempty"`
	// Leaves are the leaf switches that jobs were below; nil without a topology.
	Leaves *LeafUse `json:"leaves,omitempty"`
	// Files is what input files cost; nil where they were not looked at.
	Files *FileUse `json:"files,omitempty"`
	// Crews is what malleable jobs did; nil where all are rigid. Their slowdowns are relative to
	// the run time of the rigid job, and Fragmentation, Spread and PackingFactor say where their
	// own nodes are, without those of companions.
	Crews *CrewUse `json:"malleable,omitempty"`
	// Cycles is how often the policy was called. The times are the wall clock's
	// and the only figures that differ from run to run.
	Cycles     int64   `json:"cycles"`
	CycleMsP50 float64 `json:"cycle_ms_p50"`
	CycleMsP99 float64 `json:"cycle_ms_p99"`
	CycleMsMax float64 `json:"cycle_ms_max"`
	// PendingMax is the greatest length of the queue.
	PendingMax int `json:"pending_max"`
	// Unrun are the jobs that did not run: those that never can, in the order
	// of the workload, then those that the policy left pending on the idle machine.
	Unrun []Unrun `json:"unrun,omitempty"`
}

// Unrun is a job that did not run, and why.
type Unrun struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Meter adds up a Result.
type Meter struct {
	idle                           *nodeset.Table // only its totals are read
	cores, gpus                    int64
	loaded                         loaded
	last                           int64 // end
	work                           tally // core seconds, nominal
	gpuTime                        tally // GPU seconds, allocated, in units of 1/gpuParts
	gpuParts                       gpuParts
	wait, slow, frag, spread, pack moments
	waits                          waits
	fewest                         map[shapeKey]int
	stranded                       strandedMeter
	leaves                         *leafMeter // nil without a topology
}

// NewMeter is of jobs that are submitted from second first to last. It copies the idle machine.
func NewMeter(nodes *nodeset.Table, first, last int64) (Meter, error) {
	m := Meter{idle: new(nodeset.Table), loaded: loaded{first: first, last: last}, fewest: map[shapeKey]int{}}
	m.idle.CopyFrom(nodes)
	if m.cores, m.gpus = nodes.SumFree(); m.cores == 0 {
		return m, errors.New("the machine has no cores")
	}
	m.gpuParts = gpuPartsOf(nodes)
	m.stranded.parts = m.gpuParts
	m.waits.cores, m.waits.gpus = m.cores, m.gpus*m.gpuParts.whole
	return m, m.gpuParts.check(nodes)
}

// shapeKey tells requests apart that differ for stock Slurm, save in their eligible nodes.
type shapeKey struct {
	cores, minNodes, maxNodes, tasks, gpus int
	contiguous                             bool
	more                                   *nodeset.Use // equal Uses may have several
}

func keyOf(r *bids.Request) shapeKey {
	k := shapeKey{r.Cores, r.MinNodes, r.MaxNodes, r.TasksPerNode, r.MinGPUs, r.Contiguous, nil}
	if len(r.Uses) > 0 {
		k.more = &r.Uses[0]
	}
	return k
}

// maxFewest bounds the memory of what FewestNodes said.
const maxFewest = 1 << 16

// FewestNodes is 0 for a job that can never run.
func (m *Meter) FewestNodes(r *bids.Request) int {
	k := keyOf(r)
	if n, ok := m.fewest[k]; ok && r.Eligible == nil {
		return n
	}
	n, err := place.FewestNodes(m.idle, r)
	if err != nil {
		n = 0
	}
	if len(m.fewest) >= maxFewest {
		clear(m.fewest)
	}
	if r.Eligible == nil {
		m.fewest[k] = n
	}
	return n
}

// anyAlternative reports whether one of a job's alternatives can ever be met.
func (m *Meter) anyAlternative(j *core.Job) bool {
	for k := range j.Alternatives {
		if r, ok := j.Way(k + 1); ok && m.FewestNodes(&r) > 0 {
			return true
		}
	}
	return false
}

// extent is how large a job is, as it counts: the cores that it asks for, and two lengths in
// seconds. Slowdowns are relative to the first, and for the second its cores are work. They are of
// its run; of a malleable job, of one as it came.
type extent struct {
	cores      int
	runs, work int64
}

// Add counts a rigid job that ran as r asks for it. Its cores count as work that would run for so many
// seconds, unless the job says for how many.
func (m *Meter) Add(ran *Record, r *bids.Request, work int64) {
	cores := r.Cores
	if cores == 0 { // so many a node
		cores = nodeset.Cores(ran.Segs)
	}
	m.add(ran, r, extent{cores, ran.End - ran.Start, cmp.Or(ran.Job.Work, work)})
}

// add counts a job that ran as r asks for it.
func (m *Meter) add(ran *Record, r *bids.Request, x extent) {
	segs, nodes := ran.Segs, nodeset.Nodes(ran.Segs)
	wait, lasted := ran.Start-ran.Submit, ran.End-ran.Start
	m.last = max(m.last, ran.End)
	gpus := int(m.gpuParts.of(r.Uses, segs))
	m.work.add(x.work, x.cores)
	m.gpuTime.add(lasted, gpus)
	m.loaded.add(ran, float64(x.work)*float64(x.cores), gpus)
	m.waits.add(ran, x, gpus)
	m.wait.add(float64(wait))
	m.slow.add(float64(wait+lasted) / float64(x.runs))
	m.frag.add(float64(nodeset.Blocks(segs)))
	m.spread.add(float64(segs[len(segs)-1].Last-segs[0].First+1) / float64(nodes))
	m.pack.add(float64(nodes) / float64(m.FewestNodes(r)))
	if m.leaves != nil {
		m.leaves.add(segs)
	}
}

// Fill sorts the durations of the cycles.
func (m *Meter) Fill(r *Result, cycles []time.Duration) {
	r.Jobs = m.wait.n
	r.Runtime = max(0, m.last-m.loaded.first)
	gpus := m.gpus * m.gpuParts.whole
	r.TheoreticalRuntime = m.work.float() / float64(m.cores)
	if r.Runtime > 0 {
		r.CPUUtilization = r.TheoreticalRuntime / float64(r.Runtime)
		if m.gpus > 0 {
			r.GPUUtilization = m.gpuTime.float() / (float64(r.Runtime) * float64(gpus))
		}
	}
	r.CPUUtilizationLoaded = m.loaded.of(m.loaded.work, m.cores)
	r.GPUUtilizationLoaded = m.loaded.of(m.loaded.gpus, gpus)
	r.WaitMean, r.WaitStd, r.Waits = m.wait.mean, m.wait.std(), m.waits.result()
	r.SlowdownMean, r.SlowdownStd = m.slow.mean, m.slow.std()
	r.FragmentationMean, r.FragmentationStd = m.frag.mean, m.frag.std()
	r.SpreadMean, r.SpreadStd = m.spread.mean, m.spread.std()
	r.PackingFactorMean, r.PackingFactorStd = m.pack.mean, m.pack.std()
	if m.leaves != nil {
		r.Leaves = m.leaves.result()
	}
	if m.gpus > 0 {
		r.GPUQueue = m.stranded.result(gpus)
		hours := r.GPUQueue.Stranded * float64(r.GPUQueue.Seconds) / 3600 * float64(m.gpus)
		r.StrandedGPUHours = &hours
	}
	slices.Sort(cycles)
	r.Cycles = int64(len(cycles))
	r.CycleMsP50 = milliseconds(quantile(cycles, 0.5))
	r.CycleMsP99 = milliseconds(quantile(cycles, 0.99))
	r.CycleMsMax = milliseconds(quantile(cycles, 1))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Record is the life of one job, in seconds of the workload's time.
type Record struct {
	Job                *workload.Job
	Submit, Start, End int64
	Class              bids.Class
	// Segs is the allocation. It is valid only during the call.
	Segs []nodeset.Segment
	// GPUs is how many GPUs it has, a share counting as that part of one; [Run] says it.
	GPUs float64
	// Alternative is which of the job's requests was met: see core.Decision.
	Alternative int
	// Loading is for how many seconds after its start the job waited for its input file.
	Loading int64
}

// FileUse is what a simulation with files measured.
type FileUse struct {
	// Jobs is how many jobs named a file, and Held how many of these began at once, on
	// nodes that all had it.
	Jobs int `json:"jobs"`
	Held int `json:"jobs_on_holders"`
	// Loads is how often a node loaded a file, and Seconds the sum of the time which
	// that took the nodes.
	Loads   int64 `json:"loads"`
	Seconds int64 `json:"transfer_s"`
	// Waiting is the sum of the time which jobs spent with their nodes until the
	// last one had the file.
	Waiting int64 `json:"waiting_for_load_s"`
	// Stretch is, of all jobs, the time from submission to end over that of the job with the fewest
	// GPUs and nodes that all have to load (locality, section 3).
	StretchMean float64 `json:"stretch_mean"`
	StretchStd  float64 `json:"stretch_std"`
}

// CrewUse is what malleable jobs did, and who waited for how long. A job's own nodes, and those of
// its companions, are counted from start to end.
type CrewUse struct {
	// Jobs is the number of malleable jobs that ran.
	Jobs int `json:"jobs"`
	// Companions is how many companions started, Preempted how many were preempted, and Changes how
	// often jobs went on with other nodes.
	Companions int `json:"companions"`
	Preempted  int `json:"preempted"`
	Changes    int `json:"changes"`
	// Held is the node seconds that malleable jobs held, and Lost those of them in which nothing
	// was done, as nodes changed.
	Held int64 `json:"held_node_s"`
	Lost int64 `json:"lost_node_s"`
	// Malleable and Rigid are the jobs of both kinds.
	Malleable JobTimes `json:"malleable"`
	Rigid     JobTimes `json:"rigid"`
}

// JobTimes are means over some jobs, in seconds: from submission to start, and to the end.
type JobTimes struct {
	Wait       float64 `json:"wait_mean_s"`
	Turnaround float64 `json:"turnaround_mean_s"`
}

// Waits is who waits for how long, of the jobs that ran. All fields are 0 where none did.
//
// The mean alone does not tell a better schedule from one in which large jobs wait for small ones.
// So there are the longest waits, and two figures of wide jobs. The width of a job is its share of
// the machine's cores or of its GPUs, whichever is more.
type Waits struct {
	// Median is of an even number of jobs the mean of the two in the middle. P95 is the shortest
	// wait that 95% of the jobs do not exceed.
	Median float64 `json:"wait_median_s"`
	P95    float64 `json:"wait_p95_s"`
	Max    float64 `json:"wait_max_s"`
	// AreaWeighted is the mean with width x run time as weight.
	AreaWeighted float64 `json:"wait_area_weighted_s"`
	// Widest10 is the mean of the widest tenth of the jobs, rounded down to at least one. Of
	// jobs equally wide, of which only some belong to the tenth, each counts in part.
	Widest10 float64 `json:"wait_widest10_s"`
	// BoundedSlowdown is the mean of max(1, (wait + run time) / max(run time, 10 s)). Feitelson et
	// al. define it in "Theory and Practice in Parallel Job Scheduling" (JSSPP'97), section 3.
	BoundedSlowdown float64 `json:"bounded_slowdown_mean"`
	// UserWorst is the greatest of the users' mean waits; 0 if no job names its user.
	UserWorst float64 `json:"user_wait_worst_s"`
}

// slowdownBound is the run time in seconds below which bounded slowdowns do not grow.
const slowdownBound = 10

// waited is what a job waited, and its share of the machine.
type waited struct {
	wait  int64
	width float64
}

// waits adds up Waits. Its memory is one entry a job, and one a user.
type waits struct {
	jobs      []waited
	area, sum float64 // sum of the weights, and of weight x wait
	bounded   moments
	users     map[string]*moments
	cores     int64 // of the machine
	gpus      int64 // in parts of one
}

// add counts a job that has so many parts of GPUs.
func (w *waits) add(ran *Record, x extent, gpus int) {
	wait := ran.Start - ran.Submit
	width := float64(x.cores) / float64(w.cores)
	if w.gpus > 0 {
		width = max(width, float64(gpus)/float64(w.gpus))
	}
	w.jobs = append(w.jobs, waited{wait, width})
	w.area += width * float64(x.runs)
	w.sum += float64(wait) * (width * float64(x.runs))
	w.bounded.add(max(1, float64(ran.End-ran.Submit)/float64(max(x.runs, slowdownBound))))
	if ran.Job.User == "" {
		return
	}
	u := w.users[ran.Job.User]
	if u == nil {
		if u = new(moments); w.users == nil {
			w.users = make(map[string]*moments)
		}
		w.users[ran.Job.User] = u
	}
	u.add(float64(wait))
}

// result sorts the jobs.
func (w *waits) result() Waits {
	n := len(w.jobs)
	if n == 0 {
		return Waits{}
	}
	out := Waits{Widest10: w.widest(max(1, n/10)), BoundedSlowdown: w.bounded.mean}
	if w.area > 0 {
		out.AreaWeighted = w.sum / w.area
	}
	for _, u := range w.users { // a maximum, so that the order does not matter
		out.UserWorst = max(out.UserWorst, u.mean)
	}
	slices.SortFunc(w.jobs, func(a, b waited) int { return cmp.Compare(a.wait, b.wait) })
	at := func(i int) float64 { return float64(w.jobs[i].wait) }
	out.Median = (at((n-1)/2) + at(n/2)) / 2
	out.P95 = at(int(math.Ceil(0.95*float64(n))) - 1)
	out.Max = at(n - 1)
	return out
}

// widest is the mean wait of the k widest jobs, at least one and at most all.
func (w *waits) widest(k int) float64 {
	slices.SortFunc(w.jobs, func(a, b waited) int { return cmp.Compare(b.width, a.width) })
	border := w.jobs[k-1].width
	var wider, equal moments
	for _, j := range w.jobs {
		switch {
		case j.width > border:
			wider.add(float64(j.wait))
		case j.width == border:
			equal.add(float64(j.wait))
		}
	}
	return (float64(wider.n)*wider.mean + float64(k-wider.n)*equal.mean) / float64(k)
}

// loaded adds up what of the machine is used until the last submission: behind that a finite
// workload has a tail, which is not the policy's.
type loaded struct {
	first, last int64 // submissions
	work, gpus  float64
}

// add counts a job with so much nominal work, in core seconds, and so many parts of GPUs.
func (l *loaded) add(ran *Record, work float64, gpus int) {
	if inside := float64(min(ran.End, l.last) - ran.Start); inside > 0 {
		l.work += work * (inside / float64(ran.End-ran.Start))
		l.gpus += float64(gpus) * inside
	}
}

// of is the share of so many units that was used; 0 if all jobs came at once.
func (l *loaded) of(used float64, units int64) float64 {
	if l.last <= l.first || units == 0 {
		return 0
	}
	return used / (float64(l.last-l.first) * float64(units))
}
