// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
)

const (
	maxParts = 16 // of one job
	never    = core.NoTimeLimit * time.Second
)

// job is what the Cluster knows as one: the pods of a group, or a pod without one.
type job struct {
	parts [][]*pod  // by kind, as the job's components are
	end   time.Time // of a running job
}

func (j *job) first() *pod  { return j.parts[0][0] }
func (j *job) pods() []*pod { return slices.Concat(j.parts...) }

// family is a group, or a pod without one: its pods that hold something of a node, those of them that are not
// leaving, and those that wait.
type family struct{ held, stay, wait []*pod }

// families are those of the scheduler's pods, by their ids, which come in the order of their first pods.
func (m *Model) families() (ids []string, all map[string]*family) {
	all = make(map[string]*family)
	for _, p := range m.pods {
		if !m.ours(p.Pod) || p.Spec.NodeName != "" && m.byName[p.Spec.NodeName] == nil {
			continue
		}
		id := "pod " + p.name()
		if least, told := m.objects.Groups[p.policy]; p.group != "" && (least > 0 || !told) {
			id = "group " + p.group
		}
		f := all[id]
		if f == nil {
			f = new(family)
			ids, all[id] = append(ids, id), f
		}
		switch {
		case p.Spec.NodeName == "":
			f.wait = append(f.wait, p)
		case p.DeletionTimestamp == nil:
			f.stay = append(f.stay, p)
			fallthrough
		default:
			f.held = append(f.held, p)
		}
	}
	return ids, all
}

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

// running has all pods of a family that hold something be one job, which is stopped as a whole.
func (m *Model) running(id string, pods []*pod) core.Start {
	j := &job{parts: byKind(pods)}
	var held []core.Start
	for _, alike := range j.parts {
		held = append(held, heldBy(alike)...)
	}
	s := held[0]
	s.Components = held[1:]
	s.Job, s.Begin, s.Class, s.Counts = id, j.first().begin(), m.class(j.first().priority()), m.countsOf(j)
	s.End = s.Begin.Add(limit(pods))
	if !m.protected(pods) {
		s.Price = int64(len(pods))
	}
	m.jobs[id], j.end = j, s.End
	return s
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
	k := slices.IndexFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodScheduled })
	if k < 0 {
		return v1.PodCondition{}
	}
	return p.Status.Conditions[k]
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

// submitAll has the pods of a family that wait be jobs: as many of a group as have to start together, each
// one that is over, or the pod without a group. A group that does not say how many is never in part: what
// comes later starts together.
func (m *Model) submitAll(id string, f *family) {
	pods := slices.Concat(f.stay, f.wait)
	least, told := m.least(pods)
	need := least - len(f.stay)
	if told && len(f.stay) > 0 && need > 0 {
		for _, p := range f.stay {
			m.Broken[p.group] = append(m.Broken[p.group], p.Pod)
		}
	}
	if !told {
		need = len(f.wait)
	}
	switch {
	case !told && len(f.wait) > 0 && f.wait[0].Spec.WorkloadRef != nil:
		m.refuse(f.wait, "there is no Workload with a group "+f.wait[0].policy)
	case len(f.wait) < need:
		m.refuse(f.wait, fmt.Sprintf("%d of the %d pods of group %s are there", len(pods), least, pods[0].group))
	case need <= 0:
		for _, p := range f.wait {
			m.submit("pod "+p.name(), []*pod{p}, false)
		}
	default:
		if len(f.held) > 0 { // some of its pods are there, or are ending
			id += " (missing pods)"
		}
		m.submit(id, f.wait[:need], told && len(f.stay) > 0)
		m.refuse(f.wait[need:], "joins its group when that runs")
	}
}

// least is how many pods of a family start together, if it says so.
func (m *Model) least(pods []*pod) (n int, told bool) {
	for _, p := range pods {
		if n, told := m.objects.Groups[p.policy]; told {
			return n, true
		}
		for _, from := range []map[string]string{p.Labels, p.Annotations} {
			if n, err := strconv.Atoi(from[MinLabel]); err == nil && n > 0 && p.group != "" {
				return n, true
			}
		}
	}
	return 0, false
}

// submit has pods that start together be a job that waits; first before all others.
func (m *Model) submit(id string, pods []*pod, first bool) {
	j, p := &job{parts: byKind(pods)}, pods[0]
	spec, why := m.spec(j)
	if why == "" {
		spec.ID, spec.Since, spec.TimeLimit, spec.Price = id, p.CreationTimestamp.UTC(), limit(pods), int64(len(pods))
		spec.Priority, spec.Class, spec.Preempts = m.worth(p.priority()), m.class(p.priority()), m.preempts(j)
		if first {
			spec.Priority = core.MaxPriority
		}
		if err := m.Cluster.Submit(spec); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		m.refuse(pods, why)
		return
	}
	m.Waiting++
	m.jobs[id] = j
}

// spec is what a job asks for, or why that can't be said.
func (m *Model) spec(j *job) (spec core.JobSpec, why string) {
	for _, pods := range j.parts {
		p := pods[0]
		if p.refused != "" {
			return spec, p.refused
		}
		if len(p.rows) > 0 && !slices.ContainsFunc(m.rows, func(r row) bool { return r.name == p.rows[0].name }) {
			return spec, "there are too many different resources and terms of anti-affinity and spread"
		}
	}
	if len(j.parts) > maxParts {
		return spec, fmt.Sprintf("the group has %d kinds of pods, more than %d", len(j.parts), maxParts)
	}
	own, more, why := m.way(j.parts, false)
	if more && why == "" {
		var seats core.Way
		seats, _, why = m.way(j.parts, true)
		spec.Alternatives = []core.Way{seats}
	}
	spec.Request, spec.Components, spec.On, spec.Takes, spec.Counts = own.Request, own.Components, own.On, own.Takes, own.Counts
	if len(spec.Components) == 0 {
		spec.Prefer = m.prefers(j.first())
	}
	return spec, why
}

// way is a request that starts the pods together. All nodes of a part get the same number of them, the more
// the better. With seats, nodes may get different numbers where more says so: a core of the request is a
// pod's seat then, and what the job is worth is not known.
func (m *Model) way(parts [][]*pod, seats bool) (w core.Way, more bool, why string) {
	level := 0
	var ways []core.Way
	for _, pods := range parts {
		p := pods[0]
		on, within, why := m.near(p, m.on(p))
		if why != "" {
			return w, false, why
		}
		part, fit := core.Way{On: on}, int(min(m.fit(p), int64(len(pods))))
		n := max(fit, 1)
		for len(pods)%n != 0 {
			n--
		}
		for _, key := range within {
			switch k := slices.Index(m.Topology, key); {
			case k >= 0:
				level = max(level, k+1)
			case key == v1.LabelHostname && len(parts) == 1:
				n, fit = len(pods), 1
			default:
				return w, false, "all on nodes of one " + key + ": that is not among the labels of --topology"
			}
		}
		more = more || fit > 1
		if seats && fit > 1 {
			part.Cores, n = len(pods), 0
		} else {
			part.MinNodes, part.MaxNodes = len(pods)/n, len(pods)/n
			part.TasksPerNode = int(min(int64(n)*p.takes[cores], math.MaxUint16))
			part.MinGPUs = int(min(int64(n)*p.takes[gpus], math.MaxUint8))
		}
		part.Takes, part.Counts = uses(p.takes, n), uses(m.counts(p), n)
		ways = append(ways, part)
	}
	if w = ways[0]; len(ways) == 1 {
		w.Within = level
	} else {
		w.Components, w.AllWithin = ways[1:], level
	}
	return w, more, ""
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
