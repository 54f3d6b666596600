// SPDX-License-Identifier: BSD-3-Clause

package slurmconf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// read reads a slurm.conf of these files, of which the first is the one.
func read(t *testing.T, files ...string) (*Conf, string, error) {
	t.Helper()
	dir := t.TempDir()
	for i, text := range files {
		name := []string{"slurm.conf", "nodes.conf", "more.conf"}[i]
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c, err := Read(filepath.Join(dir, "slurm.conf"))
	return c, dir, err
}

func TestLines(t *testing.T) {
	c, dir, err := read(t, "ClusterName=x # comment\n\nSchedulerParameters=bf_interval=30,\\\nAUC_mode=on\nInclude nodes.conf\n"+
		"Reason=\"not # in use\"  State=UP\nclustername=y", "include more.conf\n", "\nSlurmdPort=7\n")
	require.NoError(t, err)
	value, line, ok := c.Last("CLUSTERNAME")
	require.True(t, ok)
	require.Equal(t, "y", value)
	require.Equal(t, 7, line.Number)
	port, line, ok := c.Last("SlurmdPort")
	require.True(t, ok)
	require.Equal(t, "7", port)
	require.Equal(t, []any{filepath.Join(dir, "more.conf"), 2}, []any{line.File, line.Number})
	reason, _, _ := c.Last("reason")
	require.Equal(t, "not ", reason, "as in Slurm, a comment begins within quotes too")
	for option, want := range map[string]string{"bf_interval": "30", "auc_mode": "on"} {
		value, given := c.Option("SchedulerParameters", option)
		require.True(t, given)
		require.Equal(t, want, value)
	}
	_, given := c.Option("SchedulerParameters", "bf_window")
	require.False(t, given)
	_, _, ok = c.Last("NoSuch")
	require.False(t, ok)
}

func TestMachine(t *testing.T) {
	c, _, err := read(t, `NodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=1000 State=UNKNOWN
NodeName=a[1-3]
NodeName=b[1-2] CPUs=8 RealMemory=500 MemSpecLimit=100 Gres=gpu:v100:2(S:0,1),gpu:a100:1,nic:4
NodeName=c1 Gres=gpu
NodeName=f[1-9] State=FUTURE
NodeSet=some Nodes=a1,c1
PartitionName=DEFAULT Nodes=ALL
PartitionName=all
PartitionName=part Nodes=b[1-2],some,f3
PartitionName=none Nodes=""
`)
	require.NoError(t, err)
	m, err := c.Machine()
	require.NoError(t, err)
	require.Equal(t, []string{"a1", "a2", "a3", "b1", "b2", "c1"}, m.Names)
	require.Equal(t, nodeset.Capacity{Cores: 16}, m.Nodes[0])
	require.Equal(t, nodeset.Capacity{Cores: 8, GPUs: 3}, m.Nodes[3])
	require.Equal(t, nodeset.Capacity{Cores: 16, GPUs: 1}, m.Nodes[5])
	require.Equal(t, []int64{1000, 1000, 1000, 400, 400, 1000}, m.Memory)
	require.Equal(t, []string{"a100", "v100"}, m.Types)
	require.Equal(t, [][]int64{{0, 0, 0, 1, 1, 0}, {0, 0, 0, 2, 2, 0}}, m.GPUs)
	require.Equal(t, []Partition{
		{Name: "all", Nodes: nodeset.Mask{1<<6 - 1}, Tier: 1, JobFactor: 1},
		{Name: "part", Nodes: nodeset.Mask{1 | 1<<3 | 1<<4 | 1<<5}, Tier: 1, JobFactor: 1},
		{Name: "none", Nodes: nodeset.Mask{0}, Tier: 1, JobFactor: 1},
	}, m.Partitions)
}

// What partitions have for their jobs; PriorityTier and PriorityJobFactor come before Priority.
func TestPartitionRules(t *testing.T) {
	c, _, err := read(t, `NodeName=a[1-2]
PartitionName=DEFAULT Nodes=ALL MaxTime=2-0 DefaultTime=30
PartitionName=plain
PartitionName=high Priority=7 PriorityTier=9 MaxTime=INFINITE DefaultTime=NONE
PartitionName=low PriorityJobFactor=0 Priority=3 DefaultTime=1:30:00
`)
	require.NoError(t, err)
	m, err := c.Machine()
	require.NoError(t, err)
	all := nodeset.Mask{3}
	require.Equal(t, []Partition{
		{Name: "plain", Nodes: all, Tier: 1, JobFactor: 1, DefaultTime: 1800, MaxTime: 2 * 86400},
		{Name: "high", Nodes: all, Tier: 9, JobFactor: 7},
		{Name: "low", Nodes: all, Tier: 3, JobFactor: 0, DefaultTime: 5400, MaxTime: 2 * 86400},
	}, m.Partitions)
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"NodeName=a CPUs=70000":                                    `slurm.conf:1: CPUs: "70000": must be a whole number from 0 to 65535`,
		"\nNodeName=a Sockets=x":                                   `slurm.conf:2: Sockets: "x": must be`,
		"NodeName=a Sockets=300 CoresPerSocket=300":                `CoresPerSocket: "300": more than 65535 CPUs`,
		"NodeName=a[1-":                                            `slurm.conf:1: NodeName: "a[1-": `,
		"NodeName=a\nNodeName=a":                                   `slurm.conf:2: NodeName: "a": node a has a line already`,
		"NodeName=a Gres=gpu:a100:many":                            `slurm.conf:1: Gres: "gpu:a100:many": gpu:a100:many: not a number`,
		"NodeName=a RealMemory=-1":                                 `slurm.conf:1: RealMemory: "-1"`,
		"NodeName=a\nPartitionName=p Nodes=b":                      `slurm.conf:2: Nodes: "b": there is no node b`,
		"NodeName=a\nNodeSet=s Feature=f\nPartitionName=p Nodes=s": `slurm.conf:3: Nodes: "s": which nodes are of NodeSet s can't be told`,
		"NodeName=a\nPartitionName=p Nodes=a MaxTime=soon":         `slurm.conf:2: MaxTime: "soon": not a time`,
		"NodeName=a\nPartitionName=p PriorityTier=65536":           `slurm.conf:2: PriorityTier: "65536": must be a whole number from 0`,
		"ClusterName=x":                                            "no line NodeName names a node",
		"Include a b":                                              "slurm.conf:1: after Include comes the name of one file",
		"Include slurm.conf":                                       "more than 64 files included",
		"Include missing":                                          "missing: no such file",
	} {
		c, _, err := read(t, text)
		if err == nil {
			_, err = c.Machine()
		}
		require.ErrorContains(t, err, want, text)
	}
}

