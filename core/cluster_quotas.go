// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// SetQuota sets how much all jobs together may count against a quota: the cores of an account, the
// jobs of a user, licences, power. Reasons name it. Running jobs stay even if they count more. A
// quota cannot be removed; set it to [bids.MaxRate]. It returns an [*Error] if the name is empty or
// the limit is not within 0 to bids.MaxRate.
func (c *Cluster) SetQuota(name string, limit int64) error {
	return c.change(Event{Kind: "quota", Quota: name}, func() error {
		if err := format.CheckQuota(name); err != nil {
			return faultOf("quota", name, "name", name, err.Error(), nil)
		}
		if f := outOf("limit", limit, bids.MaxRate); f != nil {
			return &Error{Of: "quota", Name: name, Job: -1, Fault: f}
		}
		q, ok := c.quotas.number[name]
		if !ok {
			if c.quotas.number == nil {
				c.quotas.number = make(map[string]int)
			}
			q = len(c.quotas.all)
			c.quotas.number[name] = q
			c.quotas.all = append(c.quotas.all, clusterQuota{name: name})
		}
		c.quotas.all[q].limit = limit
		return nil
	})
}

// left appends what is left of each to dst, less than 0 where running jobs count more than the limit.
func (q *clusterQuotas) left(dst []Quota) []Quota {
	for i := range q.all {
		x := &q.all[i]
		dst = append(dst, Quota{x.name, max(x.limit-x.used, -bids.MaxRate)})
	}
	return dst
}

// countsFault is what is wrong with what a request counts, or nil.
func countsFault(field string, r *bids.Request, counts map[string]nodeset.Use) *bids.FieldError {
	if r.Charges != nil {
		return &bids.FieldError{Field: field, Value: "numbers", Why: "quotas of a Cluster have no numbers: name them"}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if f := useFault(field+"."+name, counts[name], place.MostCharged); f != nil {
			return f
		}
	}
	return nil
}

// numbered is what a job counts, by number. field is that of an error.
func (q *clusterQuotas) numbered(id, field string, counts map[string]nodeset.Use) (charges nodeset.Uses, err error) {
	charges, unknown := format.Uses(counts).Numbered(func(name string) (n int, ok bool) { n, ok = q.number[name]; return n, ok })
	if unknown == "" {
		return charges, nil
	}
	hint := input.Hint(unknown, slices.Sorted(maps.Keys(q.number)))
	return nil, jobFault(id, field, unknown, "there is no such quota"+hint, ErrUnknown)
}

// lack reports the first quota that has too little left for what a job counts.
func (q *clusterQuotas) lack(id string, sums nodeset.Uses) error {
	for _, c := range sums {
		if x := &q.all[c.Row]; c.PerJob > 0 && x.used+c.PerJob > x.limit {
			return jobFault(id, "charges", c.PerJob, fmt.Sprintf("%s: %d are left", x.name, max(x.limit-x.used, 0)), nil)
		}
	}
	return nil
}

// count counts what a running job counts, or with sign -1 takes it back.
func (q *clusterQuotas) count(sums nodeset.Uses, sign int64) {
	for _, c := range sums {
		q.all[c.Row].used += sign * c.PerJob
	}
}

// counts are sums by name; nil if there are none.
func (q *clusterQuotas) counts(sums nodeset.Uses) map[string]int64 {
	if len(sums) == 0 {
		return nil
	}
	counts := make(map[string]int64, len(sums))
	for _, c := range sums {
		counts[q.all[c.Row].name] = c.PerJob
	}
	return counts
}

// adopted are what a running job counts by name, by number.
func (q *clusterQuotas) adopted(id string, counts map[string]int64) (nodeset.Uses, error) {
	each := make(map[string]nodeset.Use, len(counts))
	for name, amount := range counts {
		each[name] = nodeset.Use{PerJob: amount}
	}
	if f := countsFault("charges", &bids.Request{}, each); f != nil {
		return nil, &Error{Of: "job", Name: id, Job: -1, Fault: f}
	}
	return q.numbered(id, "charges", each)
}

// amountsOfParts is what a job that starts counts by the charges of its parts, as charges of the
// job alone.
func amountsOfParts(way *bids.Request, held [][]nodeset.Segment) (sums nodeset.Uses) {
	for k, part := range held {
		for _, c := range place.PartOf(way, k).Charges {
			sums = place.AddAmount(sums, c.Row, place.Count(&c, place.SizeOf(part)))
		}
	}
	return sums
}
