// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// daemon is a process that the cluster has started and waits for.
type daemon struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

func (d *daemon) exited() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// ended says how it did.
func (d *daemon) ended() error { return fmt.Errorf("%s ended: %v", d.name, d.cmd.ProcessState) }

// Urgencies of the daemons with Config.Urgent. The one that plays all nodes computes next to
// nothing, and is to see that a job ends when it does, whatever controllers compute. So is whatever
// else only waits for a moment.
const (
	UrgencyController = 1
	UrgencyNodes      = 2
)

// start starts a process that is killed when this one ends, however. The kernel goes by the
// end of the thread that forked (PR_SET_PDEATHSIG), so that there is one that does nothing
// else and never ends. What a process has started itself, and the background that it has
// gone into, are left to the reapers.
func start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	endWithThread(cmd.SysProcAttr)
	err := make(chan error)
	starts() <- func() { err <- cmd.Start() }
	return <-err
}

var starts = sync.OnceValue(func() chan<- func() {
	todo := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range todo {
			f()
		}
	}()
	return todo
})

// slurmUsers are the daemons that run as SlurmUser.
var slurmUsers = []string{"slurmctld", "slurmdbd", "mariadbd"}

// An account is a user as whom a process can be started.
type account struct{ uid, gid uint32 }

func accountOf(name string) (*account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, &ErrMissing{fmt.Sprintf("SlurmUser: %v", err)}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &account{uint32(uid), uint32(gid)}, nil
}

// launch starts a program of the cluster in a session of its own, in the cluster's
// directory and with its mark; its output is appended to log/name.out.
func (c *Cluster) launch(name string, env []string, argv ...string) (*daemon, error) {
	out, err := os.OpenFile(c.path("log", name+".out"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	program := argv[0]
	if p, ok := c.programs[program]; ok {
		program = p
	}
	cmd := exec.Command(program, argv[1:]...)
	cmd.Dir, cmd.Env = c.path("work"), append(c.environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if slices.Contains(slurmUsers, name) && c.cfg.SlurmUser != "root" {
		as, err := accountOf(c.cfg.SlurmUser)
		if err != nil {
			return nil, err
		}
		asUser(cmd.SysProcAttr, as)
	}
	if err := start(cmd); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.cfg.Urgent { // before it has other threads, which inherit this
		urgency := uint32(UrgencyController)
		if name == "nodes" {
			urgency = UrgencyNodes
		}
		urgent(cmd.Process.Pid, urgency)
	}
	d := &daemon{name: name, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // ProcessState has how it ended
		close(d.done)
	}()
	return d, nil
}

// environ is the caller's environment for programs of this cluster: without what
// Slurm reads from it, with the cluster's slurm.conf and mark.
func (c *Cluster) environ() []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "SLURM") || strings.HasPrefix(name, "SBATCH_") || strings.HasPrefix(name, "SALLOC_") ||
			strings.HasPrefix(name, "SQUEUE_") || strings.HasPrefix(name, "SINFO_") || strings.HasPrefix(name, "AUCSCHED_") ||
			name == "CUDA_VISIBLE_DEVICES" || name == "LC_ALL" {
			continue
		}
		env = append(env, e)
	}
	return append(env, "SLURM_CONF="+c.conf(), "AUCSCHED_SLURMTEST="+c.Dir, "LC_ALL=C")
}
