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
func ReadQuotas(text string) (*Quotas, error) {
	q := new(Quotas)
	if err := yaml.UnmarshalStrict([]byte(text), q); err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	for _, x := range q.Queues {
		if x.Name == "" || names[x.Name] {
			return nil, fmt.Errorf("queues: %q: a queue needs a name, unlike all others", x.Name)
		}
		names[x.Name] = true
	}
	if n := len(q.cohorts()); n > core.MaxClass/2 {
		return nil, fmt.Errorf("queues: %d cohorts, more than %d", n, core.MaxClass/2)
	}
	return q, nil
}

// cohorts are the names of the cohorts, ascending.
func (q *Quotas) cohorts() (names []string) {
	if q != nil {
		for _, x := range q.Queues {
			if x.Cohort != "" {
				names = append(names, x.Cohort)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// queue is the queue of a pod, or nil.
func (q *Quotas) queue(p *pod) *Queue {
	if q == nil {
		return nil
	}
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
func (x *Queue) shared(name v1.ResourceName) string {
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
			if x.Cohort != "" {
				counts[x.shared(name)] = counts[x.own(name)]
			}
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

// addQuotas has the limits of queues and cohorts, what running jobs count, and who may take back what was
// lent: a job that its queue's nominal quota has room for may stop those with which other queues of the
// cohort are above theirs. These are of the class of the cohort, which is below all priorities.
func (m *Model) addQuotas() {
	q := m.objects.Quotas
	if q == nil {
		return
	}
	nominal := make(map[string]int64)
	for i := range q.Queues {
		x := &q.Queues[i]
		for name, amount := range x.Nominal {
			nominal[x.own(name)] = whole(name, amount)
			if x.Cohort != "" {
				nominal[x.shared(name)] += whole(name, amount)
			}
		}
	}
	for i := range q.Queues {
		x := &q.Queues[i]
		for name := range x.Nominal {
			most := nominal[x.own(name)]
			if x.Cohort != "" {
				most = nominal[x.shared(name)]
				m.quotas[x.shared(name)] = most
			}
			if limit, ok := x.Limit[name]; ok {
				most = min(most, whole(name, limit))
			}
			m.quotas[x.own(name)] = most
		}
	}
	ids := sorted(m.running)
	slices.SortStableFunc(ids, func(a, b string) int {
		x, y := m.running[a], m.running[b]
		return cmp.Or(cmp.Compare(y.Class, x.Class), x.Begin.Compare(y.Begin))
	})
	used, borrower := make(map[string]int64), make(map[int]int32) // the highest priority of a cohort's
	cohorts := q.cohorts()
	for _, id := range ids {
		s, first := m.running[id], m.jobs[id].parts[0][0]
		s.Counts = m.countsOf(m.jobs[id])
		if x := q.queue(first); x != nil && x.Cohort != "" && exceeds(used, s.Counts, nominal, x) {
			s.Class, _ = slices.BinarySearch(cohorts, x.Cohort)
			borrower[s.Class] = max(borrower[s.Class], first.priority())
		}
		for name, v := range s.Counts {
			used[name] += v
		}
		m.running[id] = s
	}
	for i := range m.waiting {
		spec := &m.waiting[i]
		j := m.jobs[spec.ID]
		first, x := j.parts[0][0], q.queue(j.parts[0][0])
		for class, highest := range borrower {
			within := x != nil && x.Cohort == cohorts[class] && !exceeds(used, m.countsOf(j), nominal, x)
			if within || spec.Preempts != 0 && first.priority() > highest {
				spec.Preempts |= 1 << class
			}
		}
	}
}

// exceeds reports whether a queue that counts more uses more than its nominal quota.
func exceeds(used, more, nominal map[string]int64, x *Queue) bool {
	for name := range x.Nominal {
		if n := x.own(name); more[n] > 0 && used[n]+more[n] > nominal[n] {
			return true
		}
	}
	return false
}

// whole is a quota in whole units.
func whole(name v1.ResourceName, q resource.Quantity) int64 {
	return min(room(string(name), q)/quotaUnit(string(name)), bids.MaxRate)
}
