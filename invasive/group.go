// SPDX-License-Identifier: BSD-3-Clause

package invasive

// A Group is what is to be done of the actions of one step or of several, so that their records are
// saved together: first all Records, as one, then the actions Then in their order. Nothing is done
// before what was saved ahead of it, and a crash at any point leaves what a crash between the steps
// could have left: all other actions are lost in it anyway, or done again because of a record. Only
// an end has to be told before it is saved that it was, so that a group ends there.
//
// The machine is ahead of what was done while a group grows: whoever answers a question, or says
// what has come over the connection, does the group first. The zero value is empty.
type Group struct {
	Records []Record
	Then    []Action

	told bool
}

// Add adds an action, unless it belongs to another group: then Add returns false, and this one
// is to be done before.
func (g *Group) Add(a *Action) bool {
	if a.Kind != Save {
		g.Then = append(g.Then, *a)
		g.told = g.told || a.Kind == Ended || a.Kind == Cancelled
		return true
	}
	if g.told {
		return false
	}
	g.Records = append(g.Records, a.Record)
	return true
}

// Reset empties the group, and keeps its memory.
func (g *Group) Reset() {
	clear(g.Records)
	clear(g.Then)
	g.Records, g.Then, g.told = g.Records[:0], g.Then[:0], false
}
