// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

//go:embed reaper.sh
var reaperScript string

// reapers is how many watchdogs a cluster has: one must be left when the process that
// started them and one of them are killed.
const reapers = 2

// reaper is a watchdog: a shell that waits for the end of this process, in a session of its
// own so that no signal to this process's group reaches it.
type reaper struct {
	cmd      *exec.Cmd
	lifeline io.Closer // it waits for the end of this
	said     bytes.Buffer
}

// newReaper starts one.
func (c *Cluster) newReaper() (*reaper, error) {
	argv := []string{"-c", reaperScript, "reaper", c.Dir}
	if c.cfg.Ephemeral {
		argv = append(argv, "remove")
	}
	r := &reaper{cmd: exec.Command(c.programs["sh"], argv...)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = "/", []string{"PATH=" + os.Getenv("PATH")}, &r.said
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var err error
	if r.lifeline, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	err = r.cmd.Start()
	if err == nil && c.cfg.Urgent { // or what it is to end might not let it
		urgent(r.cmd.Process.Pid, UrgencyNodes)
	}
	return r, err
}

// startReapers starts all of them.
func (c *Cluster) startReapers() error {
	for range reapers {
		r, err := c.newReaper()
		if err != nil {
			return fmt.Errorf("reaper: %w", err)
		}
		c.reapers = append(c.reapers, r)
	}
	return nil
}

// end has the reaper do its work, and waits until it is done.
func (r *reaper) end() error {
	// It may have been killed, and its input with it.
	_ = r.lifeline.Close()
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("slurmtest: reaper: %w: %s", err, bytes.TrimSpace(r.said.Bytes()))
	}
	return nil
}

// reap has the reapers do their work. One of them is enough; if all have been killed,
// another does it.
func (c *Cluster) reap() error {
	var errs []error
	for _, r := range c.reapers {
		_ = r.lifeline.Close() // of all at first, so that they work side by side
	}
	for _, r := range c.reapers {
		if err := r.end(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) < len(c.reapers) {
		return nil
	}
	last, err := c.newReaper()
	if err == nil {
		err = last.end()
	}
	if err == nil {
		return nil
	}
	return errors.Join(append(errs, err)...)
}

// dismiss ends the reapers without their doing anything.
func (c *Cluster) dismiss() {
	for _, r := range c.reapers {
		_ = r.cmd.Process.Kill()
		_ = r.end()
	}
	c.reapers = nil
}
