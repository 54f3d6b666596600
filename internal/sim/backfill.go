// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/selection"
	"github.com/aucsched/aucsched/nodeset"
)

// The reasons why a job waits, after those that squeue shows.
const (
	ReasonPriority  = "Priority: jobs of higher priority wait"
	ReasonResources = "Resources: waits for nodes to become free"
)

// BackfillOptions are the SchedulerParameters of Slurm that [Backfill] knows, with
// Slurm's defaults and ranges. Begin with [DefaultBackfill].
type BackfillOptions struct {
	// MaxJobTest (bf_max_job_test) is the number of jobs, from the front of what
	// the main scheduler leaves, that backfill looks at: 1 to 1000000.
	MaxJobTest int
	// Resolution (bf_resolution) is the width of reservations' time slots in seconds: 1 to 3600.
	Resolution int64
	// Window (bf_window, in minutes there) is how far ahead, in seconds, places are reserved: a job
	// that would start later gets no reservation, and jobs behind it may delay it. Slurm advises at
	// least the longest time limit. At least 60; Slurm allows 30 days at most.
	Window int64
	// MaxJobStart (bf_max_job_start) is the number of jobs that backfill may
	// start in a cycle; 0 means no limit.
	MaxJobStart int
	// MinPrioReserve (bf_min_prio_reserve): jobs of lower priority are started if
	// they can be, but get no reservation.
	MinPrioReserve int64
	// NodeSpaceSize (bf_node_space_size) is the number of time slots after which
	// backfill ends: 2 to 2000000; 0 means MaxJobTest.
	NodeSpaceSize int
	// Interval (bf_interval) is how many seconds after a pass of backfill the next one may
	// begin, 30 in Slurm's default; until then only the main scheduler starts jobs. 0 has one in
	// every cycle.
	Interval int64
	// Test is how long a pass takes to look at one job; 0: no time, at most a minute. Slurm's sdiag
	// shows it: a pass's mean length over its mean depth. Such a pass gives the locks away every 2
	// s (bf_yield_interval) for half a second (bf_yield_sleep). It ends if jobs have come or gone
	// by then (there is no bf_continue), and after Interval (bf_max_time).
	Test time.Duration
	// Estimates has places reserved even when no start can depend on them, so
	// that decisions say when jobs are expected to start. Without it a cycle in
	// which no pending job can start costs next to nothing.
	Estimates bool
	// Plain leaves out the shortcuts, which change no decision.
	Plain bool
}

// DefaultBackfill is Slurm's default configuration, without estimates.
func DefaultBackfill() BackfillOptions {
	return BackfillOptions{MaxJobTest: 500, Resolution: 60, Window: 24 * 60 * 60}
}

// Validate reports the first option that is out of its range.
func (o *BackfillOptions) Validate() error {
	for _, f := range []struct {
		name        string
		v, min, max int64
	}{
		{"bf_max_job_test", int64(o.MaxJobTest), 1, 1_000_000},
		{"bf_resolution", o.Resolution, 1, 3600},
		{"bf_window", o.Window, 60, 1 << 40},
		{"bf_max_job_start", int64(o.MaxJobStart), 0, 1 << 31},
		{"bf_min_prio_reserve", o.MinPrioReserve, 0, 1 << 62},
		{"bf_interval", o.Interval, 0, 10_800},
		{"time to look at a job, in ns", int64(o.Test), 0, int64(time.Minute)},
		{"bf_node_space_size", int64(o.NodeSpaceSize), 0, 2_000_000},
	} {
		if f.v < f.min || f.v > f.max {
			return fmt.Errorf("%s: %d: must be between %d and %d", f.name, f.v, f.min, f.max)
		}
	}
	return nil
}

