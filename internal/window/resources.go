// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// lot are the nodes of one element, up to but without node end, each one's further resources, how
// many shares each GPU has, and what is free of those in shared use, by their numbers.
type lot struct {
	end         int
	total, free format.Amounts
	shares      int64
	freeShares  map[uint8]int64
}

// of is how much there is of a resource in all, and free if the file says so.
func (l *lot) of(name string) (total, free int64, said bool) {
	free, said = l.free[name]
	return l.total[name], free, said
}

// share is a resource of a node.
type share struct {
	node int
	name string
}

// taken is what a waiting job takes by name, and the request that it goes to.
type taken struct {
	at   int64
	what string
	uses format.Uses
	of   func() *bids.Request
}

// nested checks a field that has a further object; p.at is where it begins.
func (p *parser) nested(what string, m member) error {
	var see func(what string, m member) error
	check := format.CheckResource
	switch m.key {
	case "resources", "free_resources":
		see = p.amount(nodeset.MaxAmount)
	case "uses":
		see = p.use(nodeset.MaxAmount, "per_job")
	case "charges":
		see, check = p.use(bids.MaxRate, ""), format.CheckQuota
	case "free_gpu_shares":
		see, check = p.gpuNumber, func(string) error { return nil }
	default:
		return nil
	}
	what += ": " + m.key
	return p.object(what, p.at+int64(m.begin-m.at), m.value, func(m member) error {
		if err := check(m.key); err != nil {
			return p.fail("%s: %v", what, err)
		}
		return see(what, m)
	})
}

// amount checks a number and its name.
func (p *parser) amount(most int64) func(what string, m member) error {
	return func(what string, m member) error {
		if kind := kindOf(m.value); kind != "a number" {
			return p.fail("%s: %s: expected a whole number, found %s", what, m.key, kind)
		}
		if v, err := strconv.ParseInt(string(m.value), 10, 64); err != nil || v < 0 || v > most {
			return p.fail("%s: %s: %.40s is not a whole number in 0-%d", what, m.key, m.value, most)
		}
		return nil
	}
}

// use checks what is taken of the row of a name, each amount up to most, and none but one of them.
func (p *parser) use(most int64, but string) func(what string, m member) error {
	return func(what string, m member) error {
		what += ": " + m.key
		known := slices.DeleteFunc(slices.Clone(p.fieldsOf(reflect.TypeFor[nodeset.Use]())), func(f string) bool { return f == but })
		return p.object(what, p.at+int64(m.begin-m.at), m.value, func(m member) error {
			if !slices.Contains(known, m.key) {
				return p.fail("%s: unknown field %q%s", what, m.key, input.Hint(m.key, known))
			}
			return p.amount(most)(what, m)
		})
	}
}

// addLot notes the further resources of nodes that were read last, and what is free of GPUs in
// shared use.
func (p *parser) addLot(what string, n *format.Node, freeShares map[uint8]int64) error {
	for name := range n.Resources {
		p.resources[name] = true
	}
	if len(p.resources) > nodeset.MaxResources {
		return p.fail("%s: resources: more than %d in all", what, nodeset.MaxResources)
	}
	for _, name := range slices.Sorted(maps.Keys(n.FreeResources)) {
		total, there := n.Resources[name]
		if free := n.FreeResources[name]; !there {
			known := slices.Sorted(maps.Keys(n.Resources))
			return p.fail("%s: free_resources: %q is none of its resources%s", what, name, input.Hint(name, known))
		} else if free > total {
			return p.fail("%s: free_resources: %s: %d is not in 0-%d", what, name, free, total)
		}
	}
	p.lots = append(p.lots, lot{len(p.names), n.Resources, n.FreeResources, n.GPUShares, freeShares})
	return nil
}

// lotOf is the lot of node n.
func (p *parser) lotOf(n int) *lot {
	return &p.lots[sort.Search(len(p.lots), func(i int) bool { return p.lots[i].end > n })]
}

// deferUses notes what a waiting job takes, until all resources are known. of is its request then.
func (p *parser) deferUses(what string, j *format.Request, of func() *bids.Request) {
	if j.GPUShare > 0 {
		p.resources[format.GPUShare] = true
	}
	if u := j.Uses.WithGPUShare(j.GPUShare); len(u) > 0 {
		p.uses = append(p.uses, taken{p.at, what, u, of})
	}
}

// setUses gives deferred uses numbers.
func (p *parser) setUses() error {
	for _, u := range p.uses {
		p.at = u.at
		r := u.of()
		var err error
		if r.Uses, err = p.numbered(u.what, u.uses); err != nil {
			return err
		}
		for _, x := range r.Uses {
			if x.PerCore > 0 && x.PerGPU > 0 && place.Validate(r) != nil { // the rest of it was valid
				return p.fail("%s: uses: %s: is used by core and by GPU, and the number of GPUs is a range",
					u.what, p.order[x.Row])
			}
		}
	}
	return nil
}

// numbered is what is used, by number. All nodes have been read.
func (p *parser) numbered(what string, u format.Uses) (nodeset.Uses, error) {
	if p.order == nil {
		p.order = slices.Sorted(maps.Keys(p.resources))
	}
	numbers, unknown := u.Numbered(func(name string) (int, bool) { return slices.BinarySearch(p.order, name) })
	if unknown != "" {
		return nil, p.fail("%s: uses: no node has a resource %q%s", what, unknown, input.Hint(unknown, p.order))
	}
	return numbers, nil
}

// holdMore counts what a running job takes of the further resources of its nodes: it has to be
// there, beside what the file says is free.
func (p *parser) holdMore(what string, uses nodeset.Uses, segs []nodeset.Segment) error {
	for _, u := range uses {
		name := p.order[u.Row]
		if name == format.GPUShare {
			continue // see holdShare
		}
		for _, s := range segs {
			for n := int(s.First); n <= int(s.Last); n++ {
				total, free, said := p.lotOf(n).of(name)
				at := share{n, name}
				held := p.heldMore[at] + u.Of(s.Cores, s.GPUs)
				switch {
				case said && free+held > total:
					return p.fail("%s: uses: %s: node %s: what is free and what runs add up to %d, it has %d",
						what, name, p.names[n], free+held, total)
				case held > total:
					return p.fail("%s: uses: %s: node %s has %d left for it, it takes %d",
						what, name, p.names[n], total-p.heldMore[at], u.Of(s.Cores, s.GPUs))
				}
				p.heldMore[at] = held
			}
		}
	}
	return nil
}

// addResources adds the further resources to the machine, in order of their names.
func (p *parser) addResources(t *nodeset.Table) error {
	amounts := make([]int64, t.Len())
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		if name == format.GPUShare {
			for n := range amounts {
				amounts[n] = p.lotOf(n).shares
			}
			if err := p.addShares(t, amounts); err != nil {
				return err
			}
			continue
		}
		for n := range amounts {
			amounts[n] = p.lotOf(n).total[name]
		}
		r, err := t.AddResource(name, amounts)
		if err != nil {
			return err
		}
		for n, total := range amounts {
			_, free, said := p.lotOf(n).of(name)
			if !said {
				free = total - p.heldMore[share{n, name}]
			}
			if err := t.SetFreeOf(r, n, free); err != nil {
				return err
			}
		}
	}
	return nil
}
