// SPDX-License-Identifier: BSD-3-Clause

// Package model says in core.Cluster's words what a Kubernetes API server holds. It makes a Cluster of
// the API's objects, and bindings of what the Cluster starts. It needs the API's types, and no client.
package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Objects are the API's objects that a round looks at.
type Objects struct {
	// SchedulerName is that of the pods which are scheduled.
	SchedulerName string
	// Topology are labels of nodes that say where they stand, from the smallest domain to the largest.
	Topology []string

	Nodes []v1.Node
	Pods  []v1.Pod // of all namespaces and schedulers
	// Groups says how many pods start together, by namespace/name of a PodGroup and namespace/name/group of
	// a Workload; 0: each by itself.
	Groups  map[string]int
	Budgets []policyv1.PodDisruptionBudget
	Quotas  Quotas
}

// Model is a Cluster that knows the API's objects, and what its jobs and names stand for.
type Model struct {
	*Objects
	Cluster *core.Cluster
	// Pending is how many pods wait to be bound. Refused says why some of them are in no job. Broken are
	// groups of which some pods, fewer than have to be, are bound.
	Pending int
	Refused map[*v1.Pod]string
	Broken  map[string][]*v1.Pod

	now     time.Time
	nodes   []*node // by name
	byName  map[string]*node
	pods    []*pod           // those that wait, and bound, each as they came
	bound   []*pod           // those that hold something of a node, whoever has bound them
	rows    []row            // by name
	units   map[string]int64 // of each resource, cores and gpus: so much is 1 of the Cluster's
	filters map[string][]string
	budgets []term
	ranks   []int32        // the priorities of pods, ascending
	jobs    map[string]job // those that run and those that wait
	// used is what running jobs count against quotas, and borrower the highest priority of those with which
	// queues are above their nominal quota.
	used     map[string]int64
	borrower int32
}

// New makes the model of objects. known keeps what was made of pods.
func New(o *Objects, now time.Time, known Cache, options core.ClusterOptions) (m *Model, err error) {
	m = &Model{Objects: o, Refused: make(map[*v1.Pod]string), Broken: make(map[string][]*v1.Pod), now: now,
		byName: make(map[string]*node), filters: make(map[string][]string), units: make(map[string]int64),
		jobs: make(map[string]job), used: make(map[string]int64), borrower: math.MinInt32}
	if m.Cluster, err = core.NewCluster(options); err != nil {
		return nil, err
	}
	for i := range o.Nodes {
		n := &o.Nodes[i]
		x := &node{n, amounts(n.Status.Allocatable), make(map[string]int64)}
		m.nodes, m.byName[n.Name] = append(m.nodes, x), x
	}
	slices.SortFunc(m.nodes, func(a, b *node) int { return cmp.Compare(a.Name, b.Name) })
	for _, b := range o.Budgets {
		m.budgets = append(m.budgets, newTerm(b.Namespace, nil, b.Spec.Selector, ""))
	}
	m.sortPods(known)
	if err := cmp.Or(m.setNodes(), m.setQuotas()); err != nil {
		return nil, err
	}
	jobs := by(m.pods, m.id)
	var running []core.Start
	for _, pods := range jobs {
		if _, held := split(pods); len(held) > 0 {
			running = append(running, m.running(held))
		}
	}
	slices.SortStableFunc(running, func(a, b core.Start) int {
		return cmp.Or(cmp.Compare(b.Class, a.Class), a.Begin.Compare(b.Begin))
	})
	for _, x := range running {
		j, above := m.jobs[x.Job], false
		if x.Counts, above, _ = m.countsOf(j); above {
			x.Class, m.borrower = lent, max(m.borrower, j.first().priority())
		}
		for name, v := range x.Counts {
			m.used[name] += v
		}
		if err := m.Cluster.Adopt(x); err != nil {
			return nil, fmt.Errorf("%s: %w", x.Job, err)
		}
	}
	for _, pods := range jobs {
		m.submitAll(pods)
	}
	return m, nil
}

