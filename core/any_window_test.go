// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/test/draw"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// anyWindow draws small windows with everything that a Snapshot can have.
type anyWindow struct {
	*rand.Rand
	s           *Snapshot
	cores, gpus int   // of the largest node
	shares      int64 // of a GPU; 0: none
	parts       int   // one request in so many is of several parts
}

// oneOf draws one of a list.
func oneOf[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// often is true once in n draws.
func (w *anyWindow) often(n int) bool { return w.IntN(n) == 0 }

func (w *anyWindow) draw(t require.TestingT) *Snapshot {
	w.parts = oneOf(w.Rand, 1, 2, 8)
	w.s = &Snapshot{Now: oneOf(w.Rand, 0, 1000, -5, w.Int64N(1<<40))}
	w.drawNodes(t)
	n := w.s.Nodes.Len()
	if w.often(2) {
		w.s.Topology = w.drawTree(t, n)
	}
	if w.often(3) {
		for range n {
			w.s.Tiers = append(w.s.Tiers, uint8(w.IntN(4)))
		}
	}
	for q := range w.IntN(3) {
		w.s.Quotas = append(w.s.Quotas, Quota{fmt.Sprint("q", q), oneOf(w.Rand, w.Int64N(9), w.Int64N(60), w.Int64N(bids.MaxRate+1))})
	}
	for i := range w.IntN(2 + 2*n) {
		w.drawRunning(i)
	}
	for range w.IntN(3) {
		w.s.Nodes.SetUp(w.IntN(n), false)
	}
	for i := range w.IntN(9) {
		w.s.Pending = append(w.s.Pending, w.drawJob(i))
	}
	sortQueue(w.s.Pending)
	return w.s
}

func (w *anyWindow) drawNodes(t require.TestingT) {
	total := make([]nodeset.Capacity, 1+w.IntN(oneOf(w.Rand, 3, 7, 7, 12)))
	w.cores, w.gpus = oneOf(w.Rand, 1+w.IntN(12), 8, 8, 8, math.MaxUint16), oneOf(w.Rand, 0, w.IntN(5), w.IntN(5), 8, 255)
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(w.cores), GPUs: uint8(w.gpus)}
		if w.often(3) {
			total[i] = nodeset.Capacity{Cores: uint16(w.IntN(w.cores + 1)), GPUs: uint8(w.IntN(w.gpus + 1))}
		}
	}
	var err error
	w.s.Nodes, err = nodeset.New(total)
	require.NoError(t, err)
	amounts := func(most int64) (list []int64) {
		for range total {
			list = append(list, w.Int64N(most+1))
		}
		return list
	}
	if w.gpus > 0 && w.often(3) {
		w.shares = oneOf(w.Rand, int64(1), 4, 10, 100)
		sizes := amounts(1)
		for i := range sizes {
			sizes[i] *= w.shares
		}
		_, err := w.s.Nodes.AddShares("share", sizes)
		require.NoError(t, err)
	}
	for r := range w.IntN(3) {
		_, err := w.s.Nodes.AddResource(fmt.Sprint("r", r), amounts(oneOf(w.Rand, int64(1), 40, math.MaxInt32)))
		require.NoError(t, err)
	}
}

// drawTree draws leaves of neighbouring nodes, below one root or two levels of switches.
func (w *anyWindow) drawTree(t require.TestingT, n int) *nodeset.Topology {
	leaf := 1 + w.IntN(4)
	count := (n + leaf - 1) / leaf
	var switches []draw.Switch
	for i := range count {
		s := draw.Switch{Name: fmt.Sprint("leaf", i), Parent: count, Nodes: nodeset.NewMask(n)}
		for k := i * leaf; k < min(n, (i+1)*leaf); k++ {
			s.Nodes.Set(k)
		}
		if i%2 == 1 && count > 2 {
			s.Parent = count + 1
		}
		switches = append(switches, s)
	}
	if count > 2 {
		switches = append(switches, draw.Switch{Name: "even", Parent: count + 2}, draw.Switch{Name: "odd", Parent: count + 2})
	}
	tree, err := draw.Topology(n, append(switches, draw.Switch{Name: "root", Parent: -1}))
	require.NoError(t, err)
	return tree
}

