// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/bids"
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
	return q, nil
}

// queue is the queue of a pod: the one that it names, or that of its namespace, or nil.
func (q *Quotas) queue(p *pod) (of *Queue) {
	for k := range q.Queues {
		switch x := &q.Queues[k]; {
		case x.Name == p.Labels[QueueLabel]:
			return x
		case of == nil && slices.Contains(x.Namespaces, p.Namespace):
			of = x
		}
	}
	return of
}

// quotaUnit is the unit of a quota, also in words: MiB of memory and disk, since a charge has 40 bits.
func quotaUnit(name v1.ResourceName) (unit int64, words string) {
	switch name {
	case v1.ResourceCPU:
		return 1, " (m)"
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return 1 << 20, " (Mi)"
	}
	return 1, ""
}

// whole is a quota in whole units.
func whole(name v1.ResourceName, q resource.Quantity) int64 {
	unit, _ := quotaUnit(name)
	return min(amount(string(name), q)/unit, bids.MaxRate)
}

// rows are the names of a queue's quota and of its cohort's, which is the queue's own without a cohort.
func (x *Queue) rows(name v1.ResourceName) (own, shared string) {
	_, unit := quotaUnit(name)
	of := ": " + string(name) + unit
	own, shared = "queue "+x.Name+of, "cohort "+x.Cohort+of
	if x.Cohort == "" {
		shared = own
	}
	return own, shared
}

// setQuotas has the limits of queues and cohorts.
func (m *Model) setQuotas() (err error) {
	limits := make(map[string]int64)
	for _, x := range m.Quotas.Queues {
		for name, nominal := range x.Nominal {
			own, shared := x.rows(name)
			if own != shared {
				limits[own] = bids.MaxRate
			}
			limits[shared] += whole(name, nominal)
			if limit, ok := x.Limit[name]; ok {
				limits[own] = min(limits[own], whole(name, limit))
			}
		}
	}
	for _, name := range sorted(limits) {
		err = cmp.Or(err, m.Cluster.SetQuota(name, limits[name]))
	}
	return err
}

// counts is what pods that are alike count against quotas, each of them.
func (m *Model) counts(p *pod) map[string]int64 {
	counts := make(map[string]int64)
	if x := m.Quotas.queue(p); x != nil {
		for name := range x.Nominal {
			unit, _ := quotaUnit(name)
			if v := p.requests[string(name)]; v > 0 {
				own, shared := x.rows(name)
				counts[own] = (v + unit - 1) / unit
				counts[shared] = counts[own]
			}
		}
	}
	return counts
}

// countsOf is what the pods of a job count together. above says that their queue is then above its nominal
// quota, within that it is not.
func (m *Model) countsOf(j job) (sum map[string]int64, above, within bool) {
	sum = make(map[string]int64)
	for _, pods := range j {
		for name, v := range m.counts(pods[0]) {
			sum[name] += v * int64(len(pods))
		}
	}
	x := m.Quotas.queue(j.first())
	if x == nil {
		return sum, false, false
	}
	for name, nominal := range x.Nominal {
		own, _ := x.rows(name)
		above = above || sum[own] > 0 && m.used[own]+sum[own] > whole(name, nominal)
	}
	return sum, above, !above
}
