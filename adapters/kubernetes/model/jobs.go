// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
)

const (
	maxParts = 16 // of one job
	never    = core.NoTimeLimit * time.Second
	maxSizes = 4 // of an elastic group that are tried
)

// job is what the Cluster knows as one: the pods of a group, or a pod without one.
type job struct {
	parts [][]*pod // by kind, as the job's components are
	// each is how many pods a node gets, by way of a waiting job and by part; 0: as many as it gives cores.
	each [][]int
}

func (j *job) pods() []*pod  { return slices.Concat(j.parts...) }
func (j *job) group() string { return j.parts[0][0].group }

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
func (m *Model) addRunning() {
	jobs := make(map[string][]*pod)
	for _, p := range m.bound {
		if m.ours(p.Pod) && m.byName[p.Spec.NodeName] != nil {
			jobs[jobID(p)] = append(jobs[jobID(p)], p)
		}
	}
	for id, pods := range jobs {
		j := &job{parts: byKind(pods)}
		var held []core.Start
		for _, alike := range j.parts {
			held = append(held, heldBy(alike)...)
		}
		s := held[0]
		s.Components = held[1:]
		s.Job, s.Begin, s.Class = id, pods[0].begin(), m.class(pods[0].priority())
		s.End = s.Begin.Add(limit(pods))
		if !m.protected(pods) {
			s.Price = int64(len(pods))
		}
		m.jobs[id], m.running[id] = j, s
	}
}

// heldBy is what pods that are alike hold: one part for each number of them that a node has.
func heldBy(pods []*pod) (parts []core.Start) {
	on, part := make(map[string]int), make(map[int]int)
	for _, p := range pods {
		on[p.Spec.NodeName]++
	}
	takes := pods[0].takes
	for _, name := range sorted(on) {
		n := on[name]
		k, ok := part[n]
		if !ok {
			k = len(parts)
			part[n], parts = k, append(parts, core.Start{Takes: uses(takes, n)})
		}
		parts[k].Nodes = append(parts[k].Nodes, core.Share{Node: name, Cores: n * int(takes[cores]), GPUs: n * int(takes[gpus])})
	}
	return parts
}

// uses is what a node with n pods gives of further resources; with 0, for each core that is a pod's seat.
func uses(takes map[string]int64, n int) map[string]nodeset.Use {
	uses := make(map[string]nodeset.Use, len(takes))
	for name, v := range takes {
		if name == cores || name == gpus {
			continue
		}
		if uses[name] = (nodeset.Use{PerNode: v * int64(n)}); n == 0 {
			uses[name] = nodeset.Use{PerCore: v}
		}
	}
	return uses
}

// Scheduled is the condition of a pod that says whether it is bound, since when, or why not.
func Scheduled(p *v1.Pod) v1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return c
		}
	}
	return v1.PodCondition{}
}

