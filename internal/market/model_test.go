// SPDX-License-Identifier: BSD-3-Clause

package market_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/test/requests"
	"github.com/aucsched/aucsched/ipmodel"
	"github.com/aucsched/aucsched/ipmodel/native"
	"github.com/aucsched/aucsched/nodeset"
)

// window is what a Builder gets.
type window struct {
	space    market.Space
	variants []market.Variant
	book     market.Book
}

// priority draws priorities as sites have them: Slurm's basic, multifactor, or small.
func priority(rng *rand.Rand, kind, j int) int64 {
	switch kind {
	case 0:
		return 4294901759 - int64(j)
	case 1:
		return 1 + rng.Int64N(100_000)
	}
	return 1 + rng.Int64N(4)
}

func randomTable(rng *rand.Rand, total []nodeset.Capacity, busy int) *nodeset.Table {
	t, err := nodeset.New(total)
	if err != nil {
		panic(err)
	}
	for n, c := range total {
		if rng.IntN(100) < busy {
			c = nodeset.Capacity{Cores: uint16(rng.IntN(int(c.Cores) + 1)), GPUs: uint8(rng.IntN(int(c.GPUs) + 1))}
			if err := t.SetFree(n, c); err != nil {
				panic(err)
			}
		}
	}
	return t
}

func randomRequest(rng *rand.Rand, nodes, cores, gpus int) *bids.Request {
	r := &bids.Request{Contiguous: rng.IntN(3) == 0}
	y := 1 + rng.IntN(max(1, nodes*2/3))
	switch rng.IntN(3) {
	case 0:
		r.Cores = 1 + rng.IntN(y*cores)
	case 1:
		r.MinNodes, r.MaxNodes = y, y+rng.IntN(2)
		r.Cores = r.MaxNodes + rng.IntN(y*cores)
	default:
		r.MinNodes, r.TasksPerNode = y, 1+rng.IntN(cores)
	}
	if gpus > 0 && rng.IntN(2) == 0 {
		r.MinGPUs = rng.IntN(gpus + 1)
		r.MaxGPUs = r.MinGPUs + rng.IntN(gpus+1-r.MinGPUs)
	}
	return r
}

// newWindow makes a window of up to jobs jobs with up to most bids each.
func newWindow(seed uint64, jobs, most int) *window {
	rng := rand.New(rand.NewPCG(seed, 17))
	w := &window{}
	cores, gpus := 1+rng.IntN(8), rng.IntN(4)
	total := make([]nodeset.Capacity, 2+rng.IntN(20))
	for i := range total {
		total[i] = nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}
		if rng.IntN(5) == 0 {
			total[i] = nodeset.Capacity{Cores: uint16(1 + rng.IntN(cores)), GPUs: uint8(rng.IntN(gpus + 1))}
		}
	}
	w.space.Now = randomTable(rng, total, rng.IntN(60))
	for range rng.IntN(3) {
		w.space.Left = append(w.space.Left, randomTable(rng, total, 60))
	}
	kind := rng.IntN(3)
	for j := range 1 + rng.IntN(jobs) {
		r := randomRequest(rng, len(total), cores, gpus)
		w.variants = append(w.variants, market.Variant{Spec: requests.Spec(r),
			Priority: priority(rng, kind, j), Crosses: rng.IntN(len(w.space.Left) + 1)})
	}
	var g market.Generator
	g.Generate(&w.space, w.variants, market.Options{MaxBidsPerJob: most, Drafts: most / 2}, &w.book)
	return w
}

func (w *window) build(t require.TestingT, merge bool) *ipmodel.Model {
	var m ipmodel.Model
	b := market.Builder{Merge: merge}
	require.NoError(t, b.Build(&w.space, w.variants, &w.book, nil, &m))
	require.NoError(t, m.Validate())
	return &m
}

