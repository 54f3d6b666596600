// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// snapshot turns inputs into core's terms. It keeps its memory, so that inputs of one
// size on one machine are turned without allocating.
type snapshot struct {
	core.Snapshot         // its queue has the jobs without a fault
	index         []int32 // of each of them in the input
	faulty        []bool  // by job of the input
	faults        faults
	totals        []nodeset.Capacity // of the machine that Nodes is of
	held          []nodeset.Capacity // by node: what running jobs hold
	segs          []nodeset.Segment
	words         []uint64
	masks         []nodeset.Mask
	jobs          []core.Job
	ids           []string
	offers        []nodeset.Segment
	others        []bids.Request // the jobs' alternatives
	otherAt       []int32        // by alternative of the input: where in others, or -1
	more          resources
	quotas        quotas
	switches      switches
	shares        shares
}

// horizon bounds times after now, for sums to stay in range.
const horizon = 1 << 40

// memory is about how many bytes a cycle takes at most, by the lengths of the arrays alone: what
// was measured, rounded up. Nothing has been allocated when it is asked. A length that is a fault
// by itself counts as the greatest that is none, so that load says so.
func (in *Input) memory(o *core.AuctionOptions) (bytes float64) {
	tables := float64(32 + 2*o.Reservations) // copies of what nodes have free
	window := float64(min(len(in.Jobs), o.Window))
	nodes, switches := float64(min(len(in.Nodes), MaxNodes)), float64(min(len(in.Switches), MaxNodes))
	for _, x := range [...][2]float64{
		{nodes, 8<<10 + 32*tables}, {float64(len(in.Amounts)), 16 * tables},
		{min(switches, nodes), nodes / 4}, {switches, 1 << 9}, {float64(len(in.Masks)), 16},
		{float64(len(in.Jobs)), 3 << 10}, {window, 32<<10 + 512*float64(o.MaxBidsPerJob)},
		{float64(min(len(in.Alternatives), MaxJobs*MaxAlternatives)), 1 << 10},
		{float64(len(in.Running)), 1 << 9}, {float64(len(in.Segments)), 1 << 7}, {float64(len(in.OfferSegments)), 1 << 7},
		{float64(len(in.JobUses) + len(in.AlternativeUses) + len(in.RunningUses)), 1 << 7},
		{float64(len(in.JobCharges) + len(in.AlternativeCharges) + len(in.RunningCharges)), 1 << 7},
		{float64(len(in.Quotas)), 64 + 8*tables}, {float64(len(in.SharedGPUs)), 16 * tables},
		{float64(len(in.JobReads) + len(in.RunningReads)), 1 << 9},
	} {
		bytes += x[0] * x[1]
	}
	return bytes
}

// load makes s the snapshot of in, or says what is wrong with it as a whole, as [*InputError]; what
// is wrong with a single element is in s.faults. Afterwards s holds no reference to the input.
func (s *snapshot) load(in *Input) error {
	s.Now = 0 // times in core are counted from Input.Now on
	s.faults.reset()
	if err := s.loadNodes(in); err != nil {
		return err
	}
	if err := s.resetUses(in); err != nil {
		return err
	}
	if err := s.loadShares(in); err != nil {
		return err
	}
	if err := s.loadQuotas(in); err != nil {
		return err
	}
	if err := s.loadSwitches(in); err != nil {
		return err
	}
	if err := s.loadRunning(in); err != nil {
		return err
	}
	if err := s.loadMasks(in); err != nil {
		return err
	}
	if err := s.loadJobs(in.Jobs); err != nil {
		return err
	}
	switch {
	case len(in.Alternatives) > MaxJobs*MaxAlternatives:
		return whole("alternatives", len(in.Alternatives), "there must be at most %d", MaxJobs*MaxAlternatives)
	case len(in.Offers) > MaxJobs:
		return whole("offers", len(in.Offers), "there must be at most %d", MaxJobs)
	}
	s.loadJobUses(in)
	s.loadJobCharges(in)
	s.loadAlternatives(in)
	s.loadAlternativeUses(in)
	s.loadAlternativeCharges(in)
	s.loadJobShares(in)
	s.leaveOutInvalid(in)
	s.loadOffers(in)
	s.queue(len(in.Jobs))
	return nil
}

