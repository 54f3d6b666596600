// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/core"
)

// Features are what windows are drawn with, a few at a time.
var Features = []string{
	"memory", "type", "share", "quota", "coreless", "exclusive", // rows
	"nodes-range", "gpus-range", "mixed", "contiguous", "below", "gang", "apart", // shapes
	"alternatives", "prefer", "tiers", // ways
	"endless", "down", "reserved", // time
	"preempt", "exempt", "strict", "gang-runs", // force
	"objective",
	"long-queue", "small-window",
}

// Presets are those that windows are drawn with.
var Presets = []string{"none", "default", "short", "throughput", "packed"}

type drawing struct {
	*rand.Rand
	w   *World
	has map[string]bool
}

func (d *drawing) often(n int) bool         { return d.IntN(n) == 0 }
func (d *drawing) from(low, high int) int   { return low + d.IntN(high-low+1) }
func (d *drawing) one(list ...int) int      { return list[d.IntN(len(list))] }
func (d *drawing) amount(list ...int) int64 { return int64(d.one(list...)) }

// Draw draws the window of a seed, with up to three of the features of a list. Of must there is one
// at least, if it is not empty.
func Draw(seed uint64, list, must []string) *World {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 7)), has: map[string]bool{}}
	if len(must) > 0 {
		d.has[must[d.IntN(len(must))]] = true
	}
	for range d.IntN(4) {
		if len(list) > 0 {
			d.has[list[d.IntN(len(list))]] = true
		}
	}
	d.has["preempt"] = d.has["preempt"] || d.has["exempt"] || d.has["strict"]
	d.w = &World{Now: 1000, Seed: seed, Preset: Presets[d.IntN(len(Presets))], Estimates: d.often(2)}
	if d.w.Strict = d.has["strict"]; d.has["objective"] {
		d.w.Objective = core.Objective(d.IntN(3))
	}
	d.nodes()
	d.rows()
	if d.has["below"] {
		d.switches()
	}
	for i := range d.from(0, 4) {
		d.runs(i)
	}
	if d.has["down"] {
		d.w.Nodes[d.IntN(len(d.w.Nodes))].Up = false
	}
	if d.has["reserved"] {
		for i := range d.from(1, 2) {
			d.reserve(fmt.Sprint("res", i))
		}
	}
	for i := range d.from(1, 6) {
		d.w.Jobs = append(d.w.Jobs, d.job(i))
	}
	if d.has["long-queue"] {
		for range d.from(60, 120) { // as many as one of the others
			like := d.w.Jobs[0]
			like.ID = fmt.Sprint("K", len(d.w.Jobs))
			d.w.Jobs = append(d.w.Jobs, like)
		}
		d.w.Window, d.w.Depth = d.one(8, 20), d.one(0, 8, 20)
	}
	if d.has["small-window"] {
		d.w.Window, d.w.Depth = d.from(1, 3), d.from(0, 2)
	}
	d.w.Jobs = slices.DeleteFunc(d.w.Jobs, func(j Job) bool { return d.w.job(&j).Validate() != nil })
	d.w.sort()
	for _, f := range Features {
		if d.has[f] {
			d.w.Features = append(d.w.Features, f)
		}
	}
	return d.w
}

func (w *World) sort() {
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return int(b.Priority - a.Priority) })
}

func (d *drawing) nodes() {
	n := Node{Up: true, Cores: d.one(1, 2, 2, 3, 4, 8), GPUs: d.one(0, 0, 1, 2)}
	if d.has["share"] || d.has["type"] || d.has["gpus-range"] || d.has["mixed"] {
		n.GPUs = d.from(1, 3)
	}
	for range d.from(1, 5) {
		one := n
		if d.often(3) {
			one.Cores, one.GPUs = d.one(1, 2, 3, 4, 8), d.from(0, n.GPUs)
		}
		if d.has["share"] && one.GPUs > 0 && !d.often(4) {
			one.Share = 4
		}
		if d.has["tiers"] {
			one.Tier = d.from(0, 2)
		}
		d.w.Nodes = append(d.w.Nodes, one)
	}
}