// begin is when the pod was bound.
func (p *pod) begin() time.Time {
	if c := Scheduled(p.Pod); c.Status == v1.ConditionTrue {
		return c.LastTransitionTime.Time
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
func (m *Model) addWaiting() {
	groups, inGroup := make(map[string][]*pod), make(map[string][]*pod)
	for _, p := range m.bound {
		if p.group != "" && m.ours(p.Pod) && m.byName[p.Spec.NodeName] != nil && p.DeletionTimestamp == nil {
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
		least := m.least(name, slices.Concat(there, pods))
		need := least - len(there)
		switch {
		case len(pods) < need:
			m.refuse(pods, fmt.Sprintf("%d of the %d pods of group %s are there", len(pods)+len(there), least, name))
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
	}
	for name, there := range inGroup {
		if m.least(name, slices.Concat(there, groups[name])) > len(there) {
			for _, p := range there {
				m.Broken[name] = append(m.Broken[name], p.Pod)
			}
		}
	}
	slices.SortFunc(m.waiting, func(a, b core.JobSpec) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
}

// least is how many pods of a group start together.
func (m *Model) least(name string, pods []*pod) int {
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
func (m *Model) submit(id string, pods []*pod, need, there int) {
	for _, p := range pods {
		if p.refused != "" {
			m.refuse(pods, p.refused)
			return
		}
		if len(p.rows) > 0 && !slices.ContainsFunc(m.rows, func(r row) bool { return r.name == p.rows[0].name }) {
			m.refuse(pods, "there are too many different resources and terms of anti-affinity and spread")
			return
		}
	}
	j, first := &job{parts: byKind(pods)}, pods[0]
	if len(j.parts) > maxParts {
		m.refuse(pods, fmt.Sprintf("the group has %d kinds of pods, more than %d", len(j.parts), maxParts))
		return
	}
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
		if n > need && len(j.parts) > 1 {
			continue // which of them start is for the user to say
		}
		for _, seats := range []bool{false, true} {
			way, each, why := m.way(byKind(pods[:n]), seats)
			if why != "" {
				m.refuse(pods, why)
				return
			}
			if !seats || slices.Contains(each, 0) {
				ways, j.each = append(ways, way), append(j.each, each)
			}
		}
	}
	spec.Request, spec.Components, spec.On, spec.Takes = ways[0].Request, ways[0].Components, ways[0].On, ways[0].Takes
	spec.Counts, spec.Alternatives = ways[0].Counts, ways[1:]
	if len(spec.Components) == 0 {
		spec.Prefer = m.prefers(first)
	}
	m.waiting = append(m.waiting, spec)
	m.jobs[id] = j
}

// sizes are how many pods of an elastic group to try, all first and the fewest last.
func sizes(need, all int) (list []int) {
	for k := range maxSizes {
		list = append(list, all-(all-need)*k/(maxSizes-1))
	}
	return slices.Compact(list)
}

// way is a request that starts the pods together, and how many of each part a node gets: the same number
// for all nodes of a part, the more the better. With seats, 0 of a part says that nodes may get different
// numbers: a core of the request is a pod's seat then, and what the job is worth is not known.
func (m *Model) way(parts [][]*pod, seats bool) (w core.Way, each []int, why string) {
	level := 0
	var ways []core.Way
	for _, pods := range parts {
		p := pods[0]
		on, within, ok := m.near(p)
		if !ok {
			return w, nil, "no running pod matches its required affinity"
		}
		part, n, oneNode := core.Way{On: m.on(p)}, m.perNode(p, len(pods)), false
		if on != nil {
			part.On = slices.DeleteFunc(sorted(on), func(name string) bool {
				_, ok := slices.BinarySearch(part.On, name)
				return part.On != nil && !ok
			})
		}
		for _, key := range within {
			switch k := slices.Index(m.Topology, key); {
			case k >= 0:
				level = max(level, k+1)
			case key == v1.LabelHostname && len(parts) == 1:
				n, oneNode = len(pods), true
			default:
				return w, nil, "all on nodes of one " + key + ": that is not among the labels of --topology"
			}
		}
		if seats && !oneNode && len(pods) > 1 && m.fit(p) > 1 {
			part.Cores, n = len(pods), 0
		} else {
			part.MinNodes, part.MaxNodes = len(pods)/n, len(pods)/n
			part.TasksPerNode = int(min(int64(n)*p.takes[cores], math.MaxUint16))
			part.MinGPUs = int(min(int64(n)*p.takes[gpus], math.MaxUint8))
		}
		part.Takes, part.Counts = uses(p.takes, n), uses(m.counts(p), n)
		ways, each = append(ways, part), append(each, n)
	}
	w = ways[0]
	if w.Components = ways[1:]; len(w.Components) > 0 {
		w.AllWithin = level
	} else if w.Components = nil; level > 0 {
		w.Within = level
	}
	return w, each, ""
}

// fit is how many pods like p the largest node has room for.
func (m *Model) fit(p *pod) int64 {
	n := int64(math.MaxInt32)
	for name, most := range m.most {
		if v := p.takes[name]; v > 0 {
			n = min(n, most/v)
		}
	}
	return n
}

// perNode is the greatest divisor of a number of pods like p for which the largest node has room, or 1.
func (m *Model) perNode(p *pod, pods int) int {
	n := int(min(m.fit(p), int64(pods)))
	for n > 1 && (pods%n != 0 || len(p.rows) > 0) {
		n--
	}
	return max(n, 1)
}
