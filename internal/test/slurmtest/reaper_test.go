// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary pose as a program that uses the package and ends badly.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SLURMTEST_VICTIM"); dir != "" {
		victim(dir)
	}
	code := m.Run()
	for _, dir := range []string{copiedPlugins, builtProgrammes} {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// victim starts a cluster and a job that nobody would miss, says so, and waits; a
// line on its input makes it panic.
func victim(dir string) {
	// Without accounts 23.11's main scheduler calls the account invalid: backfill starts the job.
	cfg := Config{Groups: Uniform(2, 4, 0), SchedulerParameters: quickStock}
	if os.Getenv("SLURMTEST_ACCOUNTS") != "" {
		cfg.Accounting = &Accounting{}
	}
	c, err := Start(context.Background(), dir, cfg)
	if err == nil {
		var id uint32
		id, err = c.Sbatch(context.Background(), []string{"-N2"}, "#!/bin/sh\nsetsid env -i sleep 1000 & srun sleep 1000\n")
		if err == nil {
			_, err = c.WaitFor(context.Background(), id, patience, "RUNNING")
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("up")
	bufio.NewReader(os.Stdin).ReadString('\n')
	panic("asked to")
}

// Whatever ends the process that started a cluster, nothing of the cluster is left.
func TestNothingIsLeft(t *testing.T) {
	bed(t)
	for _, c := range []struct {
		name string
		end  func(p *os.Process, in *bufio.Writer)
	}{
		{"killed", func(p *os.Process, _ *bufio.Writer) { p.Signal(syscall.SIGKILL) }},
		{"killed with accounts", func(p *os.Process, _ *bufio.Writer) { p.Signal(syscall.SIGKILL) }},
		{"killed with a reaper", func(p *os.Process, _ *bufio.Writer) {
			syscall.Kill(childrenOf(p.Pid, "sh")[0], syscall.SIGKILL)
			p.Signal(syscall.SIGKILL)
		}},
		{"interrupted", func(p *os.Process, _ *bufio.Writer) { p.Signal(os.Interrupt) }},
		{"panics", func(_ *os.Process, in *bufio.Writer) { in.WriteString("\n"); in.Flush() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "slurmtest")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "SLURMTEST_VICTIM="+dir)
			// munged, slurmctld, slurmscriptd, 2 slurmd, slurmstepd, the job, its sleep
			daemons := 8
			if strings.Contains(c.name, "accounts") {
				cmd.Env = append(cmd.Env, "SLURMTEST_ACCOUNTS=1")
				daemons += 2 // mariadbd, slurmdbd
			}
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			stdout, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, _ := bufio.NewReader(stdout).ReadString('\n')
			require.Equal(t, "up\n", line)
			require.Eventually(t, func() bool { return len(processesOf(dir)) >= daemons }, patience, 50*time.Millisecond,
				"%d are wanted: %v", daemons, processesOf(dir))
			c.end(cmd.Process, bufio.NewWriter(stdin))
			require.Error(t, cmd.Wait())
			require.Eventually(t, func() bool { return len(processesOf(dir)) == 0 }, patience, 50*time.Millisecond,
				"left: %v", processesOf(dir))
		})
	}
}

// childrenOf are a process's children by the name of their program; a reaper's is sh.
func childrenOf(pid int, name string) (found []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		var child, parent int
		var comm, state string
		if _, err := fmt.Sscanf(string(text), "%d %s %s %d", &child, &comm, &state, &parent); err == nil &&
			parent == pid && comm == "("+name+")" && state != "Z" {
			found = append(found, child)
		}
	}
	return found
}

// processesOf are the processes that have something to do with the directory, found
// in another way than the reaper does: an open file, the command line, or the
// working directory.
func processesOf(dir string) []string {
	var found []string
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		text, _ := os.ReadFile(p + "/cmdline")
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range append(links, p+"/cwd") {
			if to, err := os.Readlink(l); err == nil {
				text = append(text, " "+to...)
			}
		}
		if strings.Contains(string(text), dir) {
			found = append(found, fmt.Sprintf("%s %.200s", p, strings.ReplaceAll(string(text), "\x00", " ")))
		}
	}
	return found
}

