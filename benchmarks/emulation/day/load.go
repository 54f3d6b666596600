// SPDX-License-Identifier: BSD-3-Clause

package day

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// The machine: 32 nodes of 16 cores, and 4 with GPUs, of two types.
const (
	cpuNodes, cpuCores = 32, 16
	gpuNodes, gpuCores = 4, 32
)

// users are accounts of the system that every Debian has, and their parts of the load.
var users = []struct {
	name, account string
	weight        float64
}{{slurmtest.Alice, "physics", 4}, {slurmtest.Bob, "physics", 2}, {slurmtest.Carol, "biology", 2}, {slurmtest.Dave, "biology", 1}}

// Priority is how a day's site ranks jobs.
type Priority string

// The priorities of a site: first come, first served, or by several factors.
const (
	Basic     Priority = "basic"
	AgeSize   Priority = "age-size"
	FairShare Priority = "fair-share"
)

// Priorities are the names of all.
func Priorities() []string { return []string{string(Basic), string(AgeSize), string(FairShare)} }

// lines are those of slurm.conf.
func (p Priority) lines() []string {
	switch p {
	case AgeSize:
		return []string{"PriorityWeightAge=10000", "PriorityMaxAge=1-0", "PriorityWeightJobSize=3000", "PriorityWeightPartition=1000"}
	case FairShare:
		return []string{"PriorityWeightAge=3000", "PriorityMaxAge=1-0", "PriorityWeightJobSize=1000",
			"PriorityWeightFairshare=10000", "PriorityDecayHalfLife=1-0"}
	}
	return nil
}

// site is the cluster. Its partitions share nodes in part.
func site(p Priority) slurmtest.Config {
	cpus := slurmtest.Group{Nodes: cpuNodes, Cores: cpuCores, MemoryMB: 64000}
	a100 := slurmtest.Group{Nodes: gpuNodes / 2, Cores: gpuCores, MemoryMB: 256000, GPUs: 4, GPUType: "a100"}
	v100 := a100
	v100.GPUType = "v100"
	c := slurmtest.Config{
		Groups: []slurmtest.Group{cpus, a100, v100},
		Partitions: []slurmtest.Partition{
			{Name: "cpu", Nodes: "n[0001-0032]", Default: true, Options: "DefaultTime=60 PriorityJobFactor=5"},
			{Name: "long", Nodes: "n[0017-0032]", Options: "DefaultTime=60 MaxNodes=4 PriorityJobFactor=1"},
			{Name: "debug", Nodes: "n[0001-0004]", Options: "PriorityTier=10 MaxNodes=2 DefaultTime=10 PriorityJobFactor=10"},
			{Name: "gpu", Nodes: "n[0033-0036]", Options: "DefaultTime=60 PriorityJobFactor=5"},
		},
		SlurmUser: "slurm", SelectTypeParameters: "CR_Core_Memory", MinJobAge: time.Hour,
		SchedulerParameters: "bf_continue,bf_window=4320",
		Accounting:          &slurmtest.Accounting{Enforce: "associations", TRES: "gres/gpu,gres/gpu:a100,gres/gpu:v100"},
		ExtraLines:          append([]string{"DefMemPerCPU=2000", "MaxArraySize=1001", "MaxJobCount=100000"}, p.lines()...),
	}
	if p != Basic {
		c.PriorityType = "priority/multifactor"
	}
	for _, u := range users {
		k := slices.IndexFunc(c.Accounting.Accounts, func(a slurmtest.Account) bool { return a.Name == u.account })
		if k < 0 {
			k = len(c.Accounting.Accounts)
			c.Accounting.Accounts = append(c.Accounting.Accounts, slurmtest.Account{Name: u.account})
		}
		c.Accounting.Accounts[k].Users = append(c.Accounting.Accounts[k].Users, slurmtest.User{Name: u.name})
	}
	return c
}

// event is something that a user does, so many seconds into the day.
type event struct {
	at     float64
	submit *submission
	// What becomes of an earlier submission, by number; it may be over by then.
	what  string // cancel or requeue
	which int
}

// submission is what sbatch is given.
type submission struct {
	args    []string
	seconds int64
	tasks   int     // of an array; 1 otherwise
	work    float64 // core seconds that it takes
}

// limits are the time limits that users ask for, in minutes.
var limits = []int64{10, 30, 60, 120, 240, 480, 720, 1440}

