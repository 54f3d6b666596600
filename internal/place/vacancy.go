// SPDX-License-Identifier: BSD-3-Clause

package place

import (
	"cmp"
	"slices"
)

// ask is a request for so many nodes, those of a mask by its number; 0: all will do.
type ask struct {
	request
	mask, nodes int32
}

// request is what is asked of a node. A share is in thousandths of one GPU.
type request struct {
	cores       int32
	gpus, share uint16
}

// thousandths are those of all GPUs.
func (r request) thousandths() int { return int(r.gpus)*whole + int(r.share) }

// They were found on the default list of Alibaba's pods: benchmarks/results/pods.md has the others.
const (
	whole     = 1000    // thousandths of a GPU
	sequences = 64      // that come to a node; losses are sums over them
	length    = 70      // of each: they ask for several times what a node has
	grain     = 20      // thousandths: costs that differ by less are equal
	maxShared = 8       // GPUs of a node in shared use that are looked at
	steps     = 256     // in which the cores of the largest node are told apart
	mostKnown = 1 << 20 // losses that are remembered
	maxMasks  = 63      // the others' requests are taken to be for all nodes
	sharePart = 4       // this part of what a node loses by a share counts
)

// class is nodes that the same masks have.
type class struct {
	masks     uint64 // bit 0 is that of all nodes
	sequences [sequences][]request
	cores     int32  // that a request with GPUs asks for at least
	part      uint16 // of a GPU
}

// vacancy is what a node has free, as the outlook tells it from others.
type vacancy struct {
	cores int32
	class uint8
	gpus  uint8
	parts [maxShared]uint16 // thousandths of GPUs in shared use, the most first
}

// idle is in thousandths of GPUs.
func (v *vacancy) idle() int {
	n := int(v.gpus) * whole
	for _, part := range v.parts {
		n += int(part)
	}
	return n
}

// vacant is what a node has free, GPU by GPU: those in shared use with their numbers.
type vacant struct {
	cores  int32
	gpus   int16
	shared int16
	part   [2 * maxShared]uint16 // thousandths
	bin    [2 * maxShared]uint8
}

// run has a sequence come, and returns what is left over of so many thousandths.
func (x *vacant) run(c *class, sequence []request, left int) int {
	for i := range sequence {
		r := &sequence[i]
		if r.cores > x.cores || int16(r.gpus) > x.gpus {
			continue
		}
		if r.share > 0 && !x.share(r.share) {
			continue
		}
		x.gpus -= int16(r.gpus)
		x.cores -= r.cores
		left -= r.thousandths()
		if left == 0 || x.cores < c.cores || x.gpus == 0 && x.most() < c.part {
			break
		}
	}
	return left
}

func (x *vacant) most() (most uint16) {
	for _, part := range x.part[:x.shared] {
		most = max(most, part)
	}
	return most
}

// share takes a share from the fullest GPU in shared use that has it, or from another one.
func (x *vacant) share(share uint16) bool {
	best := -1
	for i, part := range x.part[:x.shared] {
		if part >= share && (best < 0 || part < x.part[best]) {
			best = i
		}
	}
	if best < 0 {
		return x.open(share, 0)
	}
	x.part[best] -= share
	return true
}

// open takes a share from a whole GPU, which gets a number.
func (x *vacant) open(share uint16, bin uint8) bool {
	if x.gpus == 0 || int(x.shared) == len(x.part) {
		return false
	}
	x.gpus--
	x.part[x.shared], x.bin[x.shared] = whole-share, bin
	x.shared++
	return true
}

// find is which of the GPUs in shared use has a number; -1: none.
func (x *vacant) find(bin uint8) int { return slices.Index(x.bin[:x.shared], bin) }

// take is what a start leaves, with a share of the GPU of a number.
func (x vacant) take(r request, bin uint8) vacant {
	x.cores, x.gpus = max(x.cores-r.cores, 0), max(x.gpus-int16(r.gpus), 0)
	if r.share > 0 {
		if i := x.find(bin); i >= 0 {
			x.part[i] -= min(r.share, x.part[i])
		} else {
			x.open(r.share, bin)
		}
	}
	return x
}

// seen is what a node of a class has free, its cores in units of scale.
func (x *vacant) seen(class uint8, scale int32) (v vacancy) {
	v.cores, v.class, v.gpus = x.cores/scale, class, uint8(x.gpus)
	all := x.part
	slices.SortFunc(all[:x.shared], func(a, b uint16) int { return cmp.Compare(b, a) })
	copy(v.parts[:], all[:])
	return v
}
