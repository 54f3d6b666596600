// SPDX-License-Identifier: BSD-3-Clause

package oracle

import "slices"

// Shrink is the smallest window found that is still broken: with jobs, running jobs, quotas, parts
// and demands left out one after the other.
func Shrink(w *World, broken func(*World) bool) *World {
	for smaller := true; smaller; {
		smaller = false
		for _, change := range w.changes() {
			c := w.clone()
			if change(c); broken(c) {
				w, smaller = c, true
				break
			}
		}
	}
	return w
}

func (w *World) clone() *World {
	c := *w
	c.Nodes, c.Running, c.Jobs = slices.Clone(w.Nodes), slices.Clone(w.Running), slices.Clone(w.Jobs)
	c.claimOf, c.masks, c.Reserved = nil, nil, slices.Clone(w.Reserved)
	for i := range c.Jobs {
		c.Jobs[i].Ways = slices.Clone(c.Jobs[i].Ways)
		for k := range c.Jobs[i].Ways {
			c.Jobs[i].Ways[k].Parts = slices.Clone(c.Jobs[i].Ways[k].Parts)
		}
	}
	return &c
}

// holds reports whether something runs on a node.
func (w *World) holds(n int) bool {
	return slices.ContainsFunc(w.Running, func(c Claim) bool { return nodesOf(c.Pieces, -1)>>n&1 == 1 })
}

// remove takes out a node on which nothing runs.
func (w *World) remove(n int) {
	less := func(nodes uint) uint { return nodes&(1<<n-1) | nodes>>(n+1)<<n }
	for i := range w.Reserved {
		w.Reserved[i].Nodes = less(w.Reserved[i].Nodes)
	}
	for i := range w.Running {
		w.Running[i].Pieces = slices.Clone(w.Running[i].Pieces)
		for k, p := range w.Running[i].Pieces {
			if p.Node > n {
				w.Running[i].Pieces[k].Node--
			}
		}
	}
	for i := range w.Jobs {
		w.Jobs[i].Prefer = less(w.Jobs[i].Prefer)
		for k := range w.Jobs[i].Ways {
			for p := range w.Jobs[i].Ways[k].Parts {
				w.Jobs[i].Ways[k].Parts[p].On = less(w.Jobs[i].Ways[k].Parts[p].On)
			}
		}
	}
	w.Levels = slices.Clone(w.Levels)
	for l := range w.Levels {
		w.Levels[l] = numbered(slices.Delete(slices.Clone(w.Levels[l]), n, n+1))
	}
	w.Nodes = slices.Delete(w.Nodes, n, n+1)
}

// numbered has switches numbered without gaps.
func numbered(of []int) []int {
	all := slices.Compact(slices.Sorted(slices.Values(of)))
	for n := range of {
		of[n] = slices.Index(all, of[n])
	}
	return of
}

// changes are what may be left out.
func (w *World) changes() (list []func(*World)) {
	add := func(f func(*World)) { list = append(list, f) }
	if n := len(w.Jobs); n > 8 { // of a long queue
		add(func(c *World) { c.Jobs = slices.Delete(c.Jobs, n/2, n) })
		add(func(c *World) { c.Jobs = slices.Delete(c.Jobs, 0, n/2) })
	}
	for i := range w.Jobs {
		add(func(c *World) { c.Jobs = slices.Delete(c.Jobs, i, i+1) })
	}
	for i := range w.Running {
		add(func(c *World) { c.Running = slices.Delete(c.Running, i, i+1) })
	}
	for i := range w.Reserved {
		add(func(c *World) { c.Reserved = slices.Delete(c.Reserved, i, i+1) })
	}
	if w.Preset != "none" {
		add(func(c *World) { c.Preset = "none" })
	}
	if w.Window > 0 {
		add(func(c *World) { c.Window, c.Depth = 0, 0 })
	}
	if len(w.Levels) > 0 {
		add(func(c *World) { c.Levels = nil })
	}
	for n := range w.Nodes {
		if w.Nodes[n].Tier > 0 {
			add(func(c *World) { c.Nodes[n].Tier = 0 })
		}
		switch {
		case w.Nodes[n].Up:
			add(func(c *World) { c.Nodes[n].Up = false })
		case len(w.Nodes) > 1 && !w.holds(n):
			add(func(c *World) { c.remove(n) })
		}
	}
	if len(w.Jobs) > 12 {
		return list
	}
	for i := range w.Jobs {
		list = append(list, w.Jobs[i].changes(i)...)
	}
	return list
}

// changes are what the i-th job may ask less of.
func (j *Job) changes(i int) (list []func(*World)) {
	add := func(f func(*Job)) { list = append(list, func(c *World) { f(&c.Jobs[i]) }) }
	if j.Prefer != 0 {
		add(func(j *Job) { j.Prefer = 0 })
	}
	if j.Reservation != "" {
		add(func(j *Job) { j.Reservation = "" })
	}
	if j.Preempts != 0 {
		add(func(j *Job) { j.Preempts = 0 })
	}
	for k := range j.Ways {
		if len(j.Ways) > 1 {
			add(func(j *Job) { j.Ways = slices.Delete(j.Ways, k, k+1) })
		}
		if j.Ways[k].AllWithin > 0 {
			add(func(j *Job) { j.Ways[k].AllWithin = 0 })
		}
		for p := range j.Ways[k].Parts {
			if len(j.Ways[k].Parts) > 1 {
				add(func(j *Job) { j.Ways[k].Parts = slices.Delete(j.Ways[k].Parts, p, p+1) })
			}
			for _, less := range lesser {
				was := j.Ways[k].Parts[p]
				now := was
				now.More, now.Counts = slices.Clone(was.More), slices.Clone(was.Counts)
				if less(&now) {
					add(func(j *Job) { j.Ways[k].Parts[p] = now })
				}
			}
		}
	}
	return list
}

// lesser change a part, and report whether they did.
var lesser = []func(*Part) bool{
	func(p *Part) bool { was := p.Contiguous; p.Contiguous = false; return was },
	func(p *Part) bool { was := p.Apart; p.Apart = false; return was },
	func(p *Part) bool { was := p.Mixed; p.Mixed = false; return was },
	func(p *Part) bool {
		was := p.Switches + p.Within + p.Segment
		p.Switches, p.Within, p.Segment = 0, 0, 0
		return was > 0
	},
	func(p *Part) bool { was := p.MaxGPUs > p.MinGPUs; p.MaxGPUs = p.MinGPUs; return was },
	func(p *Part) bool {
		was := p.MinGPUs > 0 && (p.Cores > 0 || p.Tasks > 0)
		if was {
			p.MinGPUs, p.MaxGPUs = 0, 0
		}
		return was
	},
	func(p *Part) bool { return none(p.Counts) },
	func(p *Part) bool { return (p.Cores > 0 || p.Tasks > 0 || p.MinGPUs > 0) && none(p.More) },
}

// none has nothing used, and reports whether anything was.
func none(uses []Use) (was bool) {
	for i := range uses {
		was = was || uses[i] != (Use{})
		uses[i] = Use{}
	}
	return was
}
