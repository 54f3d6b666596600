// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/aucsched/aucsched/core"
)

// Metrics are the counters of a Scheduler.
type Metrics struct {
	Ready, Leader                              atomic.Bool
	Rounds, Failed, Bound, BindErrors, Evicted atomic.Int64
	groups, waiting, pending, refused, broken  atomic.Int64
	tellNanos, decideNanos                     atomic.Int64
}

func (x *Metrics) round(m *model.Model, c *core.Cycle, tell, decide time.Duration) {
	x.Rounds.Add(1)
	x.groups.Add(int64(len(c.Starts)))
	x.waiting.Store(int64(m.Waiting - len(c.Starts)))
	x.pending.Store(int64(len(m.Pending)))
	x.refused.Store(int64(len(m.Refused)))
	x.broken.Store(int64(len(m.Broken)))
	x.tellNanos.Add(int64(tell))
	x.decideNanos.Add(int64(decide))
}

// Write writes the metrics in the text format of Prometheus.
func (x *Metrics) Write(w io.Writer) {
	leader := int64(0)
	if x.Leader.Load() {
		leader = 1
	}
	write := func(name, kind string, value any, help string) {
		fmt.Fprintf(w, "# HELP aucsched_kube_%s %s.\n# TYPE aucsched_kube_%[1]s %[3]s\naucsched_kube_%[1]s %[4]v\n",
			name, help, kind, value)
	}
	write("leader", "gauge", leader, "1 while this replica schedules")
	write("rounds_total", "counter", x.Rounds.Load(), "rounds of scheduling")
	write("rounds_failed_total", "counter", x.Failed.Load(), "rounds that ended with an error")
	write("jobs_started_total", "counter", x.groups.Load(), "groups, and pods without one, that were started")
	write("pods_bound_total", "counter", x.Bound.Load(), "pods that were bound")
	write("bind_errors_total", "counter", x.BindErrors.Load(), "pods that the server refused to bind")
	write("pods_evicted_total", "counter", x.Evicted.Load(), "pods that were evicted")
	write("jobs_waiting", "gauge", x.waiting.Load(), "groups, and pods without one, that wait")
	write("pods_pending", "gauge", x.pending.Load(), "pods that are not bound")
	write("pods_refused", "gauge", x.refused.Load(), "pending pods that are in no job: see their conditions")
	write("groups_incomplete", "gauge", x.broken.Load(), "groups with fewer bound pods than they need")
	write("tell_seconds_total", "counter", float64(x.tellNanos.Load())/1e9, "time in which the Cluster was told the state")
	write("decide_seconds_total", "counter", float64(x.decideNanos.Load())/1e9, "time in which the Cluster decided")
}
