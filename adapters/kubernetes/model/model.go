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
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Objects are the API's objects that a round looks at.
type Objects struct {
	Nodes []*v1.Node
	Pods  []*v1.Pod // of all namespaces and schedulers
	// Groups says how many pods start together, by namespace/name of a PodGroup and namespace/name/group of
	// a Workload; 0: each by itself.
	Groups  map[string]int
	Budgets []*policyv1.PodDisruptionBudget
	Quotas  Quotas
}

// Options are the settings of a Model.
type Options struct {
	// SchedulerName is that of the pods which are scheduled.
	SchedulerName string
	// Topology are labels of nodes that say where they stand, from the smallest domain to the largest.
	Topology []string
}

// Model is a Cluster that knows the API's objects, and what its jobs and names stand for.
type Model struct {
	Options
	Cluster *core.Cluster
	// Pending is how many pods wait to be bound, in Waiting jobs. Refused says why some of them are in no job.
	// Broken are groups of which some pods, fewer than have to be, are bound.
	Pending, Waiting int
	Refused          map[*v1.Pod]string
	Broken           map[string][]*v1.Pod

	objects *Objects
	now     time.Time
	byName  map[string]*v1.Node
	pods    []*pod                      // those that wait, and bound, each as they came
	bound   []*pod                      // those that hold something of a node, whoever has bound them
	rows    []row                       // by name
	rooms   map[string]map[string]int64 // what nodes have of each row
	units   map[string]int64            // of each resource, cores and gpus: so much is 1 of the Cluster's
	most    map[string]int64            // of each of these: what the largest node has
	filters map[string][]string
	budgets []term
	ranks   []int32         // the priorities of pods, ascending
	jobs    map[string]*job // those that run and those that wait
	// used is what running jobs count against quotas. borrowers are by the class of a cohort the highest
	// priority of those with which queues are above their nominal quota.
	used      map[string]int64
	borrowers map[int]int32
}

// New makes the model of objects, of which it sorts the nodes. known keeps what was made of pods.
func New(o Options, objects *Objects, now time.Time, known Cache, options core.ClusterOptions) (m *Model, err error) {
	m = &Model{Options: o, Refused: make(map[*v1.Pod]string), Broken: make(map[string][]*v1.Pod), objects: objects, now: now,
		byName: make(map[string]*v1.Node), filters: make(map[string][]string), units: make(map[string]int64),
		rooms: make(map[string]map[string]int64),
		most:  make(map[string]int64), jobs: make(map[string]*job), used: make(map[string]int64), borrowers: make(map[int]int32)}
	if m.Cluster, err = core.NewCluster(options); err != nil {
		return nil, err
	}
	slices.SortFunc(objects.Nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range objects.Nodes {
		m.byName[n.Name] = n
	}
	for _, b := range objects.Budgets {
		m.budgets = append(m.budgets, newTerm(b.Namespace, nil, b.Spec.Selector))
	}
	m.sortPods(known)
	if err := m.setNodes(); err != nil {
		return nil, err
	}
	if err := m.setQuotas(); err != nil {
		return nil, err
	}
	ids, all := m.families()
	var running []core.Start
	for _, id := range ids {
		if held := all[id].held; len(held) > 0 {
			running = append(running, m.running(id, held))
		}
	}
	slices.SortStableFunc(running, func(a, b core.Start) int {
		return cmp.Or(cmp.Compare(b.Class, a.Class), a.Begin.Compare(b.Begin))
	})
	for i := range running {
		m.count(&running[i])
		if err := m.Cluster.Adopt(running[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", running[i].Job, err)
		}
	}
	for _, id := range ids {
		m.submitAll(id, all[id])
	}
	return m, nil
}

// sortPods says which pods wait, and which hold something.
func (m *Model) sortPods(known Cache) {
	if len(known) > 2*len(m.objects.Pods)+1000 { // most of them are gone
		clear(known)
	}
	for _, p := range m.objects.Pods {
		switch {
		case p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed: // it holds nothing any more
		case p.Spec.NodeName != "":
			m.bound = append(m.bound, known.of(p))
		case m.ours(p) && p.DeletionTimestamp == nil && len(p.Spec.SchedulingGates) == 0:
			m.pods = append(m.pods, known.of(p))
		}
	}
	slices.SortFunc(m.bound, asCame)
	slices.SortFunc(m.pods, asCame)
	m.Pending = len(m.pods)
	m.pods = append(m.pods, m.bound...)
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

// Bindings bind the pods of the jobs that a cycle starts: to the nodes of a part by their cores, of which
// its pods have the same number each. A group of which some pods are to be stopped waits for the next cycle.
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
			sum, pods := 0, j.parts[k]
			for _, share := range part.Nodes {
				sum += share.Cores
			}
			for _, share := range part.Nodes {
				n := len(j.parts[k]) / len(part.Nodes)
				if sum > 0 {
					n = len(j.parts[k]) * share.Cores / sum
				}
				for _, p := range pods[:n] {
					all = append(all, Binding{p.Pod, share.Node})
				}
				pods = pods[n:]
			}
		}
		j.end = start.End
	}
	return all
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

// preempts are the classes that a job may stop: those of lower priorities, and of cohorts that owe it quota.
func (m *Model) preempts(j *job) (classes uint64) {
	p := j.first()
	strict := p.Spec.PreemptionPolicy == nil || *p.Spec.PreemptionPolicy != v1.PreemptNever
	if lowest := m.class(m.ranks[0]); strict {
		classes = 1<<m.class(p.priority()) - 1<<lowest
	}
	for class, highest := range m.borrowers {
		if strict && classes != 0 && p.priority() > highest || m.mayReclaim(j, class) {
			classes |= 1 << class
		}
	}
	return classes
}

// protected reports whether a disruption budget forbids that all of the pods are evicted.
func (m *Model) protected(pods []*pod) bool {
	for i, b := range m.objects.Budgets {
		n := int32(0)
		for _, p := range pods {
			if m.budgets[i].selects(p.Pod) {
				n++
			}
		}
		if n > b.Status.DisruptionsAllowed {
			return true
		}
	}
	return false
}
