// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/nodeset"
)

// Node is what each node of the machine has.
var Node = nodeset.Capacity{Cores: 12, GPUs: 3}

// Options say where and for how long to measure.
type Options struct {
	// Dir holds the clusters and the prepared queues. It must be short (see slurmtest).
	Dir string
	// Tools is the directory of vslurmd, Plugins that of aucsched's plug-ins.
	Tools, Plugins string
	// Seed chooses the jobs.
	Seed uint64
	// Warm is how long a scheduler has for filling the machine before it is measured, and
	// Window for how long that is.
	Warm, Window time.Duration
	// Asks is how many times sbatch is run in the window, Lists how many times squeue is, or 0
	// for as many times: it prints the whole queue. Sinfo has sinfo run as often as sbatch.
	Asks, Lists int
	Sinfo       bool
	// Log hears what is being done.
	Log io.Writer
}

// Validate reports what is wrong with the options, save for directories.
func (o *Options) Validate() error {
	switch {
	case o.Warm < 0:
		return fmt.Errorf("warm-up %v: must not be negative", o.Warm)
	case o.Window < time.Second:
		return fmt.Errorf("window %v: must be at least a second", o.Window)
	case o.Asks < 1 || o.Asks > 10_000:
		return fmt.Errorf("asks %d: must be in 1..10000", o.Asks)
	case o.Lists < 0 || o.Lists > 10_000:
		return fmt.Errorf("lists %d: must be in 0..10000", o.Lists)
	case o.Log == nil:
		return errors.New("no log")
	}
	return nil
}

// Size is a machine and the queue before it.
type Size struct{ Nodes, Jobs int }

// Rival is a scheduler with its settings.
type Rival struct {
	Name       string
	Parameters string // SchedulerParameters
	Auction    bool   // aucsched's plug-ins are on
}

// config is the cluster of a rival. Its partition is down at first: jobs queue, and none starts.
func (o *Options) config(nodes int, r *Rival) slurmtest.Config {
	cfg := slurmtest.Config{
		Groups:              slurmtest.Uniform(nodes, int(Node.Cores), int(Node.GPUs)),
		Partitions:          []slurmtest.Partition{{Name: partition, Default: true, Options: "State=DOWN"}},
		SchedulerParameters: r.Parameters,
		NodeDaemon:          []string{filepath.Join(o.Tools, "vslurmd")},
		NoAuth:              true,
		// As Slurm's guide for many jobs says, the rest as in slurmtest.
		ExtraLines: []string{"MaxJobCount=250000", "MessageTimeout=100", "JobRequeue=0"},
	}
	if r.Auction {
		cfg = cfg.WithAuction(o.Plugins, "")
	}
	return cfg
}

const partition = "p"
