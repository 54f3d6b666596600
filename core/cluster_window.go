// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// WriteWindow writes the state as a window, which ReadWindow, "aucsched plan" and "aucsched
// explain" read. Lists of nodes have the present ones.
func (c *Cluster) WriteWindow(w io.Writer) error {
	file, err := c.window()
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(file)
}

func (c *Cluster) window() (*format.Window, error) {
	if c.policy == nil {
		return nil, errNotNewCluster
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nameQueue()
	now := c.timeOf(c.second())
	f := &format.Window{Time: now.Format(time.RFC3339Nano), Nodes: []format.Node{}, Jobs: make([]format.Job, 0, len(c.queue)),
		StrictPreemption: c.strict}
	if p := c.pace; p != (Pace{}) {
		f.Pace = &format.Pace{Ran: p.Ran, Limits: p.Limits}
	}
	err := c.writeNodes(f)
	for i, q := range c.quotas.left(nil) {
		f.Quotas = append(f.Quotas, format.Quota{Name: q.Name, Left: max(q.Left, 0)})
		if x := &c.quotas.all[i]; x.used > x.limit {
			f.Quotas[i].Limit = &x.limit
		}
	}
	x := windowWriter{m: &c.machine, now: now, err: err}
	for _, job := range c.running {
		if job.leader == nil {
			f.Running = append(f.Running, x.running(c, job))
		}
	}
	for _, job := range c.queue {
		f.Jobs = append(f.Jobs, x.job(&job.spec))
	}
	for _, r := range c.booked {
		if !r.End.After(now) {
			continue
		}
		k := format.Reservation{Name: r.Name, Start: max(-seconds(now.Sub(r.Start)), 0), End: seconds(r.End.Sub(now))}
		if r.Nodes != nil {
			list := x.list(r.Nodes)
			k.Nodes = &list
		}
		f.Reservations = append(f.Reservations, k)
	}
	for _, k := range c.claimed() {
		if k.Reservation != "" {
			continue
		}
		claim, err := format.NewClaim(k.For, c.machine.names, k.Segs, k.Alternative, k.Until-c.now)
		f.Claims, x.err = append(f.Claims, claim), cmp.Or(x.err, err)
	}
	return f, x.err
}

// writeNodes writes the nodes, neighbours that are alike as one list, and the switches. The first
// node names all resources, so that those are known of which no node has any.
func (c *Cluster) writeNodes(f *format.Window) (err error) {
	m := &c.machine
	leaves := make(map[string][]string)
	for n := 0; n < len(m.names); {
		first, x := n, m.node(n)
		for n++; n < len(m.names) && m.alike(n, first); n++ {
		}
		list := format.Node{Cores: int(x.Cores), GPUs: int(x.GPUs), Weight: int64(x.Tier), Resources: x.Resources, GPUShares: x.GPUShares}
		if first == 0 {
			list.Resources = make(format.Amounts)
			for _, r := range m.more {
				if r.name != format.GPUShare && r.name != format.Exclusive {
					list.Resources[r.name] = r.total[0]
				}
			}
		}
		if x.Down {
			list.State = format.Drained
		}
		if list.Name, err = hostlist.Compress(m.names[first:n]); err != nil {
			return err
		}
		if f.Nodes = append(f.Nodes, list); x.Leaf != "" {
			leaves[x.Leaf] = append(leaves[x.Leaf], m.names[first:n]...)
		}
	}
	for i, s := range m.switches {
		line := format.Switch{Name: s.Name}
		var below []string
		for _, o := range m.switches {
			if o.Parent == i {
				below = append(below, o.Name)
			}
		}
		if line.Nodes, err = hostlist.Compress(leaves[s.Name]); err != nil {
			return err
		}
		if line.Switches, err = hostlist.Compress(below); err != nil {
			return err
		}
		f.Switches = append(f.Switches, line)
	}
	return nil
}

// alike reports whether two nodes can be in one list.
func (m *machine) alike(a, b int) bool {
	return m.total[a] == m.total[b] && m.up[a] == m.up[b] && m.tier[a] == m.tier[b] && m.leaf[a] == m.leaf[b] &&
		!slices.ContainsFunc(m.more, func(r further) bool { return r.total[a] != r.total[b] })
}

// windowWriter writes jobs. It notes the first error.
type windowWriter struct {
	m   *machine
	now time.Time
	err error
}

func (w *windowWriter) running(c *Cluster, job *clusterJob) format.Running {
	s := c.startOf(job)
	end := min(max(seconds(s.End.Sub(w.now)), 0), NoTimeLimit)
	x := format.Running{ID: job.id, Held: w.held(job.held, &s), End: &end,
		Ran: max(seconds(w.now.Sub(s.Begin)), 0), GPUShare: s.GPUShare, SharedGPU: s.SharedGPU, Price: s.Price, Class: s.Class,
		Exempt: max(job.exempt-c.now, 0)}
	for name, amount := range s.Counts {
		if x.Charges == nil {
			x.Charges = make(format.Uses)
		}
		if amount > 0 {
			x.Charges[name] = nodeset.Use{PerJob: amount}
		}
	}
	for k, p := range s.Components {
		x.Components = append(x.Components, w.held(job.beside[k].held, &p))
	}
	if job.spec.ID != "" {
		asked := w.job(&job.spec)
		x.Job = &asked
	}
	return x
}

func (w *windowWriter) held(segs []nodeset.Segment, s *Start) format.Held {
	place, err := format.NewPlace(w.m.names, segs)
	w.err = cmp.Or(w.err, err)
	return format.Held{Place: place, Uses: s.Takes, Exclusive: s.Exclusive}
}

func (w *windowWriter) job(s *JobSpec) format.Job {
	limit := min(seconds(s.TimeLimit), NoTimeLimit)
	own := Way{s.Request, s.Components, s.On, s.Takes, s.GPUShare, s.Counts, s.Exclusive}
	x := format.Job{ID: s.ID, Priority: s.Priority, TimeLimit: &limit, Waited: seconds(w.now.Sub(s.Since)), Request: w.request(&own),
		Prefer: w.list(s.Prefer), Reservation: s.Reservation, Price: s.Price, Class: s.Class, Exempt: max(seconds(s.Exempt), 0)}
	for classes := s.Preempts; classes != 0; classes &= classes - 1 {
		x.Preempts = append(x.Preempts, bits.TrailingZeros64(classes))
	}
	for k := range s.Alternatives {
		x.Alternatives = append(x.Alternatives, w.request(&s.Alternatives[k]))
	}
	return x
}

func (w *windowWriter) request(x *Way) format.Request {
	r := openEnds(x.Request)
	out := format.Request{Cores: r.Cores, Nodes: format.Range{Low: r.MinNodes, High: r.MaxNodes},
		TasksPerNode: r.TasksPerNode, GPUs: format.Range{Low: r.MinGPUs, High: r.MaxGPUs},
		Contiguous: r.Contiguous, Uses: x.Takes, GPUShare: x.GPUShare, Exclusive: x.Exclusive, Charges: x.Counts,
		Switches: r.Switches, Within: r.Within, Segment: r.Segment, Apart: r.Apart, AllWithin: r.AllWithin}
	if r.MixedGPUs {
		uniform := false
		out.GPUsUniform = &uniform
	}
	if x.On != nil {
		list := w.list(x.On)
		out.Eligible = &list
	}
	for k := range x.Components {
		out.Components = append(out.Components, w.request(&x.Components[k]))
	}
	return out
}

// list is the hostlist of nodes, without those that are not there.
func (w *windowWriter) list(names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := w.m.index[name]; return !ok })
	list, err := hostlist.Compress(names)
	if w.err == nil {
		w.err = err
	}
	return list
}

