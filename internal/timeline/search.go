// SPDX-License-Identifier: BSD-3-Clause

package timeline

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/aucsched/aucsched/internal/cycle"
)

// Options say what a plan is worth, and how long to search.
type Options struct {
	// Weights are what the terms of a plan count, in proportion to those of the plan that serves
	// the jobs first come, first served. Caps are how many times as much of a term there may be as
	// in that plan, at least 1; 0: any.
	Weights, Caps Values
	// Moves is how many changes of the best order are tried after those that the search begins
	// with; negative: the jobs are served as they came.
	Moves int
	// Pace is how much of what is planned waits take that are still to come, at most 1; 0: all.
	Pace float64
	// Work bounds the search, in words looked at; 0: no bound. The plan of the first order is made
	// whatever that costs, if there is time.
	Work int64
	// Off says what the search does without.
	Off cycle.Parts
}

// Search finds an order of jobs. The zero Search is ready for Begin. It keeps memory only, and
// allocates none that it has had before.
type Search struct {
	// Jobs are those to be ordered, as they came. Callers append to it after Begin.
	Jobs []Job
	// Evaluated is how many plans the last Order has made, of which some were given up.
	Evaluated int

	base, plan table // what is free before the jobs, and with some of them
	alike      alike
	placer     placer
	options    Options
	first      Values // of the plan as they came
	near       int64  // the first of the seconds that the last step of base stands for
	fixed      int
	inside     []uint64 // by job: bits of those whose places would do for it; none before they are known
	lower      []int64  // by job: it can't start before that second in the plan that is made
	from       int      // the first step of plan at which any job may start
	least      int      // what each job takes of the first kind
	worse      []uint64 // the same, of those of lesser weight
	before     []uint64 // of those that come before a job, the same
	random     *rand.Rand
	source     rand.PCG
	best       []int32
	starts     []int64 // by job, in the plan that is best; empty if none was made
	tried      []int64 // the same in the plan that was made last
	bestCost   float64
	at, try    []int32   // the order whose neighbours are tried, and one of these
	key        []float64 // by job
	orders     []int32   // as they came, and those that were sorted, one after the other
	stop       func() bool
}

// Begin makes ready for jobs on a machine of so many nodes and kinds of resources, with nothing
// free at second now.
func (s *Search) Begin(now int64, nodes, kinds int) {
	s.base.reset(now, nodes, kinds)
	s.Jobs = s.Jobs[:0]
}

// At goes on to second t, from which on more is free. Times ascend; of those that are near each other
// the last counts.
func (s *Search) At(t int64) {
	last := len(s.base.at) - 1
	if last > 0 && t-s.near <= (s.near-s.base.at[0])/snap {
		s.base.at[last] = t
		return
	}
	s.near = t
	s.base.step(last, t)
}

// Free says what a node has of a kind from the last second on, at most Top.
func (s *Search) Free(node, kind int, amount uint16) {
	s.base.set(len(s.base.at)-1, node, kind, amount)
}

// Order returns the best order that it finds, by number in s.Jobs; it is valid until the next. The
// first so many jobs stay first, as they came. It ends when stop, which may be nil, says so. The
// same jobs, options and seed give the same order, unless it is stopped.
func (s *Search) Order(fixed int, o Options, seed uint64, stop func() bool) []int32 {
	s.options, s.stop, s.fixed = o, stop, min(fixed, len(s.Jobs))
	s.options.Pace = cmp.Or(o.Pace, 1)
	for s.alike.on = s.alike.count(&s.base, s.Jobs); ; s.alike.on = false {
		if s.find(seed); !s.alike.on || !s.spent() {
			return s.best
		}
	}
}

