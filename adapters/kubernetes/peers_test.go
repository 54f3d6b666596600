// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aucsched/aucsched/adapters/kubernetes/model"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// peer is a scheduler of pods.
type peer struct {
	name  string // its schedulerName too
	start func(b *bed) []*exec.Cmd
	// adapt, if not nil, prepares the server and the pods for a scheduler with groups of its own kind.
	adapt func(b *bed, groups [][]*v1.Pod)
}

var peers = []peer{
	{"aucsched", func(b *bed) []*exec.Cmd {
		return []*exec.Cmd{b.controller("aucsched", "--leader-elect=false", "--gang-timeout", "10s")}
	}, nil},
	{"kube-scheduler", func(b *bed) []*exec.Cmd { return b.stock("kube-scheduler", "kube-scheduler", "") }, nil},
	{"coscheduling", func(b *bed) []*exec.Cmd {
		return b.stock("coscheduling", "coscheduling", `
  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}, queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}}
  pluginConfig: [{name: Coscheduling, args: {permitWaitingTimeSeconds: 10, podGroupBackoffSeconds: 0}}]`)
	}, nil},
	{"volcano", func(b *bed) []*exec.Cmd {
		b.write("volcano.conf", `
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}]
`)
		return []*exec.Cmd{b.start("volcano", nil, "volcano", "--kubeconfig", b.path("admin.yaml"), "--scheduler-name", "volcano",
			"--scheduler-conf", b.path("volcano.conf"), "--leader-elect=false", "--enable-healthz=false", "--enable-metrics=false",
			"--listen-address", "127.0.0.1:0", "--kube-api-qps", "2000", "--kube-api-burst", "4000", "--logtostderr")}
	}, forVolcano},
	{"kueue", func(b *bed) []*exec.Cmd {
		b.write("kueue.conf", fmt.Sprintf(`apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "0"}
leaderElection: {leaderElect: false}
webhook: {port: %d, certDir: %q}
internalCertManagement: {enable: false}
clientConnection: {qps: 2000, burst: 4000}
integrations: {frameworks: [pod]}
featureGates: {VisibilityOnDemand: false}
`, freePort(b.t), freePort(b.t), b.path("certs")))
		for from, to := range map[string]string{"apiserver.crt": "tls.crt", "apiserver.key": "tls.key"} {
			text, err := os.ReadFile(b.path("certs/" + from))
			require.NoError(b.t, err)
			b.write("certs/"+to, string(text))
			const fixed = "/etc/kueue/metrics/certs" // Kueue reads these from nowhere else
			require.NoError(b.t, os.MkdirAll(fixed, 0o700))
			b.t.Cleanup(func() { _ = os.RemoveAll("/etc/kueue") })
			require.NoError(b.t, os.WriteFile(filepath.Join(fixed, to), text, 0o600))
		}
		kueue := b.start("kueue", nil, "kueue", "--config", b.path("kueue.conf"), "--kubeconfig", b.path("admin.yaml"))
		return append(b.stock("kube-scheduler", "kueue", ""), kueue)
	}, forKueue},
}

// forVolcano makes Volcano's PodGroups.
func forVolcano(b *bed, groups [][]*v1.Pod) {
	b.applyAll("volcano-crds")
	var made []string
	for _, g := range groups {
		name := "single-" + g[0].Name
		if g[0].Labels[model.GroupLabel] != "" {
			name = g[0].Labels[model.GroupLabel]
		}
		for _, p := range g {
			p.Annotations["scheduling.k8s.io/group-name"] = name
		}
		made = append(made, fmt.Sprintf(`{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup,
metadata: {name: %s, namespace: default}, spec: {minMember: %d, queue: default}}`, name, len(g)))
	}
	const v = "scheduling.volcano.sh/v1beta1"
	b.createAll(v, "podgroups", made)
	b.createAll(v, "queues", []string{"{apiVersion: " + v + ", kind: Queue, metadata: {name: default}, spec: {weight: 1}}"})
	client, err := dynamic.NewForConfig(b.config) // its controller would open the queue
	require.NoError(b.t, err)
	_, err = client.Resource(schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}).Patch(
		ctx(), "default", types.MergePatchType, []byte(`{"status": {"state": "Open"}}`), metav1.PatchOptions{}, "status")
	require.NoError(b.t, err)
}

