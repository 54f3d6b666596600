// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	sayAgain   = 30 * time.Second // after which a pod may be told something else
	maxTold    = 200              // pods in a round
	maxRivals  = 2                // that a message names
	explainGap = time.Second      // a job each
)

// report tells users why their pods wait: by the condition PodScheduled of each pod, and by an event for
// the first pod of a job.
type report struct {
	told      map[types.UID]said
	explained map[string]said // by job
	next      time.Time       // when another may be explained
	busy      atomic.Int64
}

type said struct {
	message string
	at      time.Time
}

func (r *report) init() {
	r.told, r.explained = make(map[types.UID]said), make(map[string]said)
}

// tell tells the pods that wait after a round.
func (r *report) tell(ctx context.Context, s *Scheduler, m *model, cycle *core.Cycle) {
	pending := make(map[types.UID]bool, len(m.pending))
	for _, p := range m.pending {
		pending[p.UID] = true
	}
	maps.DeleteFunc(r.told, func(id types.UID, _ said) bool { return !pending[id] })
	maps.DeleteFunc(r.explained, func(id string, _ said) bool { return m.jobs[id] == nil })
	left := maxTold
	for _, w := range cycle.Waiting {
		for k, p := range m.jobs[w.Job].pods() {
			if left > 0 && r.say(ctx, s, p, r.message(ctx, s, m, w), k == 0) {
				left--
			}
		}
	}
	for p, why := range m.refused {
		if left > 0 && r.say(ctx, s, p, why, true) {
			left--
		}
	}
}

// message says why a job waits: in detail once it has been explained.
func (r *report) message(ctx context.Context, s *Scheduler, m *model, w core.Waiting) string {
	x, ok := r.explained[w.Job]
	if (!ok || m.now.Sub(x.at) > sayAgain) && m.now.After(r.next) {
		begin := time.Now()
		x = said{w.Reason, m.now}
		if e, err := s.cluster.Explain(ctx, w.Job, core.ExplainOptions{}); err == nil {
			x.message = m.inWords(w, e)
		}
		r.explained[w.Job] = x
		r.next = time.Now().Add(max(explainGap, 10*time.Since(begin)))
	}
	return cmp.Or(x.message, w.Reason)
}

// inWords says what a job lacks, who holds it, and until when.
func (m *model) inWords(w core.Waiting, x *core.Explanation) string {
	text := w.Reason
	if len(x.Lacks) > 0 {
		text += ": waits for " + m.lack(&x.Lacks[0])
	}
	word := ", behind "
	for _, rival := range x.Rivals[:min(maxRivals, len(x.Rivals))] {
		if rival.Role == "running" {
			text += ", held by " + rival.ID + at(" until ", m.running[rival.ID].End, m.now)
			continue
		}
		text += word + rival.ID
		word = " and "
	}
	return text + at(", expected to start at ", w.Expected, m.now)
}

// at is a time in words; "" if it is not known.
func at(words string, t, now time.Time) string {
	if t.IsZero() || t.Sub(now) > never/2 {
		return ""
	}
	return words + t.UTC().Format("15:04 on 2 Jan")
}

// lack says how much of what is missing.
func (m *model) lack(l *core.Lack) string {
	missing, row, each := max(0, l.Needs-l.Has), l.Row, l.Each[l.Row]
	switch strings.TrimSuffix(row, "_per_node") {
	case cores:
		row, each = string(v1.ResourceCPU), l.Each[string(v1.ResourceCPU)]
	case gpus:
		row, each = "GPUs", l.Each[gpus]*m.units[gpus]
	}
	switch {
	case l.In == "quota":
		_, name, _ := strings.Cut(row, ": ")
		unit := quotaUnit(name)
		return fmt.Sprintf("%s of %s of %s", quantity(name, missing*unit), quantity(name, l.Needs*unit), row)
	case each > 0 && l.In == "nodes":
		return fmt.Sprintf("%d of %d nodes with %s %s", missing, l.Needs, quantity(row, each*max(m.units[row], 1)), row)
	case l.In == "cores":
		return fmt.Sprintf("room for %d of %d pods (%s)", missing, l.Needs, row)
	}
	return fmt.Sprintf("%d of %d %s (%s)", missing, l.Needs, l.In, row)
}

// say writes the message into the pod's condition, and as an event too if loud. It reports whether there
// was anything to do.
func (r *report) say(ctx context.Context, s *Scheduler, p *pod, message string, loud bool) bool {
	now := time.Now()
	was, ok := r.told[p.UID]
	if !ok { // a leader before may have told it
		for _, c := range p.Status.Conditions {
			if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && c.Message == message {
				r.told[p.UID] = said{message, now}
				return false
			}
		}
	}
	if ok && (was.message == message || now.Sub(was.at) < sayAgain) || r.busy.Load() > maxTold {
		return false
	}
	r.told[p.UID] = said{message, now}
	patch, _ := json.Marshal(map[string]any{"status": map[string]any{"conditions": []v1.PodCondition{{Type: v1.PodScheduled,
		Status: v1.ConditionFalse, Reason: v1.PodReasonUnschedulable, Message: message, LastTransitionTime: metav1.Now()}}}})
	r.busy.Add(1)
	s.do(func() {
		defer r.busy.Add(-1)
		_, err := s.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{}, "status")
		if err == nil && loud {
			s.Events.Event(p.Pod, v1.EventTypeWarning, "FailedScheduling", message)
		}
	})
	return true
}
