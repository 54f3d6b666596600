// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import "time"

// The users of [Site]: accounts of the system that every Debian has. Each has his own habits in
// tests only; what they may do is said in Site.
const (
	Alice = "games" // also in account limited
	Bob   = "news"
	Carol = "mail"
	Dave  = "lp" // runs 3 jobs at most
)

// Site is a small production site, on 12 nodes: accounts and limits that are enforced, memory that
// is consumed, hyperthreads, GPUs of several types, partitions that share nodes, a
// topology, weights, and priorities with fair share.
//
//	n0001-0008   2 x 8 cores x 2 threads, 64 GB: partitions cpu (the default), debug (two of
//	             them, first), long
//	n0009-0010   the same with 128 GB and four a100: partition gpu
//	n0011-0012   the same with two a100 and two v100, and four nic: partition gpu
//
// Account limited has 64 CPUs in all; QOS lim two jobs a user, grp 40 CPUs in all, share 16 CPUs
// a user.
func Site() Config {
	const cpu = "Weight=1 MemSpecLimit=2000"
	node := Group{Sockets: 2, Cores: 8, Threads: 2}
	cpus, plain, mixed := node, node, node
	cpus.Nodes, cpus.MemoryMB, cpus.Features, cpus.Options = 8, 64000, "ib,cpu,skylake", cpu
	plain.Nodes, plain.MemoryMB, plain.GPUs, plain.GPUType, plain.Features, plain.Options = 2, 128000, 4, "a100", "ib,gpu", "Weight=10"
	mixed.Nodes, mixed.MemoryMB, mixed.GPUTypes, mixed.Features, mixed.Options = 2,
		128000, []GPUType{{"a100", 2}, {"v100", 2}}, "ib,gpu", "Weight=10"
	mixed.Gres = []Gres{{Name: "nic", Count: 4}}
	return Config{
		Groups: []Group{cpus, plain, mixed},
		Partitions: []Partition{
			{Name: "cpu", Nodes: "n[0001-0008]", Default: true, Options: "DefaultTime=60"},
			{Name: "gpu", Nodes: "n[0009-0012]", Options: "DefaultTime=60"},
			{Name: "debug", Nodes: "n[0001-0002]", Options: "PriorityTier=10 MaxNodes=2 DefaultTime=10"},
			{Name: "long", Nodes: "n[0001-0008]", Options: "MaxNodes=4 DefaultTime=60"},
		},
		SlurmUser:            "slurm",
		SelectTypeParameters: "CR_Core_Memory",
		Licenses:             "matlab:2",
		PriorityType:         "priority/multifactor",
		MinJobAge:            time.Hour,
		LogLevel:             "verbose",
		PrologSlurmctld:      "#!/bin/sh\nexit 0\n",
		Topology: []string{
			"SwitchName=s1 Nodes=n[0001-0004]", "SwitchName=s2 Nodes=n[0005-0008]", "SwitchName=s3 Nodes=n[0009-0012]",
			"SwitchName=top Switches=s[1-3]",
		},
		Accounting: &Accounting{
			TRES: "gres/gpu,gres/gpu:a100,gres/gpu:v100",
			QOS:  []QOS{{"lim", "MaxJobsPU=2"}, {"grp", "GrpTRES=cpu=40"}, {"share", "MaxTRESPU=cpu=16"}},
			Accounts: []Account{
				{Name: "open", Users: []User{{Name: Alice}, {Name: Bob}, {Name: Carol}, {Dave, "MaxJobs=3"}}},
				{Name: "limited", Limits: "GrpTRES=cpu=64", Users: []User{{Name: Alice}}},
			},
		},
		ExtraLines: []string{
			"DefMemPerCPU=1900", "MaxArraySize=60001", "MaxJobCount=100000",
			"PriorityWeightFairshare=100000", "PriorityWeightAge=1000", "PriorityWeightQOS=10000", "PriorityWeightJobSize=1000",
			"PriorityDecayHalfLife=7-0", "PriorityCalcPeriod=1",
		},
	}
}
