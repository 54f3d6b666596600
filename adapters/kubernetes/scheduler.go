// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
)

// PodGroups is the resource of pod groups, as coscheduling has it.
var PodGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

// Config is what a Scheduler needs.
type Config struct {
	Options
	Client kubernetes.Interface
	// Dynamic reads PodGroups; nil: there are none.
	Dynamic dynamic.Interface
	// QuotaNamespace and QuotaName name the ConfigMap of the quotas; without a name there are none.
	QuotaNamespace, QuotaName string
	// Interval is the least time between rounds, Deadline the most that a decision takes.
	Interval, Deadline time.Duration
	// GangTimeout is for how long a group may lack pods that have to run; then all are evicted. 0: for ever.
	GangTimeout time.Duration
	// Workers bind and evict at once.
	Workers int
	Log     *slog.Logger
	Metrics *Metrics
	Events  record.EventRecorder
}

// Scheduler schedules pods until its context ends. There may be one at a time for a cluster.
type Scheduler struct {
	Config
	known  podCache
	mirror *mirror
	dirty  chan struct{}
	work   chan func()
	idle   sync.WaitGroup
	report report

	mu sync.Mutex
	// assumed says where pods are that are being bound, or are and the informer has not shown it yet.
	assumed map[types.UID]string
	leaving map[types.UID]bool // being evicted
	doomed  map[types.UID]bool // to be evicted once the informer shows them bound
	since   map[string]time.Time
	// quotas are what quotasOf, the ConfigMap's text, last said without a fault.
	quotas   *Quotas
	quotasOf string
}

// Run schedules until ctx ends; the caller is the leader all that time. It returns when nothing is being
// bound any more.
func (s *Scheduler) Run(ctx context.Context) error {
	s.known, s.dirty, s.work = make(podCache), make(chan struct{}, 1), make(chan func())
	s.assumed, s.leaving, s.since = make(map[types.UID]string), make(map[types.UID]bool), make(map[string]time.Time)
	s.doomed = make(map[types.UID]bool)
	s.report.init()
	for range s.Workers {
		go func() {
			for do := range s.work {
				do()
				s.idle.Done()
			}
		}()
	}
	read, err := s.watch(ctx)
	if err != nil {
		return err
	}
	s.Metrics.Ready.Store(true)
	defer s.Metrics.Ready.Store(false)
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.idle.Wait()
			close(s.work)
			return nil
		case <-s.dirty:
		case <-tick.C:
		}
		begin := time.Now()
		if err := s.round(ctx, read()); err != nil && ctx.Err() == nil {
			s.Log.Error("a round failed; the next one begins anew", "error", err)
			s.Metrics.Failed.Add(1)
			s.mirror = nil
			s.changed()
		}
		select {
		case <-time.After(s.Interval - time.Since(begin)):
		case <-ctx.Done():
		}
	}
}

// changed asks for a round.
func (s *Scheduler) changed() {
	select {
	case s.dirty <- struct{}{}:
	default:
	}
}

// round tells the Cluster what has changed, has it decide, and does what it says.
func (s *Scheduler) round(ctx context.Context, o *Objects) error {
	begin := time.Now()
	nodeOf := s.where(o.Pods)
	m := newModel(s.Options, o, begin, func(p *v1.Pod) *pod {
		x := s.known.of(p)
		x.node, x.leaves = nodeOf(p), p.DeletionTimestamp != nil || s.goes(p)
		return x
	})
	if !s.mirror.fits(m) {
		x, err := newMirror(core.ClusterOptions{Deadline: s.Deadline, StrictPreemption: true}, m)
		if err != nil {
			return err
		}
		s.mirror = x
	}
	if err := s.mirror.tell(m); err != nil {
		return err
	}
	told := time.Now()
	cycle, err := s.mirror.Decide(ctx)
	if err != nil {
		return err
	}
	decided := time.Now()
	s.mirror.started(cycle.Starts)
	for _, start := range cycle.Starts {
		if err := s.launch(ctx, m, start); err != nil {
			return err
		}
	}
	for _, x := range cycle.Preempted {
		victims := slices.Concat(m.members[x.Job]...)
		for _, p := range m.pending { // of the same group, and started in this round
			if victims[0].group != "" && p.group == victims[0].group && s.binds(p) {
				victims = append(victims, p)
			}
		}
		s.evictAll(ctx, victims, "Preempted", "stopped for "+x.For[0])
	}
	for _, p := range m.bound {
		if s.doomed[p.UID] && p.Spec.NodeName != "" {
			s.evictAll(ctx, []*pod{p}, "Preempted", "its group was stopped")
		}
	}
	s.breakUp(ctx, m)
	s.report.tell(ctx, s, m, cycle)
	s.Metrics.round(m, cycle, told.Sub(begin), decided.Sub(told))
	if len(cycle.Starts) > 0 || cycle.Stats.TimedOut > 0 {
		s.changed() // there may be more to start
	}
	return nil
}

