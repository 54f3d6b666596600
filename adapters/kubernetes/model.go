// SPDX-License-Identifier: BSD-3-Clause

package kube

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

// Options are the settings of the model.
type Options struct {
	// SchedulerName is that of the pods which are scheduled.
	SchedulerName string
	// Topology are labels of nodes that say where they stand, from the smallest domain to the largest.
	Topology []string
}

// model is what a Cluster should know, made of the API's objects.
type model struct {
	Options
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
	// refused says why pods are in no job, and broken are groups of which some pods, fewer than have to
	// be, are bound.
	refused map[*pod]string
	broken  map[string][]*pod
}

// newModel makes the model of objects. known says of pods what is of this round too.
func newModel(o Options, objects *Objects, now time.Time, known func(*v1.Pod) *pod) *model {
	m := &model{Options: o, objects: objects, now: now, byName: make(map[string]*v1.Node), filters: make(map[string][]string),
		units: make(map[string]int64), quotas: make(map[string]int64), running: make(map[string]core.Start),
		jobs: make(map[string]*job), refused: make(map[*pod]string), broken: make(map[string][]*pod)}
	slices.SortFunc(objects.Nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range objects.Nodes {
		m.byName[n.Name] = n
	}
	for _, p := range objects.Pods {
		if over(p) {
			continue
		}
		if x := known(p); x.node != "" {
			m.bound = append(m.bound, x)
		} else if m.ours(p) && !x.leaves && len(p.Spec.SchedulingGates) == 0 {
			m.pending = append(m.pending, x)
		}
	}
	slices.SortFunc(m.bound, asCame)
	slices.SortFunc(m.pending, asCame)
	for _, x := range slices.Concat(m.bound, m.pending) {
		if m.ours(x.Pod) {
			m.ranks = append(m.ranks, x.priority())
		}
	}
	slices.Sort(m.ranks)
	m.ranks = slices.Compact(m.ranks)
	m.addNodes()
	m.addRunning()
	m.addWaiting()
	m.addQuotas()
	return m
}

// cluster is a Cluster that knows the model.
func (m *model) cluster(o core.ClusterOptions) (*core.Cluster, error) {
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

func (m *model) refuse(pods []*pod, why string) {
	for _, p := range pods {
		m.refused[p] = why
	}
}

func (m *model) ours(p *v1.Pod) bool { return p.Spec.SchedulerName == m.SchedulerName }

// asCame orders pods as they were created.
func asCame(a, b *pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(len(a.Name), len(b.Name)),
		cmp.Compare(a.name(), b.name()))
}

// worth is the priority of jobs of a PriorityClass: next to no number of jobs is worth one of the next
// higher class, as long as there are few classes.
func (m *model) worth(priority int32) int64 {
	rank, _ := slices.BinarySearch(m.ranks, priority)
	bits := min(10, max(1, 39/len(m.ranks)))
	return 1 << min(39, bits*rank)
}

// class is the class of jobs that pods of a higher priority may stop; those below are the cohorts'.
func (m *model) class(priority int32) int {
	rank, _ := slices.BinarySearch(m.ranks, priority)
	return min(core.MaxClass, len(m.objects.Quotas.cohorts())+rank)
}

// protected reports whether a disruption budget forbids that all of the pods are evicted.
func (m *model) protected(pods []*pod) bool {
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
