// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"encoding/json"
	"strings"
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
	deciding   = counter("decide_seconds_total", "time in which the Cluster decided")
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
	sayAgain   = 30 * time.Second // after which a pod may be told of another reason
	maxTold    = 200              // pods that are told at once
	tellers    = 4                // that tell them
	explainGap = time.Second      // after which another job is told in detail
)

// tell tells users why their pods wait after a round: by the condition PodScheduled of each pod, and by an
// event for the first pod of a job. One job after the other is told details behind the reason. Rounds do
// not wait for that: while some pods are being told, no others are.
func (s *scheduler) tell(ctx context.Context, m *model.Model, cycle *core.Cycle) {
	if !s.teller.TryLock() {
		return
	}
	var news []func()
	turn, begin := -1, time.Now()
	say := func(p *v1.Pod, message string, first, now bool) {
		was := model.Scheduled(p)
		now = now || !strings.HasPrefix(was.Message, message) && begin.Sub(was.LastTransitionTime.Time) > sayAgain
		if now && was.Message != message && len(news) < maxTold {
			news = append(news, func() { s.say(ctx, p, message, first) })
		}
	}
	if n := len(cycle.Waiting); n > 0 && begin.After(s.explainNext) {
		s.explained++
		turn = s.explained % n
		w := &cycle.Waiting[turn]
		if x, err := s.cluster.Explain(ctx, w.Job, core.ExplainOptions{}); err == nil {
			w.Reason = m.Words(*w, x)
		}
		s.explainNext = time.Now().Add(max(explainGap, 10*time.Since(begin)))
	}
	for i, w := range cycle.Waiting {
		for k, p := range m.PodsOf(w.Job) {
			say(p, w.Reason, k == 0, i == turn)
		}
	}
	for p, why := range m.Refused {
		say(p, why, true, false)
	}
	go func() {
		defer s.teller.Unlock()
		workqueue.ParallelizeUntil(ctx, tellers, len(news), func(i int) { news[i]() })
	}()
}

// say writes the message into the pod's condition, and as an event too if loud.
func (s *scheduler) say(ctx context.Context, p *v1.Pod, message string, loud bool) {
	patch, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": []v1.PodCondition{{Type: v1.PodScheduled,
		Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message, LastTransitionTime: metav1.Now()}}}})
	if s.Status().Patch(ctx, p.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch)) != nil {
		return
	}
	if loud {
		s.events.Event(p, v1.EventTypeWarning, "FailedScheduling", message)
	}
	s.await(ctx, p, func(p *v1.Pod) bool { return model.Scheduled(p).Message == message })
}
