// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// machine creates nodes in racks of 8, each fourth with 8 GPUs and a taint.
func machine(b *bed, n int) {
	each(n, func(i int) {
		x := aNode(fmt.Sprintf("n%04d", i), "cpu", "64", "memory", "256Gi")
		x.Labels[rack] = fmt.Sprint("r", i/8)
		if i%4 == 0 {
			x = withGPUs(x)
		}
		b.addNode(x)
	})
}

func withGPUs(x *v1.Node) *v1.Node {
	for k, q := range list("nvidia.com/gpu", "8") {
		x.Status.Allocatable[k] = q
	}
	x.Spec.Taints = []v1.Taint{{Key: "nvidia.com/gpu", Effect: v1.TaintEffectNoSchedule}}
	return x
}

func (b *bed) create(pods []*v1.Pod) {
	each(len(pods), func(i int) {
		for try := range 100 { // the server may be away
			_, err := b.CoreV1().Pods(pods[i].Namespace).Create(ctx(), pods[i], metav1.CreateOptions{})
			if err == nil || try > 0 && isExists(err) {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
		panic("no pod was created: " + pods[i].Name)
	})
}

// A full cluster: whatever starts is whole and fits, in the API's own quantities.
func TestBedFull(t *testing.T) {
	b := newBed(t)
	nodes, count := number("NODES", 40), number("GANGS", 80)
	machine(b, nodes)
	a := newAudit(b)
	var pods []*v1.Pod
	r := rand.New(rand.NewPCG(1, 1))
	for g := range count {
		pods = append(pods, drawn(r, fmt.Sprint("g", g))...)
	}
	b.create(pods)
	begin := time.Now()
	b.controller("aucsched", "--leader-elect=false")
	a.settled(b, 5*time.Second)
	require.Empty(t, b.inPart())
	require.Empty(t, a.racks(b))
	require.Greater(t, a.bound, len(pods)/5)
	all, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{})
	require.NoError(t, err)
	told := 0
	for _, p := range all.Items {
		for _, c := range p.Status.Conditions {
			if p.Spec.NodeName == "" && c.Type == v1.PodScheduled && c.Message != "" {
				if told++; told%40 == 1 {
					t.Log(p.Name, ": ", c.Message)
				}
			}
		}
	}
	require.Positive(t, told, "nobody was told why")
	t.Logf("%d of %d pods of %d groups bound on %d nodes, %d told why not, in %.1f s", a.bound, len(pods), count, nodes, told,
		(time.Since(begin) - 5*time.Second).Seconds())
}

// Pods come, end, and are evicted; nodes go and come; two controllers are killed at random, and the server
// once. No pod is ever bound twice or over its node's room, and in the end no group is in part.
func TestBedFaults(t *testing.T) {
	b := newBed(t)
	nodes, seconds := number("NODES", 40), number("FAULT_SECONDS", 60)
	machine(b, nodes)
	a := newAudit(b)
	r := rand.New(rand.NewPCG(uint64(number("SEED", 1)), 2))
	args := []string{"--lease", "2s", "--gang-timeout", "5s"}
	controllers := []string{"aucsched-1", "aucsched-2"}
	running := [2]func(){}
	start := func(k int) {
		c := b.controller(controllers[k], args...)
		running[k] = func() { kill(c) }
	}
	start(0)
	start(1)
	groups, created, killed, lost, restarts := 0, 0, 0, 0, 0
	for begin, step := time.Now(), 0; time.Since(begin) < time.Duration(seconds)*time.Second; step++ {
		for range number("PER_STEP", 1) {
			g := drawn(r, fmt.Sprint("g", groups))
			if groups%10 == 0 {
				for _, p := range g {
					p.Spec.PriorityClassName = "high"
				}
			}
			groups, created = groups+1, created+len(g)
			b.create(g)
		}
		switch {
		case step%12 == 5: // a controller is killed
			k := r.IntN(2)
			running[k]()
			killed++
			start(k)
		case step%15 == 9: // a node fails, and its pods with it
			name := fmt.Sprintf("n%04d", r.IntN(nodes))
			if n, err := b.CoreV1().Nodes().Get(ctx(), name, metav1.GetOptions{}); err == nil {
				lost++
				require.NoError(t, b.CoreV1().Nodes().Delete(ctx(), name, metav1.DeleteOptions{}))
				b.remove(func(p *v1.Pod) bool { return p.Spec.NodeName == name })
				n.ResourceVersion, n.UID = "", ""
				time.AfterFunc(3*time.Second, func() { b.addNode(n) })
			}
		case step%400 == 40:
			b.restartServer()
			restarts++
		}
		if step%3 == 0 { // some groups end
			b.remove(func(p *v1.Pod) bool {
				return p.Spec.NodeName != "" && time.Since(p.CreationTimestamp.Time) > time.Duration(5+len(p.Name)%7)*time.Second
			})
		}
		time.Sleep(400 * time.Millisecond)
	}
	time.Sleep(4 * time.Second) // nodes come back
	a.settled(b, 12*time.Second)
	require.Empty(t, b.inPart())
	require.Empty(t, a.racks(b))
	t.Logf("%d groups, %d pods created, %d bound, %d ended; %d controllers killed, %d nodes lost, %d restarts of the server; 0 faults",
		groups, created, a.bound, a.ended, killed, lost, restarts)
	require.Greater(t, a.bound, created/3)
}

// remove deletes pods at once, as if they had ended, or been lost with their nodes.
func (b *bed) remove(which func(*v1.Pod) bool) {
	l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{})
	if err != nil {
		return
	}
	now := int64(0)
	each(len(l.Items), func(i int) {
		if p := &l.Items[i]; which(p) {
			_ = b.CoreV1().Pods(p.Namespace).Delete(ctx(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		}
	})
}

// A pod of high priority has as many evicted as it takes, but nobody whom a budget protects.
func TestBedPreemption(t *testing.T) {
	b := newBed(t)
	for i := range 4 {
		b.addNode(aNode(fmt.Sprint("n", i), "cpu", "8"))
	}
	a := newAudit(b)
	make := func(name, class string, n int, cpu string) (all []*v1.Pod) {
		for _, p := range pods(name, n, "cpu", cpu) {
			p.UID, p.CreationTimestamp = "", metav1.Time{}
			p.Spec.PriorityClassName = class
			p.Labels["app"] = name
			p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = "c", "x"
			all = append(all, p)
		}
		inGroup(name, n, all...)
		return all
	}
	b.controller("aucsched", "--leader-elect=false")
	for _, g := range [][]*v1.Pod{make("kept", "low", 2, "8"), make("low", "low", 4, "4")} {
		b.create(g)
	}
	a.settled(b, 2*time.Second)
	require.Equal(t, 6, a.bound)
	one := intstr.FromInt32(1)
	kept := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "kept"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kept"}}}}
	_, err := b.PolicyV1().PodDisruptionBudgets("default").Create(ctx(), kept, metav1.CreateOptions{})
	require.NoError(t, err)
	b.create(make("high", "high", 2, "8"))
	a.settled(b, 6*time.Second)
	l, err := b.CoreV1().Pods("default").List(ctx(), metav1.ListOptions{})
	require.NoError(t, err)
	count := map[string]int{}
	for _, p := range l.Items {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			count[p.Labels["app"]]++
		}
	}
	require.Equal(t, map[string]int{"kept": 2, "high": 2}, count)
}

// A server with Workloads has their groups start whole.
func TestBedWorkloads(t *testing.T) {
	b := newBed(t)
	b.addNode(aNode("n1", "cpu", "8"))
	_, err := b.SchedulingV1alpha1().Workloads("default").Create(ctx(), aWorkload(), metav1.CreateOptions{})
	require.NoError(t, err)
	a := newAudit(b)
	b.controller("aucsched", "--leader-elect=false")
	var group []*v1.Pod
	for k := range 2 {
		group = append(group, bedPod(fmt.Sprint("g-", k), "cpu", "2"))
	}
	ofWorkload("w", "g", group...)
	b.create(group[:1])
	require.Eventually(t, func() bool {
		p, err := b.CoreV1().Pods("default").Get(ctx(), "g-0", metav1.GetOptions{})
		return err == nil && strings.Contains(model.Scheduled(p).Message, "1 of the 2 pods of group default/w/g are there")
	}, time.Minute, 100*time.Millisecond)
	b.create(group[1:])
	a.settled(b, 3*time.Second)
	require.Equal(t, 2, a.bound)
}

// What the page says to type does what it says. With TRY the reader types it: see make try.
func TestBedPage(t *testing.T) {
	b := newBed(t)
	machine(b, 16)
	if os.Getenv("TRY") != "" {
		b.controller("aucsched", "--leader-elect=false")
		fmt.Printf("In another terminal, at the root of the repository:\n\n    export KUBECONFIG=%s PATH=%s:$PATH\n\nCtrl-C ends it.\n",
			b.path("admin.yaml"), b.bins)
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt)
		<-stop
		return
	}
	if os.Getuid() != 0 {
		t.Skip("chroot is for root")
	}
	listen := fmt.Sprint("127.0.0.1:", freePort(t))
	b.inImage(listen)
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(page)) {
		command, ok := strings.CutPrefix(line, "    kubectl ")
		if !ok {
			continue
		}
		var out []byte
		require.Eventually(t, func() bool { // kwok and the controller take a moment
			c := exec.Command(filepath.Join(b.bins, "kubectl"), strings.Fields(command)...)
			c.Dir, c.Env = "../..", append(os.Environ(), "KUBECONFIG="+b.path("admin.yaml"))
			out, err = c.CombinedOutput()
			return err == nil && (!strings.HasPrefix(command, "get pods") || strings.Count(string(out), "Running") == 2)
		}, time.Minute, time.Second, "kubectl %s: %v", command, bytesOf{&out})
		t.Logf("kubectl %s%s", command, out)
	}
	for _, path := range []string{"healthz", "readyz", "metrics"} {
		r, err := http.Get("http://" + listen + "/" + path)
		require.NoError(t, err)
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Equal(t, path == "metrics", strings.Contains(string(text), "aucsched_kube_pods_bound_total 2"), path)
	}
}

type bytesOf struct{ text *[]byte }

func (x bytesOf) String() string { return string(*x.text) }

func isExists(err error) bool { return apierrors.IsAlreadyExists(err) }
