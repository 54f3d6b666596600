// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
)

// Figures are those of some jobs under one policy. Waits are in seconds from when a job could
// begin; slowdown is bounded by 10 s. CPUs and GPUs are shares of the machine's in use, by all
// jobs.
type Figures struct {
	Mean     float64 `json:"wait_mean_s"`
	Median   float64 `json:"wait_median_s"`
	P95      float64 `json:"wait_p95_s"`
	Longest  float64 `json:"wait_max_s"`
	Slowdown float64 `json:"bounded_slowdown_mean"`
	CPUs     float64 `json:"cpu_utilization,omitempty"`
	GPUs     float64 `json:"gpu_utilization,omitempty"`
}

// Ratio is a mean wait divided by that under the simulated Slurm, and the interval that has 95 of
// 100 draws of days. Without waits to divide by all are 0; Low and High are where fewer than
// fewestBlocks days have waits.
type Ratio struct {
	Of   float64 `json:"of"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Group is some jobs: what they have in common, how many, and what became of them by policy, in the
// order of Report.Policies. Ratios are to the simulated Slurm.
type Group struct {
	Name    string    `json:"name"`
	Jobs    int       `json:"jobs"`
	Figures []Figures `json:"figures"`
	Ratios  []Ratio   `json:"ratios"`
}

// Report is what a trial says. The first policy is what Slurm did, the second the simulated Slurm.
type Report struct {
	From       int64    `json:"from"` // seconds since 1970
	To         int64    `json:"to"`
	Nodes      int      `json:"nodes"`
	Policies   []string `json:"policies"`
	All        Group    `json:"all"`
	Partitions []Group  `json:"partitions"`
	Widths     []Group  `json:"widths"`
	Users      []Group  `json:"users"`
	// Agreement is how far the simulated Slurm is from what Slurm did.
	Agreement Agreement `json:"agreement"`
	// Block is how long the parts of the span are that are drawn for intervals, in seconds, and
	// Blocks how many there are.
	Block  int64 `json:"block_s"`
	Blocks int   `json:"blocks"`
	// Before is how many jobs ran or waited when the span began: they are
	// simulated and not counted.
	Before int `json:"before"`
	// Missing are columns that the accounts lack. Verdict is "agrees", "short" (waits are too short
	// to compare), "apart", "void" (without a column), "part" (more than half of the jobs do not
	// count) or "none" (no job counts). Only with the first two the rest says something of the
	// site.
	Missing []Missing `json:"missing,omitempty"`
	Judged  Judgement `json:"verdict"`
	// Out is the share of the jobs of the span in per cent that does not count: of Left all but those
	// that were cancelled.
	Out float64 `json:"left_out_percent"`
	// Assumed says what of the machine was inferred, without a slurm.conf.
	Assumed []string `json:"assumed,omitempty"`
	// Effects are what each policy but the first two would have changed for users.
	Effects []Effect `json:"effects"`
	// Settings are the lines of slurm.conf that have Slurm do as each policy did but the first two.
	Settings []string `json:"settings"`
	// Left are jobs that are not counted, Adjusted those that are not quite as in the accounts.
	Left     []workload.Tally `json:"left,omitempty"`
	Adjusted []workload.Tally `json:"adjusted,omitempty"`
	// MoreUsers is how many users are not in Users, which has those with the most CPU time.
	MoreUsers int `json:"more_users"`
}

// Effect is what a policy would have changed for users, against the simulated Slurm. It is hours of
// waiting saved in all, with their 95% interval, 0 to 0 if there is none. It also is how many users
// would have waited shorter and longer, by a tenth and a minute a job.
type Effect struct {
	Policy  string  `json:"policy"`
	Hours   float64 `json:"hours"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Shorter int     `json:"users_shorter"`
	Longer  int     `json:"users_longer"`
	Users   int     `json:"users"`
}

// Agreement compares the simulated Slurm with the real one: its figures divided by the real ones;
// 0 where there is nothing to divide by.
type Agreement struct {
	Wait     float64 `json:"wait_mean"`
	Slowdown float64 `json:"bounded_slowdown_mean"`
	CPUs     float64 `json:"cpu_utilization"`
	// Within is how many per cent of the jobs begin within a minute, or a tenth of their real wait,
	// of when they did. Apart is how many seconds apart they begin on average.
	Within float64 `json:"within_percent"`
	Apart  float64 `json:"apart_mean_s"`
}

// Judgement is whether the simulated Slurm does as the real one did.
type Judgement string

// Judgements.
const (
	Agrees Judgement = "agrees"
	Short  Judgement = "short"
	Apart  Judgement = "apart"
	Void   Judgement = "void"
	Part   Judgement = "part"
	None   Judgement = "none"
)