// Backfill is Slurm's scheduling. In each cycle the main scheduler (job_scheduler.c) starts jobs in
// order of priority, up to the first of each partition that cannot start. Jobs that may use the
// same nodes are of one. Then sched/backfill (backfill.c of Slurm 22.05) goes through the rest in
// order of priority. It starts what does not delay the reservations so far, and reserves whole
// nodes for the others. [selection.Selector] chooses nodes and cores, as topology/tree does if the
// snapshot has a topology. It does not know what jobs demand of a topology.
//
// Running jobs with a price are a lower tier: jobs that preempt any class have them stopped where
// they find no other place, and wait for none of them (preempt/partition_prio).
//
// It differs from a slurmctld in three ways. Both schedulers run in every cycle, unless
// BackfillOptions.Interval says otherwise. Passes take no time and are not broken off, unless
// BackfillOptions.Test says so. Time limits count in seconds, not minutes. A job that Slurm's
// selection cannot place on the idle machine is passed over, as Slurm refuses it at submission.
// Slurm knows neither ranges of GPUs nor alternatives: jobs get the fewest GPUs of a range, and
// only their first request counts.
type Backfill struct {
	opt     BackfillOptions
	sel     selection.Selector
	s       *core.Snapshot
	p       *core.Plan
	held    []held // running jobs by expected end, once there is need
	sorted  bool
	started []held // jobs started in this cycle
	future  nodeset.Table
	space   nodeSpace
	up      nodeset.Mask // nodes that are up
	base    nodeset.Mask // those that the job may use
	avail   nodeset.Mask // those that are not reserved while it would run
	chosen  nodeset.Mask // what the selection took of them
	scratch []nodeset.Segment
	fit     fitTest
	blocked map[blockedKey]struct{} // fruitless tests since the last change
	machine machine
	pass    pass
	// nodes that the main scheduler has not kept for a job that waits; nil: all
	open    nodeset.Mask
	opened  nodeset.Mask // its memory
	head    int          // of the decisions, that of the first job that waits
	begun   []int        // jobs behind that one that the main scheduler has started, by index
	due     int64        // when backfill may begin, or go on
	waiting bool         // it is to, then
	left    bool         // its last pass has left jobs in the queue
	// behind puts the jobs behind the one at that index into the order in which they are tried, of
	// which no other has a reservation; nil: it is Slurm's backfill
	behind func(first int, now int64)
	stop   stoppable
}

type held struct {
	end  int64
	id   string
	segs []nodeset.Segment
	uses nodeset.Uses
	// stoppable says that it has a price.
	stoppable bool
}

// blockedKey is what the outcome of a fruitless test depends on while neither
// nodes nor reservations change.
type blockedKey struct {
	shape    shapeKey
	limit    int64
	eligible *uint64
	nowOnly  bool
	stops    bool // others
}

// pass is how far a pass of backfill has come that has given the locks away.
type pass struct {
	under bool
	began int64
	took  time.Duration // since then
	// jobs in the queue: the next to look at, and the last that may be started by it, plus 1
	next, end int
	reach     int // and the last that it looks at, plus 1
	starts    int
	// pending and running are how many jobs there will be if none comes or goes.
	pending, running int
}

// stoppable are the running jobs that have a price: a lower tier, all of which every job may have
// stopped that preempts some class.
type stoppable struct {
	// by index in Snapshot.Running, those first that go first; who goes is taken out
	order  []int
	wide   nodeset.Table // as if none of them ran
	trial  nodeset.Table // scratch
	fit    fitTest       // of wide
	firm   []held        // scratch
	chosen []int         // of order: who goes for the job that was tried last
	gone   []int         // by index in Snapshot.Running
	nodes  nodeset.Mask  // those of gone: only who may have others stopped starts there
	open   nodeset.Mask  // scratch
}

// any reports whether the cycle has any.
func (p *stoppable) any() bool { return len(p.order)+len(p.gone) > 0 }

// fitTest bounds what the free nodes hold: the number of nodes with g free GPUs,
// and their free cores.
type fitTest struct {
	ready bool
	nodes []int
	cores []int64
}

func (b *Backfill) upNodes() {
	b.up = append(b.up[:0], b.s.Nodes.Usable(0)...)
	for n := range b.s.Nodes.Len() {
		if !b.up.Has(n) && b.s.Nodes.Up(n) {
			b.up.Set(n)
		}
	}
}

// choose sets b.chosen to the nodes of segs.
func (b *Backfill) choose(segs []nodeset.Segment) {
	b.chosen = append(b.chosen[:0], b.up...)
	clear(b.chosen)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			b.chosen.Set(int(n))
		}
	}
}

