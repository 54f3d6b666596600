// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		"clustername=y\n", "include more.conf\n", "\nSlurmdPort=7\n")
	require.NoError(t, err)
	value, line, ok := c.Last("CLUSTERNAME")
	require.True(t, ok)
	require.Equal(t, "y", value)
	require.Equal(t, 6, line.Number)
	port, line, ok := c.Last("SlurmdPort")
	require.True(t, ok)
	require.Equal(t, "7", port)
	require.Equal(t, []any{filepath.Join(dir, "more.conf"), 2}, []any{line.File, line.Number})
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

// What partitions have for their jobs; as in Slurm, Priority is for PriorityTier and
// PriorityJobFactor, whatever these say.
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
		{Name: "high", Nodes: all, Tier: 7, JobFactor: 7},
		{Name: "low", Nodes: all, Tier: 3, JobFactor: 3, DefaultTime: 5400, MaxTime: 2 * 86400},
	}, m.Partitions)
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"NodeName=a CPUs=70000":                            `slurm.conf:1: CPUs: "70000": must be a whole number from 0 to 65535`,
		"\nNodeName=a Sockets=x":                           `slurm.conf:2: Sockets: "x": must be`,
		"NodeName=a CPUs=09":                               `CPUs: "09": must be a whole number`,
		"NodeName=a CPUs=1_0":                              `CPUs: "1_0": must be a whole number`,
		"NodeName=a CPUs=0b1":                              `CPUs: "0b1": must be a whole number`,
		"NodeName=a CPUs=0x1_0":                            `CPUs: "0x1_0": must be a whole number`,
		"NodeName=a Sockets=300 CoresPerSocket=300":        `slurm.conf:1: NodeName: "a": 90000 CPUs: at most 65535 on a node`,
		"NodeName=a[1-":                                    `slurm.conf:1: NodeName: "a[1-": `,
		"NodeName=a\nNodeName=a":                           `slurm.conf:2: NodeName: "a": node a has a line already`,
		"NodeName=a State=FUTURE\nNodeName=a":              `slurm.conf:2: NodeName: "a": node a has a line already`,
		"NodeName=ALL":                                     `slurm.conf:1: NodeName: "ALL": is no name of a node`,
		"NodeName=a Gres=gpu:a100:many":                    `slurm.conf:1: Gres: "gpu:a100:many": gpu:a100:many: not a number`,
		"NodeName=a RealMemory=-1":                         `slurm.conf:1: RealMemory: "-1"`,
		"NodeName=a\nPartitionName=p Nodes=b":              `slurm.conf:2: Nodes: "b": there is no node b`,
		"NodeName=a\nPartitionName=p\nPartitionName=p":     `slurm.conf:3: PartitionName: "p": the partition has a line already`,
		"NodeName=a\nPartitionName=p Nodes=a MaxTime=soon": `slurm.conf:2: MaxTime: "soon": not a time`,
		"NodeName=a\nPartitionName=p PriorityTier=65536":   `slurm.conf:2: PriorityTier: "65536": must be a whole number from 0`,
		"ClusterName=x":                                    "slurm.conf: no line NodeName names a node",
		"NodeName=a\n; NodeName=b":                         `slurm.conf:2: the line can't be read from "; NodeName=b" on`,
		"NodeName=a CPUs=4 State=":                         `slurm.conf:1: the line can't be read from "State=" on`,
		"ClusterName=x NodeName=a":                         `slurm.conf:1: the line can't be read from "NodeName=a" on`,
		"NodeName=a NodeName=b CPUs=3":                     `slurm.conf:1: the line can't be read from "NodeName=b" on`,
		"NodeName=a\n{% if x %}":                           `slurm.conf:2: the line can't be read from "{% if x %}" on`,
		"NodeName=a\n Include slurm.conf":                  `slurm.conf:2: the line can't be read from "Include slurm.conf" on`,
		"Include a b":                                      "slurm.conf:1: Include: \"a\": ",
		"Include ":                                         `slurm.conf:1: Include: "": the name of a file is missing`,
		"Include %c.conf":                                  `slurm.conf:1: Include: "%c.conf": %c needs a ClusterName before it`,
		"Include conf.d/*.conf":                            `slurm.conf:1: Include: "conf.d/*.conf": Slurm includes single files`,
		"Include slurm.conf":                               `1: Include: "slurm.conf": includes itself: `,
		"Include missing":                                  "missing: no such file or directory, nor a copy",
		"Include /no/such/file.conf":                       "nor a copy of it beside the slurm.conf",
		strings.Repeat("#", maxBytes+1):                    "more than 16 MiB, with all that is included",
		strings.Repeat("Include nodes.conf\n", 65):         "more than 64 files included",
	} {
		c, _, err := read(t, text, "")
		if err == nil {
			_, err = c.Machine()
		}
		require.ErrorContains(t, err, want, "%.80s", text)
	}
}

