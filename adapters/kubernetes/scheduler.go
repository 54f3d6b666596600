// SPDX-License-Identifier: BSD-3-Clause

// Package kube schedules the pods of a Kubernetes cluster with core.Cluster.
//
// Each round makes a model of the API's objects (package model), and of the model a Cluster. The Cluster
// decides, and Scheduler binds, evicts and reports. A round ends when the cache shows what it did. So a
// round depends on nothing but the objects and what the Cluster before it has learnt, and a new leader
// goes on where the old one ended.
package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// GroupKinds say how many pods of a group start together: coscheduling's and Kubernetes' own.
var GroupKinds = []schema.GroupVersionKind{
	{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"},
	{Group: "scheduling.k8s.io", Version: "v1alpha1", Kind: "Workload"},
}

// tick is the most time between rounds.
const tick = 5 * time.Second

// Config is what a Scheduler needs.
type Config struct {
	model.Options
	client.Client
	Events record.EventRecorder
	// Groups are those of GroupKinds that the server has.
	Groups []schema.GroupVersionKind
	// Namespace and QuotaName name the ConfigMap of the quotas.
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
}

// Scheduler schedules pods. There may be one at a time for a cluster.
type Scheduler struct {
	Config
	policy  core.Policy
	cluster *core.Cluster // of this round
	known   model.Cache
	since   map[string]time.Time // of groups that lack pods

	explained   map[string]explained // by job
	explainNext time.Time            // when another may be explained
	teller      sync.Mutex           // held while pods are told

	// quotas are what quotasOf, the ConfigMap's text, last said without a fault.
	quotas   model.Quotas
	quotasOf string
}

// New returns a Scheduler.
func New(c Config) (*Scheduler, error) {
	options := core.Preset("none")
	options.Reservations, options.Estimates = c.Reservations, true
	policy, err := core.NewAuction(options, nil)
	return &Scheduler{Config: c, policy: policy, known: make(model.Cache), since: make(map[string]time.Time),
		explained: make(map[string]explained)}, err
}

// AddTo has the manager's leader call Reconcile of a Scheduler after each change of an object that a round
// looks at.
func AddTo(m ctrl.Manager, c Config) error {
	s, err := New(c)
	slower := workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](s.Interval, tick)
	b := ctrl.NewControllerManagedBy(m).Named(s.SchedulerName).WithOptions(controller.Options{RateLimiter: slower})
	watched := []client.Object{&v1.Node{}, &v1.Pod{}, &policyv1.PodDisruptionBudget{}, &v1.ConfigMap{}}
	for _, kind := range s.Groups {
		g := new(unstructured.Unstructured)
		g.SetGroupVersionKind(kind)
		watched = append(watched, g)
	}
	one := func(context.Context, client.Object) []ctrl.Request { return []ctrl.Request{{}} }
	for _, x := range watched {
		b.Watches(x, handler.EnqueueRequestsFromMapFunc(one))
	}
	return errors.Join(err, b.Complete(s))
}

// read is what the cache has.
func (s *Scheduler) read(ctx context.Context) (*model.Objects, error) {
	var nodes v1.NodeList
	var pods v1.PodList
	var budgets policyv1.PodDisruptionBudgetList
	err := errors.Join(s.List(ctx, &nodes), s.List(ctx, &pods), s.List(ctx, &budgets), s.readQuotas(ctx))
	o := &model.Objects{Nodes: pointers(nodes.Items), Pods: pointers(pods.Items), Budgets: pointers(budgets.Items), Quotas: s.quotas,
		Groups: make(map[string]int)}
	for _, kind := range s.Groups {
		var groups unstructured.UnstructuredList
		groups.SetGroupVersionKind(kind)
		err = errors.Join(err, s.List(ctx, &groups))
		for _, g := range groups.Items {
			addGroups(o.Groups, &g)
		}
	}
	return o, err
}

// addGroups adds how many pods of the groups of a PodGroup or Workload start together.
func addGroups(all map[string]int, x *unstructured.Unstructured) {
	name := x.GetNamespace() + "/" + x.GetName()
	if n, ok, _ := unstructured.NestedInt64(x.Object, "spec", "minMember"); ok {
		all[name] = int(n)
	}
	groups, _, _ := unstructured.NestedSlice(x.Object, "spec", "podGroups")
	for _, g := range groups {
		group, _ := g.(map[string]any)
		n, _, _ := unstructured.NestedInt64(group, "policy", "gang", "minCount")
		all[fmt.Sprint(name, "/", group["name"])] = int(n)
	}
}

