// SPDX-License-Identifier: BSD-3-Clause

package locality

import "math"

// plan is what a pass of the text's algorithms leaves to the next, of which most comes out the
// same: the places of the jobs that wait. The next pass goes through the queue too, but looks only
// at jobs whose place may have changed.
//
// A job's score on a node depends on what runs there, on the jobs before it in the queue that are
// planned there, and on the time. Where the first two are as they were in the pass before, the
// score is so as well if the job would start later than now, and no less if it would start now: now
// is later than it was, and the files in memory are the same. One thing gets better with time
// alone, a load under way. So a job keeps its place unless
//
//   - something has changed on its own node before it,
//   - on another such node its score is now less, or
//   - so it is on a node that loads its file.
//
// Jobs that wait never have a start that has come: a job has ended then on that node.
type plan struct {
	r     *run
	nodes []nodePlan
	// at is the place in the queue, as a seq, that the pass has come to: nodes have
	// their jobs before it.
	at int32
	// upTo is the place in the queue behind the last planned job.
	upTo int
	// memory is what free nodes have in memory now, as by ordered: never less than that in a pass.
	// ends is when cores of nodes are given back by jobs that run or are planned there, or sooner.
	// Both are kept if all nodes are alike.
	memory, ends minTree
	alike        bool
	// changed are the nodes that are not as they were at this place of the pass before, isChanged
	// tells it of each. contested are files with a contest, isContested tells it of each.
	changed, contested     []int32
	isChanged, isContested []bool
	// weights are those of all places of the plan, if they are the same; uniform
	// tells that they are.
	now, later weights
	uniform    bool
	// reach is for each number of cores when a changed node may have them.
	reach []int64
}

// nodePlan is the standing plan of a node.
type nodePlan struct {
	jobs []int32 // in the order of the queue
	// given is how many of the jobs have their cores and files in this pass; it is 0 if
	// pass is another one.
	given int
	pass  int64
	// was are the jobs as they were before the pass wasPass. renewed is the pass before which jobs
	// have started or ended on the node, or in which one is to start.
	was              []stood
	wasPass, renewed int64
}

// fewChanged is the number of changed nodes from which on a search among all is cheaper than to
// look at each of them.
const fewChanged = 64

func newPlan(r *run) *plan {
	p := &plan{r: r, nodes: make([]nodePlan, len(r.nodes)), reach: make([]int64, r.cores.most+1), alike: true,
		isChanged: make([]bool, len(r.nodes)), isContested: make([]bool, len(r.files.files))}
	for _, n := range r.nodes {
		p.alike = p.alike && n.Memory == r.nodes[0].Memory && n.Bandwidth == r.nodes[0].Bandwidth
	}
	p.memory, p.ends = newMinTree(len(r.nodes)), newMinTree(len(r.nodes))
	for i := range r.nodes {
		p.memory.set(i, 0)
	}
	return p
}

// revise is a pass.
func (p *plan) revise() {
	r := p.r
	r.passes++
	r.starting = r.starting[:0]
	r.witness = 0
	p.begin()
	q := &r.queue
	now, later := p.current()
	for ; r.upTo < len(q.jobs); r.upTo++ {
		if p.skip(); r.upTo == len(q.jobs) {
			break
		}
		if !r.waits(q.jobs[r.upTo]) {
			continue
		}
		j := r.jobs[q.jobs[r.upTo]]
		p.at = j.seq
		r.behind -= j.Cores
		if own := &q.places[r.upTo]; q.seats[r.upTo].node >= 0 && own.weighs(r.weights(j)) && !p.isOpen(own) {
			continue
		}
		if !r.someFits() {
			r.behind += j.Cores
			break
		}
		p.settle(j, r.upTo)
	}
	p.cut()
	// They change but once in a pass.
	p.now, p.later = p.current()
	p.uniform = p.now == now && p.later == later
	if r.onPlan != nil {
		p.tell()
	}
}

// skip goes on to the next job of the plan whose place may have changed. It looks at no job for it,
// so that it is for rules that do not either.
func (p *plan) skip() {
	r := p.r
	if now, later := p.current(); r.keep != nil || !p.uniform || now != p.now || later != p.later {
		return
	}
	for ; r.upTo < p.upTo; r.upTo++ {
		t := &r.queue.seats[r.upTo]
		if t.node >= 0 && (p.isChanged[t.node] || p.isContested[t.file] || t.beat >= r.now) {
			return
		}
	}
}

// current are the weights of all jobs that the pass may come to next, if the rule looks at no job.
func (p *plan) current() (now, later weights) {
	if p.r.keep != nil {
		return weights{}, weights{}
	}
	return p.r.weights(nil)
}

// begin finds what has changed since the last pass.
func (p *plan) begin() {
	r := p.r
	p.at = math.MinInt32
	for _, node := range p.changed {
		p.isChanged[node] = false
	}
	for _, file := range p.contested {
		p.isContested[file] = false
	}
	p.changed, p.contested = p.changed[:0], p.contested[:0]
	for k := range p.reach {
		p.reach[k] = never
	}
	for _, node := range r.cores.changed {
		p.nodes[node].renewed = r.files.pass
		p.change(node)
		if p.alike {
			p.renew(node)
		}
	}
	f := r.files
	loading := f.loading[:0]
	for _, c := range f.loading {
		if own := f.files[c.file]; own == nil || own.waiting == 0 {
			c.listed = false
			continue
		}
		if r.cores.from(int(c.node), 1) <= r.now {
			c.loads = f.pass
			p.contend(c)
		}
		if c.ready > r.now {
			loading = append(loading, c)
		} else {
			c.listed = false
		}
	}
	f.loading = loading
}

// settle gives the job at that place of the queue its place in the plan.
func (p *plan) settle(j *job, i int) {
	r := p.r
	s := &r.search
	s.begin(j)
	own, t := &r.queue.places[i], &r.queue.seats[i]
	c, ok := choice{}, false
	if t.node >= 0 && own.weighs(s.now, s.later) {
		c, ok = p.compare(own)
	}
	if !ok {
		c = s.find()
	}
	was := t.node
	switch {
	case c.start == r.now || c.node != was || c.start != own.start || c.ready != own.ready:
		if was >= 0 {
			p.remove(j, was)
		}
		p.insert(j, c)
	case p.isChanged[c.node] && j.hasFile:
		p.contend(r.files.find(j.file, c.node))
	}
	if c.start == r.now {
		t.node = -1
		r.starting = append(r.starting, j.index)
	} else {
		p.note(j, i, c)
		p.compareWithLast(c.node)
	}
	if was >= 0 && was != c.node {
		p.compareWithLast(was)
	}
}

// bring gives cores and files to those jobs of a node's plan that are before the pass's place, and
// tells whether there were any that had none yet.
func (p *plan) bring(node int32) bool {
	n := &p.nodes[node]
	if n.pass != p.r.files.pass {
		n.pass, n.given = p.r.files.pass, 0
	}
	first := n.given
	for ; n.given < len(n.jobs); n.given++ {
		j := p.r.jobs[n.jobs[n.given]]
		if j.seq >= p.at {
			break
		}
		own := &p.r.queue.places[j.seq-p.r.queue.first]
		p.r.give(j, choice{node: node, start: own.start, ready: own.ready})
	}
	return n.given > first
}

// give books a place and takes its cores.
func (r *run) give(j *job, c choice) {
	r.book(j, c)
	r.reserve(j, c)
}