func (s *snapshot) loadNodes(in *Input) error {
	nodes := in.Nodes
	if len(nodes) < 1 || len(nodes) > MaxNodes {
		return whole("nodes", len(nodes), "there must be 1 to %d", MaxNodes)
	}
	if err := amountsFault(in); err != nil {
		return err
	}
	if err := s.countShared(in); err != nil {
		return err
	}
	same := len(nodes) == len(s.totals) && s.more.sameTotals(in.Amounts) && slices.Equal(s.shares.sizes, in.ShareSizes)
	for i := range nodes {
		n := &nodes[i]
		if fault := n.fault(); fault.Array != "" {
			return fault.at(i)
		}
		same = same && s.totals[i] == nodeset.Capacity{Cores: n.Cores, GPUs: n.GPUs}
	}
	if !same {
		if err := s.newMachine(in); err != nil {
			return err
		}
	}
	if err := s.setAmounts(in); err != nil {
		return err
	}
	if err := s.unsetShared(); err != nil {
		return err
	}
	s.Tiers = s.Tiers[:0]
	for i := range nodes {
		s.Tiers = append(s.Tiers, nodes[i].Tier)
		n, free := &nodes[i], nodeset.Capacity{Cores: nodes[i].FreeCores, GPUs: nodes[i].FreeGPUs + s.shares.bins[i]}
		if s.Nodes.Free(i) != free {
			if err := s.Nodes.SetFree(i, free); err != nil {
				return fmt.Errorf("nodes: %w", err)
			}
		}
		if up := n.Up != 0; s.Nodes.Up(i) != up {
			s.Nodes.SetUp(i, up)
		}
	}
	return nil
}

// fault is what is wrong with a node; its Array is "" if nothing is.
func (n *Node) fault() (e InputError) {
	switch {
	case n.FreeCores > n.Cores:
		e = InputError{"nodes", 0, "free_cores", n.FreeCores, fmt.Sprintf("must be at most its %d cores", n.Cores)}
	case n.GPUs > MaxGPUsPerNode:
		e = InputError{"nodes", 0, "gpus", n.GPUs, fmt.Sprintf("must be at most %d", MaxGPUsPerNode)}
	case n.FreeGPUs > n.GPUs:
		e = InputError{"nodes", 0, "free_gpus", n.FreeGPUs, fmt.Sprintf("must be at most its %d GPUs", n.GPUs)}
	}
	return e
}

func (s *snapshot) newMachine(in *Input) error {
	s.totals = s.totals[:0]
	for i := range in.Nodes {
		s.totals = append(s.totals, nodeset.Capacity{Cores: in.Nodes[i].Cores, GPUs: in.Nodes[i].GPUs})
	}
	table, err := nodeset.New(s.totals)
	if err != nil {
		s.totals = s.totals[:0]
		return fmt.Errorf("nodes: %w", err)
	}
	s.Nodes = table
	if err := s.addResources(in); err != nil {
		return err
	}
	return s.addShares(in)
}

func (s *snapshot) loadRunning(in *Input) error {
	s.held = s.held[:0]
	for range in.Nodes {
		s.held = append(s.held, nodeset.Capacity{})
	}
	s.Running, s.segs = s.Running[:0], s.segs[:0]
	if len(in.Running) > MaxJobs {
		return whole("running", len(in.Running), "there must be at most %d", MaxJobs)
	}
	if cap(s.segs) < len(in.Segments) {
		s.segs = make([]nodeset.Segment, 0, len(in.Segments)) // in one piece: jobs keep parts of it
	}
	s.growIDs(len(in.Running))
	for i := range in.Running {
		r, from := &in.Running[i], len(s.segs)
		price, class := int64(0), 0
		if fault := s.runningFault(in, i); fault.array != "" {
			s.faults.add(fault, -1) // what it holds is not free, and nobody knows when it will be
		} else {
			s.hold(in, in.Segments[r.FirstSegment:][:r.Segments], r.Share)
			price, class = int64(r.Price), int(r.PreemptClass)
		}
		s.Running = append(s.Running, core.Running{ID: s.ids[i], End: after(in.Now, r.End),
			Segs: s.segs[from:len(s.segs):len(s.segs)], Price: price, Class: class})
	}
	s.loadRunningUses(in)
	s.loadRunningShares(in)
	s.loadRunningCharges(in)
	return nil
}

