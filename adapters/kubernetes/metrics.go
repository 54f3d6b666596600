// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/core"
)

// Metrics are the counters of a Scheduler.
type Metrics struct {
	Ready, Leader                              atomic.Bool
	Rounds, Failed, Bound, BindErrors, Evicted atomic.Int64
	groups, waiting, pending, refused, broken  atomic.Int64
	tellNanos, decideNanos                     atomic.Int64
}

func (x *Metrics) round(m *model, c *core.Cycle, tell, decide time.Duration) {
	x.Rounds.Add(1)
	x.groups.Add(int64(len(c.Starts)))
	x.waiting.Store(int64(len(m.waiting) - len(c.Starts)))
	x.pending.Store(int64(len(m.pending)))
	x.refused.Store(int64(len(m.refused)))
	x.broken.Store(int64(len(m.broken)))
	x.tellNanos.Add(int64(tell))
	x.decideNanos.Add(int64(decide))
}

// Write writes the metrics in the text format of Prometheus.
func (x *Metrics) Write(w io.Writer) {
	leader := int64(0)
	if x.Leader.Load() {
		leader = 1
	}
	for _, v := range []struct {
		name, kind, help string
		value            any
	}{
		{"leader", "gauge", "1 while this replica schedules", leader},
		{"rounds_total", "counter", "rounds of scheduling", x.Rounds.Load()},
		{"rounds_failed_total", "counter", "rounds that ended with an error", x.Failed.Load()},
		{"jobs_started_total", "counter", "groups, and pods without one, that were started", x.groups.Load()},
		{"pods_bound_total", "counter", "pods that were bound", x.Bound.Load()},
		{"bind_errors_total", "counter", "pods that the server refused to bind", x.BindErrors.Load()},
		{"pods_evicted_total", "counter", "pods that were evicted", x.Evicted.Load()},
		{"jobs_waiting", "gauge", "groups, and pods without one, that wait", x.waiting.Load()},
		{"pods_pending", "gauge", "pods that are not bound", x.pending.Load()},
		{"pods_refused", "gauge", "pending pods that are in no job: see their conditions", x.refused.Load()},
		{"groups_incomplete", "gauge", "groups with fewer bound pods than they need", x.broken.Load()},
		{"tell_seconds_total", "counter", "time in which the Cluster was told of changes", time.Duration(x.tellNanos.Load()).Seconds()},
		{"decide_seconds_total", "counter", "time in which the Cluster decided", time.Duration(x.decideNanos.Load()).Seconds()},
	} {
		fmt.Fprintf(w, "# HELP aucsched_kube_%s %s.\n# TYPE aucsched_kube_%[1]s %[3]s\naucsched_kube_%[1]s %[4]v\n",
			v.name, v.help, v.kind, v.value)
	}
}
