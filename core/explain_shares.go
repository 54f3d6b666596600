// SPDX-License-Identifier: BSD-3-Clause

package core

import "github.com/aucsched/aucsched/nodeset"

// ShareShortage is what GPUs are used for on a machine where jobs share them, if no GPU has a share
// free or too few are whole.
type ShareShortage struct {
	// Nodes have all else that the request needs, and GPUs of so many shares or so many GPUs;
	// none: there is no such node.
	Nodes nodeset.Mask
	// Shared GPUs of these are in shared use, of which one has Most shares free and none more.
	// Whole ones are held as such.
	Shared, Whole int
	Most          int64
}

// gpuUses is what the GPUs are used for of nodes that can give what is asked for, if these come
// free.
func gpuUses(t *nodeset.Table, can func(n int) bool) *ShareShortage {
	s := &ShareShortage{Nodes: nodeset.NewMask(t.Len())}
	for n := range t.Len() {
		if !can(n) {
			continue
		}
		s.Nodes.Set(n)
		shared := 0
		for bin := 1; bin <= t.Bins(n); bin++ {
			if free, inUse := t.BinFree(n, uint8(bin)); inUse {
				s.Most = max(s.Most, free)
				shared++
			}
		}
		s.Shared, s.Whole = s.Shared+shared, s.Whole+int(t.Total(n).GPUs)-int(t.Free(n).GPUs)-shared
	}
	return s
}

// nameFreedGPU has the place name a GPU that rivals share now, if it names one that nobody shares
// on t, where they are gone.
func (x *Explanation) nameFreedGPU(t *nodeset.Table) {
	if len(x.Place) != 1 || x.Place[0].Bin == 0 {
		return
	}
	at := &x.Place[0]
	if _, inUse := t.BinFree(int(at.First), at.Bin); inUse {
		return
	}
	for _, r := range x.Rivals {
		for _, s := range r.Segs { // on the place
			if s.Bin == 0 {
				continue
			}
			if _, inUse := t.BinFree(int(at.First), s.Bin); !inUse {
				at.Bin = s.Bin
				return
			}
		}
	}
}