// shortWait is below which difference of mean waits, in seconds, they say nothing if their ratio
// is not near 1: the intervals of schedulers decide.
const shortWait = 60

// judge finds whether the simulated Slurm is near enough to what happened for a comparison to say
// anything: use, slowdown and mean wait within a fifth. Where jobs hardly wait there is nothing to
// compare.
func (r *Report) judge() Judgement {
	near := func(ratio float64) bool { return math.Abs(math.Log(ratio)) <= math.Log(1.2) }
	a := &r.Agreement
	was, is := r.All.Figures[0].Mean, r.All.Figures[1].Mean
	switch {
	case r.All.Jobs == 0:
		return None
	case slices.ContainsFunc(r.Missing, func(m Missing) bool { return m.Void }):
		return Void
	case r.Out > 50:
		return Part
	case !near(a.CPUs):
		return Apart
	case near(a.Slowdown) && (near(a.Wait) || was == is):
		return Agrees
	case math.Abs(was-is) <= shortWait && max(was, is) <= 2*shortWait:
		return Short
	}
	return Apart
}

// Says reports whether the figures say something of the site.
func (r *Report) Says() bool { return r.Judged == Agrees || r.Judged == Short }

// Verdict is the agreement in words.
func (r *Report) Verdict() string {
	was, is := &r.All.Figures[0], &r.All.Figures[1]
	figures := fmt.Sprintf("mean wait %s (yours %s), slowdown %.2f (%.2f), CPUs in use %.1f%% (%.1f%%)",
		cli.Seconds(is.Mean), cli.Seconds(was.Mean), is.Slowdown, was.Slowdown, 100*is.CPUs, 100*was.CPUs)
	if r.Out >= 1 {
		figures += fmt.Sprintf("; without %.0f%% of the jobs, which are left out (%s)", r.Out, r.mostLeft())
	}
	switch r.Judged {
	case None:
		return "No job can be compared: " + r.mostLeft() + "."
	case Part:
		return fmt.Sprintf("%.0f%% of the jobs are left out (%s), so there are no tables: the others alone say nothing of your site.",
			r.Out, r.mostLeft())
	case Void:
		return "The accounts lack columns without which no comparison says anything of your site: see below. " +
			"aucsched try --how prints the command that writes them all."
	case Short:
		return fmt.Sprintf("Your jobs hardly wait, so the simulated Slurm cannot be compared with yours: %s. Below a minute, "+
			"scheduling intervals decide. Where jobs do not wait there is little to gain.", figures)
	case Agrees:
		return fmt.Sprintf("The simulated Slurm does as yours did: %s. On average a job began %s before or after its real start, "+
			"%.0f%% of them within a minute or a tenth of their wait.", figures, cli.Seconds(r.Agreement.Apart), r.Agreement.Within)
	}
	return fmt.Sprintf("The simulated Slurm does not do as yours did: %s. A comparison would say nothing of your site, so there are no "+
		"tables. Limits, reservations, down nodes or preemption decided, which the simulation does not know.", figures)
}

// mostLeft is why most jobs are left out.
func (r *Report) mostLeft() string {
	if len(r.Left) == 0 {
		return "all ran or waited already when the time began"
	}
	most := slices.MaxFunc(r.Left, func(a, b workload.Tally) int { return a.Jobs - b.Jobs })
	return cli.Count(most.Jobs, "job") + ": " + most.Reason
}

// Bounds of a report.
const (
	mostUsers = 20
	draws     = 1000
	day       = 24 * 3600
	minBlocks = 7 // below that blocks are shorter than a day
	// fewestBlocks is how many days with waits an interval takes.
	fewestBlocks = 5
)

// reporter makes a report.
type reporter struct {
	*Past
	replays []*Replay
	counted []int // indices of jobs
	block   int64
	blocks  int
	rng     *rand.Rand
}

