// SPDX-License-Identifier: BSD-3-Clause

package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/core"
)

// Metrics say how many points a job's start is worth: Start for every job, and in addition its
// priority, PerHour for each hour that it has waited, and up to Deadline the closer it is to the
// last moment at which it could start and keep its deadline: all of them from that moment on, none
// Horizon before it. A deadline that can't be kept any more counts as none.
type Metrics struct {
	Start, PerHour, Deadline float64
	Horizon                  time.Duration
}

// DefaultMetrics are the recommended ones.
func DefaultMetrics() Metrics {
	return Metrics{Start: 100, PerHour: 100, Deadline: 1000, Horizon: time.Hour}
}

// points is what the start of a job is worth now.
func (m *Metrics) points(e *Entry, now time.Duration) float64 {
	p := m.Start + float64(e.Job.Priority) + m.PerHour*max(0, now-e.Submitted).Hours()
	if e.Deadline == 0 || m.Horizon <= 0 {
		return p
	}
	runs := time.Duration(e.Job.Limit) * time.Second
	slack := e.Deadline - runs - now
	if e.Deadline-now <= 0 || e.Job.Limit > 0 && slack < -runs/10 {
		return p // it would end too late, even if it took somewhat less than its limit
	}
	return p + m.Deadline*min(1, max(0, 1-float64(slack)/float64(m.Horizon)))
}

// A ranked is a waiting job with its worth.
type ranked struct {
	entry  Entry
	points float64
}

// scale makes priorities of core out of points.
func (r *ranked) priority() int64 {
	return int64(min(max(math.Round(100*r.points), 1), core.MaxPriority))
}

// rank appends the first n waiting jobs by worth, equals by ID.
func (m *Metrics) rank(to []ranked, waiting []Entry, n int, now time.Duration) []ranked {
	for i := range waiting {
		to = append(to, ranked{waiting[i], m.points(&waiting[i], now)})
	}
	first := func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(a.entry.Job.ID, b.entry.Job.ID))
	}
	if len(to) > 2*n {
		selectFirst(to, n, first)
		to = to[:n]
	}
	slices.SortFunc(to, first)
	return to[:min(n, len(to))]
}

// selectFirst moves the first n elements of an order to the front, in any order
// (Hoare's selection).
func selectFirst(s []ranked, n int, order func(a, b ranked) int) {
	for low, high := 0, len(s)-1; low < high; {
		pivot := s[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for order(s[i], pivot) < 0 {
				i++
			}
			for order(s[j], pivot) > 0 {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return
		}
	}
}
