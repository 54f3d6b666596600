// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// Options say what to run and how.
type Options struct {
	// Dir is the cluster's directory: empty or missing, and short (see slurmtest).
	Dir string
	// Ephemeral has Dir, which must be missing, removed in the end, whatever that is.
	Ephemeral bool
	// Tools is the directory of vclock.so and vslurmd.
	Tools string
	// Machine is the cluster, in node order; Jobs the workload, in order of submission.
	Machine []nodeset.Capacity
	Jobs    []workload.Job
	// Rate is the clock's while nothing computes.
	Rate float64
	// Busy is the rate while one of Slurm's daemons does: 1 unless set. They are that much
	// slower than in the world.
	Busy float64
	// Full has a stock slurmd play each node.
	Full bool
	// Auction says that aucsched's plug-ins of directory Plugins schedule.
	Auction bool
	Plugins string
	// Ranges has jobs ask for ranges of GPUs, which takes aucsched's plug-ins; without it
	// they ask for the fewest.
	Ranges bool
	// Parameters are SchedulerParameters, for either.
	Parameters string
	// Multifactor priorities instead of basic ones.
	Multifactor bool
	// Stall is for how long, in real time, no job may end before the run is given up;
	// two minutes unless set.
	Stall time.Duration
	// Progress, if set, is called now and then.
	Progress func(Progress)
}

func (o *Options) library() string { return filepath.Join(o.Tools, "vclock.so") }

// Version is raised when the same options give other results than before, in more than noise.
const Version = 1

// MostRate is the greatest rate of a run.
const MostRate = 5000

// Validate reports what is wrong with the options, save for directories.
func (o *Options) Validate() error {
	switch {
	case len(o.Jobs) == 0:
		return errors.New("the workload has no jobs")
	case !(o.Rate >= 1 && o.Rate <= MostRate):
		return fmt.Errorf("rate %g: must be from 1 to %d", o.Rate, MostRate)
	case o.Busy != 0 && !(o.Busy >= 1 && o.Busy <= o.Rate):
		return fmt.Errorf("busy rate %g: must be from 1 to %g, the rate", o.Busy, o.Rate)
	case o.Stall < 0:
		return fmt.Errorf("stall %v: must not be negative", o.Stall)
	}
	for i := range o.Jobs {
		if len(o.Jobs[i].Alternatives) > 0 {
			return fmt.Errorf("job %s: has alternatives, which are not emulated", o.Jobs[i].ID)
		}
	}
	return nil
}

// absolute makes the directories' paths so, and fills in the defaults.
func (o *Options) absolute() error {
	o.Busy = cmp.Or(o.Busy, 1)
	o.Stall = cmp.Or(o.Stall, 2*time.Minute)
	return Absolute(&o.Dir, &o.Tools, &o.Plugins)
}

// Absolute makes paths absolute, for daemons that run in directories of their own. One that is
// empty stays so.
func Absolute(paths ...*string) (err error) {
	for _, p := range paths {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	return nil
}
