// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// Verify checks a plan node by node, independently of the policies. It returns an ErrInvalidPlan
// that names the first job or node at fault. A node is at fault if more is taken than is free, or
// if it is down or not eligible. A job is if its request is not met exactly, or if it preempts a
// job that it may not. Verify is slow, and meant to be obviously right.
func Verify(s *Snapshot, p *Plan) error {
	if s == nil || p == nil || s.Nodes == nil {
		return fmt.Errorf("%w: there is none, or no machine for it", ErrInvalidPlan)
	}
	if err := verify(s, p); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidPlan, err)
	}
	return nil
}

func verify(s *Snapshot, p *Plan) error {
	started := make(map[int]bool)
	for _, d := range p.Decisions {
		if d.Job < 0 || d.Job >= len(s.Pending) {
			return fmt.Errorf("decision on job %d of a queue of %d", d.Job, len(s.Pending))
		}
		job := s.Pending[d.Job]
		if !d.Start {
			continue
		}
		if started[d.Job] {
			return fmt.Errorf("job %s is started twice", job.ID)
		}
		started[d.Job] = true
		if err := verifyStart(s, &d); err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
	}
	if err := verifyPreempted(s, p, started); err != nil {
		return err
	}
	return verifyRoom(s, p)
}

// Apply allocates on t what the plan starts, and returns these decisions in queue order. The caller
// owns them. Starts that wait for a preempted job are left out. On an error t is not changed.
func (p *Plan) Apply(t *nodeset.Table) ([]Decision, error) {
	var starts []Decision
	for _, d := range p.Decisions {
		waits := func(x Preemption) bool { return slices.Contains(x.For, d.Job) }
		if !d.Start || slices.ContainsFunc(p.Preempted, waits) {
			continue
		}
		if err := place.AllocateParts(t, d.Segs, d.usesOf); err != nil {
			for i := range starts {
				must(place.ReleaseParts(t, starts[i].Segs, starts[i].usesOf))
			}
			return nil, fmt.Errorf("%w: decision on job %d: %w", ErrInvalidPlan, d.Job, err)
		}
		d.Segs, d.PartUses = slices.Clone(d.Segs), slices.Clone(d.PartUses)
		starts = append(starts, d)
	}
	return starts, nil
}

// verifyStart reports what of a decision is not what the job asks for.
func verifyStart(s *Snapshot, d *Decision) error {
	job := s.Pending[d.Job]
	asked, ok := job.Way(d.Alternative)
	if !ok {
		return fmt.Errorf("alternative %d of %d", d.Alternative, len(job.Alternatives))
	}
	if err := place.CheckSegments(&asked, d.Segs, s.Nodes.Len()); err != nil {
		return err
	}
	if err := cmp.Or(checkBelow(s.Topology, &asked, d.Segs), barred(s.Claims, s.Now, job, d.Segs)); err != nil {
		return err
	}
	for _, seg := range d.Segs {
		for n := int(seg.First); n <= int(seg.Last); n++ {
			if !s.Nodes.Up(n) {
				return fmt.Errorf("node %d is down", n)
			}
		}
	}
	return verifyUses(&asked, d)
}

// verifyTaken reports what of nodes and quotas those starts take too much of that count, on t, of which
// so much is left of quotas.
func verifyTaken(s *Snapshot, p *Plan, t *nodeset.Table, left []float64, counts func(*Decision) bool) error {
	cores, gpus := make([]int, t.Len()), make([]int, t.Len())
	more := make(map[[2]int]int64) // by node and further resource
	shares := make(map[bin]int64)
	counted := make([]float64, len(s.Quotas))
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if !d.Start || !counts(d) {
			continue
		}
		job := s.Pending[d.Job]
		asked, _ := job.Way(d.Alternative)
		for k := range 1 + len(asked.Components) {
			if err := verifyCharges(counted, place.PartOf(&asked, k).Charges, place.OfPart(d.Segs, k)); err != nil {
				return fmt.Errorf("job %s: %w", job.ID, err)
			}
		}
		for _, seg := range d.Segs {
			uses := place.PartOf(&asked, int(seg.Part)).Uses
			share := shareOf(t, uses)
			if share == 0 && seg.Bin != 0 {
				return fmt.Errorf("job %s: node %d: it is on shared GPU %d and asks for no share", job.ID, seg.First, seg.Bin)
			}
			for n := int(seg.First); n <= int(seg.Last); n++ {
				cores[n] += int(seg.Cores)
				gpus[n] += int(seg.GPUs)
				if share > 0 {
					shares[bin{n, seg.Bin}] += share
				}
				for _, u := range uses {
					if r, shared := t.Shares(); !shared || u.Row != r {
						more[[2]int{n, u.Row}] += u.PerNode + u.PerCore*int64(seg.Cores) + u.PerGPU*int64(seg.GPUs)
					}
				}
			}
		}
	}
	if err := verifyShares(t, shares, gpus); err != nil {
		return err
	}
	for n := range cores {
		if free := t.Free(n); cores[n] > int(free.Cores) || gpus[n] > int(free.GPUs) {
			return fmt.Errorf("node %d: %d cores and %d GPUs taken, %d and %d free", n, cores[n], gpus[n], free.Cores, free.GPUs)
		}
	}
	for i, q := range s.Quotas {
		if counted[i] > max(left[i], 0) {
			return fmt.Errorf("quota %s: %.0f are counted, %.0f are left", q.Name, counted[i], left[i])
		}
	}
	return verifyMore(t, more)
}

