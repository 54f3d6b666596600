// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// WriteWindow writes the state as a window: what "aucsched plan" and "aucsched explain" read. It
// fails without a node.
func (c *Cluster) WriteWindow(w io.Writer) error {
	var s scratch
	if _, err := c.copyState(&s); err != nil {
		return err
	}
	if len(s.names) == 0 {
		return errNoNodes
	}
	file, err := s.window()
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(file)
}

// window puts the state into names, with times from now on.
func (w *scratch) window() (*format.Window, error) {
	f := &format.Window{Jobs: make([]format.Job, 0, len(w.queue)), Quotas: w.quotasOf()}
	var err error
	if f.Nodes, err = w.nodeLists(); err != nil {
		return nil, err
	}
	for _, r := range w.snapshot.Running {
		held, err := w.heldBy(&r)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", r.ID, err)
		}
		f.Running = append(f.Running, held)
	}
	for _, job := range w.snapshot.Pending {
		waits, err := w.waitingJob(job)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", job.ID, err)
		}
		f.Jobs = append(f.Jobs, waits)
	}
	return f, nil
}

// nodeLists are the nodes, neighbours that are alike as one list.
func (w *scratch) nodeLists() (lists []format.Node, err error) {
	t := &w.nodes
	for n := 0; n < t.Len(); {
		first := n
		for n++; n < t.Len() && w.alike(n, first); n++ {
		}
		list := format.Node{Cores: int(t.Total(first).Cores), GPUs: int(t.Total(first).GPUs),
			Resources: w.resourcesOf(first), GPUShares: w.sharesOf(first)}
		if w.snapshot.Tiers != nil {
			list.Weight = int64(w.snapshot.Tiers[first])
		}
		if !t.Up(first) {
			list.State = format.Drained
		}
		if list.Name, err = hostlist.Compress(w.names[first:n]); err != nil {
			return nil, err
		}
		lists = append(lists, list)
	}
	return lists, nil
}

// alike reports whether two nodes can be in one list.
func (w *scratch) alike(a, b int) bool {
	t := &w.nodes
	for r := range t.Resources() {
		if total := t.TotalOf(r); total[a] != total[b] {
			return false
		}
	}
	tiers := w.snapshot.Tiers
	return t.Total(a) == t.Total(b) && t.Up(a) == t.Up(b) && (tiers == nil || tiers[a] == tiers[b])
}

// resourcesOf is what a node has of further resources. The first node names all of them, so that
// the window knows those of which no node has any.
func (w *scratch) resourcesOf(n int) format.Amounts {
	amounts := make(format.Amounts)
	for r := range w.nodes.Resources() {
		name, total := w.nodes.ResourceName(r), w.nodes.TotalOf(r)[n]
		if name != format.GPUShare && (total > 0 || n == 0) {
			amounts[name] = total
		}
	}
	return amounts
}

// sharesOf is how many shares each GPU of a node has.
func (w *scratch) sharesOf(n int) int64 {
	if r, shared := w.nodes.Shares(); shared {
		return w.nodes.TotalOf(r)[n]
	}
	return 0
}

// usesOf is what is used of further resources, by name, and the share of a GPU.
func (w *scratch) usesOf(uses nodeset.Uses) (named format.Uses, share int64) {
	named = format.Named(uses, w.nodes.ResourceName)
	share = named[format.GPUShare].PerNode
	delete(named, format.GPUShare)
	return named, share
}

func (w *scratch) heldBy(r *Running) (out format.Running, err error) {
	var names []string
	out = format.Running{ID: r.ID, End: min(max(r.End-w.snapshot.Now, 0), NoTimeLimit), Charges: w.chargesOf(r.Charges),
		Price: r.Price, Class: r.Class, SharedGPU: int(r.Segs[0].Bin)}
	out.Uses, out.GPUShare = w.usesOf(r.Uses)
	for _, s := range shares(w.names, r.Segs) {
		names = append(names, s.Node)
		out.Cores, out.GPUs = append(out.Cores, s.Cores), append(out.GPUs, s.GPUs)
	}
	out.Nodes, err = hostlist.Compress(names)
	return out, err
}

func (w *scratch) waitingJob(job *Job) (out format.Job, err error) {
	limit := job.TimeLimit
	out = format.Job{ID: job.ID, Priority: job.Priority, TimeLimit: &limit,
		Waited: w.snapshot.Now - job.Since}
	for class := range MaxClass + 1 {
		if job.Preempts>>class&1 == 1 {
			out.Preempts = append(out.Preempts, class)
		}
	}
	if out.Request, err = w.request(&job.Request); err != nil {
		return out, err
	}
	if out.Prefer, err = w.namesOf(job.Prefer); err != nil {
		return out, err
	}
	ways := make([]format.Request, len(job.Alternatives))
	for k := range job.Alternatives {
		if ways[k], err = w.request(&job.Alternatives[k]); err != nil {
			return out, err
		}
	}
	if len(ways) > 0 {
		out.Alternatives, err = json.Marshal(ways)
	}
	return out, err
}

func (w *scratch) request(r *bids.Request) (format.Request, error) {
	out := format.Request{Cores: r.Cores, Nodes: format.Range{Low: r.MinNodes, High: r.MaxNodes},
		TasksPerNode: r.TasksPerNode, GPUs: format.Range{Low: r.MinGPUs, High: r.MaxGPUs},
		Contiguous: r.Contiguous, Charges: w.chargesOf(r.Charges),
		Switches: r.Switches, Within: r.Within, Segment: r.Segment, Apart: r.Apart, AllWithin: r.AllWithin}
	out.Uses, out.GPUShare = w.usesOf(r.Uses)
	var err error
	if out.Components, err = w.components(r); err != nil {
		return out, err
	}
	if r.MixedGPUs {
		uniform := false
		out.GPUsUniform = &uniform
	}
	if r.Eligible == nil {
		return out, nil
	}
	list, err := w.namesOf(r.Eligible)
	out.Eligible = &list
	return out, err
}

// components are the further parts of a request.
func (w *scratch) components(r *bids.Request) (text json.RawMessage, err error) {
	if len(r.Components) == 0 {
		return nil, nil
	}
	parts := make([]format.Request, len(r.Components))
	for k := range r.Components {
		if parts[k], err = w.request(&r.Components[k]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(parts)
}

// namesOf is the list of the nodes in a mask, "" for nil.
func (w *scratch) namesOf(mask nodeset.Mask) (string, error) {
	names := make([]string, 0, mask.Count())
	for n := range slices.All(w.names) {
		if mask != nil && mask.Has(n) {
			names = append(names, w.names[n])
		}
	}
	return hostlist.Compress(names)
}
