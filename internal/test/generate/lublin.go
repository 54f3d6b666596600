// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// The parameters that Lublin and Feitelson fitted to the jobs of production machines, batch and
// interactive ones alike. Gamma distributions have a shape and a scale.
const (
	lublinSerial = 0.244 // share of the jobs of one core
	lublinPow2   = 0.576 // share of the jobs of some other power of two
	// The logarithm to base 2 of parallel jobs' sizes is uniform in lublinLow..middle, or in
	// middle..that of the machine, which is lublinBend more than the middle.
	lublinLow   = 0.8
	lublinBend  = 2.5
	lublinFirst = 0.86 // share of the lower part

	// The natural logarithm of run times has one of two gamma distributions: the short one with
	// the probability lublinShort + lublinPerCore x cores.
	lublinShort, lublinPerCore = 0.78, -0.0054
	lublinShortA, lublinShortB = 4.2, 0.94
	lublinLongA, lublinLongB   = 312, 0.03
	lublinMostRuntime          = 12 // logarithm of seconds; longer ones are drawn anew
	lublinGapA, lublinGapB     = 10.2303 * 1.0225, 0.4871
	lublinMostGap              = 13 // the same of gaps
	// The day has so many slots, and its cycle begins in the one of that number.
	lublinSlots, lublinDayBegins = 48, 11
	lublinDayA, lublinDayB       = 8.1737, 3.9631
)

// slotSeconds is the length of a slot of the day.
const slotSeconds = 24 * 3600 / lublinSlots

// DefaultLublinJobs is the number of jobs of [Lublin].
const DefaultLublinJobs = 4000

// LublinOptions are the parameters of [Lublin]. A zero field has the default said with it.
type LublinOptions struct {
	// Nodes is the machine, of at least 16 cores; it has no default.
	Nodes []nodeset.Capacity
	// Load is the work of all jobs over what the machine can do from the first submission to
	// the last, above 0 and at most 2; it has no default.
	Load float64
	// Jobs is their number (DefaultLublinJobs), at least 2.
	Jobs int
	// Seed chooses the jobs. Those that differ in Load have the same jobs but for the submissions.
	Seed uint64
	// LimitFactor is the time limit as a multiple of the run time, at least 1
	// (DefaultLimitFactor), rounded up to whole minutes: the model has no limits.
	LimitFactor float64
}

// lublinPrefix and a load in percent name a workload.
const lublinPrefix = "lublin-"

// lublinAt makes the workload of a load in percent.
func lublinAt(load string, nodes []nodeset.Capacity, seed uint64) (*workload.Workload, error) {
	percent, err := strconv.Atoi(load)
	if err != nil || percent < 1 || percent > 200 {
		return nil, fmt.Errorf("workload %s%s%s: the load must be a whole number of percent in 1..200",
			GeneratorPrefix, lublinPrefix, load)
	}
	return Lublin(LublinOptions{Nodes: nodes, Load: float64(percent) / 100, Seed: seed})
}

// Lublin generates rigid jobs by the model of Lublin and Feitelson, "The workload on parallel
// supercomputers: modeling the characteristics of rigid jobs" (JPDC 63(11), 2003): its sizes, run
// times that depend on them, and a daily cycle of arrivals, with the parameters for all jobs taken
// together. A processor of the model is a core; jobs ask for nothing else.
//
// The first job comes at midnight. The gaps of the model are stretched so that the load comes out,
// and the day stays 24 h long. The share of short jobs falls with the number of cores, not with
// their share of the machine, as in the model: beyond 144 cores there are long ones only.
func Lublin(o LublinOptions) (*workload.Workload, error) {
	cores, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("lublin workload: %w", err)
	}
	name := fmt.Sprintf("%slublin-%g", GeneratorPrefix, math.Round(1e4*o.Load)/100)
	w := &workload.Workload{Name: name, Jobs: make([]workload.Job, o.Jobs)}
	// Streams of their own keep the jobs the same when there are more of them.
	jobs, gaps := rand.New(rand.NewPCG(o.Seed, 1)), rand.New(rand.NewPCG(o.Seed, 2))
	work := 0.0
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.ID = strconv.Itoa(i + 1)
		j.Cores = lublinSize(jobs, cores)
		j.Duration = max(int64(math.Exp(lublinRuntime(jobs, j.Cores))), 1)
		j.TimeLimit = timeLimit(j.Duration, o.LimitFactor)
		work += float64(j.Cores) * float64(j.Duration)
	}
	arrive(w.Jobs, gaps, work/(float64(cores)*o.Load))
	workload.AssignBasicPriorities(w.Jobs)
	return w, nil
}

