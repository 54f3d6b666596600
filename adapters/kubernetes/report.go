// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/aucsched/aucsched/core"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// What the process counts, beside what the manager does: rounds, their errors, and who is the leader.
var (
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

const (
	sayAgain   = 30 * time.Second // after which a pod may be told something else
	maxTold    = 200              // pods that are told at once
	tellers    = 4                // that tell them
	explainGap = time.Second      // a job each
)

// explained is the last explanation of a job.
type explained struct {
	message string
	at      time.Time
}

// tell tells users why their pods wait after a round: by the condition PodScheduled of each pod, and by an
// event for the first pod of a job. Rounds do not wait for that: while some pods are being told, no others are.
func (s *Scheduler) tell(ctx context.Context, m *model.Model, cycle *core.Cycle) {
	maps.DeleteFunc(s.explained, func(id string, _ explained) bool { return m.Pods(id) == nil })
	var news []func()
	say := func(p *v1.Pod, message string, loud bool) {
		was := model.Scheduled(p)
		if len(news) < maxTold && was.Message != message && time.Since(was.LastTransitionTime.Time) > sayAgain {
			news = append(news, func() { s.say(ctx, p, message, loud) })
		}
	}
	for _, w := range cycle.Waiting {
		message := s.message(ctx, m, w)
		for k, p := range m.Pods(w.Job) {
			say(p, message, k == 0)
		}
	}
	for p, why := range m.Refused {
		say(p, why, true)
	}
	if s.teller.TryLock() {
		go func() {
			defer s.teller.Unlock()
			workqueue.ParallelizeUntil(ctx, tellers, len(news), func(i int) { news[i]() })
		}()
	}
}

// message says why a job waits: in detail once it has been explained.
func (s *Scheduler) message(ctx context.Context, m *model.Model, w core.Waiting) string {
	x := s.explained[w.Job]
	if begin := time.Now(); begin.Sub(x.at) > sayAgain && begin.After(s.explainNext) {
		x = explained{w.Reason, begin}
		if e, err := s.cluster.Explain(ctx, w.Job, core.ExplainOptions{}); err == nil {
			x.message = m.Words(w, e)
		}
		s.explained[w.Job] = x
		s.explainNext = time.Now().Add(max(explainGap, 10*time.Since(begin)))
	}
	return cmp.Or(x.message, w.Reason)
}

// say writes the message into the pod's condition, and as an event too if loud.
func (s *Scheduler) say(ctx context.Context, p *v1.Pod, message string, loud bool) {
	patch, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": []v1.PodCondition{{Type: v1.PodScheduled,
		Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message, LastTransitionTime: metav1.Now()}}}})
	if s.Status().Patch(ctx, p.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch)) != nil {
		return
	}
	if loud {
		s.Events.Event(p, v1.EventTypeWarning, "FailedScheduling", message)
	}
	s.await(ctx, p, func(p *v1.Pod) bool { return model.Scheduled(p).Message == message })
}
