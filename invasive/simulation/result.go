// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"math"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A Result is what one run came to. Times are in seconds.
type Result struct {
	Jobs      int `json:"jobs"`
	Malleable int `json:"malleable_jobs"`
	Evolving  int `json:"evolving_jobs"`
	Moldable  int `json:"moldable_jobs"`
	Urgent    int `json:"urgent_jobs"`
	// Utilisation is the share of cores that jobs owned, from the first submission to the last;
	// Makespan is until the last end.
	Utilisation float64 `json:"utilisation"`
	Makespan    float64 `json:"makespan_s"`
	// Wait is from submission to launch, Turnaround to the end; Slowdown is Turnaround by
	// the duration on the cores asked for, each but with at least ten seconds. Urgent jobs
	// aren't in these three.
	Wait       float64 `json:"wait_mean_s"`
	Turnaround float64 `json:"turnaround_mean_s"`
	Slowdown   float64 `json:"slowdown_mean"`
	// UrgentP50 and UrgentP99 are the latency of urgent jobs from submission to launch,
	// UrgentMax the greatest.
	UrgentP50 float64 `json:"urgent_latency_p50_s"`
	UrgentP99 float64 `json:"urgent_latency_p99_s"`
	UrgentMax float64 `json:"urgent_latency_max_s"`
	// Latencies are those of all urgent jobs, ascending.
	Latencies []time.Duration `json:"-"`
	// Transactions are negotiations, Offers those made in them, Rejected the offers and
	// mappings that were rejected.
	Transactions int `json:"transactions"`
	Offers       int `json:"offers"`
	Rejected     int `json:"rejected"`
	Messages     int `json:"messages"`
	Shrinks      int `json:"shrinks"`
	Grows        int `json:"grows"`
	Suspensions  int `json:"suspensions"`
	Kills        int `json:"kills"`
	// Wishes are what evolving jobs asked for.
	Wishes int `json:"wishes"`
}

// slowdownFloor keeps very short jobs from ruling the mean.
const slowdownFloor = 10 * time.Second

func (s *system) result() *Result {
	c := &s.count
	r := &Result{
		Jobs: len(s.jobs), Transactions: c.transactions, Offers: c.offers, Rejected: c.rejected, Messages: c.messages,
		Shrinks: c.shrinks, Grows: c.grows, Suspensions: c.suspensions, Kills: c.kills, Wishes: c.wishes,
	}
	first, last, end := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(0)
	var urgent []time.Duration
	others := 0.0
	for i := range s.jobs {
		j := &s.jobs[i]
		first, last, end = min(first, j.Submit), max(last, j.Submit), max(end, j.end)
		switch j.Kind {
		case invasive.Malleable:
			r.Malleable++
		case invasive.Evolving:
			r.Evolving++
		case invasive.Moldable:
			r.Moldable++
		}
		if j.Urgent {
			urgent = append(urgent, j.start-j.Submit)
			continue
		}
		others++
		r.Wait += (j.start - j.Submit).Seconds()
		r.Turnaround += (j.end - j.Submit).Seconds()
		r.Slowdown += max(1, (j.end-j.Submit).Seconds()/max(j.Duration, slowdownFloor).Seconds())
	}
	if others > 0 {
		r.Wait, r.Turnaround, r.Slowdown = r.Wait/others, r.Turnaround/others, r.Slowdown/others
	}
	r.Makespan = (end - first).Seconds()
	if r.Utilisation = s.judge.busyUntil(first, last) / float64(len(s.judge.owner)); last > first {
		r.Utilisation /= (last - first).Seconds()
	}
	if r.Urgent = len(urgent); r.Urgent > 0 {
		slices.Sort(urgent)
		r.Latencies = urgent
		r.UrgentP50, r.UrgentP99, r.UrgentMax = quantile(urgent, 0.5), quantile(urgent, 0.99), urgent[len(urgent)-1].Seconds()
	}
	return r
}

// quantile is the smallest of ascending values that a share q of them doesn't exceed, in seconds.
func quantile(v []time.Duration, q float64) float64 {
	return v[max(0, int(math.Ceil(q*float64(len(v))))-1)].Seconds()
}

// busyUntil is the core seconds that jobs owned cores between two times.
func (f *referee) busyUntil(first, last time.Duration) (sum float64) {
	for id := invasive.JobID(1); int(id) <= len(f.ledger); id++ {
		// sums of floats depend on their order
		a := f.ledger[id]
		for i, c := range a.changes {
			until := a.end
			if i+1 < len(a.changes) {
				until = a.changes[i+1].at
			}
			sum += max(0, min(until, last)-max(c.at, first)).Seconds() * float64(c.cores)
		}
	}
	return sum
}
