// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/race"
)

// No policy that never refuses a pod that fits, in batches of window or of what divides it, gives
// out more than bound, even if it knows what will come. It is in thousandths of GPUs.
//
// The proof has a request r for a share, and a request wide for the same share, with no fewer
// cores and no less memory. Let R and F be the requests within r and within wide: of one GPU, any
// model, and no more than these have of anything. Let i and j be the windows in which a pod of F
// and one of R are dropped first; i is not after j, as R is a part of F.
//
//   - All of F that came before i have a place, and all of R that came before j.
//   - At the end of i, a node with r's share idle on a GPU has fewer cores or less memory idle than
//     wide asks for; else the pod would fit. It stays so. All that such a starved node takes later
//     is thin: it asks for fewer cores or less memory than wide. Together that is less than what
//     wide asks for, of cores or of memory. Let a pod's weight be the lesser of the two parts of
//     wide's: a starved node then takes less than 1 in all.
//   - At the end of j the same goes for r.
//
// So there are two kinds of GPU in the end. Some had less than r's share idle at the end of i, and
// got small shares later. Others had more, on starved nodes. They got thin pods until j, and then
// thin small shares, if less than r's share was left, or else what is thin beside r.
//
// Otherwise cores, memory and nodes do not count: GPUs are bins, and pods of several GPUs fall
// apart. The best contents of all bins are a linear program over the contents of one. The bound is
// its value, the most over all i and j, and over the cases that none is dropped. Shares must be
// multiples of step.
func bound(c *Cluster, pods []Pod, order []int, wide, r *Request, window int) float64 {
	last := (len(order) + window - 1) / window
	at := func(k int) int { return min(k*window, len(order)) }
	most, known := 0.0, prices{}
	for i := last; i >= 0; i-- { // then the first programs are solved where most are ruled out by
		for j := i; j <= last; j++ {
			s := stages{wide: wide, r: r, i: [2]int{at(i), at(i + 1)}, j: [2]int{at(j), at(j + 1)}}
			most = max(most, s.program(c, pods, order).solve(most, known))
		}
	}
	return min(most, float64(c.Thousandths()))
}

// stages are the two windows of the proof, each from its first arrival to behind its last.
type stages struct {
	wide, r *Request
	i, j    [2]int
}

// Kinds of arrivals, by when they come and where they still go then.
const (
	early   = iota // until the end of i
	fat            // small shares after i that no starved node takes
	thin           // small shares after i that starved nodes take
	thinner        // the same, also after j
	large          // others after i, until the end of j
	larger         // others after j
)

// What a GPU takes, by stage: the sets of kinds.
var takes = [fillings][]int{
	first:  {early},
	blunt:  {fat, thin, thinner},
	open:   {thin, thinner, large},
	narrow: {thin, thinner},
	bare:   {thinner, larger},
}

// program counts the arrivals.
func (s *stages) program(c *Cluster, pods []Pod, order []int) *program {
	b := &program{bins: float64(c.Thousandths()) / Whole, nodes: float64(len(c.Nodes)),
		full: binSize - int(s.r.Share)/step + 1}
	if s.i[0] == len(order) {
		b.full = 0
	}
	known := map[name]int{}
	for k, p := range order {
		q := &pods[p].Request
		if n, ok := s.name(k, q); ok {
			x, seen := known[n]
			if !seen {
				x = len(b.items)
				known[n] = x
				b.add(n)
			}
			b.items[x].supply += float64(q.GPUs)
		}
	}
	return b
}

// name says what arrival k is in the program; ok is false if it is nowhere.
func (s *stages) name(k int, q *Request) (n name, ok bool) {
	n.size = int(q.Share) / step
	inR, inF := within(q, s.r), within(q, s.wide)
	if k >= s.i[1] {
		part := min(ratio(q.CPU, s.wide.CPU), ratio(q.Memory, s.wide.Memory))
		n.weight = int(parts * part / float64(max(q.GPUs, 1)))
	}
	small, onWide, onR := q.Share < s.r.Share, lacks(q, s.wide), lacks(q, s.r)
	switch {
	case q.GPUs == 0:
		return n, false
	case k < s.i[1]:
		n.kind, n.must = early, inF && k < s.i[0] || inR && k < s.j[0]
	case small && !onWide:
		n.kind, n.weight = fat, 0
	case small && !onR:
		n.kind = thin
	case small:
		n.kind = thinner
	case k < s.j[1] && onWide:
		n.kind, n.must = large, inR && k < s.j[0]
	case k >= s.j[1] && onR:
		n.kind = larger
	default:
		return n, false
	}
	return n, true
}

// within says whether q fits wherever r does, and is for one GPU of any model.
func within(q, r *Request) bool {
	return q.GPUs == 1 && q.Share <= r.Share && q.CPU <= r.CPU && q.Memory <= r.Memory &&
		q.Kinds == ^uint64(0)
}

