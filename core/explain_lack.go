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
	quotas := &place.Quotas{Left: [][]int64{r.left}, Unit: slices.Repeat([]int64{1}, len(r.left))}
	return e.placer.PlaceFew(nil, r.nodes, spec, quotas, nil)
}

// fitsAny reports whether any way to meet a job has a place in r.
func (e *Explainer) fitsAny(r *view, job *Job) bool {
	return slices.ContainsFunc(e.variantsOf(job), func(v market.Variant) bool { _, ok := e.fits(r, &v.Spec); return ok })
}

// clone is a copy of v.
func (v *view) clone() view {
	var c view
	c.own().copyFrom(v)
	return c
}

// lacks says what spec lacks of r: nothing if it fits there. It is given plenty of all rows at
// first. Then each row is as in r, one after the other: if spec has no place with that any more, it
// lacks the row, and goes on having plenty of it. So it has a place if it is given all that it lacks.
func (e *Explainer) lacks(r *view, spec place.Spec) (lacks []Lack) {
	if spec.Parts != nil {
		return e.lacksOfParts(r, &spec)
	}
	given := view{place.Idle(r.nodes), slices.Repeat([]int64{place.MostCharged.PerJob}, len(r.left))}
	free := spec // of demands
	free.Contiguous, free.Below = false, nil
	for _, row := range e.rowsOf(r, &spec) {
		before, demands := given.clone(), free
		row.set(&given, &free)
		if _, ok := e.fits(&given, &free); ok {
			continue
		}
		lacks = append(lacks, e.lackOf(row, &before, &given, &free))
		given, free = before, demands
	}
	return lacks
}

// row is one of which a job may have too little. set has it be as it is; it is of quota if that is
// not negative.
type row struct {
	name  string
	quota int
	set   func(given *view, spec *place.Spec)
}

// rowsOf are the rows that matter to spec, in r.
func (e *Explainer) rowsOf(r *view, spec *place.Spec) []row {
	t := r.nodes
	nodes := func(name string, set func(given *nodeset.Table, n int)) row {
		return row{name, -1, func(given *view, _ *place.Spec) {
			for n := range t.Len() {
				set(given.nodes, n)
			}
		}}
	}
	free := func(given *nodeset.Table, n int, c nodeset.Capacity) { must(given.SetFree(n, c)) }
	rows := []row{
		nodes("nodes", func(given *nodeset.Table, n int) { given.SetUp(n, t.Up(n)) }),
		nodes("gpus_per_node", func(given *nodeset.Table, n int) {
			for b := 1; b <= t.Bins(n); b++ {
				if left, inUse := t.BinFree(n, uint8(b)); inUse {
					must(given.SetBin(n, uint8(b), left))
				}
			}
			free(given, n, nodeset.Capacity{Cores: given.Free(n).Cores, GPUs: t.Free(n).GPUs})
		}),
		nodes("cores_per_node", func(given *nodeset.Table, n int) {
			free(given, n, nodeset.Capacity{Cores: t.Free(n).Cores, GPUs: given.Free(n).GPUs})
		}),
	}
	up := rows[0].set
	rows[0].set = func(given *view, s *place.Spec) {
		up(given, s)
		s.Eligible = e.normal.now(*spec, e.limit).Eligible
	}
	for _, u := range spec.More() {
		if s, shared := t.Shares(); shared && u.Row == s { // of GPUs where its cores are
			rows[1].name = t.ResourceName(s)
			rows[1], rows[2] = rows[2], rows[1]
			continue
		}
		rows = append(rows, nodes(t.ResourceName(u.Row), func(given *nodeset.Table, n int) {
			must(given.SetFreeOf(u.Row, n, t.FreeOf(u.Row)[n]))
		}))
	}
	if spec.Contiguous {
		rows = append(rows, row{"contiguous", -1, func(_ *view, s *place.Spec) { s.Contiguous = true }})
	}
	if spec.Demands() {
		rows = append(rows, row{"switches", -1, func(_ *view, s *place.Spec) { s.Below = spec.Below }})
	}
	for _, c := range spec.Counted() { // last: of what is free as many nodes are taken as are needed
		rows = append(rows, row{e.s.Quotas[c.Row].Name, c.Row, func(given *view, _ *place.Spec) { given.left[c.Row] = r.left[c.Row] }})
	}
	return rows
}

// lackOf says how much of a row spec lacks in given, of which there was plenty before.
func (e *Explainer) lackOf(row row, before, given *view, spec *place.Spec) Lack {
	if q := row.quota; q >= 0 {
		segs, _ := e.fits(before, spec)
		at := slices.IndexFunc(spec.Counted(), func(c nodeset.Use) bool { return c.Row == q })
		return Lack{Row: row.name, In: "quota", Needs: place.Count(&spec.Counted()[at], place.SizeOf(segs)), Has: max(given.left[q], 0)}
	}
	l := Lack{Row: row.name, In: "nodes", Needs: int64(spec.Nodes.Min), Each: e.eachOf(spec)}
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

// lacksOfParts is lacks for a job of several parts: of the first that finds no place beside those
// before it, placed one after the other. It may find none even alone.
func (e *Explainer) lacksOfParts(r *view, spec *place.Spec) []Lack {
	if l, ok := e.lacksOneSwitch(r, spec); ok {
		return []Lack{l}
	}
	parts, rest := spec.Parts, r.clone()
	var used []nodeset.Mask // by part
	for k := range parts.Specs {
		s, here := &parts.Specs[k], rest.clone()
		now := e.normal.now(*s, e.limit)
		list := []int{k}
		for o, mask := range used {
			list = append(list, o)
			for n := range here.nodes.Len() {
				if (parts.Apart>>k|parts.Apart>>o)&1 == 1 && mask.Has(n) {
					here.nodes.SetUp(n, false)
				}
			}
		}
		segs, ok := e.fits(&here, &now)
		if !ok {
			lacks := e.lacks(r, *s)
			if len(lacks) > 0 {
				list = list[:1]
			} else if lacks = e.lacks(&rest, *s); len(lacks) == 0 { // it has a place there
				nodes, _ := place.Most(s, e.rooms(&here, s), "")
				lacks = []Lack{{Row: "apart", In: "nodes", Needs: int64(s.Nodes.Min), Has: int64(nodes), Each: e.eachOf(s)}}
			}
			for i := range lacks {
				lacks[i].Parts = list
			}
			return lacks
		}
		must(rest.nodes.Allocate(segs, s.More()...))
		for _, c := range s.Counted() {
			rest.left[c.Row] -= place.Count(&c, place.SizeOf(segs))
		}
		used = append(used, maskUnder(segs, r.nodes.Len()))
	}
	return nil
}

// lacksOneSwitch reports whether all parts would have places if they need not be below one switch.
func (e *Explainer) lacksOneSwitch(r *view, spec *place.Spec) (l Lack, ok bool) {
	if spec.Parts.Within == 0 {
		return l, false
	}
	anywhere := e.normal.now(*spec, e.limit)
	anywhere.Parts = anywhere.Parts.Clone()
	anywhere.Parts.Within = 0
	segs, ok := e.fits(r, &anywhere)
	if !ok {
		return l, false
	}
	tree := spec.Parts.Tree
	of, below, on := tree.SwitchOf(min(int(spec.Parts.Within), tree.Levels())), make(map[int32]int64), maskUnder(segs, r.nodes.Len())
	l = Lack{Row: "all_within", In: "nodes", Needs: int64(on.Count())}
	for n := range r.nodes.Len() {
		if on.Has(n) {
			below[of[n]]++
			l.Has = max(l.Has, below[of[n]])
		}
	}
	return l, true
}
