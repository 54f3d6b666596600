// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/ipmodel"
)

func TestTableI(t *testing.T) {
	e, in := open(t, "preset=none deadline_ms=5000"), tableI()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []Segment{{First: 0, Last: 1023, Cores: 4}, {First: 0, Last: 511, Cores: 4, GPUs: 2},
		{First: 512, Last: 1023, Cores: 4, GPUs: 2}}, out.Segments)
	require.Equal(t, []any{3, 3, true, false}, []any{out.Starts, out.Window, out.Optimal, out.Late})
	require.GreaterOrEqual(t, out.Objective, 60.0)
}

// Each code, in one queue.
func TestWhy(t *testing.T) {
	in := &Input{Now: 100, Nodes: []Node{{Cores: 4, FreeCores: 0, Up: 1}, {Cores: 4, FreeCores: 4, Up: 1}},
		Running:  []Running{{End: 150, FirstSegment: 0, Segments: 1}},
		Segments: []Segment{{First: 0, Last: 0, Cores: 4}}}
	for i, cores := range []uint32{9, 8, 4, 4, 4, 1} {
		in.Jobs = append(in.Jobs, Job{Priority: uint64(100 - i), Cores: cores, TimeLimit: 10, Mask: -1})
	}
	in.Jobs[4].MinNodes, in.Jobs[4].MaxNodes = 2, 2
	e := open(t, "preset=none window=4 depth=0")
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	var why []uint8
	for _, d := range out.Decisions {
		why = append(why, d.Why)
	}
	require.Equal(t, []uint8{WaitsNever, WaitsReserved, Starts, WaitsLost, WaitsFit, NotLookedAt}, why)
	require.EqualValues(t, 150, out.Decisions[1].Expected)
	require.NoError(t, open(t, "window=1 depth=0").Cycle(&Input{Nodes: in.Nodes[:1], Jobs: in.Jobs[5:]}, &out))
	require.Equal(t, []Decision{{Why: WaitsFit}}, out.Decisions)
	require.True(t, out.Optimal)
}

// The clock's origin is the caller's.
func TestNowHasAnyOrigin(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 10 {
		in := randomInput(rng, 60, 40)
		var want, got Output
		require.NoError(t, open(t, "deadline_ms=60000 work=100000").Cycle(in, &want))
		for _, now := range []int64{math.MinInt64, -77, 0, math.MaxInt64 - 1<<42} {
			moved := *in
			moved.Running = append([]Running(nil), in.Running...)
			for i := range moved.Running {
				if moved.Running[i].End += now - in.Now; now == math.MinInt64 && in.Running[i].End < in.Now {
					moved.Running[i].End = now
				}
			}
			moved.Now = now
			require.NoError(t, open(t, "deadline_ms=60000 work=100000").Cycle(&moved, &got))
			for i, d := range got.Decisions {
				if d.Expected != 0 {
					d.Expected += in.Now - now
				}
				require.Equal(t, want.Decisions[i], d)
			}
		}
	}
}

func TestSameInputAndSeedSameDecisions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	used := open(t, "deadline_ms=60000 work=100000")
	for range 10 {
		in := randomInput(rng, rng.IntN(200)+1, rng.IntN(80))
		var a, b Output
		require.NoError(t, used.Cycle(in, &a))
		require.NoError(t, open(t, "deadline_ms=60000 work=100000").Cycle(in, &b))
		a.Elapsed, b.Elapsed = 0, 0
		require.Equal(t, len(a.Decisions), len(b.Decisions))
		for i := range a.Decisions {
			require.Equal(t, a.Decisions[i], b.Decisions[i])
		}
		require.Equal(t, append([]Segment{}, a.Segments...), append([]Segment{}, b.Segments...))
	}
}

