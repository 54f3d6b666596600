// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/pods"
)

// TestPodPage: the figures are made up.
func TestPodPage(t *testing.T) {
	published := map[string]map[string][2]float64{"default": {"06-FGD": {95.23, 95.39}}}
	var rows []podRow
	for i, list := range []string{"default", "default, to 110%"} {
		c := []podCase{{Name: list, Made: i == 1, Inflate: 1.3 - 0.2*float64(i)}}
		for _, r := range podRows(c, published) {
			for k := range 3 {
				x := float64(len(rows)) + float64(k)/10
				r.At100, r.AtEnd = append(r.At100, 90+x/10), append(r.AtEnd, 91+x/10)
				r.Failed, r.Time = append(r.Failed, 2500-10*x), append(r.Time, 20+x)
			}
			rows = append(rows, r)
		}
	}
	machine := "Some CPU, 4 logical CPUs, go1, linux/amd64"
	page, err := podPage(rows, seedRange{42, 44}, machine)
	require.NoError(t, err)
	goldenPage(t, "pods.golden", page)
}

func TestInterval(t *testing.T) {
	require.Equal(t, "2.00 ± 2.48", interval([]float64{1, 2, 3}, 2))
	require.Equal(t, "5", interval([]float64{5}, 0))
	many := make([]float64, 100)
	for i := range many {
		many[i] = float64(i % 2)
	}
	require.Equal(t, "0.50 ± 0.10", interval(many, 2), "as of a normal")
}

func TestMadeLists(t *testing.T) {
	c := &pods.Cluster{Kinds: []string{"T4"}, Nodes: []pods.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	ask := func(gpus uint8, share int16) pods.Pod {
		return pods.Pod{Request: pods.Request{GPUs: gpus, Share: share}}
	}
	list := []pods.Pod{ask(1, 300), ask(0, 0), ask(2, pods.Whole), ask(1, 300), ask(1, pods.Whole)}
	kept := slices.Clone(list)
	cases := map[string]podCase{}
	for _, x := range madeCases(c, map[string][]pods.Pod{podDefault: list, "cpu250": {ask(1, 7)}}) {
		require.True(t, x.Made)
		cases[x.Name] = x
	}
	require.Equal(t, []pods.Pod{ask(1, 7)}, cases["gpuspec33 and cpu250"].pods)
	require.Equal(t, 1.8, cases["default, to 180%"].Inflate)
	require.Equal(t, []pods.Node{{Name: "a"}, {Name: "c"}}, cases["default, half the nodes"].cluster.Nodes)
	one, two := cases["default, shares 1"], cases["default, shares 2"]
	require.Equal(t, list, kept, "the paper's list stays as it is")
	require.NotEqual(t, one.pods, two.pods)
	require.Equal(t, one.pods[0], one.pods[3], "alike before, alike after")
	for _, i := range []int{1, 2, 4} {
		require.Equal(t, list[i], one.pods[i], "only shares change")
	}
	require.Zero(t, one.pods[0].Share%10)
}

// TestPodAllocation measures a cluster of one node.
func TestPodAllocation(t *testing.T) {
	dir, head := t.TempDir(), "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	for name, text := range map[string]string{
		podNodes:                     "sn,cpu_milli,memory_mib,gpu,model\na,8000,100,4,T4\n",
		podPrefix + "tiny.csv.gz":    head + "p,1000,1,1,1000\nq,1000,1,2,1000\n",
		podPrefix + "skipped.csv.gz": head + "p,1000,1,1,1000\n",
		podPublished: "workload,sc_policy,seed,100,130\n" +
			"openb_pod_list_tiny,06-FGD,42,60,80\nopenb_pod_list_tiny,06-FGD,43,70,90\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	o := podOptions{traces: dir, csv: filepath.Join(dir, "out.csv"), match: "tiny", jobs: 2}
	o.seeds = seedRange{1, 2}
	text, err := podAllocation(context.Background(), o, io.Discard)
	require.NoError(t, err)
	require.Contains(t, text, "| tiny | fgd           |   1 |")
	require.Regexp(t, `fgd .* 85.00 \| +65.00 \|`, text, "the means of what was published")
	require.NotContains(t, text, "skipped")
	rows, err := os.ReadFile(o.csv)
	require.NoError(t, err)
	require.Contains(t, string(rows), "\ntiny,1.3,auction2,10,2,")

	for want, bad := range map[string]podOptions{
		"-traces is needed": {},
		"no such file":      {traces: filepath.Join(dir, "none")},
		`no list`:           {traces: dir, match: "zzz"},
	} {
		_, err := podAllocation(context.Background(), bad, io.Discard)
		require.ErrorContains(t, err, want)
	}
}