// NewReport compares replays, of which the first is What and the second Slurm's. Jobs that one of
// them never starts are left out of all. The seed is that of the intervals.
func (p *Past) NewReport(replays []*Replay, seed uint64) *Report {
	r := reporter{Past: p, replays: replays, block: day, rng: rand.New(rand.NewPCG(seed, 0x747279))}
	if p.Span.Seconds() < minBlocks*day {
		r.block = max((p.Span.Seconds()+minBlocks-1)/minBlocks, 1)
	}
	r.blocks = int((p.Span.Seconds() + r.block - 1) / r.block)
	out := &Report{From: p.Span.From, To: p.Span.To, Nodes: len(p.Machine.Nodes), Block: r.block, Blocks: r.blocks,
		Left: slices.Clone(p.Skipped), Adjusted: p.Adjusted, Missing: p.Missing, Assumed: p.Assumed,
		Effects: []Effect{}, Settings: []string{}}
	for _, x := range replays {
		out.Policies = append(out.Policies, x.Policy)
	}
	for i := range p.Jobs {
		switch {
		case p.Jobs[i].Leaves > 0:
			out.Left = workload.Count(out.Left, leftItself)
		case !p.counts(&p.Jobs[i]):
			out.Before++
		case slices.ContainsFunc(replays, func(x *Replay) bool { return x.Began[i] < 0 }):
			out.Left = workload.Count(out.Left, leftNever)
		default:
			r.counted = append(r.counted, i)
		}
	}
	out.All = r.group("all", r.counted)
	r.use(&out.All)
	out.Partitions = r.groups(partitionOf)
	out.Widths = r.groups(widthOf)
	slices.SortFunc(out.Widths, func(a, b Group) int { return slices.Index(widths, a.Name) - slices.Index(widths, b.Name) })
	out.Users, out.MoreUsers = r.users()
	for _, x := range out.Left {
		if x.Reason != leftItself {
			out.Out += float64(x.Jobs)
		}
	}
	out.Out *= 100 / max(out.Out+float64(len(r.counted)), 1)
	out.Agreement = r.agreement(&out.All)
	out.Judged = out.judge()
	for k := 2; k < len(replays); k++ {
		out.Settings = append(out.Settings, replays[k].settings(p.Parameters))
		out.Effects = append(out.Effects, r.effect(&out.All, k))
	}
	return out
}

// leftNever is why jobs do not count that a policy never starts: the machine of slurm.conf is too
// small, mostly.
const leftNever = "a simulated policy finds no nodes for it, ever: the nodes of slurm.conf are too few or too small for what it had"

// leftItself is why jobs do not count that were cancelled.
const leftItself = "cancelled before it began: it waits until then, and is not counted"

// widths are the groups by what a job asks for, in order.
var widths = []string{"1 CPU", "2 to 16 CPUs", "17 to 128 CPUs", "more CPUs", "1 GPU", "2 to 8 GPUs", "more GPUs"}

func widthOf(j *workload.Job) string {
	gpus := j.MinGPUs * max(j.MinNodes, 1)
	switch cores := place.LeastCores(&j.Request); {
	case gpus > 8:
		return widths[6]
	case gpus > 1:
		return widths[5]
	case gpus == 1:
		return widths[4]
	case cores > 128:
		return widths[3]
	case cores > 16:
		return widths[2]
	case cores > 1:
		return widths[1]
	}
	return widths[0]
}

// by are the counted jobs by a key.
func (r *reporter) by(key func(*workload.Job) string) map[string][]int {
	by := map[string][]int{}
	for _, i := range r.counted {
		k := key(&r.Jobs[i])
		by[k] = append(by[k], i)
	}
	return by
}

// groups are the counted jobs by a key, the largest group first.
func (r *reporter) groups(key func(*workload.Job) string) (all []Group) {
	by := r.by(key)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(len(by[b])-len(by[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		all = append(all, r.group(name, by[name]))
	}
	return all
}

// users are those with the most CPU time, and how many others there are.
func (r *reporter) users() (all []Group, more int) {
	by, time := r.by(func(j *workload.Job) string { return j.User }), map[string]int64{}
	for _, i := range r.counted {
		time[r.Jobs[i].User] += place.LeastCores(&r.Jobs[i].Request) * r.Jobs[i].Duration
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(time[b], time[a]), cmp.Compare(a, b))
	})
	more = max(len(names)-mostUsers, 0)
	for _, name := range names[:len(names)-more] {
		all = append(all, r.group(cmp.Or(name, "(not said)"), by[name]))
	}
	return all, more
}

// effect is what policy k would have changed.
func (r *reporter) effect(all *Group, k int) Effect {
	hours := all.Figures[1].Mean * float64(all.Jobs) / 3600
	x := all.Ratios[k]
	e := Effect{Policy: r.replays[k].Policy, Hours: hours * (1 - x.Of)}
	if x.High > 0 {
		e.Low, e.High = hours*(1-x.High), hours*(1-x.Low)
	}
	for _, jobs := range r.by(func(j *workload.Job) string { return j.User }) {
		was, is := 0.0, 0.0
		for _, i := range jobs {
			was, is = was+float64(r.wait(1, i))/float64(len(jobs)), is+float64(r.wait(k, i))/float64(len(jobs))
		}
		switch e.Users++; {
		case math.Abs(is-was) <= max(60, was/10):
		case is < was:
			e.Shorter++
		default:
			e.Longer++
		}
	}
	return e
}

