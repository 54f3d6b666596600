// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"fmt"
	"math/bits"
	"slices"
)

// alonesFeatures are those of windows with one job: of which nodes it gets.
var alonesFeatures = []string{"tiers", "nodes-range", "below", "memory", "contiguous", "gpus-range", "coreless", "share", "gang", "down"}

// alone leaves one job in the queue.
func alone(w *World) {
	w.Jobs = w.Jobs[:1]
	w.Jobs[0].Ways, w.Jobs[0].Prefer = w.Jobs[0].Ways[:1], 0
}

// rightNodes compares what a job gets with all that it could get: nodes of light tiers, then those
// without GPUs, then few switches, of those that are broken already, then few nodes of a range. Of
// parts that name no number of nodes only places on as many are compared: whether they are to have few
// nodes or consecutive ones is the policy's affair.
func rightNodes(w *World, o *Outcome) string {
	got, starts := o.Started[0]
	if !starts || len(o.Stops) > 0 {
		return ""
	}
	job, broken := &w.Jobs[0], ""
	room, way := w.Room(w.Now, w.Now+job.Limit, w.Running), &w.compact(job.Ways)[0]
	room.places(way, &budget{100_000}, func(pieces []Piece) bool {
		if !way.asMany(pieces, got.Pieces) {
			return true
		}
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
	for _, c := range []struct {
		name string
		of   func(pieces []Piece) []int
	}{
		{"lighter nodes", w.tiers},
		{"fewer nodes with GPUs", func(p []Piece) []int { return []int{w.gpuNodes(job, p)} }},
		{"fewer switches", func(p []Piece) []int { return w.fewSwitches(nodesOf(p, -1)) }},
		{"switches that are broken already", func(p []Piece) []int { return w.unbroken(room, nodesOf(p, -1)) }},
		{"fewer nodes", func(p []Piece) []int { return []int{job.Ways[0].ranges(p)} }},
	} {
		switch less(c.of(a), c.of(b)) {
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

// asMany reports whether two places have as many nodes of each part that names no number.
func (way *Way) asMany(a, b []Piece) bool {
	for k := range way.Parts {
		p := &way.Parts[k]
		if p.MinNodes == 0 && p.MaxNodes == 0 && onPart(a, k) != onPart(b, k) {
			return false
		}
	}
	return true
}

// onPart is how many nodes a part has.
func onPart(pieces []Piece, part int) int { return bits.OnesCount(nodesOf(pieces, part)) }

// ranges is how many nodes the parts have that name a range.
func (way *Way) ranges(pieces []Piece) (n int) {
	for k := range way.Parts {
		if p := &way.Parts[k]; p.MinNodes != p.MaxNodes {
			n += onPart(pieces, k)
		}
	}
	return n
}

// tiers is how many nodes of parts are of a tier from 2 on, and from 1 on.
func (w *World) tiers(pieces []Piece) []int {
	count := []int{0, 0}
	for _, p := range pieces {
		for t := range count {
			if w.Nodes[p.Node].Tier >= 2-t {
				count[t]++
			}
		}
	}
	return count
}

// gpuNodes is how many nodes of parts have GPUs, for a job that wants none.
func (w *World) gpuNodes(job *Job, pieces []Piece) (n int) {
	for _, p := range job.Ways[0].Parts {
		if p.MaxGPUs > 0 || p.MinGPUs > 0 || p.Share > 0 {
			return 0
		}
	}
	for _, p := range pieces {
		if w.Nodes[p.Node].GPUs > 0 {
			n++
		}
	}
	return n
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