// Of a machine that it has seen before an engine takes over what has changed.
func TestAUsedEngineSeesWhatAFreshOneSees(t *testing.T) {
	const settings = "deadline_ms=60000 work=20000"
	rng := rand.New(rand.NewPCG(6, 6))
	for range 10 {
		first := randomInput(rng, rng.IntN(200)+1, rng.IntN(40))
		used := open(t, settings)
		for range 6 {
			in := *first
			in.Nodes = slices.Clone(first.Nodes)
			for n := range in.Nodes {
				if x := &in.Nodes[n]; rng.IntN(4) == 0 {
					x.FreeCores, x.FreeGPUs = uint16(rng.IntN(int(x.FreeCores)+1)), uint8(rng.IntN(int(x.FreeGPUs)+1))
					x.Up = uint8(rng.IntN(2))
				}
			}
			fresh := open(t, settings)
			var a, b Output
			require.NoError(t, used.Cycle(&in, &a))
			require.NoError(t, fresh.Cycle(&in, &b))
			require.Equal(t, fresh.snapshot.Nodes, used.snapshot.Nodes)
			require.Equal(t, b.Decisions, a.Decisions)
			require.Equal(t, append([]Segment{}, b.Segments...), append([]Segment{}, a.Segments...))
		}
	}
}

func TestObjectives(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 8, FreeCores: 8, Up: 1}}, Jobs: []Job{
		{Priority: 11, Cores: 1, TimeLimit: 9, Mask: -1},
		{Priority: 10, Cores: 1, TimeLimit: 8, Mask: -1},
		{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1},
	}}
	var out Output
	require.NoError(t, open(t, "preset=none reservations=0").Cycle(in, &out))
	require.Equal(t, []uint8{Starts, Starts}, []uint8{out.Decisions[0].Why, out.Decisions[1].Why}, "11 + 10 are worth more than 9")
	require.NoError(t, open(t, "preset=none reservations=0 objective=size").Cycle(in, &out))
	require.Equal(t, []uint8{WaitsLost, WaitsLost, Starts},
		[]uint8{out.Decisions[0].Why, out.Decisions[1].Why, out.Decisions[2].Why}, "9 x 8 are worth more than 21")
	require.InDelta(t, 72, out.Objective, 9)
}

// With a patience the place is kept for the job that has waited longer, not for the first.
func TestPatience(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 8, FreeCores: 4, Up: 1}}, Running: []Running{{End: 100, Segments: 1}},
		Segments: []Segment{{Cores: 4}}, Jobs: []Job{
			{Priority: 9, Cores: 8, TimeLimit: 9, Mask: -1},
			{Priority: 9, Cores: 8, TimeLimit: 8, Mask: -1, Waited: 50},
			{Priority: 1, Cores: 1, TimeLimit: 9, Mask: -1},
		}}
	for settings, reserved := range map[string]int{"preset=none": 0, "preset=none patience_s=100": 1} {
		var out Output
		require.NoError(t, open(t, settings).Cycle(in, &out))
		require.EqualValues(t, WaitsReserved, out.Decisions[reserved].Why, settings)
		require.NotEqualValues(t, WaitsReserved, out.Decisions[1-reserved].Why, settings)
	}
}

// Random valid inputs, settings and sizes: every outcome passes the dumb checker.
func TestOutcomesAreValid(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		settings := rapid.SampledFrom([]string{"work=100000", "work=100000 window=10",
			"work=100000 window=5 depth=3 reservations=0", "work=100000 objective=size",
			"work=100000 throughput=yes", "work=100000 reservations=3 bids=4", "work=100000 drafts=0",
			"deadline_ms=1"}).Draw(r, "settings")
		e, err := New(settings, Options{})
		require.NoError(r, err)
		var out Output
		for range 3 {
			in := randomInput(rng, rng.IntN(150)+1, rng.IntN(60))
			require.NoError(r, e.Cycle(in, &out))
			require.NoError(r, check(in, &out))
		}
	})
}

