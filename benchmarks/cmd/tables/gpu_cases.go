// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/benchmarks/traces"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// What of the traces is replayed.
const (
	day          = 24 * 3600
	everyNode    = 32  // of Alibaba's, every so many in a machine
	everyWhole   = 128 // and in one for all pods in their own time
	machines     = 4   // such machines of each
	phillyNodes  = 80
	phillyWhole  = 100 // nodes for all jobs in their own time
	phillyGPUs   = 8   // of a node
	phillyFirst  = "2017-10-02"
	phillyStart  = 1506902400 // phillyFirst in seconds since 1970
	phillyWindow = 7 * day
	phillyWeeks  = 4
)

var (
	alibabaRates = []float64{20, 25, 30}
	phillyRates  = []float64{1, 1.2, 1.4}
)

// window are the jobs that came from first to before end, in seconds of w, with times from then.
func window(jobs []workload.Job, first, end int64) []workload.Job {
	var in []workload.Job
	for _, j := range jobs {
		if j.Submit >= first && j.Submit < end {
			j.Submit -= first
			in = append(in, j)
		}
	}
	return in
}

// alibaba is Alibaba's cluster and pods, as they are in the lists.
type alibaba struct {
	machine *traces.Machine
	pods    []workload.Job
}

func readAlibaba(dir string) (a alibaba, err error) {
	if a.machine, err = traces.ParseMachine(filepath.Join(dir, alibabaNodes)); err != nil {
		return a, err
	}
	w, err := traces.ReadFile(filepath.Join(dir, alibabaPods), traces.Options{GPU: traces.GPUTraceOptions{Exact: true}})
	if err == nil {
		a.pods = w.Jobs
	}
	return a, err
}

// on is a case of pods on one node in every, the first of which is first.
func (a *alibaba) on(trace string, rate float64, jobs []workload.Job, first, every int) (gpuCase, error) {
	var part traces.Machine
	for n := first; n < len(a.machine.Nodes); n += every {
		part.Nodes = append(part.Nodes, a.machine.Nodes[n])
		part.Memory = append(part.Memory, a.machine.Memory[n])
		part.MilliCores = append(part.MilliCores, a.machine.MilliCores[n])
		part.Models = append(part.Models, a.machine.Models[n])
	}
	w := workload.Workload{Name: alibabaPods, Jobs: slices.Clone(jobs)}
	x, err := pods.Exact(&part, &w)
	if err != nil {
		return gpuCase{}, err
	}
	return gpuCase{trace, rate, x.Nodes, x.Resources(), w.Jobs}, nil
}

// alibabaCases are the pods that ran for at most a day, on every 32nd node.
func alibabaCases(dir string) ([]gpuCase, error) {
	a, err := readAlibaba(dir)
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(a.pods, func(j workload.Job) bool { return j.Duration > day })
	if len(pods) == 0 {
		return nil, fmt.Errorf("%s: no pod ran for at most a day", alibabaPods)
	}
	pods = window(pods, pods[0].Submit, workload.MaxSeconds)
	var cases []gpuCase
	for _, rate := range alibabaRates {
		for k := range machines {
			c, err := a.on("Alibaba 2023", rate, pods, k*everyNode/machines, everyNode)
			if err != nil {
				return nil, err
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// wholeCases are all jobs of the traces in their own time.
func wholeCases(dir string) ([]gpuCase, error) {
	a, err := readAlibaba(dir)
	if err != nil {
		return nil, err
	}
	all, err := a.on("Alibaba 2023, all pods, all nodes", 1, a.pods, 0, 1)
	if err != nil {
		return nil, err
	}
	cases := []gpuCase{all}
	for k := range machines {
		c, err := a.on("Alibaba 2023, all pods", 1, a.pods, k*everyWhole/machines, everyWhole)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	w, err := readPhilly(dir)
	if err != nil {
		return nil, err
	}
	return append(cases, gpuCase{"Philly 2017, all jobs", 1, nodesOfPhilly(phillyWhole), nil, w.Jobs}), nil
}

func readPhilly(dir string) (*workload.Workload, error) {
	return traces.ReadFile(filepath.Join(dir, phillyJobs), traces.Options{GPU: traces.GPUTraceOptions{GPUsPerNode: phillyGPUs}})
}

func nodesOfPhilly(n int) []nodeset.Capacity {
	return slices.Repeat([]nodeset.Capacity{{Cores: phillyGPUs, GPUs: phillyGPUs}}, n)
}

// phillyCases are weeks of Philly's jobs.
func phillyCases(dir string) ([]gpuCase, error) {
	w, err := readPhilly(dir)
	if err != nil {
		return nil, err
	}
	var cases []gpuCase
	for _, rate := range phillyRates {
		for k := range int64(phillyWeeks) {
			first := phillyStart - w.Start + k*phillyWindow
			jobs := window(w.Jobs, first, first+phillyWindow)
			if len(jobs) < 2 {
				return nil, fmt.Errorf("%s: no jobs in week %d after %s", phillyJobs, k+1, phillyFirst)
			}
			cases = append(cases, gpuCase{"Philly 2017", rate, nodesOfPhilly(phillyNodes), nil, jobs})
		}
	}
	return cases, nil
}