// forKueue makes one queue with all that the nodes have, which Kueue gives out node by node (topology-aware
// scheduling). The pods are as Kueue's webhook makes them.
func forKueue(b *bed, groups [][]*v1.Pod) {
	b.applyAll("kueue-crds")
	sum := v1.ResourceList{}
	l, err := b.CoreV1().Nodes().List(ctx(), metav1.ListOptions{})
	require.NoError(b.t, err)
	for i := range l.Items {
		n := &l.Items[i]
		n.Labels["bed"] = "yes"
		_, err := b.CoreV1().Nodes().Update(ctx(), n, metav1.UpdateOptions{})
		for err != nil { // kwok was faster
			now, fault := b.CoreV1().Nodes().Get(ctx(), n.Name, metav1.GetOptions{})
			require.NoError(b.t, fault)
			now.Labels["bed"] = "yes"
			_, err = b.CoreV1().Nodes().Update(ctx(), now, metav1.UpdateOptions{})
		}
		for name, q := range n.Status.Allocatable {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	var names, quotas []string
	for _, name := range []v1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
		total := sum[name]
		names = append(names, string(name))
		quotas = append(quotas, fmt.Sprintf("{name: %s, nominalQuota: %q}", name, total.String()))
	}
	const v = "kueue.x-k8s.io/v1beta2"
	b.createAll(v, "topologies", []string{fmt.Sprintf(`{apiVersion: %s, kind: Topology, metadata: {name: bed},
spec: {levels: [{nodeLabel: %s}, {nodeLabel: kubernetes.io/hostname}]}}`, v, rack)})
	b.createAll(v, "resourceflavors", []string{fmt.Sprintf(`{apiVersion: %s, kind: ResourceFlavor, metadata: {name: bed},
spec: {nodeLabels: {bed: "yes"}, topologyName: bed}}`, v)})
	b.createAll(v, "clusterqueues", []string{fmt.Sprintf(`{apiVersion: %s, kind: ClusterQueue, metadata: {name: bed},
spec: {namespaceSelector: {}, queueingStrategy: BestEffortFIFO, resourceGroups: [{coveredResources: [%s],
flavors: [{name: bed, resources: [%s]}]}]}}`, v, strings.Join(names, ", "), strings.Join(quotas, ", "))})
	b.createAll(v, "localqueues", []string{fmt.Sprintf(`{apiVersion: %s, kind: LocalQueue,
metadata: {name: bed, namespace: default}, spec: {clusterQueue: bed}}`, v)})
	for _, g := range groups {
		for _, p := range g {
			p.Labels["kueue.x-k8s.io/queue-name"], p.Labels["kueue.x-k8s.io/managed"] = "bed", "true"
			p.Finalizers = append(p.Finalizers, "kueue.x-k8s.io/managed")
			p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}, {Name: "kueue.x-k8s.io/topology"}}
			p.Annotations["kueue.x-k8s.io/podset-unconstrained-topology"] = "true"
			role := fnv.New32()
			fmt.Fprint(role, p.Spec.Containers[0].Resources.Requests)
			p.Annotations["kueue.x-k8s.io/role-hash"] = fmt.Sprintf("r%x", role.Sum32())
			if p.Spec.Affinity != nil { // in one rack
				p.Spec.Affinity = nil
				delete(p.Annotations, "kueue.x-k8s.io/podset-unconstrained-topology")
				p.Annotations["kueue.x-k8s.io/podset-required-topology"] = rack
			}
			if name := p.Labels[model.GroupLabel]; name != "" {
				p.Labels["kueue.x-k8s.io/pod-group-name"] = name
				p.Annotations["kueue.x-k8s.io/pod-group-total-count"] = fmt.Sprint(len(g))
			}
		}
	}
}

