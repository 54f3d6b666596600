// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

const (
	exactNodes = "sn,cpu_milli,memory_mib,gpu,model\n"
	exactPods  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n"
)

func readExact(t require.TestingT, nodes, pods string) (*traces.Machine, *workload.Workload, error) {
	m, err := traces.ReadMachine(strings.NewReader(exactNodes+nodes), "nodes")
	require.NoError(t, err)
	w, err := traces.ReadAlibaba(strings.NewReader(exactPods+pods), "pods", traces.GPUTraceOptions{Exact: true})
	return m, w, err
}

func TestExact(t *testing.T) {
	m, w, err := readExact(t, "a,5003,100,2,T4\nb,4000,200,0,\nc,1500,50,1,V100\n", `
p0,1500,30,1,470,,0,9,0
p1,500,0,2,1000,T4|A100,1,9,1
p2,1000,30,1,470,V100|T4,2,9,2
p3,0,10,0,0,T4,3,9,3
p4,500,30,1,1000,A100,4,9,4
`)
	require.NoError(t, err)
	require.Nil(t, w.Adjusted)
	x, err := Exact(m, w)
	require.NoError(t, err)
	require.Equal(t, &ExactMachine{
		Nodes:  []nodeset.Capacity{{Cores: 10, GPUs: 2}, {Cores: 8}, {Cores: 3, GPUs: 1}},
		Memory: []int64{100, 200, 50}, Shares: []int64{1000, 1000, 1000}, Unit: 500,
	}, x)
	request := func(cores, gpus int, uses nodeset.Uses, eligible nodeset.Mask) bids.Request {
		return bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: cores, MinGPUs: gpus, Uses: uses, Eligible: eligible}
	}
	shared := nodeset.Uses{{Row: ExactMemory, PerNode: 30}, {Row: ExactShares, PerNode: 470}}
	for i, want := range []bids.Request{
		request(3, 0, shared, nil),
		request(1, 2, nil, nodeset.Mask{1}),
		request(2, 0, shared, nodeset.Mask{5}),
		request(1, 0, nodeset.Uses{{Row: ExactMemory, PerNode: 10}}, nil),
		request(1, 1, nodeset.Uses{{Row: ExactMemory, PerNode: 30}}, nodeset.Mask{0}),
	} {
		require.Equal(t, want, w.Jobs[i].Request, "pod %d", i)
	}
	require.Same(t, &w.Jobs[0].Uses[0], &w.Jobs[2].Uses[0], "pods that are alike share what they take")
	require.Equal(t, []workload.Tally{{Reason: "asks for no core: taken as 500 thousandths of one", Jobs: 1}}, w.Adjusted)
}

func TestExactErrors(t *testing.T) {
	for _, c := range []struct{ pods, want string }{
		{"a,500,1,1,0,,0,9,0", `pods:2: field gpu_milli: "0": must be at least 1 for a pod with GPUs`},
		{"a,500,1,2,470,,0,9,0", `pods:2: field gpu_milli: "470": must be 1000 for a pod with several GPUs`},
		{"a,70000,1,0,0,,0,9,0\nb,1,1,0,0,,0,9,0", "job a: 70000 thousandths of a core are 70000 units of 1: at most 65535"},
	} {
		m, w, err := readExact(t, "a,4000,100,2,T4\n", c.pods)
		if err == nil {
			_, err = Exact(m, w)
		}
		require.EqualError(t, err, c.want)
	}
	m, w, err := readExact(t, "a,4000,100,2,T4\nb,131100,100,2,T4\n", "a,2,1,0,0,,0,9,0")
	require.NoError(t, err)
	_, err = Exact(m, w)
	require.EqualError(t, err, "node 1: 131100 thousandths of a core are 65550 units of 2, in which the pods count: at most 65535")
	w.Jobs[0].Pod = nil
	_, err = Exact(m, w)
	require.EqualError(t, err, "job a is not one of Alibaba's pods")
	m, err = traces.ParseMachine("2x8x1")
	require.NoError(t, err)
	_, err = Exact(m, w)
	require.ErrorContains(t, err, "the machine is not Alibaba's list of nodes")
}

// Pods fit on a node in units if and only if they do in thousandths.
func TestPropertyExactLosesNothing(t *testing.T) {
	fit, not := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]int{1, 2, 3, 250, 1000}).Draw(t, "step")
		cpu := rapid.IntRange(1000, 20000).Draw(t, "node")
		pods, sum := "", 0
		for i := range rapid.IntRange(1, 6).Draw(t, "pods") {
			ask := step * rapid.IntRange(1, 5000/step).Draw(t, "cpu")
			pods += fmt.Sprintf("p%d,%d,0,0,0,,0,9,0\n", i, ask)
			sum += ask
		}
		m, w, err := readExact(t, fmt.Sprintf("a,%d,0,0,\n", cpu), pods)
		require.NoError(t, err)
		x, err := Exact(m, w)
		require.NoError(t, err)
		units := 0
		for _, j := range w.Jobs {
			units += j.TasksPerNode
		}
		require.Equal(t, sum <= cpu, units <= int(x.Nodes[0].Cores))
		if sum <= cpu {
			fit++
		} else {
			not++
		}
	})
	require.Positive(t, min(fit, not), "-short draws few")
}

// TestRealExactPods: published lists count to the letter, and no pod of theirs is without a core.
// The numbers were counted by another program.
func TestRealExactPods(t *testing.T) {
	race.Slow(t)
	beside.Shared(t, "traces/fgd/openb_pod_list_gpuspec33.csv.gz")
	m, err := traces.ParseMachine(beside.Shared(t, "traces/alibaba-openb_node_list_all_node.csv"))
	require.NoError(t, err)
	for _, c := range []struct {
		list                         string
		unit, jobs, shares, eligible int
	}{
		{"alibaba-openb_pod_list_default.csv", 2, 7255, 2573, 0},
		{"fgd/openb_pod_list_gpuspec33.csv.gz", 2, 7255, 2573, 2092},
		{"fgd/openb_pod_list_gpushare100.csv.gz", 4, 6943, 5891, 0},
	} {
		w, err := traces.ReadFile(beside.Shared(t, "traces/"+c.list), traces.Options{GPU: traces.GPUTraceOptions{Exact: true}})
		require.NoError(t, err)
		x, err := Exact(m, w)
		require.NoError(t, err)
		shares, eligible := 0, 0
		for _, j := range w.Jobs {
			if j.Pod.Share > 0 {
				shares++
			}
			if j.Eligible != nil {
				eligible++
			}
		}
		require.Equal(t, []int{c.unit, c.jobs, c.shares, c.eligible}, []int{x.Unit, len(w.Jobs), shares, eligible}, c.list)
		require.Nil(t, w.Adjusted)
	}
}
