// SPDX-License-Identifier: BSD-3-Clause

package layout

// flow holds the winners so far and a layout of them, by cells: a flow from each winner
// over its cells, through what every table has there, table by table downwards (those
// that a reservation binds are bound by what is free now as well).
//
// A winner comes in by augmenting paths: each of its nodes gets its least, then the
// rest goes wherever there is room, or wherever the other winners can make some. That
// finds a layout whenever there is one.
type flow struct {
	p       *problem
	got     [][]int64 // by job: cores in all of each part of its winner
	bid     []int32   // by job: the winner, or -1
	used    [][]int64 // by table, cell: cores of those whom the table binds
	least   [][]int64 // the same, had each winner its least only
	gpus    [][]int64 // GPUs of each node, the same way
	at      [][]guest // by cell
	log     []change  // since the caller emptied it
	work    int64
	seen    []int64 // by vertex: the search that saw it
	search  int64
	from    []int32 // by vertex: where the search came from
	queue   []int32
	vertexs int32 // of cells and tables; those of jobs follow

	quota [][]int64 // by table, quota: what is left
}

// guest is a winner at a cell.
type guest struct{ job, part int32 }

// change is one step: cores more for a guest, or, with part -1, a winner that came or went.
type change struct {
	guest
	cores int64
	bid   int32 // that came, or went if left
	left  bool
}

func (f *flow) reset(p *problem) {
	f.p = p
	jobs := p.jobs()
	for len(f.got) < jobs {
		f.got = append(f.got, nil)
	}
	f.bid = f.bid[:0]
	for range jobs {
		f.bid = append(f.bid, -1)
	}
	f.used, f.least, f.gpus = zeros(f.used, p), zeros(f.least, p), zeros(f.gpus, p)
	for len(f.at) < len(p.cells) {
		f.at = append(f.at, nil)
	}
	for i := range p.cells {
		f.at[i] = f.at[i][:0]
	}
	f.vertexs = int32(len(p.cells) * p.tables())
	n := int(f.vertexs) + jobs
	f.seen = append(f.seen[:0], make([]int64, n)...)
	f.from = append(f.from[:0], make([]int32, n)...)
	f.search, f.log = 0, f.log[:0]
	f.resetQuotas()
}

// zeros makes s a 0 for each table and cell.
func zeros(s [][]int64, p *problem) [][]int64 {
	for len(s) < p.tables() {
		s = append(s, nil)
	}
	for k := range p.tables() {
		s[k] = append(s[k][:0], make([]int64, len(p.cells))...)
	}
	return s
}

// roomFor is false if bid b can't come in whatever the layouts. It alone looks at GPUs and quotas.
func (f *flow) roomFor(b int32) bool {
	x := &f.p.items[b]
	f.work += int64(x.last - x.first)
	if !f.withinQuotas(x) {
		return false
	}
	for _, q := range f.p.parts(x) {
		for k := range int(x.level) + 1 {
			c := f.p.cells[q.cell]
			if f.least[k][q.cell]+x.lo > f.p.free[k][q.cell] ||
				f.gpus[k][q.cell]+q.gpus > int64(f.p.table(k).FreeGPUs()[c.first]) {
				return false
			}
		}
	}
	return true
}

// count counts bid b in, or with sign -1 out, in what winners take whatever their layouts.
func (f *flow) count(b int32, sign int64) {
	x := &f.p.items[b]
	for _, q := range f.p.parts(x) {
		for k := range x.level + 1 {
			f.least[k][q.cell] += sign * x.lo
			f.gpus[k][q.cell] += sign * q.gpus
		}
	}
	f.charge(x, sign)
}

// slack is what table k has left at a cell.
func (f *flow) slack(k, cell int32) int64 {
	return f.p.free[k][cell]*f.p.cells[cell].nodes - f.used[k][cell]
}

// add gives a winner more cores, or fewer, at one of its parts.
func (f *flow) add(g guest, cores int64) {
	x := &f.p.items[f.bid[g.job]]
	f.got[g.job][g.part] += cores
	cell := f.p.parts(x)[g.part].cell
	for k := range x.level + 1 {
		f.used[k][cell] += cores
	}
	f.log = append(f.log, change{guest: g, cores: cores})
	f.work += 2
}

// enter lets bid b win, without any core yet.
func (f *flow) enter(b int32) {
	x := &f.p.items[b]
	parts := f.p.parts(x)
	f.bid[x.job] = b
	f.got[x.job] = append(f.got[x.job][:0], make([]int64, len(parts))...)
	f.count(b, 1)
	for i, q := range parts {
		f.at[q.cell] = append(f.at[q.cell], guest{x.job, int32(i)})
	}
	f.work += int64(len(parts))
}

// leave takes bid b out, which has no core any more.
func (f *flow) leave(b int32) {
	x := &f.p.items[b]
	f.count(b, -1)
	for _, q := range f.p.parts(x) {
		at := f.at[q.cell]
		i := len(at) - 1
		for at[i].job != x.job {
			i--
		}
		at[i] = at[len(at)-1]
		f.at[q.cell] = at[:len(at)-1]
	}
	f.bid[x.job] = -1
	f.work += int64(x.last - x.first)
}

// insert lets bid b of a job that has none win. If there is no layout of it and the other
// winners, it changes nothing and reports false; the search that failed then tells why.
func (f *flow) insert(b int32) bool {
	mark := len(f.log)
	x := &f.p.items[b]
	j := x.job
	f.enter(b)
	f.log = append(f.log, change{guest: guest{j, -1}, bid: b})
	left := x.need
	for i, q := range f.p.parts(x) {
		least := x.lo * f.p.cells[q.cell].nodes
		left -= least
		if !f.push(f.vertex(x.level, q.cell), guest{j, int32(i)}, least) {
			f.undo(mark)
			return false
		}
	}
	if !f.push(f.vertexs+j, guest{j, -1}, left) {
		f.undo(mark)
		return false
	}
	return true
}

// remove takes job j's winner out.
func (f *flow) remove(j int32) {
	b := f.bid[j]
	for i, n := range f.got[j] {
		f.add(guest{j, int32(i)}, -n)
	}
	f.leave(b)
	f.log = append(f.log, change{guest: guest{j, -1}, bid: b, left: true})
}

// undo takes all changes after the first mark ones back.
func (f *flow) undo(mark int) {
	for i := len(f.log) - 1; i >= mark; i-- {
		switch c := f.log[i]; {
		case c.part >= 0:
			f.add(c.guest, -c.cores)
		case c.left:
			f.enter(c.bid)
		default:
			f.leave(c.bid)
		}
	}
	f.log = f.log[:mark]
}
