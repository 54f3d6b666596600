// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// scarceOf is of a machine of one node of 8 GPUs of each class, none of which it has been told of.
func scarceOf(t *testing.T, kinds []ask, classes []class) *scarce {
	nodes, err := nodeset.NewUniform(len(classes), nodeset.Capacity{Cores: 64, GPUs: 8})
	require.NoError(t, err)
	x := newScarce(nodes, kinds, classes)
	return &x
}

func TestPricesOfClasses(t *testing.T) {
	type on struct {
		classes uint64
		gpus    uint16
	}
	const any = 1<<8 - 1
	for name, c := range map[string]struct {
		asks []on
		idle []float64
		want []float64
	}{
		"all will do":               {[]on{{any, 8}}, []float64{1000, 9000}, []float64{0, 0}},
		"room for those who insist": {[]on{{1, 1}, {any, 4}}, []float64{1000, 1000}, []float64{0, 0}},
		"too many insist":           {[]on{{1, 4}, {any, 2}}, []float64{1000, 1000}, []float64{0.5, 0}},
		"as many insist, less left": {[]on{{1, 1}, {any, 1}}, []float64{500, 1000}, []float64{0.5, 0}},
		"none left of it":           {[]on{{1, 1}, {any, 1}}, []float64{0, 1000}, []float64{0, 0}},
		"those who need one of two": {[]on{{3, 4}, {any, 1}}, []float64{1000, 1000, 1000}, []float64{0.5, 0.5, 0}},
	} {
		classes, asks := make([]class, len(c.idle)), []ask(nil)
		for i, a := range c.asks {
			asks = append(asks, ask{request{gpus: a.gpus}, int32(i + 1), 1})
			for k := range classes {
				classes[k].masks |= 1 | (a.classes>>k&1)<<(i+1)
			}
		}
		x := scarceOf(t, asks, classes)
		copy(x.idle, c.idle)
		x.priceClasses()
		for k, want := range c.want {
			require.InDelta(t, sequences*want, x.price[k], 1, "%s: class %d", name, k)
		}
	}
}

// Room for several GPUs is dear where more requests for it are expected than there is room for.
func TestPricesOfRoom(t *testing.T) {
	// One request in four asks for 4 GPUs and 8 cores, the others for one GPU.
	x := scarceOf(t, []ask{{request{8, 4, 0}, 0, 1}, {request{1, 1, 0}, 0, 3}}, []class{{masks: 1}})
	full, few := vacancy{cores: 8, gpus: 4}, vacancy{cores: 4, gpus: 4}
	for range 100 {
		x.move(&full, 0, 1, 1)
	}
	room := func(thousandths int64, cores int32, gpus int16, r request) float64 {
		x.supply[0] = thousandths * sequences
		x.settle()
		return float64(x.takes(0, &vacant{cores: cores, gpus: gpus}, r, 0)) / sequences
	}
	one, four := request{1, 1, 0}, request{8, 4, 0}
	require.Less(t, room(4000, 8, 4, one), 1.0, "room for 100, less than one request for it to come")
	require.Greater(t, room(4e6, 8, 4, one), 3999.0, "hundreds of requests to come")
	require.Zero(t, room(4e6, 8, 4, four), "that is what the room is for")
	require.Greater(t, room(4e6, 8, 4, request{1, 0, 0}), 3999.0, "room without cores is none")
	require.Zero(t, room(4e6, 64, 5, one), "room is left")
	for range 100 {
		x.move(&full, 0, 1, -1)
		x.move(&few, 0, 1, 1)
	}
	require.Greater(t, room(4e4, 8, 4, one), 3900.0, "no room is left elsewhere")
}

// A hole in a shared GPU is worth what the shares that come can make of it.
func TestHolesAreWorthWhatComes(t *testing.T) {
	asks := func(small, half int32) []ask {
		return []ask{
			{request{1, 0, 160}, 0, small}, {request{1, 0, 470}, 0, half}, {request{1, 0, 810}, 0, half}, {request{1, 1, 0}, 0, 60},
		}
	}
	priced := func(kinds []ask, coming float64) func(share, left uint16) float64 {
		x := scarceOf(t, kinds, []class{{masks: 1}})
		for left, n := range map[uint16]int{190: 100, 530: 10, 340: 10, whole: 100} {
			v := vacancy{cores: 8}
			if v.parts[0] = left; left == whole {
				v = vacancy{cores: 8, gpus: 1}
			}
			for range n {
				x.move(&v, 0, 1, 1)
			}
		}
		x.priceHoles(coming)
		return func(share, left uint16) float64 {
			has := vacant{gpus: 1}
			if left < whole {
				has.shared, has.part[0], has.bin[0] = 1, left, 1
			}
			return float64(x.hole(&has, share, 1)) / sequences
		}
	}
	cost := priced(asks(2, 20), 130*whole)
	require.InDelta(t, -160, cost(160, 190), 10, "more holes of 190 than 160 come: it adds all that it has")
	require.Greater(t, cost(160, 530), cost(160, 190)+200, "530 is for 470")
	require.Less(t, cost(470, 530), cost(470, whole), "a hole of 530 before a whole GPU")
	require.Greater(t, cost(810, whole), 120.0, "what is left of the GPU is worth little")
	cost = priced(asks(200, 20), 300*whole)
	require.Less(t, cost(810, whole), 60.0, "small shares in plenty fill what 810 leaves")
}