// after is time t on core's clock.
func after(now, t int64) int64 {
	if t <= now {
		return 0
	}
	return int64(min(uint64(t)-uint64(now), horizon))
}

// before is a time on core's clock on the input's. Times beyond what an int64 holds are
// its greatest.
func before(now, t int64) int64 {
	if now > 0 && t > 1<<63-1-now {
		return 1<<63 - 1
	}
	return now + t
}

// runningFault is what is wrong with running job i; its array is "" if nothing is.
func (s *snapshot) runningFault(in *Input, i int) flaw {
	r := &in.Running[i]
	switch {
	case uint64(r.FirstSegment)+uint64(r.Segments) > uint64(len(in.Segments)):
		return flawed("running", i, "segments", r.Segments,
			"with first_segment %d, these go beyond the %d running_segments", uint64(r.FirstSegment), uint64(len(in.Segments)))
	case len(s.segs)+int(r.Segments) > len(in.Segments):
		return flawed("running", i, "segments", r.Segments,
			"more in all than the %d running_segments: jobs share some", uint64(len(in.Segments)))
	}
	if fault := r.fault(i); fault.array != "" {
		return fault
	}
	next := uint64(0) // the least node that may come
	for k := int(r.FirstSegment); k < int(r.FirstSegment)+int(r.Segments); k++ {
		g := &in.Segments[k]
		if fault := s.segmentFault(in, k, next); fault.array != "" {
			return fault
		}
		if fault := s.binFault(in, k, r.Share); fault.array != "" {
			return fault
		}
		next = uint64(g.Last) + 1
	}
	return flaw{}
}

// segmentFault is what is wrong with segment i of those of running jobs, whose first node may be
// next or a later one.
func (s *snapshot) segmentFault(in *Input, i int, next uint64) flaw {
	g := &in.Segments[i]
	switch {
	case uint64(g.First) < next:
		return flawed("running_segments", i, "first", g.First, "the job's last segment ends at %d", next-1)
	case g.Last < g.First:
		return flawed("running_segments", i, "last", g.Last, "is before first, %d", uint64(g.First))
	case uint64(g.Last) >= uint64(len(in.Nodes)):
		return flawed("running_segments", i, "last", g.Last, "there are %d nodes", uint64(len(in.Nodes)))
	}
	for n := g.First; n <= g.Last; n++ {
		node, held := &in.Nodes[n], &s.held[n]
		if int(node.FreeCores)+int(held.Cores)+int(g.Cores) > int(node.Cores) {
			return flawed("running_segments", i, "cores", g.Cores,
				"node %d has %d cores, of which %d are free and others hold %d",
				uint64(n), uint64(node.Cores), uint64(node.FreeCores), uint64(held.Cores))
		}
		others := int(held.GPUs) + int(s.shares.bins[n])
		if int(node.FreeGPUs)+others+int(g.GPUs) > int(node.GPUs) {
			return flawed("running_segments", i, "gpus", g.GPUs,
				"node %d has %d GPUs, of which %d are free and others hold %d", uint64(n),
				uint64(node.GPUs), uint64(node.FreeGPUs), uint64(others))
		}
	}
	return flaw{}
}

// hold appends the segments of a running job with a share of a GPU, and counts what they hold.
func (s *snapshot) hold(in *Input, segments []Segment, share uint32) {
	for _, g := range segments {
		for n := g.First; n <= g.Last; n++ {
			s.held[n].Cores += g.Cores
			s.held[n].GPUs += g.GPUs
		}
		s.holdShare(in, &g, share)
		s.segs = append(s.segs, nodeset.Segment{First: int32(g.First), Last: int32(g.Last), Cores: g.Cores, GPUs: g.GPUs, Bin: g.Bin})
	}
}

func (s *snapshot) loadMasks(in *Input) error {
	s.words, s.masks = s.words[:0], s.masks[:0]
	if in.MaskCount == 0 {
		return nil
	}
	want := (len(in.Nodes) + 63) / 64
	switch {
	case in.MaskCount < 0 || in.MaskCount > MaxJobs:
		return whole("masks", in.MaskCount, "there must be at most %d", MaxJobs)
	case in.MaskWords != want:
		return whole("mask_words", in.MaskWords, "must be %d for %d nodes", want, len(in.Nodes))
	case len(in.Masks) != in.MaskCount*want:
		return whole("masks", len(in.Masks), "words for %d masks of %d", in.MaskCount, want)
	}
	s.words = append(s.words, in.Masks...)
	for i := range in.MaskCount {
		s.masks = append(s.masks, nodeset.Mask(s.words[i*want:(i+1)*want:(i+1)*want]))
	}
	return nil
}