// group are the figures of jobs.
func (r *reporter) group(name string, jobs []int) Group {
	g := Group{Name: name, Jobs: len(jobs)}
	sums := make([][]float64, len(r.replays)) // of waits, by policy and block
	for k := range r.replays {
		waits, slowdown := make([]float64, 0, len(jobs)), 0.0
		sums[k] = make([]float64, r.blocks)
		for _, i := range jobs {
			w := float64(r.wait(k, i))
			waits = append(waits, w)
			run := float64(r.Jobs[i].Duration)
			slowdown += max((w+run)/max(run, 10), 1)
			sums[k][r.blockOf(i)] += w
		}
		g.Figures = append(g.Figures, figures(waits, slowdown))
	}
	g.Ratios = r.ratios(g.Figures, sums)
	return g
}

func figures(waits []float64, slowdown float64) (f Figures) {
	n := len(waits)
	if n == 0 {
		return f
	}
	slices.Sort(waits)
	for _, w := range waits {
		f.Mean += w / float64(n)
	}
	f.Median, f.P95, f.Longest = waits[n/2], waits[min(n*95/100, n-1)], waits[n-1]
	f.Slowdown = slowdown / float64(n)
	return f
}

func (r *reporter) wait(k, i int) int64 { return max(r.replays[k].Began[i]-r.Jobs[i].Submit, 0) }

// blockOf is the part of the span in which a job could begin.
func (r *reporter) blockOf(i int) int {
	return int((r.Jobs[i].Submit + r.Start - r.Span.From) / r.block)
}

// ratios draws as many blocks as there are, with replacement, again and again: the waits of days
// depend on each other far less than those of jobs.
func (r *reporter) ratios(figures []Figures, sums [][]float64) (all []Ratio) {
	drawn := make([][]float64, len(sums))
	waited := 0 // blocks
	for _, s := range sums[1] {
		if s > 0 {
			waited++
		}
	}
	for range draws {
		total := make([]float64, len(sums))
		for range r.blocks {
			b := r.rng.IntN(r.blocks)
			for k := range sums {
				total[k] += sums[k][b]
			}
		}
		for k := range sums {
			if total[1] > 0 {
				drawn[k] = append(drawn[k], total[k]/total[1])
			}
		}
	}
	for k := range sums {
		var x Ratio
		if figures[1].Mean > 0 {
			x.Of = figures[k].Mean / figures[1].Mean
		}
		if n := len(drawn[k]); waited >= fewestBlocks {
			slices.Sort(drawn[k])
			x.Low, x.High = drawn[k][n*25/1000], drawn[k][min(n*975/1000, n-1)]
		}
		all = append(all, x)
	}
	return all
}

// use adds what was in use in the span, by all jobs.
func (r *reporter) use(g *Group) {
	from, to := r.Span.From-r.Start, r.Span.To-r.Start
	cpus, gpus := 0.0, 0.0
	for _, n := range r.Machine.Nodes {
		cpus, gpus = cpus+float64(n.Cores), gpus+float64(n.GPUs)
	}
	span := float64(r.Span.Seconds())
	for k, x := range r.replays {
		for i := range r.Jobs {
			j := &r.Jobs[i]
			if j.Leaves > 0 || slices.ContainsFunc(r.replays, func(x *Replay) bool { return x.Began[i] < 0 }) {
				continue // those that one of them never runs count for none
			}
			seconds := float64(max(min(x.Began[i]+j.Duration, to)-max(x.Began[i], from), 0))
			g.Figures[k].CPUs += float64(place.LeastCores(&j.Request)) * seconds / (cpus * span)
			if gpus > 0 {
				g.Figures[k].GPUs += float64(j.MinGPUs*max(j.MinNodes, 1)) * seconds / (gpus * span)
			}
		}
	}
}

// agreement holds the simulated Slurm against the real one.
func (r *reporter) agreement(all *Group) (a Agreement) {
	real, simulated := &all.Figures[0], &all.Figures[1]
	over := func(x, y float64) float64 {
		if y == 0 {
			return 0
		}
		return x / y
	}
	a.Wait, a.Slowdown, a.CPUs = over(simulated.Mean, real.Mean), over(simulated.Slowdown, real.Slowdown), over(simulated.CPUs, real.CPUs)
	near := 0
	for _, i := range r.counted {
		a.Apart += math.Abs(float64(r.wait(0, i)-r.wait(1, i))) / float64(len(r.counted))
		was, is := float64(r.wait(0, i)), float64(r.wait(1, i))
		if math.Abs(was-is) <= max(60, was/10) {
			near++
		}
	}
	a.Within = 100 * float64(near) / float64(max(len(r.counted), 1))
	return a
}
