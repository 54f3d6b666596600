// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// runsOf is nodes in short form, the inverse of ParseCluster.
func runsOf(nodes []nodeset.Capacity) string {
	var runs []string
	for i := 0; i < len(nodes); {
		k := i
		for k < len(nodes) && nodes[k] == nodes[i] {
			k++
		}
		runs = append(runs, fmt.Sprintf("%dx%dx%d", k-i, nodes[i].Cores, nodes[i].GPUs))
		i = k
	}
	return strings.Join(runs, ",")
}

func TestParseCluster(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"1408x12x3", "1408x12x3"},
		{"20x80,48x12", "20x80x0,48x12x0"},
		{"512x8x2,512x8", "512x8x2,512x8x0"},
		{"1x65535x255", "1x65535x255"},
		{"1048576x1", "1048576x1x0"},
		{"testdata/cluster/plain.txt", "2x8x2,3x16x0"},
		{"testdata/cluster/named.txt", "3x12x3,3x80x0"},
		{"testdata/cluster/alibaba.csv", "2x32x0,1x96x8,1x82x8"},
		{"testdata/cluster/slurm.conf", "2x8x2,2x8x3,1x32x0"},
	} {
		nodes, err := ParseCluster(c.spec)
		require.NoError(t, err, c.spec)
		require.Equal(t, c.want, runsOf(nodes), c.spec)
	}
}

func TestParseClusterErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"20", `cluster "20": "20": not a count of nodes, cores and perhaps GPUs`},
		{"1x2x3x4", `cluster "1x2x3x4": "1x2x3x4": not a count of nodes, cores and perhaps GPUs`},
		{"20x", `cluster "20x": field cores: "": not a whole number`},
		{"20x8,", `cluster "20x8,": "": not a count of nodes, cores and perhaps GPUs`},
		{"0x8", `cluster "0x8": field count: "0": must be in 1..1048576`},
		{"16777217x1", `cluster "16777217x1": field count: "16777217": must be in 1..1048576`},
		{"99999999999999999999x1", `cluster "99999999999999999999x1": field count: "99999999999999999999": must be in 1..1048576`},
		{"1048576x1,1x1", `cluster "1048576x1,1x1": more than 1048576 nodes`},
		{"1x0", `cluster "1x0": field cores: "0": must be in 1..65535`},
		{"1x65536", `cluster "1x65536": field cores: "65536": must be in 1..65535`},
		{"1x1x256", `cluster "1x1x256": field gpus: "256": must be in 0..255`},
		{"absent.conf", `cluster "absent.conf": neither COUNTxCORES[xGPUS],... nor a file: open absent.conf: no such file or directory`},
		{"", `cluster "": neither COUNTxCORES[xGPUS],... nor a file: open : no such file or directory`},
	} {
		_, err := ParseCluster(c.spec)
		require.EqualError(t, err, c.want)
	}
}

func TestReadCluster(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"# only this\n4 8 1 # four\n\n", "4x8x1"},
		{"n1 CORES=8 GPUs=1", "1x8x1"},
		{"n1 cores=8\n2 4", "1x8x0,2x4x0"},
		{"NodeName=a[1-2],b7", "3x1x0"},
		{"NodeName=a Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", "1x16x0"},
		{"NodeName=a CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2", "1x8x0"},
		{"NodeName=DEFAULT CPUs=4 Gres=gpu:1\nNodeName=a\nNodeName=b CPUs=2\nNodeName=default Gres=gpu:3\nNodeName=c", "1x4x1,1x2x1,1x4x3"},
		{"Clustername=x\nNodeName=a \\\n CPUs=4 \\\n Gres=gpu:2\nPartitionName=p Nodes=a", "1x4x2"},
		{"NodeName=a CPUs=4 Reason=\"has a=b in it\"", "1x4x0"},
		{"NodeName=a CPUs=4 \\", "1x4x0"},
	} {
		nodes, err := readNodes(strings.NewReader(c.text), "f")
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, runsOf(nodes), c.text)
	}
}

