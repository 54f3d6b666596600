// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"time"
	"unicode/utf8"
)

// Check returns an error of type *FieldError if a field is out of its range or doesn't belong to
// the message's kind. It doesn't look at who sent it, nor whether it is its turn.
func (m *Message) Check() error {
	if m.Kind == 0 || m.Kind >= kinds {
		return bad("kind", uint64(m.Kind))
	}
	if len(m.Text) > MaxText || !utf8.ValidString(m.Text) {
		return bad("text", uint64(len(m.Text)))
	}
	if err := m.checkPresence(); err != nil {
		return err
	}
	for _, check := range [...]func(*Message) error{checkNumbers, checkTerms, checkKnown, checkOffer, checkMap} {
		if err := check(m); err != nil {
			return err
		}
	}
	if m.Job != nil {
		return m.Job.Check()
	}
	return nil
}

// fields says which fields the kinds have.
const (
	hasTurn = 1 << iota
	hasOutcome
	hasPending
	hasAcks
	hasTerms
	hasKnown
	hasLoad
	hasOffer
	hasMap
	hasJob
	hasID
	hasAccept
)

var fields = [kinds]uint16{
	Initialise:             hasTerms,
	ResponseInitialise:     hasTerms | hasKnown | hasAccept,
	RequestResourceOffer:   hasPending | hasAcks,
	ResourceOffer:          hasTurn | hasOffer,
	ResponseResourceOffer:  hasTurn | hasMap | hasAcks | hasAccept,
	NegotiationStart:       hasPending | hasAcks,
	NegotiationEnd:         hasTurn | hasOutcome | hasAcks,
	ResponseNegotiationEnd: hasTurn | hasPending | hasAcks,
	StatusReport:           hasKnown | hasLoad,
	UrgentJob:              hasJob,
	ResponseUrgentJob:      hasID | hasAccept,
}

func (m *Message) checkPresence() error {
	has := fields[m.Kind]
	for _, f := range [...]struct {
		bit      uint16
		name     string
		is, must bool
	}{
		{hasTurn, "transaction", m.Transaction != 0, true},
		{hasTurn, "attempt", m.Attempt != 0, true},
		{hasOutcome, "outcome", m.Outcome != 0, true},
		{hasPending, "pending", m.Pending != 0, false},
		{hasAcks, "acks", len(m.Acks) != 0, false},
		{hasTerms, "terms", m.Terms != nil, true},
		{hasKnown, "known", len(m.Known) != 0, false},
		{hasLoad, "load", m.Load != nil, true},
		{hasOffer, "offer", m.Offer != nil, true},
		{hasMap, "map", len(m.Map) != 0, false},
		{hasJob, "job", m.Job != nil, true},
		{hasID, "id", m.ID != 0, true},
		{hasAccept, "accept", m.Accept, false},
	} {
		if f.is && has&f.bit == 0 || !f.is && f.must && has&f.bit != 0 {
			return bad(f.name, map[bool]uint64{true: 1}[f.is])
		}
	}
	return nil
}

func checkNumbers(m *Message) error {
	switch {
	case m.Attempt > MaxAttempts:
		return bad("attempt", uint64(m.Attempt))
	case m.Outcome >= outcomes:
		return bad("outcome", uint64(m.Outcome))
	case len(m.Acks) > MaxJobs:
		return bad("acks", uint64(len(m.Acks)))
	case m.Load != nil && m.Load.FreeCores > MaxCores:
		return bad("load.free_cores", uint64(m.Load.FreeCores))
	case m.Load != nil && m.Load.Busy > 1000:
		return bad("load.busy", uint64(m.Load.Busy))
	}
	for _, id := range m.Acks {
		if id == 0 {
			return bad("acks", 0)
		}
	}
	return nil
}

func checkTerms(m *Message) error {
	t := m.Terms
	if t == nil {
		return nil
	}
	asks := m.Kind == Initialise
	p := &t.Partition
	switch {
	case t.MinVersion == 0:
		return bad("terms.min_version", 0)
	case t.MaxVersion < t.MinVersion, m.Kind == ResponseInitialise && m.Accept && t.MaxVersion != t.MinVersion:
		return bad("terms.max_version", uint64(t.MaxVersion))
	case t.Attempts == 0 || t.Attempts > MaxAttempts:
		return bad("terms.attempts", uint64(t.Attempts))
	case t.Reply < time.Millisecond || t.Reply > MaxTimer:
		return bad("terms.reply_ms", uint64(t.Reply.Milliseconds()))
	case t.Report < time.Millisecond || t.Report > MaxTimer:
		return bad("terms.report_ms", uint64(t.Report.Milliseconds()))
	case asks && *p != Partition{}:
		return bad("terms.partition", 1)
	case t.Shrink < 0 || t.Shrink > MaxTimer || asks && t.Shrink != 0:
		return bad("terms.shrink_ms", uint64(t.Shrink.Milliseconds()))
	case asks:
		return nil
	case len(p.Name) > MaxText || !utf8.ValidString(p.Name):
		return bad("terms.partition.name", uint64(len(p.Name)))
	}
	for _, n := range [...]uint32{p.Nodes, p.Sockets, p.CoresPerSocket} {
		if n == 0 || n > MaxCores || uint64(p.Nodes)*uint64(p.Sockets) > MaxCores || p.Cores() > MaxCores {
			return bad("terms.partition", uint64(n))
		}
	}
	return nil
}

func checkKnown(m *Message) error {
	if len(m.Known) > MaxJobs {
		return bad("known", uint64(len(m.Known)))
	}
	for _, k := range m.Known {
		switch {
		case k.ID == 0:
			return bad("known.id", 0)
		case k.State == 0 || k.State >= jobStates:
			return bad("known.state", uint64(k.State))
		case k.Cores > MaxCores:
			return bad("known.cores", uint64(k.Cores))
		}
	}
	return nil
}

func checkOffer(m *Message) error {
	o := m.Offer
	if o == nil {
		return nil
	}
	if o.Jobs > MaxJobs {
		return bad("offer.jobs", uint64(o.Jobs))
	}
	if len(o.Parts) > MaxParts {
		return bad("offer.parts", uint64(len(o.Parts)))
	}
	return checkParts("offer", o.Parts, MaxSeconds)
}

func checkMap(m *Message) error {
	if len(m.Map) > MaxJobs {
		return bad("map", uint64(len(m.Map)))
	}
	if len(m.Map) > 0 && !m.Accept {
		return bad("accept", 0)
	}
	parts := 0
	for _, e := range m.Map {
		if e.Job == nil {
			return bad("map.job", 0)
		}
		if err := e.Job.Check(); err != nil {
			return err
		}
		if parts += len(e.Parts); len(e.Parts) == 0 || parts > MaxParts {
			return bad("map.parts", uint64(parts))
		}
		if err := checkParts("map", e.Parts, 0); err != nil {
			return err
		}
	}
	return nil
}

func checkParts(of string, parts []Part, delay uint32) error {
	for _, p := range parts {
		switch {
		case p.Node >= MaxCores:
			return bad(of+".parts.node", uint64(p.Node))
		case p.Cores == 0 || p.Cores > MaxCores:
			return bad(of+".parts.cores", uint64(p.Cores))
		case p.Delay > delay:
			return bad(of+".parts.delay_s", uint64(p.Delay))
		}
	}
	return nil
}