// where says where pods are. Assumptions that the informer has caught up with are over.
func (s *Scheduler) where(pods []*v1.Pod) func(*v1.Pod) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	there, bound := make(map[types.UID]bool, len(pods)), make(map[types.UID]string, len(pods))
	nodes := make(map[types.UID]string, len(s.assumed))
	for _, p := range pods {
		there[p.UID], bound[p.UID] = true, p.Spec.NodeName
		if node, ok := s.assumed[p.UID]; ok && p.Spec.NodeName == "" {
			nodes[p.UID] = node
		} else if ok {
			delete(s.assumed, p.UID)
		}
	}
	for id := range s.assumed {
		if !there[id] {
			delete(s.assumed, id)
		}
	}
	for id := range s.leaving {
		if !there[id] {
			delete(s.leaving, id)
		}
	}
	for id := range s.doomed { // it may not have been bound after all
		if !there[id] || bound[id] == "" && nodes[id] == "" {
			delete(s.doomed, id)
		}
	}
	for id := range s.known {
		if !there[id] {
			delete(s.known, id)
		}
	}
	return func(p *v1.Pod) string {
		if p.Spec.NodeName != "" {
			return p.Spec.NodeName
		}
		return nodes[p.UID]
	}
}

// launch binds the pods of a job to the nodes it got. Pods of one part are alike.
func (s *Scheduler) launch(ctx context.Context, m *model, start core.Start) error {
	for k, part := range append([]core.Start{start}, start.Components...) {
		pods := m.members[start.Job][k]
		for _, share := range part.Nodes {
			if share.Cores > len(pods) {
				return fmt.Errorf("%s: part %d got more nodes than it has pods", start.Job, k)
			}
			for _, p := range pods[:share.Cores] {
				s.bind(ctx, p.Pod, share.Node)
			}
			pods = pods[share.Cores:]
		}
	}
	return nil
}

// bind binds a pod, and tries again until the server has said yes or no: the pod's place is its own
// meanwhile, so that a group stays whole.
func (s *Scheduler) bind(ctx context.Context, p *v1.Pod, node string) {
	s.mu.Lock()
	s.assumed[p.UID] = node
	s.mu.Unlock()
	binding := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Target: v1.ObjectReference{Kind: "Node", Name: node}}
	s.do(func() {
		for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
			err := s.Client.CoreV1().Pods(p.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
			if err == nil {
				s.Metrics.Bound.Add(1)
				s.Events.Eventf(p, v1.EventTypeNormal, "Scheduled", "Successfully assigned %s/%s to %s", p.Namespace, p.Name, node)
				return
			}
			if ctx.Err() == nil && s.settle(ctx, p, err) {
				s.Log.Warn("not bound", "pod", p.Namespace+"/"+p.Name, "node", node, "error", err)
				s.Metrics.BindErrors.Add(1)
				return
			}
			time.Sleep(wait)
		}
	})
}

// settle finds out where a pod is that could not be bound. It reports whether that is known.
func (s *Scheduler) settle(ctx context.Context, p *v1.Pod, cause error) bool {
	if !apierrors.IsConflict(cause) && !apierrors.IsNotFound(cause) && !apierrors.IsInvalid(cause) && !apierrors.IsForbidden(cause) {
		return false // the server may be away
	}
	now, err := s.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false
	}
	s.mu.Lock()
	if err == nil && now.UID == p.UID && now.Spec.NodeName != "" {
		s.assumed[p.UID] = now.Spec.NodeName
	} else {
		delete(s.assumed, p.UID)
	}
	s.mu.Unlock()
	s.changed()
	return true
}

// evictAll evicts pods, all that are not leaving already: those that are being bound a little later.
// Budgets that forbid it are heard.
func (s *Scheduler) evictAll(ctx context.Context, pods []*pod, reason, why string) {
	for _, p := range pods {
		s.mu.Lock()
		leaves := s.leaving[p.UID] || p.DeletionTimestamp != nil
		if p.Spec.NodeName == "" {
			s.doomed[p.UID], leaves = true, true
		} else if !leaves {
			s.leaving[p.UID] = true
			delete(s.doomed, p.UID)
		}
		s.mu.Unlock()
		if leaves {
			continue
		}
		s.do(func() {
			err := s.Client.PolicyV1().Evictions(p.Namespace).Evict(ctx, &policyv1.Eviction{
				ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
				DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}})
			if err == nil || apierrors.IsNotFound(err) {
				s.Metrics.Evicted.Add(1)
				s.Events.Event(p.Pod, v1.EventTypeWarning, reason, why)
				return
			}
			s.mu.Lock()
			delete(s.leaving, p.UID)
			s.mu.Unlock()
			s.Log.Warn("not evicted", "pod", p.name(), "error", err)
		})
	}
}

// binds reports whether a pod is being bound.
func (s *Scheduler) binds(p *pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assumed[p.UID] != ""
}

// goes reports whether a pod is being evicted.
func (s *Scheduler) goes(p *v1.Pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving[p.UID] || s.doomed[p.UID]
}

// do has a worker do something.
func (s *Scheduler) do(f func()) {
	s.idle.Add(1)
	s.work <- f
}

// breakUp evicts groups that have lacked pods for too long.
func (s *Scheduler) breakUp(ctx context.Context, m *model) {
	for name := range s.since {
		if m.broken[name] == nil {
			delete(s.since, name)
		}
	}
	for name, pods := range m.broken {
		if _, ok := s.since[name]; !ok {
			s.since[name] = m.now
		}
		if s.GangTimeout > 0 && m.now.Sub(s.since[name]) > s.GangTimeout {
			s.evictAll(ctx, pods, "GroupIncomplete", "the group has lacked pods for "+s.GangTimeout.String())
		}
	}
}
