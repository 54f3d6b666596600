// SPDX-License-Identifier: BSD-3-Clause

// Package model says in core.Cluster's words what a Kubernetes API server holds. It makes a Cluster of
// the API's objects, and bindings of what the Cluster starts. It needs the API's types, and no client.
package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Objects are the API's objects that a round looks at.
type Objects struct {
	Nodes   []*v1.Node
	Pods    []*v1.Pod      // of all namespaces and schedulers
	Groups  map[string]int // minMember of PodGroups, by namespace/name
	Budgets []*policyv1.PodDisruptionBudget
	Quotas  *Quotas
}

// Options are the settings of a Model.
type Options struct {
	// SchedulerName is that of the pods which are scheduled.
	SchedulerName string
	// Topology are labels of nodes that say where they stand, from the smallest domain to the largest.
	Topology []string
}

// Model is what a Cluster should know, made of the API's objects.
type Model struct {
	Options
	// Pending are the pods that wait to be bound, in so many jobs. Refused says why some of them are in no job. Broken are
	// groups of which some pods, fewer than have to be, are bound.
	Pending []*v1.Pod
	Waiting int
	Refused map[*v1.Pod]string
	Broken  map[string][]*v1.Pod

	objects *Objects
	now     time.Time
	byName  map[string]*v1.Node
	bound   []*pod // those that hold something of a node, whoever has bound them
	pending []*pod
	rows    []row            // by name
	units   map[string]int64 // of each resource, cores and gpus: so much is 1 of the Cluster's
	most    map[string]int64 // of each resource: what the largest node has, in these
	filters map[string][]string
	ranks   []int32 // the priorities of pods, ascending

	nodes    []core.Node
	switches []nodeset.Switch
	quotas   map[string]int64
	running  map[string]core.Start
	waiting  []core.JobSpec
	jobs     map[string]*job // those that run and those that wait
}

// New makes the model of objects, of which it sorts the nodes. known keeps what was made of pods.
func New(o Options, objects *Objects, now time.Time, known Cache) *Model {
	m := &Model{Options: o, Refused: make(map[*v1.Pod]string), Broken: make(map[string][]*v1.Pod), objects: objects, now: now,
		byName: make(map[string]*v1.Node), filters: make(map[string][]string), units: make(map[string]int64),
		quotas: make(map[string]int64), running: make(map[string]core.Start), jobs: make(map[string]*job)}
	slices.SortFunc(objects.Nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range objects.Nodes {
		m.byName[n.Name] = n
	}
	known.trim(len(objects.Pods))
	for _, p := range objects.Pods {
		switch {
		case p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed: // it holds nothing any more
		case p.Spec.NodeName != "":
			m.bound = append(m.bound, known.of(p))
		case m.ours(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0:
			m.pending = append(m.pending, known.of(p))
		}
	}
	slices.SortFunc(m.bound, asCame)
	slices.SortFunc(m.pending, asCame)
	for _, p := range m.pending {
		m.Pending = append(m.Pending, p.Pod)
	}
	for _, p := range slices.Concat(m.bound, m.pending) {
		if m.ours(p.Pod) {
			m.ranks = append(m.ranks, p.priority())
		}
	}
	slices.Sort(m.ranks)
	m.ranks = slices.Compact(m.ranks)
	m.addNodes()
	m.addRunning()
	m.addWaiting()
	m.addQuotas()
	m.Waiting = len(m.waiting)
	return m
}

// Cluster is a Cluster that knows the model.
func (m *Model) Cluster(o core.ClusterOptions) (*core.Cluster, error) {
	c, err := core.NewCluster(o)
	if err != nil {
		return nil, err
	}
	if err := c.SetTopology(m.switches); err != nil {
		return nil, err
	}
	for _, n := range m.nodes {
		if err := c.SetNode(n); err != nil {
			return nil, err
		}
	}
	for _, name := range sorted(m.quotas) {
		if err := c.SetQuota(name, m.quotas[name]); err != nil {
			return nil, err
		}
	}
	for _, id := range sorted(m.running) {
		if err := c.Adopt(m.running[id]); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	for _, spec := range m.waiting {
		if err := c.Submit(spec); err != nil {
			m.refuse(m.jobs[spec.ID].pods(), err.Error())
		}
	}
	return c, nil
}

// Binding is a pod and the node that it gets.
type Binding struct {
	Pod  *v1.Pod
	Node string
}

// Bindings bind the pods of the jobs that a cycle starts. A group of which some pods are to be stopped
// waits for the next cycle.
func (m *Model) Bindings(cycle *core.Cycle) (all []Binding, err error) {
	stops := make(map[string]bool)
	for _, x := range cycle.Preempted {
		stops[m.jobs[x.Job].group()] = true
	}
	for _, start := range cycle.Starts {
		j := m.jobs[start.Job]
		if g := j.group(); g != "" && stops[g] {
			continue
		}
		for k, part := range append([]core.Start{start}, start.Components...) {
			pods := j.parts[k]
			for _, share := range part.Nodes {
				n := cmp.Or(j.each[start.Alternative][k], share.Cores)
				if n > len(pods) {
					return nil, fmt.Errorf("%s: part %d got more nodes than it has pods", start.Job, k)
				}
				for _, p := range pods[:n] {
					all = append(all, Binding{p.Pod, share.Node})
				}
				pods = pods[n:]
			}
		}
		m.running[start.Job] = start
	}
	return all, nil
}

// Pods are the pods of a job, or nil.
func (m *Model) Pods(job string) (all []*v1.Pod) {
	if j := m.jobs[job]; j != nil {
		for _, p := range j.pods() {
			all = append(all, p.Pod)
		}
	}
	return all
}

func (m *Model) refuse(pods []*pod, why string) {
	for _, p := range pods {
		m.Refused[p.Pod] = why
	}
}

func (m *Model) ours(p *v1.Pod) bool { return p.Spec.SchedulerName == m.SchedulerName }

// asCame orders pods as they were created.
func asCame(a, b *pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(len(a.Name), len(b.Name)),
		cmp.Compare(a.name(), b.name()))
}

// worth is the priority of jobs of a PriorityClass: next to no number of jobs is worth one of the next
// higher class, as long as there are few classes.
func (m *Model) worth(priority int32) int64 {
	rank, _ := slices.BinarySearch(m.ranks, priority)
	bits := min(10, max(1, 39/len(m.ranks)))
	return 1 << min(39, bits*rank)
}

// class is the class of jobs that pods of a higher priority may stop; those below are the cohorts'.
func (m *Model) class(priority int32) int {
	rank, _ := slices.BinarySearch(m.ranks, priority)
	return min(core.MaxClass, len(m.objects.Quotas.cohorts())+rank)
}

// protected reports whether a disruption budget forbids that all of the pods are evicted.
func (m *Model) protected(pods []*pod) bool {
	for _, b := range m.objects.Budgets {
		r := newRow("budget", b, nil, b.Spec.Selector, 0)
		n := int32(0)
		for _, p := range pods {
			if r.selects(p.Pod) {
				n++
			}
		}
		if n > b.Status.DisruptionsAllowed {
			return true
		}
	}
	return false
}
