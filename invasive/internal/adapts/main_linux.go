// SPDX-License-Identifier: BSD-3-Clause

// Command adapts is what the tests of Slurm's plug-ins need of this module:
//
//	adapts job FILE            a job that lets go of cores when asked to, and ends with FILE
//	adapts cpus CORES SOME     the CPUs of some of the cores of a simulated node
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/malleable"
)

func main() {
	err := fmt.Errorf("usage: adapts job FILE | adapts cpus CORES SOME")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "job":
		err = adapt(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "cpus":
		err = printCPUs(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Println("adapts:", err)
		os.Exit(1)
	}
}

// adapt lets go of cores when it is asked to, and does nothing else until there is a file.
func adapt(stop string) error {
	c, err := malleable.Connect(os.Getenv)
	if err != nil {
		return err
	}
	for {
		select {
		case change := <-c.Changes():
			_ = c.Done(change)
		case <-time.After(50 * time.Millisecond):
			if _, err := os.Stat(stop); err == nil {
				return nil
			}
		}
	}
}

// printCPUs prints the CPUs of a list of cores as the kernel does, where an iHypervisor has a
// node of so many cores, oversubscribed if it must be.
func printCPUs(cores, some string) error {
	n, err := strconv.ParseUint(cores, 10, 32)
	if err != nil {
		return err
	}
	node := invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: uint32(n)}
	topology, err := ihypervisor.Simulate(node, "/sys/devices/system/cpu", true)
	if err != nil {
		return err
	}
	list, err := malleable.ParseList(some)
	if err != nil {
		return err
	}
	set := map[int]bool{}
	var cpus []int
	for _, core := range list {
		for _, cpu := range topology.CPUs[core] {
			if !set[cpu] {
				set[cpu] = true
				cpus = append(cpus, cpu)
			}
		}
	}
	fmt.Println(malleable.FormatList(cpus))
	return nil
}