// find sets s.best to the best order that it finds.
func (s *Search) find(seed uint64) {
	s.Evaluated, s.placer.work = 0, 0
	s.inside, s.least = s.inside[:0], math.MaxInt
	asked := int64(0) // the work to find the soonest start of the last one
	for i := range s.Jobs {
		j := &s.Jobs[i]
		j.count(s.base.kinds)
		s.least = min(s.least, j.sums[0])
		if i > 0 && j.within(&s.Jobs[i-1], s.base.kinds) && s.Jobs[i-1].within(j, s.base.kinds) {
			j.soonest, s.placer.work = s.Jobs[i-1].soonest, s.placer.work+asked
			continue
		}
		asked = -s.placer.work
		at := sort.Search(len(s.base.at), func(i int) bool { return s.placer.fits(&s.base, i, i+1, j) })
		if j.soonest = Never; at < len(s.base.at) {
			j.soonest = s.base.at[at]
		}
		asked += s.placer.work
	}
	s.firstCome()
	s.best, s.starts = append(s.best[:0], s.try...), s.starts[:0]
	if s.options.Moves < 0 || s.options.Off.Sorted || len(s.Jobs) == 0 {
		return
	}
	var ok bool
	if s.first, ok = s.evaluate(s.try, math.Inf(1)); !ok {
		return // there was no time for the first plan
	}
	s.starts = append(s.starts, s.tried...)
	if len(s.Jobs) < s.fixed+2 || slices.Max(s.tried) == s.base.at[0] {
		return // nobody waits
	}
	words := (len(s.Jobs) + 63) / 64
	s.inside = append(s.inside, make([]uint64, len(s.Jobs)*words)...)
	s.worse = append(s.worse[:0], s.inside...)
	for i := range s.Jobs {
		for k := range s.Jobs {
			j, o := &s.Jobs[i], &s.Jobs[k]
			if j.Length > o.Length || i == k || !s.alike.on && !j.within(o, s.base.kinds) {
				continue
			}
			at, bit := i*words+k/64, uint64(1)<<(k%64)
			if s.inside[at] |= bit; o.Weight < j.Weight {
				s.worse[at] |= bit
			}
		}
	}
	s.bestCost, _ = s.cost(&s.first)
	s.orders = append(s.orders[:0], s.try...)
	for _, key := range keys {
		if s.over() {
			return
		}
		s.sorted(key, s.first[End])
		if s.unpassed(s.try); !s.known(s.try) {
			s.consider(s.bestCost)
		}
	}
	s.anneal(seed)
}

// unpassed puts a job before the first of lesser weight whose place would do for it.
func (s *Search) unpassed(order []int32) {
	words := len(s.worse) / len(order)
	s.before = append(s.before[:0], make([]uint64, words)...)
	for to := s.fixed; to < len(order); to++ {
		job := int(order[to])
		worse := s.worse[job*words:][:words]
		for w, m := range worse {
			if m&s.before[w] != 0 {
				at := slices.IndexFunc(order[s.fixed:to], func(i int32) bool { return worse[i/64]>>(i%64)&1 == 1 })
				move(order, to, s.fixed+at)
				break
			}
		}
		s.before[job/64] |= 1 << (job % 64)
	}
}

// sorted sets s.try to an order: the fixed jobs, and the others by key, equals as they came.
func (s *Search) sorted(key func(*Job, float64) float64, horizon float64) {
	s.key = s.key[:0]
	for i := range s.Jobs {
		s.key = append(s.key, key(&s.Jobs[i], horizon))
	}
	s.firstCome()
	slices.SortFunc(s.try[s.fixed:], func(a, b int32) int { return cmp.Or(cmp.Compare(s.key[a], s.key[b]), int(a-b)) })
}

// firstCome sets s.try to the order in which the jobs came.
func (s *Search) firstCome() {
	s.try = slices.Grow(s.try[:0], len(s.Jobs))[:len(s.Jobs)]
	for i := range s.try {
		s.try[i] = int32(i)
	}
}

// known reports whether an order is one of s.orders, and adds it: where jobs are alike keys are too.
func (s *Search) known(order []int32) bool {
	for was := range slices.Chunk(s.orders, len(order)) {
		if slices.Equal(was, order) {
			return true
		}
	}
	s.orders = append(s.orders, order...)
	return false
}

// over reports whether the search has to end.
func (s *Search) over() bool { return s.spent() || s.stop != nil && s.stop() }

// spent reports whether it may have looked at more words than it may.
func (s *Search) spent() bool { return s.options.Work > 0 && s.placer.work > s.options.Work }

