// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"slices"

	"github.com/aucsched/aucsched/nodeset"
)

// usingLess are the ways to take less of further resources: less a node, and less a core. What is
// taken by GPU tells of what kind the GPUs are, and stays.
func (e *inquiry) usingLess() []dimension {
	var d []dimension
	add := func(u nodeset.Use, steps int64, name string, less func(u *nodeset.Use, by int64)) {
		if steps < 1 {
			return
		}
		apply := func(j *Job, steps int64) {
			uses := slices.Clone(j.Uses) // others have them too
			for k := range uses {
				if uses[k].Row == u.Row {
					less(&uses[k], steps)
				}
			}
			j.Uses = uses
		}
		d = append(d, dimension{fields: []string{fieldOf(e.s.Nodes, u.Row, name)}, steps: steps, apply: apply})
	}
	for _, u := range known(e.s.Nodes, e.job.Uses) {
		add(u, u.PerNode-1, "per_node", func(u *nodeset.Use, by int64) { u.PerNode -= by })
		add(u, u.PerCore-1, "per_core", func(u *nodeset.Use, by int64) { u.PerCore -= by })
	}
	return d
}

// fieldOf names what is taken of a further resource as a window file has it; a share of a GPU is a
// number of its own there.
func fieldOf(t *nodeset.Table, resource int, name string) string {
	if r, shared := t.Shares(); shared && resource == r {
		return t.ResourceName(r)
	}
	return "uses." + t.ResourceName(resource) + "." + name
}

// known is uses, if a machine like t has these resources, or else nil: a request may be one that is
// not valid while an alternative is.
func known(t *nodeset.Table, uses nodeset.Uses) nodeset.Uses {
	if uses.Check(t.Resources()) != nil {
		return nil
	}
	return uses
}
