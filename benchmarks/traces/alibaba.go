// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Fields that the files of Alibaba's cluster-trace-gpu-v2023 must have.
var (
	alibabaPods  = []string{"name", "cpu_milli", "num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time"}
	alibabaNodes = []string{"sn", "cpu_milli", "gpu"}
)

// Reasons for which ReadAlibaba adjusts jobs, beside the builder's.
const (
	adjustShare   = "asks for a share of a GPU: given a whole one"
	adjustModel   = "asks for models of GPU: any will do"
	adjustNoCore  = "asks for no core: taken as one"
	maxMilliCores = maxNodeCores * milli
	milli         = 1000 // of a core or GPU
)

// ReadAlibaba reads a list of pods of Alibaba's GPU cluster, openb_pod_list_*.csv of
// cluster-trace-gpu-v2023 (Weng et al., "Beware of Fragmentation: Scheduling
// GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC'23), unpacking
// it if it is in gzip's format; name is what the workload and errors call it. A job is a
// pod. It has
//
//   - as ID its name;
//   - one node, with cpu_milli in cores, rounded up, at least one, and num_gpu GPUs;
//   - as Duration deletion_time less scheduled_time, rounded up, at least 1 s. Pods
//     that outlived the trace end with it: their deletion_time says so;
//   - as submission creation_time; as TimeLimit Duration x
//     [GPUTraceOptions].LimitFactor, since pods ask for no time;
//   - as Priority Slurm's basic one: see [AssignBasicPriorities]. qos is not read.
//
// A pod that asks for a share of a GPU (gpu_milli below 1000) is given a whole one, and
// counted in Adjusted. Slots of a GPU in a GPU's place would not be sound: the model
// knows how many are free on a node and not of which GPU, so that two halves of two GPUs
// would do for a pod that needs one. gpu_spec, the models that would do, has no place in
// a machine with one kind of GPU, and is counted too. memory_mib, where it is there, is the
// pod's Memory. With [GPUTraceOptions].Exact the job's Pod has all of that to the letter, for
// who models it, and nothing is counted.
//
// Left out and counted are pods that were never scheduled or have no deletion_time.
// A name on two lines is an error.
func ReadAlibaba(r io.Reader, name string, o GPUTraceOptions) (*workload.Workload, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	c, b := newCSV(r, name), workload.NewBuilder(name)
	if err := c.each(alibabaPods, func() error { return addPod(b, c, &o) }); err != nil {
		return nil, err
	}
	return basic(b)
}

func addPod(b *workload.Builder, c *csvReader, o *GPUTraceOptions) error {
	id := c.Get("name")
	if id == "" {
		return errors.New("a pod without a name")
	}
	if err := b.See(id, c.N); err != nil {
		return &workload.InputError{Field: "name", Value: id, Err: err}
	}
	cpu, gpus, share := c.whole("cpu_milli", maxMilliCores), c.whole("num_gpu", maxNodeGPUs), c.whole("gpu_milli", milli)
	memory := 0
	if c.Has("memory_mib") {
		memory = c.whole("memory_mib", nodeset.MaxAmount)
	}
	created, submitted := c.seconds("creation_time")
	scheduled, started := c.seconds("scheduled_time")
	deleted, ended := c.seconds("deletion_time")
	if started && ended && deleted < scheduled {
		c.Bad("deletion_time", errors.New("before scheduled_time"))
	}
	switch {
	case c.Fault != nil:
		return c.Fault
	case !submitted:
		b.Skip(workload.SkipNoSubmit)
		return nil
	case !started:
		b.Skip(workload.SkipPending)
		return nil
	case !ended:
		b.Skip(workload.SkipRunning)
		return nil
	}
	j := workload.Job{Submit: int64(created), Duration: int64(math.Ceil(deleted - scheduled))}
	if o.Exact {
		pod := podOf(c, cpu, gpus, share)
		if j.Pod = &pod; c.Fault != nil {
			return c.Fault
		}
	} else {
		adjustPod(b, cpu, gpus, share, c.Get("gpu_spec"))
	}
	if cpu == 0 {
		cpu = milli
	}
	j.ID, j.TimeLimit, j.Memory.PerNode = id, o.limit(j.Duration), int64(memory)
	j.Request = bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: (cpu + milli - 1) / milli, MinGPUs: gpus}
	return b.Add(j, true)
}

// adjustPod counts what is not quite what the file says.
func adjustPod(b *workload.Builder, cpu, gpus, share int, models string) {
	if cpu == 0 {
		b.Adjust(adjustNoCore)
	}
	if gpus > 0 && share < milli {
		b.Adjust(adjustShare)
	}
	if gpus > 0 && models != "" {
		b.Adjust(adjustModel)
	}
}

// readAlibabaNodes reads openb_node_list_*.csv from its first line on, which is l's
// current one: see [ReadMachine].
func readAlibabaNodes(l *workload.Lines) (*Machine, error) {
	c := &csvReader{Lines: l}
	if err := c.head(string(l.Text()), alibabaNodes); err != nil {
		return nil, c.Locate(err)
	}
	m := new(Machine)
	lineOf := map[string]int{}
	err := c.each(alibabaNodes, func() error {
		sn, cpu, gpus := c.Get("sn"), c.whole("cpu_milli", maxMilliCores), c.whole("gpu", maxNodeGPUs)
		memory := 0
		if c.Has("memory_mib") {
			memory = c.whole("memory_mib", nodeset.MaxAmount)
		}
		first, twice := lineOf[sn]
		lineOf[sn] = c.N
		switch {
		case c.Fault != nil:
			return c.Fault
		case twice:
			return &workload.InputError{Field: "sn", Value: sn, Err: fmt.Errorf("the node is on line %d already", first)}
		case cpu < milli:
			return &workload.InputError{Field: "cpu_milli", Value: c.Get("cpu_milli"), Err: errors.New("a node without a whole core")}
		}
		m.MilliCores, m.Models = append(m.MilliCores, cpu), append(m.Models, "")
		if gpus > 0 && c.Has("model") {
			m.Models[len(m.Models)-1] = c.Get("model")
		}
		return m.add(1, nodeset.Capacity{Cores: uint16(cpu / milli), GPUs: uint8(gpus)}, memory)
	})
	switch {
	case err != nil:
		return nil, err
	case len(m.Nodes) == 0:
		return nil, &workload.InputError{File: l.Name, Err: errors.New("no node")}
	}
	return m, nil
}

// podOf is the pod of c's line. A share is of one GPU; several are whole ones.
func podOf(c *csvReader, cpu, gpus, share int) workload.Pod {
	p := workload.Pod{MilliCores: cpu, GPUs: gpus}
	switch {
	case gpus == 0:
		return p
	case share == 0:
		c.Bad("gpu_milli", errors.New("must be at least 1 for a pod with GPUs"))
	case share < milli && gpus > 1:
		c.Bad("gpu_milli", errors.New("must be 1000 for a pod with several GPUs"))
	case share < milli:
		p.GPUs, p.Share = 0, share
	}
	if c.Has("gpu_spec") {
		p.Models = c.Get("gpu_spec")
	}
	return p
}