// reaperBed is a directory beside others, with the processes that a reaper is to tell apart.
type reaperBed struct {
	dir      string
	ours     []*exec.Cmd // by their mark, and by where they work
	another  *exec.Cmd   // of a cluster whose directory's name begins alike
	lifeline io.Closer
	reaper   *exec.Cmd
}

func newReaperBed(t *testing.T, dir string, args ...string) *reaperBed {
	b := &reaperBed{dir: dir}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "log"), 0o755))
	require.NoError(t, os.MkdirAll(dir+"2/log", 0o755))
	sleeper := func(mark, cwd string) *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		cmd.Env, cmd.Dir = []string{"AUCSCHED_SLURMTEST=" + mark}, cwd
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	b.ours = []*exec.Cmd{sleeper(dir, "/"), sleeper("", filepath.Join(dir, "log")), sleeper("", dir)}
	b.another = sleeper(dir+"2", dir+"2")
	b.reaper = exec.Command("sh", append([]string{"reaper.sh", dir}, args...)...)
	b.reaper.Stderr = os.Stderr
	var err error
	b.lifeline, err = b.reaper.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, b.reaper.Start())
	return b
}

// end closes the lifeline and checks who has ended.
func (b *reaperBed) end(t *testing.T) {
	alive := func(cmd *exec.Cmd) bool { return slices.Contains(childrenOf(os.Getpid(), "sleep"), cmd.Process.Pid) }
	for _, cmd := range b.ours {
		require.True(t, alive(cmd), "before its time")
	}
	require.NoError(t, b.lifeline.Close())
	require.NoError(t, b.reaper.Wait())
	for _, cmd := range b.ours {
		require.False(t, alive(cmd))
	}
	require.True(t, alive(b.another), "another cluster's process")
	require.DirExists(t, b.dir+"2/log")
}

func TestReaper(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
	}{{"keeps", nil}, {"removes", []string{"remove"}}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			newReaperBed(t, dir, c.args...).end(t)
			if c.args == nil {
				require.DirExists(t, dir)
			} else {
				require.NoDirExists(t, dir)
			}
		})
	}
	t.Run("a link is not followed", func(t *testing.T) {
		target := filepath.Join(t.TempDir(), "target")
		require.NoError(t, os.MkdirAll(target, 0o755))
		link := filepath.Join(t.TempDir(), "cluster")
		require.NoError(t, os.Symlink(target, link))
		cmd := exec.Command("sh", "reaper.sh", link, "remove") // its input is at its end
		require.NoError(t, cmd.Run())
		require.DirExists(t, target)
	})
}

// A cluster whose reapers have all been killed is ended all the same, and its directory is
// removed if it made that itself.
func TestStopWithoutReapers(t *testing.T) {
	bed(t)
	for _, left := range []int{0, 1} {
		parent, err := os.MkdirTemp("", "slurmtest")
		require.NoError(t, err)
		defer os.RemoveAll(parent)
		dir := filepath.Join(parent, "c")
		c, err := Start(t.Context(), dir, Config{Groups: Uniform(1, 4, 1), Ephemeral: true})
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(filepath.Join(parent, "other"), 0o755))
		for _, r := range c.reapers[left:] {
			require.NoError(t, r.cmd.Process.Kill())
		}
		require.NoError(t, c.Stop())
		require.Empty(t, processesOf(dir))
		require.NoDirExists(t, dir)
		require.DirExists(t, filepath.Join(parent, "other"))
	}
}