// settle fills in the defaults, checks the options and counts the machine's cores.
func (o *LublinOptions) settle() (cores int, err error) {
	setDefault(&o.Jobs, DefaultLublinJobs)
	setDefault(&o.LimitFactor, DefaultLimitFactor)
	switch cores, err = allCores(o.Nodes); {
	case err != nil:
		return 0, err
	case cores < 16:
		return 0, fmt.Errorf("cores of the machine: %d: must be at least 16", cores)
	case !(o.Load > 0 && o.Load <= 2):
		return 0, fmt.Errorf("load: %v: must be above 0 and at most 2", o.Load)
	case o.Jobs < 2 || o.Jobs > workload.MaxJobs:
		return 0, fmt.Errorf("jobs: %d: must be in 2..%d", o.Jobs, workload.MaxJobs)
	}
	return cores, checkLimitFactor(o.LimitFactor)
}

// lublinSize draws a number of cores, at most those of the machine.
func lublinSize(r *rand.Rand, machine int) int {
	kind := r.Float64()
	if kind < lublinSerial {
		return 1
	}
	high := math.Log2(float64(machine))
	low, mid := lublinLow, high-lublinBend
	if r.Float64() >= lublinFirst {
		low, mid = mid, high
	}
	log := low + float64(r.Float64()*(mid-low))
	if kind < lublinSerial+lublinPow2 {
		log = math.Round(log)
	}
	return min(int(math.Round(math.Exp2(log))), machine)
}

// lublinRuntime draws the logarithm of a run time in seconds.
func lublinRuntime(r *rand.Rand, cores int) float64 {
	a, b := lublinShortA, lublinShortB
	if r.Float64() >= lublinShort+float64(lublinPerCore*float64(cores)) {
		a, b = lublinLongA, lublinLongB
	}
	return gammaBelow(r, a, b, lublinMostRuntime)
}

// lublinGap draws the logarithm of a gap between arrivals in seconds, for a day that is all alike.
func lublinGap(r *rand.Rand) float64 { return gammaBelow(r, lublinGapA, lublinGapB, lublinMostGap) }

// arrive has the jobs come, the first at once and the last after so many seconds.
func arrive(jobs []workload.Job, r *rand.Rand, seconds float64) {
	points := make([]float64, len(jobs)) // seconds as they would be if all of a day was alike
	for i := 1; i < len(points); i++ {
		points[i] = points[i-1] + math.Exp(lublinGap(r))
	}
	c := newCycle()
	scale := c.points(seconds) / points[len(points)-1]
	for i := range jobs {
		jobs[i].Submit = int64(c.seconds(points[i] * scale))
	}
}

// cycle is the course of a day: in each of its slots jobs come so many times as fast as on average.
type cycle [lublinSlots]float64

// newCycle has in each slot the share of a gamma distribution over slots, taken from a day that
// begins in the morning.
func newCycle() *cycle {
	var c cycle
	sum := 0.0
	for i := lublinDayBegins; i < lublinDayBegins+lublinSlots; i++ {
		at := float64(i)
		share := gammaCDF(at+0.5, lublinDayA, lublinDayB) - gammaCDF(at-0.5, lublinDayA, lublinDayB)
		c[(i-1)%lublinSlots] = share
		sum += share
	}
	for i := range c {
		c[i] *= lublinSlots / sum
	}
	return &c
}

// points are how many seconds at the mean rate make as many arrivals as the seconds from midnight.
func (c *cycle) points(seconds float64) float64 {
	days := math.Floor(seconds / (24 * 3600))
	out, left := days*(24*3600), seconds-days*(24*3600)
	for i := 0; left > 0; i++ {
		out += min(left, slotSeconds) * c[i]
		left -= slotSeconds
	}
	return out
}

// seconds is the inverse of points.
func (c *cycle) seconds(points float64) float64 {
	days := math.Floor(points / (24 * 3600))
	out, left := days*(24*3600), points-days*(24*3600)
	for i := 0; i < lublinSlots; i++ {
		if of := slotSeconds * c[i]; left > of {
			left, out = left-of, out+slotSeconds
			continue
		}
		return out + left/c[i]
	}
	return out
}
