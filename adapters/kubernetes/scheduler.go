// SPDX-License-Identifier: BSD-3-Clause

// Package kube schedules the pods of a Kubernetes cluster with core.Cluster.
//
// Each round makes a model of the API's objects (package model), and of the model a Cluster. The Cluster
// decides, and Scheduler binds, evicts and reports. A round ends when the informer shows what it did. So a
// round depends on nothing but the objects and what the Cluster before it has learnt, and a new leader
// goes on where the old one ended.
package kube

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// PodGroups is the resource of pod groups, as coscheduling has it.
var PodGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

// Config is what a Scheduler needs.
type Config struct {
	model.Options
	Client kubernetes.Interface
	// Dynamic reads PodGroups; nil: there are none.
	Dynamic dynamic.Interface
	// Namespace and QuotaName name the ConfigMap of the quotas; without a name there are none.
	Namespace, QuotaName string
	// Interval is the least time between rounds, Deadline the most that a decision takes.
	Interval, Deadline time.Duration
	// GangTimeout is for how long a group may lack pods that have to run; then all are evicted. 0: for ever.
	GangTimeout time.Duration
	// Reservations is how many blocked groups have a place kept, at the earliest time at which it is free.
	// Pods without an end take a place for ever, so that nothing but shorter pods may start there before.
	Reservations int
	// Workers bind and evict at once.
	Workers int
	Log     *slog.Logger
	Events  record.EventRecorder
}

// Scheduler schedules pods until its context ends. There may be one at a time for a cluster.
type Scheduler struct {
	Config
	policy  core.Policy
	cluster *core.Cluster // of this round
	known   model.Cache
	dirty   chan struct{}
	filling atomic.Bool          // the caches, of a leader
	shown   cache.Store          // pods as the informer shows them
	since   map[string]time.Time // of groups that lack pods

	explained   map[string]explained // by job
	explainNext time.Time            // when another may be explained
	teller      sync.Mutex           // held while pods are told

	// quotas are what quotasOf, the ConfigMap's text, last said without a fault.
	quotas   model.Quotas
	quotasOf string
}

// Run schedules until ctx ends; the caller is the leader all that time. It returns when nothing is being
// bound any more.
func (s *Scheduler) Run(ctx context.Context) error {
	s.known, s.since, s.dirty = make(model.Cache), make(map[string]time.Time), make(chan struct{}, 1)
	s.explained = make(map[string]explained)
	s.filling.Store(true)
	read, err := s.watch(ctx)
	if err != nil {
		return err
	}
	s.filling.Store(false)
	options := core.Preset("none")
	options.Reservations, options.Estimates = s.Reservations, true
	if s.policy, err = core.NewAuction(options, nil); err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.dirty:
		case <-tick.C:
		}
		begin := time.Now()
		if err := s.round(ctx, read()); err != nil && ctx.Err() == nil {
			s.Log.Error("a round failed; the next one begins anew", "error", err)
			failed.Inc()
			s.changed()
		}
		select {
		case <-time.After(s.Interval - time.Since(begin)):
		case <-ctx.Done():
		}
	}
}

// Ready is the check of /readyz.
func (s *Scheduler) Ready(*http.Request) error {
	if s.filling.Load() {
		return errors.New("the caches are not full yet")
	}
	return nil
}

