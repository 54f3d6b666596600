// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"fmt"
	"slices"
)

// alonesFeatures are those of windows with one job: of which nodes it gets.
var alonesFeatures = []string{"tiers", "nodes-range", "below", "memory", "contiguous", "gpus-range", "coreless", "share", "gang", "down"}

// alone leaves one job in the queue.
func alone(w *World) {
	w.Jobs = w.Jobs[:1]
	w.Jobs[0].Ways, w.Jobs[0].Prefer = w.Jobs[0].Ways[:1], 0
}

// rightNodes compares what a job gets with all that it could get: nodes of light tiers, then GPUs
// left to others, then few switches, of those that are broken already, then few nodes.
func rightNodes(w *World, o *Outcome) string {
	got, starts := o.Started[0]
	if !starts || len(o.Stops) > 0 {
		return ""
	}
	job, broken := &w.Jobs[0], ""
	room := w.Room(w.Now, w.Now+job.Limit, w.Running)
	room.places(&job.Ways[0], &budget{100_000}, func(pieces []Piece) bool {
		if why := w.better(job, room, pieces, got.Pieces); why != "" {
			broken = fmt.Sprintf("%s gets %v, and %v has %s", job.ID, got.Pieces, pieces, why)
		}
		return broken == ""
	})
	return broken
}

// better says in what a place is better than another one, by the first criterion that tells them
// apart; "" if it is not.
func (w *World) better(job *Job, room *Room, a, b []Piece) string {
	x, y := nodesOf(a, -1), nodesOf(b, -1)
	for _, c := range []struct {
		name string
		of   func(nodes uint) []int
	}{
		{"lighter nodes", w.tiers},
		{"fewer nodes with GPUs", func(n uint) []int { return w.gpuNodes(job, room, n) }},
		{"fewer switches", w.fewSwitches},
		{"switches that are broken already", func(n uint) []int { return w.unbroken(room, n) }},
		{"fewer nodes", func(n uint) []int { return []int{countNodes(n)} }},
	} {
		switch less(c.of(x), c.of(y)) {
		case -1:
			return c.name
		case 0:
		default:
			return ""
		}
	}
	return ""
}

// less is -1 if a is at most b in all and less in one, 0 if they are equal, and else 1.
func less(a, b []int) int {
	if slices.Equal(a, b) {
		return 0
	}
	for i := range a {
		if a[i] > b[i] {
			return 1
		}
	}
	return -1
}

func countNodes(nodes uint) (n int) {
	for ; nodes > 0; nodes &= nodes - 1 {
		n++
	}
	return n
}

// tiers is how many nodes are of a tier from 2 on, and from 1 on.
func (w *World) tiers(nodes uint) []int {
	count := []int{0, 0}
	for n := range w.Nodes {
		for t := range count {
			if nodes>>n&1 == 1 && w.Nodes[n].Tier >= 2-t {
				count[t]++
			}
		}
	}
	return count
}

// gpuNodes is how many nodes have GPUs free, and have any, for a job that wants none.
func (w *World) gpuNodes(job *Job, room *Room, nodes uint) []int {
	count := []int{0, 0}
	for _, p := range job.Ways[0].Parts {
		if p.MaxGPUs > 0 || p.MinGPUs > 0 || p.Share > 0 {
			return count
		}
	}
	for n := range w.Nodes {
		if nodes>>n&1 == 1 && room.gpus[n] > 0 {
			count[0]++
		}
		if nodes>>n&1 == 1 && w.Nodes[n].GPUs > 0 {
			count[1]++
		}
	}
	return count
}

// fewSwitches is how many switches of each level the nodes are below, from the top.
func (w *World) fewSwitches(nodes uint) (count []int) {
	for level := len(w.Levels); level >= 1; level-- {
		count = append(count, len(w.switches(level, nodes)))
	}
	return count
}

// unbroken is how many switches above the leaves that the nodes are below have nothing that runs.
func (w *World) unbroken(room *Room, nodes uint) (count []int) {
	for level := len(w.Levels) - 1; level >= 2; level-- {
		n := 0
		for s := range w.switches(level, nodes) {
			idle := true
			for i := range w.Nodes {
				if w.Levels[level-1][i] == s && (room.cores[i] < w.Nodes[i].Cores || room.gpus[i] < w.Nodes[i].GPUs) {
					idle = false
				}
			}
			if idle {
				n++
			}
		}
		count = append(count, n)
	}
	return count
}
