// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
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
	units   map[string]int64 // of each resource: so much is 1 of the Cluster's
	filters map[string][]string
	// ranks are the priorities of pods, ascending; cohorts those of Quotas.
	ranks []int32

	nodes    []core.Node
	switches []nodeset.Switch
	quotas   map[string]int64
	running  map[string]core.Start
	waiting  []core.JobSpec
	// members are the pods of a job by part, and refused why pods are in no job, by their names.
	members map[string][][]*pod
	refused map[*pod]string
	// broken are groups of which some pods, fewer than have to be, are bound.
	broken map[string][]*pod
}

// newModel makes the model of objects. known says of pods what is of this round too.
func newModel(o Options, objects *Objects, now time.Time, known func(*v1.Pod) *pod) *model {
	m := &model{Options: o, objects: objects, now: now, byName: make(map[string]*v1.Node), filters: make(map[string][]string),
		quotas: make(map[string]int64), running: make(map[string]core.Start), members: make(map[string][][]*pod),
		refused: make(map[*pod]string), broken: make(map[string][]*pod)}
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
		r := newRow("budget", []string{b.Namespace}, b.Spec.Selector, 0)
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

func hash(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// podCache keeps what was made of pods.
type podCache map[types.UID]*pod

func (c podCache) of(p *v1.Pod) *pod {
	if x := c[p.UID]; x != nil && x.ResourceVersion == p.ResourceVersion && x.Name == p.Name {
		x.Pod = p
		return x
	}
	c[p.UID] = newPod(p)
	return c[p.UID]
}
