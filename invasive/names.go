// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "strconv"

var kindNames = [kinds]string{
	Initialise: "INITIALISE", ResponseInitialise: "RESPONSE_INITIALISE",
	Finalise: "FINALISE", ResponseFinalise: "RESPONSE_FINALISE",
	RequestResourceOffer: "REQUEST_RESOURCE_OFFER", ResourceOffer: "RESOURCE_OFFER",
	ResponseResourceOffer: "RESPONSE_RESOURCE_OFFER",
	NegotiationStart:      "NEGOTIATION_START", ResponseNegotiationStart: "RESPONSE_NEGOTIATION_START",
	NegotiationEnd: "NEGOTIATION_END", ResponseNegotiationEnd: "RESPONSE_NEGOTIATION_END",
	StatusReport: "STATUS_REPORT", UrgentJob: "URGENT_JOB", ResponseUrgentJob: "RESPONSE_URGENT_JOB",
}

// String is the message's name in figure 3.
func (k Kind) String() string { return name(kindNames[:], uint8(k)) }

func (s Side) String() string {
	return name([]string{"", "iScheduler", "iHypervisor"}, uint8(s))
}

func (o Outcome) String() string {
	return name([]string{"", "agreed", "queue empty", "closing"}, uint8(o))
}

func (s JobState) String() string {
	return name([]string{"", "accepted", "running", "suspended", "done"}, uint8(s))
}

func (f Flex) String() string {
	return name([]string{"rigid", "moldable", "evolving", "malleable"}, uint8(f))
}

func (p Phase) String() string      { return name(phaseNames[:], uint8(p)) }
func (e EventKind) String() string  { return name(eventNames[:], uint8(e)) }
func (a ActionKind) String() string { return name(actionNames[:], uint8(a)) }

func name(names []string, i uint8) string {
	if int(i) < len(names) && names[i] != "" {
		return names[i]
	}
	return strconv.Itoa(int(i))
}