// What jobs get of nodes: by line, their number, CPUs, GPUs and memory of each, as slurmctld would
// have it.
func TestNodes(t *testing.T) {
	for text, want := range map[string]string{
		"NodeName=a":                         "1x1",
		"NodeName = a[1-2] CPUs = 32":        "2x32",
		"nodename=a cpus=0x10":               "1x16",
		"NodeName=a CPUs=010":                "1x8",
		"NodeName=a CPUs=4 CPUs=8":           "1x8",
		"NodeName=a CPUs=\"\"":               "1x1",
		"NodeName=a1,a2, CPUs=3":             "2x3",
		"NodeName=\"a1, a2\tb[1-2]\" CPUs=3": "4x3",
		"NodeName=a \\ \n CPUs=3":            "1x3",
		"# NodeName=b \\\nNodeName=a":        "1x1",
		"NodeName=a Procs=20 Sockets=2 CoresPerSocket=10 ThreadsPerCore=2": "1x20",
		"NodeName=DEFAULT CPUs=8\nNodeName=a Procs=4":                      "1x8",
		"NodeName=DEFAULT Procs=8\nNodeName=a":                             "1x8",
		"NodeName=DEFAULT CPUs=8\nNodeName=a\nNodeName=default CPUs=4 Gres=gpu:1\n" +
			"NodeName=b\nNodeName=c Gres=\"\"": "1x8 1x4x1 1x4",
		"NodeName=DEFAULT Features=x CPUs=2 CPUs=3\nNodeName=a": "1x3",
		"NodeName=a CPUs=0 Sockets=2 CoresPerSocket=8":          "1x16",
		"NodeName=a CPUs=0": "1x1",
		"NodeName=a Sockets=0 CoresPerSocket=0 ThreadsPerCore=4":                                "1x4",
		"NodeName=a CPUs=12 Sockets=2 CoresPerSocket=8":                                         "1x16",
		"NodeName=a CPUs=12 CoresPerSocket=8":                                                   "1x8",
		"NodeName=a CPUs=2 Sockets=2 CoresPerSocket=8":                                          "1x2",
		"NodeName=a CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2":                        "1x16",
		"NodeName=a CPUs=32 CoresPerSocket=8 ThreadsPerCore=2":                                  "1x32",
		"NodeName=a Boards=2 Sockets=4 CoresPerSocket=8":                                        "1x32",
		"NodeName=a Boards=2 SocketsPerBoard=4 CoresPerSocket=8":                                "1x64",
		"NodeName=a Boards=2 SocketsPerBoard=1 Sockets=8 CoresPerSocket=2":                      "1x4",
		"NodeName=a Boards=2 CoresPerSocket=8":                                                  "1x16",
		"NodeName=a CPUs=32 CoreSpecCount=2":                                                    "1x30",
		"NodeName=a Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CoreSpecCount=2":               "1x60",
		"NodeName=a CPUs=32 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CoreSpecCount=2":       "1x30",
		"NodeName=a CPUs=4 CoreSpecCount=4":                                                     "1x3",
		"NodeName=a CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CpuSpecList=0,1":       "1x62",
		"NodeName=a CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CpuSpecList=0-15:4,62": "1x54",
		"NodeName=a CPUs=8 CpuSpecList=7-8":                                                     "1x8",
		"NodeName=a CPUs=8 CpuSpecList=0,3,3 CoreSpecCount=4":                                   "1x6",
		"NodeName=a CPUs=8 CpuSpecList=0-7\nNodeName=b":                                         "1x1",
		"NodeName=a CPUs=1 CoreSpecCount=1\nNodeName=b":                                         "1x1",
		"NodeName=a RealMemory=1000 MemSpecLimit=100":                                           "1x1@900",
		"NodeName=a RealMemory=1000 MemSpecLimit=1000":                                          "1x1@1000",
		"NodeName=a[1-9] State=FUTURE\nNodeName=b[1-2] State=CLOUD":                             "2x1",
		"NodeName=DEFAULT State=future\nNodeName=a\nNodeName=b State=IDLE":                      "1x1",
		"NodeName=a Gres=gpu:a100:2(S:0,1),gpu:4,mps:100,gpu:b:no_consume:1":                    "1x1x7",
	} {
		c, _, err := read(t, text)
		require.NoError(t, err, text)
		m, err := c.Machine()
		require.NoError(t, err, text)
		require.Equal(t, want, short(m), text)
	}
}