// drawRunning adds a running job that holds some of what is free.
func (w *anyWindow) drawRunning(i int) {
	var segs []nodeset.Segment
	first := w.IntN(w.s.Nodes.Len())
	uses, share := w.drawUses(), int64(0)
	if w.shares > 0 && w.often(2) {
		share = 1 + w.Int64N(w.shares)
		r, _ := w.s.Nodes.Shares()
		uses = nodeset.Uses{{Row: r, PerNode: share}}
	}
	for n := first; n < w.s.Nodes.Len() && (len(segs) == 0 || w.often(2)); n++ {
		free := w.s.Nodes.Free(n)
		cores := oneOf(w.Rand, w.IntN(int(free.Cores)+1), int(free.Cores))
		s := nodeset.Segment{First: int32(n), Last: int32(n), Cores: uint16(cores), GPUs: uint8(w.IntN(int(free.GPUs) + 1))}
		if share > 0 {
			s.GPUs, s.Bin = 0, w.s.Nodes.ChooseBin(n, share, nil)
			if s.Bin == 0 {
				return
			}
		}
		if segs = append(segs, s); share > 0 {
			break
		}
	}
	if w.s.Nodes.Allocate(segs, uses...) != nil {
		return
	}
	r := Running{ID: fmt.Sprint("R", i), End: w.s.Now + oneOf(w.Rand, -5, 0, 1, w.Int64N(300), NoTimeLimit), Segs: segs, Uses: uses}
	if len(w.s.Quotas) > 0 && w.often(2) {
		r.Charges = nodeset.Uses{{Row: w.IntN(len(w.s.Quotas)), PerJob: w.Int64N(5), PerNode: w.Int64N(3)}}
	}
	if w.often(2) {
		r.Price, r.Class = oneOf(w.Rand, 1, 1, 1+w.Int64N(60), MaxPriority), oneOf(w.Rand, 0, 0, 0, 1, MaxClass)
	}
	w.s.Running = append(w.s.Running, r)
}

func (w *anyWindow) drawUses() (uses nodeset.Uses) {
	shares, shared := w.s.Nodes.Shares()
	for r := range w.s.Nodes.Resources() {
		if shared && r == shares || w.often(2) {
			continue
		}
		most := oneOf(w.Rand, int64(2), 5, 5, 20, math.MaxInt32)
		u := nodeset.Use{Row: r, PerNode: w.Int64N(most)}
		if w.often(3) {
			u.PerCore = w.Int64N(5)
		}
		if w.often(3) {
			u.PerGPU = w.Int64N(oneOf(w.Rand, int64(3), 20))
		}
		uses = append(uses, u)
	}
	return uses
}

func (w *anyWindow) drawJob(i int) *Job {
	j := &Job{ID: fmt.Sprint("J", i), Request: w.drawWhole(),
		Priority:  oneOf(w.Rand, 1, 1+w.Int64N(3), 1+w.Int64N(90), MaxPriority-int64(i)),
		TimeLimit: oneOf(w.Rand, 1, 1+50*w.Int64N(9), NoTimeLimit, 1<<50), Since: w.s.Now - w.Int64N(20*24*3600)}
	for range w.IntN(4) - 1 {
		j.Alternatives = append(j.Alternatives, w.drawWhole())
	}
	if w.often(4) {
		j.Prefer = w.drawMask()
	}
	if w.often(2) {
		j.Preempts = oneOf[uint64](w.Rand, 1, 2, 3, 1<<63, math.MaxUint64)
	}
	if w.often(4) {
		n := int32(w.IntN(w.s.Nodes.Len()))
		free := w.s.Nodes.Free(int(n))
		j.Offer = []nodeset.Segment{{First: n, Last: n, Cores: uint16(min(j.Cores, int(free.Cores))),
			GPUs: uint8(min(max(j.MinGPUs, 0), int(free.GPUs)))}}
	}
	if len(w.s.Pending) > 0 && w.often(6) {
		j.Request = oneOf(w.Rand, w.s.Pending...).Request
	}
	return j
}

