// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/beside"
	"github.com/aucsched/aucsched/internal/frag"
	"github.com/aucsched/aucsched/internal/race"
)

// No policy that never refuses a pod that fits, in batches of window or of what divides it, gives
// out more than bound. It is in thousandths of GPUs. The proof, with one request r for a share:
//
// Let the first pod that asks for r and is dropped be of the arrivals from to to, a window. Those
// of r before from have all been placed. Once the window is decided, no GPU has r's share idle on a
// node with the cores and the memory for r, and that stays so. So what a GPU holds in the end came
// in two stages: before to, until less than r's share is idle, and then what is smaller; or before
// to anything, and then only pods that ask for fewer cores or less memory than r. Cores, memory,
// models and nodes do not count otherwise: GPUs are bins. The best filling of all of them is a
// linear program over such fillings; any multipliers for how many pods there are bound it from
// above (Lagrange). The bound is the most over all windows, and over the case that none is dropped.
//
// tries are the multipliers that are tried for each window: more of them give a lower bound.
func bound(c *Cluster, pods []Pod, order []int, r *frag.Request, window, tries int) float64 {
	most := 0.0
	for from := 0; ; from += window {
		to := min(from+window, len(order))
		if from >= len(order) {
			from, to = len(order), len(order)
		}
		b := newRelaxed(c, pods, order, r, from, to)
		most = max(most, b.solve(most, tries))
		if from == len(order) {
			return min(most, float64(c.Thousandths()))
		}
	}
}

// step is the unit of sizes; bins are GPUs.
const step, binSize = 10, frag.Whole / 10

// item are pods of one size that come in a stage. price is what one of them pays; that of those
// that must be placed may be negative.
type item struct {
	size        int
	supply      float64
	must        float64
	price, used float64
}

// relaxed is the linear program of a window.
type relaxed struct {
	bins   float64
	least  int       // of the first stage, where the second has others than thin ones
	stages [3][]item // first; second; second, thin
	best   [3][binSize + 1]float64
	choice [3][binSize + 1]int // -1: nothing
}

func newRelaxed(c *Cluster, pods []Pod, order []int, r *frag.Request, from, to int) *relaxed {
	b := &relaxed{bins: float64(c.Thousandths()) / frag.Whole, least: binSize - int(r.Share)/step + 1}
	if from == len(order) {
		b.least = 0
	}
	var count [3][binSize + 1]float64
	must, same := 0.0, 0.0
	for k, p := range order {
		q := &pods[p].Request
		stage := 0
		switch {
		case q.GPUs == 0:
			continue
		case k < to:
		case q.CPU < r.CPU || q.Memory < r.Memory:
			stage = 2
		case q.Share < r.Share:
			stage = 1
		default:
			continue // it finds no place
		}
		if *q == *r && stage == 0 {
			same++
			if k < from {
				must++
			}
			continue
		}
		count[stage][int(q.Share)/step] += float64(q.GPUs)
	}
	for s := range count {
		for size, n := range count[s] {
			if n > 0 {
				b.stages[s] = append(b.stages[s], item{size: size, supply: n})
			}
		}
	}
	b.stages[0] = append(b.stages[0], item{size: int(r.Share) / step, supply: same, must: must})
	return b
}

// fill finds the best contents of each size in a stage. Those of the first stage are exact.
func (b *relaxed) fill(stage int, items []item, exact bool) {
	best, choice := &b.best[stage], &b.choice[stage]
	for x := range best {
		best[x], choice[x] = 0, -1
		if exact && x > 0 {
			best[x] = math.Inf(-1)
		} else if x > 0 {
			best[x], choice[x] = best[x-1], -2
		}
		for i := range items {
			if s := items[i].size; s <= x && s > 0 {
				if v := best[x-s] + float64(s*step) - items[i].price; v > best[x] {
					best[x], choice[x] = v, i
				}
			}
		}
	}
}

