// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/nodeset"
)

// sharedScene is a machine whose GPUs are shared, of 10 parts each, with jobs that hold shares and
// GPUs, some of which could be on half of the nodes only.
type sharedScene struct {
	nodes *nodeset.Table
	now   int64
	holds []sharedHold
	half  nodeset.Mask
}

type sharedHold struct {
	Segs  []nodeset.Segment
	uses  nodeset.Uses
	mask  *nodeset.Mask
	until int64
}

func drawSharedScene(t *rapid.T) (s sharedScene) {
	total := make([]nodeset.Capacity, rapid.IntRange(1, 12).Draw(t, "nodes"))
	s.half = nodeset.NewMask(len(total))
	for n := range total {
		total[n] = nodeset.Capacity{Cores: uint16(rapid.IntRange(2, 16).Draw(t, "cores")), GPUs: uint8(rapid.IntRange(0, 4).Draw(t, "GPUs"))}
		if n%2 == 0 {
			s.half.Set(n)
		}
	}
	var err error
	s.nodes, err = nodeset.New(total)
	require.NoError(t, err)
	_, err = s.nodes.AddShares("share", slices.Repeat([]int64{10}, len(total)))
	require.NoError(t, err)
	s.now = rapid.Int64Range(0, 50).Draw(t, "now")
	for range rapid.IntRange(1, 40).Draw(t, "jobs") {
		s.start(s.now+rapid.Int64Range(-3, 60).Draw(t, "end"), int32(rapid.IntRange(0, len(total)-1).Draw(t, "node")),
			rapid.IntRange(0, 2).Draw(t, "GPUs"), rapid.Int64Range(0, 9).Draw(t, "share"), rapid.Bool().Draw(t, "anywhere"))
	}
	return s
}

// start has a job hold a core of a node and GPUs or a share of one, if there is as much.
func (s *sharedScene) start(until int64, n int32, gpus int, share int64, anywhere bool) {
	h := sharedHold{Segs: []nodeset.Segment{{First: n, Last: n, Cores: 1, GPUs: uint8(gpus)}}, until: until}
	if !anywhere {
		h.mask = &s.half
	}
	if share > 0 {
		h.Segs[0].GPUs, h.uses = 0, nodeset.Uses{{PerNode: share}}
	}
	if ChooseBins(s.nodes, h.Segs, h.uses, nil) && s.nodes.Allocate(h.Segs, h.uses...) == nil {
		s.holds = append(s.holds, h)
	}
}

func (s *sharedScene) prices(p *Prices) *Prices {
	p.Reset(s.now, s.nodes)
	for _, h := range s.holds {
		p.Hold(h.Segs, h.uses, h.mask, h.until)
	}
	spec := single(1, 1)
	p.Ask(&spec, Endless)
	p.Settle()
	return p
}

// sharing asks for a core, and GPUs or a share of one.
func sharing(gpus int, share int64) Spec {
	s := single(1, gpus)
	if share > 0 {
		s.GPUs, s.Uses = Amount{}, &nodeset.Uses{{PerNode: share}}
	}
	return s
}

// A job starts where it costs least by the outlook, on whichever GPU; none that fits is refused. What
// is remembered, of other cycles too, makes no difference, nor does the order in which jobs are told.
func TestOutlookPlacesWhereLeastIsLost(t *testing.T) {
	var p Prices // used again
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSharedScene(t)
		spec := sharing(rapid.IntRange(0, 3).Draw(t, "asks for GPUs"), rapid.Int64Range(0, 10).Draw(t, "share"))
		s.prices(&p)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		rng.Shuffle(len(s.holds), func(i, j int) { s.holds[i], s.holds[j] = s.holds[j], s.holds[i] })
		fresh := s.prices(new(Prices))
		require.Equal(t, fresh.sees, p.sees)
		if !p.sees {
			return
		}
		seen++
		var limited Limited
		view, share := limited.Of(s.nodes, &spec), s.nodes.ShareOf(spec.More())
		r := request{1, uint16(spec.GPUs.PerNode.Min), uint16(share * whole / 10)}
		best, on, bin := int64(0), -1, uint8(0)
		for n := range s.nodes.Len() {
			if spec.Room(view.Free(n)) == 0 {
				continue
			}
			cost, b := fresh.outlook.start(make([]cell, s.nodes.Len()), s.nodes, n, r, share)
			tight := view.Free(n).Cores
			if on < 0 || cost < best || cost == best && tight < view.Free(on).Cores {
				best, on, bin = cost, n, b
			}
		}
		var placer Placer
		_, fits := placer.PlaceFew(nil, s.nodes, &spec, nil, nil)
		placer.By(&p, Endless)
		for range 2 {
			segs, ok := placer.PlaceFew(nil, s.nodes, &spec, nil, nil)
			require.Equal(t, fits, ok, "no place is lost by prices")
			if require.Equal(t, on >= 0, ok); ok {
				require.Equal(t, on, int(segs[0].First))
				require.Equal(t, bin, segs[0].Bin)
				require.True(t, s.nodes.FitsWith(segs, spec.More()))
			}
		}
	})
	require.Greater(t, seen, 20)
}

