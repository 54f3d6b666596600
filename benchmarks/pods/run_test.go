// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scene is a small cluster and a list that asks for a good part of it.
func scene(t *rapid.T) (*Cluster, []Pod) {
	c := &Cluster{Kinds: []string{"G2", "T4"}}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		n := Node{Name: fmt.Sprint("n", i)}
		n.CPU = int32(rapid.IntRange(0, 96).Draw(t, "cores")) * 1000
		n.Memory = int32(rapid.IntRange(0, 64).Draw(t, "memory"))
		n.Count = uint8(rapid.IntRange(1, MaxGPUs).Draw(t, "GPUs"))
		n.Kind = uint8(rapid.IntRange(0, 1).Draw(t, "model"))
		for g := range n.Count {
			n.GPUs[g] = Whole
		}
		c.Nodes = append(c.Nodes, n)
	}
	pods := []Pod{{"first", Request{GPUs: 1, Share: 700, Kinds: 3}}}
	for i := range rapid.IntRange(1, 40).Draw(t, "pods") {
		p := Pod{Name: fmt.Sprint("p", i), Request: Request{Kinds: ^uint64(0)}}
		p.CPU = int32(rapid.IntRange(0, 24).Draw(t, "cores")) * 500
		p.Memory = int32(rapid.IntRange(0, 8).Draw(t, "memory"))
		p.GPUs = rapid.SampledFrom([]uint8{0, 1, 1, 1, 2, 8}).Draw(t, "GPUs")
		if p.GPUs > 0 {
			p.Share = Whole
			p.Kinds = rapid.SampledFrom([]uint64{1, 2, 3, ^uint64(0)}).Draw(t, "models")
		}
		if p.GPUs == 1 {
			p.Share = int16(rapid.IntRange(1, Whole).Draw(t, "share"))
		}
		pods = append(pods, p)
	}
	return c, pods
}

// A node may have more thousandths of a core than the auction can count: no pod asks for any.
func TestPodsWithoutCores(t *testing.T) {
	c := &Cluster{Kinds: []string{"T4"}, Nodes: []Node{{Name: "n0", State: State{CPU: 66000, Count: 1}}}}
	c.Nodes[0].GPUs[0] = Whole
	pods := []Pod{{"p0", Request{GPUs: 1, Share: 700, Kinds: 1}}}
	r, err := Run(c, pods, Options{Policy: Auction, Inflate: 1.3, Seed: 5, Batch: 1})
	require.NoError(t, err)
	require.NoError(t, Verify(c, pods, 1, r))
}

func TestEveryPolicyIsVerified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, pods := scene(t)
		for _, policy := range append(Policies(), Auction) {
			o := Options{Policy: policy, Inflate: 1.3, Seed: 5}
			o.Batch = rapid.IntRange(1, 7).Draw(t, "batch")
			r, err := Run(c, pods, o)
			require.NoError(t, err)
			require.NoError(t, Verify(c, pods, o.Batch, r), policy)
			again, err := Run(c, pods, o)
			require.NoError(t, err)
			require.Equal(t, r.Places, again.Places, "%s: the same seed", policy)
		}
	})
}

func TestArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, pods := scene(t)
		inflate := rapid.Float64Range(0.05, 3).Draw(t, "inflate")
		order, ranks := Arrivals(c, pods, inflate, 9)
		asked, times := 0, make([]int, len(pods))
		for _, i := range order {
			asked += pods[i].Thousandths()
			times[i]++
		}
		target := inflate * float64(c.Thousandths())
		require.LessOrEqual(t, float64(asked), target+8*Whole,
			"the last pod counts with one of its GPUs")
		all := 0
		for i := range pods {
			all += pods[i].Thousandths()
		}
		if float64(all) <= target {
			require.NotContains(t, times, 0, "every pod comes")
			require.Greater(t, float64(asked), target-Whole)
		} else {
			require.LessOrEqual(t, float64(asked), target, "pods are left out")
		}
		require.Len(t, ranks, len(c.Nodes))
	})
}

