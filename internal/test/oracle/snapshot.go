// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

// Outcome is what a cycle decided. Started are claims from now on, by job; Waits has all others.
type Outcome struct {
	Started map[int]Claim
	Waits   []Wait
	Stops   []Stop
	Claims  []core.Claim
}

// Wait is what is said of a job that waits.
type Wait struct {
	Job      int
	Looked   bool // the policy has decided on it
	Why      core.Why
	Reason   string
	Kept     bool
	Expected int64
}

// Stop is a running job that is stopped, and for which jobs.
type Stop struct {
	Running int
	For     []int
}

// Options are the auction's.
func (w *World) Options() core.AuctionOptions {
	o := core.Preset(w.Preset)
	if o.Estimates = w.Estimates; w.Window > 0 {
		o.Window, o.Depth = w.Window, w.Depth
	}
	if w.Objective > 0 {
		o.Objective = w.Objective
	}
	return o
}

// Decide has a new auction decide on the window. The error is a fault of the plan as such.
func (w *World) Decide() (*Outcome, error) {
	s, err := w.Snapshot()
	if err != nil {
		return nil, err
	}
	a, err := core.NewAuction(w.Options(), nil)
	if err != nil {
		return nil, err
	}
	var p core.Plan
	if err := a.Decide(context.Background(), s, core.Limits{Seed: 1}, &p); err != nil {
		return nil, err
	}
	if err := core.Verify(s, &p); err != nil {
		return nil, fmt.Errorf("the referee: %w", err)
	}
	return w.outcome(&p), nil
}

func (w *World) outcome(p *core.Plan) *Outcome {
	o := &Outcome{Started: map[int]Claim{}, Claims: p.Claims}
	seen := map[int]bool{}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if seen[d.Job] = true; !d.Start {
			o.Waits = append(o.Waits, Wait{d.Job, true, d.Why, d.Reason, d.Kept, d.Expected})
			continue
		}
		job := &w.Jobs[d.Job]
		c := Claim{ID: job.ID, From: w.Now, To: w.Now + job.Limit, Way: job.Ways[d.Alternative]}
		for _, s := range d.Segs {
			for n := s.First; n <= s.Last; n++ {
				c.Pieces = append(c.Pieces, Piece{int(s.Part), int(n), int(s.Cores), int(s.GPUs), int(s.Bin)})
			}
		}
		o.Started[d.Job] = c
	}
	for i := range w.Jobs {
		if !seen[i] {
			o.Waits = append(o.Waits, Wait{Job: i})
		}
	}
	for _, x := range p.Preempted {
		o.Stops = append(o.Stops, Stop{w.claimOf[x.Running], slices.Clone(x.For)})
	}
	return o
}

// Snapshot is the window as the product has it.
func (w *World) Snapshot() (*core.Snapshot, error) {
	total := make([]nodeset.Capacity, len(w.Nodes))
	shares, shared := make([]int64, len(w.Nodes)), false
	s := &core.Snapshot{Now: w.Now, Claims: slices.Clone(w.Claims), StrictPreemption: w.Strict}
	for _, r := range w.Reserved {
		c := core.Claim{Reservation: r.Name, From: r.From, Until: r.To}
		for n := range w.Nodes {
			if r.Nodes>>n&1 == 1 {
				c.Segs = append(c.Segs, nodeset.Segment{First: int32(n), Last: int32(n)})
			}
		}
		s.Claims = append(s.Claims, c)
	}
	for n, node := range w.Nodes {
		total[n] = nodeset.Capacity{Cores: uint16(node.Cores), GPUs: uint8(node.GPUs)}
		shares[n], shared = node.Share, shared || node.Share > 0
		s.Tiers = append(s.Tiers, uint8(node.Tier))
	}
	var err error
	if s.Nodes, err = nodeset.New(total); err != nil {
		return nil, err
	}
	for r, name := range w.More {
		amounts := make([]int64, len(w.Nodes))
		for n := range w.Nodes {
			amounts[n] = w.Nodes[n].More[r]
		}
		if _, err := s.Nodes.AddResource(name, amounts); err != nil {
			return nil, err
		}
	}
	if shared {
		if _, err := s.Nodes.AddShares("share", shares); err != nil {
			return nil, err
		}
	}
	for q, limit := range w.Quotas {
		for i := range w.Running {
			limit -= counted(&w.Running[i].Way, w.Running[i].Pieces, q)
		}
		s.Quotas = append(s.Quotas, core.Quota{Name: fmt.Sprint("quota", q), Left: limit})
	}
	if err := w.addRunning(s); err != nil {
		return nil, err
	}
	for n, node := range w.Nodes {
		s.Nodes.SetUp(n, node.Up)
	}
	if len(w.Levels) > 0 {
		if s.Topology, err = w.topology(); err != nil {
			return nil, err
		}
	}
	for i := range w.Jobs {
		job := w.job(&w.Jobs[i])
		if err := job.Validate(); err != nil {
			return nil, err
		}
		s.Pending = append(s.Pending, job)
	}
	return s, nil
}