// drawWhole draws a request, of several parts or one.
func (w *anyWindow) drawWhole() bids.Request {
	r := w.drawRequest(w.often(w.parts) || w.often(2))
	if !w.often(w.parts) {
		return r
	}
	for range 1 + w.IntN(2) {
		r.Components = append(r.Components, w.drawRequest(w.often(50)))
	}
	r.AllWithin = oneOf(w.Rand, 0, 0, 1, 2, 9)
	return r
}

func (w *anyWindow) drawMask() nodeset.Mask {
	m := nodeset.NewMask(w.s.Nodes.Len())
	for n := range w.s.Nodes.Len() {
		if w.often(2) {
			m.Set(n)
		}
	}
	return m
}

func (w *anyWindow) drawRequest(shares bool) bids.Request {
	y := 1 + w.IntN(oneOf(w.Rand, 1, 2, w.s.Nodes.Len()))
	r := bids.Request{Contiguous: w.often(4), MixedGPUs: w.often(4), Apart: w.often(4)}
	switch w.IntN(4) {
	case 0:
		r.Cores = 1 + w.IntN(oneOf(w.Rand, 4, y*w.cores))
	case 1:
		r.MinNodes, r.MaxNodes = y, y+w.IntN(3)
		r.Cores = r.MinNodes + w.IntN(oneOf(w.Rand, 4, y*w.cores))
	case 2:
		r.MinNodes, r.TasksPerNode = y, 1+w.IntN(oneOf(w.Rand, min(4, w.cores), w.cores))
	default:
		// and no core, if anything else
		r.MinNodes, r.MaxNodes = oneOf(w.Rand, 0, y), oneOf(w.Rand, 0, y)
	}
	if w.gpus > 0 && w.often(2) {
		r.MinGPUs = w.IntN(w.gpus + 1)
		r.MaxGPUs = oneOf(w.Rand, 0, r.MinGPUs, r.MinGPUs+w.IntN(w.gpus+1-r.MinGPUs))
	}
	r.Uses = w.drawUses()
	if s, ok := w.s.Nodes.Shares(); ok && shares && w.often(2) {
		r.MinNodes, r.MaxNodes, r.MinGPUs, r.MaxGPUs, r.TasksPerNode = 1, 1, 0, 0, 0
		r.Uses = append(nodeset.Uses{{Row: s, PerNode: 1 + w.Int64N(w.shares)}}, r.Uses...)
	}
	if r.Cores+r.TasksPerNode+r.MinGPUs == 0 && (len(r.Uses) == 0 || w.often(2)) {
		r.Cores = y
	}
	if w.s.Topology != nil && w.often(4) {
		r.Switches, r.Within, r.Segment = w.IntN(3), w.IntN(4), oneOf(w.Rand, 0, 0, 1, r.MinNodes)
	}
	if len(w.s.Quotas) > 0 && w.often(4) {
		most := oneOf(w.Rand, int64(3), 3, bids.MaxRate)
		r.Charges = nodeset.Uses{{Row: w.IntN(len(w.s.Quotas)), PerJob: w.Int64N(most), PerNode: w.Int64N(most),
			PerCore: w.Int64N(3), PerGPU: w.Int64N(3)}}
	}
	if w.often(9) {
		r.Eligible = w.drawMask()
	}
	if w.often(30) {
		w.spoil(&r)
	}
	return r
}

