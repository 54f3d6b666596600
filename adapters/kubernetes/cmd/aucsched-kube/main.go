// SPDX-License-Identifier: BSD-3-Clause

// Aucsched-kube schedules the pods whose schedulerName is aucsched.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	kube "github.com/aucsched/aucsched/adapters/kubernetes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var c kube.Config
	config := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig `FILE`; without it, the service account of the pod")
	flag.StringVar(&c.SchedulerName, "scheduler-name", "aucsched", "schedule the pods with this schedulerName")
	topology := flag.String("topology", "topology.kubernetes.io/rack,topology.kubernetes.io/zone",
		"labels of nodes that say where they stand, from the smallest domain to the largest")
	namespace := flag.String("namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), "kube-system"),
		"where the lease and the ConfigMap of the quotas are")
	flag.StringVar(&c.QuotaName, "quotas", "aucsched-quotas", "ConfigMap of the quotas")
	flag.DurationVar(&c.Interval, "interval", 100*time.Millisecond, "least time between rounds")
	flag.DurationVar(&c.Deadline, "deadline", time.Second, "most time of a decision")
	flag.DurationVar(&c.GangTimeout, "gang-timeout", 5*time.Minute, "evict a group that has lacked pods for so long; 0: never")
	flag.IntVar(&c.Reservations, "reservations", 0, "blocked groups that have a place kept; 0: what fits starts")
	flag.IntVar(&c.Workers, "workers", 32, "pods that are bound at once")
	elect := flag.Bool("leader-elect", true, "schedule only while holding the lease")
	lease := flag.Duration("lease", 15*time.Second, "how long a leader that is gone is waited for")
	listen := flag.String("listen", ":10260", "`ADDRESS` of /healthz, /readyz and /metrics; empty: none")
	qps := flag.Float64("qps", 500, "requests a second to the server")
	flag.Parse()
	if *topology != "" {
		c.Topology = strings.Split(*topology, ",")
	}
	c.QuotaNamespace = *namespace

	server, err := clientcmd.BuildConfigFromFlags("", *config)
	if err != nil {
		return err
	}
	server.QPS, server.Burst = float32(*qps), int(2**qps)
	if c.Client, err = kubernetes.NewForConfig(server); err != nil {
		return err
	}
	if c.Dynamic, err = podGroups(c.Client, server); err != nil {
		return err
	}
	c.Log, c.Metrics = slog.Default(), new(kube.Metrics)
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	events.StartRecordingToSink(&typed.EventSinkImpl{Interface: c.Client.CoreV1().Events("")})
	c.Events = events.NewRecorder(scheme.Scheme, v1.EventSource{Component: c.SchedulerName})
	if *listen != "" {
		serve(*listen, c.Metrics)
	}
	s := &kube.Scheduler{Config: c}
	if !*elect {
		return s.Run(ctx)
	}
	return lead(ctx, s, server, *namespace, *lease)
}

// lead runs s while this process holds the lease, and gives it back when nothing is being bound any
// more. A process that has lost it ends, since the next leader may decide already.
func lead(ctx context.Context, s *kube.Scheduler, server *rest.Config, namespace string, lease time.Duration) error {
	own := rest.CopyConfig(server) // renewals don't wait behind bindings
	own.QPS, own.Burst, own.Timeout = 5, 10, lease/3
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	done := make(chan error, 1)
	held, release := context.WithCancel(context.Background())
	defer release()
	context.AfterFunc(ctx, func() {
		if !s.Metrics.Leader.Load() {
			release()
		}
	})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{Client: client.CoordinationV1(),
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: s.SchedulerName},
			LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}},
		LeaseDuration: lease, RenewDeadline: lease * 2 / 3, RetryPeriod: lease / 8, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(held context.Context) {
				s.Metrics.Leader.Store(true)
				s.Log.Info("leading")
				held, stop := context.WithCancel(held)
				defer context.AfterFunc(ctx, stop)()
				done <- s.Run(held)
				release()
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elector.Run(held)
	if !s.Metrics.Leader.Load() {
		return nil
	}
	if err := <-done; err != nil || ctx.Err() != nil {
		return err
	}
	return errors.New("the lease is lost")
}

// podGroups reads PodGroups if the server has any; nil if it has not.
func podGroups(client kubernetes.Interface, server *rest.Config) (dynamic.Interface, error) {
	list, err := client.Discovery().ServerResourcesForGroupVersion(kube.PodGroups.GroupVersion().String())
	if err != nil {
		return nil, nil // no such group: labels say it all
	}
	if !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kube.PodGroups.Resource }) {
		return nil, nil
	}
	return dynamic.NewForConfig(server)
}

func serve(address string, m *kube.Metrics) {
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if m.Leader.Load() && !m.Ready.Load() {
			http.Error(w, "the caches are not full yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { m.Write(w) })
	go func() {
		server := &http.Server{Addr: address, ReadHeaderTimeout: 5 * time.Second}
		if err := server.ListenAndServe(); err != nil {
			slog.Error("not listening", "address", address, "error", err)
		}
	}()
}
