// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// backupHost is the name of the backup controller's machine: this one, under
// another name and address.
const backupHost = "slurmtest-backup"

// backupTimeout is after how many seconds without a primary controller the backup takes over.
const backupTimeout = 5

// backupLines are those of slurm.conf.
func (c *Config) backupLines() []string {
	if !c.Backup {
		return nil
	}
	return []string{"SlurmctldHost=" + backupHost + "(127.0.0.2)", fmt.Sprint("SlurmctldTimeout=", backupTimeout)}
}

// StartBackup starts the backup controller, which Config.Backup has the cluster know of, and waits
// until it answers. It logs to "backup.log".
func (c *Cluster) StartBackup(ctx context.Context) error {
	if c.BackupPid() > 0 {
		return errors.New("the backup slurmctld runs already")
	}
	c.mu.Lock()
	cfg := c.cfg
	c.mu.Unlock()
	if !cfg.Backup {
		return errors.New("slurmtest: no Config.Backup")
	}
	// One that differs in these lines from that of the others is the same to Slurm.
	text := strings.NewReplacer("/state/slurmctld.pid", "/state/backup.pid", "/log/slurmctld.log", "/log/backup.log").
		Replace(cfg.slurmConf(c.Dir, c.host, c.stock, c.Port))
	hosts := fmt.Sprintf("127.0.0.1 localhost %s\n127.0.0.2 %s\n", c.host, backupHost)
	if err := errors.Join(os.WriteFile(c.path("backup.conf"), []byte(text), 0o644),
		os.WriteFile(c.path("hosts"), []byte(hosts), 0o644)); err != nil {
		return err
	}
	os.Remove(c.path("state", "backup.pid"))
	script := fmt.Sprintf("hostname %s && mount --bind %s /etc/hosts && exec setpriv --reuid=%s --regid=%[3]s --init-groups %s -D -f %s",
		backupHost, c.path("hosts"), cfg.SlurmUser, c.programs["slurmctld"], c.path("backup.conf"))
	d, err := c.launch("backup", slices.Concat(c.faultEnv(), cfg.DaemonEnv, cfg.Env), "unshare", "--uts", "--mount", "sh", "-c", script)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.backup = d
	c.mu.Unlock()
	return c.poll(ctx, 30*time.Second, "the backup slurmctld to answer", func() (bool, error) {
		if d.exited() {
			return false, d.ended()
		}
		out, err := c.run(ctx, 0, "", "scontrol", "ping")
		return err == nil && strings.Contains(out, backupHost+" is UP"), nil
	})
}

// BackupPid is the backup controller's process id, or 0 if it is not running.
func (c *Cluster) BackupPid() int {
	c.mu.Lock()
	d := c.backup
	c.mu.Unlock()
	if d == nil || d.exited() {
		return 0
	}
	return d.cmd.Process.Pid
}

// KillBackup sends the backup controller the signal and waits until it has ended.
func (c *Cluster) KillBackup(ctx context.Context, sig syscall.Signal) error {
	pid := c.BackupPid()
	if pid == 0 {
		return errors.New("the backup slurmctld is not running")
	}
	// One that just gives up control forgets a signal.
	var sent time.Time
	return c.poll(ctx, time.Minute, fmt.Sprintf("the backup slurmctld to end after %v", sig), func() (bool, error) {
		if c.BackupPid() == 0 {
			return true, nil
		}
		if time.Since(sent) < 5*time.Second {
			return false, nil
		}
		sent = time.Now()
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return false, fmt.Errorf("backup slurmctld %d: %w", pid, err)
		}
		return false, nil
	})
}

// WaitControl waits until some controller is in control.
func (c *Cluster) WaitControl(ctx context.Context, limit time.Duration) error {
	return c.poll(ctx, limit, "a slurmctld in control", func() (bool, error) {
		_, err := c.run(ctx, 0, "", "squeue", "-h", "-o", "%i")
		return err == nil, nil
	})
}
