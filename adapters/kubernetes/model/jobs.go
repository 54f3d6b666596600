// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
)

const (
	never     = core.NoTimeLimit * time.Second
	maxRivals = 2 // that a message names
)

// job is what the Cluster knows as one: the pods of a group, or a pod without one, by kind as its
// components are.
type job [][]*pod

func newJob(pods []*pod) job { return by(pods, func(p *pod) string { return p.kind }) }
func (j job) first() *pod    { return j[0][0] }

// id is that of a pod's group if its pods start together, or of the pod; "" of those that the Cluster does
// not know.
func (m *Model) id(p *pod) string {
	if !m.ours(p.Pod) || p.holds() > 0 && m.byName[p.Spec.NodeName] == nil {
		return ""
	}
	if least, told := m.Groups[p.policy]; p.group != "" && (least > 0 || !told) {
		return "group " + p.group
	}
	return "pod " + p.name()
}

// running has pods of one id that hold something be one job, which is stopped as a whole: a part for each
// kind and node.
func (m *Model) running(pods []*pod) core.Start {
	var parts []core.Start
	for _, x := range by(pods, func(p *pod) string { return p.kind + p.Spec.NodeName }) {
		n, takes := len(x), x[0].takes
		share := core.Share{Node: x[0].Spec.NodeName, Cores: n * int(takes[cores]), GPUs: n * int(takes[gpus])}
		parts = append(parts, core.Start{Nodes: []core.Share{share}, Takes: uses(takes, n)})
	}
	s, p := parts[0], pods[0]
	s.Class, _ = m.rank(p)
	s.Job, s.Components, s.Begin, s.End = m.id(p), parts[1:], m.begin(p), m.begin(p).Add(limit(pods))
	if !m.protected(pods) {
		s.Price = int64(len(pods))
	}
	m.jobs[s.Job] = newJob(pods)
	return s
}

// begin is when the pod began: a limit of its time counts from then.
func (m *Model) begin(p *pod) time.Time {
	if p.Status.StartTime == nil {
		return m.now
	}
	return p.Status.StartTime.Time
}