// The conversion of an input of a size that was seen before allocates nothing.
func TestLoadAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	in := randomInput(rand.New(rand.NewPCG(1, 2)), 2000, 900)
	require.NotEmpty(t, in.Running)
	require.NotEmpty(t, in.Masks)
	require.NotEmpty(t, in.Alternatives)
	e := open(t, "")
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		in.Nodes[3].Up ^= 1
		in.Now++
		if e.snapshot.load(in) != nil {
			t.Fatal("not loaded")
		}
	}))
	require.Positive(t, len(out.Segments))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		out.clear()
		if out.fill(in, &e.snapshot, &e.plan, Auction2, &e.files) != nil {
			t.Fatal("not filled")
		}
	}))
}

// Jobs that run for ever are expected to end late, not early.
func TestFarEnds(t *testing.T) {
	for _, c := range []struct {
		now, end int64
		want     Decision
	}{ // far away, it is no end
		{0, math.MaxInt64, Decision{Why: WaitsFit}},
		{math.MinInt64, math.MaxInt64, Decision{Why: WaitsFit}},
		{math.MaxInt64 - 5, math.MaxInt64, Decision{Why: WaitsReserved, Expected: math.MaxInt64}},
		{7, math.MinInt64, Decision{Why: WaitsReserved, Expected: 8}},
	} {
		in := &Input{Now: c.now, Nodes: []Node{{Cores: 4, FreeCores: 1, Up: 1}},
			Running: []Running{{End: c.end, Segments: 1}}, Segments: []Segment{{Cores: 3}},
			Jobs: []Job{{Priority: 2, Cores: 2, TimeLimit: NoLimit, Mask: -1}, {Priority: 1, Cores: 1, TimeLimit: NoLimit, Mask: -1}}}
		var out Output
		require.NoError(t, open(t, "").Cycle(in, &out))
		require.Equal(t, c.want, out.Decisions[0])
	}
}

// A cycle neither changes its input nor keeps any of it.
func TestInputStaysTheCallers(t *testing.T) {
	in := randomInput(rand.New(rand.NewPCG(3, 3)), 100, 50)
	var masks, jobs = append([]uint64(nil), in.Masks...), append([]Job(nil), in.Jobs...)
	nodes := append([]Node(nil), in.Nodes...)
	e := open(t, "")
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.Equal(t, masks, in.Masks)
	require.Equal(t, jobs, in.Jobs)
	require.Equal(t, nodes, in.Nodes)
	require.Equal(t, masks, e.snapshot.words)
	require.NotSame(t, &in.Masks[0], &e.snapshot.words[0])
}

// The engine forgets the last cycle's machine and jobs.
func TestMachineChanges(t *testing.T) {
	e := open(t, "")
	var out Output
	cycle := func(free uint16, up uint8, nodes int) uint8 {
		in := &Input{Jobs: []Job{{Priority: 1, Cores: 6, TimeLimit: 5, Mask: -1}}}
		for range nodes {
			in.Nodes = append(in.Nodes, Node{Cores: 4, FreeCores: free, Up: up})
		}
		require.NoError(t, e.Cycle(in, &out))
		require.NoError(t, check(in, &out))
		return out.Decisions[0].Why
	}
	require.Equal(t, Starts, cycle(4, 1, 2))
	require.Equal(t, WaitsFit, cycle(4, 0, 2))
	require.Equal(t, WaitsFit, cycle(2, 1, 2))
	require.Equal(t, WaitsNever, cycle(4, 1, 1))
	require.Equal(t, Starts, cycle(3, 1, 70))
	require.Equal(t, Starts, cycle(4, 1, 2))
}

// broken is a solver with a bug.
type broken struct{ do func() error }

func (broken) Name() string { return "broken" }

func (b broken) Solve(context.Context, *ipmodel.Model, ipmodel.Options, *ipmodel.Result) error {
	return b.do()
}