func overlapAny(segs []nodeset.Segment, m nodeset.Mask) bool {
	for _, s := range segs {
		first, last := int(s.First)>>6, int(s.Last)>>6
		for w := first; w <= last; w++ {
			word := m[w]
			if w == first {
				word &= ^uint64(0) << (s.First & 63)
			}
			if w == last {
				word &= ^uint64(0) >> (63 - s.Last&63)
			}
			if word != 0 {
				return true
			}
		}
	}
	return false
}

// compareHeld orders by end, then by place, so that names decide nothing.
func compareHeld(a, b held) int {
	if c := cmp.Compare(a.end, b.end); c != 0 {
		return c
	}
	return cmp.Or(slices.CompareFunc(a.segs, b.segs, compareSegments), cmp.Compare(a.id, b.id))
}

func compareSegments(a, b nodeset.Segment) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last), cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.GPUs, b.GPUs))
}

// trySelect is a Select behind a test that costs nothing.
func (b *Backfill) trySelect(t *nodeset.Table, j *core.Job, avail nodeset.Mask) (segs []nodeset.Segment, ok bool, err error) {
	if cores, _ := t.SumFree(); unknown(j) != nil || !b.opt.Plain && cores < place.LeastCores(&j.Request) {
		return nil, false, nil
	}
	b.scratch, ok, err = b.sel.Select(t, &j.Request, avail, b.scratch[:0])
	return b.scratch, ok, err
}

// machine remembers why requests can never run, for as long as the machine keeps
// its nodes and their states.
type machine struct {
	*place.Machine
	idle *nodeset.Table // with nothing running
	why  map[shapeKey]error
}

// maxRemembered bounds the memory of a machine.
const maxRemembered = 1 << 14

func (m *machine) remember(k shapeKey, why error) {
	if len(m.why) >= maxRemembered {
		clear(m.why)
	}
	m.why[k] = why
}

func (m *machine) update(t *nodeset.Table) {
	same := m.Machine != nil && m.Is(t)
	for n := 0; same && n < t.Len(); n++ {
		same = m.idle.Up(n) == t.Up(n)
	}
	if same {
		return
	}
	clear(m.why)
	m.Machine, m.idle = place.NewMachine(t), place.Idle(t)
	for n := range t.Len() {
		m.idle.SetUp(n, t.Up(n))
	}
}

// unknown is what keeps a job waiting that asks for what this model of Slurm has not.
func unknown(j *core.Job) error {
	switch {
	case len(j.Components) > 0: // Slurm would submit it as several
		return errors.New("it has components, which this policy does not know")
	case place.LeastCores(&j.Request) == 0:
		return errors.New("it takes no core, which this policy does not know")
	case len(j.Charges) > 0:
		return errors.New("it has charges against quotas, which this policy does not know")
	}
	return nil
}

// never says why a job that cannot start now could not start on the idle machine.
func (b *Backfill) never(j *core.Job) (why, err error) {
	if why := unknown(j); why != nil {
		return why, nil
	}
	b.machine.update(b.s.Nodes)
	key := keyOf(&j.Request)
	if why, ok := b.machine.why[key]; ok && j.Eligible == nil {
		return why, nil
	}
	if why = b.machine.CanEverRun(&j.Request); why == nil {
		_, ok, err := b.trySelect(b.machine.idle, j, nil)
		if err != nil {
			return nil, err
		}
		if !ok {
			why = errors.New("can never run: Slurm's selection finds no place for it on the idle machine")
		}
	}
	if j.Eligible == nil {
		b.machine.remember(key, why)
	}
	return why, nil
}

// decide adds a decision whose segments are in the plan's own memory.
func (b *Backfill) decide(d core.Decision) *core.Decision {
	n := len(b.p.Decisions)
	if n == cap(b.p.Decisions) {
		b.p.Decisions = append(b.p.Decisions, core.Decision{})
	}
	b.p.Decisions = b.p.Decisions[:n+1]
	at := &b.p.Decisions[n]
	d.Segs = append(at.Segs[:0], d.Segs...)
	*at = d
	return at
}

// hasBegun reports whether the main scheduler has started the job at index i, behind the first that
// waits.
func (b *Backfill) hasBegun(i int) bool {
	_, found := slices.BinarySearch(b.begun, i)
	return found
}
