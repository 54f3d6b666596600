// SPDX-License-Identifier: BSD-3-Clause

package invasive

import "fmt"

func (m *model) next(visit func(string, world)) {
	m.faults(visit)
	m.network(visit)
	if m.a != nil {
		m.agentSteps(visit)
	}
	if m.h != nil {
		m.hyperSteps(visit)
	}
}

func (m *model) faults(visit func(string, world)) {
	plain := func(label string, change func(*model)) {
		c := m.clone()
		change(c)
		visit(label, c)
	}
	if m.b.crash && m.a != nil {
		plain("A crashes", func(c *model) { c.crash(true) })
	}
	if m.b.crash && m.h != nil {
		plain("H crashes", func(c *model) { c.crash(false) })
	}
	if m.a == nil {
		plain("A starts", (*model).bootA)
	}
	if m.h == nil {
		plain("H starts", (*model).bootH)
	}
	if m.b.loss && (m.linkA || m.linkH) && !m.broken {
		plain("the connection breaks", func(c *model) { c.broken = true })
	}
	if m.b.finish && m.a != nil {
		m.startOrFinish(visit, m.a.phase, "A", m.stepA)
	}
	if m.b.finish && m.h != nil {
		m.startOrFinish(visit, m.h.phase, "H", m.stepH)
	}
}

func (m *model) startOrFinish(visit func(string, world), p Phase, who string, step func(string, Event, func(string, world), func(*model))) {
	if p == Off {
		step(who+" starts again", Event{Kind: Start}, visit, nil)
		return
	}
	step(who+" finishes", Event{Kind: Finish}, visit, nil)
}

// network connects, delivers, and tells of losses.
func (m *model) network(visit func(string, world)) {
	if m.wants && m.a != nil && m.a.phase == Connecting && m.h != nil && m.h.phase != Off {
		c := m.clone()
		if c.linkH {
			c.act(false, c.h.Step(&Event{Kind: Lost}, nil), -1)
		}
		c.toA, c.toH, c.broken, c.wants = channel{}, channel{}, false, false
		if c.h.phase == Listening {
			c.linkA, c.linkH = true, true
			c.act(false, c.h.Step(&Event{Kind: Connected}, nil), -1)
			c.act(true, c.a.Step(&Event{Kind: Connected}, nil), -1)
			visit("they connect", c)
		}
	}
	for lane := range laneCount {
		if m.linkA && len(m.toA[lane]) > 0 {
			msg := m.toA[lane][0]
			m.stepA("A gets "+msg.Kind.String(), Event{Kind: sends(msg.Kind), Msg: msg},
				visit, func(c *model) { c.toA[lane] = c.toA[lane][1:] })
		}
		if m.linkH && len(m.toH[lane]) > 0 {
			msg := m.toH[lane][0]
			m.stepH("H gets "+msg.Kind.String(), Event{Kind: sends(msg.Kind), Msg: msg},
				visit, func(c *model) { c.toH[lane] = c.toH[lane][1:] })
		}
	}
	if m.tells(m.linkA, m.linkH, m.toA) {
		m.stepA("A sees the loss", Event{Kind: Lost}, visit, func(c *model) { c.closeSide(true) })
	}
	if m.tells(m.linkH, m.linkA, m.toH) {
		m.stepH("H sees the loss", Event{Kind: Lost}, visit, func(c *model) { c.closeSide(false) })
	}
	if m.b.loss && !m.b.noTimers {
		if m.timerA && m.linkA {
			m.stepA("A's timer", Event{Kind: Timeout}, visit, func(c *model) { c.timerA = false })
		}
		if m.timerH && m.linkH {
			m.stepH("H's timer", Event{Kind: Timeout}, visit, func(c *model) { c.timerH = false })
		}
	}
}

// tells: a side learns of a loss at any time, and of a close after all that was sent.
func (m *model) tells(its, others bool, rest channel) bool {
	empty := len(rest[0])+len(rest[1])+len(rest[2]) == 0
	return its && !m.b.halfOpen && (m.broken || !others && empty)
}

func (m *model) agentSteps(visit func(string, world)) {
	for i, j := range m.b.jobs {
		if m.submitted>>i&1 == 0 {
			m.stepA(fmt.Sprintf("job %d is submitted", j.ID), Event{Kind: Submit, Job: j}, visit, nil)
			break // in this order
		}
	}
	if j := m.b.jobs[0]; m.b.cancel && (m.submitted&^m.ended&^m.cancelled)&1 == 1 {
		m.stepA(fmt.Sprintf("job %d is cancelled", j.ID), Event{Kind: Cancel, ID: j.ID}, visit, nil)
	}
	if m.decision == nil {
		return
	}
	answer := func(label string, ev Event) {
		ev.Kind = Decided
		m.stepA(label, ev, visit, func(c *model) { c.decision, c.final = nil, false })
	}
	if !m.final {
		answer("A's decider rejects", Event{})
	}
	all := m.fill(m.a.Queue(nil))
	if len(all) > 0 || m.final || m.a.phase != Deciding {
		answer("A's decider maps", Event{Accept: true, Map: all})
	}
	if len(all) > 1 {
		answer("A's decider maps one", Event{Accept: true, Map: all[:1]})
	}
}