func TestPanicIsAnErrorAndForgotten(t *testing.T) {
	e, in := open(t, ""), tableI()
	good := e.policy
	for want, do := range map[string]func() error{
		"panic: boom (engine_test.go:":       func() error { panic("boom") },
		"index out of range [7]":             func() error { _ = in.Jobs[len(in.Jobs)+4]; return nil },
		"solver broken: nothing comes to me": func() error { return errors.New("nothing comes to me") },
	} {
		a, err := core.NewAuction(core.Preset("none"), broken{do})
		require.NoError(t, err)
		e.policy = a
		var out Output
		err = e.Cycle(in, &out)
		require.ErrorContains(t, err, want)
		var bug *PanicError
		if errors.As(err, &bug) {
			require.NotSame(t, a, e.policy, "state that a panic has left is not used again")
		}
		e.policy = good
		require.NoError(t, e.Cycle(in, &out))
		require.Equal(t, 3, out.Starts)
	}
}

// flat makes an input of any bytes: valid ones too, since numbers are mostly small.
func flat(data []byte) *Input {
	next := func() uint64 {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		if b >= 250 && len(data) >= 8 { // any number at all
			v := binary.LittleEndian.Uint64(data)
			data = data[8:]
			return v
		}
		return uint64(b % 32)
	}
	in := &Input{Now: int64(next()), Seed: next(), Deadline: 20 * time.Millisecond}
	nodes, running, segments, jobs, masks := next()*4, next()/2, next()/2, next()*2, next()/8
	for range min(nodes, 200) {
		n := Node{Cores: uint16(next()), GPUs: uint8(next() / 4), Up: uint8(next())}
		n.FreeCores, n.FreeGPUs = n.Cores-uint16(next()/4), n.GPUs-uint8(next()/16)
		in.Nodes = append(in.Nodes, n)
	}
	for range min(running, 50) {
		in.Running = append(in.Running, Running{End: int64(next()), FirstSegment: uint32(next() / 4), Segments: uint32(next() / 16)})
	}
	for range min(segments, 50) {
		first := uint32(next())
		in.Segments = append(in.Segments, Segment{First: first, Last: first + uint32(next()/8),
			Cores: uint16(next() / 8), GPUs: uint8(next() / 16)})
	}
	priority := uint64(1 << 30)
	for range min(jobs, 100) {
		priority -= next()
		j := Job{Priority: priority, Cores: uint32(next()), MinNodes: uint32(next() / 8), TimeLimit: uint32(next()),
			MinGPUs: uint8(next() / 16), Flags: uint8(next() / 24), Mask: int32(next()/8) - 1}
		j.MaxNodes, j.MaxGPUs = j.MinNodes+uint32(next()/8), j.MinGPUs+uint8(next()/16)
		if next() == 3 {
			j.CoresPerNode = uint32(next() / 4)
		}
		in.Jobs = append(in.Jobs, j)
	}
	in.MaskCount, in.MaskWords = int(min(masks, 4)), (len(in.Nodes)+63)/64
	for range in.MaskCount * in.MaskWords {
		in.Masks = append(in.Masks, next()*0x0101010101010101)
	}
	for range min(next(), 12) {
		in.Alternatives = append(in.Alternatives, Alternative{Job: uint32(next() / 2), Cores: uint32(next()), MinNodes: uint32(next() / 8),
			MaxNodes: uint32(next()), CoresPerNode: uint32(next() / 16), MinGPUs: uint8(next() / 24), MaxGPUs: uint8(next() / 8),
			Flags: uint8(next() / 24), Reserved: uint8(next() / 31), Mask: int32(next()/8) - 1})
	}
	if next()%4 > 0 {
		for range len(in.Nodes) + int(min(next()/31, 3)) {
			in.Stores = append(in.Stores, Store{next(), next()})
		}
	}
	reads := func() (out []Read) {
		for range min(next(), 12) {
			out = append(out, Read{uint32(next() / 2), uint32(next() / 31), next(), next()})
		}
		return out
	}
	in.JobReads, in.RunningReads = reads(), reads()
	in.Resources = int(min(next()/11, 3))
	for range in.Resources*len(in.Nodes) + int(min(next()/100, 2)) {
		in.Amounts = append(in.Amounts, Amount{uint32(next()), uint32(next() / 2)})
	}
	uses := func() (out []Use) {
		for range min(next(), 12) {
			out = append(out, Use{uint32(next() / 2), uint16(next() / 64), uint16(next() / 31 / 8),
				uint32(next() / 2), uint32(next() / 16), uint32(next() / 8)})
		}
		return out
	}
	in.JobUses, in.AlternativeUses, in.RunningUses = uses(), uses(), uses()
	for range min(next()/11, 3) {
		in.Quotas = append(in.Quotas, uint64(next()))
	}
	charges := func() (out []Charge) {
		for range min(next(), 12) {
			out = append(out, Charge{uint32(next() / 2), uint32(next() / 64),
				uint64(next() / 16), uint64(next() / 16), uint64(next() / 16), uint64(next() / 16)})
		}
		return out
	}
	in.JobCharges, in.AlternativeCharges, in.RunningCharges = charges(), charges(), charges()
	for i := range in.Running {
		in.Running[i].Price, in.Running[i].PreemptClass = next(), uint8(next()/8)
		in.Running[i].Share = uint32(next() / 16)
	}
	for i := range in.Segments {
		in.Segments[i].Bin = uint8(next() / 16)
	}
	for i := range in.Jobs {
		in.Jobs[i].Preempts, in.Jobs[i].Share = next()>>2, uint32(next()/16)
	}
	for i := range in.Alternatives {
		in.Alternatives[i].Share = uint32(next() / 16)
	}
	if next()%2 > 0 {
		for range len(in.Nodes) + int(min(next()/31, 3)) {
			in.ShareSizes = append(in.ShareSizes, uint32(next()))
		}
	}
	for range min(next()/2, 8) {
		in.SharedGPUs = append(in.SharedGPUs, SharedGPU{Node: uint32(next() / 4), Free: uint32(next() / 2), Bin: uint8(next() / 8)})
	}
	for range min(next()/8, 9) {
		in.Switches = append(in.Switches, Switch{Parent: uint32(next()/3) - 1})
	}
	for range len(in.Nodes) * int(min(next()/8, 1)) {
		in.Leaves = append(in.Leaves, uint32(next()/4)-1)
	}
	for i := range in.Jobs {
		in.Jobs[i].Switches, in.Jobs[i].Within, in.Jobs[i].Segment = uint32(next()/24), uint16(next()/24), uint16(next()/28)
	}
	return in
}