// addRunning adds what runs: one entry for each part.
func (w *World) addRunning(s *core.Snapshot) error {
	w.claimOf = w.claimOf[:0]
	for i := range w.Running {
		c := &w.Running[i]
		for k := range c.Way.Parts {
			r := core.Running{ID: c.ID, End: c.To, Uses: w.uses(&c.Way.Parts[k]), Price: c.Price, Class: c.Class, Exempt: c.Exempt}
			if k == 0 {
				for q := range w.Quotas {
					if n := counted(&c.Way, c.Pieces, q); n > 0 {
						r.Charges = append(r.Charges, nodeset.Use{Row: q, PerJob: n})
					}
				}
			}
			if k > 0 {
				r.Price, r.Class = 0, 0
			}
			for _, p := range c.Pieces {
				if p.Part == k {
					r.Segs = nodeset.Append(r.Segs, nodeset.Segment{First: int32(p.Node), Last: int32(p.Node),
						Cores: uint16(p.Cores), GPUs: uint8(p.GPUs), Bin: uint8(p.Bin)})
				}
			}
			if err := s.Nodes.Allocate(r.Segs, r.Uses...); err != nil {
				return err
			}
			s.Running, w.claimOf = append(s.Running, r), append(w.claimOf, i)
		}
	}
	return nil
}

func (w *World) switchList() (list []nodeset.Switch) {
	base := make([]int, len(w.Levels)+1) // by level, counted from 0: the number of its first switch
	for l, of := range w.Levels {
		base[l+1] = base[l] + slices.Max(of) + 1
	}
	for l, of := range w.Levels {
		for s := range slices.Max(of) + 1 {
			one := nodeset.Switch{Name: fmt.Sprintf("s%d.%d", l+1, s), Parent: -1}
			if n := slices.Index(of, s); l+1 < len(w.Levels) {
				one.Parent = base[l+1] + w.Levels[l+1][n]
			}
			list = append(list, one)
		}
	}
	return list
}

func (w *World) topology() (*nodeset.Topology, error) {
	leaves := make([]int32, len(w.Nodes))
	for n, leaf := range w.Levels[0] {
		leaves[n] = int32(leaf)
	}
	return nodeset.NewTopology(leaves, w.switchList())
}

// mask has the same memory for all jobs of a snapshot, as callers have it for those of a partition:
// requests are alike only then.
func (w *World) mask(nodes uint) nodeset.Mask {
	if m, ok := w.masks[nodes]; ok {
		return m
	}
	m := nodeset.NewMask(len(w.Nodes))
	for n := range w.Nodes {
		if nodes>>n&1 == 1 {
			m.Set(n)
		}
	}
	if w.masks == nil {
		w.masks = make(map[uint]nodeset.Mask)
	}
	w.masks[nodes] = m
	return m
}

func (w *World) job(j *Job) *core.Job {
	job := &core.Job{ID: j.ID, Request: w.request(&j.Ways[0]), Priority: j.Priority, TimeLimit: j.Limit,
		Since: w.Now - j.Waited, Preempts: j.Preempts, Reservation: j.Reservation}
	for k := range j.Ways[1:] {
		job.Alternatives = append(job.Alternatives, w.request(&j.Ways[k+1]))
	}
	if j.Prefer != 0 {
		job.Prefer = w.mask(j.Prefer)
	}
	return job
}

func (w *World) request(way *Way) bids.Request {
	r := w.part(&way.Parts[0])
	for k := range way.Parts[1:] {
		r.Components = append(r.Components, w.part(&way.Parts[k+1]))
	}
	r.AllWithin = way.AllWithin
	return r
}