// lacks says whether q may fit a node that has not the cores or not the memory for r.
func lacks(q, r *Request) bool { return q.CPU < r.CPU || q.Memory < r.Memory }

func ratio(a, b int32) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// usual is the request for most of a GPU, any model, that comes most often.
func usual(pods []Pod) *Request {
	times := map[Request]int{}
	for i := range pods {
		if r := pods[i].Request; r.Shared() && r.Share > Whole/2 && r.Kinds == ^uint64(0) {
			times[r]++
		}
	}
	var best *Request
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
		wide := *r
		wide.CPU += int32(rapid.IntRange(0, 8).Draw(t, "more cores")) * 1000
		wide.Memory += int32(rapid.IntRange(0, 4).Draw(t, "more memory"))
		window := rapid.SampledFrom([]int{2, 4, 12}).Draw(t, "window")
		policy := rapid.SampledFrom(Policies()).Draw(t, "policy")
		inflate := rapid.SampledFrom([]float64{0.8, 1.3}).Draw(t, "inflate")
		run, err := Run(c, pods, Options{Policy: policy, Inflate: inflate, Batch: min(window, 4), Seed: 5})
		require.NoError(t, err)
		given := run.At(130) / 100 * float64(c.Thousandths())
		require.LessOrEqual(t, given, bound(c, pods, run.Order, &wide, r, window)+1e-6, policy)
	})
}

// Both get one node full, though a pod of F is dropped: what comes after it is thin, or small.
func TestBoundLetsInWhatStillFits(t *testing.T) {
	r := Request{CPU: 2000, GPUs: 1, Share: 800, Kinds: ^uint64(0)}
	wide := r
	wide.CPU = 5000
	for what, pods := range map[string][]Request{
		"thin":  {{CPU: 6000, GPUs: 1, Share: 1000}, wide, {CPU: 3000, GPUs: 1, Share: 1000}},
		"small": {{CPU: 1000, GPUs: 1, Share: 300}, wide, {CPU: 6000, GPUs: 1, Share: 700}},
	} {
		c, list := pair(pods...)
		c.Nodes = c.Nodes[:1]
		c.Nodes[0].CPU = 10000
		if what == "small" {
			c.Nodes[0].Count, c.Nodes[0].GPUs[1] = 1, 0
		}
		require.InDelta(t, c.Thousandths(), bound(c, list, []int{0, 1, 2}, &wide, &r, 1), 1e-6, what)
	}
}

// The share comes first, and must be placed: 200 thousandths are lost, although whole GPUs come.
func TestBoundKnowsWhatMustBePlaced(t *testing.T) {
	r := Request{CPU: 2000, GPUs: 1, Share: 800, Kinds: ^uint64(0)}
	c, list := pair(r, Request{CPU: 3000, GPUs: 1, Share: 1000})
	c.Nodes = c.Nodes[:1]
	require.InDelta(t, 1800, bound(c, list, []int{0, 1, 1, 1}, &r, &r, 1), 1e-6)
}

// wides are the cores and memory of what is tried for wide: any will do, the least bound counts.
// They are those of the usual shares.
var wides = [][2]int32{{8000, 30517}, {11908, 47104}}

// TestBound logs how much of the published lists can be given out at all.
func TestBound(t *testing.T) {
	race.Slow(t)
	dir := beside.Shared(t, "traces/fgd")
	lists, seeds := []string{"openb_pod_list_multigpu40"}, 1
	if os.Getenv(all) != "" {
		lists, seeds = append(lists, "openb_pod_list_multigpu50", "openb_pod_list_default"), 10
	}
	for _, list := range lists {
		c, pods := readLists(t, dir, list)
		r := usual(pods)
		mean, given := 0.0, 0.0
		for s := range seeds {
			run, err := Run(c, pods, Options{Policy: Auction, Inflate: 1.3, Batch: 10, Seed: uint64(42 + s)})
			require.NoError(t, err)
			least := float64(c.Thousandths())
			for _, w := range wides {
				wide := *r
				wide.CPU, wide.Memory = w[0], w[1]
				least = min(least, bound(c, pods, run.Order, &wide, r, 100))
			}
			require.LessOrEqual(t, run.At(130)/100*float64(c.Thousandths()), least)
			given += run.At(130) / float64(seeds)
			mean += 100 * least / float64(c.Thousandths()) / float64(seeds)
		}
		t.Logf("%s: no policy gives out more than %.2f%%; the auction %.2f%%",
			strings.TrimPrefix(list, "openb_pod_list_"), mean, given)
		require.Less(t, mean, 98.2)
		require.Greater(t, mean, 96.0)
	}
}