// repair makes an input valid, so that what is behind the checks is reached: it drops
// running jobs that do not fit and gives jobs what they lack.
func repair(in *Input) {
	if len(in.Nodes) == 0 {
		in.Nodes = []Node{{Cores: 4, FreeCores: 4, Up: 1}}
		in.MaskWords, in.MaskCount, in.Masks = 1, 0, nil
	}
	for i := range in.Nodes {
		n := &in.Nodes[i]
		n.GPUs = min(n.GPUs, MaxGPUsPerNode)
		n.FreeCores, n.FreeGPUs = min(n.FreeCores, n.Cores), min(n.FreeGPUs, n.GPUs)
	}
	in.Running = nil
	for i, s := range in.Segments {
		if s.Last = min(s.Last, uint32(len(in.Nodes)-1)); s.First > s.Last || s.Cores == 0 {
			continue
		}
		fits := true
		for _, n := range in.Nodes[s.First : s.Last+1] {
			fits = fits && n.FreeCores >= s.Cores && n.FreeGPUs >= s.GPUs
		}
		for n := s.First; n <= s.Last && fits; n++ {
			in.Nodes[n].FreeCores -= s.Cores
			in.Nodes[n].FreeGPUs -= s.GPUs
		}
		if fits {
			in.Segments[i] = s
			in.Running = append(in.Running, Running{End: in.Now + int64(i*7%40), FirstSegment: uint32(i), Segments: 1})
		}
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Cores, j.TimeLimit, j.Flags = max(j.Cores, j.MinNodes, 1), max(j.TimeLimit, 1), j.Flags&1
		j.Cores, j.Mask = min(j.Cores, 1<<30), max(min(j.Mask, int32(in.MaskCount)-1), -1)
		j.MinNodes = min(j.MinNodes, j.Cores)
		j.Priority = min(j.Priority, MaxPriority-uint64(i))
		if i > 0 {
			j.Priority = max(min(j.Priority, in.Jobs[i-1].Priority), 1)
		}
		if j.CoresPerNode > 0 {
			j.MinNodes, j.MaxNodes, j.Cores = 0, 0, j.CoresPerNode*max(j.Cores/j.CoresPerNode%9, 1)
		}
		j.MinNodes, j.MaxGPUs = min(j.MinNodes, MaxNodes), max(j.MaxGPUs, j.MinGPUs)
		if j.MaxNodes != 0 {
			j.MaxNodes = max(j.MaxNodes, j.MinNodes)
		}
	}
	repairAlternatives(in)
	in.repairReads()
	in.repairResources()
	in.repairQuotas()
	in.repairShares()
	in.repairSwitches()
}

