// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "time"

// An EventKind is what can happen to a machine: a message that has come in, whose Kind is its
// EventKind, or one of those below.
type EventKind uint8

const (
	// Start is the wish to talk to the other side, Finish the wish to end in order.
	Start EventKind = EventKind(kinds) + iota
	Finish
	// Connected is a connection that stands, Lost one that broke, or that couldn't be made.
	Connected
	Lost
	// Timeout is the timer of the last SetTimer.
	Timeout

	// Submit hands Event.Job to the Agent. Cancel takes the job ID back, if it waits and a session
	// tells that the iHypervisor doesn't have it; otherwise nothing happens.
	Submit
	Cancel
	// Decided answers AskDecision: Accept with a Map, or not.
	Decided

	// OfferMade answers AskOffer with an Offer.
	OfferMade
	// Verdict answers AskVerdict, UrgentVerdict answers AskUrgent for ID.
	Verdict
	UrgentVerdict
	// ReportDue asks the Hypervisor for a status report, with a Load.
	ReportDue
	// Place starts the accepted job ID on Cores, Give gives more Cores to a running job, Take asks
	// it, in the way of How, to let go of Cores.
	Place
	Give
	Take
	// Released says that ID has let go of Cores, Kept that it won't; Exited that it
	// has ended with Exit.
	Released
	Kept
	Exited
	events
)

// An Event is what happens to a machine. The machine keeps what its fields point to.
type Event struct {
	Kind   EventKind
	Msg    *Message // of a message
	Job    *Job
	ID     JobID
	Accept bool
	Map    []Mapping
	Offer  *Offer
	Load   *Load
	Cores  []uint32 // ascending
	How    How
	Exit   int32
	Text   string // says why, to people at the other side; at most MaxText bytes
}

// How says in which way cores are taken from a job (section 3.2, urgent jobs).
type How uint8

const (
	// Shrink leaves the job as many cores as it needs, Suspend and Kill take all.
	Shrink How = 1 + iota
	Suspend
	Kill
)

// An ActionKind is what a machine wants done.
type ActionKind uint8

const (
	// Send sends Msg; Close closes the connection after what was sent.
	Send ActionKind = 1 + iota
	Close
	// Connect makes a connection, after a pause that grows with each failure; Listen waits for one.
	Connect
	Listen
	// Save writes Record so that it survives a crash.
	Save
	// SetTimer sets the machine's only timer anew, to After; StopTimer stops it.
	SetTimer
	StopTimer

	// AskDecision asks which jobs to map onto Msg.Offer; Final: the answer has to be a mapping.
	AskDecision
	// Ended tells that a job ended with Exit. After a crash it may be told again. Cancelled tells
	// that the job ID was taken back.
	Ended
	Cancelled

	// AskOffer asks for an offer. If Prompt, the other side is waiting for it, and it must come
	// now, as a virtual one if need be; otherwise when there is something new to offer.
	AskOffer
	// AskVerdict asks whether to accept Msg.Map, AskUrgent whether to accept Job.
	AskVerdict
	AskUrgent
	// AskPlace asks for any number of Place, Give and Take: the accepted jobs, or the free
	// cores, have changed.
	AskPlace
	// Launch starts Job on Cores; Grow gives it more Cores, Reclaim asks it for Cores
	// back, in the way of How.
	Launch
	Grow
	Reclaim
	// Forget tells that nothing more needs to be known of the job ID.
	Forget

	// Stopped tells that the machine has ended in order; Failed that it can't go on,
	// for the reason of Text.
	Stopped
	Failed
	// Violated tells, before the Close, that the other side sent Msg out of turn.
	Violated
	actions
)

// An Action is what a machine wants done. See the package's comment for the order. What its fields
// point to is never changed.
type Action struct {
	Kind   ActionKind
	Msg    *Message
	Record Record
	Job    *Job
	ID     JobID
	Cores  []uint32
	How    How
	After  time.Duration
	Final  bool
	Prompt bool
	Exit   int32
	Text   string
}

var eventNames = [events]string{
	Start: "start", Finish: "finish", Connected: "connected", Lost: "connection lost", Timeout: "timeout",
	Submit: "job submitted", Cancel: "job cancelled", Decided: "decided", OfferMade: "offer made", Verdict: "verdict",
	UrgentVerdict: "urgent verdict", ReportDue: "report due", Place: "place", Give: "give", Take: "take",
	Released: "released", Kept: "kept", Exited: "job exited",
}

var actionNames = [actions]string{
	Send: "send", Close: "close", Connect: "connect", Listen: "listen", Save: "save",
	SetTimer: "set timer", StopTimer: "stop timer", AskDecision: "ask decision", Ended: "job ended", Cancelled: "job cancelled",
	AskOffer: "ask offer", AskVerdict: "ask verdict", AskUrgent: "ask urgent", AskPlace: "ask place",
	Launch: "launch", Grow: "grow", Reclaim: "reclaim", Forget: "forget", Stopped: "stopped", Failed: "failed",
	Violated: "violated",
}

func init() {
	for k := Initialise; k < kinds; k++ {
		eventNames[k] = k.String()
	}
}
