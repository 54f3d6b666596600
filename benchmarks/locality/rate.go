// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math"
)

// score is what a node is worth to a job that starts there at start, less being better, and when
// the job would have its file. c is the file's copy on the node, nil if it has none. base is
// start, but 0 for the reference programme's last resort of backfilling (see holes.go). Where the
// score is above limit it may come out too low, but above limit.
func (r *run) score(j *job, node int32, c *copyOf, base, start int64, w weights, limit float64) (score float64, ready int64) {
	if w == startOnly {
		return float64(base), start
	}
	if r.mode == Reference {
		return r.referenceScore(j, node, c, base, start, w, limit)
	}
	if w.evict != 0 && w == r.search.later && float64(base)+r.search.own > limit {
		return float64(base) + r.search.own, start
	}
	ready, held := start, false
	if c != nil {
		var at int64
		if at, held = r.files.present(c, start); held {
			ready = max(start, at)
		}
	}
	if j.hasFile && !held {
		ready += r.load(j, node)
	}
	score = float64(base) + w.load*float64(ready-start)
	if w.evict != 0 && j.FileSize > 0 && score <= limit {
		score += w.evict * r.evictionPenalty(j, node, start)
	}
	return score, ready
}

// ownPart is what eviction-aware scores are above the start at least, wherever the job goes: it
// loads its file or, where it finds it, has the file's own share of the penalty.
func (r *run) ownPart(j *job, w weights) float64 {
	if r.mode == Reference || w.evict == 0 || j.FileSize == 0 {
		return 0
	}
	kept := w.evict * (j.FileSize * (j.FileSize / r.mostMemory) / r.nodes[r.fastest].Bandwidth)
	return min(kept, w.load*float64(r.load(j, r.fastest)))
}

// evictionPenalty is line 7 of algorithm 3: the time in which that share of the files in memory
// that has to make room can be loaded again.
func (r *run) evictionPenalty(j *job, node int32, start int64) float64 {
	n := &r.nodes[node]
	return r.inMemory(node, start) * (j.FileSize / n.Memory) / n.Bandwidth
}

// inMemory is the size of the files in the node's memory at that time, in GB.
func (r *run) inMemory(node int32, at int64) float64 {
	total := 0.0
	for _, c := range r.files.memory(node) {
		if _, ok := r.files.present(c, at); ok {
			total += c.size
		}
	}
	return total
}

// referenceScore is the programme's: single precision, each step rounded as there, then cut to a
// whole number; a partial load counts from now instead of start (D4); the files that count as
// evicted are the others whose last use ended by start (D5).
func (r *run) referenceScore(j *job, node int32, c *copyOf, base, start int64, w weights, limit float64) (score float64, ready int64) {
	load := float32(0)
	if j.hasFile {
		load = r.load32(j, node)
		if c != nil {
			if at, ok := r.files.present(c, start); ok {
				load = float32(max(0, at-r.now))
				if at <= start {
					load = 0
				}
			}
		}
	}
	s := float32(base) + float32(float32(w.load)*load)
	if w.evict != 0 && float64(int64(s)) <= limit {
		total := float32(0)
		for _, o := range r.files.memory(node) {
			if o.file != j.file && start >= o.last {
				total += float32(o.size)
			}
		}
		share := float32(j.Cores) / float32(r.nodes[node].Cores)
		s += float32(float32(w.evict) * float32(float32(total*share)/float32(r.nodes[node].Bandwidth)))
	}
	return float64(int64(s)), start + int64(load)
}

// load is the time in which a job's file gets to a node, in whole seconds: rounded up, or in the
// reference programme cut.
func (r *run) load(j *job, node int32) int64 {
	if r.mode == Reference {
		return int64(r.load32(j, node))
	}
	return transfer(j.FileSize, r.nodes[node].Bandwidth)
}

func (r *run) load32(j *job, node int32) float32 {
	return float32(j.FileSize) / float32(r.nodes[node].Bandwidth)
}

// transfer is the time of a transfer in whole seconds, rounded up; what is above a whole
// number by a rounding error only counts as that number.
func transfer(size, bandwidth float64) int64 {
	return int64(math.Ceil(size / bandwidth * (1 - 1e-12)))
}

// latestStart is the latest start at which a node without the job's file and with nothing to evict
// has a score of at most limit, or if strict, below limit. It is -1 if there is none from now on. w
// are the weights of nodes that are not free now, now those of nodes that are.
func (r *run) latestStart(j *job, limit float64, strict bool, now, w weights) int64 {
	if math.IsInf(limit, 1) {
		return never - 1
	}
	lower := r.lowerBound(j, w)
	at := int64(limit-lower.slack) + 2
	if r.mode == Reference {
		at += int64(limit) >> 22 // what single precision may round off
	}
	for at > r.now && !lower.within(at, limit, strict) {
		at--
	}
	if at > r.now {
		return at
	}
	if lower = r.lowerBound(j, now); lower.within(r.now, limit, strict) {
		return r.now
	}
	return -1
}

// lower is the least score of a node by its start.
type lower struct {
	mode   Mode
	slack  float64 // what the load adds
	load32 float32
}

func (r *run) lowerBound(j *job, w weights) lower {
	l := lower{mode: r.mode}
	if !j.hasFile {
		return l
	}
	if r.mode == Reference {
		l.load32 = float32(float32(w.load) * r.load32(j, r.fastest))
		l.slack = float64(l.load32)
	} else {
		l.slack = w.load * float64(r.load(j, r.fastest))
	}
	return l
}

func (l *lower) within(start int64, limit float64, strict bool) bool {
	score := float64(start) + l.slack
	if l.mode == Reference {
		score = float64(int64(float32(start) + l.load32))
	}
	return score < limit || !strict && score == limit
}
