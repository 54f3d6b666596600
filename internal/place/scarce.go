// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// scarce says what no single node shows. It has the prices of GPUs that some can't do without, of room
// for several GPUs, and of what is left of shared ones.
type scarce struct {
	total  float64   // thousandths of all GPUs
	each   float64   // that a request asks for, on average
	cores  int32     // that one for GPUs asks for, at least
	supply []int64   // by class: what is idle less its loss, by sequences
	idle   []float64 // the same in thousandths
	load   []float64 // by class: demand

	demands []demand
	price   []int64 // by class: of a thousandth

	asked []float64 // by GPUs: requests for so many, as a part of all
	needs []float64 // cores of these, on average
	left  []int     // nodes with room for one of these
	room  []int64   // the price of that

	sizes []int              // of shares, in parts
	comes [parts + 1]float64 // by size: GPUs that are asked for, a request
	holes [parts + 1]int     // by size: GPUs with so much left
	worth [parts + 1]int64   // of these
}

const (
	parts  = 100 // a GPU's: shares are rounded up to them, what is left down
	part   = whole / parts
	soft   = part / 2. // thousandths by which a filling may be worse than the best to be taken nearly as often
	turns  = 60
	rounds = 8
	beyond = 0.2 // of all GPUs is expected to be asked for when the machine is full
)

// demand is what is asked of some classes, in thousandths.
type demand struct {
	classes uint64
	asked   float64
	given   []float64 // by class
}

func newScarce(t *nodeset.Table, kinds []ask, classes []class) scarce {
	x := scarce{cores: math.MaxInt32, supply: make([]int64, len(classes)), price: make([]int64, len(classes))}
	x.idle, x.load = make([]float64, len(classes)), make([]float64, len(classes))
	n := t.MaxGPUs() + 1
	x.asked, x.needs, x.left, x.room = make([]float64, n), make([]float64, n), make([]int, n), make([]int64, n)
	for n := range t.Len() {
		if t.Up(n) {
			x.total += float64(t.Total(n).GPUs) * whole
		}
	}
	all := 0.
	for _, k := range kinds {
		all += float64(k.nodes)
	}
	for _, k := range kinds {
		often := float64(k.nodes) / all
		x.each += float64(often * float64(k.thousandths()))
		if k.thousandths() == 0 {
			continue
		}
		x.cores = min(x.cores, k.cores)
		if k.gpus > 1 && int(k.gpus) < len(x.asked) {
			x.asked[k.gpus] += often
			x.needs[k.gpus] += float64(often * float64(k.cores))
		}
		size, gpus := parts, float64(k.gpus)
		if k.share > 0 {
			size, gpus = (int(k.share)+part-1)/part, 1
		}
		x.comes[size] += float64(often * gpus)
		x.ask(classes, k)
	}
	for g := range x.asked {
		if x.asked[g] > 0 {
			x.needs[g] /= x.asked[g]
		}
	}
	for s, c := range x.comes {
		if c > 0 {
			x.sizes = append(x.sizes, s)
		}
	}
	// Few classes first: others then flow round what these take.
	slices.SortStableFunc(x.demands, func(a, b demand) int {
		return cmp.Or(cmp.Compare(bits.OnesCount64(a.classes), bits.OnesCount64(b.classes)), cmp.Compare(a.classes, b.classes))
	})
	return x
}

// ask adds what a kind asks for to the demand on the classes that will do.
func (x *scarce) ask(classes []class, k ask) {
	d := demand{given: make([]float64, len(classes))}
	for c := range classes {
		d.classes |= (classes[c].masks >> k.mask & 1) << c
	}
	i := slices.IndexFunc(x.demands, func(o demand) bool { return o.classes == d.classes })
	if i < 0 {
		i, x.demands = len(x.demands), append(x.demands, d)
	}
	x.demands[i].asked += float64(k.nodes) * float64(k.thousandths())
}

// move counts what a node has free, sign being 1, or no longer, -1.
func (x *scarce) move(v *vacancy, loss int64, scale int32, sign int) {
	cores := v.cores * scale
	x.supply[v.class] += int64(sign) * (int64(v.idle())*sequences - loss)
	for g := range int(v.gpus) {
		if g++; x.roomy(cores, g) {
			x.left[g] += sign
		}
	}
	if cores >= x.cores {
		x.holes[parts] += sign * int(v.gpus)
		for _, left := range v.parts {
			x.holes[left/part] += sign
		}
	}
}

// roomy reports whether a node with g GPUs and so many cores has room for a request for these.
func (x *scarce) roomy(cores int32, g int) bool {
	return g < len(x.asked) && x.asked[g] > 0 && float64(cores) >= x.needs[g]
}

// settle sets the prices.
func (x *scarce) settle() {
	all := 0.
	for c, s := range x.supply {
		x.idle[c] = float64(s) / sequences
		all += x.idle[c]
	}
	x.priceClasses()
	for g := range x.asked {
		if x.asked[g] == 0 {
			continue
		}
		// the probability that more come than there is room for until all is used up: their number is taken as normal,
		// with Poisson's variance
		come := x.asked[g] * max(0, all) / x.each
		short := 0.5 * math.Erfc((float64(x.left[g])-come)/math.Sqrt(2*(come+1)))
		x.room[g] = int64(float64(g*whole*sequences) * short)
	}
	x.priceHoles(all + float64(beyond*x.total))
}