func (s *snapshot) loadJobs(jobs []Job) error {
	if len(jobs) > MaxJobs {
		return whole("jobs", len(jobs), "there must be at most %d", MaxJobs)
	}
	s.growIDs(len(jobs))
	if cap(s.jobs) < len(jobs) {
		s.jobs = make([]core.Job, len(jobs)+len(jobs)/4)
	}
	s.jobs = s.jobs[:cap(s.jobs)]
	s.faulty = s.faulty[:0]
	last := uint64(MaxPriority) // that of the job before
	for i := range jobs {
		s.faulty = append(s.faulty, false)
		if fault := jobs[i].fault(len(s.masks), s.shares.number >= 0); fault.array != "" {
			fault.index = i
			s.leaveOut(fault, i)
			continue
		}
		last = s.loadJob(i, &jobs[i], last)
	}
	return nil
}

// loadJob sets job i, which is sound, and returns its priority, which is last, that of the job
// before, at most: the queue's order counts.
func (s *snapshot) loadJob(i int, j *Job, last uint64) uint64 {
	priority := min(j.Priority, last)
	if priority < j.Priority {
		s.faults.add(flawed("jobs", i, "priority", j.Priority, "is above %d, that of the job before it, and is taken as that", last), i)
	}
	s.jobs[i] = core.Job{
		ID: s.ids[i], Priority: int64(priority), TimeLimit: int64(min(j.TimeLimit, core.NoTimeLimit)),
		Request: s.request(j), Since: s.Now - int64(j.Waited), Preempts: j.Preempts,
	}
	return priority
}

// request is what a sound job asks for.
func (s *snapshot) request(j *Job) bids.Request {
	r := bids.Request{
		Cores: int(j.Cores), MinNodes: int(j.MinNodes), TasksPerNode: int(j.CoresPerNode),
		MinGPUs: int(j.MinGPUs), MaxGPUs: int(j.MaxGPUs), Contiguous: j.Flags&Contiguous != 0,
		Switches: int(j.Switches), Within: int(j.Within), Segment: int(j.Segment),
	}
	if int(j.MaxNodes) <= s.Nodes.Len() || j.Segment > 1 { // otherwise it is no restriction
		r.MaxNodes = min(int(j.MaxNodes), MaxNodes)
	} else if j.Cores == 0 { // it would have its least number of nodes
		r.MaxNodes = max(s.Nodes.Len(), r.MinNodes)
	}
	if j.Mask >= 0 {
		r.Eligible = s.masks[j.Mask]
	}
	return r
}

// fault is what is wrong with a job by itself; its array is "" if nothing is.
func (j *Job) fault(masks int, shared bool) (e flaw) {
	switch {
	case j.Priority < 1 || j.Priority > MaxPriority:
		e = flawed("jobs", 0, "priority", j.Priority, "must be 1 to %d", MaxPriority)
	case j.Cores > bids.MaxCores:
		e = flawed("jobs", 0, "cores", j.Cores, "must be at most %d", bids.MaxCores)
	case j.MinNodes > MaxNodes:
		e = flawed("jobs", 0, "min_nodes", j.MinNodes, "must be at most %d", MaxNodes)
	case j.MaxNodes != 0 && j.MaxNodes < j.MinNodes:
		e = flawed("jobs", 0, "max_nodes", j.MaxNodes, "is below min_nodes, %d", uint64(j.MinNodes))
	case j.Cores == 0 && j.CoresPerNode != 0:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "must be 0: the job takes no core")
	case j.Cores > 0 && j.Cores < j.MinNodes:
		e = flawed("jobs", 0, "cores", j.Cores, "is below min_nodes, %d", uint64(j.MinNodes))
	case j.CoresPerNode != 0:
		e = j.perNodeFault()
	}
	if e.array != "" {
		return e
	}
	switch {
	case j.TimeLimit < 1:
		e = flawed("jobs", 0, "time_limit", j.TimeLimit, "must be at least 1")
	case j.MaxGPUs < j.MinGPUs:
		e = flawed("jobs", 0, "max_gpus", j.MaxGPUs, "is below min_gpus, %d", uint64(j.MinGPUs))
	case j.Flags&^Contiguous != 0:
		e = flawed("jobs", 0, "flags", j.Flags, "has unknown bits")
	case j.Reserved != 0:
		e = flawed("jobs", 0, "reserved", j.Reserved, "must be 0")
	case j.Mask < -1 || int(j.Mask) >= masks:
		e = flawed("jobs", 0, "mask", uint64(int64(j.Mask)), "must be -1, or the index of one of the %d masks", uint64(masks))
		e.signed = true
	case j.Switches > MaxNodes:
		e = flawed("jobs", 0, "switches", j.Switches, "must be at most %d", MaxNodes)
	case j.Segment > 1 && j.segments() == 0:
		e = flawed("jobs", 0, "segment", j.Segment, "must divide its number of nodes, which has to be fixed")
	case j.Reserved2 != 0:
		e = flawed("jobs", 0, "reserved2", j.Reserved2, "must be 0")
	case j.Share != 0:
		e = j.shareFault(shared)
	}
	return e
}