// Node sets may name each other; a circle ends.
func TestNodeSets(t *testing.T) {
	c, _, err := read(t, "NodeName=a[1-2]\nNodeSet=x Nodes=y,a1\nNodeSet=y Nodes=x\nPartitionName=p Nodes=x")
	require.NoError(t, err)
	_, err = c.Machine()
	require.ErrorContains(t, err, "there is no node x")
}

func FuzzMachine(f *testing.F) {
	f.Add("NodeName=DEFAULT CPUs=4\nNodeName=a[1-9] Gres=gpu:x:2(S:0)\nPartitionName=p Nodes=ALL")
	for _, s := range []string{"", "SchedulerParameters=a,auc_status=/x\\\n,b", "\"", "a=\"#\"#", "Include", "\\#="} {
		f.Add(s)
	}
	f.Add("NodeName=a \\\nCPUs=2 # x\nNodeSet=s Nodes=a\nPartitionName=p Nodes=s")
	f.Fuzz(func(t *testing.T, text string) {
		r := reader{files: maxIncludes} // includes fail
		if r.parse(text, "f") != nil {
			return
		}
		m, err := r.conf.Machine()
		if err != nil {
			return
		}
		require.Len(t, m.Nodes, len(m.Names))
		for k := range m.Types {
			for n, gpus := range m.GPUs[k] {
				require.LessOrEqual(t, gpus, int64(m.Nodes[n].GPUs))
			}
		}
	})
}
