// SPDX-License-Identifier: BSD-3-Clause

package kube

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// peer is a scheduler of pods.
type peer struct {
	name  string // its schedulerName too
	start func(b *bed) *exec.Cmd
}

var peers = []peer{
	{"aucsched", func(b *bed) *exec.Cmd {
		return b.controller("aucsched", "--leader-elect=false", "--gang-timeout", "10s")
	}},
	{"kube-scheduler", func(b *bed) *exec.Cmd { return b.stock("kube-scheduler", "") }},
	{"coscheduling", func(b *bed) *exec.Cmd {
		return b.stock("coscheduling", `
  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}, queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}}
  pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 10, podGroupBackoffSeconds: 0}}]`)
	}},
}

// stock starts a kube-scheduler under its own name.
func (b *bed) stock(program, profile string) *exec.Cmd {
	b.write(program+".conf", fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s, qps: 2000, burst: 4000}
profiles:
- schedulerName: %s%s
`, b.path("admin.yaml"), program, profile))
	return b.start(program, nil, program, "--config", b.path(program+".conf"), "--secure-port", "0",
		"-v", cmp.Or(os.Getenv("VERBOSE"), "0"))
}

// openb are the nodes and pods of a sample of Alibaba's trace: one node of each so many, and one pod of
// each so many that asks for whole GPUs or none.
func openb(t *testing.T, nodes, pods int) ([]*v1.Node, []*v1.Pod) {
	dir := os.Getenv("OPENB")
	if dir == "" {
		t.Skip("OPENB names the directory of openb_node_list_gpu_node.csv and openb_pod_list_default.csv.gz")
	}
	var machines []*v1.Node
	for i, r := range readCSV(t, filepath.Join(dir, "openb_node_list_gpu_node.csv")) {
		if i%nodes == 0 {
			n := aNode(r["sn"], "cpu", r["cpu_milli"]+"m", "memory", r["memory_mib"]+"Mi", "nvidia.com/gpu", r["gpu"])
			n.Labels[rack] = fmt.Sprint("r", len(machines)/16)
			machines = append(machines, n)
		}
	}
	var work []*v1.Pod
	whole := 0
	for _, r := range readCSV(t, filepath.Join(dir, "openb_pod_list_default.csv.gz")) {
		if r["num_gpu"] != "0" && r["gpu_milli"] != "1000" {
			continue
		}
		if whole++; whole%pods != 0 {
			continue
		}
		p := bedPod(r["name"], "cpu", r["cpu_milli"]+"m", "memory", r["memory_mib"]+"Mi")
		if r["num_gpu"] != "0" {
			ask(p, "nvidia.com/gpu", r["num_gpu"])
		}
		work = append(work, p)
	}
	return machines, work
}

func readCSV(t *testing.T, path string) (rows []map[string]string) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var in io.Reader = bytes.NewReader(data)
	if strings.HasSuffix(path, ".gz") {
		in, err = gzip.NewReader(in)
		require.NoError(t, err)
	}
	all, err := csv.NewReader(in).ReadAll()
	require.NoError(t, err)
	for _, line := range all[1:] {
		row := make(map[string]string)
		for k, name := range all[0] {
			row[name] = line[k]
		}
		rows = append(rows, row)
	}
	return rows
}

// bedPod is a pod that a real server takes.
func bedPod(name string, pairs ...string) *v1.Pod {
	p := aPod(name, pairs...)
	p.UID, p.CreationTimestamp = "", metav1.Time{}
	p.Spec.Containers[0].Name, p.Spec.Containers[0].Image = "c", "x"
	p.Spec.PriorityClassName = "mid"
	return p
}

// ask has a pod ask for an extended resource.
func ask(p *v1.Pod, name, amount string) {
	q := list(name, amount)
	r := &p.Spec.Containers[0].Resources
	r.Requests[v1.ResourceName(name)] = q[v1.ResourceName(name)]
	r.Limits = q
}

// gangs are groups: a leader without a GPU and workers with some, or workers alone; each fifth group in
// one rack, which it says in the way that all schedulers know.
func gangs(r *rand.Rand, n int) (groups [][]*v1.Pod) {
	for g := range n {
		name := fmt.Sprint("g", g)
		size, gpu, cpu := []int{1, 2, 4, 8, 8, 16}[r.IntN(6)], []int{0, 1, 2, 4, 8}[r.IntN(5)], 2+r.IntN(6)
		oneRack, leader := r.IntN(5) == 0, r.IntN(3) == 0
		var group []*v1.Pod
		for k := range size {
			p := bedPod(fmt.Sprint(name, "-", k), "cpu", fmt.Sprint(cpu), "memory", "4Gi")
			if leader && k == 0 && size > 1 {
				p = bedPod(fmt.Sprint(name, "-", k), "cpu", "8", "memory", "16Gi")
			} else if gpu > 0 {
				ask(p, "nvidia.com/gpu", fmt.Sprint(gpu))
			}
			p.Spec.Tolerations = []v1.Toleration{{Key: "nvidia.com/gpu", Operator: v1.TolerationOpExists}}
			p.Labels[model.GroupLabel], p.Labels[model.MinLabel] = name, fmt.Sprint(size)
			if oneRack && size > 1 {
				near := []v1.PodAffinityTerm{{TopologyKey: rack,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{model.GroupLabel: name}}}}
				p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: near}}
			}
			group = append(group, p)
		}
		groups = append(groups, group)
	}
	return groups
}

// podGroups creates a PodGroup for each group.
func (b *bed) podGroups(groups [][]*v1.Pod) {
	b.apply(filepath.Join(b.bins, "podgroups.yaml"))
	client, err := dynamic.NewForConfig(b.config)
	require.NoError(b.t, err)
	to := client.Resource(PodGroups).Namespace("default")
	require.Eventually(b.t, func() bool {
		_, err := to.List(ctx(), metav1.ListOptions{})
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	each(len(groups), func(i int) {
		g := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
			"metadata": map[string]any{"name": groups[i][0].Labels[model.GroupLabel], "namespace": "default"},
			"spec":     map[string]any{"minMember": int64(len(groups[i])), "scheduleTimeoutSeconds": int64(10)}}}
		_, err := to.Create(ctx(), g, metav1.CreateOptions{})
		require.NoError(b.t, err)
	})
}

// TestPeers has several schedulers do the same work, each alone on a bed of its own. The figures are for
// RESULTS.md.
func TestPeers(t *testing.T) {
	if os.Getenv("AUCSCHED_KUBE_PEERS") == "" {
		t.Skip("make peers runs this")
	}
	for _, p := range peers {
		for _, work := range []struct {
			name string
			run  func(*testing.T, peer)
		}{{"gangs", backlogOfGangs}, {"openb", backlogOfOpenb}, {"stream", streamOfGangs}} {
			if only := os.Getenv("WORK"); only == "" || slices.Contains(strings.Split(only, ","), work.name) {
				t.Run(work.name+"/"+p.name, func(t *testing.T) { work.run(t, p) })
			}
		}
	}
}

// backlogOfGangs has all pods there before the scheduler starts.
func backlogOfGangs(t *testing.T, p peer) {
	b := newBed(t)
	machine(b, number("NODES", 100))
	backlog(b, p, gangs(rand.New(rand.NewPCG(uint64(number("SEED", 1)), 3)), number("GANGS", 200)), true)
}

func backlogOfOpenb(t *testing.T, p peer) {
	nodes, pods := openb(t, 4, 2)
	b := newBed(t)
	each(len(nodes), func(i int) { b.addNode(nodes[i]) })
	var single [][]*v1.Pod
	for _, p := range pods {
		single = append(single, []*v1.Pod{p})
	}
	backlog(b, p, single, false)
}

func backlog(b *bed, p peer, groups [][]*v1.Pod, named bool) {
	a := newAudit(b)
	if named {
		b.podGroups(groups)
	} else { // coscheduling does not start without the CRD
		b.podGroups(nil)
	}
	all := slices.Concat(groups...)
	for _, x := range all {
		x.Spec.SchedulerName = p.name
	}
	b.create(all)
	begin := time.Now()
	scheduler := p.start(b)
	a.settled(b, 25*time.Second)
	a.mu.Lock()
	last := a.last.Sub(begin)
	a.mu.Unlock()
	l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{})
	require.NoError(b.t, err)
	bound, least := groupsOf(l.Items)
	whole, part := 0, 0
	for g, n := range bound {
		if n < least[g] {
			part++
		} else {
			whole++
		}
	}
	gpus, cpus := usage(l.Items)
	b.t.Logf("| %s | %s | %d of %d | %d of %d | %d | %d | %d | %d | %.1f s | %s |", strings.SplitN(b.t.Name(), "/", 3)[1], p.name,
		boundPods(l.Items), len(all), whole, len(groups), part, len(a.racks(b)), gpus, cpus, last.Seconds(), costs(scheduler))
}

// costs ends a scheduler, and says what it used.
func costs(c *exec.Cmd) string {
	kill(c)
	u := c.ProcessState.SysUsage().(*syscall.Rusage)
	return fmt.Sprintf("%.1f s CPU, %d MB", (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), u.Maxrss>>10)
}

func boundPods(pods []v1.Pod) (n int) {
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			n++
		}
	}
	return n
}

// groupsOf is groups, where a pod without a group is one.
func groupsOf(pods []v1.Pod) (bound, least map[string]int) {
	for i := range pods {
		if p := &pods[i]; p.Labels[model.GroupLabel] == "" {
			p.Labels = map[string]string{model.GroupLabel: "pod " + p.Name, model.MinLabel: "1"}
		}
	}
	return groups(pods)
}

// usage are the GPUs and CPUs of bound pods.
func usage(pods []v1.Pod) (gpus, cpus int64) {
	for _, p := range pods {
		if p.Spec.NodeName != "" {
			r := p.Spec.Containers[0].Resources.Requests
			q := r["nvidia.com/gpu"]
			gpus, cpus = gpus+q.Value(), cpus+r.Cpu().MilliValue()
		}
	}
	return gpus, cpus / 1000
}

// streamOfGangs has a group come each 300 ms or so; it ends some seconds after its last pod was bound. Groups
// that are not whole at the end count as waiting until then.
func streamOfGangs(t *testing.T, p peer) {
	b := newBed(t)
	machine(b, number("NODES", 100))
	a := newAudit(b)
	r := rand.New(rand.NewPCG(uint64(number("SEED", 1)), 4))
	groups := gangs(r, number("GANGS", 300))
	b.podGroups(groups)
	scheduler := p.start(b)
	time.Sleep(3 * time.Second)
	type state struct {
		came, whole time.Time
		runs        time.Duration
		over        bool
	}
	states := make(map[string]*state)
	var busy float64 // GPU seconds of whole groups
	now := int64(0)
	look := func() (left int) {
		l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		members := make(map[string][]v1.Pod)
		for _, x := range l.Items {
			members[x.Labels[model.GroupLabel]] = append(members[x.Labels[model.GroupLabel]], x)
		}
		for name, s := range states {
			switch n := boundPods(members[name]); {
			case s.over:
				continue
			case s.whole.IsZero() && n > 0 && n == len(members[name]):
				s.whole = time.Now()
			case !s.whole.IsZero() && time.Since(s.whole) > s.runs:
				s.over = true
				g, _ := usage(members[name])
				busy += float64(g) * s.runs.Seconds()
				go each(len(members[name]), func(i int) {
					at := metav1.DeleteOptions{GracePeriodSeconds: &now}
					_ = b.CoreV1().Pods("default").Delete(ctx(), members[name][i].Name, at)
				})
			}
			if !s.over {
				left++
			}
		}
		return left
	}
	begin := time.Now()
	for i, g := range groups {
		for _, x := range g {
			x.Spec.SchedulerName = p.name
		}
		due := begin.Add(time.Duration(i) * time.Duration(number("GAP_MS", 300)) * time.Millisecond)
		for time.Until(due) > 0 {
			look()
			time.Sleep(min(250*time.Millisecond, max(0, time.Until(due))))
		}
		states[g[0].Labels[model.GroupLabel]] = &state{came: time.Now(), runs: time.Duration(5+r.IntN(20)) * time.Second}
		b.create(g)
	}
	arrived := time.Since(begin)
	for time.Since(begin) < 2*arrived && look() > 0 {
		time.Sleep(250 * time.Millisecond)
	}
	end := time.Now()
	var waits []float64
	never, part := 0, len(b.inPart())
	for _, s := range states {
		if s.whole.IsZero() {
			never++
			s.whole = end
		}
		waits = append(waits, s.whole.Sub(s.came).Seconds())
	}
	slices.Sort(waits)
	mean := 0.0
	for _, w := range waits {
		mean += w / float64(len(waits))
	}
	a.mu.Lock()
	faults := a.faults
	a.mu.Unlock()
	require.Empty(t, faults)
	t.Logf("| stream | %s | %d groups | %d never whole | %d in part at the end | mean wait %.1f s | p95 %.1f s | "+
		"%.0f GPU s | %.0f s | %s |", p.name,
		len(states), never, part, mean, waits[len(waits)*95/100], busy, time.Since(begin).Seconds(), costs(scheduler))
}