// consider evaluates s.try, and keeps it if it is the best. It reports its cost unless that is
// more than most.
func (s *Search) consider(most float64) (cost float64, ok bool) {
	v, ok := s.evaluate(s.try, most)
	if !ok {
		return 0, false
	}
	cost, capped := s.cost(&v)
	if cost < s.bestCost && capped {
		s.bestCost = cost
		s.best, s.starts = append(s.best[:0], s.try...), append(s.starts[:0], s.tried...)
	}
	return cost, cost <= most
}

const (
	patience = 4        // after how many jobs it is seen whether a plan is too costly by now
	nearly   = 1 + 1e-9 // by how much sums of the same numbers may differ
)

// evaluate plans the jobs in an order, and returns what that is worth. It reports false when it
// gives up, since the plan costs more than most, however soon the other jobs start, or there is no
// time left.
func (s *Search) evaluate(order []int32, most float64) (v Values, ok bool) {
	s.Evaluated++
	s.tried = slices.Grow(s.tried[:0], len(s.Jobs))[:len(s.Jobs)]
	if s.alike.on {
		v = s.alike.plan(s.Jobs, order, s.tried, s.options.Pace)
		s.placer.work += s.alike.work
		if cost, capped := s.cost(&v); cost <= most || cost >= s.bestCost || !capped {
			return v, true
		}
		v = Values{}
	}
	s.plan.copyFrom(&s.base)
	s.placer.work += int64(len(s.plan.lanes))
	now, end := s.plan.at[0], s.plan.at[len(s.plan.at)-1]
	s.from, s.lower = 0, s.lower[:0]
	for i := range s.Jobs {
		s.lower = append(s.lower, min(s.Jobs[i].soonest, end))
	}
	words := len(s.inside) / len(s.Jobs)
	for n, i := range order {
		j := &s.Jobs[i]
		s.tried[i] = s.place(j, max(s.lower[i], j.soonest))
		for w, m := range s.inside[int(i)*words:][:words] {
			for ; m != 0; m &= m - 1 { // of what is taken since, nothing has come back
				k := w*64 + bits.TrailingZeros64(m)
				s.lower[k] = max(s.lower[k], s.tried[i])
			}
		}
		if v.add(j, s.tried[i]-now, s.options.Pace); n%patience == patience-1 {
			least := v
			for _, k := range order[n+1:] {
				least.add(&s.Jobs[k], max(s.lower[k], s.plan.at[s.from])-now, s.options.Pace)
			}
			if cost, _ := s.cost(&least); cost > most*nearly || s.stop != nil && s.stop() {
				return v, false
			}
		}
	}
	return v, true
}

// place plans a job, not before second lower, and returns when it starts. One for which there is never room starts when all
// has ended.
func (s *Search) place(j *Job, lower int64) int64 {
	t := &s.plan
	i, ok := s.earliest(j, lower)
	start := t.at[i]
	if ok {
		s.placer.choose(t, i, j)
		e := t.step(i, start+j.Length)
		s.placer.take(t, i, e)
	}
	return start
}

// earliest is the first step, not before second lower, from which there is room for a job, or else the last, and false. Steps
// at which all nodes together have too little are passed over.
func (s *Search) earliest(j *Job, lower int64) (step int, ok bool) {
	t := &s.plan
	for s.from < len(t.at)-1 && t.sumsAt(s.from)[0] < s.least {
		s.from++ // nothing starts there any more
	}
	first := s.from
	for ; first < len(t.at)-1 && t.at[first] < lower; first++ {
	}
	for i := first; ; i++ {
		if i == len(t.at) || t.at[i] >= t.at[first]+j.Length {
			if s.placer.fits(t, first, i, j) {
				return first, true
			}
			first++
			i--
		} else if lacks(t.sumsAt(i), &j.sums) {
			first = i + 1
		}
		if first == len(t.at) {
			return first - 1, false
		}
	}
}

func lacks(has []int, needs *[MaxKinds]int) bool {
	for k, x := range has {
		if x < needs[k] {
			return true
		}
	}
	return false
}

// Start is when the i-th job starts by the plan of the order that the last Order has returned, if
// it has made one. A job for which there is never room starts at Never.
func (s *Search) Start(i int) (at int64, ok bool) {
	if i >= len(s.starts) {
		return 0, false
	}
	return max(s.starts[i], s.Jobs[i].soonest), true
}