// verifyPreempted reports a preempted job that has no price, is there twice or is exempt still. It
// also reports a job that waits for it and does not start, or may not have it stopped.
func verifyPreempted(s *Snapshot, p *Plan, started map[int]bool) error {
	seen := make(map[int]bool)
	for _, x := range p.Preempted {
		if x.Running < 0 || x.Running >= len(s.Running) {
			return fmt.Errorf("running job %d of %d is preempted", x.Running, len(s.Running))
		}
		r := &s.Running[x.Running]
		if seen[x.Running] || r.Price == 0 || r.Exempt > s.Now || len(x.For) == 0 {
			return fmt.Errorf("running job %s is preempted twice, too early, for nobody, or has no price", r.ID)
		}
		seen[x.Running] = true
		for _, j := range x.For {
			if !started[j] || s.Pending[j].Preempts>>r.Class&1 == 0 {
				return fmt.Errorf("running job %s is preempted for job %d, which does not start or may not", r.ID, j)
			}
		}
	}
	return nil
}

// verifyRoom reports what starts take too much of. Those that wait for nobody have what is free.
// Those that may not have a class stopped also have what other classes give back. All have it all.
func verifyRoom(s *Snapshot, p *Plan) error {
	waits, classes := make(map[int]bool), []int{MaxClass + 1}
	for _, x := range p.Preempted {
		classes = append(classes, s.Running[x.Running].Class)
		for _, j := range x.For {
			waits[j] = true
		}
	}
	slices.Sort(classes)
	check := func(back func(*Running) bool, counts func(*Decision) bool) error {
		t, left := new(nodeset.Table), make([]float64, len(s.Quotas))
		t.CopyFrom(s.Nodes)
		for i, q := range s.Quotas {
			left[i] = float64(q.Left)
		}
		for _, x := range p.Preempted {
			if !back(&s.Running[x.Running]) {
				continue
			}
			for k := range s.together(x.Running) {
				r := &s.Running[k]
				if err := t.Release(r.Segs, r.Uses...); err != nil {
					return fmt.Errorf("running job %s: %w", r.ID, err)
				}
				if err := verifyCharges(left, r.Charges, r.Segs); err != nil {
					return fmt.Errorf("running job %s: %w", r.ID, err)
				}
			}
		}
		return verifyTaken(s, p, t, left, counts)
	}
	if err := check(func(*Running) bool { return false }, func(d *Decision) bool { return !waits[d.Job] }); err != nil || len(waits) == 0 {
		return err
	}
	for _, class := range slices.Compact(classes) {
		err := check(func(r *Running) bool { return r.Class != class },
			func(d *Decision) bool { return class > MaxClass || s.Pending[d.Job].Preempts>>class&1 == 0 })
		if err != nil {
			return err
		}
	}
	return nil
}

// verifyCharges adds what an allocation counts against quotas. The sums are exact up to 2^53, far
// beyond what may be left.
func verifyCharges(counted []float64, charges nodeset.Uses, segs []nodeset.Segment) error {
	for _, c := range charges {
		if c.Row < 0 || c.Row >= len(counted) {
			return fmt.Errorf("it counts against quota %d of %d", c.Row, len(counted))
		}
		counted[c.Row] += float64(c.PerJob)
		for _, s := range segs {
			each := float64(c.PerNode) + float64(c.PerCore)*float64(s.Cores) + float64(c.PerGPU)*float64(s.GPUs)
			counted[c.Row] += float64(s.Last-s.First+1) * each
		}
	}
	return nil
}

