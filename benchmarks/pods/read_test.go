// SPDX-License-Identifier: BSD-3-Clause

package pods

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/workload"
)

const (
	nodeHead = "sn,cpu_milli,memory_mib,gpu,model\n"
	podHead  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
	someNode = nodeHead + "b,96000,1024,8,G2\na,64000,2048,2,P100\n"
)

func someCluster(t testing.TB) *Cluster {
	c, err := ReadNodes(strings.NewReader(someNode), "nodes.csv")
	require.NoError(t, err)
	return c
}

func TestReadNodes(t *testing.T) {
	c := someCluster(t)
	require.Equal(t, []string{"G2", "P100"}, c.Kinds)
	require.Equal(t, 10*Whole, c.Thousandths())
	a := State{CPU: 64000, Memory: 2048, GPUs: [8]int16{1000, 1000}, Count: 2, Kind: 1}
	require.Equal(t, Node{"a", a}, c.Nodes[0])
	require.Equal(t, "b", c.Nodes[1].Name)
}

func TestReadPods(t *testing.T) {
	text := podHead + "p3,4000,512,1,460,P100|A10,LS\r\n\np2,8000,0,8,1000,,LS\n" +
		"p1,1000,1,0,0,P100,BE\n"
	want := []Pod{
		{"p1", Request{CPU: 1000, Memory: 1, Kinds: ^uint64(0)}},
		{"p2", Request{CPU: 8000, GPUs: 8, Share: 1000, Kinds: ^uint64(0)}},
		{"p3", Request{CPU: 4000, Memory: 512, GPUs: 1, Share: 460, Kinds: 2}},
	}
	pods, err := ReadPods(strings.NewReader(text), "pods.csv", someCluster(t))
	require.NoError(t, err)
	require.Equal(t, want, pods)

	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	pods, err = ReadPods(&b, "pods.csv.gz", someCluster(t))
	require.NoError(t, err)
	require.Equal(t, want, pods)
}

func TestReadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `f: empty`,
		"sn,cpu_milli,memory_mib,gpu\n":      `f:1: no field model in the first line`,
		"sn,sn\n":                            `f:1: field sn: "sn,sn": named twice in the first line`,
		nodeHead + "a,1,1,1\n":               `f:2: 4 fields, the first line names 5`,
		nodeHead + "a,1,1,9,T4\n":            `f:2: field gpu: "9": must be in 0..8`,
		nodeHead + "a,x,1,1,T4\n":            `f:2: field cpu_milli: "x": not a whole number`,
		nodeHead + "a,-1,1,1,T4\n":           `f:2: field cpu_milli: "-1": must be in 0..2147483647`,
		nodeHead + "a,1,1,1,\n":              `f:2: field model: "": must name one model of GPU`,
		nodeHead + "a,1,1,1,T4|P100\n":       `f:2: field model: "T4|P100": must name one model of GPU`,
		nodeHead + ",1,1,1,T4\n":             `f:2: field sn: "": must not be empty`,
		nodeHead + "a,1,1,1,T4\na,1,1,1,T4":  `f:3: field sn: "a": already on line 2`,
		nodeHead + "a,1,1,0,\n":              `f: no node with a GPU`,
		nodeHead + strings.Repeat("x", 1e5):  `f:2: bufio.Scanner: token too long`,
		"\x1f\x8b" + strings.Repeat("x", 50): `f: gzip: invalid header`,
	} {
		_, err := ReadNodes(strings.NewReader(text), "f")
		require.EqualError(t, err, want)
	}
	for text, want := range map[string]string{
		podHead + "a,1,1,1,0,,LS\n":                  `f:2: field gpu_milli: "0": must be at least 1 for a pod with GPUs`,
		podHead + "a,1,1,2,500,,LS\n":                `f:2: field gpu_milli: "500": must be 1000 for a pod with several GPUs`,
		podHead + "a,1,1,1,500,,LS\na,1,1,0,0,,LS":   `f:3: field name: "a": already on line 2`,
		podHead + "a,1,99999999999999999999,0,0,,LS": `f:2: field memory_mib: "99999999999999999999": must be in 0..2147483647`,
		podHead + "a,1,1,0,0,,LS\n":                  `f: no pod with a GPU`,
	} {
		_, err := ReadPods(strings.NewReader(text), "f", someCluster(t))
		require.EqualError(t, err, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(someNode, podHead+"p3,4000,512,1,460,P100|A10,LS\np1,1000,1,0,0,P100,BE\n")
	f.Add(nodeHead+"a,1,1,1,T4", podHead+"a,0,0,1,1,,\n")
	f.Fuzz(func(t *testing.T, nodes, list string) {
		c, err := ReadNodes(strings.NewReader(nodes), "nodes")
		if err != nil {
			require.ErrorAs(t, err, new(*workload.InputError))
			return
		}
		pods, err := ReadPods(strings.NewReader(list), "pods", c)
		if err != nil {
			require.ErrorAs(t, err, new(*workload.InputError))
			return
		}
		if len(c.Nodes) > 20 || len(pods) > 20 {
			return
		}
		for _, policy := range Policies() {
			o := Options{Policy: policy, Inflate: 0.2, Batch: 3, Seed: 1}
			r, err := Run(c, pods, o)
			require.NoError(t, err)
			require.NoError(t, Verify(c, pods, o.Batch, r))
		}
	})
}
