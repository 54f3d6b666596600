// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// What the process counts. The manager's own registry has leader_election_master_status beside it.
var (
	rounds     = counter("rounds_total", "rounds of scheduling")
	failed     = counter("rounds_failed_total", "rounds that ended with an error")
	started    = counter("jobs_started_total", "groups, and pods without one, that were started")
	podsBound  = counter("pods_bound_total", "pods that were bound")
	bindErrors = counter("bind_errors_total", "pods that the server refused to bind")
	evicted    = counter("pods_evicted_total", "pods that were evicted")
	telling    = counter("tell_seconds_total", "time in which the Cluster was told the state")
	deciding   = counter("decide_seconds_total", "time in which the Cluster decided")
	waiting    = gauge("jobs_waiting", "groups, and pods without one, that wait")
	pending    = gauge("pods_pending", "pods that are not bound")
	refused    = gauge("pods_refused", "pending pods that are in no job: see their conditions")
	broken     = gauge("groups_incomplete", "groups with fewer bound pods than they need")
)

func counter(name, help string) prometheus.Counter {
	return promauto.With(metrics.Registry).NewCounter(prometheus.CounterOpts{Namespace: "aucsched_kube", Name: name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return promauto.With(metrics.Registry).NewGauge(prometheus.GaugeOpts{Namespace: "aucsched_kube", Name: name, Help: help})
}