func (w *World) part(p *Part) bids.Request {
	r := bids.Request{Cores: p.Cores, MinNodes: p.MinNodes, MaxNodes: p.MaxNodes, TasksPerNode: p.Tasks,
		MinGPUs: p.MinGPUs, MaxGPUs: p.MaxGPUs, MixedGPUs: p.Mixed, Contiguous: p.Contiguous, Apart: p.Apart,
		Switches: p.Switches, Within: p.Within, Segment: p.Segment, Uses: w.uses(p)}
	// an alternative's nil would be the nodes of the first request
	r.Eligible = w.mask(p.On)
	for q, u := range p.Counts {
		if u != (Use{}) {
			r.Charges = append(r.Charges, nodeset.Use{Row: q, PerJob: u.PerJob, PerNode: u.PerNode, PerCore: u.PerCore, PerGPU: u.PerGPU})
		}
	}
	return r
}

func (w *World) uses(p *Part) (uses nodeset.Uses) {
	for r, u := range p.More {
		if u != (Use{}) {
			uses = append(uses, nodeset.Use{Row: r, PerNode: u.PerNode, PerCore: u.PerCore, PerGPU: u.PerGPU})
		}
	}
	if p.Share > 0 {
		uses = append(uses, nodeset.Use{Row: len(w.More), PerNode: p.Share})
	}
	return uses
}

type object map[string]any