// fill maps jobs in order, as long as they fit.
func (m *model) fill(queue []*Job) (all []Mapping) {
	left := m.decision.Offer.Parts[0].Cores
	for _, j := range queue {
		if j.MinCores <= left {
			left -= j.MinCores
			all = append(all, Mapping{j, []Part{{Cores: j.MinCores}}})
		}
	}
	return all
}

func (m *model) hyperSteps(visit func(string, world)) {
	for i, j := range m.b.jobs {
		if m.running>>i&1 == 1 {
			m.stepH(fmt.Sprintf("job %d exits", j.ID), Event{Kind: Exited, ID: j.ID}, visit, func(c *model) {
				c.running &^= 1 << i
				c.exited |= 1 << i
				c.used[i], c.asked[i] = 0, 0
			})
		}
		if cores := m.asked[i] & m.used[i]; cores != 0 {
			m.stepH(fmt.Sprintf("job %d lets go", j.ID), Event{Kind: Released, ID: j.ID, Cores: unmask(cores)}, visit, func(c *model) {
				c.used[i] &^= cores
				c.asked[i] = 0
			})
		}
	}
	// A report that is under way already says nothing new, at most one is.
	if reports := len(m.toA[laneCount-1]); m.b.report && m.linkH && reports == 0 && (m.b.lanes || len(m.toA[0]) < 2) {
		m.stepH("H's report is due", Event{Kind: ReportDue, Load: &Load{}}, visit, nil)
	}
	if m.offer {
		var delay uint32
		for _, o := range m.h.owner {
			if o != 0 {
				delay = 1
			}
		}
		offer := &Offer{Parts: []Part{{Cores: m.b.cores, Delay: delay}}, Jobs: uint32(len(m.b.jobs))}
		m.stepH("H makes an offer", Event{Kind: OfferMade, Offer: offer}, visit, func(c *model) { c.offer = false })
	}
	if m.verdict != nil {
		for _, yes := range []bool{true, false} {
			m.stepH(fmt.Sprintf("H's verdict %v", yes), Event{Kind: Verdict, Accept: yes}, visit, func(c *model) { c.verdict = nil })
		}
	}
	if len(m.urgent) > 0 {
		for _, yes := range []bool{true, false} {
			m.stepH(fmt.Sprintf("H's verdict on urgent %v", yes),
				Event{Kind: UrgentVerdict, ID: m.urgent[0].ID, Accept: yes}, visit,
				func(c *model) { c.urgent = c.urgent[1:] })
		}
	}
	if m.places {
		m.placing(visit)
	}
}

// placing asks plan, and a hasty decider.
func (m *model) placing(visit func(string, world)) {
	if label, ev := m.plan(); label != "" {
		m.stepH(label, ev, visit, nil)
	}
	for _, j := range m.h.Jobs(nil) {
		if m.b.hasty && j.State == Accepted {
			m.stepH("H places hastily", Event{Kind: Place, ID: j.Job.ID, Cores: []uint32{0, 1}[:j.Job.MinCores]}, visit, nil)
		}
	}
}

// plan gives free cores to the first waiting job, urgent ones before others, or takes cores for it.
// It returns "" if there is nothing to do.
func (m *model) plan() (string, Event) {
	var free []uint32
	for c, o := range m.h.owner {
		if o == 0 {
			free = append(free, uint32(c))
		}
	}
	jobs := m.h.Jobs(nil)
	var wait *Held
	for i := range jobs {
		if j := &jobs[i]; j.State == Accepted && (wait == nil || j.Job.Urgent && !wait.Job.Urgent) {
			wait = j
		}
	}
	if wait != nil && len(free) >= int(wait.Job.MinCores) {
		return "H places", Event{Kind: Place, ID: wait.Job.ID, Cores: free[:min(len(free), int(wait.Job.MaxCores))]}
	}
	for _, j := range jobs {
		if j.Job.Flex != Malleable || j.State != Running {
			continue
		}
		spare := len(j.Cores) - int(j.Job.MinCores)
		if wait != nil && wait.Job.Urgent && spare > 0 && len(j.Taking) == 0 {
			return "H takes a core", Event{Kind: Take, ID: j.Job.ID, Cores: j.Cores[:1], How: Shrink}
		}
		if m.b.grow && wait == nil && len(free) > 0 && len(j.Cores) < int(j.Job.MaxCores) {
			return "H gives a core", Event{Kind: Give, ID: j.Job.ID, Cores: free[:1]}
		}
	}
	return "", Event{}
}

// settle: a decider that finds nothing to do waits for the next AskPlace.
func (m *model) settle() {
	if m.h == nil || !m.places || m.b.hasty {
		return
	}
	if label, _ := m.plan(); label == "" {
		m.places = false
	}
}
