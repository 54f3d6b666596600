// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"maps"
	"slices"

	"github.com/aucsched/aucsched/internal/market"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// variantsOf are the ways to meet a job, for claims.
func (e *Explainer) variantsOf(job *Job) []market.Variant {
	e.normal.read(job)
	e.limit = job.TimeLimit
	variants := make([]market.Variant, len(e.normal.specs))
	for k, spec := range e.normal.specs {
		variants[k] = market.Variant{Spec: spec, Rank: k, Of: len(variants)}
	}
	return variants
}

func (l Lack) ofQuota() bool { return l.In == "quota" }

// fits finds a place for spec in r.
func (e *Explainer) fits(r *view, spec *place.Spec) ([]nodeset.Segment, bool) {
	return e.placer.PlaceFew(nil, r.nodes, spec, quotasOf(r), nil)
}

// quotasOf is what v has left of quotas, counted one by one.
func quotasOf(v *view) *place.Quotas {
	return &place.Quotas{Left: [][]int64{v.left}, Unit: slices.Repeat([]int64{1}, len(v.left))}
}

// clone is a copy of v.
func (v *view) clone() *view {
	c := new(view)
	c.own().copyFrom(v)
	return c
}

// lacks says what spec lacks of r: nothing if it fits there. At first there is plenty of all rows.
// Then one row after the other becomes as in r. If spec has no place with that any more, it lacks
// the row, and goes on having plenty of it. So it has a place if it is given all that it lacks.
func (e *Explainer) lacks(r *view, spec place.Spec) (lacks []Lack) {
	given := &view{place.Idle(r.nodes), slices.Repeat([]int64{place.MostCharged.PerJob}, len(r.left))}
	free := spec // of demands
	free.Contiguous, free.Below, free.Parts = false, nil, spec.Parts.Clone()
	if free.Parts != nil {
		free.Parts.Apart, free.Parts.Within = 0, 0
	}
	for _, p := range eachPart(&free) {
		p.Contiguous, p.Below = false, nil
	}
	for _, row := range e.rowsOf(r, &spec) {
		before, demands := given.clone(), free
		free.Parts = free.Parts.Clone()
		row.set(given, &free)
		if _, ok := e.fits(given, &free); ok {
			continue
		}
		lacks = append(lacks, e.lackOf(row, before, given, &demands, &free))
		given, free = before, demands
	}
	return lacks
}

// eachPart are the parts of a job, or what it is itself.
func eachPart(spec *place.Spec) (parts []*place.Spec) {
	if spec.Parts == nil {
		return []*place.Spec{spec}
	}
	for k := range spec.Parts.Specs {
		parts = append(parts, &spec.Parts.Specs[k])
	}
	return parts
}

// row is one of which a job may have too little. set has it be as it is; it is of quota, or
// demanded by part, if that is not negative.
type row struct {
	name        string
	quota, part int
	set         func(given *view, spec *place.Spec)
}

// rowsOf are the rows that matter to spec, in r.
func (e *Explainer) rowsOf(r *view, spec *place.Spec) []row {
	t := r.nodes
	nodes := func(name string, set func(given *nodeset.Table, n int)) row {
		return row{name, -1, -1, func(given *view, _ *place.Spec) {
			for n := range t.Len() {
				set(given.nodes, n)
			}
		}}
	}
	free := func(given *nodeset.Table, n int, c nodeset.Capacity) { must(given.SetFree(n, c)) }
	rows := []row{
		{"nodes", -1, -1, func(given *view, s *place.Spec) {
			for n := range t.Len() {
				given.nodes.SetUp(n, t.Up(n))
			}
			now := e.normal.now(*spec, e.limit)
			for k, p := range eachPart(&now) {
				eachPart(s)[k].Eligible = p.Eligible
			}
		}},
		nodes("gpus_per_node", func(given *nodeset.Table, n int) {
			for i, left := range t.BinsLeft(n) {
				if left >= 0 {
					must(given.SetBin(n, uint8(i+1), int64(left)))
				}
			}
			free(given, n, nodeset.Capacity{Cores: given.Free(n).Cores, GPUs: t.Free(n).GPUs})
		}),
		nodes("cores_per_node", func(given *nodeset.Table, n int) {
			free(given, n, nodeset.Capacity{Cores: t.Free(n).Cores, GPUs: given.Free(n).GPUs})
		}),
	}
	used := make(map[int]bool)
	for _, p := range eachPart(spec) {
		for _, u := range p.More() {
			if used[u.Row] {
				continue
			}
			used[u.Row] = true
			if s, shared := t.Shares(); shared && u.Row == s { // of GPUs where its cores are
				rows[1].name = t.ResourceName(s)
				rows[1], rows[2] = rows[2], rows[1]
				continue
			}
			rows = append(rows, nodes(t.ResourceName(u.Row), func(given *nodeset.Table, n int) {
				must(given.SetFreeOf(u.Row, n, t.FreeOf(u.Row)[n]))
			}))
		}
	}
	demand := func(name string, part int, set func(s *place.Spec)) {
		rows = append(rows, row{name, -1, part, func(_ *view, s *place.Spec) { set(s) }})
	}
	for k, p := range eachPart(spec) {
		if p.Contiguous || spec.Contiguous {
			demand("contiguous", k, func(s *place.Spec) { eachPart(s)[k].Contiguous = true })
		}
		if p.Demands() {
			demand("switches", k, func(s *place.Spec) { eachPart(s)[k].Below = p.Below })
		}
	}
	if spec.Parts != nil && spec.Parts.Apart != 0 {
		demand("apart", -1, func(s *place.Spec) { s.Parts.Apart = spec.Parts.Apart })
	}
	if spec.Parts != nil && spec.Parts.Within > 0 {
		demand("all_within", -1, func(s *place.Spec) { s.Parts.Within = spec.Parts.Within })
	}
	for _, c := range spec.Counted() { // last: of what is free as many nodes are taken as are needed
		rows = append(rows, row{e.s.Quotas[c.Row].Name, c.Row, -1, func(given *view, _ *place.Spec) { given.left[c.Row] = r.left[c.Row] }})
	}
	return rows
}

