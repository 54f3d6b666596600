// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"math"
	"slices"
)

// stood is a job's place on a node in the pass before.
type stood struct {
	job          int32
	start, ready int64
}

// isOpen tells whether a job's place has to be looked at.
func (p *plan) isOpen(own *place) bool {
	return p.isChanged[own.node] || p.isContested[own.file] && p.fileContested(own) || p.inReach(own)
}

// fileContested tells whether a changed node with the job's file, or one that loads
// it, could be better.
func (p *plan) fileContested(own *place) bool {
	f := p.r.files
	file := f.files[own.file]
	found := false
	kept := file.contest[:0]
	for _, c := range file.contest {
		if !p.isChanged[c.node] && c.loads != f.pass {
			c.contends = 0
			continue
		}
		kept = append(kept, c)
		found = found || p.couldBeat(own, c)
	}
	file.contest = kept
	return found
}

// couldBeat tells whether the node of a copy of the job's file may have no greater score.
func (p *plan) couldBeat(own *place, c *copyOf) bool {
	at, now := p.r.cores.from(int(c.node), int(own.cores)), p.r.now
	switch {
	case p.isChanged[c.node]:
		return at <= now || at < never && float64(at)+own.part <= own.score
	case at > now:
		return false
	}
	return float64(now)+own.now.load*float64(max(0, c.ready-now)) <= own.score
}

// inReach tells whether a changed node without the job's file could be better.
func (p *plan) inReach(own *place) bool {
	return p.early(own, p.reach[own.cores])
}

// early tells whether a node without the job's file that has the cores at first could
// have no greater score.
func (p *plan) early(own *place, first int64) bool {
	first = max(first, p.r.now)
	return first <= own.beatLater || first <= p.r.now && p.r.now <= own.beatNow
}

// compareWithLast has a node count as unchanged again if it now is as it was behind the job of the
// pass's place: other jobs may have been given the same places.
func (p *plan) compareWithLast(node int32) {
	n := &p.nodes[node]
	if !p.isChanged[node] || n.renewed == p.r.files.pass {
		return
	}
	jobs, was := len(n.jobs), len(n.was)
	for jobs > 0 && p.r.jobs[n.jobs[jobs-1]].seq > p.at {
		jobs--
	}
	for was > 0 && p.r.jobs[n.was[was-1].job].seq > p.at {
		was--
	}
	if jobs != was {
		return
	}
	for i := jobs - 1; i >= 0; i-- {
		if !p.sameAs(n.jobs[i], &n.was[i]) {
			return
		}
	}
	p.isChanged[node] = false
	i := slices.Index(p.changed, node)
	p.changed = slices.Delete(p.changed, i, i+1)
}

// sameAs tells whether a job leaves its node to others as another one did.
func (p *plan) sameAs(job int32, o *stood) bool {
	a, b := p.r.jobs[job], p.r.jobs[o.job]
	own := &p.r.queue.places[a.seq-p.r.queue.first]
	return own.start == o.start && own.ready == o.ready &&
		(a == b || a.Cores == b.Cores && a.wall == b.wall && a.file == b.file && a.FileSize == b.FileSize)
}

// beats bounds the start of a node without the job's file that has a score of at most that.
func (r *run) beats(j *job, score float64, w weights) int64 {
	lower := r.lowerBound(j, w)
	return int64(math.Floor(score-lower.slack)) + 1
}

// compare holds the job's place against the changed nodes. It is false where this is not enough:
// the job's own node has become worse.
func (p *plan) compare(own *place) (choice, bool) {
	r := p.r
	s := &r.search
	if p.isChanged[own.node] {
		s.weigh(own.node)
		if s.best.score > own.score {
			s.reset()
			return choice{}, false
		}
	} else {
		s.best = choice{node: own.node, start: own.start, ready: own.ready, score: own.score, order: 2 * int(own.node)}
	}
	if p.isContested[own.file] {
		for _, c := range r.files.files[own.file].contest {
			if p.couldBeat(own, c) {
				s.weigh(c.node)
			}
		}
	}
	if p.inReach(own) {
		if len(p.changed) > fewChanged {
			return s.find(), true
		}
		for _, node := range p.changed {
			if p.early(own, r.cores.from(int(node), int(own.cores))) {
				s.weigh(node)
			}
		}
	}
	return s.best, true
}

// weigh considers a node, with the job's file if it is there.
func (s *search) weigh(node int32) {
	limit := s.limit()
	if s.r.cores.from(int(node), s.j.Cores) > limit {
		return
	}
	if from := s.r.line.from(s.j, int(node), limit); from <= limit {
		s.offer(node, s.r.files.held(s.j.file, node), max(from, s.r.now), false)
	}
}

// change notes that from the pass's place on the node is not as it was: jobs of its files and those
// for which it is early enough have to be compared with it.
func (p *plan) change(node int32) {
	if p.isChanged[node] {
		return
	}
	p.remember(node)
	p.isChanged[node] = true
	p.changed = append(p.changed, node)
	p.bring(node)
	for _, c := range p.r.files.memory(node) {
		p.contend(c)
	}
	for k := range p.reach {
		if k > 0 {
			p.reach[k] = min(p.reach[k], p.r.cores.from(int(node), k))
		}
	}
}

// remember keeps what a node was in the pass before.
func (p *plan) remember(node int32) {
	n := &p.nodes[node]
	if n.wasPass == p.r.files.pass || n.renewed == p.r.files.pass {
		return
	}
	n.wasPass, n.was = p.r.files.pass, n.was[:0]
	for _, i := range n.jobs {
		own := &p.r.queue.places[p.r.jobs[i].seq-p.r.queue.first]
		n.was = append(n.was, stood{i, own.start, own.ready})
	}
}

// contend has all jobs of the copy's file be compared with its node.
func (p *plan) contend(c *copyOf) {
	own := p.r.files.files[c.file]
	if c.contends == p.r.files.pass || own == nil || own.waiting == 0 {
		return
	}
	c.contends = p.r.files.pass
	if !p.isContested[c.file] {
		p.isContested[c.file] = true
		p.contested = append(p.contested, c.file)
		own.contest = own.contest[:0]
	}
	own.contest = append(own.contest, c)
}
