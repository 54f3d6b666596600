// SPDX-License-Identifier: BSD-3-Clause

package layout

// vertex is table k's at a cell. Behind these come those of the jobs.
func (f *flow) vertex(k, cell int32) int32 { return cell*int32(f.p.tables()) + k }

// push sends cores from a vertex on, which is that of a winner or of a part of its.
func (f *flow) push(from int32, g guest, cores int64) bool {
	for cores > 0 {
		end := f.find(from)
		if end < 0 {
			return false
		}
		n := f.along(end, from, cores, false)
		f.along(end, from, n, true)
		if g.part >= 0 { // the path begins at the cell
			f.add(g, n)
		}
		cores -= n
	}
	return true
}

// find looks for a way from a vertex to a cell of table 0 with something left, the shortest one.
// It returns the vertex where that ends, or -1.
func (f *flow) find(from int32) int32 {
	f.search++
	f.queue = f.queue[:0]
	f.visit(from, from)
	for head := 0; head < len(f.queue); head++ {
		v := f.queue[head]
		f.work++
		if v >= f.vertexs {
			f.visitJob(v)
			continue
		}
		cell, k := v/int32(f.p.tables()), v%int32(f.p.tables())
		if f.slack(k, cell) > 0 {
			if k == 0 {
				return v
			}
			f.visit(v-1, v)
		}
		if int(k)+1 < f.p.tables() && f.used[k+1][cell] > 0 {
			f.visit(v+1, v)
		}
		for _, g := range f.at[cell] {
			if x := &f.p.items[f.bid[g.job]]; x.level == k && f.spare(x, g) > 0 {
				f.visit(f.vertexs+g.job, v)
			}
		}
		f.work += int64(len(f.at[cell]))
	}
	return -1
}

func (f *flow) visit(v, from int32) {
	if f.seen[v] != f.search {
		f.seen[v], f.from[v] = f.search, from
		f.queue = append(f.queue, v)
	}
}

func (f *flow) visitJob(v int32) {
	j := v - f.vertexs
	x := &f.p.items[f.bid[j]]
	for i, q := range f.p.parts(x) {
		if f.got[j][i] < q.most*f.p.cells[q.cell].nodes {
			f.visit(f.vertex(x.level, q.cell), v)
		}
	}
	f.work += int64(x.last - x.first)
}

// spare is what a winner could take away from a part.
func (f *flow) spare(x *item, g guest) int64 {
	return f.got[g.job][g.part] - x.lo*f.p.cells[f.p.parts(x)[g.part].cell].nodes
}

// along goes back the way that find has found, and returns how much can go there, at most
// that many cores. With do it lets them go.
func (f *flow) along(end, from int32, cores int64, do bool) int64 {
	n := min(cores, f.slack(0, end/int32(f.p.tables())))
	for v := end; v != from; v = f.from[v] {
		u := f.from[v]
		f.work++
		switch {
		case u >= f.vertexs: // a winner gets more at this cell
			g := f.guestAt(u-f.vertexs, v)
			q := f.p.parts(&f.p.items[f.bid[g.job]])[g.part]
			n = min(n, q.most*f.p.cells[q.cell].nodes-f.got[g.job][g.part])
			if do {
				f.add(g, cores)
			}
		case v >= f.vertexs: // and less at that one
			g := f.guestAt(v-f.vertexs, u)
			n = min(n, f.spare(&f.p.items[f.bid[g.job]], g))
			if do {
				f.add(g, -cores)
			}
		case v < u: // down to the table below
			n = min(n, f.slack(u%int32(f.p.tables()), u/int32(f.p.tables())))
		default: // up, in place of what comes from there
			n = min(n, f.used[v%int32(f.p.tables())][v/int32(f.p.tables())])
		}
	}
	return n
}

// guestAt is a winner at the cell of a vertex.
func (f *flow) guestAt(job, vertex int32) guest {
	cell := vertex / int32(f.p.tables())
	for _, g := range f.at[cell] {
		if g.job == job {
			return g
		}
	}
	panic("layout: the way leads past a winner's own cells")
}