// limit is one that is not below the run time, and often well above it.
func limit(rng *rand.Rand, seconds int64) int64 {
	k, _ := slices.BinarySearch(limits, (seconds+59)/60)
	k = min(k+rng.IntN(3), len(limits)-1)
	return max(limits[k], (seconds+59)/60)
}

// lognormal is a run time in seconds of that median, between a minute and 16 hours.
func lognormal(rng *rand.Rand, median, sigma float64) int64 {
	return int64(min(max(median*math.Exp(sigma*rng.NormFloat64()), 60), 16*3600))
}

// job draws a job.
func job(rng *rand.Rand) submission {
	s := submission{tasks: 1}
	add := func(format string, a ...any) { s.args = append(s.args, fmt.Sprintf(format, a...)) }
	cores := 1
	switch kind := rng.IntN(100); {
	case kind < 18: // whole nodes
		s.seconds = lognormal(rng, 2400, 1)
		n := 1 << rng.IntN(4)
		add("-N%d", n)
		add("--ntasks-per-node=%d", cpuCores)
		cores = n * cpuCores
	case kind < 28: // one node's memory
		s.seconds = lognormal(rng, 1800, 1.2)
		add("-n1")
		add("-c4")
		add("--mem=%d", 20000+10000*rng.IntN(4))
		cores = 4
	case kind < 40: // wherever there are cores
		s.seconds = lognormal(rng, 2400, 1)
		cores = 8 + rng.IntN(57)
		add("-n%d", cores)
	case kind < 50: // long
		s.seconds = lognormal(rng, 9000, 0.8)
		cores = 8 * (1 + rng.IntN(4))
		add("-plong")
		add("-n%d", cores)
	case kind < 58: // a look
		s.seconds = lognormal(rng, 240, 0.8)
		cores = 1 + rng.IntN(16)
		add("-pdebug")
		add("-n%d", cores)
	case kind < 68: // GPUs of a type
		s.seconds = lognormal(rng, 4500, 1)
		gpus := 1 + rng.IntN(4)
		add("-pgpu")
		add("-N1")
		add("-n%d", 4*gpus)
		add("--gres=gpu:%s:%d", []string{"a100", "v100"}[rng.IntN(2)], gpus)
		cores = 4 * gpus
	case kind < 74: // GPUs of any
		s.seconds = lognormal(rng, 4500, 1)
		add("-pgpu")
		add("-N1")
		add("-n4")
		add("--gres=gpu:1")
		cores = 4
	case kind < 80: // an array
		s.seconds = lognormal(rng, 900, 0.8)
		s.tasks = 4 + rng.IntN(12)
		cores = 2 << rng.IntN(3)
		add("-n%d", cores)
		add("--array=1-%d", s.tasks)
	default: // small
		s.seconds = lognormal(rng, 1200, 1.2)
		cores = 1 << rng.IntN(4)
		add("-n%d", cores)
	}
	minutes := limit(rng, s.seconds)
	if rng.IntN(20) == 0 { // too little
		minutes = max(s.seconds/120, 5)
	}
	add("--time=%d", minutes)
	s.work = float64(cores*s.tasks) * float64(min(s.seconds, 60*minutes))
	return s
}

// events is the load of the day, which comes evenly. Of forty jobs two are cancelled and one is
// requeued, about an hour after they came, if they are not over by then.
func (o *Options) events() (all []event) {
	rng := rand.New(rand.NewPCG(o.Seed, 0x646179))
	total := o.Load * o.Hours * 3600 * (cpuNodes*cpuCores + gpuNodes*gpuCores)
	var jobs []submission
	for work := 0.0; work < total; {
		jobs = append(jobs, job(rng))
		work += jobs[len(jobs)-1].work
	}
	weights := 0.0
	for _, u := range users {
		weights += u.weight
	}
	for i := range jobs {
		at, draw := rng.Float64()*o.Hours*3600, rng.Float64()*weights
		for _, u := range users {
			if draw -= u.weight; draw < 0 {
				jobs[i].args = append(jobs[i].args, "--uid="+u.name)
				break
			}
		}
		all = append(all, event{at: at, submit: &jobs[i], which: i})
		later := at + rng.ExpFloat64()*3600
		switch rng.IntN(40) {
		case 0, 1:
			all = append(all, event{at: later, what: "cancel", which: i})
		case 2:
			all = append(all, event{at: later, what: "requeue", which: i})
		}
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return all
}