func pointers[T any](items []T) (all []*T) {
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

// readQuotas reads the ConfigMap of the quotas, if it is there. Until it can be read those of before hold.
func (s *Scheduler) readQuotas(ctx context.Context) error {
	m := new(v1.ConfigMap)
	err := s.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.QuotaName}, m)
	if text := m.Data["quotas.yaml"]; s.quotasOf != text && client.IgnoreNotFound(err) == nil {
		s.quotasOf = text
		if q, err := model.ReadQuotas(text); err != nil {
			s.Events.Eventf(m, v1.EventTypeWarning, "InvalidQuotas", "%v", err)
		} else {
			s.quotas = q
		}
	}
	return client.IgnoreNotFound(err)
}

// Reconcile is a round: the Cluster decides on the objects, and what it says is done. It returns when the
// cache shows that, so that the next round sees it.
func (s *Scheduler) Reconcile(ctx context.Context, _ ctrl.Request) (next ctrl.Result, err error) {
	begin := time.Now()
	o, err := s.read(ctx)
	if err != nil {
		return next, err
	}
	m, err := model.New(s.Options, o, begin, s.known,
		core.ClusterOptions{Policy: s.policy, Continues: s.cluster, Deadline: s.Deadline, StrictPreemption: true})
	if err != nil {
		return next, err
	}
	s.cluster = m.Cluster
	told := time.Now()
	cycle, err := s.cluster.Decide(ctx)
	if err != nil {
		return next, err
	}
	telling.Add(told.Sub(begin).Seconds())
	deciding.Add(time.Since(told).Seconds())
	waiting.Set(float64(m.Waiting - len(cycle.Starts)))
	pending.Set(float64(m.Pending))
	refused.Set(float64(len(m.Refused)))
	broken.Set(float64(len(m.Broken)))
	bindings := m.Bindings(cycle)
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
	time.Sleep(time.Until(begin.Add(s.Interval)))
	if len(cycle.Starts) > 0 || cycle.Stats.TimedOut > 0 { // there may be more to start
		return ctrl.Result{RequeueAfter: time.Nanosecond}, nil
	}
	return ctrl.Result{RequeueAfter: tick}, nil
}

// bind binds a pod, and tries again until the server has said yes or no: the pod's place is its own
// meanwhile, so that a group stays whole.
func (s *Scheduler) bind(ctx context.Context, p *v1.Pod, node string) {
	binding := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target: v1.ObjectReference{Kind: "Node", Name: node}}
	settled := func(p *v1.Pod) bool { return p.Spec.NodeName != "" || p.DeletionTimestamp != nil }
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, tick) {
		err := s.SubResource("binding").Create(ctx, p, binding.DeepCopy())
		if err == nil {
			podsBound.Inc()
			s.Events.Eventf(p, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, node)
			s.await(ctx, p, settled)
			return
		}
		switch apierrors.ReasonForError(err) {
		case metav1.StatusReasonConflict, metav1.StatusReasonNotFound: // it is bound, as an answer was lost, or is leaving
			s.await(ctx, p, settled)
			fallthrough
		case metav1.StatusReasonInvalid, metav1.StatusReasonForbidden:
			slog.Warn("not bound", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
			bindErrors.Inc()
			return
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
		err := s.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
			DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}})
		if client.IgnoreNotFound(err) != nil {
			slog.Warn("not evicted", "pod", p.Namespace+"/"+p.Name, "error", err)
			return
		}
		evicted.Inc()
		s.Events.Event(p, v1.EventTypeWarning, reason, why)
		s.await(ctx, p, func(p *v1.Pod) bool { return p.DeletionTimestamp != nil })
	})
}

// await waits until the cache shows what is true of the pod, or that the pod is gone.
func (s *Scheduler) await(ctx context.Context, p *v1.Pod, what func(*v1.Pod) bool) {
	for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		now := new(v1.Pod)
		err := s.Get(ctx, client.ObjectKeyFromObject(p), now)
		if apierrors.IsNotFound(err) || err == nil && (now.UID != p.UID || what(now)) {
			return
		}
	}
}