// The matrix is the paper's: aucsched2, constraints 2, 3 and 4, entry by entry, and
// for each reservation two more rows a node where it leaves less than is free.
func TestModelHasThePapersRows(t *testing.T) {
	for seed := range uint64(200) {
		w := newWindow(seed, 8, 6)
		m := w.build(t, false)
		n := w.space.Now.Len()
		require.Equal(t, len(w.variants), m.Groups())
		require.Equal(t, w.book.JobStart, m.GroupStart)
		if len(w.space.Left) == 0 {
			require.Equal(t, len(w.variants)+2*n, m.Groups()+len(m.Cap), "|J| + 2|N|")
		}
		require.LessOrEqual(t, m.Groups()+len(m.Cap), len(w.variants)+2*n*(1+len(w.space.Left)))
		for i := range n {
			require.EqualValues(t, w.space.Now.Free(i).Cores, m.Cap[i])
			require.EqualValues(t, w.space.Now.Free(i).GPUs, m.Cap[n+i])
		}
		for i := range w.book.Bids {
			got := map[int32]int32{}
			for k := m.ColStart[i]; k < m.ColStart[i+1]; k++ {
				if m.Row[k] < int32(2*n) {
					got[m.Row[k]] = m.Coef[k]
				}
			}
			want := map[int32]int32{}
			for _, s := range w.book.Allocation(i) {
				for k := s.First; k <= s.Last; k++ {
					want[k] = int32(s.Cores)
					if s.GPUs > 0 {
						want[int32(n)+k] = int32(s.GPUs)
					}
				}
			}
			require.Equal(t, want, got)
		}
	}
}

// fits adds a choice up node by node, straight from the bids.
func (w *window) fits(chosen []int32) bool {
	jobs := map[int32]bool{}
	for _, i := range chosen {
		if jobs[w.book.Bids[i].Job] {
			return false
		}
		jobs[w.book.Bids[i].Job] = true
	}
	for n := range w.space.Now.Len() {
		for k := range len(w.space.Left) + 1 {
			tab := w.space.Now
			if k > 0 {
				tab = w.space.Left[k-1]
			}
			cores, gpus := 0, 0
			for _, i := range chosen {
				for _, s := range w.book.Allocation(int(i)) {
					if int(s.First) <= n && n <= int(s.Last) && w.variants[w.book.Bids[i].Job].Crosses >= k {
						cores += int(s.Cores)
						gpus += int(s.GPUs)
					}
				}
			}
			if cores > int(tab.Free(n).Cores) || gpus > int(tab.Free(n).GPUs) {
				return false
			}
		}
	}
	return true
}

