// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/workload"
)

// jobName names the job at position i of the workload; so is it found in Slurm's records.
func jobName(i int) string { return "j" + strconv.Itoa(i) }

// jobNumber is the position of the job of that name in a workload of n jobs.
func jobNumber(name string, n int) (int, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(name, "j"))
	if err != nil || i < 0 || i >= n || name != jobName(i) {
		return 0, fmt.Errorf("job %q is not of the workload", name)
	}
	return i, nil
}

// sbatchArgs are the arguments with which job i is submitted. Without ranges a job with a
// range of GPUs asks for the fewest.
func sbatchArgs(i int, j *workload.Job, ranges bool) []string {
	args := []string{"--job-name=" + jobName(i), "--output=none", "--time=" + limit(j.TimeLimit)}
	return append(args, requestArgs(&j.Request, ranges)...)
}

func requestArgs(r *bids.Request, ranges bool) (args []string) {
	add := func(format string, a ...any) { args = append(args, fmt.Sprintf(format, a...)) }
	if r.Cores > 0 {
		add("--ntasks=%d", r.Cores)
	}
	switch low, high := max(r.MinNodes, 1), r.MaxNodes; {
	case high == low:
		add("--nodes=%d", low)
	case high > 0:
		add("--nodes=%d-%d", low, high)
	case r.MinNodes > 1:
		add("--nodes=%d-999999", low)
	}
	if r.TasksPerNode > 0 {
		add("--ntasks-per-node=%d", r.TasksPerNode)
	}
	switch {
	case ranges && r.MaxGPUs > r.MinGPUs:
		add("--gres=gpu:%d-%d", r.MinGPUs, r.MaxGPUs)
	case r.MinGPUs > 0:
		add("--gres=gpu:%d", r.MinGPUs)
	}
	if r.Contiguous {
		add("--contiguous")
	}
	return args
}

// limit is a time limit in Slurm's words; Slurm rounds it up to minutes.
func limit(seconds int64) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }

// script is what a job submits: the daemon that plays the nodes reads how long it lasts, a
// job with a range of GPUs with the fewest of them.
func script(j *workload.Job) string {
	with := ""
	if j.MaxGPUs > j.MinGPUs && j.MinGPUs > 0 {
		with = fmt.Sprintf(" gpus=%d", j.MinGPUs)
	}
	return fmt.Sprintf("#!/bin/sh\n# aucsched-emulation: %d%s\n", min(j.Duration, j.TimeLimit), with)
}

// Submission is what sbatch is given for the job at position i of a workload: arguments and the
// script, which asks for no output. Without ranges a job with a range of GPUs asks for the fewest.
func Submission(i int, j *workload.Job, ranges bool) (args []string, text string) {
	return sbatchArgs(i, j, ranges), script(j)
}