// verifyMore reports a node that gives more of a further resource than it has free.
func verifyMore(t *nodeset.Table, used map[[2]int]int64) error {
	for at, amount := range used {
		n, r := at[0], at[1]
		if r < 0 || r >= t.Resources() {
			return fmt.Errorf("node %d gives of resource %d, of %d", n, r, t.Resources())
		}
		if free := t.FreeOf(r)[n]; amount > free {
			return fmt.Errorf("node %d: %d %s taken, %d free", n, amount, t.ResourceName(r), free)
		}
	}
	return nil
}

// checkBelow reports how an allocation fails to lie below switches as a request demands. It goes
// node by node, and knows of the topology only which switch each node is below.
func checkBelow(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	switch {
	case t == nil:
		return nil
	case len(job.Components) > 0:
		return checkTogether(t, job, segs)
	}
	return checkPartBelow(t, job, segs)
}

// checkPartBelow is checkBelow for one part alone.
func checkPartBelow(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	leaves, above := make(map[int32]int), make(map[int32]int) // nodes by switch
	within := min(job.Within, t.Levels())
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			leaves[t.SwitchOf(1)[n]]++
			if within > 0 {
				above[t.SwitchOf(within)[n]]++
			}
		}
	}
	if job.Switches > 0 && len(leaves) > job.Switches {
		return fmt.Errorf("its nodes are below %d leaf switches, not %d at most", len(leaves), job.Switches)
	}
	if len(above) > 1 {
		return fmt.Errorf("its nodes are below %d switches of level %d, not one", len(above), within)
	}
	if job.Segment == 0 {
		return nil
	}
	for leaf, nodes := range leaves {
		if nodes%job.Segment != 0 {
			return fmt.Errorf("%d of its nodes are below leaf %s, no multiple of %d", nodes, t.Name(1, int(leaf)), job.Segment)
		}
	}
	return nil
}

// checkTogether reports how the parts of a request fail to lie below one switch.
func checkTogether(t *nodeset.Topology, job *bids.Request, segs []nodeset.Segment) error {
	for k := range 1 + len(job.Components) {
		if err := checkPartBelow(t, place.PartOf(job, k), place.OfPart(segs, k)); err != nil {
			return fmt.Errorf("part %d: %w", k, err)
		}
	}
	level := min(job.AllWithin, t.Levels())
	if level == 0 {
		return nil
	}
	above := make(map[int32]bool)
	for _, s := range segs {
		for n := s.First; n <= s.Last; n++ {
			above[t.SwitchOf(level)[n]] = true
		}
	}
	if len(above) > 1 {
		return fmt.Errorf("the nodes of its parts are below %d switches of level %d, not one", len(above), level)
	}
	return nil
}

// verifyUses reports further resources of a decision that are not those of the request.
func verifyUses(asked *bids.Request, d *Decision) error {
	if len(asked.Components) == 0 {
		if len(d.PartUses) > 0 {
			return errors.New("it uses something by part, and has no components")
		}
		if !slices.Equal(d.Uses, asked.Uses) {
			return fmt.Errorf("it uses %v instead of %v", d.Uses, asked.Uses)
		}
		return nil
	}
	if len(d.PartUses) != 1+len(asked.Components) || len(d.Uses) > 0 {
		return fmt.Errorf("it uses something in %d parts instead of %d", len(d.PartUses), 1+len(asked.Components))
	}
	for k, uses := range d.PartUses {
		if !slices.Equal(uses, place.PartOf(asked, k).Uses) {
			return fmt.Errorf("part %d uses %v instead of %v", k, uses, place.PartOf(asked, k).Uses)
		}
	}
	return nil
}

// bin is a GPU of a node that jobs share, by its number.
type bin struct {
	node   int
	number uint8
}

// shareOf is which share of a GPU uses ask for on a machine, 0 if none.
func shareOf(t *nodeset.Table, uses nodeset.Uses) (share int64) {
	r, shared := t.Shares()
	for _, u := range uses {
		if shared && u.Row == r {
			share += u.PerNode
		}
	}
	return share
}

// verifyShares reports a GPU of which more is taken than is free, and adds those that begin to be
// shared to the GPUs that are taken.
func verifyShares(t *nodeset.Table, used map[bin]int64, gpus []int) error {
	r, shared := t.Shares()
	for at, amount := range used {
		if !shared || at.number == 0 || int(at.number) > len(t.BinsLeft(at.node)) {
			return fmt.Errorf("node %d: a share is on GPU %d: nodes number those in shared use from 1", at.node, at.number)
		}
		free, inUse := t.BinFree(at.node, at.number)
		if !inUse {
			free = t.TotalOf(r)[at.node]
			gpus[at.node]++
		}
		if amount > free {
			return fmt.Errorf("node %d, shared GPU %d: %d %s taken, %d free", at.node, at.number, amount, t.ResourceName(r), free)
		}
	}
	return nil
}
