// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"strconv"
	"strings"
)

// Words is a line for people about a message that goes from one side: an arrow, its kind as in
// figure 3, and what it says. It has neither times nor commands.
func (m *Message) Words(from Side) string {
	var b strings.Builder
	b.WriteString("iScheduler -> iHypervisor")
	if from == IHypervisor {
		b.Reset()
		b.WriteString("iScheduler <- iHypervisor")
	}
	fmt.Fprintf(&b, "  %v", m.Kind)
	if m.Transaction > 0 {
		fmt.Fprintf(&b, " %d.%d", m.Transaction, m.Attempt)
	}
	if t := m.Terms; t != nil {
		fmt.Fprintf(&b, " version %d-%d, %d attempts", t.MinVersion, t.MaxVersion, t.Attempts)
		if t.Partition.Nodes > 0 {
			fmt.Fprintf(&b, ", partition %s of %d cores", t.Partition.Name, t.Partition.Cores())
		}
	}
	m.answer(&b, from)
	m.contents(&b)
	if len(m.Acks) > 0 {
		fmt.Fprintf(&b, ", acknowledges %v", m.Acks)
	}
	if m.Text != "" {
		fmt.Fprintf(&b, " (%s)", m.Text)
	}
	return b.String()
}

// answer says what the message decides.
func (m *Message) answer(b *strings.Builder, from Side) {
	switch m.Kind {
	case ResponseInitialise, ResponseResourceOffer, ResponseUrgentJob:
		if m.Accept {
			b.WriteString(", accepted")
		} else {
			b.WriteString(", rejected")
		}
	case NegotiationStart, RequestResourceOffer, ResponseNegotiationEnd:
		if from == IScheduler {
			fmt.Fprintf(b, ", %d waiting", m.Pending)
		}
	case NegotiationEnd:
		fmt.Fprintf(b, ", %v", m.Outcome)
	}
}

// contents are its offer, its mapping and its jobs.
func (m *Message) contents(b *strings.Builder) {
	if m.Offer != nil {
		for _, part := range m.Offer.Parts {
			fmt.Fprintf(b, ", %d cores", part.Cores)
			if part.Delay > 0 {
				fmt.Fprintf(b, " in %d s", part.Delay)
			}
		}
	}
	for _, e := range m.Map {
		var cores uint64
		for _, part := range e.Parts {
			cores += uint64(part.Cores)
		}
		fmt.Fprintf(b, ", job %d on %d cores", e.Job.ID, cores)
	}
	if m.Job != nil {
		fmt.Fprintf(b, ", job %d", m.Job.ID)
	}
	if m.ID != 0 {
		fmt.Fprintf(b, ", job %d", m.ID)
	}
	for _, k := range m.Known {
		fmt.Fprintf(b, ", job %d %v", k.ID, k.State)
	}
}

// Words is a line for people about a record.
func (r *Record) Words() string {
	switch r.Op {
	case Add:
		return fmt.Sprintf("job %d is kept", r.Job.ID)
	case Own:
		return fmt.Sprintf("job %d owns cores %s", r.ID, ranges(r.Cores))
	case End:
		return fmt.Sprintf("job %d ended with %d", r.ID, r.Exit)
	}
	return fmt.Sprintf("job %d is forgotten", r.ID)
}

// Words is a line for people about an action that no message and no record tells of, otherwise "".
func (a *Action) Words() string {
	switch a.Kind {
	case Reclaim:
		how := [...]string{Shrink: "is asked for", Suspend: "is suspended on", Kill: "is ended on"}
		return fmt.Sprintf("job %d %s cores %s", a.ID, how[a.How], ranges(a.Cores))
	case Cancelled:
		return fmt.Sprintf("job %d is cancelled", a.ID)
	case Violated:
		return "out of turn: " + a.Msg.Kind.String()
	case Failed:
		return "failed: " + a.Text
	}
	return ""
}

// ranges writes ascending numbers as 0-2,5, and none as "none".
func ranges(cores []uint32) string {
	var list []string
	for i := 0; i < len(cores); {
		first := i
		for i++; i < len(cores) && cores[i] == cores[i-1]+1; i++ {
		}
		text := strconv.FormatUint(uint64(cores[first]), 10)
		if i-first > 1 {
			text += "-" + strconv.FormatUint(uint64(cores[i-1]), 10)
		}
		list = append(list, text)
	}
	if list == nil {
		return "none"
	}
	return strings.Join(list, ",")
}
