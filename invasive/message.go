// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "time"

// Kind is the kind of a message: the ten of figure 3, and those that open and close the protocol
// (section 3.2). Their numbers are those of the fields of Packet in invasive.proto.
type Kind uint8

const (
	Initialise Kind = 1 + iota
	ResponseInitialise
	Finalise
	ResponseFinalise
	RequestResourceOffer
	ResourceOffer
	ResponseResourceOffer
	NegotiationStart
	ResponseNegotiationStart
	NegotiationEnd
	ResponseNegotiationEnd
	StatusReport
	UrgentJob
	ResponseUrgentJob
	kinds
)

// Side is one of the two that talk.
type Side uint8

const (
	IScheduler Side = 1 + iota
	IHypervisor
)

const both = 1<<IScheduler | 1<<IHypervisor

// senders is the second column of figure 3.
var senders = [kinds]uint8{
	Initialise:               1 << IScheduler,
	ResponseInitialise:       1 << IHypervisor,
	Finalise:                 both,
	ResponseFinalise:         both,
	RequestResourceOffer:     1 << IScheduler,
	ResourceOffer:            1 << IHypervisor,
	ResponseResourceOffer:    1 << IScheduler,
	NegotiationStart:         1 << IScheduler,
	ResponseNegotiationStart: 1 << IHypervisor,
	NegotiationEnd:           both,
	ResponseNegotiationEnd:   both,
	StatusReport:             1 << IHypervisor,
	UrgentJob:                1 << IScheduler,
	ResponseUrgentJob:        1 << IHypervisor,
}

// SentBy tells whether a side may send messages of this kind (figure 3).
func (k Kind) SentBy(s Side) bool { return k < kinds && senders[k]>>s&1 == 1 }

// Outcome says why a negotiation ends.
type Outcome uint8

const (
	// Agreed: the mapping was accepted; its jobs are the iHypervisor's now.
	Agreed Outcome = 1 + iota
	// QueueEmpty: the iScheduler has no job for the offer; it will ask when it has (figure 6).
	QueueEmpty
	// Closing: the sender is about to finalise; nothing was accepted.
	Closing
	outcomes
)

// Bounds of a message.
const (
	MaxAttempts = 1000
	MaxTimer    = 24 * time.Hour
	MaxJobs     = 1 << 14 // jobs that a message may name
	MaxParts    = 1 << 16 // nodes that a message may name, all jobs together
	MaxText     = 256     // bytes of words for people
)

// A Message is what goes between the two sides. Which fields count is said at each; Check
// holds the others to zero.
type Message struct {
	Kind Kind
	// Transaction counts those of a session from 1, Attempt the offers of one from 1:
	// ResourceOffer, ResponseResourceOffer, NegotiationEnd and its response.
	Transaction, Attempt uint32
	// Accept is the answer of ResponseInitialise, ResponseResourceOffer and ResponseUrgentJob. The
	// iHypervisor accepts a mapping by a NegotiationEnd, and rejects it by its next ResourceOffer.
	Accept bool
	// Outcome is that of NegotiationEnd.
	Outcome Outcome
	// Pending is the iScheduler's number of waiting jobs: NegotiationStart, RequestResourceOffer,
	// ResponseNegotiationEnd.
	Pending uint32
	// Acks are jobs whose end the iScheduler has saved, and the iHypervisor may forget: all the
	// iScheduler's messages of a negotiation.
	Acks []JobID
	// Terms are those of Initialise and its response.
	Terms *Terms
	// Known are all jobs that the iHypervisor knows of: ResponseInitialise, StatusReport.
	Known []JobStatus
	// Load is that of StatusReport.
	Load *Load
	// Offer is that of ResourceOffer.
	Offer *Offer
	// Map is Map:Jobs->Offers (section 2.3) of an accepting ResponseResourceOffer; it may be empty.
	Map []Mapping
	// Job is that of UrgentJob.
	Job *Job
	// ID is the job that a ResponseUrgentJob answers for.
	ID JobID
	// Text says why in words, for logs.
	Text string
}