// reserve adds a reservation that is not over.
func (d *drawing) reserve(name string) {
	from := d.w.Now + d.amount(-5, 0, 5, 10, 20)
	d.w.Reserved = append(d.w.Reserved, Reserved{Name: name, Nodes: d.mask(), From: from, To: from + d.amount(6, 10, 20, 30)})
}

// rows adds further resources and quotas.
func (d *drawing) rows() {
	add := func(name string, amount func(n *Node) int64) {
		d.w.More = append(d.w.More, name)
		for i := range d.w.Nodes {
			d.w.Nodes[i].More = append(d.w.Nodes[i].More, amount(&d.w.Nodes[i]))
		}
	}
	if d.has["memory"] || d.has["coreless"] {
		add("memory", func(*Node) int64 { return d.amount(4, 8, 8, 12) })
	}
	if d.has["exclusive"] {
		add("exclusive", func(*Node) int64 { return wholeNode })
	}
	if d.has["type"] {
		add("type", func(n *Node) int64 { return d.amount(0, n.GPUs, n.GPUs) })
	}
	if d.has["quota"] {
		for range d.from(1, 2) {
			d.w.Quotas = append(d.w.Quotas, d.amount(1, 3, 4, 6, 8))
		}
	}
}

// switches has leaves of two nodes below one root, or in two rows.
func (d *drawing) switches() {
	var leaves, rows, root []int
	for n := range d.w.Nodes {
		leaves, rows, root = append(leaves, n/2), append(rows, n/4), append(root, 0)
	}
	d.w.Levels = [][]int{leaves, rows, root}
	if d.often(2) {
		d.w.Levels = [][]int{leaves, root}
	}
}

// runs adds a running job, if what it asks for is free.
func (d *drawing) runs(i int) {
	way := d.way(d.has["gang-runs"] && d.often(2))
	to := d.w.Now + d.amount(10, 20, 20, 30)
	if d.has["endless"] && d.often(3) {
		to = d.w.Now + Endless
	}
	c := Claim{ID: fmt.Sprint("R", i), From: d.w.Now - 5, To: to, Way: way}
	if d.has["preempt"] && !d.often(4) {
		if c.Price, c.Class = d.amount(1, 2, 3), d.one(0, 0, 1); d.has["exempt"] {
			c.Exempt = d.w.Now + d.amount(-3, 0, 4, 15)
		}
	}
	var places [][]Piece
	d.w.Room(d.w.Now, to, d.w.Running).places(&way, &budget{2000}, func(p []Piece) bool {
		places = append(places, slices.Clone(p))
		return len(places) < 50
	})
	if len(places) > 0 {
		c.Pieces = places[d.IntN(len(places))]
		d.w.Running = append(d.w.Running, c)
	}
}

func (d *drawing) job(i int) Job {
	j := Job{ID: fmt.Sprint("J", i), Priority: int64(1000 + 10*d.from(0, 5)),
		Limit: d.amount(5, 9, 10, 12, 15, 25, 30), Waited: d.amount(0, 100)}
	j.Ways = append(j.Ways, d.way(d.has["gang"] && d.often(2)))
	if d.has["endless"] && d.often(3) {
		j.Limit = Endless
	}
	for d.has["alternatives"] && len(j.Ways) < 3 && d.often(2) {
		j.Ways = append(j.Ways, d.way(d.has["gang"] && d.often(3)))
	}
	if d.has["prefer"] && d.often(2) {
		j.Prefer = d.mask()
	}
	if n := len(d.w.Reserved); n > 0 && d.often(3) {
		j.Reservation = d.w.Reserved[d.IntN(n)].Name
	}
	if d.has["preempt"] && !d.often(3) {
		j.Preempts = uint64(d.one(1, 1, 3))
	}
	return j
}

func (d *drawing) way(gang bool) Way {
	way := Way{Parts: []Part{d.part(true)}}
	if gang {
		if p := &way.Parts[0]; p.Share > 0 {
			p.Share, p.Cores = 0, max(p.Cores, 1)
		}
		for range d.from(1, 2) {
			way.Parts = append(way.Parts, d.part(false))
		}
		if d.has["below"] && d.often(2) {
			way.AllWithin = d.from(1, 2)
		}
	}
	return way
}

