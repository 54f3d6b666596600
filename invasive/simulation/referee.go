// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"fmt"
	"math"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

// A referee keeps a ledger of its own. It shares nothing with the iHypervisor, and knows of the
// jobs' progress only when their cores changed.
type referee struct {
	cost     time.Duration
	perNode  uint32
	owner    []invasive.JobID
	now      time.Duration
	ledger   map[invasive.JobID]*account
	launches int
}

// An account is the changes of a job's cores.
type account struct {
	cores   int
	changes []change
	end     time.Duration
}

type change struct {
	at    time.Duration
	cores int
}

func newReferee(p *invasive.Partition, cost time.Duration) *referee {
	return &referee{cost: cost, perNode: p.Sockets * p.CoresPerSocket, owner: make([]invasive.JobID, p.Cores()),
		ledger: make(map[invasive.JobID]*account)}
}

// pass lets time go by.
func (f *referee) pass(now time.Duration) { f.now = now }

// give is a launch, or growth.
func (f *referee) give(j *invasive.Job, cores []uint32, launch bool) error {
	a := f.ledger[j.ID]
	if launch != (a == nil) {
		return fmt.Errorf("job %d is launched twice, or grows without a launch", j.ID)
	}
	if a == nil {
		a = &account{}
		f.ledger[j.ID] = a
		f.launches++
	}
	for _, c := range cores {
		if o := f.owner[c]; o != 0 {
			return fmt.Errorf("core %d of job %d is given to job %d", c, o, j.ID)
		}
		f.owner[c] = j.ID
	}
	return f.change(j, a, len(cores))
}

func (f *referee) release(j *invasive.Job, cores []uint32) error {
	for _, c := range cores {
		if f.owner[c] != j.ID {
			return fmt.Errorf("job %d lets go of core %d of job %d", j.ID, c, f.owner[c])
		}
		f.owner[c] = 0
	}
	return f.change(j, f.ledger[j.ID], -len(cores))
}

func (f *referee) change(j *invasive.Job, a *account, by int) error {
	a.cores += by
	a.changes = append(a.changes, change{f.now, a.cores})
	if a.cores != 0 && (a.cores < int(j.MinCores) || a.cores > int(j.MaxCores)) {
		return fmt.Errorf("job %d has %d cores, and can use %d to %d", j.ID, a.cores, j.MinCores, j.MaxCores)
	}
	return f.spread(j, a.cores)
}

// spread checks the number of nodes of a job that cares.
func (f *referee) spread(j *invasive.Job, cores int) error {
	if j.MinNodes == 0 && j.MaxNodes == 0 || cores == 0 {
		return nil
	}
	nodes := make(map[uint32]bool)
	for c, o := range f.owner {
		if o == j.ID {
			nodes[uint32(c)/f.perNode] = true
		}
	}
	if n := uint32(len(nodes)); n < j.MinNodes || j.MaxNodes > 0 && n > j.MaxNodes {
		return fmt.Errorf("job %d is on %d nodes, and needs %d to %d", j.ID, n, j.MinNodes, j.MaxNodes)
	}
	return nil
}

// end adds up what the job has done.
func (f *referee) end(r *run) error {
	a := f.ledger[r.job.ID]
	if a == nil {
		return fmt.Errorf("job %d ends before its launch", r.job.ID)
	}
	for c, o := range f.owner {
		if o == r.job.ID {
			f.owner[c] = 0
		}
	}
	did, busyFrom := 0.0, time.Duration(0)
	for i, c := range a.changes {
		until := f.now
		if i+1 < len(a.changes) {
			until = a.changes[i+1].at
		}
		if busyFrom = max(busyFrom, c.at); i > 0 {
			busyFrom = max(busyFrom, c.at+f.cost)
		}
		did += max(0, until-busyFrom).Seconds() * speed(r.Serial, c.cores)
	}
	if want := r.work(); !r.killed && math.Abs(did-want) > 1e-6*want+1e-6*float64(r.MaxCores) {
		return fmt.Errorf("job %d has done %g of %g core seconds of work", r.job.ID, did, want)
	}
	a.cores, a.end = 0, f.now
	return nil
}

// finish holds the ends against the workload.
func (f *referee) finish(jobs []run) error {
	for i := range jobs {
		if r := &jobs[i]; !r.over || !r.told || !r.launched {
			return fmt.Errorf("job %d is lost: launched %v, ended %v, told %v", r.job.ID, r.launched, r.over, r.told)
		}
	}
	for c, o := range f.owner {
		if o != 0 {
			return fmt.Errorf("core %d still belongs to job %d", c, o)
		}
	}
	if f.launches != len(jobs) {
		return fmt.Errorf("%d launches of %d jobs", f.launches, len(jobs))
	}
	return nil
}
