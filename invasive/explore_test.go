// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A small explicit-state model checker: breadth first over everything that a world can do, so that
// the run which shows an error is a shortest one.

// world is a state of what is checked.
type world interface {
	// key is different for states that differ.
	key() string
	// next calls visit for each step that can be taken, with the world after it.
	next(visit func(label string, to world))
	// check says what is wrong in this state, or "".
	check() string
	// done tells whether all is done that was to be done.
	done() bool
}

// graph is all that can be reached.
type graph struct {
	keys   map[string]int32
	parent []int32
	via    []uint16 // the step from parent
	done   []bool
	edges  [][]edge
	labels []string
	label  map[string]uint16
	wrong  string // with the run that leads there
}

type edge struct {
	to    int32
	label uint16
}

// explore visits all worlds that can be reached, or at most limit (an error), and stops at the
// first that is wrong.
func explore(start world, limit int) *graph {
	g := &graph{keys: map[string]int32{}, label: map[string]uint16{}}
	frontier := []world{start}
	g.add(start.key(), -1, 0, start.done())
	for at := int32(0); len(frontier) > 0; at++ {
		w := frontier[0]
		frontier[0] = nil
		frontier = frontier[1:]
		if g.wrong = w.check(); g.wrong == "" && len(g.keys) > limit {
			g.wrong = "too many states"
		}
		if g.wrong != "" {
			g.wrong += "\n" + g.run(at)
			return g
		}
		w.next(func(label string, to world) {
			id := g.labelOf(label)
			i, known := g.keys[to.key()]
			if !known {
				i = g.add(to.key(), at, id, to.done())
				frontier = append(frontier, to)
			}
			g.edges[at] = append(g.edges[at], edge{i, id})
		})
	}
	return g
}

func (g *graph) add(key string, parent int32, via uint16, done bool) int32 {
	i := int32(len(g.keys))
	g.keys[key] = i
	g.parent, g.via, g.done = append(g.parent, parent), append(g.via, via), append(g.done, done)
	g.edges = append(g.edges, nil)
	return i
}

func (g *graph) labelOf(s string) uint16 {
	id, ok := g.label[s]
	if !ok {
		id = uint16(len(g.labels))
		g.label[s], g.labels = id, append(g.labels, s)
	}
	return id
}

func (g *graph) steps() (n int) {
	for _, e := range g.edges {
		n += len(e)
	}
	return n
}

// run is the shortest way to a state, a step a line.
func (g *graph) run(i int32) string {
	var steps []string
	for ; g.parent[i] >= 0; i = g.parent[i] {
		steps = append(steps, g.labels[g.via[i]])
	}
	slices.Reverse(steps)
	return strings.Join(steps, "\n")
}

// stuck returns a run to a state from which there is no way to a state that is done, or "": there
// is neither deadlock nor livelock.
func (g *graph) stuck() string {
	back := make([][]int32, len(g.edges))
	for i, list := range g.edges {
		for _, e := range list {
			back[e.to] = append(back[e.to], int32(i))
		}
	}
	reaches := slices.Clone(g.done)
	var todo []int32
	for i, d := range g.done {
		if d {
			todo = append(todo, int32(i))
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range back[i] {
			if !reaches[p] {
				reaches[p] = true
				todo = append(todo, p)
			}
		}
	}
	if i := slices.Index(reaches, false); i >= 0 {
		return "no way to the end from here\n" + g.run(int32(i))
	}
	return ""
}

// circles returns a run to a state that can be come back to by a step that isn't idle, or "": every
// run that doesn't idle for ever ends.
func (g *graph) circles(idle func(label string) bool) string {
	component := g.components()
	for i, list := range g.edges {
		for _, e := range list {
			if component[i] == component[e.to] && !idle(g.labels[e.label]) {
				return fmt.Sprintf("runs in circles by %q\n%s", g.labels[e.label], g.run(int32(i)))
			}
		}
	}
	return ""
}

// components numbers the strongly connected components (Tarjan, without recursion).
func (g *graph) components() []int32 {
	n := len(g.edges)
	index, low, component := make([]int32, n), make([]int32, n), make([]int32, n)
	pos := make([]int32, n)
	var path, open []int32
	next, count := int32(1), int32(1)
	for root := range n {
		if index[root] != 0 {
			continue
		}
		path = append(path, int32(root))
		for len(path) > 0 {
			v := path[len(path)-1]
			if index[v] == 0 {
				index[v], low[v] = next, next
				next++
				open = append(open, v)
			}
			if int(pos[v]) < len(g.edges[v]) {
				w := g.edges[v][pos[v]].to
				if index[w] == 0 {
					path = append(path, w)
					continue // look at the edge again on the way back
				}
				if component[w] == 0 {
					low[v] = min(low[v], low[w])
				}
				pos[v]++
				continue
			}
			if low[v] == index[v] {
				for w := int32(-1); w != v; {
					w = open[len(open)-1]
					open = open[:len(open)-1]
					component[w] = count
				}
				count++
			}
			path = path[:len(path)-1]
		}
	}
	return component
}

// toy is a graph given as a list, for the explorer's own test.
type toy struct {
	at    int
	edges map[int][]int
	bad   int
}

func (t toy) key() string { return fmt.Sprint(t.at) }
func (t toy) done() bool  { return t.at == 9 }
func (t toy) check() string {
	if t.at == t.bad {
		return "bad"
	}
	return ""
}
func (t toy) next(visit func(string, world)) {
	for _, to := range t.edges[t.at] {
		visit(fmt.Sprint(t.at, "-", to), toy{to, t.edges, t.bad})
	}
}

func TestExplore(t *testing.T) {
	for _, c := range []struct {
		name                  string
		edges                 map[int][]int
		bad                   int
		wrong, stuck, circles string
	}{
		{"line", map[int][]int{0: {1}, 1: {9}}, 0, "", "", ""},
		{"deadlock", map[int][]int{1: {2, 9}}, 0, "", "no way to the end from here\n1-2", ""},
		{"livelock", map[int][]int{1: {2, 9}, 2: {3}, 3: {2}}, 0, "", "no way to the end from here\n1-2",
			"runs in circles by \"2-3\"\n1-2"},
		{"a circle with an exit", map[int][]int{1: {2}, 2: {1, 9}}, 0, "", "", "runs in circles by \"1-2\"\n"},
		{"a shortcut", map[int][]int{1: {2, 3}, 2: {3}, 3: {4, 9}, 4: {9}}, 0, "", "", ""},
		{"wrong", map[int][]int{1: {2, 3}, 2: {4}, 3: {9}, 4: {5}}, 5, "bad\n1-2\n2-4\n4-5", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := 1
			if c.edges[0] != nil {
				start = 0
				c.bad = -1
			}
			g := explore(toy{start, c.edges, c.bad}, 100)
			require.Equal(t, c.wrong, g.wrong)
			if c.wrong == "" {
				require.Equal(t, c.stuck, g.stuck())
				require.Equal(t, c.circles, g.circles(func(string) bool { return false }))
			}
		})
	}
}