func TestReadClusterErrors(t *testing.T) {
	form := "not COUNT CORES [GPUS] or HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB], and no slurm.conf begins so"
	for _, c := range []struct{ text, want string }{
		{"", "f: no node"},
		{"# nothing\n", "f: no node"},
		{"ClusterName=x\nPartitionName=p", "f: no line NodeName names a node"},
		{"1 2\nNodeNmae=x CPUs=3", "f:2: " + form},
		{"1 2\n8", "f:2: " + form},
		{"1 2 3 4", "f:1: " + form},
		{"x 2", `f:1: field count: "x": not a whole number`},
		{"\n2 x", `f:2: field cores: "x": not a whole number`},
		{"2 8 -1", `f:1: field gpus: "-1": must be in 0..255`},
		{"1048576 1\n1 1", "f:2: more than 1048576 nodes"},
		{"n1 cores=8 3", `f:1: "3" is not KEY=VALUE`},
		{"n1 gpus=3", `f:1: nodes "n1" without a core`},
		{"n1 cores=8 cores=9", `f:1: field cores: "9": given twice on the line`},
		{"n1 cores=65536", `f:1: field cores: "65536": must be in 0..65535`},
		{"n1 cores=8 gpus=x", `f:1: field gpus: "x": not a whole number`},
		{"NodeName=a ThreadsPerCore=x", `f:1: ThreadsPerCore: "x": must be a whole number from 0 to 65535`},
		{"n1 cores=8 gpus=256", `f:1: field gpus: "256": must be in 0..255`},
		{"n[3-1] cores=8", `f:1: field hosts: "n[3-1]": hostlist "n[3-1]": range 3-1 is empty`},
		{"n[1-3] cores=8\nn[3-4] cores=8", `f:2: field hosts: "n[3-4]": node n3 is on line 1 already`},
		{"n1,n1 cores=8", `f:1: field hosts: "n1,n1": node n1 is on line 1 already`},
		{"n[0-1048576] cores=8", `f:1: field hosts: "n[0-1048576]": more than 1048576 named nodes; give COUNT CORES GPUS`},
		{";NodeName=a CPUs=8", "f:1: " + form},
		{"ClusterName=x\n;NodeName=a CPUs=8", `f:2: the line can't be read from ";NodeName=a CPUs=8" on`},
		{"NodeName=a \\\nCPUs=8 \\\nfoo", `f:1: the line can't be read from "foo" on`},
		{"Include nodes.conf",
			`f:1: Include: "nodes.conf": stat nodes.conf: no such file or directory, nor a copy of it beside the slurm.conf`},
		{"1 2\n" + strings.Repeat("1", 1<<20+1), "f:2: a line of more than 1048576 bytes"},
	} {
		_, err := readNodes(strings.NewReader(c.text), "f")
		require.EqualError(t, err, c.want)
		var in *workload.InputError
		require.ErrorAs(t, err, &in)
	}
}

// A slurm.conf is the machine that try makes of it, with what it includes and under its names.
func TestSlurmConfAsTry(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"slurm.conf": "# the main file\nClusterName = Alpha\nInclude %c.nodes\n" +
			"NodeName=f[1-8] CPUs=64 State=FUTURE\nPartitionName=p Nodes=ALL\n",
		"alpha.nodes": "NodeName = a[1-2], Procs = 32 CoreSpecCount=2 RealMemory=900 \\ \n Gres=gpu:x:2,gpu:y:1\n" +
			"NodeName=b Boards=2 Sockets=4 CoresPerSocket=8\nNodeName=c CPUs=0 Sockets=2 CoresPerSocket=8 Sockets=4\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	path := filepath.Join(dir, "slurm.conf")
	m, err := ParseMachine(path)
	require.NoError(t, err)
	require.Equal(t, "2x30x3,2x32x0", runsOf(m.Nodes))
	c, err := conf.Read(path)
	require.NoError(t, err)
	tried, err := c.Machine()
	require.NoError(t, err)
	require.Equal(t, &Machine{Nodes: tried.Nodes, Names: tried.Names, Memory: tried.Memory}, m)
}

func TestReadClusterPacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.gz")
	require.NoError(t, os.WriteFile(path, pack(t, "2 8\n"), 0o644))
	nodes, err := ParseCluster(path)
	require.NoError(t, err)
	require.Equal(t, "2x8x0", runsOf(nodes))
}

// TestPropertyCluster: a machine in any of the forms is the same machine.
func TestPropertyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []nodeset.Capacity
		var inline []string
		var counts, named, slurm strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(t, "runs") {
			n := rapid.IntRange(1, 20).Draw(t, "nodes")
			c := nodeset.Capacity{Cores: uint16(rapid.IntRange(1, 65535).Draw(t, "cores")), GPUs: rapid.Uint8().Draw(t, "gpus")}
			for range n {
				want = append(want, c)
			}
			inline = append(inline, fmt.Sprintf("%dx%dx%d", n, c.Cores, c.GPUs))
			fmt.Fprintf(&counts, "%d %d %d\n", n, c.Cores, c.GPUs)
			fmt.Fprintf(&named, "r%dn[1-%d] cores=%d gpus=%d\n", i, n, c.Cores, c.GPUs)
			fmt.Fprintf(&slurm, "NodeName=r%dn[1-%d] Sockets=%d Gres=gpu:%d\n", i, n, c.Cores, c.GPUs)
		}
		got, err := ParseCluster(strings.Join(inline, ","))
		require.NoError(t, err)
		require.Equal(t, want, got)
		for _, text := range []string{counts.String(), named.String(), slurm.String()} {
			got, err := readNodes(strings.NewReader(text), "f")
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

func FuzzReadCluster(f *testing.F) {
	for _, name := range []string{"plain.txt", "named.txt", "slurm.conf", "alibaba.csv"} {
		text, err := os.ReadFile("testdata/cluster/" + name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("16777217 1\n\\\nInclude x")
	f.Add("n1 cores=8 memory=512\nNodeName=a RealMemory=64000 MemSpecLimit=2000")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := readNodes(strings.NewReader(text), "f")
		if err != nil {
			var in *workload.InputError
			require.ErrorAs(t, err, &in)
			return
		}
		checkNodes(t, nodes)
	})
}

func FuzzParseCluster(f *testing.F) {
	for _, spec := range []string{"1408x12x3", "20x80,48x12", "1x", "9999999999x1"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		if !generate.IsRuns(spec) {
			return // would be the path of a file
		}
		nodes, err := ParseCluster(spec)
		if err != nil {
			return
		}
		checkNodes(t, nodes)
		if len(nodes) > 1<<16 {
			return
		}
		again, err := ParseCluster(runsOf(nodes))
		require.NoError(t, err)
		require.Equal(t, nodes, again)
	})
}

func checkNodes(t *testing.T, nodes []nodeset.Capacity) {
	require.NotEmpty(t, nodes)
	require.LessOrEqual(t, len(nodes), nodeset.MaxNodes)
	for _, c := range nodes {
		if c.Cores == 0 {
			t.Fatal("a node without a core")
		}
	}
}

func ExampleParseCluster() {
	nodes, err := ParseCluster("2x80,1x12x3")
	fmt.Println(nodes, err)
	_, err = ParseCluster("2x0")
	fmt.Println(err)
	// Output:
	// [{80 0} {80 0} {12 3}] <nil>
	// cluster "2x0": field cores: "0": must be in 1..65535
}

// readNodes is ReadMachine, without memory.
func readNodes(r io.Reader, name string) ([]nodeset.Capacity, error) {
	m, err := ReadMachine(r, name)
	if err != nil {
		return nil, err
	}
	return m.Nodes, nil
}