// ReadWindow returns a cluster with the state of a window, such as [Cluster.WriteWindow] writes;
// docs/reference/window.md has the format. Its time is the window's, or now. Errors begin with name
// and the line, name the element and the field, and wrap those of the Cluster's methods. The
// window's free cores and GPUs are replaced by what no running job holds.
func ReadWindow(in io.Reader, name string, o ClusterOptions) (*Cluster, error) {
	c, err := NewCluster(o)
	if err != nil {
		return nil, err
	}
	f, err := format.Read(in, name)
	if err != nil {
		return nil, err
	}
	if f.Time != "" {
		if c.epoch, err = time.Parse(time.RFC3339Nano, f.Time); err != nil {
			return nil, fmt.Errorf("%s: time: %w", name, err)
		}
	}
	c.strict = c.strict || f.StrictPreemption
	if p := f.Pace; p != nil {
		if c.pace = (Pace{p.Ran, p.Limits}); !c.pace.valid() {
			return nil, fmt.Errorf("%s: pace: ran_s %g, limits_s %g: must be 0 to %d", name, p.Ran, p.Limits, int64(NoTimeLimit))
		}
	}
	r := &windowReader{c: c, f: f, lists: make(map[string][]string)}
	for _, read := range []func() error{r.quotas, r.nodes, r.reservations, r.running, r.jobs, r.claims, r.free} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// windowReader makes a cluster of a window.
type windowReader struct {
	c      *Cluster
	f      *format.File
	lists  map[string][]string // of nodes, by their text
	names  [][]string          // of the nodes of each element
	listed int64               // nodes in all lists so far
}

// Bounds on what lists of nodes cost, beside the length of their text.
const (
	maxListed = 1 << 26 // nodes in all lists
	maxMasked = 1 << 32 // bits of all masks
)

// wrong is a fault of element i of a list, that has none in the Cluster.
func (r *windowReader) wrong(list string, i int, field string, value any, why string, args ...any) error {
	f := &bids.FieldError{Field: field, Value: value, Why: fmt.Sprintf(why, args...)}
	return r.f.Fault(list, i, f, f)
}

// fault is what the Cluster says of element i of a list.
func (r *windowReader) fault(list string, i int, err error) error {
	var of *Error
	if errors.As(err, &of) && (of.Of != "node" || list == "nodes") {
		return r.f.Fault(list, i, of.Fault, err)
	}
	return r.f.Fault(list, i, nil, err)
}

// within reports a value of an element that is out of range.
func (r *windowReader) within(list string, i int, field string, value, most int64) error {
	if f := outOf(field, value, most); f != nil {
		return r.f.Fault(list, i, f, f)
	}
	return nil
}

// expand is the list of a hostlist, the same for the same text; nil for none.
func (r *windowReader) expand(list string) ([]string, error) {
	if names, ok := r.lists[list]; ok || list == "" {
		return names, nil
	}
	n, err := hostlist.Count(list)
	switch r.listed += int64(n); {
	case err != nil:
		return nil, err
	case n > nodeset.MaxNodes:
		return nil, fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	case r.listed > maxListed:
		return nil, fmt.Errorf("the window's lists of nodes have more than %d in all", maxListed)
	}
	names, err := hostlist.Expand(list)
	r.lists[list] = names
	return names, err
}

func (r *windowReader) quotas() error {
	for i, q := range r.f.Quotas {
		if _, twice := r.c.quotas.number[q.Name]; twice {
			return r.wrong("quotas", i, "name", q.Name, "is there twice")
		}
		if err := r.within("quotas", i, "left", q.Left, bids.MaxRate); err != nil {
			return err
		}
		if err := r.c.SetQuota(q.Name, q.Left); err != nil {
			return r.fault("quotas", i, err)
		}
	}
	return nil
}

func (r *windowReader) reservations() error {
	for i, x := range r.f.Reservations {
		err := cmp.Or(r.within("reservations", i, "start_s", x.Start, NoTimeLimit),
			r.within("reservations", i, "end_s", x.End, NoTimeLimit))
		if err != nil {
			return err
		}
		k := Reservation{Name: x.Name, Start: r.c.timeOf(x.Start), End: r.c.timeOf(x.End)}
		if x.Nodes != nil {
			names, err := r.expand(*x.Nodes)
			if err != nil {
				return r.wrong("reservations", i, "nodes", *x.Nodes, "%v", err)
			}
			k.Nodes = append([]string{}, names...)
		}
		if err := r.c.SetReservation(k); err != nil {
			return r.fault("reservations", i, err)
		}
	}
	return nil
}

// nodes reads nodes and switches. Resources have numbers by their names.
func (r *windowReader) nodes() error {
	more := make(map[string]int64)
	for _, n := range r.f.Nodes {
		for name := range n.Resources {
			more[name] = 0
		}
		if n.GPUShares > 0 {
			more[format.GPUShare] = 0
		}
	}
	for _, j := range r.f.Jobs {
		if j.GPUShare > 0 || slices.ContainsFunc(j.Alternatives, func(w format.Request) bool { return w.GPUShare > 0 }) {
			more[format.GPUShare] = 0
		}
	}
	if len(more) <= nodeset.MaxResources {
		_ = r.c.addResources(more)
	}
	tiers, err := r.tiers()
	if err != nil {
		return err
	}
	for i := range r.f.Nodes {
		if err := r.node(i, &r.f.Nodes[i], tiers); err != nil {
			return err
		}
	}
	return r.switches()
}

// tiers are weights, or their places among all that there are where these are large.
func (r *windowReader) tiers() (map[int64]uint8, error) {
	place := make(map[int64]uint8)
	for i, n := range r.f.Nodes {
		if err := r.within("nodes", i, "weight", n.Weight, math.MaxUint32); err != nil {
			return nil, err
		}
		place[n.Weight] = 0
	}
	sorted := slices.Sorted(maps.Keys(place))
	for at, weight := range sorted {
		if sorted[len(sorted)-1] <= math.MaxUint8 {
			at = int(weight)
		}
		place[weight] = uint8(min(at, math.MaxUint8))
	}
	return place, nil
}

func (r *windowReader) node(i int, n *format.Node, tiers map[int64]uint8) error {
	names, err := r.expand(n.Name)
	switch {
	case n.Name == "":
		return r.wrong("nodes", i, "name", `""`, "is missing")
	case err != nil:
		return r.wrong("nodes", i, "name", n.Name, "%v", err)
	case !slices.Contains([]string{"", format.Up, format.Drained, format.Down}, n.State):
		return r.wrong("nodes", i, "state", n.State, "is not up, drained or down")
	}
	err = cmp.Or(r.within("nodes", i, "cores", int64(n.Cores), bids.MaxCoresPerNode),
		r.within("nodes", i, "gpus", int64(n.GPUs), bids.MaxGPUsPerNode))
	if err != nil {
		return err
	}
	r.names = append(r.names, names)
	for _, name := range names {
		if _, twice := r.c.machine.index[name]; twice {
			return r.wrong("nodes", i, "name", name, "is there twice")
		}
		err := r.c.setNode(&Node{Name: name, Capacity: nodeset.Capacity{Cores: uint16(n.Cores), GPUs: uint8(n.GPUs)},
			Down: n.State == format.Drained || n.State == format.Down, Tier: tiers[n.Weight], Resources: n.Resources,
			GPUShares: n.GPUShares})
		if err != nil {
			return r.fault("nodes", i, err)
		}
	}
	return nil
}

func (r *windowReader) switches() error {
	find := func(list string) (nodes []int, err error) {
		names, err := r.expand(list)
		for _, name := range names {
			n, ok := r.c.machine.index[name]
			if !ok {
				return nil, fmt.Errorf("there is no node %s", name)
			}
			nodes = append(nodes, n)
		}
		return nodes, err
	}
	leaf, all, err := format.Tree(r.f.Switches, len(r.c.machine.names), find)
	var fault *format.SwitchFault
	if errors.As(err, &fault) {
		return r.wrong("switches", fault.Line, fault.Field, fault.Value, "%s", fault.Why)
	}
	if err == nil {
		for n, s := range leaf {
			if s >= 0 {
				r.c.machine.leaf[n] = all[s].Name
			}
		}
		err = r.c.SetTopology(all)
	}
	if err != nil {
		return r.f.Fault("switches", -1, nil, err)
	}
	return nil
}

func (r *windowReader) running() error {
	for i := range r.f.Running {
		x := &r.f.Running[i]
		s := Start{Job: x.ID, GPUShare: x.GPUShare, SharedGPU: x.SharedGPU, Price: x.Price, Class: x.Class,
			Takes: x.Uses, Exclusive: x.Exclusive}
		end := int64(NoTimeLimit)
		if x.End != nil {
			end = *x.End
		}
		s.Begin, s.End = r.c.timeOf(-x.Ran), r.c.timeOf(end)
		err := cmp.Or(r.within("running", i, "end_s", end, NoTimeLimit), r.within("running", i, "ran_s", x.Ran, NoTimeLimit),
			r.within("running", i, "exempt_s", x.Exempt, NoTimeLimit))
		if err != nil {
			return err
		}
		if x.Exempt > 0 {
			s.Exempt = r.c.timeOf(x.Exempt)
		}
		if s.Nodes, err = r.place("running", i, "", &x.Place); err != nil {
			return err
		}
		for k := range x.Components {
			p := Start{Takes: x.Components[k].Uses, Exclusive: x.Components[k].Exclusive}
			if p.Nodes, err = r.place("running", i, fmt.Sprintf("components[%d].", k), &x.Components[k].Place); err != nil {
				return err
			}
			s.Components = append(s.Components, p)
		}
		if f := countsFault("charges", &bids.Request{}, x.Charges); f != nil {
			return r.f.Fault("running", i, f, f)
		}
		s.Counts = counted(x.Charges, s.Nodes)
		var spec JobSpec
		if x.Job != nil {
			if spec, err = r.spec("running", i, x.Job); err != nil {
				return err
			}
			r.c.serial++
		}
		if err := r.c.adopt(&s, spec); err != nil {
			return r.fault("running", i, err)
		}
	}
	for i, q := range r.f.Quotas {
		x := &r.c.quotas.all[i]
		if x.limit += x.used; q.Limit != nil {
			if err := r.within("quotas", i, "limit", *q.Limit, bids.MaxRate); err != nil {
				return err
			}
			x.limit = *q.Limit
		}
	}
	return nil
}

// counted is what a running job counts that has these charges.
func counted(charges format.Uses, nodes []Share) map[string]int64 {
	if len(charges) == 0 {
		return nil
	}
	size := place.Size{Nodes: int64(len(nodes))}
	for _, s := range nodes {
		size.Cores += int64(s.Cores)
		size.GPUs += int64(s.GPUs)
	}
	counts := make(map[string]int64)
	for name, u := range charges {
		counts[name] = min(place.Count(&u, size), bids.MaxRate)
	}
	return counts
}

// claims reads the claims, which say what the last plan did: one that can be none is as if it were not there.
func (r *windowReader) claims() error {
	for i := range r.f.Claims {
		x, k := &r.f.Claims[i], clusterClaim{names: r.c.machine.names}
		if err := r.within("claims", i, "until_s", x.Until, NoTimeLimit); err != nil {
			return err
		}
		k.For, k.Alternative, k.Until = x.For, x.Alternative, x.Until
		for part, p := range append([]format.Place{x.Place}, x.Components...) {
			prefix := ""
			if part > 0 {
				prefix = fmt.Sprintf("components[%d].", part-1)
			}
			on, err := r.place("claims", i, prefix, &p)
			if err != nil {
				return err
			}
			single, err := r.c.machine.single(on, 0, part)
			if err != nil {
				return r.fault("claims", i, err)
			}
			k.Segs = append(k.Segs, joined(single)...)
		}
		r.c.claims = append(r.c.claims, k)
	}
	return nil
}

// place is where a running job is, a claim, or a component of it.
func (r *windowReader) place(list string, i int, prefix string, x *format.Place) (on []Share, err error) {
	names, err := r.expand(x.Nodes)
	switch {
	case err != nil:
		return nil, r.wrong(list, i, prefix+"nodes", x.Nodes, "%v", err)
	case len(names) == 0 && r.f.Time == "": // of a cluster that has lost them it can be
		return nil, r.wrong(list, i, prefix+"nodes", `""`, "are missing")
	case x.Cores == nil:
		return nil, r.wrong(list, i, prefix+"cores_per_node", `""`, "is missing; 0 if it holds none")
	case !x.Cores.Covers(len(names)) || !x.GPUs.Covers(len(names)):
		return nil, r.wrong(list, i, prefix+"cores_per_node", len(x.Cores),
			"this and gpus_per_node are a number, or one for each of %d nodes", len(names))
	}
	for k, name := range names {
		on = append(on, Share{name, x.Cores.At(k), x.GPUs.At(k)})
	}
	return on, nil
}

func (r *windowReader) jobs() error {
	for i := range r.f.Jobs {
		spec, err := r.spec("jobs", i, &r.f.Jobs[i])
		if err != nil {
			return err
		}
		if err := r.c.submit(spec, nil); err != nil {
			return r.fault("jobs", i, err)
		}
		if lists, nodes := len(r.c.machine.lists), len(r.c.machine.names); int64(lists)*int64(nodes) > maxMasked {
			return r.wrong("jobs", i, "eligible", lists, "different lists of nodes are too many for %d nodes", nodes)
		}
	}
	return nil
}

// spec is what a job asks for, element i of a list or of such an element.
func (r *windowReader) spec(list string, i int, j *format.Job) (s JobSpec, err error) {
	limit := int64(NoTimeLimit)
	if j.TimeLimit != nil {
		limit = *j.TimeLimit
	}
	err = cmp.Or(r.within(list, i, "time_limit_s", limit, NoTimeLimit), r.within(list, i, "waited_s", j.Waited, NoTimeLimit),
		r.within(list, i, "exempt_s", j.Exempt, NoTimeLimit))
	if err != nil {
		return s, err
	}
	own, err := r.way(list, i, "", &j.Request)
	if err != nil {
		return s, err
	}
	s = JobSpec{ID: j.ID, Request: own.Request, Components: own.Components, On: own.On, Takes: own.Takes, GPUShare: own.GPUShare,
		Exclusive: own.Exclusive, Counts: own.Counts, Priority: j.Priority, TimeLimit: time.Duration(limit) * time.Second,
		Since: r.c.timeOf(-j.Waited), Reservation: j.Reservation, Price: j.Price, Class: j.Class,
		Exempt: time.Duration(j.Exempt) * time.Second}
	if s.Prefer, err = r.expand(j.Prefer); err != nil {
		return s, r.wrong(list, i, "prefer", j.Prefer, "%v", err)
	}
	for _, class := range j.Preempts {
		if err := r.within(list, i, "preempts", int64(class), MaxClass); err != nil {
			return s, err
		}
		s.Preempts |= 1 << class
	}
	for k := range j.Alternatives {
		w, err := r.way(list, i, fmt.Sprintf("alternatives[%d].", k), &j.Alternatives[k])
		if err != nil {
			return s, err
		}
		s.Alternatives = append(s.Alternatives, w)
	}
	return s, nil
}

func (r *windowReader) way(list string, i int, prefix string, j *format.Request) (w Way, err error) {
	w = Way{Request: bids.Request{Cores: j.Cores, TasksPerNode: j.TasksPerNode, Contiguous: j.Contiguous,
		MinNodes: j.Nodes.Low, MaxNodes: j.Nodes.High, MinGPUs: j.GPUs.Low, MaxGPUs: j.GPUs.High,
		MixedGPUs: j.GPUsUniform != nil && !*j.GPUsUniform,
		Switches:  j.Switches, Within: j.Within, Segment: j.Segment, Apart: j.Apart, AllWithin: j.AllWithin},
		Takes: j.Uses, GPUShare: j.GPUShare, Counts: j.Charges, Exclusive: j.Exclusive}
	if j.Eligible != nil {
		if w.On, err = r.expand(*j.Eligible); err != nil {
			return w, r.wrong(list, i, prefix+"eligible", *j.Eligible, "%v", err)
		}
		if w.On == nil {
			w.On = []string{} // none
		}
	}
	for k := range j.Components {
		p, err := r.way(list, i, fmt.Sprintf("%scomponents[%d].", prefix, k), &j.Components[k])
		if err != nil {
			return w, err
		}
		w.Components = append(w.Components, p)
	}
	return w, nil
}

// free has nobody hold what a window says is not free, though no job of it holds it.
func (r *windowReader) free() error {
	for i := range r.f.Nodes {
		n := &r.f.Nodes[i]
		if n.FreeCores == nil && n.FreeGPUs == nil && len(n.FreeResources) == 0 && len(n.FreeGPUShares) == 0 {
			continue
		}
		for _, name := range r.names[i] {
			if err := r.freeOf(i, n, r.c.machine.index[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// freeOf is free for node at, of element i.
func (r *windowReader) freeOf(i int, n *format.Node, at int) error {
	m := &r.c.machine
	if err := m.refresh(r.c.running); err != nil {
		return err
	}
	lacks := func(field string, said, left int64) error {
		return r.wrong("nodes", i, field, said, "of node %s, %d are left by what runs", m.names[at], left)
	}
	shares, _ := m.resource(format.GPUShare)
	for _, key := range slices.Sorted(maps.Keys(n.FreeGPUShares)) {
		field, left := "free_gpu_shares."+key, n.FreeGPUShares[key]
		bin, err := strconv.ParseUint(key, 10, 8)
		switch most := nodeset.BinsOf(n.GPUs); {
		case err != nil || bin == 0 || key[0] == '0':
			return r.wrong("nodes", i, field, left, "%.40q is not the number of a GPU", key)
		case n.GPUShares == 0:
			return r.wrong("nodes", i, field, left, "its GPUs have no shares: give gpu_shares")
		case int(bin) > most:
			return r.wrong("nodes", i, field, left, "GPUs in shared use have numbers in 1-%d there", most)
		case left < 0 || left >= n.GPUShares:
			return r.wrong("nodes", i, field, left, "must be 0 to %d: one that is all free is not in shared use", n.GPUShares-1)
		}
		free, inUse := m.table.BinFree(at, uint8(bin))
		if !inUse && m.table.Free(at).GPUs > 0 {
			free = n.GPUShares
		}
		if free < left || !inUse && free == 0 {
			return lacks(field, left, free)
		}
		r.nobody(nodeset.Segment{First: int32(at), Last: int32(at), Bin: uint8(bin)}, nodeset.Use{Row: shares, PerNode: free - left})
	}
	s, left := nodeset.Segment{First: int32(at), Last: int32(at)}, m.table.Free(at)
	if said := n.FreeCores; said != nil {
		if *said < 0 || *said > int(left.Cores) {
			return lacks("free_cores", int64(*said), int64(left.Cores))
		}
		s.Cores = left.Cores - uint16(*said)
	}
	if said := n.FreeGPUs; said != nil {
		if *said < 0 || *said > int(left.GPUs) {
			return lacks("free_gpus", int64(*said), int64(left.GPUs))
		}
		s.GPUs = left.GPUs - uint8(*said)
	}
	r.nobody(s)
	for _, name := range slices.Sorted(maps.Keys(n.FreeResources)) {
		said, field := n.FreeResources[name], "free_resources."+name
		if _, there := n.Resources[name]; !there {
			return r.wrong("nodes", i, field, said, "is none of its resources")
		}
		row, _ := m.resource(name)
		if free := m.table.FreeOf(row)[at]; said < 0 || said > free {
			return lacks(field, said, free)
		} else {
			r.nobody(nodeset.Segment{First: int32(at), Last: int32(at)}, nodeset.Use{Row: row, PerNode: free - said})
		}
	}
	return nil
}

// nobody holds what a window says is not free.
func (r *windowReader) nobody(s nodeset.Segment, uses ...nodeset.Use) {
	if s.Cores == 0 && s.GPUs == 0 && (len(uses) == 0 || uses[0].PerNode == 0) {
		return
	}
	held := &clusterJob{run: true, held: []nodeset.Segment{s}, uses: uses}
	held.leader = held
	r.c.running = append(r.c.running, held)
	r.c.machine.take(held.held, uses)
}
