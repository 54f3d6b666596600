// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// phillyFields are those that a list of Philly's jobs must have.
var phillyFields = []string{"timestamp", "duration", "num_gpus"}

// Reason for which ReadPhilly skips jobs, beside the others', and the most GPUs of a job.
const (
	skipNoGPU  = "no GPU"
	maxJobGPUs = nodeset.MaxNodes * maxNodeGPUs
)

// ReadPhilly reads the jobs of Microsoft's Philly clusters (Jeon et al., "Analysis of
// Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC'19) in
// the short form with a line "timestamp,duration,num_gpus,gpu_time,cluster" that
// simulators made of msr-fiddle/philly-traces, unpacking it if it is in gzip's format;
// name is what the workload and errors call it. A job has
//
//   - as ID its line's number among the jobs, from 1: the file has none;
//   - as submission the timestamp (2017-10-09 07:01:55), which is taken as UTC;
//   - as Duration duration, in seconds, rounded up, at least 1 s; as TimeLimit Duration x
//     [GPUTraceOptions].LimitFactor, since the file has none;
//   - the fewest nodes of [GPUTraceOptions].GPUsPerNode GPUs that hold num_gpus, with as
//     many GPUs on each: 12 GPUs are two nodes of 6. So a job that fits takes one node;
//     Philly tried for that, but would spread a job that had waited;
//   - a core with each GPU, which stands for the GPU's share of a node's cores: the file
//     says nothing of cores, and Philly gave them in proportion to the GPUs;
//   - as Priority Slurm's basic one: see [AssignBasicPriorities]. The virtual cluster
//     (cluster) and its quota are not read.
//
// Left out and counted are jobs without a GPU.
func ReadPhilly(r io.Reader, name string, o GPUTraceOptions) (*workload.Workload, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	c, b := newCSV(r, name), workload.NewBuilder(name)
	if err := c.each(phillyFields, func() error { return addPhilly(b, c, &o) }); err != nil {
		return nil, err
	}
	return basic(b)
}

func addPhilly(b *workload.Builder, c *csvReader, o *GPUTraceOptions) error {
	id := strconv.Itoa(len(b.LineOf) + 1)
	if err := b.See(id, c.N); err != nil {
		return err
	}
	submit := c.Parse("timestamp", parsePhillyTime)
	if c.Get("timestamp") == "" {
		c.Bad("timestamp", errPhillyTime)
	}
	duration, known := c.seconds("duration")
	gpus := c.whole("num_gpus", maxJobGPUs)
	switch {
	case c.Fault != nil:
		return c.Fault
	case !known:
		b.Skip(workload.SkipNoRun)
		return nil
	case gpus == 0:
		b.Skip(skipNoGPU)
		return nil
	}
	nodes := (gpus + o.GPUsPerNode - 1) / o.GPUsPerNode
	each := (gpus + nodes - 1) / nodes
	if each*nodes != gpus {
		b.Adjust(workload.AdjustGPUs)
	}
	j := workload.Job{Submit: submit, Duration: int64(math.Ceil(duration))}
	j.ID, j.TimeLimit = id, o.limit(j.Duration)
	j.Request = bids.Request{MinNodes: nodes, MaxNodes: nodes, TasksPerNode: each, MinGPUs: each}
	return b.Add(j, true)
}

var errPhillyTime = errors.New("not a time like 2017-10-09 07:01:55, from 1970 on")

func parsePhillyTime(v string) (int64, error) {
	t, err := time.Parse(time.DateTime, v)
	if err != nil || t.Nanosecond() != 0 || t.Unix() < 0 {
		return 0, errPhillyTime
	}
	return t.Unix(), nil
}