// lackOf says how much of a row spec lacks in given, of which there was plenty before, when it was as
// was. Of a job of several parts it is what the first one lacks that finds no place.
func (e *Explainer) lackOf(row row, before, given *view, was, spec *place.Spec) Lack {
	segs, _ := e.fits(before, was)
	if q := row.quota; q >= 0 {
		at := slices.IndexFunc(spec.Counted(), func(c nodeset.Use) bool { return c.Row == q })
		return Lack{Row: row.name, In: "quota", Needs: quotasOf(before).CostFor(spec, at, segs), Has: max(given.left[q], 0)}
	}
	if row.name == "all_within" { // of the nodes that it would have as it was
		on, rooms := maskUnder(segs, before.nodes.Len()), make([]int, before.nodes.Len())
		for n := range rooms {
			if on.Has(n) {
				rooms[n] = 1
			}
		}
		below, _ := place.MostBelow(&place.Spec{Below: &place.Below{Tree: spec.Parts.Tree, Within: spec.Parts.Within}}, rooms)
		return Lack{Row: row.name, In: "nodes", Needs: int64(on.Count()), Has: int64(below)}
	}
	var parts []int
	if spec.Parts != nil {
		given, parts = e.lackingPart(given, spec, row.part)
		spec = eachPart(spec)[parts[0]]
	}
	l := Lack{Row: row.name, In: "nodes", Needs: int64(spec.Nodes.Min), Each: e.eachOf(spec), Parts: parts}
	l.Among, _ = place.Most(spec, e.rooms(before, spec), "")
	nodes, cores := place.Most(spec, e.rooms(given, spec), row.name)
	if l.Has = int64(nodes); l.Has >= l.Needs && spec.Cores.Total > 0 {
		if row.name == "cores_per_node" {
			l.Row = "cores"
		}
		l.In, l.Needs, l.Has = "cores", int64(spec.Cores.Total), cores
	}
	if s, shared := given.nodes.Shares(); shared && row.name == given.nodes.ResourceName(s) {
		l.In, l.Needs, l.Has = "shares", given.nodes.ShareOf(spec.More()), 0
		for n, c := range e.rooms(before, spec) {
			if c > 0 && c >= spec.Cores.Total {
				l.Has = max(l.Has, given.nodes.FreeOf(s)[n])
			}
		}
	}
	return l
}

// eachOf is what each node for spec has to give at least.
func (e *Explainer) eachOf(spec *place.Spec) map[string]int64 {
	cores, gpus := spec.Cores.PerNode.Min, spec.GPUs.PerNode.Min
	each := map[string]int64{"cores": int64(cores), "gpus": int64(gpus)}
	for _, u := range spec.More() {
		each[e.s.Nodes.ResourceName(u.Row)] = u.Of(uint16(cores), uint8(gpus))
	}
	maps.DeleteFunc(each, func(_ string, amount int64) bool { return amount == 0 })
	return each
}

// rooms are, by node, what it has free for spec.
func (e *Explainer) rooms(v *view, spec *place.Spec) []int {
	return spec.Rooms(nil, e.limited.Of(v.nodes, spec))
}

// lackingPart is the first part that finds no place in v, or part if not negative, and which others it
// finds none beside; and what it sees of v.
func (e *Explainer) lackingPart(v *view, spec *place.Spec, part int) (here *view, list []int) {
	rest, parts, used := v.clone(), eachPart(spec), map[int]nodeset.Mask{}
	for i := range parts {
		k := (i + part + 1) % len(parts)
		list, here = append([]int{k}, list...), rest.clone()
		for o, mask := range used {
			for n := range here.nodes.Len() {
				if (spec.Parts.Apart>>k|spec.Parts.Apart>>o)&1 == 1 && mask.Has(n) {
					here.nodes.SetUp(n, false)
				}
			}
		}
		if segs, ok := e.fits(here, parts[k]); ok {
			must(rest.nodes.Allocate(segs, parts[k].More()...))
			used[k] = maskUnder(segs, v.nodes.Len())
		} else if part < 0 {
			break
		}
	}
	if _, ok := e.fits(v, parts[list[0]]); !ok {
		return v, list[:1]
	}
	return here, list
}