func (w *window) randomChoice(rng *rand.Rand) (chosen []int32) {
	share := 1 + rng.IntN(4)
	for j := range w.variants {
		from, to := w.book.JobStart[j], w.book.JobStart[j+1]
		for to > from && rng.IntN(4) < share {
			chosen = append(chosen, from+rng.Int32N(to-from))
			if rng.IntN(20) > 0 {
				break
			}
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

func TestModelAllowsWhatTheNodesAllow(t *testing.T) {
	yes, no := 0, 0
	for seed := range uint64(400) {
		w := newWindow(seed, 8, 8)
		if seed%2 == 0 { // few bids, so that merged rows are long
			w = newWindow(seed, 4, 2)
		}
		plain, merged := w.build(t, false), w.build(t, true)
		require.LessOrEqual(t, len(merged.Cap), len(plain.Cap))
		rng := rand.New(rand.NewPCG(seed, 3))
		for range 40 {
			chosen := w.randomChoice(rng)
			want := w.fits(chosen)
			if want {
				yes++
			} else {
				no++
			}
			for _, m := range []*ipmodel.Model{plain, merged} {
				_, err := m.Check(chosen)
				require.Equal(t, want, err == nil, "seed %d: %v", seed, err)
			}
		}
	}
	require.Greater(t, yes, 1000)
	require.Greater(t, no, 1000)
}

func solve(t require.TestingT, m *ipmodel.Model) *ipmodel.Result {
	var r ipmodel.Result
	require.NoError(t, native.New().Solve(context.Background(), m, ipmodel.Options{Seed: 1}, &r))
	return &r
}

func TestMergingKeepsTheOptimum(t *testing.T) {
	fewer := 0
	for seed := range uint64(150) {
		w := newWindow(seed, 8, 8)
		plain, merged := w.build(t, false), w.build(t, true)
		a, b := solve(t, plain), solve(t, merged)
		require.Equal(t, []ipmodel.Status{ipmodel.Optimal, ipmodel.Optimal}, []ipmodel.Status{a.Status, b.Status})
		require.Equal(t, a.Value, b.Value, "seed %d", seed)
		require.True(t, w.fits(b.Chosen))
		if len(merged.Cap) < len(plain.Cap) {
			fewer++
		}
	}
	require.Greater(t, fewer, 50)
}

// Equation 1 with alpha of equation 10, to half a unit of the model's worth a bid.
func TestWorthIsPriorityAndAlphaTimesPreference(t *testing.T) {
	for seed := range uint64(200) {
		w := newWindow(seed, 12, 8)
		b, m := market.Builder{Merge: true}, new(ipmodel.Model)
		require.NoError(t, b.Build(&w.space, w.variants, &w.book, nil, m))
		lowest, sum := int64(math.MaxInt64), int64(0)
		for _, a := range w.variants {
			lowest, sum = min(lowest, a.Priority), sum+a.Priority
		}
		alpha := float64(lowest) / float64(len(w.book.Bids)+1)
		frac, _ := math.Frexp(m.Scale)
		require.Equal(t, 0.5, frac, "the scale is a power of two")
		require.GreaterOrEqual(t, m.Scale, 1.)
		require.Less(t, float64(sum)*m.Scale, math.Exp2(50))
		all := 0.0
		for i, bid := range w.book.Bids {
			want := float64(w.variants[bid.Job].Priority) + alpha*bid.Preference
			require.InDelta(t, want, float64(m.Value[i])/m.Scale, 0.5000001/m.Scale)
			all += alpha * bid.Preference
		}
		require.Less(t, all, float64(lowest), "equation 9")
		r := solve(t, m)
		exact := 0.0
		for _, i := range r.Chosen {
			exact += float64(w.variants[w.book.Bids[i].Job].Priority) + alpha*w.book.Bids[i].Preference
		}
		require.InDelta(t, exact, m.Objective(r.Value), 0.5000001*float64(len(r.Chosen))/m.Scale)
	}
}

// The preferences never overrule a priority: of two choices the one with more
// priority is worth more, however it is preferred.
func TestPreferencesOnlyBreakTies(t *testing.T) {
	for seed := range uint64(200) {
		w := newWindow(seed, 10, 8)
		m := w.build(t, true)
		rng := rand.New(rand.NewPCG(seed, 4))
		value := func(chosen []int32) (p, worth int64) {
			for _, i := range chosen {
				p, worth = p+w.variants[w.book.Bids[i].Job].Priority, worth+m.Value[i]
			}
			return p, worth
		}
		for range 40 {
			p, a := value(w.randomChoice(rng))
			q, b := value(w.randomChoice(rng))
			lowest := slices.MinFunc(w.variants, func(x, y market.Variant) int { return int(x.Priority - y.Priority) }).Priority
			if p >= q+lowest {
				require.Greater(t, a, b, "seed %d", seed)
			}
		}
	}
}

func TestRequiredJobsAreRequired(t *testing.T) {
	w := newWindow(3, 6, 4)
	var m ipmodel.Model
	var b market.Builder
	required := make([]bool, len(w.variants))
	required[len(required)-1] = true
	require.NoError(t, b.Build(&w.space, w.variants, &w.book, required, &m))
	require.Equal(t, required, m.Required)
	require.NoError(t, b.Build(&w.space, w.variants, &w.book, nil, &m))
	require.Empty(t, m.Required, "nothing of the last window stays")
}

func TestPrioritiesThatDoNotFit(t *testing.T) {
	tab, err := nodeset.NewUniform(4, nodeset.Capacity{Cores: 4})
	require.NoError(t, err)
	for _, c := range []struct {
		priorities []int64
		want       string
	}{
		{[]int64{5, 0}, "job 1: priority 0 is less than 1"},
		{[]int64{-3}, "job 0: priority -3 is less than 1"},
		{[]int64{math.MaxInt64}, "the priorities add up to more than 1152921504606846976"},
		{[]int64{math.MaxInt64, math.MaxInt64, math.MaxInt64}, "add up to more than"},
		{[]int64{5, math.MaxInt64}, "add up to more than"},
		{[]int64{1 << 59, 1<<59 + 1}, "add up to more than"},
		{[]int64{1 << 59, 1 << 59}, ""},
		{nil, ""},
	} {
		var variants []market.Variant
		for _, p := range c.priorities {
			variants = append(variants, market.Variant{Spec: requests.Spec(&bids.Request{Cores: 1}), Priority: p})
		}
		var g market.Generator
		var book market.Book
		var b market.Builder
		var m ipmodel.Model
		g.Generate(&market.Space{Now: tab}, variants, market.Options{MaxBidsPerJob: 3}, &book)
		err := b.Build(&market.Space{Now: tab}, variants, &book, nil, &m)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, m.Validate())
	}
}

func TestAUsedBuilderBuildsAsAFreshOne(t *testing.T) {
	var used, fresh ipmodel.Model
	var b market.Builder
	rapid.Check(t, func(t *rapid.T) {
		w := newWindow(rapid.Uint64().Draw(t, "seed"), 10, 8)
		f := market.Builder{Merge: rapid.Bool().Draw(t, "merge")}
		b.Merge, fresh = f.Merge, ipmodel.Model{}
		require.NoError(t, b.Build(&w.space, w.variants, &w.book, nil, &used))
		require.NoError(t, f.Build(&w.space, w.variants, &w.book, nil, &fresh))
		require.Equal(t, fmt.Sprint(fresh), fmt.Sprint(used)) // empty and nil are alike
	})
}

func TestBuildAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	for _, merge := range []bool{false, true} {
		w := newWindow(8, 12, 8)
		b := market.Builder{Merge: merge}
		var m ipmodel.Model
		run := func() {
			if b.Build(&w.space, w.variants, &w.book, nil, &m) != nil {
				t.Fatal("build failed")
			}
		}
		run()
		require.NotEmpty(t, m.Row)
		require.Zero(t, testing.AllocsPerRun(20, run))
	}
}

// Two jobs want the same two nodes; a third takes what is left.
func ExampleBuilder() {
	machine, _ := nodeset.NewUniform(3, nodeset.Capacity{Cores: 4})
	variants := []market.Variant{
		{Spec: requests.Spec(&bids.Request{MinNodes: 2, TasksPerNode: 4, Contiguous: true}), Priority: 30},
		{Spec: requests.Spec(&bids.Request{MinNodes: 2, TasksPerNode: 3, Contiguous: true}), Priority: 20},
		{Spec: requests.Spec(&bids.Request{Cores: 4}), Priority: 15},
	}
	space := market.Space{Now: machine}
	var g market.Generator
	var book market.Book
	g.Generate(&space, variants, market.Options{MaxBidsPerJob: 5}, &book)

	var b market.Builder
	var m ipmodel.Model
	if err := b.Build(&space, variants, &book, nil, &m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(m.Value), "bids,", m.Groups()+len(m.Cap), "rows")
	var r ipmodel.Result
	_ = native.New().Solve(context.Background(), &m, ipmodel.Options{}, &r)
	fmt.Printf("%v, objective %.2f\n", r.Status, m.Objective(r.Value))
	for _, i := range r.Chosen {
		fmt.Println("job", book.Bids[i].Job, "on", book.Allocation(int(i)))
	}
	// Output:
	// 7 bids, 9 rows
	// optimal, objective 48.63
	// job 0 on [{0 1 4 0}]
	// job 2 on [{2 2 4 0}]
}
