package nodeset

import "math/bits"

// CopyFrom makes t an independent copy of o, reusing t's memory. The zero Table
// is a valid receiver.
func (t *Table) CopyFrom(o *Table) {
	t.total = o.total // never written to
	t.cores = append(t.cores[:0], o.cores...)
	t.gpus = append(t.gpus[:0], o.gpus...)
	t.down = append(t.down[:0], o.down...)
	t.block = append(t.block[:0], o.block...)
	t.plane.copyFrom(&o.plane)
	t.level = copyRows(t.level, o.level)
	t.having = copyRows(t.having, o.having)
	t.freeCores, t.freeGPUs = o.freeCores, o.freeGPUs
}

func copyRows(dst, src [][]uint64) [][]uint64 {
	for len(dst) < len(src) {
		dst = append(dst, nil)
	}
	dst = dst[:len(src)]
	for i := range src {
		dst[i] = append(dst[i][:0], src[i]...)
	}
	return dst
}

// Intersect lowers what every node of t has free to what o has free at the most,
// and takes down the nodes that are down in o. Both describe the same machine.
func (t *Table) Intersect(o *Table) {
	for n := range t.cores {
		t.cores[n] = min(t.cores[n], o.cores[n])
		t.gpus[n] = min(t.gpus[n], o.gpus[n])
	}
	t.freeCores, t.freeGPUs = 0, 0
	for w := range t.down {
		t.down[w] |= o.down[w]
		t.plane.lower(w, &o.plane)
		t.block[w] = uint32(t.plane.sum(w, ^uint64(0)))
		t.freeCores += int64(t.block[w])
		for g := 1; g < len(t.having); g++ {
			t.having[g][w] &= o.having[g][w]
			t.freeGPUs += int64(bits.OnesCount64(t.having[g][w]))
		}
		t.mark(w, t.plane.nonzero(w))
	}
}
