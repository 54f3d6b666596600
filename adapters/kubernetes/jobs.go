// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
)

const (
	maxParts = 16 // of one job
	never    = core.NoTimeLimit * time.Second
	maxSizes = 4 // of an elastic group that are tried
)

// byKind are pods by kind, in the order of the first of each.
func byKind(pods []*pod) (parts [][]*pod) {
	at := make(map[string]int)
	for _, p := range pods {
		k, ok := at[p.kind]
		if !ok {
			k = len(parts)
			at[p.kind], parts = k, append(parts, nil)
		}
		parts[k] = append(parts[k], p)
	}
	return parts
}

// jobID is the id of the job of a group, or of a pod without one.
func jobID(p *pod) string {
	if p.group != "" {
		return "group " + p.group
	}
	return "pod " + p.name()
}

// addRunning has all bound pods of one group be one running job, which is stopped as a whole.
func (m *model) addRunning() {
	jobs := make(map[string][]*pod)
	for _, p := range m.bound {
		if m.ours(p.Pod) && m.byName[p.node] != nil {
			jobs[jobID(p)] = append(jobs[jobID(p)], p)
		}
	}
	for id, pods := range jobs {
		var parts []core.Start
		m.members[id] = byKind(pods)
		for _, pods := range m.members[id] {
			parts = append(parts, core.Start{Nodes: places(pods), Takes: m.takes(pods[0])})
		}
		s := parts[0]
		s.Components = parts[1:]
		s.Job, s.Begin, s.Class = id, pods[0].begin(), m.class(pods[0].priority())
		s.End = s.Begin.Add(limit(pods))
		if !m.protected(pods) {
			s.Price = int64(len(pods))
		}
		m.running[id] = s
	}
}

// places are the nodes of pods that are alike.
func places(pods []*pod) (all []core.Share) {
	on := make(map[string]int)
	for _, p := range pods {
		on[p.node]++
	}
	for _, name := range sorted(on) {
		all = append(all, core.Share{Node: name, Cores: on[name]})
	}
	return all
}

// begin is when the pod was bound.
func (p *pod) begin() time.Time {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return p.CreationTimestamp.Time
}

// limit is how long a job of the pods may run: as long as the longest.
func limit(pods []*pod) (longest time.Duration) {
	for _, p := range pods {
		if p.Spec.ActiveDeadlineSeconds == nil {
			return never
		}
		longest = max(longest, time.Duration(*p.Spec.ActiveDeadlineSeconds)*time.Second)
	}
	return cmp.Or(longest, time.Second)
}

