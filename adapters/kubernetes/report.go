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
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	sayAgain   = 30 * time.Second // after which a pod may be told something else
	maxTold    = 200              // pods that are to be told at once
	tellers    = 4                // that tell them
	explainGap = time.Second      // a job each
)

// report tells users why their pods wait: by the condition PodScheduled of each pod, and by an event for
// the first pod of a job. Rounds do not wait for that.
type report struct {
	told      map[types.UID]said
	explained map[string]said // by job
	next      time.Time       // when another may be explained
	tasks     chan func()
}

type said struct {
	message string
	at      time.Time
}

func (r *report) start() {
	r.told, r.explained, r.tasks = make(map[types.UID]said), make(map[string]said), make(chan func(), maxTold)
	for range tellers {
		go func() {
			for task := range r.tasks {
				task()
			}
		}()
	}
}

// tell tells the pods that wait after a round.
func (r *report) tell(ctx context.Context, s *Scheduler, m *model.Model, cycle *core.Cycle) {
	pending := make(map[types.UID]bool, len(m.Pending))
	for _, p := range m.Pending {
		pending[p.UID] = true
	}
	maps.DeleteFunc(r.told, func(id types.UID, _ said) bool { return !pending[id] })
	maps.DeleteFunc(r.explained, func(id string, _ said) bool { return m.Pods(id) == nil })
	for _, w := range cycle.Waiting {
		message := r.message(ctx, s, m, w)
		for k, p := range m.Pods(w.Job) {
			r.say(ctx, s, p, message, k == 0)
		}
	}
	for p, why := range m.Refused {
		r.say(ctx, s, p, why, true)
	}
}

// message says why a job waits: in detail once it has been explained.
func (r *report) message(ctx context.Context, s *Scheduler, m *model.Model, w core.Waiting) string {
	x, ok := r.explained[w.Job]
	if begin := time.Now(); (!ok || begin.Sub(x.at) > sayAgain) && begin.After(r.next) {
		x = said{w.Reason, begin}
		if e, err := s.cluster.Explain(ctx, w.Job, core.ExplainOptions{}); err == nil {
			x.message = m.Words(w, e)
		}
		r.explained[w.Job] = x
		r.next = time.Now().Add(max(explainGap, 10*time.Since(begin)))
	}
	return cmp.Or(x.message, w.Reason)
}

// say writes the message into the pod's condition, and as an event too if loud, unless too many are to
// be told already.
func (r *report) say(ctx context.Context, s *Scheduler, p *v1.Pod, message string, loud bool) {
	now := time.Now()
	was, ok := r.told[p.UID]
	if !ok { // a leader before may have told it
		for _, c := range p.Status.Conditions {
			if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Message == message {
				was, ok = said{message, now}, true
				r.told[p.UID] = was
			}
		}
	}
	if ok && (was.message == message || now.Sub(was.at) < sayAgain) {
		return
	}
	select {
	case r.tasks <- func() {
		patch, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": []v1.PodCondition{{Type: v1.PodScheduled,
			Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message, LastTransitionTime: metav1.Now()}}}})
		_, err := s.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{}, "status")
		if err == nil && loud {
			s.Events.Event(p, v1.EventTypeWarning, "FailedScheduling", message)
		}
	}:
		r.told[p.UID] = said{message, now}
	default:
	}
}
