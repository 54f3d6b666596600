// SPDX-License-Identifier: BSD-3-Clause

package matrix

import (
	"math"

	"github.com/aucsched/aucsched/benchmarks/reproduce"
	"github.com/aucsched/aucsched/benchmarks/stats"
	"github.com/aucsched/aucsched/internal/sim"
)

// metric is a figure of the page.
type metric struct {
	key, title string
	decimals   int
	more       bool // is better
	of         func(*sim.Result) float64
}

// metrics are the five by which schedulers are compared.
var metrics = []metric{
	{reproduce.CPUUtilization, "CPU %", 1, true, func(r *sim.Result) float64 { return 100 * r.CPUUtilization }},
	{reproduce.Wait, "wait h", 2, false, func(r *sim.Result) float64 { return r.WaitMean / 3600 }},
	{reproduce.Slowdown, "slowdown", 2, false, func(r *sim.Result) float64 { return r.SlowdownMean }},
	{reproduce.Fragmentation, "fragmentation", 2, false, func(r *sim.Result) float64 { return r.FragmentationMean }},
	{reproduce.Spread, "spread", 2, false, func(r *sim.Result) float64 { return r.SpreadMean }},
}

// Lookup finds the result of a command of aucsched (emulate, simulate) with arguments, for
// a seed, and the key of these settings; nil if there is none.
type Lookup func(command string, args []string, seed uint64) (key string, r *sim.Result)

// Report is what came out of experiments.
type Report struct {
	Seeds       []uint64
	Experiments []ExperimentReport
}

// ExperimentReport is an experiment with its figures.
type ExperimentReport struct {
	*Experiment
	Methods []MethodReport
}

// MethodReport is a method with its figures, an element for each of the metrics; there
// are none where seeds are missing.
type MethodReport struct {
	*Method
	Slurm, Simulated []stats.Figure
	// Against is the real Slurm's figure less the first method's, seed by seed.
	Against []stats.Difference
	// Deviation is by how much the simulator's means are off the real Slurm's, a share.
	Deviation []float64
}

// NewReport gathers the results. A method counts with the seeds that it has.
func NewReport(experiments []Experiment, seeds []uint64, find Lookup) *Report {
	r := &Report{Seeds: seeds}
	for i := range experiments {
		e := &experiments[i]
		out := ExperimentReport{Experiment: e}
		base := e.results(&e.Methods[0], seeds, find, "emulate")
		for k := range e.Methods {
			m := &e.Methods[k]
			out.Methods = append(out.Methods, newMethod(m, e.results(m, seeds, find, "emulate"),
				e.results(m, seeds, find, "simulate"), base, k == 0))
		}
		r.Experiments = append(r.Experiments, out)
	}
	return r
}

func (e *Experiment) results(m *Method, seeds []uint64, find Lookup, command string) map[uint64]*sim.Result {
	out := make(map[uint64]*sim.Result)
	for _, seed := range seeds {
		if _, r := find(command, e.ArgsOf(command, m), seed); r != nil {
			out[seed] = r
		}
	}
	return out
}

func newMethod(m *Method, slurm, simulated, base map[uint64]*sim.Result, first bool) MethodReport {
	r := MethodReport{Method: m}
	for i := range metrics {
		var real, model, mine, theirs []float64
		for seed, s := range sorted(slurm) {
			real = append(real, metrics[i].of(s))
			if t := simulated[seed]; t != nil {
				model = append(model, metrics[i].of(t))
			}
			if b := base[seed]; b != nil {
				mine, theirs = append(mine, metrics[i].of(s)), append(theirs, metrics[i].of(b))
			}
		}
		if len(real) == 0 {
			continue
		}
		r.Slurm = append(r.Slurm, stats.Over(real))
		if len(model) == len(real) {
			r.Simulated = append(r.Simulated, stats.Over(model))
			r.Deviation = append(r.Deviation, r.Simulated[i].Mean/r.Slurm[i].Mean-1)
		}
		if !first && len(mine) > 0 {
			r.Against = append(r.Against, stats.Paired(mine, theirs))
		}
	}
	return r
}

// Verdict is who is ahead on a metric.
type Verdict string

// The verdicts. A difference within noise is one that 95 of 100 such runs without any
// difference would show.
const (
	Better      Verdict = "better"
	Worse       Verdict = "worse"
	BetterNoise Verdict = "better, within noise"
	WorseNoise  Verdict = "worse, within noise"
	Even        Verdict = "even"
)

func (m *metric) verdict(d *stats.Difference) Verdict {
	noise := d.Seeds < 2 || math.Abs(d.Mean) <= d.Noise
	switch {
	case math.Abs(d.Mean) < 1e-9:
		return Even
	case (d.Mean > 0) == m.more && noise:
		return BetterNoise
	case (d.Mean > 0) == m.more:
		return Better
	case noise:
		return WorseNoise
	}
	return Worse
}