// applyAll creates the CRDs in a directory of the programs; of several versions the stored one is served.
func (b *bed) applyAll(dir string) {
	files, err := filepath.Glob(filepath.Join(b.bins, dir, "*.yaml"))
	require.NoError(b.t, err)
	require.NotEmpty(b.t, files, "bed/build.sh did not make them")
	for _, file := range files {
		b.apply(file)
	}
}

// createAll creates objects of one kind, once the server knows it.
func (b *bed) createAll(version, kind string, objects []string) {
	client, err := dynamic.NewForConfig(b.config)
	require.NoError(b.t, err)
	v, err := schema.ParseGroupVersion(version)
	require.NoError(b.t, err)
	each(len(objects), func(i int) {
		x := new(unstructured.Unstructured)
		require.NoError(b.t, yaml.Unmarshal([]byte(objects[i]), &x.Object))
		to := dynamic.ResourceInterface(client.Resource(v.WithResource(kind)))
		if x.GetNamespace() != "" {
			to = client.Resource(v.WithResource(kind)).Namespace(x.GetNamespace())
		}
		require.Eventually(b.t, func() bool {
			_, err := to.Create(ctx(), x, metav1.CreateOptions{})
			return err == nil || isExists(err)
		}, time.Minute, 200*time.Millisecond, "%s", objects[i])
	})
}