// priceClasses shares out the demands over the classes that will do, so evenly that none could be
// relieved. The price of a class is 1 less the least pressure of all by its own: 0 where any request
// could do as well elsewhere.
func (x *scarce) priceClasses() {
	idle, load := x.idle, x.load
	clear(load)
	for i := range x.demands {
		clear(x.demands[i].given)
	}
	for range rounds {
		for i := range x.demands {
			x.demands[i].spread(load, idle)
		}
	}
	least := -1.0
	for c, supply := range idle {
		if supply > 0 && (least < 0 || load[c]/supply < least) {
			least = load[c] / supply
		}
	}
	for c, supply := range idle {
		x.price[c] = 0
		if load[c] > 0 && supply > 0 {
			x.price[c] = int64(sequences * max(0, 1-least*supply/load[c]))
		}
	}
}

// spread shares out a demand so that the pressures it raises become equal.
func (d *demand) spread(load, idle []float64) {
	open := d.classes
	for c, given := range d.given {
		load[c] -= given
		d.given[c] = 0
		if idle[c] <= 0 {
			open &^= 1 << c
		}
	}
	for open != 0 {
		asked, supply := d.asked, 0.0
		for m := open; m != 0; m &= m - 1 {
			c := bits.TrailingZeros64(m)
			asked += load[c]
			supply += idle[c]
		}
		level, low := asked/supply, uint64(0)
		for m := open; m != 0; m &= m - 1 {
			if c := bits.TrailingZeros64(m); load[c] < float64(level*idle[c]) {
				low |= 1 << c
			}
		}
		if low == open || low == 0 {
			for m := open; m != 0; m &= m - 1 {
				c := bits.TrailingZeros64(m)
				d.given[c] = max(0, float64(level*idle[c])-load[c])
			}
			break
		}
		open = low
	}
	for c, given := range d.given {
		load[c] += given
	}
}

// priceHoles sets what holes in shared GPUs are worth. It is the cutting-stock problem of what will
// come, by its linear relaxation: fill the holes with the requests that are expected, so that the most
// is given out. Its dual prices are rents: what one more request of a size would add to that. A hole
// is worth the best filling, of sizes less their rents. Instead of the best it is the soft maximum
// over all, so that prices move smoothly: Gupta and Radovanović, "Interior-Point-Based Online
// Stochastic Bin Packing", Operations Research 68(5), 2020. Cores and classes are not looked at.
func (x *scarce) priceHoles(coming float64) {
	var rent, step, last [parts + 1]float64
	for s := range step {
		step[s] = soft / 2
	}
	var f filling
	for range turns {
		f.of(x, &rent)
		used := f.used(x)
		for _, s := range x.sizes {
			come := x.comes[s] * max(0, coming) / x.each
			by := math.Log((used[s] + 1e-9) / (come + 1e-9))
			if by*last[s] < 0 {
				step[s] = max(step[s]/2, soft/100)
			} else {
				step[s] = min(step[s]*1.2, 2*soft)
			}
			last[s] = by
			rent[s] = min(max(0, rent[s]+step[s]*by), float64(2*s*part))
		}
	}
	f.of(x, &rent)
	for g, ways := range f.ways {
		x.worth[g] = int64(sequences * soft * math.Log(ways))
	}
}

// filling is the weight of all fillings of the holes.
type filling struct {
	size [parts + 1]float64 // a request's
	ways [parts + 1]float64 // the sum over the fillings of a hole
}

func (f *filling) of(x *scarce, rent *[parts + 1]float64) {
	for _, s := range x.sizes {
		f.size[s] = math.Exp((float64(s*part) - rent[s]) / soft)
	}
	for g := range f.ways {
		f.ways[g] = 1
		for _, s := range x.sizes {
			if s > g {
				break
			}
			f.ways[g] += float64(f.size[s] * f.ways[g-s])
		}
	}
}

// used is how many requests of each size all holes together take.
func (f *filling) used(x *scarce) (used [parts + 1]float64) {
	var weight [parts + 1]float64 // of the fillings that come to what is left
	for g := parts; g > 0; g-- {
		weight[g] += float64(x.holes[g]) / f.ways[g]
		for _, s := range x.sizes {
			if s > g {
				break
			}
			w := float64(weight[g] * f.size[s])
			weight[g-s] += w
			used[s] += float64(w * f.ways[g-s])
		}
	}
	return used
}

// takes is what a start takes from all others on a node of a class that has so much: GPUs of the class,
// and the largest room that it breaks.
func (x *scarce) takes(class uint8, has *vacant, r request, bin uint8) (all int64) {
	gpus := int(has.gpus) - int(r.gpus)
	if r.share > 0 && has.find(bin) < 0 {
		gpus--
	}
	for g := int(r.gpus) + 1; g <= int(has.gpus); g++ {
		if x.roomy(has.cores, g) && (g > gpus || !x.roomy(has.cores-r.cores, g)) {
			all = max(all, x.room[g])
		}
	}
	return all + x.price[class]*int64(r.thousandths())
}

// hole is what a share costs for the hole that it is put into, beside itself.
func (x *scarce) hole(has *vacant, share uint16, bin uint8) int64 {
	had := parts
	if i := has.find(bin); i >= 0 {
		had = int(has.part[i]) / part
	}
	return x.worth[had] - x.worth[max(had*part-int(share), 0)/part] - int64(share)*sequences
}