func (d *drawing) mask() (m uint) {
	for m == 0 {
		m = uint(d.IntN(1 << len(d.w.Nodes)))
	}
	return m
}

// part draws what a job asks for; shares are for jobs of one part.
func (d *drawing) part(share bool) Part {
	p := Part{On: d.w.all()}
	if d.often(6) {
		p.On = d.mask()
	}
	d.shape(&p)
	if d.has["share"] && share && d.often(2) {
		p = Part{On: p.On, MinNodes: 1, MaxNodes: 1, Cores: d.from(1, 2), Share: d.amount(1, 2, 2, 3, 4)}
	}
	if d.has["coreless"] && d.often(2) {
		p.Cores, p.Tasks = 0, 0
		if p.MinGPUs == 0 && p.MaxGPUs > 0 {
			p.MinGPUs = 1
		}
	}
	d.uses(&p)
	if d.has["contiguous"] && d.often(2) {
		p.Contiguous = true
	}
	if d.has["apart"] && d.often(2) {
		p.Apart = true
	}
	if d.has["below"] && d.often(2) {
		switch d.IntN(3) {
		case 0:
			p.Switches = d.from(1, 2)
		case 1:
			p.Within = d.from(1, 2)
		default:
			if n := d.one(2, 2, 4); p.Share == 0 && (p.Cores == 0 || p.Cores >= n) {
				p.MinNodes, p.MaxNodes, p.Segment = n, n, 2
			}
		}
	}
	return p
}

// shape draws cores, nodes and GPUs.
func (d *drawing) shape(p *Part) {
	nodes := d.one(1, 1, 2, 2, 3, len(d.w.Nodes))
	switch d.IntN(3) {
	case 0:
		p.Cores = d.from(1, d.one(4, 8, 12))
	case 1:
		p.MinNodes, p.MaxNodes, p.Tasks = nodes, nodes, d.from(1, 3)
	default:
		p.MinNodes, p.MaxNodes = nodes, nodes
		p.Cores = d.from(nodes, nodes*3)
	}
	if d.has["nodes-range"] && d.often(2) {
		p.MinNodes, p.MaxNodes = d.one(0, 1, 1, 2), d.one(0, 2, 3, 4)
		if p.Cores > 0 {
			p.Cores = max(p.Cores, p.MinNodes)
		}
	}
	if most := d.w.Nodes[0].GPUs; most > 0 && d.often(2) {
		p.MinGPUs = d.from(0, most)
		if d.has["gpus-range"] || d.has["mixed"] {
			p.MaxGPUs = d.from(p.MinGPUs, most)
		}
		p.Mixed = d.has["mixed"] && d.often(2)
	}
}

// wholeNode is how much of "exclusive" a job takes that is alone on its nodes. Others take 1.
const wholeNode = 1000

// uses draws what a part takes of further resources and quotas.
func (d *drawing) uses(p *Part) {
	for _, name := range d.w.More {
		var u Use
		switch {
		case name == "exclusive":
			if u.PerNode = 1; d.often(3) {
				u.PerNode = wholeNode
			}
		case name == "type" && p.Share == 0 && d.often(2):
			u.PerGPU = 1
		case name == "memory" && (p.coreless() && p.MinGPUs == 0 || d.often(2)):
			if u.PerNode = d.amount(1, 2, 4, 6); d.often(3) && !p.coreless() {
				u = Use{PerNode: d.amount(0, 1), PerCore: d.amount(1, 2)}
			}
		}
		p.More = append(p.More, u)
	}
	for range d.w.Quotas {
		var u Use
		switch d.IntN(5) {
		case 0:
			u.PerJob = d.amount(1, 2)
		case 1:
			u.PerNode = d.amount(1, 2)
		case 2:
			u.PerCore = 1
		case 3:
			u.PerGPU = 1
		}
		p.Counts = append(p.Counts, u)
	}
}

func (p *Part) coreless() bool { return p.Cores == 0 && p.Tasks == 0 }