// Terms are what initialisation agrees on (section 3.2).
type Terms struct {
	// MinVersion to MaxVersion are the protocol's versions that a side speaks; in an accepting
	// response both are the one that is spoken.
	MinVersion, MaxVersion uint32
	// Attempts is the number of offers after which both must accept. The lower wish counts.
	Attempts uint32
	// Reply is how long an answer may take, Report the time between two status reports.
	// The longer wish counts.
	Reply, Report time.Duration
	// Partition is the iHypervisor's.
	Partition Partition
	// Shrink is the delay with which the iHypervisor offers cores that malleable jobs have to let
	// go of first, 0 if it doesn't tell: ResponseInitialise.
	Shrink time.Duration
}

// A Partition is nodes of one kind. Cores count through: those of node n begin at n *
// Sockets * CoresPerSocket.
type Partition struct {
	Name                           string
	Nodes, Sockets, CoresPerSocket uint32
}

// Cores is the number of all cores, at most MaxCores after Check.
func (p *Partition) Cores() uint64 {
	return uint64(p.Nodes) * uint64(p.Sockets) * uint64(p.CoresPerSocket)
}

// JobState is where a job is at the iHypervisor.
type JobState uint8

const (
	// Accepted jobs wait for their cores: those of a virtual offer, or cores that an
	// urgent job has taken.
	Accepted JobState = 1 + iota
	Running
	// Suspended jobs run but have no core at the moment.
	Suspended
	// Done jobs have ended; they are reported until the iScheduler acknowledges it.
	Done
	jobStates
)

// A JobStatus is one line of a report.
type JobStatus struct {
	ID    JobID
	State JobState
	Cores uint32 // that it has
	Exit  int32  // its exit status, once it is Done
}

// Load is the rest of a report: the latest view of the partition (section 3.2).
type Load struct {
	FreeCores uint32
	// Busy is the mean share of busy cores since the report before, in thousandths.
	Busy uint32
	// Ended is the number of jobs that have ended since then, Wait the mean time from
	// acceptance to start of those that started, in milliseconds.
	Ended, Wait uint32
}

// An Offer is resources that a mapping may use, as nodes and numbers of cores: the iScheduler
// decides by nodes, the iHypervisor by cores and sockets (section 3.3).
type Offer struct {
	Parts []Part
	// Jobs is the most that the mapping may name.
	Jobs uint32
}

// A Part is cores of a node. A node may come more than once, with different delays.
type Part struct {
	Node, Cores uint32
	// Delay is 0 for resources that are free, otherwise the seconds after which they are
	// expected to be: a virtual offer (section 2.3). In a Mapping it is 0.
	Delay uint32
}

// Virtual tells whether any part of the offer is not there yet.
func (o *Offer) Virtual() bool {
	for _, p := range o.Parts {
		if p.Delay > 0 {
			return true
		}
	}
	return false
}

// A Mapping puts a job onto nodes of an offer.
type Mapping struct {
	Job   *Job
	Parts []Part
}

// Covers tells whether a mapping stays within the offer, names each job once, and gives
// each what it can use.
func (o *Offer) Covers(m []Mapping) bool {
	if uint64(len(m)) > uint64(o.Jobs) {
		return false
	}
	left := make(map[uint32]uint64, len(o.Parts))
	for _, p := range o.Parts {
		left[p.Node] += uint64(p.Cores)
	}
	seen := make(map[JobID]bool, len(m))
	for _, e := range m {
		if seen[e.Job.ID] || !e.fits() {
			return false
		}
		seen[e.Job.ID] = true
		for _, p := range e.Parts {
			if left[p.Node] < uint64(p.Cores) {
				return false
			}
			left[p.Node] -= uint64(p.Cores)
		}
	}
	return true
}

func (e *Mapping) fits() bool {
	var cores uint64
	nodes := make(map[uint32]bool, len(e.Parts))
	for _, p := range e.Parts {
		cores += uint64(p.Cores)
		nodes[p.Node] = true
	}
	j, n := e.Job, uint64(len(nodes))
	return cores >= uint64(j.MinCores) && cores <= uint64(j.MaxCores) &&
		n >= uint64(j.MinNodes) && (j.MaxNodes == 0 || n <= uint64(j.MaxNodes))
}