// short is runs of equal nodes: how many, CPUs, GPUs if any, and memory if given.
func short(m *Machine) string {
	var runs []string
	for i := 0; i < len(m.Nodes); {
		k := i
		for k < len(m.Nodes) && m.Nodes[k] == m.Nodes[i] && m.Memory[k] == m.Memory[i] {
			k++
		}
		run := fmt.Sprintf("%dx%d", k-i, m.Nodes[i].Cores)
		if m.Nodes[i].GPUs > 0 {
			run += fmt.Sprintf("x%d", m.Nodes[i].GPUs)
		}
		if m.Memory[i] > 0 {
			run += fmt.Sprintf("@%d", m.Memory[i])
		}
		runs, i = append(runs, run), k
	}
	return strings.Join(runs, " ")
}

// Which nodes of a[1-2], b[1-2] and f1, which is of the future, a partition has.
func TestPartitionNodes(t *testing.T) {
	const nodes = "NodeName=DEFAULT Feature=all\nNodeName=a[1-2] Feature=big,all\nNodeName=b[1-2]\n" +
		"NodeName=f1 Features=later State=FUTURE\n"
	for text, want := range map[string]string{
		"PartitionName=p":                                                       "",
		"PartitionName=p Nodes=\"\"":                                            "",
		"PartitionName=p Nodes=ALL":                                             "a1 a2 b1 b2",
		"PartitionName=p Nodes=a1,":                                             "a1",
		"PartitionName=p Nodes=\"b2, a1\"":                                      "a1 b2",
		"PartitionName=p Nodes=a1 Nodes=b1":                                     "b1",
		"PartitionName=p Nodes=f1,a1":                                           "a1",
		"NodeSet=s Feature=big\nPartitionName=p Nodes=s":                        "a1 a2",
		"NodeSet=s Feature=all\nPartitionName=p Nodes=s":                        "a1 a2 b1 b2",
		"NodeSet = s Feature = big Nodes = b1\nPartitionName=p Nodes=s":         "a1 a2 b1",
		"NodeSet=s Nodes=ALL\nPartitionName=p Nodes=s":                          "a1 a2 b1 b2",
		"NodeSet=s Nodes=t\nNodeSet=t Feature=big\nPartitionName=p Nodes=s,b2":  "a1 a2 b2",
		"NodeSet=s Feature=later\nPartitionName=p Nodes=s":                      "",
		"PartitionName=DEFAULT Nodes=s\nNodeSet=s Feature=big\nPartitionName=p": "a1 a2",
		"PartitionName=DEFAULT Nodes=a1\nPartitionName=DEFAULT Nodes=b1\n" +
			"PartitionName=p\nPartitionName=DEFAULT Nodes=a2": "b1",
		"NodeSet=s Feature=Big\nPartitionName=p Nodes=s,a1":                `?no line NodeName has feature "Big", by which NodeSet s goes`,
		"PartitionName=p Nodes=switchwith{a1}":                             "?switchwith{a1} is of the topology",
		"NodeSet=x Nodes=y,a1\nNodeSet=y Nodes=x\nPartitionName=p Nodes=x": "!there is no node x",
	} {
		c, _, err := read(t, nodes+text)
		require.NoError(t, err, text)
		m, err := c.Machine()
		if why, bad := strings.CutPrefix(want, "!"); bad {
			require.ErrorContains(t, err, why, text)
			continue
		}
		require.NoError(t, err, text)
		p, got := m.Partitions[0], []string(nil)
		for n, name := range m.Names {
			if p.Nodes.Has(n) {
				got = append(got, name)
			}
		}
		why, unknown := strings.CutPrefix(want, "?")
		if !unknown {
			why = ""
			require.Equal(t, want, strings.Join(got, " "), text)
		}
		require.Equal(t, why, p.Unknown, text)
		require.False(t, unknown && got != nil)
	}
}

