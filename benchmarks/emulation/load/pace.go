// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Latencies are how long clients waited, in ascending order, and how many failed.
type Latencies struct {
	Sorted []time.Duration
	Failed int
}

// Quantile is the least latency that a share q of the clients did not exceed; 0 if there are none.
func (l *Latencies) Quantile(q float64) time.Duration {
	n := len(l.Sorted)
	if n == 0 {
		return 0
	}
	at := int(float64(n)*q+0.999999) - 1
	return l.Sorted[min(max(at, 0), n-1)]
}

// paceFrom is pace after a pause.
func paceFrom(ctx context.Context, pause time.Duration, n int, every time.Duration,
	ask func(ctx context.Context, i int) error) Latencies {
	select {
	case <-ctx.Done():
		return Latencies{}
	case <-time.After(pause):
	}
	return pace(ctx, n, every, ask)
}

// pace calls ask n times, one every so often, whether or not the calls before have returned:
// a client that comes while slurmctld is busy counts as one. A latency is from when the call
// was due. It returns when all calls have.
func pace(ctx context.Context, n int, every time.Duration, ask func(ctx context.Context, i int) error) Latencies {
	var mu sync.Mutex
	var out Latencies
	var all sync.WaitGroup
	begin := time.Now()
	for i := range n {
		due := begin.Add(time.Duration(i) * every)
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(due)):
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			err := ask(ctx, i)
			took := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				out.Failed++
				return
			}
			out.Sorted = append(out.Sorted, took)
		})
	}
	all.Wait()
	slices.Sort(out.Sorted)
	return out
}