// uses is what a node with n pods gives of further resources; with 0, for each core, which is a pod's seat
// then.
func uses(takes map[string]int64, n int) map[string]nodeset.Use {
	uses := make(map[string]nodeset.Use, len(takes))
	for name, v := range takes {
		switch {
		case name == cores || name == gpus:
		case n == 0:
			uses[name] = nodeset.Use{PerCore: v}
		default:
			uses[name] = nodeset.Use{PerNode: v * int64(n)}
		}
	}
	return uses
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

// submitAll has those of the pods of one id that wait be jobs: as many of a group as have to start
// together, each one that is over, or the pod without a group. A group that does not say how many is never
// in part: what comes later starts together.
func (m *Model) submitAll(pods []*pod) {
	wait, held := split(pods)
	leaves := func(p *pod) bool { return p.DeletionTimestamp != nil }
	stay := slices.DeleteFunc(slices.Clone(held), leaves)
	least, told := m.Groups[pods[0].policy]
	for _, p := range pods {
		if !told && p.least > 0 {
			least, told = p.least, true
		}
	}
	need := least - len(stay)
	if told && len(stay) > 0 && need > 0 {
		for _, p := range stay {
			m.Broken[p.group] = append(m.Broken[p.group], p.Pod)
		}
	}
	if !told {
		need = len(wait)
	}
	switch id := m.id(pods[0]); {
	case !told && len(wait) > 0 && wait[0].Spec.WorkloadRef != nil:
		m.refuse(wait, "there is no Workload with a group "+wait[0].policy)
	case len(wait) < need:
		m.refuse(wait, fmt.Sprintf("%d of the %d pods of group %s are there", len(stay)+len(wait), least, pods[0].group))
	case need <= 0:
		for _, p := range wait {
			m.submit("pod "+p.name(), []*pod{p}, false)
		}
	default:
		if len(held) > 0 { // some of its pods are there, or are ending
			id += " (missing pods)"
		}
		m.submit(id, wait[:need], told && len(stay) > 0)
		m.refuse(wait[need:], "joins its group when that runs")
	}
}

// submit has pods that start together be a job that waits; first before all others.
func (m *Model) submit(id string, pods []*pod, first bool) {
	j, p := newJob(pods), pods[0]
	w, why := m.way(j)
	if why != "" {
		m.refuse(pods, why)
		return
	}
	spec := core.JobSpec{ID: id, Request: w.Request, Components: w.Components, On: w.On, Takes: w.Takes, Counts: w.Counts,
		Since: p.CreationTimestamp.UTC(), TimeLimit: limit(pods), Price: int64(len(pods)), Preempts: m.preempts(j)}
	spec.Class, spec.Priority = m.rank(p)
	if len(j) == 1 {
		spec.Prefer = m.prefers(p)
	}
	if first {
		spec.Priority = core.MaxPriority
	}
	if err := m.Cluster.Submit(spec); err != nil {
		m.refuse(pods, err.Error())
		return
	}
	m.jobs[id] = j
}

// way is a request that starts the pods together, or why there is none. A pod alone asks for cores and
// GPUs. Pods that are alike ask for so many cores, of which each is the seat of a pod that takes its
// resources there.
func (m *Model) way(parts job) (w core.Way, why string) {
	level := 0
	var ways []core.Way
	for _, pods := range parts {
		p := pods[0]
		on, within, why := m.near(p, m.on(p))
		if why = cmp.Or(p.refused, why); why != "" {
			return w, why
		}
		if len(p.rows) > 0 && m.units[p.rows[0].name] == 0 {
			return w, "there are too many different resources and terms of anti-affinity and spread"
		}
		n, part := 0, core.Way{On: on, Request: bids.Request{Cores: len(pods)}}
		if len(pods) == 1 {
			n, part.Request = 1, bids.Request{MinNodes: 1, TasksPerNode: int(min(p.takes[cores], bids.MaxCoresPerNode)),
				MinGPUs: int(min(p.takes[gpus], bids.MaxGPUsPerNode))}
		}
		part.Takes, part.Counts = uses(p.takes, n), uses(m.counts(p), n)
		for _, label := range within {
			switch k := slices.Index(m.Topology, label); {
			case k >= 0:
				level = max(level, k+1)
			case label == v1.LabelHostname && len(parts) == 1:
				part.MaxNodes = 1
			default:
				return w, "all on nodes of one " + label + ": that is not among the labels of --topology"
			}
		}
		ways = append(ways, part)
	}
	if w = ways[0]; len(ways) == 1 {
		w.Within = level
	} else {
		w.Components, w.AllWithin = ways[1:], level
	}
	return w, ""
}

// Words say what a job lacks, who holds it, and until when.
func (m *Model) Words(w core.Waiting, x *core.Explanation) string {
	text := w.Reason
	if len(x.Lacks) > 0 {
		text += ": waits for " + lack(&x.Lacks[0])
	}
	word := ", behind "
	for _, rival := range x.Rivals[:min(maxRivals, len(x.Rivals))] {
		if rival.Role == "running" {
			held := m.jobs[rival.ID]
			text += ", held by " + rival.ID + at(" until ", m.begin(held.first()).Add(limit(slices.Concat(held...))), m.now)
			continue
		}
		text += word + rival.ID
		word = " and "
	}
	return text + at(", expected to start at ", w.Expected, m.now)
}

// at is a time in words; "" if it is not known.
func at(words string, t, now time.Time) string {
	if t.IsZero() || t.Sub(now) > never/2 {
		return ""
	}
	return words + t.UTC().Format("15:04 on 2 Jan")
}

// lack says how much of what is missing.
func lack(l *core.Lack) string {
	missing := max(0, l.Needs-l.Has)
	of := cmp.Or(map[string]string{"cores_per_node": "cpu", "gpus_per_node": "GPUs"}[l.Row], l.Row)
	switch l.In {
	case "cores":
		return fmt.Sprintf("room for %d of %d pods (%s)", missing, l.Needs, of)
	case "quota":
		return fmt.Sprintf("%d of %d of %s", missing, l.Needs, of)
	}
	return fmt.Sprintf("%d of %d %s (%s)", missing, l.Needs, l.In, of)
}
