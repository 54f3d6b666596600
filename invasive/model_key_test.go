// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "encoding/binary"

// key: the states of jobs in messages count only as far as the Agent looks at them, and fields of
// machines only in those phases in which a rule looks at them.
func (m *model) key() string {
	k := make([]byte, 0, 160)
	flags := []bool{m.linkA, m.linkH, m.broken, m.wants, m.timerA, m.timerH, m.final, m.offer, m.places}
	k = appendFlags(k, flags)
	k = append(k, m.submitted, m.ended, m.cancelled, m.launched, m.running, m.exited)
	k = append(append(k, m.used[:]...), m.asked[:]...)
	k = appendMessage(k, m.decision)
	k = appendMessage(k, m.verdict)
	for _, j := range m.urgent {
		k = append(k, byte(j.ID))
	}
	for _, c := range [2]*channel{&m.toA, &m.toH} {
		for _, lane := range c {
			k = append(k, 0xfe, byte(len(lane)))
			for _, msg := range lane {
				k = appendMessage(k, msg)
			}
		}
	}
	for _, saved := range [2][]Saved{m.aSaved, m.hSaved} {
		k = append(k, 0xfd)
		for _, s := range saved {
			k = append(k, byte(s.Job.ID), byte(s.State), mask(s.Cores))
		}
	}
	k = appendAgent(k, m.a)
	k = appendHypervisor(k, m.h)
	return string(append(k, m.wrong...))
}

func appendFlags(k []byte, flags []bool) []byte {
	var n uint32
	for i, f := range flags {
		if f {
			n |= 1 << i
		}
	}
	return binary.LittleEndian.AppendUint16(k, uint16(n))
}

func appendMessage(k []byte, m *Message) []byte {
	if m == nil {
		return append(k, 0)
	}
	k = appendFlags(append(k, byte(m.Kind), byte(m.Transaction), byte(m.Attempt),
		byte(m.Outcome), byte(m.Pending), byte(m.ID)), []bool{m.Accept})
	if m.Kind == Initialise {
		k = append(k, byte(m.Terms.MinVersion))
	}
	k = append(k, byte(len(m.Acks)))
	for _, id := range m.Acks {
		k = append(k, byte(id))
	}
	k = append(k, byte(len(m.Known)))
	for _, s := range m.Known {
		k = append(k, byte(s.ID), b2i(s.State == Done))
	}
	k = appendOffer(k, m.Offer)
	k = append(k, byte(len(m.Map)))
	for _, e := range m.Map {
		k = append(k, byte(e.Job.ID), byte(e.Parts[0].Cores))
	}
	if m.Job != nil {
		k = append(k, byte(m.Job.ID))
	}
	return k
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendOffer(k []byte, o *Offer) []byte {
	if o == nil {
		return append(k, 0)
	}
	k = append(k, byte(len(o.Parts))+1, byte(o.Jobs))
	for _, p := range o.Parts {
		k = append(k, byte(p.Cores), byte(p.Delay))
	}
	return k
}

func appendAgent(k []byte, a *Agent) []byte {
	if a == nil {
		return append(k, 0xff)
	}
	k = appendFlags(append(k, byte(a.phase), byte(a.transaction), byte(a.attempt)),
		[]bool{a.armed, a.accepted, a.told && a.phase == Starting, a.finishing && a.phase != Off})
	k = appendOffer(k, a.offer)
	for _, e := range a.jobs {
		k = append(k, byte(e.job.ID), byte(e.at), b2i(e.refused))
	}
	k = append(k, 0xff, byte(len(a.acks)))
	for _, id := range a.acks {
		k = append(k, byte(id))
	}
	return k
}

func appendHypervisor(k []byte, h *Hypervisor) []byte {
	if h == nil {
		return append(k, 0xff)
	}
	k = appendFlags(append(k, byte(h.phase), byte(h.transaction), byte(h.attempt)), []bool{h.armed, h.finishing && h.phase != Off})
	k = append(appendOffer(k, h.offer), byte(len(h.mapping)))
	for _, e := range h.mapping {
		k = append(k, byte(e.Job.ID))
	}
	for _, j := range h.jobs {
		k = append(k, byte(j.job.ID), byte(j.state), mask(j.cores), mask(j.taking))
	}
	k = append(k, 0xff)
	for _, j := range h.urgent {
		k = append(k, byte(j.ID))
	}
	for _, o := range h.owner {
		k = append(k, byte(o))
	}
	return k
}