// pair is a node of two GPUs for each name, and a list.
func pair(requests ...Request) (*Cluster, []Pod) {
	c := &Cluster{Kinds: []string{"G2"}}
	for _, name := range []string{"a", "b"} {
		s := State{CPU: 8000, Memory: 100, GPUs: [8]int16{1000, 1000}, Count: 2}
		c.Nodes = append(c.Nodes, Node{name, s})
	}
	var pods []Pod
	for i, r := range requests {
		r.Kinds = ^uint64(0)
		pods = append(pods, Pod{fmt.Sprint("p", i), r})
	}
	return c, pods
}

func TestVerifyFinds(t *testing.T) {
	whole := Request{CPU: 4000, Memory: 50, GPUs: 1, Share: 1000}
	half := Request{CPU: 1000, GPUs: 1, Share: 600}
	for want, places := range map[string][]Place{
		"":                                    {{0, 1}, {0, 2}, {1, 1}, {1, 2}},
		"2 placements of 4 pods":              {{0, 1}, {0, 2}},
		"pod p1 on node a: GPU 0: 1000 thous": {{0, 1}, {0, 1}, {1, 1}, {1, 2}},
		"pod p3 on node b: GPU 0: 200 thous":  {{0, 1}, {0, 2}, {1, 1}, {1, 1}},
		"pod p1 on node a: given 2 GPUs, ":    {{1, 1}, {0, 3}, {0, 1}, {0, 2}},
		"pod p2 on node a: 1000 thousandths ": {{0, 1}, {0, 2}, {0, 1}, {1, 2}},
		"pod p0 on node a: no GPU 2":          {{0, 4}, {0, 2}, {1, 1}, {1, 2}},
		"pod p3 was dropped, but fits node b": {{0, 1}, {0, 2}, {1, 1}, {-1, 0}},
	} {
		c, pods := pair(whole, whole, half, half)
		err := Verify(c, pods, 2, &Result{Order: []int{0, 1, 2, 3}, Places: places})
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	c, pods := pair(Request{Memory: 101}, Request{GPUs: 1, Share: 1})
	pods[1].Kinds = 2
	err := Verify(c, pods, 1, &Result{Order: []int{0}, Places: []Place{{0, 0}}})
	require.ErrorContains(t, err, "1 MiB of memory too many")
	err = Verify(c, pods, 1, &Result{Order: []int{1}, Places: []Place{{0, 1}}})
	require.ErrorContains(t, err, "of a model that will not do")
}

func TestAllocationAt(t *testing.T) {
	r := Result{total: 4000}
	r.asked, r.given = []int{1000, 3000, 4000, 5000}, []int{1000, 3000, 3000, 3500}
	require.Equal(t, 75.0, r.At(100))
	require.Equal(t, 25.0, r.At(10))
	require.Equal(t, 87.5, r.At(130), "no more than there is")
}

func TestBadOptions(t *testing.T) {
	c, pods := pair(Request{GPUs: 1, Share: 1000})
	for want, o := range map[string]Options{
		"batch 0: must be at least 1": {Policy: fgd, Inflate: 1},
		"inflation 0: must be above":  {Policy: fgd, Batch: 1},
		`policy "x": must be one of`:  {Policy: "x", Inflate: 1, Batch: 1},
	} {
		_, err := Run(c, pods, o)
		require.ErrorContains(t, err, want)
	}
}

// A batch is decided together: a large pod that comes last still finds its hole.
func TestBatchesAreDecidedTogether(t *testing.T) {
	one := Request{CPU: 1, GPUs: 1, Share: 1000}
	two := Request{CPU: 1, GPUs: 2, Share: 1000}
	c, pods := pair(one, one, two)
	for seed := range uint64(20) {
		r, err := Run(c, pods, Options{Policy: Auction, Inflate: 1, Batch: 3, Seed: seed})
		require.NoError(t, err)
		require.Zero(t, r.Failed, "seed %d", seed)
	}
}