// A partition that the file doesn't tell the nodes of leaves the others as they are.
func TestUnknownPartitionAlone(t *testing.T) {
	c, _, err := read(t, "NodeName=a\nNodeSet=s Feature=x\nPartitionName=p Nodes=s\nPartitionName=q Nodes=a")
	require.NoError(t, err)
	m, err := c.Machine()
	require.NoError(t, err)
	require.NotEmpty(t, m.Partitions[0].Unknown)
	require.Empty(t, m.Partitions[1].Unknown)
	require.Equal(t, 1, m.Partitions[1].Nodes.Count())
}

// Settings are what lines begin with, not what stands on a line of a node or a partition.
func TestSettingsAreOfTheFile(t *testing.T) {
	c, _, err := read(t, "PreemptMode = OFF\nNodeName=a Port=7\nPartitionName=p PreemptMode=SUSPEND\nPreemptType += x\nPreemptType += y")
	require.NoError(t, err)
	mode, _, _ := c.Last("PreemptMode")
	require.Equal(t, "OFF", mode)
	_, _, ok := c.Last("Port")
	require.False(t, ok)
	kind, line, _ := c.Last("preempttype")
	require.Equal(t, []any{"y", 5}, []any{kind, line.Number}, "Slurm takes += as =")
}

// Names of included files are relative to the main file's directory, and those that are elsewhere
// are looked for there.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "conf.d"), 0o700))
	for name, text := range map[string]string{
		"slurm.conf": "ClusterName=Alpha\nInclude conf.d/a.conf\nInclude %c.conf # lower case\n" +
			"include\t/no/such/place/conf.d/moved.conf\nINCLUDE /etc/none/here.conf\n",
		"conf.d/a.conf": "Include conf.d/b.conf\nNodeName=a", "conf.d/b.conf": "NodeName=b", "alpha.conf": "NodeName=c",
		"conf.d/moved.conf": "NodeName=d", "moved.conf": "NodeName=wrong", "here.conf": "NodeName=e",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	c, err := Read(filepath.Join(dir, "slurm.conf"))
	require.NoError(t, err)
	require.Empty(t, c.Faults)
	m, err := c.Machine()
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a", "c", "d", "e"}, m.Names)
	require.Len(t, c.Moved, 2)
	require.Equal(t, fmt.Sprintf(`%s:5: Include: "/etc/none/here.conf": is not there: %s was read`, filepath.Join(dir, "slurm.conf"),
		filepath.Join(dir, "here.conf")),
		c.Moved[1].Error())
}

func FuzzMachine(f *testing.F) {
	f.Add("NodeName=DEFAULT CPUs=4\nNodeName=a[1-9] Gres=gpu:x:2(S:0)\nPartitionName=p Nodes=ALL")
	f.Add("NodeName=a \\\nCPUs=2 # x\nNodeSet=s Nodes=a Feature=f\nPartitionName=p Nodes=s,\nInclude x")
	f.Add("NodeName=a Boards=2 SocketsPerBoard=3 ThreadsPerCore=2 CpuSpecList=0,3-9:2 Feature=f,g\n" +
		"NodeSet=s Feature=g\nPartitionName=p Nodes=s")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadFrom(strings.NewReader(text), "/no/such/slurm.conf")
		if err != nil {
			return
		}
		m, err := c.Machine()
		if err != nil {
			return
		}
		require.Len(t, m.Nodes, len(m.Names))
		require.Len(t, m.Memory, len(m.Names))
		for _, n := range m.Nodes {
			require.Positive(t, n.Cores)
		}
		for k := range m.Types {
			for n, gpus := range m.GPUs[k] {
				require.LessOrEqual(t, gpus, int64(m.Nodes[n].GPUs))
			}
		}
		for _, p := range m.Partitions {
			require.LessOrEqual(t, p.Nodes.Count(), len(m.Names))
		}
	})
}