// leaveOutInvalid has jobs not take part of which the request is none, or an alternative, by the
// same rules as for whoever decides on it and judges the plan. Faults of a single field have been
// told before, in the header's terms: what is left is how uses go with the rest of the request.
func (s *snapshot) leaveOutInvalid(in *Input) {
	for i := range in.Jobs {
		if !s.faulty[i] {
			if fault := requestFault("jobs", i, &s.jobs[i].Request); fault.array != "" {
				s.leaveOut(fault, i)
			}
		}
	}
	for i, at := range s.otherAt {
		if of := in.Alternatives[i].Job; at >= 0 && !s.faulty[of] {
			if fault := requestFault("alternatives", i, &s.others[at]); fault.array != "" {
				s.leaveOut(fault, int(of))
			}
		}
	}
}

// requestFault is what is wrong with the request of element i of array; its array is "" if it is
// valid.
func requestFault(array string, i int, r *bids.Request) flaw {
	err := place.Validate(r)
	if err == nil {
		return flaw{}
	}
	var fault *bids.FieldError
	if !errors.As(err, &fault) {
		fault = &bids.FieldError{Field: "request", Why: err.Error()}
	}
	if fault.Field == "cores" && r.Cores == 0 {
		return flawed(array, i, "cores", uint32(0), "must be at least 1 for who takes nothing else of each node")
	}
	return flaw{array: array, index: i, request: fault}
}

// segments is how many segments the job has, 0 if its number of nodes is not fixed, or no multiple.
func (j *Job) segments() uint32 {
	nodes := j.MinNodes
	if j.CoresPerNode != 0 {
		nodes = j.Cores / j.CoresPerNode
	} else if j.MinNodes != j.MaxNodes {
		return 0
	}
	if nodes%uint32(j.Segment) != 0 {
		return 0
	}
	return nodes / uint32(j.Segment)
}

// perNodeFault is what is wrong with so many cores on each node.
func (j *Job) perNodeFault() (e flaw) {
	nodes := j.Cores / j.CoresPerNode
	switch {
	case j.CoresPerNode > bids.MaxCoresPerNode:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "must be at most %d", bids.MaxCoresPerNode)
	case j.Cores%j.CoresPerNode != 0:
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "does not divide its %d cores", uint64(j.Cores))
	case nodes < j.MinNodes || (j.MaxNodes != 0 && nodes > j.MaxNodes):
		e = flawed("jobs", 0, "cores_per_node", j.CoresPerNode, "puts its %d cores on %d nodes instead of %d to %d",
			uint64(j.Cores), uint64(nodes), uint64(j.MinNodes), uint64(j.MaxNodes))
	}
	return e
}

func (s *snapshot) growIDs(n int) {
	for i := len(s.ids); i < n; i++ {
		s.ids = append(s.ids, strconv.Itoa(i))
	}
}

func whole(array string, value any, format string, args ...any) error {
	return &InputError{array, -1, "", value, fmt.Sprintf(format, args...)}
}
