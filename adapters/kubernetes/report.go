// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	sayAgain   = 30 * time.Second // after which a pod may be told something else
	maxTold    = 200              // pods in a round
	maxRivals  = 2                // that a message names
	clock      = "15:04 on 2 Jan"
	explainGap = time.Second // a job each
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
	for id := range r.told {
		if !pending[id] {
			delete(r.told, id)
		}
	}
	waiting := s.mirror.Waiting()
	jobs := make(map[string]bool, len(waiting))
	for _, w := range waiting {
		jobs[w.Job] = true
	}
	for id := range r.explained {
		if !jobs[id] {
			delete(r.explained, id)
		}
	}
	left := maxTold
	for _, w := range waiting {
		if w.Why == 0 { // not looked at yet
			continue
		}
		for k, p := range slices.Concat(m.members[w.Job]...) {
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
		if e, err := s.mirror.Explain(ctx, w.Job, core.ExplainOptions{}); err == nil {
			x.message = m.inWords(w, e, s.mirror.waiting[w.Job], s.mirror.running)
		}
		r.explained[w.Job] = x
		r.next = time.Now().Add(max(explainGap, 10*time.Since(begin)))
	}
	if x.message != "" {
		return x.message
	}
	return w.Reason
}

// inWords says what a job lacks, who holds it, and until when.
func (m *model) inWords(w core.Waiting, x *core.Explanation, spec core.JobSpec, running map[string]core.Start) string {
	var b strings.Builder
	b.WriteString(w.Reason)
	if len(x.Lacks) > 0 {
		b.WriteString(": waits for " + lack(&x.Lacks[0], spec, m.units))
	}
	word := ", behind "
	for _, rival := range x.Rivals[:min(maxRivals, len(x.Rivals))] {
		if runs, ok := running[rival.ID]; ok {
			b.WriteString(", held by " + rival.ID)
			if runs.End.Sub(m.now) < never/2 {
				b.WriteString(" until " + runs.End.UTC().Format(clock))
			}
			continue
		}
		b.WriteString(word + rival.ID)
		word = " and "
	}
	if !w.Expected.IsZero() && w.Expected.Sub(m.now) < never/2 {
		b.WriteString(", expected to start at " + w.Expected.UTC().Format(clock))
	}
	return b.String()
}

// lack says how much is missing of what: of a resource where all pods are alike, or for how many pods.
func lack(l *core.Lack, spec core.JobSpec, units map[string]int64) string {
	missing := max(0, l.Needs-l.Has)
	each := spec.Takes[l.Row].PerCore * units[l.Row]
	switch {
	case l.In == "cores" && each > 0 && len(spec.Components) == 0:
		return fmt.Sprintf("%s of %s %s", inUnits(l.Row, missing*each), inUnits(l.Row, l.Needs*each), l.Row)
	case l.In == "cores":
		return fmt.Sprintf("room for %d of %d pods (%s)", missing, l.Needs, l.Row)
	case l.In == "nodes":
		return fmt.Sprintf("%d of %d nodes (%s)", missing, l.Needs, l.Row)
	}
	_, name, _ := strings.Cut(l.Row, ": ")
	unit := quotaUnit(v1.ResourceName(name))
	return fmt.Sprintf("%s of %s of %s", inUnits(name, missing*unit), inUnits(name, l.Needs*unit), l.Row)
}

func inUnits(name string, v int64) string {
	switch v1.ResourceName(name) {
	case v1.ResourceCPU:
		return resource.NewMilliQuantity(v, resource.DecimalSI).String()
	case v1.ResourceMemory, v1.ResourceEphemeralStorage:
		return resource.NewQuantity(v, resource.BinarySI).String()
	}
	return strconv.FormatInt(v, 10)
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
