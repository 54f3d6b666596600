// SPDX-License-Identifier: BSD-3-Clause

package ihypervisor

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A Launcher starts jobs, and has a hand on their processes: a launch.Launcher, or a
// slurm.Launcher. It is called from several goroutines, but for each job in one order. Times and
// processes have to be real ones.
type Launcher interface {
	// Find returns the jobs that were launched before and not forgotten, as
	// invasive.NewHypervisor wants to know them.
	Find() ([]invasive.Seen, error)
	// Launch starts a job on CPUs, with env added to its environment if it can be; it may block for
	// a while. After an error that isn't *launch.UnlaunchedError the job may have been started. It
	// is done once for a job until that is forgotten, also over crashes: it leaves a mark.
	Launch(job *invasive.Job, cpus []int, env []string) error
	// Wait blocks until a launched job has ended, all of it, and returns its exit status.
	Wait(id invasive.JobID) (int32, error)
	// Confine keeps a job to CPUs, and goes on with it if it was halted. With force threads that
	// have bound themselves to some get all.
	Confine(id invasive.JobID, cpus []int, force bool) error
	// Halt returns when no thread of a job can run any more.
	Halt(id invasive.JobID) error
	// Signal asks a job to end (SIGTERM), or ends it (SIGKILL), whether it is halted or not.
	Signal(id invasive.JobID, sig unix.Signal) error
	// Started tells whether a job was launched, and when.
	Started(id invasive.JobID) (time.Time, bool)
	// JobOf returns the job that a process belongs to, if that runs as the process's user.
	JobOf(pid int, uid uint32) (invasive.JobID, bool)
	// Forget removes the mark of a job that has ended.
	Forget(id invasive.JobID) error
}

// Nodes is what a Launcher is besides if its CPUs are cores of many nodes, numbered as the
// partition's are, see [Numbered]: an agents.Head.
type Nodes interface {
	// Connect begins to hand on what jobs say, of each in its order. Changed is called when a node
	// has come or gone, from any goroutine, and must not block.
	Connect(handle func(invasive.JobID, malleable.Request), changed func()) Jobs
	// Away are the cores of nodes that do not answer, Lost those that don't come back soon, as in a
	// place.View; the caller's from then on.
	Away() (away, lost []bool)
	// Home is the node that a job can't leave.
	Home(id invasive.JobID) (node uint32, ok bool)
}

// Jobs are those that adapt: a malleable.Server, or that of Nodes.
type Jobs interface {
	// Send tells a job of a change. It does not wait.
	Send(id invasive.JobID, c malleable.Change) bool
	// Close returns when nothing is handled any more.
	Close() error
}

// JobsDir is the directory where a launcher keeps what it has to know of jobs after a crash.
func (c *Config) JobsDir() string { return filepath.Join(c.State, "jobs") }
