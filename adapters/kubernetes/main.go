// SPDX-License-Identifier: BSD-3-Clause

// Aucsched-kube schedules the pods whose schedulerName is aucsched.
package main

import (
	"cmp"
	"context"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	ctrl.SetLogger(logr.FromSlogHandler(slog.Default().Handler()))
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

// run schedules while this process holds the lease, which it gives back when nothing is being bound any
// more. A process that has lost it ends, since the next leader may decide already.
func run(ctx context.Context) error {
	s := new(scheduler)
	flag.StringVar(&s.name, "scheduler-name", "aucsched", "schedule the pods with this schedulerName")
	topology := flag.String("topology", "topology.kubernetes.io/rack,topology.kubernetes.io/zone",
		"labels of nodes that say where they stand, from the smallest domain to the largest")
	flag.StringVar(&s.namespace, "namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), "kube-system"),
		"where the lease and the ConfigMap of the quotas are")
	flag.StringVar(&s.quotaName, "quotas", "aucsched-quotas", "ConfigMap of the quotas")
	flag.DurationVar(&s.interval, "interval", 100*time.Millisecond, "least time between rounds")
	flag.DurationVar(&s.deadline, "deadline", time.Second, "most time of a decision")
	flag.DurationVar(&s.gangTimeout, "gang-timeout", 5*time.Minute, "evict a group that has lacked pods for so long; 0: never")
	flag.IntVar(&s.reservations, "reservations", 0, "blocked groups that have a place kept from when it is free; 0: what fits starts")
	flag.IntVar(&s.workers, "workers", 32, "pods that are bound at once")
	elect := flag.Bool("leader-elect", true, "schedule only while holding the lease")
	lease := flag.Duration("lease", 15*time.Second, "how long a leader that is gone is waited for")
	listen := flag.String("listen", ":10260", "`ADDRESS` of /healthz, /readyz and /metrics; empty: none")
	qps := flag.Float64("qps", 500, "requests a second to the server")
	flag.Parse()
	s.topology = strings.FieldsFunc(*topology, func(r rune) bool { return r == ',' })

	config, err := ctrl.GetConfig() // which has the flag --kubeconfig
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(*qps), int(2**qps)
	config.Wrap(func(to http.RoundTripper) http.RoundTripper { return fresh{to} })
	renew, retry, asLongAsItTakes, yes := *lease*2/3, *lease/8, time.Duration(-1), true
	ping := healthz.CheckHandler{Checker: healthz.Ping}
	quotas := cache.Config{FieldSelector: fields.OneTermEqualSelector("metadata.name", s.quotaName)}
	options := ctrl.Options{
		Cache: cache.Options{DefaultUnsafeDisableDeepCopy: &yes, DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&v1.ConfigMap{}: {Namespaces: map[string]cache.Config{s.namespace: quotas}}}},
		Client:         client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		LeaderElection: *elect, LeaderElectionID: s.name, LeaderElectionNamespace: s.namespace,
		LeaderElectionReleaseOnCancel: true, GracefulShutdownTimeout: &asLongAsItTakes,
		LeaseDuration: lease, RenewDeadline: &renew, RetryPeriod: &retry,
		Metrics: metrics.Options{BindAddress: cmp.Or(*listen, "0"),
			ExtraHandlers: map[string]http.Handler{"/healthz": ping, "/readyz": ping}},
	}
	m, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	s.Client, s.events = m.GetClient(), m.GetEventRecorderFor(s.name)

	slower := workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](s.interval, tick)
	rounds := ctrl.NewControllerManagedBy(m).Named(s.name).WithOptions(controller.Options{RateLimiter: slower})
	watched := []client.Object{&v1.Node{}, &v1.Pod{}, &policyv1.PodDisruptionBudget{}, &v1.ConfigMap{}}
	for _, kind := range groupKinds {
		group := new(unstructured.Unstructured)
		group.SetGroupVersionKind(kind)
		_, err := m.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err == nil {
			s.groups, watched = append(s.groups, kind), append(watched, group)
		} else if !meta.IsNoMatchError(err) { // without them labels say it all
			return err
		}
	}
	for _, x := range watched {
		rounds.Watches(x, handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request {
			return []ctrl.Request{{}} // the same for all: a round looks at everything
		}))
	}
	if err := rounds.Complete(s); err != nil {
		return err
	}
	return m.Start(ctx)
}

// fresh has lists be those of now, not of any time: a leader before may have bound pods since.
type fresh struct{ http.RoundTripper }

func (f fresh) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); q.Get("resourceVersion") == "0" {
		r = r.Clone(r.Context())
		q.Del("resourceVersion")
		r.URL.RawQuery = q.Encode()
	}
	return f.RoundTripper.RoundTrip(r)
}
