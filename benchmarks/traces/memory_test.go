// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

func TestMemoryOfMachines(t *testing.T) {
	for _, c := range []struct {
		spec string
		want []int64
	}{
		{"2x8,1x4x1", []int64{0, 0, 0}},
		{"testdata/cluster/slurm.conf", []int64{1000, 1000, 1000, 1000, 1000}},
		{"testdata/cluster/alibaba.csv", []int64{262144, 262144, 393216, 344064}},
	} {
		m, err := ParseMachine(c.spec)
		require.NoError(t, err)
		require.Len(t, m.Nodes, len(c.want))
		require.Equal(t, c.want, m.Memory, c.spec)
	}
	for text, want := range map[string][]int64{
		"4 8 1\nn1 cores=8 Memory=512\nn2 cores=1":                               {0, 0, 0, 0, 512, 0},
		"NodeName=DEFAULT RealMemory=64000\nNodeName=a\nNodeName=b RealMemory=9": {64000, 9},
		"NodeName=a[1-2] RealMemory=64000 MemSpecLimit=2000\nNodeName=b CPUs=4":  {62000, 62000, 0},
	} {
		m, err := ReadMachine(strings.NewReader(text), "f")
		require.NoError(t, err)
		require.Equal(t, want, m.Memory, text)
	}
	m := Machine{Memory: []int64{0, 7, 0}}
	require.Equal(t, []int64{5, 7, 5}, m.MemoryOr(5))
	require.Equal(t, []int64{0, 7, 0}, m.Memory, "what is known stays")
}

func TestMemoryOfMachinesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"n1 cores=8 memory=64G":                           `f:1: field memory: "64G": not a whole number`,
		"n1 cores=8 memory=0":                             `f:1: field memory: "0": must be in 1..2147483647`,
		"n1 cores=8 ram=3":                                `f:1: field ram: "3": unknown; known are cores, gpus and memory`,
		"NodeName=a RealMemory=x":                         `f:1: RealMemory: "x": must be a whole number from 0 to 2147483647`,
		"sn,cpu_milli,memory_mib,gpu,model\na,1000,-1,0,": `f:2: field memory_mib: "-1": must be in 0..2147483647`,
	} {
		_, err := ReadMachine(strings.NewReader(text), "f")
		require.EqualError(t, err, want)
	}
}

// SWF's field 10 is in KiB a processor; what is written is read as it was.
func TestMemoryOfSWF(t *testing.T) {
	var text strings.Builder
	for i, field := range []string{"-1", "0", "1024", "1025", "2.5e6", "9e15"} {
		text.WriteString(swfLine(map[int]string{1: string(rune('1' + i)), 10: field}) + "\n")
	}
	w, err := ReadSWF(strings.NewReader(text.String()), "f", SWFOptions{})
	require.NoError(t, err)
	var got []int64
	for _, j := range w.Jobs {
		require.Zero(t, j.Memory.PerNode)
		require.Nil(t, j.Uses, "memory does not count by itself")
		got = append(got, j.Memory.PerCore)
	}
	require.Equal(t, []int64{0, 0, 1, 2, 2442, nodeset.MaxAmount}, got)
	var out bytes.Buffer
	require.NoError(t, writeSWF(&out, w))
	again, err := ReadSWF(&out, "f", SWFOptions{})
	require.NoError(t, err)
	for i := range w.Jobs {
		require.Equal(t, w.Jobs[i].Memory, again.Jobs[i].Memory)
	}
	w.Jobs[0].Memory.PerNode = 5
	require.NoError(t, writeSWF(&out, w))
	require.Contains(t, out.String(), "; Lost: 1 jobs")
}

// Metacentrum's files have bytes of the whole job there.
func TestMemoryOfSWFInBytes(t *testing.T) {
	text := swfLine(map[int]string{8: "64", 10: "68719476737"}) + " -1 -1 2:ppn=32\n" +
		swfLine(map[int]string{1: "2", 8: "3", 10: "4194304"}) + " -1 -1 -1\n" + swfLine(map[int]string{1: "3"}) + " -1 -1 -1\n"
	for nodeSpec, want := range map[bool][]workload.Memory{
		true:  {{PerNode: 32769}, {PerCore: 2}, {}},
		false: {{PerCore: 1025}, {PerCore: 2}, {}},
	} {
		w, err := ReadSWF(strings.NewReader(text), "f", SWFOptions{MemoryInBytes: true, NodeSpec: nodeSpec})
		require.NoError(t, err)
		for i := range want {
			require.Equal(t, want[i], w.Jobs[i].Memory, "%t %d", nodeSpec, i)
		}
	}
}