// An ephemeral cluster does not take a directory that is there, and leaves it alone.
func TestEphemeral(t *testing.T) {
	bed(t)
	dir := t.TempDir()
	_, err := Start(t.Context(), dir, Config{Groups: Uniform(1, 4, 0), Ephemeral: true})
	require.ErrorContains(t, err, "there already")
	require.DirExists(t, dir)

	parent, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	defer os.RemoveAll(parent)
	prepared := false
	_, err = Start(t.Context(), filepath.Join(parent, "c"), Config{Groups: Uniform(1, 4, 0), Ephemeral: true, Prepare: func() error {
		prepared = true
		return errors.Join(os.WriteFile(filepath.Join(parent, "c", "file"), nil, 0o644), errors.New("not today"))
	}})
	require.ErrorContains(t, err, "not today")
	require.True(t, prepared)
	require.NoDirExists(t, filepath.Join(parent, "c"))
	require.Empty(t, processesOf(parent))
}

// A daemon that ends is named, with how it ended; so is one that ends while the cluster starts.
func TestFailure(t *testing.T) {
	bed(t)
	for _, name := range []string{"munged", "slurmctld", "slurmd"} {
		dir, err := os.MkdirTemp("", "slurmtest")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		c, err := Start(t.Context(), dir, Config{Groups: Uniform(1, 4, 0)})
		require.NoError(t, err)
		require.NoError(t, c.Failure())
		pids := childrenOf(os.Getpid(), name)
		require.NotEmpty(t, pids)
		require.NoError(t, syscall.Kill(pids[0], syscall.SIGKILL))
		require.Eventually(t, func() bool { return c.Failure() != nil }, patience, 10*time.Millisecond)
		require.EqualError(t, c.Failure(), name+" ended: signal: killed")
		require.NoError(t, c.Stop())
	}
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	_, err = Start(t.Context(), dir, Config{Groups: Uniform(1, 4, 0), NodeDaemon: []string{"/bin/false"}})
	require.ErrorContains(t, err, "false ended: exit status 1")
	require.Empty(t, processesOf(dir))
}

// A cluster that can't be brought up says why, and leaves nothing.
func TestStartFails(t *testing.T) {
	bed(t)
	dir, err := os.MkdirTemp("", "slurmtest")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	_, err = Start(t.Context(), dir, Config{Groups: Uniform(2, 4, 0), ExtraLines: []string{"NoSuchOption=1"}})
	require.ErrorContains(t, err, "NoSuchOption", "the log's end")
	require.Empty(t, processesOf(dir))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Start(ctx, dir, Config{Groups: Uniform(2, 4, 0)})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, processesOf(dir))
}

// What a cluster is told to do, it does: parameters, restarts, drained nodes.
func TestControl(t *testing.T) {
	beside(t)
	c := cluster(t, stock, Config{Groups: Uniform(4, 4, 1), Daemonize: true})
	ctx := t.Context()
	pid := c.ControllerPid()
	require.NotZero(t, pid)
	id := submit(t, c, "sleep 30", "-n2")
	running(t, c, patience, id)

	require.NoError(t, c.SetParameters(ctx, quickStock+",bf_max_job_test=77"))
	out, err := c.Scontrol(ctx, "show", "config")
	require.NoError(t, err)
	require.Contains(t, out, "bf_max_job_test=77")
	require.NoError(t, c.HUP(t.Context()))

	require.NoError(t, c.DrainNode(ctx, "n0004"))
	states, err := c.nodeStates(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, states["drained"])
	require.NoError(t, c.ResumeNode(ctx, "n0004"))

	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if sig == syscall.SIGKILL {
			time.Sleep(saveLag / 2) // let it save that the job runs
		}
		require.NoError(t, c.KillController(ctx, sig))
		require.Zero(t, c.ControllerPid())
		require.Error(t, c.KillController(ctx, sig), "there is none")
		require.NoError(t, c.StartController(ctx))
		require.NotEqual(t, pid, c.ControllerPid())
		require.Error(t, c.StartController(ctx), "it runs")
		j, err := c.WaitFor(ctx, id, patience, "RUNNING")
		require.NoError(t, err)
		require.Zero(t, j.Restarts)
	}
	var e *CommandError
	_, err = c.Scontrol(ctx, "show", "job", "999")
	require.True(t, errors.As(err, &e))
	require.Contains(t, Stderr(err), "Invalid job id")
}