// repairSwitches makes leaves those of the nodes, and drops a tree that is none.
func (in *Input) repairSwitches() {
	for i := range in.Switches {
		if i > 0 && in.Switches[i].Parent != NoSwitch {
			in.Switches[i].Parent %= uint32(i)
		} else {
			in.Switches[i].Parent = NoSwitch
		}
	}
	if len(in.Leaves) != len(in.Nodes) || len(in.Switches) == 0 {
		in.Switches, in.Leaves = nil, nil
	}
	for i := range in.Leaves {
		in.Leaves[i] %= uint32(len(in.Switches))
	}
	if _, err := newTopology(in); len(in.Switches) > 0 && err != nil {
		in.Switches, in.Leaves = nil, nil
	}
}

// repairQuotas makes charges those of its jobs, against quotas that there are.
func (in *Input) repairQuotas() {
	repair := func(charges []Charge, elements int) []Charge {
		if len(in.Quotas) == 0 {
			return nil
		}
		charges = charges[:min(len(charges), elements)]
		for i := range charges {
			charges[i].Of = uint32(i)
			charges[i].Quota %= uint32(len(in.Quotas))
		}
		return charges
	}
	in.JobCharges, in.AlternativeCharges = repair(in.JobCharges, len(in.Jobs)), repair(in.AlternativeCharges, len(in.Alternatives))
	in.RunningCharges = repair(in.RunningCharges, len(in.Running))
}

// repairResources makes amounts those of the machine, and uses those of its jobs.
func (in *Input) repairResources() {
	in.Resources = min(in.Resources, len(in.Amounts)/len(in.Nodes), MaxResources)
	in.Amounts = in.Amounts[:in.Resources*len(in.Nodes)]
	for i := range in.Amounts {
		in.Amounts[i].Free = min(in.Amounts[i].Free, in.Amounts[i].Total)
	}
	repair := func(uses []Use, elements int) []Use {
		if in.Resources == 0 {
			return nil
		}
		uses = uses[:min(len(uses), elements)]
		for i := range uses {
			uses[i].Of, uses[i].Reserved = uint32(i), 0
			uses[i].Resource %= uint16(in.Resources)
		}
		return uses
	}
	in.JobUses, in.AlternativeUses = repair(in.JobUses, len(in.Jobs)), repair(in.AlternativeUses, len(in.Alternatives))
	in.RunningUses = nil // what is free may leave no room for it
}

// repairReads makes stores and reads those of the machine and of its jobs.
func (in *Input) repairReads() {
	if len(in.Stores) == 0 {
		in.JobReads, in.RunningReads = nil, nil
		return
	}
	for len(in.Stores) < len(in.Nodes) {
		in.Stores = append(in.Stores, in.Stores[0])
	}
	in.Stores = in.Stores[:len(in.Nodes)]
	repair := func(reads []Read, jobs int) []Read {
		reads = reads[:min(len(reads), jobs)]
		for i := range reads {
			r := &reads[i]
			*r = Read{Job: uint32(i), File: max(r.File, 1), Bytes: max(min(r.Bytes, MaxFile), 1)}
		}
		return reads
	}
	in.JobReads, in.RunningReads = repair(in.JobReads, len(in.Jobs)), repair(in.RunningReads, len(in.Running))
}

