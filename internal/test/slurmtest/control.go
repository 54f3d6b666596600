// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// StartController starts slurmctld and waits until it answers.
func (c *Cluster) StartController(ctx context.Context) error {
	if c.controllerRuns() {
		return errors.New("slurmctld runs already")
	}
	c.mu.Lock()
	cfg := c.cfg
	c.mu.Unlock()
	argv := append(slices.Clone(cfg.Wrapper), c.programs["slurmctld"], "-f", c.conf())
	if !cfg.Daemonize {
		argv = append(argv, "-D")
	}
	os.Remove(c.path("state", "slurmctld.pid"))
	d, err := c.launch("slurmctld", slices.Concat(c.faultEnv(), cfg.DaemonEnv, cfg.Env), argv...)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.controller = d
	c.mu.Unlock()
	limit := 2 * time.Minute // it reads its saved jobs first, which may be many
	if len(cfg.Wrapper) > 0 {
		limit = 3 * time.Minute
	}
	return c.poll(ctx, limit, "slurmctld to answer", func() (bool, error) {
		if d.exited() && (!cfg.Daemonize || !d.cmd.ProcessState.Success()) {
			return false, d.ended()
		}
		out, err := c.run(ctx, 0, "", "scontrol", "ping")
		return err == nil && strings.Contains(out, " is UP") && c.ControllerPid() > 0, nil
	})
}

// ControllerPid is slurmctld's process id, or 0 if it is not running. Under a
// wrapper it is that of the process that the wrapper became.
func (c *Cluster) ControllerPid() int {
	text, err := os.ReadFile(c.path("state", "slurmctld.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n") // a shorter number than the last leaves the rest of that behind
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 1 || !c.owns(pid) {
		return 0
	}
	return pid
}

// owns says whether process pid is alive and belongs to this cluster.
func (c *Cluster) owns(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), "AUCSCHED_SLURMTEST="+c.Dir)
}

func (c *Cluster) controllerRuns() bool {
	c.mu.Lock()
	d := c.controller
	c.mu.Unlock()
	return d != nil && (!d.exited() || c.ControllerPid() != 0)
}

// Failure says which of the cluster's daemons has ended, and how; nil while all run.
func (c *Cluster) Failure() error {
	c.mu.Lock()
	controller, daemons, daemonized := c.controller, slices.Clone(c.daemons), c.cfg.Daemonize
	c.mu.Unlock()
	if controller != nil && !c.controllerRuns() {
		if daemonized {
			return errors.New("slurmctld ended in the background")
		}
		return controller.ended()
	}
	for _, d := range daemons {
		if d.exited() {
			return d.ended()
		}
	}
	return nil
}

// KillController sends slurmctld the signal, SIGKILL or SIGTERM, and waits until it
// has ended. A SIGKILL is remembered: see [Watcher].
func (c *Cluster) KillController(ctx context.Context, sig syscall.Signal) error {
	c.mu.Lock()
	d := c.controller
	c.mu.Unlock()
	pid := c.ControllerPid()
	if pid == 0 && d != nil && !d.exited() {
		pid = d.cmd.Process.Pid
	}
	if pid == 0 {
		return errors.New("slurmctld is not running")
	}
	if err := syscall.Kill(pid, sig); err != nil {
		return fmt.Errorf("slurmctld %d: %w", pid, err)
	}
	if sig == syscall.SIGKILL {
		c.mu.Lock()
		c.kills = append(c.kills, time.Now())
		c.mu.Unlock()
	}
	sent := time.Now()
	return c.poll(ctx, time.Minute, fmt.Sprintf("slurmctld to end after %v", sig), func() (bool, error) {
		// Stock slurmctld loses the signal if a reconfiguration has just put it in another's place.
		if pid := c.ControllerPid(); sig == syscall.SIGTERM && pid != 0 && time.Since(sent) > 2*time.Second {
			sent = time.Now()
			_ = syscall.Kill(pid, sig)
		}
		return !c.controllerRuns(), nil
	})
}