// sortPods says which pods wait, and which hold something.
func (m *Model) sortPods(known Cache) {
	if len(known) > 2*len(m.Pods)+1000 { // most of them are gone
		clear(known)
	}
	for i := range m.Pods {
		p := &m.Pods[i]
		waits := m.ours(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0
		over := p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
		if !over && (waits || p.Spec.NodeName != "") {
			m.pods = append(m.pods, known.of(p))
		}
	}
	slices.SortFunc(m.pods, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(a.holds(), b.holds()), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.name(), b.name()))
	})
	wait, bound := split(m.pods)
	m.Pending, m.bound = len(wait), bound
	for _, p := range m.pods {
		if m.ours(p.Pod) {
			m.ranks = append(m.ranks, p.priority())
		}
	}
	slices.Sort(m.ranks)
	m.ranks = slices.Compact(m.ranks)
}

// Binding is a pod and the node that it gets.
type Binding struct {
	Pod  *v1.Pod
	Node string
}

// Bindings bind the pods of the jobs that a cycle starts: to each node as many as it has seats, or the only
// one. A group of which some pods are to be stopped waits for the next cycle.
func (m *Model) Bindings(cycle *core.Cycle) (all []Binding) {
	stops := make(map[string]bool)
	for _, x := range cycle.Preempted {
		stops[m.jobs[x.Job].first().group] = true
	}
	for _, start := range cycle.Starts {
		j := m.jobs[start.Job]
		if g := j.first().group; g != "" && stops[g] {
			continue
		}
		for k, part := range append([]core.Start{start}, start.Components...) {
			pods := j[k]
			for _, share := range part.Nodes {
				n := min(share.Cores, len(pods))
				for _, p := range pods[:n] {
					all = append(all, Binding{p.Pod, share.Node})
				}
				pods = pods[n:]
			}
		}
	}
	return all
}

// PodsOf are the pods of a job, or nil.
func (m *Model) PodsOf(job string) (all []*v1.Pod) {
	for _, p := range slices.Concat(m.jobs[job]...) {
		all = append(all, p.Pod)
	}
	return all
}

func (m *Model) refuse(pods []*pod, why string) {
	for _, p := range pods {
		m.Refused[p.Pod] = why
	}
}

func (m *Model) ours(p *v1.Pod) bool { return p.Spec.SchedulerName == m.SchedulerName }

// lent is the class of jobs that have quota of others, below those of all priorities.
const lent = 0

// rank is the class of jobs that pods of a higher priority may stop, and the priority of these jobs: next
// to no number of them is worth one of the next higher class, as long as there are few classes.
func (m *Model) rank(p *pod) (class int, worth int64) {
	rank, _ := slices.BinarySearch(m.ranks, p.priority())
	bits := min(10, max(1, 39/len(m.ranks)))
	return min(core.MaxClass, lent+1+rank), 1 << min(39, bits*rank)
}

// preempts are the classes that a job may stop: those of lower priorities. What is lent is taken back for jobs
// that are within the nominal quota of their queue, whatever their priority.
func (m *Model) preempts(j job) (classes uint64) {
	p := j.first()
	class, _ := m.rank(p)
	_, _, within := m.countsOf(j)
	if p.Spec.PreemptionPolicy == nil || *p.Spec.PreemptionPolicy != v1.PreemptNever {
		classes = 1<<class - 1<<(lent+1)
		within = within || p.priority() > m.borrower
	}
	if within {
		classes |= 1 << lent
	}
	return classes
}

// protected reports whether a disruption budget forbids that all of the pods are evicted.
func (m *Model) protected(pods []*pod) bool {
	for i, b := range m.Budgets {
		n := int32(0)
		for _, p := range pods {
			if m.budgets[i].selects(p) {
				n++
			}
		}
		if n > b.Status.DisruptionsAllowed {
			return true
		}
	}
	return false
}