// addWaiting has the pods that wait be jobs: as many of a group as have to start together, each one that
// is over, and each one without a group.
func (m *model) addWaiting() {
	groups, inGroup := make(map[string][]*pod), make(map[string][]*pod)
	for _, p := range m.bound {
		if p.group != "" && m.ours(p.Pod) && m.byName[p.node] != nil && !p.leaves {
			inGroup[p.group] = append(inGroup[p.group], p)
		}
	}
	for _, p := range m.pending {
		if p.group == "" {
			m.submit(jobID(p), []*pod{p}, 1, 0)
		} else {
			groups[p.group] = append(groups[p.group], p)
		}
	}
	for _, name := range sorted(groups) {
		pods, there := groups[name], inGroup[name]
		least := m.least(name, append(slices.Clone(there), pods...))
		need := least - len(there)
		switch {
		case len(pods) < need:
			for _, p := range pods {
				m.refused[p] = fmt.Sprintf("%d of the %d pods of group %s are there", len(pods)+len(there), least, name)
			}
		case need <= 0:
			for _, p := range pods {
				m.submit("pod "+p.name(), []*pod{p}, 1, 0)
			}
		default:
			id := jobID(pods[0])
			if _, runs := m.running[id]; runs { // some of its pods are there, or are ending
				id += " (missing pods)"
			}
			m.submit(id, pods, need, len(there))
		}
		if need > 0 && len(there) > 0 {
			m.broken[name] = there
		}
	}
	for name, there := range inGroup { // those whose other pods are not there
		if least := m.least(name, there); groups[name] == nil && least > len(there) {
			m.broken[name] = there
		}
	}
	slices.SortFunc(m.waiting, func(a, b core.JobSpec) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// least is how many pods of a group start together.
func (m *model) least(name string, pods []*pod) int {
	if n, ok := m.objects.Groups[name]; ok {
		return n
	}
	for _, p := range pods {
		if n := p.min(); n > 0 {
			return n
		}
	}
	return len(pods)
}

// submit has need of the pods, or more, be a job that waits. there are so many of the group already.
func (m *model) submit(id string, pods []*pod, need, there int) {
	refuse := func(why string) {
		for _, p := range pods {
			m.refused[p] = why
		}
	}
	for _, p := range pods {
		if p.refused != "" {
			refuse(p.refused)
			return
		}
		if len(p.rows) > 0 && !slices.ContainsFunc(m.rows, func(r row) bool { return r.name == p.rows[0].name }) {
			refuse("there are too many different resources and terms of anti-affinity and spread")
			return
		}
	}
	first := pods[0]
	spec := core.JobSpec{ID: id, Priority: m.worth(first.priority()), Since: first.CreationTimestamp.UTC(), TimeLimit: limit(pods),
		Price: int64(len(pods)), Class: m.class(first.priority())}
	if first.Spec.PreemptionPolicy == nil || *first.Spec.PreemptionPolicy != v1.PreemptNever {
		for _, r := range m.ranks {
			if r < first.priority() && m.class(r) < m.class(first.priority()) {
				spec.Preempts |= 1 << m.class(r)
			}
		}
	}
	if there > 0 { // a group in part is made whole first
		spec.Priority = core.MaxPriority
	}
	var ways []core.Way
	for _, n := range sizes(need, len(pods)) {
		if n > need && len(byKind(pods)) > 1 {
			continue // which of them start is for the user to say
		}
		way, why := m.way(pods[:n])
		if why != "" {
			refuse(why)
			return
		}
		ways = append(ways, way)
	}
	spec.Request, spec.Components, spec.On, spec.Takes = ways[0].Request, ways[0].Components, ways[0].On, ways[0].Takes
	spec.Counts, spec.Alternatives = ways[0].Counts, ways[1:]
	if len(spec.Components) == 0 {
		spec.Prefer = m.prefers(first)
	}
	m.waiting = append(m.waiting, spec)
	m.members[id] = byKind(pods)
}

// sizes are how many pods of an elastic group to try, all first and the fewest last.
func sizes(need, all int) (list []int) {
	for k := range maxSizes {
		list = append(list, all-(all-need)*k/(maxSizes-1))
	}
	return slices.Compact(list)
}

// way is the request that starts the pods together.
func (m *model) way(pods []*pod) (w core.Way, why string) {
	level := 0
	parts := byKind(pods)
	if len(parts) > maxParts {
		return w, fmt.Sprintf("the group has %d kinds of pods, more than %d", len(parts), maxParts)
	}
	var ways []core.Way
	for _, pods := range parts {
		p := pods[0]
		on, within, ok := m.near(p)
		if !ok {
			return w, "no running pod matches its required affinity"
		}
		part := core.Way{Request: bids.Request{Cores: len(pods)}, On: m.on(p), Takes: m.takes(p), Counts: m.counts(p)}
		if on != nil {
			part.On = slices.DeleteFunc(m.allIfNil(part.On), func(name string) bool { return !on[name] })
		}
		for _, key := range within {
			switch k := slices.Index(m.Topology, key); {
			case k >= 0:
				level = max(level, k+1)
			case key == v1.LabelHostname && len(parts) == 1:
				part.MaxNodes = 1
			default:
				return w, "all on nodes of one " + key + ": that is not among the labels of --topology"
			}
		}
		ways = append(ways, part)
	}
	w = ways[0]
	if w.Components = ways[1:]; len(w.Components) > 0 {
		w.AllWithin = level
	} else if w.Components = nil; level > 0 {
		w.Within = level
	}
	return w, ""
}

// allIfNil is a copy of a list of nodes, of which nil stands for all.
func (m *model) allIfNil(on []string) []string {
	if on != nil {
		return slices.Clone(on)
	}
	on = []string{}
	for _, n := range m.objects.Nodes {
		on = append(on, n.Name)
	}
	slices.Sort(on)
	return on
}