// String is the window as a file for "aucsched plan", and above it how to decide it.
func (w *World) String() string {
	o := object{"nodes": w.nodesJSON(), "running": w.runningJSON(), "jobs": []any{}}
	for i := range w.Jobs {
		o["jobs"] = append(o["jobs"].([]any), w.jobJSON(&w.Jobs[i]))
	}
	var quotas, switches []any
	for q, limit := range w.Quotas {
		for i := range w.Running {
			limit -= counted(&w.Running[i].Way, w.Running[i].Pieces, q)
		}
		quotas = append(quotas, object{"name": fmt.Sprint("quota", q), "left": max(limit, 0), "limit": w.Quotas[q]})
	}
	for l, of := range w.Levels {
		for s := range slices.Max(of) + 1 {
			one := object{"name": fmt.Sprintf("s%d.%d", l+1, s)}
			var below []string
			for n := range w.Nodes {
				if of[n] == s && l == 0 {
					below = append(below, fmt.Sprint("n", n))
				} else if of[n] == s {
					below = append(below, fmt.Sprintf("s%d.%d", l, w.Levels[l-1][n]))
				}
			}
			if l == 0 {
				one["nodes"] = strings.Join(below, ",")
			} else {
				one["switches"] = strings.Join(slices.Compact(below), ",")
			}
			switches = append(switches, one)
		}
	}
	if quotas != nil {
		o["quotas"] = quotas
	}
	var reserved []any
	for _, r := range w.Reserved {
		if r.To > w.Now {
			reserved = append(reserved, object{"name": r.Name, "nodes": w.list(r.Nodes),
				"start_s": max(r.From-w.Now, 0), "end_s": r.To - w.Now})
		}
	}
	if reserved != nil {
		o["reservations"] = reserved
	}
	if switches != nil {
		o["switches"] = switches
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	flags := "--preset " + w.Preset
	if w.Window > 0 {
		flags += fmt.Sprintf(" --window %d --depth %d", w.Window, w.Depth)
	}
	return fmt.Sprintf("seed %d, features %v, estimates %v: plan - %s <<'END'\n%s\nEND", w.Seed, w.Features, w.Estimates, flags,
		strings.ReplaceAll(strings.ReplaceAll(string(text), `},{`, "},\n {"), `],"`, "],\n\""))
}

func (w *World) list(nodes uint) string {
	var names []string
	for n := range w.Nodes {
		if nodes>>n&1 == 1 {
			names = append(names, fmt.Sprint("n", n))
		}
	}
	return strings.Join(names, ",")
}

func (w *World) nodesJSON() (list []any) {
	for n, x := range w.Nodes {
		o := object{"name": fmt.Sprint("n", n), "cores": x.Cores, "gpus": x.GPUs, "weight": x.Tier}
		if !x.Up {
			o["state"] = "down"
		}
		if x.Share > 0 {
			o["gpu_shares"] = x.Share
		}
		more := object{}
		for r, name := range w.More {
			more[name] = x.More[r]
		}
		if len(more) > 0 {
			o["resources"] = more
		}
		list = append(list, o)
	}
	return list
}

// runningJSON has one entry for each part.
func (w *World) runningJSON() []any {
	list := []any{}
	for i := range w.Running {
		c := &w.Running[i]
		for k := range c.Way.Parts {
			var cores, gpus []int
			o := object{"id": c.ID, "end_s": c.To - w.Now, "nodes": w.list(nodesOf(c.Pieces, k))}
			if k > 0 {
				o["id"] = fmt.Sprint(c.ID, "+", k)
			} else if c.Price > 0 {
				o["price"], o["class"], o["exempt_s"] = c.Price, c.Class, max(c.Exempt-w.Now, 0)
			}
			for _, p := range c.Pieces {
				if p.Part != k {
					continue
				}
				cores, gpus = append(cores, p.Cores), append(gpus, p.GPUs)
				if p.Bin > 0 {
					o["gpu_share"], o["shared_gpu"] = c.Way.Parts[k].Share, p.Bin
				}
			}
			o["cores_per_node"], o["gpus_per_node"] = cores, gpus
			w.usesJSON(o, &c.Way.Parts[k])
			if charges := (object{}); k == 0 {
				for q := range w.Quotas {
					if n := counted(&c.Way, c.Pieces, q); n > 0 {
						charges[fmt.Sprint("quota", q)] = object{"per_job": n}
					}
				}
				if len(charges) > 0 {
					o["charges"] = charges
				}
			}
			list = append(list, o)
		}
	}
	return list
}

func (w *World) usesJSON(o object, p *Part) {
	uses := object{}
	for r, u := range p.More {
		if u != (Use{}) {
			uses[w.More[r]] = u.json()
		}
	}
	if len(uses) > 0 {
		o["uses"] = uses
	}
}

func (u Use) json() object {
	o := object{}
	for name, n := range map[string]int64{"per_job": u.PerJob, "per_node": u.PerNode, "per_core": u.PerCore, "per_gpu": u.PerGPU} {
		if n > 0 {
			o[name] = n
		}
	}
	return o
}

func (w *World) jobJSON(j *Job) object {
	o := w.wayJSON(&j.Ways[0])
	o["id"], o["priority"], o["time_limit_s"], o["waited_s"] = j.ID, j.Priority, j.Limit, j.Waited
	if j.Prefer != 0 {
		o["prefer"] = w.list(j.Prefer)
	}
	if j.Reservation != "" {
		o["reservation"] = j.Reservation
	}
	for c := range 2 {
		if j.Preempts>>c&1 == 1 {
			list, _ := o["preempts"].([]int)
			o["preempts"] = append(list, c)
		}
	}
	for k := range j.Ways[1:] {
		list, _ := o["alternatives"].([]any)
		o["alternatives"] = append(list, w.wayJSON(&j.Ways[k+1]))
	}
	return o
}

func (w *World) wayJSON(way *Way) object {
	o := w.partJSON(&way.Parts[0])
	for k := range way.Parts[1:] {
		list, _ := o["components"].([]any)
		o["components"] = append(list, w.partJSON(&way.Parts[k+1]))
	}
	if way.AllWithin > 0 {
		o["all_within"] = way.AllWithin
	}
	return o
}

func (w *World) partJSON(p *Part) object {
	o := object{}
	number := func(name string, n int) {
		if n > 0 {
			o[name] = n
		}
	}
	number("cores", p.Cores)
	number("tasks_per_node", p.Tasks)
	number("switches", p.Switches)
	number("within", p.Within)
	number("segment", p.Segment)
	number("gpu_share", int(p.Share))
	switch {
	case p.MaxNodes > 0:
		o["nodes"] = fmt.Sprintf("%d-%d", max(p.MinNodes, 1), p.MaxNodes)
	case p.MinNodes > 0:
		o["nodes"] = fmt.Sprintf("%d-%d", p.MinNodes, math.MaxInt32)
	}
	if most := max(p.MinGPUs, p.MaxGPUs); most > 0 {
		o["gpus_per_node"] = fmt.Sprintf("%d-%d", p.MinGPUs, most)
	}
	if p.Mixed {
		o["gpus_uniform"] = false
	}
	if p.Contiguous {
		o["contiguous"] = true
	}
	if p.Apart {
		o["apart"] = true
	}
	if p.On != w.all() {
		o["eligible"] = w.list(p.On)
	}
	w.usesJSON(o, p)
	charges := object{}
	for q, u := range p.Counts {
		if u != (Use{}) {
			charges[fmt.Sprint("quota", q)] = u.json()
		}
	}
	if len(charges) > 0 {
		o["charges"] = charges
	}
	return o
}