// repairAlternatives makes some of them those of jobs, and drops the others.
func repairAlternatives(in *Input) {
	given := in.Alternatives
	in.Alternatives = nil
	for i, a := range given {
		if j := i / 3; j < len(in.Jobs) && a.Cores > 0 {
			a.MinNodes, a.MaxNodes, a.CoresPerNode = 0, 0, 0
			a.MaxGPUs, a.Flags, a.Reserved = max(a.MaxGPUs, a.MinGPUs), a.Flags&1, 0
			a.Job, a.Cores, a.Mask = uint32(j), min(a.Cores, 1<<30), in.Jobs[j].Mask
			in.Alternatives = append(in.Alternatives, a)
		}
	}
}

func TestRepairedInputsAreValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	e, valid, starts := open(t, ""), 0, 0
	for range 200 {
		data := make([]byte, 900)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		in := flat(data)
		repair(in)
		var out Output
		if e.Cycle(in, &out) == nil {
			valid++
			starts += out.Starts
		}
	}
	require.Greater(t, valid, 150, "the fuzz test must get past the checks")
	require.Greater(t, starts, 400)
}

// anySettings are engines with settings of all kinds. What they solve is bounded, so that many
// inputs are tried.
func anySettings(t testing.TB) (engines []*Engine) {
	for _, settings := range []string{"", "reservations=3", "objective=size window=5", "throughput=yes", "paper=yes",
		"drafts=0 reservations=0 depth=2",
		"keep_holes=yes", "preset=default", "preset=short", "preset=throughput", "preset=default keep_holes=yes objective=rate",
		"keep_holes=yes compact=yes patience_s=3600 promise_s=3600", "preset=short window=3 depth=1 promise_s=1",
		"preset=throughput reservations=64 bids=1 drafts=0 keep_holes=yes", "contiguous_bids=yes throughput=yes",
		"window=100000 depth=100000 bids=4096 drafts=4096"} {
		engines = append(engines, open(t, "work=20000 "+settings))
	}
	return engines
}

func FuzzCycle(f *testing.F) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		seed := make([]byte, 200+rng.IntN(800))
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		f.Add(seed, uint8(rng.Uint32()))
	}
	engines := anySettings(f)
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		in := flat(data)
		if kind >= 64 {
			repair(in)
		}
		stuck := time.AfterFunc(20*time.Second, func() { panic("a cycle of 20 ms does not end") })
		defer stuck.Stop()
		var out Output
		switch err := engines[int(kind)%len(engines)].Cycle(in, &out); err.(type) {
		case nil:
			require.NoError(t, check(in, &out))
		case *InputError:
			require.Empty(t, out.Decisions)
		default:
			t.Fatal(err)
		}
	})
}

