package partition

import (
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// makeOffer offers what this attempt shows: see the package's comment. The ledger has been read.
func (m *Manager) makeOffer(now time.Duration) invasive.Event {
	m.place(now, nil) // what waiting jobs need is not on offer
	m.attempt++
	m.offer = &invasive.Offer{Jobs: m.set.OfferJobs}
	ev := invasive.Event{Kind: invasive.OfferMade, Offer: m.offer, Text: m.why}
	if m.blocking {
		ev.Text = "jobs wait for their cores"
		return ev
	}
	m.offerFree()
	if m.attempt > 1 || len(m.offer.Parts) == 0 {
		m.offerSurplus(now)
	}
	if m.attempt > 2 {
		m.offerExpected(now)
	}
	return ev
}

// headroom is how many watts more the partition may draw; a great number if there is no cap.
func (v *view) headroom() uint64 {
	if v.power.Cap == 0 {
		return 1 << 62
	}
	return uint64(v.power.Cap) - min(uint64(v.power.Cap), v.watts)
}

// offerFree adds the free cores, as far as there is power: those of nodes in use first.
func (m *Manager) offerFree() {
	v := m.view
	room := v.headroom()
	for _, idle := range [2]bool{false, true} {
		for n := range v.count {
			k, cost := uint64(v.count[n][free]), uint64(0)
			if k == 0 || (v.busy[n] == 0) != idle || m.compact && !idle {
				continue
			}
			if idle {
				cost = uint64(v.power.Node)
			}
			if v.power.Core > 0 {
				k = min(k, (room-min(room, cost))/uint64(v.power.Core))
			}
			if k > 0 && cost <= room {
				room -= cost + k*uint64(v.power.Core)
				m.addPart(n, uint32(k), 0)
			}
		}
	}
}

// offerSurplus adds what malleable jobs can do without, or have been asked for. It draws power already.
func (m *Manager) offerSurplus(now time.Duration) {
	for n, k := range m.surplusOf(now) {
		if k += uint32(m.view.count[n][coming]); k > 0 {
			m.addPart(n, k, m.set.Shrinking)
		}
	}
}

// surplusOf is how many cores of each node malleable jobs can do without.
func (m *Manager) surplusOf(now time.Duration) []uint32 {
	sum := make([]uint32, len(m.view.count))
	for _, r := range m.shrinkable(now) {
		for _, c := range r.cores {
			sum[m.view.node(c)]++
		}
	}
	return sum
}

// offerExpected adds the cores that jobs hold whose time limits tell when they will have ended, without those that
// were added before.
func (m *Manager) offerExpected(now time.Duration) {
	v := m.view
	for i := range v.jobs {
		j := &v.jobs[i]
		if j.State != invasive.Running || j.Job.Limit == 0 {
			continue
		}
		spare := m.spareCores(i, now)
		left := max(m.set.Shrinking, m.notes[i].started+time.Duration(j.Job.Limit)*time.Second-now)
		node, k := 0, uint32(0)
		for _, c := range j.Cores {
			if n := v.node(c); n != node {
				m.addPart(node, k, left)
				node, k = n, 0
			}
			if _, is := slices.BinarySearch(spare, c); !is && v.class[c] == kept {
				k++
			}
		}
		m.addPart(node, k, left)
	}
}

// addPart rounds a delay up to seconds; what isn't there has one of at least 1.
func (m *Manager) addPart(node int, cores uint32, delay time.Duration) {
	if cores == 0 || len(m.offer.Parts) == invasive.MaxParts {
		return
	}
	p := invasive.Part{Node: uint32(node), Cores: cores}
	if delay > 0 {
		p.Delay = uint32(min(max(1, (delay+time.Second-1)/time.Second), invasive.MaxSeconds))
	}
	m.offer.Parts = append(m.offer.Parts, p)
}