// HUP sends slurmctld SIGHUP, which makes it read its configuration again. From 23.11 on another
// process takes slurmctld's place in a reconfiguration, and for a moment there is none.
func (c *Cluster) HUP(ctx context.Context) error {
	return c.poll(ctx, 10*time.Second, "a slurmctld to send SIGHUP to", func() (bool, error) {
		pid := c.ControllerPid()
		return pid != 0 && syscall.Kill(pid, syscall.SIGHUP) == nil, nil
	})
}

// Reconfigure runs "scontrol reconfigure".
func (c *Cluster) Reconfigure(ctx context.Context) error {
	_, err := c.Scontrol(ctx, "reconfigure")
	return err
}

// SetConfig changes the configuration and writes slurm.conf; the daemons read it at
// the next [Cluster.Reconfigure] or start. The nodes can't be changed.
func (c *Cluster) SetConfig(change func(*Config)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cfg := c.cfg
	change(&cfg)
	if cfg.nodes() != c.cfg.nodes() {
		return errors.New("slurmtest: the nodes of a running cluster can't be changed")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	c.cfg = cfg
	return c.writeConf()
}

// SetParameters replaces SchedulerParameters and has slurmctld read them.
func (c *Cluster) SetParameters(ctx context.Context, parameters string) error {
	if err := c.SetConfig(func(cfg *Config) { cfg.SchedulerParameters = parameters }); err != nil {
		return err
	}
	return c.Reconfigure(ctx)
}

// DrainNode takes a node out of service once its jobs have ended.
func (c *Cluster) DrainNode(ctx context.Context, node string) error {
	_, err := c.Scontrol(ctx, "update", "NodeName="+node, "State=DRAIN", "Reason=test")
	return err
}

// ResumeNode puts a node back into service.
func (c *Cluster) ResumeNode(ctx context.Context, node string) error {
	// A slurmctld that has just begun may not have heard of the node's slurmd yet, and what
	// it did just before may come back as refused.
	var err error
	poll := c.poll(ctx, 15*time.Second, "the node to be resumed", func() (bool, error) {
		if _, err = c.Scontrol(ctx, "update", "NodeName="+node, "State=RESUME"); err == nil {
			return true, nil
		}
		fields, show := c.ShowNode(ctx, node)
		state := fields["State"]
		return show == nil && state != "" && !strings.Contains(state, "DRAIN") && !strings.Contains(state, "DOWN"), nil
	})
	if poll != nil {
		return errors.Join(poll, err)
	}
	return nil
}

// startNode starts the slurmd of a node.
func (c *Cluster) startNode(node string) error {
	d, err := c.launch("slurmd", slices.Concat(c.faultEnv(), c.cfg.DaemonEnv), "slurmd", "-D", "-N", node, "-f", c.conf())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slurmds == nil {
		c.slurmds = map[string]*daemon{}
	}
	c.slurmds[node] = d
	c.daemons = append(c.daemons, d)
	return nil
}

// stopNode kills the slurmd of a node; its jobs run on.
func (c *Cluster) stopNode(ctx context.Context, node string) error {
	c.mu.Lock()
	d := c.slurmds[node]
	c.mu.Unlock()
	if d == nil {
		return fmt.Errorf("no node %s", node)
	}
	if err := syscall.Kill(d.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("slurmd of %s: %w", node, err)
	}
	return c.poll(ctx, 10*time.Second, "slurmd of "+node+" to end", func() (bool, error) { return d.exited(), nil })
}

// DaemonPids are the process ids of slurmctld and of what plays the nodes, those that run.
func (c *Cluster) DaemonPids() []int {
	var pids []int
	if pid := c.ControllerPid(); pid > 0 {
		pids = append(pids, pid)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.daemons {
		if !d.exited() {
			pids = append(pids, d.cmd.Process.Pid)
		}
	}
	return pids
}