// changed asks for a round.
func (s *Scheduler) changed() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// round has the Cluster decide on the objects, and does what it says. It returns when the informer shows
// what was done, so that the next round sees it.
func (s *Scheduler) round(ctx context.Context, o *model.Objects) error {
	begin := time.Now()
	m, err := model.New(s.Options, o, begin, s.known,
		core.ClusterOptions{Policy: s.policy, Continues: s.cluster, Deadline: s.Deadline, StrictPreemption: true})
	if err != nil {
		return err
	}
	s.cluster = m.Cluster
	told := time.Now()
	cycle, err := s.cluster.Decide(ctx)
	if err != nil {
		return err
	}
	rounds.Inc()
	started.Add(float64(len(cycle.Starts)))
	telling.Add(told.Sub(begin).Seconds())
	deciding.Add(time.Since(told).Seconds())
	waiting.Set(float64(m.Waiting - len(cycle.Starts)))
	pending.Set(float64(m.Pending))
	refused.Set(float64(len(m.Refused)))
	broken.Set(float64(len(m.Broken)))
	bindings, err := m.Bindings(cycle)
	if err != nil {
		return err
	}
	s.tell(ctx, m, cycle)
	workqueue.ParallelizeUntil(ctx, s.Workers, len(bindings), func(i int) { s.bind(ctx, bindings[i].Pod, bindings[i].Node) })
	for _, x := range cycle.Preempted {
		s.evict(ctx, m.Pods(x.Job), "Preempted", "stopped for "+x.For[0])
	}
	maps.DeleteFunc(s.since, func(name string, _ time.Time) bool { return m.Broken[name] == nil })
	for name, pods := range m.Broken {
		if _, ok := s.since[name]; !ok {
			s.since[name] = begin
		}
		if s.GangTimeout > 0 && begin.Sub(s.since[name]) > s.GangTimeout {
			s.evict(ctx, pods, "GroupIncomplete", "the group has lacked pods for "+s.GangTimeout.String())
		}
	}
	if len(cycle.Starts) > 0 || cycle.Stats.TimedOut > 0 {
		s.changed() // there may be more to start
	}
	return nil
}

// bind binds a pod, and tries again until the server has said yes or no: the pod's place is its own
// meanwhile, so that a group stays whole.
func (s *Scheduler) bind(ctx context.Context, p *v1.Pod, node string) {
	api := s.Client.CoreV1().Pods(p.Namespace)
	binding := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target: v1.ObjectReference{Kind: "Node", Name: node}}
	bound := func(p *v1.Pod) bool { return p.Spec.NodeName != "" }
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		err := api.Bind(ctx, binding, metav1.CreateOptions{})
		if err == nil {
			podsBound.Inc()
			s.Events.Eventf(p, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, node)
			s.await(ctx, p, bound)
			return
		}
		switch apierrors.ReasonForError(err) {
		case metav1.StatusReasonConflict, metav1.StatusReasonNotFound, metav1.StatusReasonInvalid, metav1.StatusReasonForbidden:
			s.Log.Warn("not bound", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
			bindErrors.Inc()
			if now, err := api.Get(ctx, p.Name, metav1.GetOptions{}); err == nil || apierrors.IsNotFound(err) {
				if err == nil && now.UID == p.UID && bound(now) { // an answer before was lost
					s.await(ctx, p, bound)
				}
				return
			}
		}
		time.Sleep(wait) // the server may be away
	}
}

// evict evicts pods, all that are not leaving already. Budgets that forbid it are heard.
func (s *Scheduler) evict(ctx context.Context, pods []*v1.Pod, reason, why string) {
	workqueue.ParallelizeUntil(ctx, s.Workers, len(pods), func(i int) {
		p := pods[i]
		if p.DeletionTimestamp != nil {
			return
		}
		err := s.Client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}})
		if err != nil && !apierrors.IsNotFound(err) {
			s.Log.Warn("not evicted", "pod", p.Namespace+"/"+p.Name, "error", err)
			return
		}
		evicted.Inc()
		s.Events.Event(p, v1.EventTypeWarning, reason, why)
		s.await(ctx, p, func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
	})
}

// await waits until the informer shows what is true of the pod, or that the pod is gone.
func (s *Scheduler) await(ctx context.Context, p *v1.Pod, what func(*v1.Pod) bool) {
	for ctx.Err() == nil {
		x, ok, _ := s.shown.GetByKey(p.Namespace + "/" + p.Name)
		if !ok || x.(*v1.Pod).UID != p.UID || what(x.(*v1.Pod)) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
