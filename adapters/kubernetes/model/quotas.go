// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Quotas bound what pods take together. They are read from the key quotas.yaml of a ConfigMap.
type Quotas struct {
	Queues []Queue `json:"queues"`
}

// Queue is a quota of some namespaces, or of the pods that name it with QueueLabel.
type Queue struct {
	Name       string   `json:"name"`
	Namespaces []string `json:"namespaces,omitempty"`
	// Nominal is what the queue may always use. Resources that it does not name are unbounded.
	Nominal v1.ResourceList `json:"nominal"`
	// Cohort names queues that lend each other what of Nominal they do not use; "": none.
	Cohort string `json:"cohort,omitempty"`
	// Limit is the most that the queue may use with what it borrows; without it, all that the cohort has.
	Limit v1.ResourceList `json:"limit,omitempty"`
}

// ReadQuotas reads quotas.
func ReadQuotas(text string) (q Quotas, err error) {
	if err := yaml.UnmarshalStrict([]byte(text), &q); err != nil {
		return q, err
	}
	names := make(map[string]bool)
	for _, x := range q.Queues {
		if x.Name == "" || names[x.Name] {
			return q, fmt.Errorf("queues: %q: a queue needs a name, unlike all others", x.Name)
		}
		names[x.Name] = true
	}
	if n := len(q.cohorts()); n > core.MaxClass/2 {
		return q, fmt.Errorf("queues: %d cohorts, more than %d", n, core.MaxClass/2)
	}
	return q, nil
}

// cohorts are the names of the cohorts, ascending.
func (q *Quotas) cohorts() (names []string) {
	for _, x := range q.Queues {
		if x.Cohort != "" {
			names = append(names, x.Cohort)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// queue is the queue of a pod, or nil.
func (q *Quotas) queue(p *pod) *Queue {
	if name := p.Labels[QueueLabel]; name != "" {
		if k := slices.IndexFunc(q.Queues, func(x Queue) bool { return x.Name == name }); k >= 0 {
			return &q.Queues[k]
		}
	}
	if k := slices.IndexFunc(q.Queues, func(x Queue) bool { return slices.Contains(x.Namespaces, p.Namespace) }); k >= 0 {
		return &q.Queues[k]
	}
	return nil
}

// quotaUnit is the unit of quotas: MiB of memory and disk, since a charge has 40 bits.
func quotaUnit(name string) int64 {
	if quantity(name, 0).Format == resource.BinarySI {
		return 1 << 20
	}
	return 1
}

func (x *Queue) own(name v1.ResourceName) string { return "queue " + x.Name + ": " + string(name) }

// shared is the quota of a queue's cohort; without one it is the queue's own.
func (x *Queue) shared(name v1.ResourceName) string {
	if x.Cohort == "" {
		return x.own(name)
	}
	return "cohort " + x.Cohort + ": " + string(name)
}

// counts is what a pod counts against quotas.
func (m *Model) counts(p *pod) map[string]int64 {
	x := m.objects.Quotas.queue(p)
	if x == nil {
		return nil
	}
	counts := make(map[string]int64)
	for name := range x.Nominal {
		if v, unit := p.requests[string(name)], quotaUnit(string(name)); v > 0 {
			counts[x.own(name)] = (v + unit - 1) / unit
			counts[x.shared(name)] = counts[x.own(name)]
		}
	}
	return counts
}

// countsOf is what the pods of a job count together.
func (m *Model) countsOf(j *job) map[string]int64 {
	sum := make(map[string]int64)
	for _, pods := range j.parts {
		for name, v := range m.counts(pods[0]) {
			sum[name] += v * int64(len(pods))
		}
	}
	return sum
}

// setQuotas has the limits of queues and cohorts.
func (m *Model) setQuotas() (err error) {
	limits := make(map[string]int64)
	for _, x := range m.objects.Quotas.Queues {
		for name, amount := range x.Nominal {
			limits[x.shared(name)] += whole(name, amount)
		}
	}
	for _, x := range m.objects.Quotas.Queues {
		for name := range x.Nominal {
			limits[x.own(name)] = limits[x.shared(name)]
			if limit, ok := x.Limit[name]; ok {
				limits[x.own(name)] = min(limits[x.own(name)], whole(name, limit))
			}
		}
	}
	for _, name := range sorted(limits) {
		err = cmp.Or(err, m.Cluster.SetQuota(name, limits[name]))
	}
	return err
}

// count counts a running job. If its queue is above the nominal quota with it, it is of the class of the
// cohort, which is below all priorities.
func (m *Model) count(s *core.Start) {
	first := m.jobs[s.Job].first()
	if x := m.objects.Quotas.queue(first); x != nil && x.Cohort != "" && m.exceeds(s.Counts, x) {
		s.Class, _ = slices.BinarySearch(m.objects.Quotas.cohorts(), x.Cohort)
		m.borrowers[s.Class] = max(m.borrowers[s.Class], first.priority())
	}
	for name, v := range s.Counts {
		m.used[name] += v
	}
}

// mayReclaim reports whether a job may have jobs of the class of a cohort stopped: its queue's nominal quota
// has room for it, so that the cohort has lent what is its own.
func (m *Model) mayReclaim(j *job, class int) bool {
	x := m.objects.Quotas.queue(j.first())
	return x != nil && x.Cohort == m.objects.Quotas.cohorts()[class] && !m.exceeds(m.countsOf(j), x)
}

// exceeds reports whether a queue that counts more uses more than its nominal quota.
func (m *Model) exceeds(more map[string]int64, x *Queue) bool {
	for name, nominal := range x.Nominal {
		if n := x.own(name); more[n] > 0 && m.used[n]+more[n] > whole(name, nominal) {
			return true
		}
	}
	return false
}

// whole is a quota in whole units.
func whole(name v1.ResourceName, q resource.Quantity) int64 {
	return min(room(string(name), q)/quotaUnit(string(name)), bids.MaxRate)
}