// solve moves the multipliers, and returns the least bound that it finds. It stops when that is
// below floor.
func (b *relaxed) solve(floor float64, tries int) float64 {
	both := slices.Concat(b.stages[1], b.stages[2]) // thin ones may come to any GPU
	all := [3][]item{b.stages[0], both, both[len(b.stages[1]):]}
	least := math.Inf(1)
	for it := range tries {
		for s := range all {
			b.fill(s, all[s], s == 0)
		}
		value, first, second := math.Inf(-1), 0, 1
		for x := range b.best[0] {
			if v := b.best[0][x] + b.best[1][binSize-x]; x >= b.least && v > value {
				value, first, second = v, x, 1
			}
			if v := b.best[0][x] + b.best[2][binSize-x]; v > value {
				value, first, second = v, x, 2
			}
		}
		dual := b.bins * value
		for _, items := range all[:2] {
			for i := range items {
				p := items[i].price
				dual += max(0, p)*items[i].supply + min(0, p)*items[i].must
				items[i].used = 0
			}
		}
		if least = min(least, dual); least <= floor {
			return least
		}
		b.use(0, all[0], first)
		b.use(second, all[second], binSize-first)
		by := 500 / math.Sqrt(float64(it+1))
		for _, items := range all[:2] {
			for i := range items {
				m := &items[i]
				up := m.used - m.supply/b.bins
				if m.price < 0 {
					up = m.used - m.must/b.bins
				}
				m.price += by * up * float64(max(m.size, 5)) / binSize
				if m.must == 0 {
					m.price = max(0, m.price)
				}
			}
		}
	}
	return least
}

// use counts what the best contents of size x are.
func (b *relaxed) use(stage int, items []item, x int) {
	for x > 0 {
		switch i := b.choice[stage][x]; i {
		case -2:
			x--
		case -1:
			return
		default:
			items[i].used++
			x -= items[i].size
		}
	}
}

// usual is the request for most of a GPU, any model, that comes most often.
func usual(pods []Pod) *frag.Request {
	times := map[frag.Request]int{}
	for i := range pods {
		if r := pods[i].Request; r.Shared() && r.Share > frag.Whole/2 && r.Kinds == ^uint64(0) {
			times[r]++
		}
	}
	var best *frag.Request
	for r, n := range times {
		if best == nil || n > times[*best] || n == times[*best] && r.Share > best.Share {
			best = &r
		}
	}
	return best
}

func TestNoPolicyIsAboveTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, pods := scene(t)
		for i := range pods {
			if p := &pods[i]; p.Shared() {
				p.Share = max(step, p.Share/step*step)
				p.Kinds = ^uint64(0)
			}
		}
		r := usual(pods)
		window := rapid.SampledFrom([]int{4, 12}).Draw(t, "window")
		policy := rapid.SampledFrom(Policies()).Draw(t, "policy")
		run, err := Run(c, pods, Options{Policy: policy, Inflate: 1.3, Batch: min(window, 4), Seed: 5})
		require.NoError(t, err)
		given := run.At(130) / 100 * float64(c.Thousandths())
		require.LessOrEqual(t, given, bound(c, pods, run.Order, r, window, 30)+1e-6, policy)
	})
}

// TestBound logs how much of the published lists can be given out at all.
func TestBound(t *testing.T) {
	race.Slow(t)
	dir := beside.Shared(t, "traces/fgd")
	lists, seeds := []string{"openb_pod_list_default"}, 1
	if os.Getenv(all) != "" {
		lists, seeds = append(lists, "openb_pod_list_multigpu40", "openb_pod_list_multigpu50"), 10
	}
	for _, list := range lists {
		c, pods := readLists(t, dir, list)
		r := usual(pods)
		mean := 0.0
		for s := range seeds {
			order, _ := Arrivals(c, pods, 1.3, uint64(42+s))
			mean += 100 * bound(c, pods, order, r, 100, 2000) / float64(c.Thousandths()) / float64(seeds)
		}
		t.Logf("%s: no policy gives out more than %.2f%%", strings.TrimPrefix(list, "openb_pod_list_"), mean)
		require.Less(t, mean, 98.5)
		require.Greater(t, mean, 86.0)
	}
}