// Sizes of the arrays that do not fit one another, and numbers of any size, raw.
func FuzzRawArrays(f *testing.F) {
	f.Add(uint64(1), 3, 3, 3, 3, 1)
	f.Add(uint64(2), 65, 0, 9, 1, 2)
	e := open(f, "deadline_ms=20")
	f.Fuzz(func(t *testing.T, seed uint64, nodes, running, segments, jobs, masks int) {
		rng := rand.New(rand.NewPCG(seed, 0))
		size := func(n int) int { return max(n, -n, 0) % 100 }
		in := &Input{Now: int64(rng.Uint64()), MaskCount: masks, MaskWords: rng.IntN(3)}
		for range size(nodes) {
			in.Nodes = append(in.Nodes, Node{Cores: uint16(rng.Uint32()), FreeCores: uint16(rng.Uint32N(9)), Up: uint8(rng.Uint32N(2))})
		}
		for range size(running) {
			in.Running = append(in.Running, Running{End: int64(rng.Uint64()),
				FirstSegment: rng.Uint32(), Segments: rng.Uint32() >> rng.IntN(32),
				Price: rng.Uint64() >> rng.IntN(65), PreemptClass: uint8(rng.Uint32N(70)), Share: rng.Uint32() >> rng.IntN(33)})
		}
		for range size(segments) {
			in.Segments = append(in.Segments, Segment{rng.Uint32() >> rng.IntN(32),
				rng.Uint32() >> rng.IntN(32), uint16(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32() >> rng.IntN(33))})
		}
		for range size(jobs) {
			in.Jobs = append(in.Jobs, Job{Priority: rng.Uint64() >> rng.IntN(64),
				Cores: rng.Uint32(), TimeLimit: rng.Uint32(), Mask: int32(rng.Uint32N(3)) - 1,
				Preempts: rng.Uint64(), Share: rng.Uint32() >> rng.IntN(33)})
		}
		for range rng.IntN(12) {
			in.Alternatives = append(in.Alternatives, Alternative{Job: rng.Uint32() >> rng.IntN(33),
				Cores: rng.Uint32() >> rng.IntN(32), MaxNodes: rng.Uint32N(9),
				MaxGPUs: uint8(rng.Uint32()), Mask: int32(rng.Uint32N(3)) - 1})
		}
		for range size(masks) * in.MaskWords {
			in.Masks = append(in.Masks, rng.Uint64())
		}
		for range min(rng.IntN(3), 1) * (len(in.Nodes) + rng.IntN(9)/8) {
			in.Stores = append(in.Stores, Store{rng.Uint64N(9), rng.Uint64() >> rng.IntN(64)})
		}
		for _, reads := range []*[]Read{&in.JobReads, &in.RunningReads} {
			for range rng.IntN(4) {
				*reads = append(*reads, Read{rng.Uint32() >> rng.IntN(33), rng.Uint32N(9) / 8,
					rng.Uint64N(9), rng.Uint64() >> rng.IntN(64)})
			}
		}
		for range min(rng.IntN(3), 1) * rng.IntN(3) * len(in.Nodes) {
			in.Amounts = append(in.Amounts, Amount{rng.Uint32() >> rng.IntN(32), rng.Uint32N(9)})
		}
		in.Resources = len(in.Amounts) / max(len(in.Nodes), 1)
		for _, uses := range []*[]Use{&in.JobUses, &in.AlternativeUses, &in.RunningUses} {
			for range rng.IntN(4) {
				*uses = append(*uses, Use{rng.Uint32() >> rng.IntN(33), uint16(rng.Uint32N(3)), uint16(rng.Uint32N(9) / 8),
					rng.Uint32() >> rng.IntN(32), rng.Uint32() >> rng.IntN(32), rng.Uint32() >> rng.IntN(32)})
			}
		}
		for range rng.IntN(3) {
			in.Quotas = append(in.Quotas, rng.Uint64()>>rng.IntN(64))
		}
		for _, charges := range []*[]Charge{&in.JobCharges, &in.AlternativeCharges, &in.RunningCharges} {
			for range rng.IntN(4) {
				*charges = append(*charges, Charge{rng.Uint32() >> rng.IntN(33), rng.Uint32N(3), rng.Uint64() >> rng.IntN(64),
					rng.Uint64() >> rng.IntN(64), rng.Uint64() >> rng.IntN(64), rng.Uint64() >> rng.IntN(64)})
			}
		}
		for range min(rng.IntN(3), 1) * (len(in.Nodes) + rng.IntN(9)/8) {
			in.ShareSizes = append(in.ShareSizes, rng.Uint32()>>rng.IntN(33))
		}
		for range rng.IntN(4) {
			in.SharedGPUs = append(in.SharedGPUs, SharedGPU{Node: rng.Uint32() >> rng.IntN(33),
				Free: rng.Uint32() >> rng.IntN(33), Bin: uint8(rng.Uint32())})
		}
		var out Output
		switch err := e.Cycle(in, &out); err.(type) {
		case nil:
			require.NoError(t, check(in, &out))
		case *InputError:
		default:
			t.Fatal(err)
		}
	})
}