// Never is later than all seconds that there are.
const Never = math.MaxInt64 / 2

func (s *Search) cost(v *Values) (cost float64, capped bool) {
	return v.cost(&s.first, &s.options.Weights, &s.options.Caps)
}

// hot is by what share of its cost a neighbour may be worse in the beginning.
const hot = 0.01

// anneal goes from order to order, to neighbours that are better or a little worse, ever less so:
// threshold accepting (Dueck and Scheuer 1990), with a random threshold.
func (s *Search) anneal(seed uint64) {
	s.source.Seed(seed, uint64(s.base.at[0]))
	if s.random == nil {
		s.random = rand.New(&s.source)
	}
	s.at = append(s.at[:0], s.best...)
	cost, n := s.bestCost, len(s.Jobs)-s.fixed
	for m := range s.options.Moves {
		if s.over() || s.options.Off.Moves {
			return
		}
		from, to := s.fixed+s.random.IntN(n), s.fixed+s.random.IntN(n)
		if from == to {
			continue
		}
		s.try = append(s.try[:0], s.at...)
		if s.random.IntN(2) == 0 {
			s.try[from], s.try[to] = s.try[to], s.try[from]
		} else {
			move(s.try, from, to)
		}
		s.unpassed(s.try)
		left := 1 - float64(m)/float64(s.options.Moves)
		if c, ok := s.consider(cost + float64(hot*left)*s.bestCost*s.random.Float64()); ok {
			cost, s.at, s.try = c, s.try, s.at
		}
	}
}

// move has the element at from at place to, and those between moved by one.
func move(order []int32, from, to int) {
	x := order[from]
	if from < to {
		copy(order[from:to], order[from+1:to+1])
	} else {
		copy(order[to+1:from+1], order[to:from])
	}
	order[to] = x
}

// count sets what the job takes in all at least.
func (j *Job) count(kinds int) {
	j.Most = max(j.Most, j.Per[0])
	for k := range kinds {
		j.sums[k] = j.Nodes * int(j.Per[k])
	}
	if j.All > 0 {
		more := max(j.All-j.sums[0], 0)
		for k := 1; k < kinds; k++ {
			j.sums[k] += more * int(j.Rate[k])
		}
		j.sums[0] = max(j.All, j.sums[0])
	}
}

// settle is what is added to a wait in seconds, so that jobs that have just come differ.
const settle = 300

// keys are orders that a search begins with, the job with the least value first. horizon is in how
// many seconds all of the jobs have ended, if they are served first come, first served.
var keys = [...]func(j *Job, horizon float64) float64{
	// shortest, smallest and largest, widest, longest
	func(j *Job, _ float64) float64 { return float64(j.Length) },
	func(j *Job, _ float64) float64 { return float64(j.Length) * j.Width },
	func(j *Job, _ float64) float64 { return float64(-j.Length) * j.Width },
	func(j *Job, _ float64) float64 { return -j.Width },
	func(j *Job, _ float64) float64 { return float64(-j.Length) },
	// greatest slowdown, also for its width
	func(j *Job, _ float64) float64 { return -float64(j.Waited+settle) / float64(max(j.Length, 1)) },
	func(j *Job, _ float64) float64 {
		return -float64(j.Waited+settle) / (float64(max(j.Length, 1)) * j.Width)
	},
	// large and old: what counts as much as asking for all of the machine
	func(j *Job, h float64) float64 { return claim(j, h/4) },
	func(j *Job, h float64) float64 { return claim(j, h/2) },
	func(j *Job, h float64) float64 { return claim(j, h) },
	func(j *Job, h float64) float64 { return claim(j, 2*h) },
	func(j *Job, h float64) float64 { return claim(j, 4*h) },
	// the same, those first that would run last and alone
	func(j *Job, h float64) float64 {
		if 2*float64(j.Length) > h {
			return claim(j, h) - 2
		}
		return claim(j, h)
	},
}

// claim is core.AuctionOptions.Patience.
func claim(j *Job, patience float64) float64 {
	return -(j.Size + float64(j.Waited)/max(patience, 1))
}