// spoil makes a request odd, which may be no valid one any more.
func (w *anyWindow) spoil(r *bids.Request) {
	n := oneOf(w.Rand, -1, 0, 1<<20, math.MaxInt32, math.MaxInt64, math.MinInt64)
	*oneOf(w.Rand, &r.Cores, &r.MinNodes, &r.MaxNodes, &r.TasksPerNode, &r.MinGPUs, &r.MaxGPUs, &r.Switches, &r.Within, &r.Segment) = n
	if w.often(3) {
		r.Uses = append(r.Uses, nodeset.Use{Row: w.IntN(4) - 1, PerNode: int64(n), PerGPU: 18})
	}
	if w.often(3) {
		r.Charges = append(r.Charges, nodeset.Use{Row: w.IntN(4) - 1, PerCore: int64(n)})
	}
}

// anySettings draws the settings of an auction, and how long a cycle may take; 0: as it needs.
func anySettings(t require.TestingT, rng *rand.Rand) (o AuctionOptions, deadline time.Duration) {
	switch k := rng.IntN(6); k {
	case 0:
		o = Preset("none")
	case 1:
		o = Preset("packed")
	case 2:
		o = Preset("paper")
	default:
		o = Preset(settings.Planned()[k-3])
	}
	o.Work = oneOf[int64](rng, 5_000, 20_000, 50_000)
	sometimes := func() bool { return rng.IntN(4) == 0 }
	if sometimes() {
		o.Objective = oneOf(rng, ByPriority, BySize, ByRate)
	}
	if sometimes() {
		o.Reservations = oneOf(rng, 0, 1, 3, 64)
	}
	if sometimes() {
		o.Patience = oneOf[int64](rng, 0, 1, 3600, NoTimeLimit)
	}
	if sometimes() {
		o.Promise = oneOf[int64](rng, 0, 1, 3600, NoTimeLimit)
	}
	if sometimes() {
		o.Window, o.Depth = oneOf(rng, 1, 3, 200), oneOf(rng, 0, 2, 500)
	}
	if sometimes() {
		o.MaxBidsPerJob = oneOf(rng, 1, 3, 40)
		o.Drafts = rng.IntN(1 + o.MaxBidsPerJob)
	}
	if sometimes() {
		o.Serial = oneOf(rng, 0, 300, 1000)
	}
	o.Compact, o.ContiguousOnly = o.Compact != sometimes(), sometimes()
	o.Estimates, o.ShrinkLimits = sometimes(), sometimes()
	if rng.IntN(8) == 0 {
		o.Determiner = layouts
	}
	if rng.IntN(50) == 0 {
		o.Work, deadline = 0, 2*time.Millisecond
	}
	return o, deadline
}

// validating solves models only if they are valid, as solvers rely on.
type validating struct{ ipmodel.Solver }

func (s validating) Solve(ctx context.Context, m *ipmodel.Model, o ipmodel.Options, r *ipmodel.Result) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("the model is not valid: %w", err)
	}
	if err := s.Solver.Solve(ctx, m, o, r); err != nil || r.Status == ipmodel.Infeasible || r.Status == ipmodel.Unknown {
		return err
	}
	_, err := m.Check(r.Chosen)
	return err
}

// tooLate is how much later than twice its deadline a cycle may end on a machine that is busy.
const tooLate = 100 * time.Millisecond

// decideAny decides on a window that is drawn, and checks all that holds of every plan. It
// returns how many jobs start, and how many are preempted.
func decideAny(t require.TestingT, rng *rand.Rand) (starts, preempted int) {
	w := anyWindow{Rand: rng}
	s := w.draw(t)
	o, deadline := anySettings(t, rng)
	a, err := NewAuction(o, validating{native.New()})
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	var before, after nodeset.Table
	before.CopyFrom(s.Nodes)
	var p Plan
	for range 3 { // late for as long as that is not the machine's fault
		begin := time.Now()
		l := Limits{Seed: rng.Uint64()}
		if deadline > 0 {
			l.Deadline = begin.Add(deadline)
		}
		require.NoError(t, a.Decide(context.Background(), s, l, &p))
		if deadline == 0 || time.Since(begin) < 2*deadline+tooLate {
			deadline = 0
			break
		}
	}
	require.Zero(t, deadline, "three cycles were too late")
	require.NoError(t, Verify(s, &p))
	after.CopyFrom(s.Nodes)
	require.Equal(t, &before, &after, "the snapshot is not changed")
	require.LessOrEqual(t, p.Objective, p.Bound)
	for _, d := range p.Decisions {
		require.Equal(t, d.Start, d.Reason == "", "a reason if and only if it waits: %q", d.Reason)
		if d.Start {
			starts++
		}
	}
	return starts, len(p.Preempted)
}