func TestMemoryOfPods(t *testing.T) {
	head, pod := "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n", "p,4000,%s,0,0,0,9,1\n"
	w, err := ReadAlibaba(strings.NewReader(head+fmt.Sprintf(pod, "16384")), "f", GPUTraceOptions{LimitFactor: 1})
	require.NoError(t, err)
	require.Equal(t, workload.Memory{PerNode: 16384}, w.Jobs[0].Memory)
	_, err = ReadAlibaba(strings.NewReader(head+fmt.Sprintf(pod, "many")), "f", GPUTraceOptions{LimitFactor: 1})
	require.EqualError(t, err, `f:2: field memory_mib: "many": not a whole number`)
}

func TestTakeMemory(t *testing.T) {
	job := func(m workload.Memory, ways int) workload.Job {
		return workload.Job{Job: core.Job{Alternatives: make([]bids.Request, ways)}, Memory: m}
	}
	jobs := []workload.Job{job(workload.Memory{}, 0), job(workload.Memory{PerCore: 3}, 2), job(workload.Memory{PerNode: 4, PerCore: 1}, 0), job(workload.Memory{PerCore: 3}, 0)}
	require.Equal(t, 1, TakeMemory(jobs, 2))
	require.Nil(t, jobs[0].Uses)
	require.Equal(t, nodeset.Uses{{Row: 2, PerCore: 3}}, jobs[1].Uses)
	require.Equal(t, jobs[1].Uses, jobs[1].Alternatives[1].Uses)
	require.Equal(t, nodeset.Uses{{Row: 2, PerNode: 4, PerCore: 1}}, jobs[2].Uses)
	require.Same(t, &jobs[1].Uses[0], &jobs[3].Uses[0], "jobs that are alike share theirs")
}

func TestMemoryOfSacct(t *testing.T) {
	read := func(reqmem, tres, nodes string) (*workload.Workload, error) {
		return workload.ReadSacct(strings.NewReader("JobID|Submit|Start|ElapsedRaw|TimelimitRaw|ReqCPUS|ReqNodes|NNodes|ReqMem|ReqTRES\n"+
			"1|100|110|60|5|6|"+nodes+"|"+reqmem+"|"+tres+"\n"), "f", workload.SacctOptions{})
	}
	for _, c := range []struct {
		reqmem, tres, nodes string
		want                workload.Memory
	}{
		{"", "cpu=6", "2|2", workload.Memory{}},
		{"0n", "cpu=6,mem=0", "2|2", workload.Memory{}},
		{"", "cpu=6,mem=9G,node=2", "2|2", workload.Memory{PerNode: 4608}},
		{"", "cpu=6,mem=1000M,node=1", "1|3", workload.Memory{PerCore: 167}},
		{"4000Mc", "", "2|2", workload.Memory{PerCore: 4000}},
		{"16Gn", "mem=1G", "2|2", workload.Memory{PerNode: 16384}},
		{"1.50T", "", "2|2", workload.Memory{PerNode: 786432}},
		{"300K", "", "1|1", workload.Memory{PerNode: 1}},
		{"1024P", "", "1|1", workload.Memory{PerNode: nodeset.MaxAmount}},
	} {
		w, err := read(c.reqmem, c.tres, c.nodes)
		require.NoError(t, err)
		require.Equal(t, c.want, w.Jobs[0].Memory, "%+v", c)
	}
	for reqmem, want := range map[string]string{
		"x":     `f:2: field ReqMem: "x": not a number`,
		"4GM":   `f:2: field ReqMem: "4GM": not a number`,
		"-1G":   `f:2: field ReqMem: "-1G": must not be negative`,
		"9999P": `f:2: field ReqMem: "9999P": too large a number`,
	} {
		_, err := read(reqmem, "", "1|1")
		require.EqualError(t, err, want)
	}
	_, err := read("", "cpu=6,mem=y", "1|1")
	require.EqualError(t, err, `f:2: field ReqTRES: "cpu=6,mem=y": "mem=y": not a number`)
}