// The loss of a node is what is left when requests have come one by one, each on what those before it left.
func TestLossIsWhatIsLeftOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSharedScene(t)
		p := s.prices(new(Prices))
		if !p.sees {
			return
		}
		for n := range s.nodes.Len() {
			x := p.outlook.on(s.nodes, n)
			v := x.seen(p.outlook.of[n], p.outlook.scale)
			want := 0
			for _, sequence := range p.outlook.classes[v.class].sequences {
				cores, gpus := int(x.cores), []int{}
				for range x.gpus {
					gpus = append(gpus, whole)
				}
				for _, part := range x.part[:x.shared] {
					gpus = append(gpus, int(part))
				}
				for _, r := range sequence {
					takes := slices.Repeat([]int{whole}, int(r.gpus))
					if r.share > 0 {
						takes = append(takes, int(r.share))
					}
					left := slices.Clone(gpus)
					for _, take := range takes { // of the fullest that has as much
						best := -1
						for i, g := range left {
							if g >= take && (best < 0 || g < left[best]) {
								best = i
							}
						}
						if best < 0 {
							left = nil
							break
						}
						left[best] -= take
					}
					if int(r.cores) <= cores && left != nil {
						cores, gpus = cores-int(r.cores), left
					}
				}
				for _, g := range gpus {
					want += g
				}
			}
			require.EqualValues(t, want, p.outlook.loss(&v), "node %d", n)
		}
	})
}

// What no node shows by itself: a GPU of the kind that others can't do without, the last room for
// several GPUs, a GPU that nobody shares yet.
func TestOutlookKeepsWhatIsScarce(t *testing.T) {
	for name, c := range map[string]struct {
		nodes   []nodeset.Capacity
		usual   func(s *sharedScene, i int) // starts a job
		job     Spec
		want    int32
		wantBin uint8
	}{
		"a GPU that others can't do without": {
			nodes: slices.Repeat([]nodeset.Capacity{{Cores: 64, GPUs: 4}}, 4),
			usual: func(s *sharedScene, i int) { s.start(1000, 2, 1, 0, false) }, job: sharing(1, 0), want: 1,
		},
		"a GPU in shared use before a whole one": {
			nodes: slices.Repeat([]nodeset.Capacity{{Cores: 64, GPUs: 4}}, 2),
			usual: func(s *sharedScene, i int) { s.start(1000, 1, 0, 5, true) }, job: sharing(0, 5), want: 1, wantBin: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, err := nodeset.New(c.nodes)
			require.NoError(t, err)
			_, err = nodes.AddShares("share", slices.Repeat([]int64{10}, len(c.nodes)))
			require.NoError(t, err)
			s := sharedScene{nodes: nodes, half: nodeset.Mask{0b0101}}
			for i := range 3 {
				c.usual(&s, i)
			}
			var placer Placer
			placer.By(s.prices(new(Prices)), Endless)
			segs, ok := placer.PlaceFew(nil, nodes, &c.job, nil, nil)
			require.True(t, ok)
			require.Equal(t, c.want, segs[0].First)
			require.Equal(t, c.wantBin, segs[0].Bin)
		})
	}
}

func TestOutlookAllocatesNothing(t *testing.T) {
	race.Allocates(t)
	nodes, err := nodeset.NewUniform(100, nodeset.Capacity{Cores: 8, GPUs: 4})
	require.NoError(t, err)
	_, err = nodes.AddShares("share", slices.Repeat([]int64{10}, 100))
	require.NoError(t, err)
	s := sharedScene{nodes: nodes}
	for n := range int32(100) {
		s.start(int64(n), n, 0, 3, true)
	}
	var p Prices
	var placer Placer
	spec, segs := sharing(0, 4), []nodeset.Segment(nil)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		placer.By(s.prices(&p), Endless)
		segs, _ = placer.PlaceFew(segs[:0], nodes, &spec, nil, nil)
	}))
	require.True(t, p.sees)
}