// windowsVariable says how many windows TestAnyWindow draws, and from which seed on: N or FROM-TO.
const windowsVariable = "AUCSCHED_TEST_WINDOWS"

// Whatever a window and the settings are, a cycle ends with a valid plan, in time, and no stage
// hands the next one anything that it does not expect.
func TestAnyWindow(t *testing.T) {
	first, last := uint64(0), uint64(race.Fewer(3000))
	if text := os.Getenv(windowsVariable); text != "" {
		from, to, ok := strings.Cut(text, "-")
		if !ok {
			from, to = "0", text
		}
		var err, fault error
		first, err = strconv.ParseUint(from, 10, 64)
		last, fault = strconv.ParseUint(to, 10, 64)
		require.NoError(t, errors.Join(err, fault), windowsVariable)
	}
	starts, preempted := 0, 0
	for seed := first; seed < last; seed++ {
		started, stopped := decideSeed(t, seed)
		starts, preempted = starts+started, preempted+stopped
	}
	t.Logf("%d windows, %d starts, %d preempted", last-first, starts, preempted)
	require.Greater(t, starts, int(last-first)/2)
	require.Greater(t, preempted, int(last-first)/200)
}

// ofSeed is a test of one window of many. It goes on with the next one after a fault.
type ofSeed struct {
	*testing.T
	seed uint64
}

func (t ofSeed) Errorf(format string, args ...any) {
	t.T.Errorf("window %d: %s", t.seed, fmt.Sprintf(format, args...))
}

func (t ofSeed) FailNow() { panic(t) }

// decideSeed is decideAny on the window of a seed.
func decideSeed(t *testing.T, seed uint64) (starts, preempted int) {
	defer func() {
		switch v := recover().(type) {
		case nil, ofSeed:
		default:
			t.Errorf("window %d: panic: %v\n%s", seed, v, debug.Stack())
		}
	}()
	return decideAny(ofSeed{t, seed}, rand.New(rand.NewPCG(seed, 9)))
}

// drawn is a source of random numbers that has one of each byte first, so that a fuzzer has a
// say in what is drawn.
type drawn struct {
	data []byte
	rand.Source
}

func (d *drawn) Uint64() uint64 {
	if len(d.data) == 0 {
		return d.Source.Uint64()
	}
	b := d.data[0]
	d.data = d.data[1:]
	return uint64(b) * 0x0101010101010101
}

// FuzzWindows is TestAnyWindow on windows and settings that a fuzzer looks for.
func FuzzWindows(f *testing.F) {
	for seed := range uint64(20) {
		data := make([]byte, 200)
		for i, rng := 0, rand.NewPCG(seed, 3); i < len(data); i++ {
			data[i] = byte(rng.Uint64())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		decideAny(t, rand.New(&drawn{data, rand.NewPCG(1, uint64(len(data)))}))
	})
}

// DrawAny is the window of a seed, and settings that do not depend on the clock.
func DrawAny(t require.TestingT, seed uint64) (*Snapshot, AuctionOptions) {
	rng := rand.New(rand.NewPCG(seed, 9))
	s := (&anyWindow{Rand: rng}).draw(t)
	o, _ := anySettings(t, rng)
	o.Work, o.Determiner = 20_000, nil
	return s, o
}