// stock starts a kube-scheduler under a schedulerName.
func (b *bed) stock(program, name, profile string) []*exec.Cmd {
	b.write(program+".conf", fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %s, qps: 2000, burst: 4000}
profiles:
- schedulerName: %s%s
`, b.path("admin.yaml"), name, profile))
	return []*exec.Cmd{b.start(program, nil, program, "--config", b.path(program+".conf"), "--secure-port", "0",
		"-v", cmp.Or(os.Getenv("VERBOSE"), "0"))}
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
	var made []string
	for _, g := range groups {
		made = append(made, fmt.Sprintf(`{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup,
metadata: {name: %s, namespace: default}, spec: {minMember: %d, scheduleTimeoutSeconds: 10}}`, g[0].Labels[model.GroupLabel], len(g)))
	}
	b.createAll(groupKinds[0].GroupVersion().String(), "podgroups", made)
}

// requests is how many requests the server has answered, without watches: those of the test and kwok too.
func (b *bed) requests() (n int64) {
	text, err := b.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx())
	require.NoError(b.t, err)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "apiserver_request_total{") && !strings.Contains(line, `verb="WATCH"`) {
			v, err := strconv.ParseFloat(strings.Fields(line)[len(strings.Fields(line))-1], 64)
			require.NoError(b.t, err)
			n += int64(v)
		}
	}
	return n
}

// TestPeers has several schedulers do the same work, each alone on a bed of its own. The figures are for
// RESULTS.md.
func TestPeers(t *testing.T) {
	if os.Getenv("AUCSCHED_KUBE_PEERS") == "" {
		t.Skip("make peers runs this")
	}
	for _, p := range peers {
		if only := os.Getenv("PEER"); only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		for _, work := range []struct {
			name string
			run  func(*testing.T, peer)
		}{{"gangs", backlogOfGangs}, {"openb", backlogOfOpenb}, {"stream", streamOfGangs}, {"priorities", priorities},
			{"philly", streamOfPhilly}, {"many", backlogOfMany}} {
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

// backlogOfMany has room for all: groups of 8 pods, half of the CPUs in all.
func backlogOfMany(t *testing.T, p peer) {
	b := newBed(t)
	nodes := number("NODES", 1000)
	machine(b, nodes)
	var groups [][]*v1.Pod
	for g := range number("PODS", 10*nodes) / 8 {
		var group []*v1.Pod
		for k := range 8 {
			x := bedPod(fmt.Sprint("g", g, "-", k), "cpu", fmt.Sprint(2+g%3), "memory", "4Gi")
			x.Labels[model.GroupLabel], x.Labels[model.MinLabel] = fmt.Sprint("g", g), "8"
			group = append(group, x)
		}
		groups = append(groups, group)
	}
	backlog(b, p, groups, true)
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
	if p.adapt != nil {
		p.adapt(b, groups)
	}
	all := slices.Concat(groups...)
	for _, x := range all {
		x.Spec.SchedulerName = p.name
	}
	b.create(all)
	requests, begin := b.requests(), time.Now()
	schedulers := p.start(b)
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
	b.t.Logf("| %s | %s | %d of %d | %d of %d | %d | %d | %d | %d | %.1f s | %d requests | %s |", strings.SplitN(b.t.Name(), "/", 3)[1], p.name,
		boundPods(l.Items), len(all), whole, len(groups), part, len(a.racks(b)), gpus, cpus, last.Seconds(), b.requests()-requests, costs(schedulers))
}

// costs ends the programs of a scheduler, and says what they used.
func costs(programs []*exec.Cmd) string {
	seconds, memory := 0.0, int64(0)
	for _, c := range programs {
		kill(c)
		seconds += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		memory += c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	}
	return fmt.Sprintf("%.1f s CPU, %d MB", seconds, memory)
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

// arrival is a group that comes, and how long it runs once it is whole.
type arrival struct {
	pods     []*v1.Pod
	at, runs time.Duration
}

// streamOfGangs has a group come each 300 ms or so; it ends some seconds after its last pod was bound. Groups
// that are not whole at the end count as waiting until then.
func streamOfGangs(t *testing.T, p peer) { drawnStream(t, p, "mid") }

// priorities is the same with groups of different priorities. Pods that are stopped are made anew.
func priorities(t *testing.T, p peer) { drawnStream(t, p, "low", "mid", "high") }

func drawnStream(t *testing.T, p peer, classes ...string) {
	b := newBed(t)
	machine(b, number("NODES", 100))
	r := rand.New(rand.NewPCG(uint64(number("SEED", 1)), 4))
	var work []arrival
	for i, g := range gangs(r, number("GANGS", 300)) {
		if len(classes) > 1 {
			class := classes[r.IntN(len(classes))]
			for _, x := range g {
				x.Spec.PriorityClassName = class
			}
		}
		work = append(work, arrival{pods: g, at: time.Duration(i) * time.Duration(number("GAP_MS", 300)) * time.Millisecond})
	}
	for i := range work {
		work[i].runs = time.Duration(5+r.IntN(20)) * time.Second
	}
	stream(t, b, p, work)
}

// streamOfPhilly has jobs of Philly's trace come that ask for several GPUs, at most 4 a pod: as many as GANGS, from
// job 1000 times SEED on. Arrivals and run times are scaled down so that all come within SECONDS.
func streamOfPhilly(t *testing.T, p peer) {
	file := os.Getenv("PHILLY")
	if file == "" {
		t.Skip("PHILLY names the trace as a CSV file with timestamp, duration and num_gpus")
	}
	rows := slices.DeleteFunc(readCSV(t, file), func(r map[string]string) bool { return r["num_gpus"] == "1" })
	slices.SortStableFunc(rows, func(a, b map[string]string) int { return cmp.Compare(a["timestamp"], b["timestamp"]) })
	rows = rows[1000*number("SEED", 1):][:number("GANGS", 150)]
	came := func(i int) time.Time {
		at, err := time.Parse(time.DateTime, rows[i]["timestamp"])
		require.NoError(t, err)
		return at
	}
	within := time.Duration(number("SECONDS", 120)) * time.Second
	scale := within.Seconds() / came(len(rows)-1).Sub(came(0)).Seconds()
	var work []arrival
	for i, r := range rows {
		seconds, err := strconv.ParseFloat(r["duration"], 64)
		require.NoError(t, err)
		gpus, err := strconv.Atoi(r["num_gpus"])
		require.NoError(t, err)
		name, each := fmt.Sprint("g", i), min(gpus, 4)
		a := arrival{at: time.Duration(came(i).Sub(came(0)).Seconds() * scale * 1e9),
			runs: min(max(time.Duration(seconds*scale*1e9), 2*time.Second), within/2)}
		for k := range gpus / each {
			x := bedPod(fmt.Sprint(name, "-", k), "cpu", fmt.Sprint(4*each), "memory", "16Gi")
			ask(x, "nvidia.com/gpu", fmt.Sprint(each))
			x.Labels[model.GroupLabel], x.Labels[model.MinLabel] = name, fmt.Sprint(gpus/each)
			a.pods = append(a.pods, x)
		}
		work = append(work, a)
	}
	b := newBed(t)
	for i := range number("NODES", 20) {
		b.addNode(aNode(fmt.Sprintf("n%04d", i), "cpu", "64", "memory", "256Gi", "nvidia.com/gpu", "8"))
	}
	stream(t, b, p, work)
}

func stream(t *testing.T, b *bed, p peer, work []arrival) {
	a := newAudit(b)
	var groups [][]*v1.Pod
	for _, w := range work {
		groups = append(groups, w.pods)
	}
	b.podGroups(groups)
	if p.adapt != nil {
		p.adapt(b, groups)
	}
	requests := b.requests()
	schedulers := p.start(b)
	time.Sleep(3 * time.Second)
	type state struct {
		came, whole, made time.Time
		runs              time.Duration
		over              bool
		pods              []*v1.Pod
		gpus              int64
	}
	stops, lost := 0, 0.0 // pods, and GPU seconds of groups that were whole
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
			case time.Since(s.made) > 2*time.Second && len(members[name]) < len(s.pods):
				var again []*v1.Pod
				for i, x := range s.pods {
					if !slices.ContainsFunc(members[name], func(y v1.Pod) bool { return y.Name == x.Name }) {
						stops++
						x = x.DeepCopy()
						x.Name = fmt.Sprint(name, "-again-", stops)
						s.pods[i], again = x, append(again, x)
					}
				}
				if !s.whole.IsZero() {
					lost += float64(s.gpus) * time.Since(s.whole).Seconds()
				}
				b.create(again)
				s.whole, s.made = time.Time{}, time.Now()
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
	for _, w := range work {
		g := w.pods
		for _, x := range g {
			x.Spec.SchedulerName = p.name
		}
		due := begin.Add(w.at)
		for time.Until(due) > 0 {
			look()
			time.Sleep(min(250*time.Millisecond, max(0, time.Until(due))))
		}
		s := &state{came: time.Now(), runs: w.runs, pods: g}
		for _, x := range g {
			q := x.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]
			s.gpus += q.Value()
		}
		b.create(g)
		s.made = time.Now()
		states[g[0].Labels[model.GroupLabel]] = s
	}
	arrived := time.Since(begin)
	for time.Since(begin) < 2*arrived && look() > 0 {
		time.Sleep(250 * time.Millisecond)
	}
	end := time.Now()
	var waits []float64
	never, part := 0, len(b.inPart())
	for name, s := range states {
		if s.whole.IsZero() {
			never++
			s.whole = end
			why := ""
			l, err := b.CoreV1().Pods("").List(ctx(), metav1.ListOptions{LabelSelector: model.GroupLabel + "=" + name})
			require.NoError(t, err)
			for _, x := range l.Items {
				for _, c := range x.Status.Conditions {
					why = c.Message
				}
			}
			t.Logf("%s, %d pods, %d of them bound: %s", name, len(l.Items), boundPods(l.Items), why)
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
		"%.0f GPU s | %d pods stopped | %.0f GPU s lost | %.0f s | %d requests | %s |", p.name,
		len(states), never, part, mean, waits[len(waits)*95/100], busy, stops, lost, time.Since(begin).Seconds(), b.requests()-requests, costs(schedulers))
}
