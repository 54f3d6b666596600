// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"math"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/nodeset"
)

// maxSpans is the number of points of a curve, more than a screen shows.
const maxSpans = 1200

// data is what the page's script draws from. Times are seconds since the first
// submission; jobs are numbered by their position in the workload.
type data struct {
	Machine []nodeGroup
	Horizon int64 // the last end of all runs
	Step    int64 // seconds between the points of curves
	Jobs    jobTable
	Runs    []runData
	Sizes   []string // classes of requested cores
	Blocks  []string // classes of fragmentation
	Spreads []string
	// Window is between when the jobs that count are submitted; absent if all do.
	Window []int64 `json:",omitempty"`
	// Share is, for each run, of each job the first run's flow over its own, in Jobs' order; 0: it
	// did not run, or does not count. Absent with one run.
	Share [][]float64 `json:",omitempty"`
}

// nodeGroup are neighbouring nodes that are alike.
type nodeGroup struct{ Nodes, Cores, GPUs int }

// jobTable has a column for each thing to know of a job, whatever the policy.
type jobTable struct {
	ID                   []string
	Submit, Limit, Cores []int64
}

// runData is one simulation, its jobs in the order of their starts.
type runData struct {
	Policy     string
	Job        []int
	Start, End []int64
	GPUs       []int // a node
	Class      string
	// Segs has three numbers a segment: nodes left out since the job's last one,
	// nodes, cores on each. Of job i there are Parts[i].
	Parts, Segs []int
	// The curves: cores and GPUs in use as a share of the machine's, jobs waiting.
	CPU, GPU, Queue []float64
	// Counted is of CPU what jobs of the window use, Asked the cores that jobs in the queue ask
	// for, Loading the cores whose jobs wait for a file, as shares of the machine's; absent without
	// a window, and without files.
	Counted, Asked, Loading []float64 `json:",omitempty"`
	Waits                   []box     // by Sizes, in seconds
	Blocks, Spreads         []float64 // share of the jobs
}

func (p *Page) data() *data {
	d := &data{Machine: groups(p.Nodes), Blocks: blockBins.Labels, Spreads: spreadBins.Labels}
	origin := p.origin()
	end := origin
	for i := range p.Runs {
		for k := range p.Runs[i].Log.ran {
			end = max(end, p.Runs[i].Log.ran[k].end)
		}
	}
	d.Horizon = end - origin
	classes := 0
	for i := range p.Workload.Jobs {
		j := &p.Workload.Jobs[i]
		classes = max(classes, sizeClass(size(j))+1)
		t := &d.Jobs
		t.ID, t.Submit = append(t.ID, j.ID), append(t.Submit, j.Submit-origin)
		t.Limit, t.Cores = append(t.Limit, j.TimeLimit), append(t.Cores, int64(size(j)))
	}
	for c := range classes {
		d.Sizes = append(d.Sizes, sizeLabel(c))
	}
	d.Step = newCurve(origin, end, maxSpans).step
	for i := range p.Runs {
		d.Runs = append(d.Runs, p.run(&p.Runs[i], origin, end, classes))
	}
	if p.To > 0 {
		d.Window = []int64{p.From - origin, p.To - origin}
	}
	d.Share = p.shares()
	return d
}

// origin is the first submission.
func (p *Page) origin() int64 {
	first := int64(math.MaxInt64)
	for i := range p.Workload.Jobs {
		first = min(first, p.Workload.Jobs[i].Submit)
	}
	return first
}

func (p *Page) run(r *Run, origin, end int64, classes int) runData {
	return p.runOver(r, origin, end, classes, maxSpans)
}

// runOver is a run whose curves have at most so many spans.
func (p *Page) runOver(r *Run, origin, end int64, classes, spans int) runData {
	order, position := r.Log.numbered(p.Workload.Jobs)
	d := runData{Policy: r.Result.Policy, Blocks: make([]float64, len(blockBins.Labels)), Spreads: make([]float64, len(spreadBins.Labels))}
	cpu, gpu, queue := newCurve(origin, end, spans), newCurve(origin, end, spans), newCurve(origin, end, spans)
	fileUse := p.newFileUse(origin, end)
	waits := make([][]int64, classes)
	class := make([]byte, 0, len(order))
	for _, j := range order {
		segs := r.Log.segments(j)
		d.Job = append(d.Job, position[j.job])
		d.Start, d.End = append(d.Start, j.start-origin), append(d.End, j.end-origin)
		d.GPUs = append(d.GPUs, int(segs[0].GPUs))
		d.Parts, d.Segs = append(d.Parts, len(segs)), appendSegs(d.Segs, segs)
		class = append(class, classLetter(j.class))
		cpu.add(j.start, j.end, int64(nodeset.Cores(segs)))
		gpu.add(j.start, j.end, int64(nodeset.GPUs(segs)))
		queue.add(j.submit, j.start, 1)
		fileUse.add(p, j, int64(nodeset.Cores(segs)))
		c := sizeClass(size(j.job))
		waits[c] = append(waits[c], j.start-j.submit)
		d.Blocks[blockBins.of(float64(nodeset.Blocks(segs)))] += 1 / float64(len(order))
		d.Spreads[spreadBins.of(spread(segs))] += 1 / float64(len(order))
	}
	d.Class = string(class)
	cores, gpus := total(p.Nodes)
	d.CPU, d.Queue = means(cpu, cores), means(queue, 1)
	if gpus > 0 {
		d.GPU = means(gpu, gpus)
	}
	fileUse.fill(&d, cores)
	for _, w := range waits {
		d.Waits = append(d.Waits, boxOf(w))
	}
	return d
}

func classLetter(c bids.Class) byte {
	if c == 0 {
		return '-'
	}
	return byte(c)
}

func appendSegs(out []int, segs []nodeset.Segment) []int {
	next := 0
	for _, s := range segs {
		out = append(out, int(s.First)-next, s.Len(), int(s.Cores))
		next = int(s.Last) + 1
	}
	return out
}

// means are a curve's means over its spans, by so many units, to six digits after
// the point.
func means(c *curve, units int64) []float64 {
	areas := c.areas()
	out := make([]float64, len(areas))
	for i, a := range areas {
		out[i] = math.Round(1e6*float64(a)/float64(c.step*units)) / 1e6
	}
	return out
}

func groups(nodes []nodeset.Capacity) []nodeGroup {
	var out []nodeGroup
	for i, n := range nodes {
		if i == 0 || nodes[i-1] != n {
			out = append(out, nodeGroup{0, int(n.Cores), int(n.GPUs)})
		}
		out[len(out)-1].Nodes++
	}
	return out
}

func total(nodes []nodeset.Capacity) (cores, gpus int64) {
	for _, n := range nodes {
		cores += int64(n.Cores)
		gpus += int64(n.GPUs)
	}
	return cores, gpus
}
