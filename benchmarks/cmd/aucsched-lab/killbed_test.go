// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// killBed is where the real command emulates, and where parts of it are killed.
type killBed struct{ program, root string }

func newKillBed(t *testing.T) *killBed {
	t.Helper()
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("starts a real Slurm cluster: AUCSCHED_SLURM_TEST=1 to run it")
	}
	if _, err := slurmtest.Programs(); err != nil {
		t.Skip(err)
	}
	version, err := slurmtest.Version()
	require.NoError(t, err)
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, file := range []string{"build/emulation/" + version + "/vslurmd", "build/slurm/" + version + "/libaucsched.so"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Skipf("make emulation has not been run: %v", err)
		}
	}
	b := &killBed{program: filepath.Join(t.TempDir(), "aucsched"), root: root}
	text, err := exec.Command("go", "build", "-o", b.program, ".").CombinedOutput()
	require.NoError(t, err, "%s", text)
	return b
}

// smallRun is a run of killJobs jobs for some ten minutes of virtual time, at a rate that a
// machine with much else to do keeps up with.
func smallRun(out string, args ...string) []string {
	return append([]string{"emulate", "--scheduler=backfill", "--cluster=8x8x2", "--workload=gen:V.1", "--first=" + strconv.Itoa(killJobs),
		"--rate=100", "--json", "--out=" + out}, args...)
}

const killJobs = 4

// driven is the command as it runs, with a directory for temporary files of its own.
type driven struct {
	cmd       *exec.Cmd
	tmp       string
	out, errs bytes.Buffer
	done      chan struct{} // closed when it has ended
	mounts    []string      // before it ran
	ports     []int         // of its cluster, as far as they were seen
}

// start starts the command with args. Whatever is left of it when the test ends is removed.
func (b *killBed) start(t *testing.T, args []string, env ...string) *driven {
	t.Helper()
	tmp, err := os.MkdirTemp("", "auckill") // t.TempDir is too long a name for a cluster
	require.NoError(t, err)
	d := &driven{cmd: exec.Command(b.program, args...), tmp: tmp, done: make(chan struct{}), mounts: mounts(t)}
	d.cmd.Dir, d.cmd.Env = b.root, append(append(os.Environ(), "TMPDIR="+tmp), env...)
	d.cmd.Stdout, d.cmd.Stderr = &d.out, &d.errs
	require.NoError(t, d.cmd.Start())
	go func() {
		_ = d.cmd.Wait()
		close(d.done)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		<-d.done
		os.RemoveAll(tmp)
	})
	return d
}

func (d *driven) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// wait waits for the end of the command.
func (d *driven) wait(t *testing.T, limit time.Duration) {
	t.Helper()
	select {
	case <-d.done:
	case <-time.After(limit):
		require.Fail(t, "the command has not ended", "after %v: %v; it said %s", limit, processesOf(d.tmp), d.errs.String())
	}
}

// until waits until something is so, or the command has ended.
func (d *driven) until(so func() bool) {
	for !d.ended() && !so() {
		time.Sleep(10 * time.Millisecond)
	}
	d.look()
}

var portLine = regexp.MustCompile(`(?m)^SlurmctldPort=(\d+)$`)

// look notes the ports of slurmctld and of the daemon that plays the nodes.
func (d *driven) look() {
	text := d.read("slurm.conf")
	if m := portLine.FindStringSubmatch(text); m != nil && d.ports == nil {
		port, _ := strconv.Atoi(m[1])
		d.ports = []int{port, port + 1}
	}
}

// read is a file of the cluster that runs, "" if there is none.
func (d *driven) read(name string) string {
	found, _ := filepath.Glob(filepath.Join(d.tmp, "aucemu*", name))
	if len(found) == 0 {
		return ""
	}
	text, _ := os.ReadFile(found[0])
	return string(text)
}

// jobsEnded is how many have, and submitted whether so many have been.
func (d *driven) jobsEnded() int { return strings.Count(d.read("state/jobcomp"), "\n") }
func (d *driven) submitted(n int) bool {
	return strings.Contains(d.read("log/slurmctld.log"), fmt.Sprintf("submit_batch_job: JobId=%d ", n))
}

// children are the command's, by their programs' names. The reapers are called sh.
func (d *driven) children(name string) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		pid, rest, _ := strings.Cut(string(text), " (")
		comm, rest, _ := strings.Cut(rest, ") ")
		fields := strings.Fields(rest) // state, parent
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(d.cmd.Process.Pid) && comm == name {
			n, _ := strconv.Atoi(pid)
			found = append(found, n)
		}
	}
	return found
}

func killAll(pids ...int) {
	for _, p := range pids {
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// nothingLeft checks, within five seconds, that of the command's clusters there is no
// process, no socket, no mount, and no file either, unless nobody is left to remove them.
func (d *driven) nothingLeft(t *testing.T, files bool) {
	t.Helper()
	var left []string
	clean := func() bool {
		left = append(processesOf(d.tmp), listening(d.ports)...)
		for _, m := range mounts(t) {
			if !slices.Contains(d.mounts, m) {
				left = append(left, "mount "+m)
			}
		}
		if files {
			found, _ := filepath.Glob(d.tmp + "/*")
			left = append(left, found...)
		}
		return len(left) == 0
	}
	for end := time.Now().Add(5 * time.Second); !clean() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	require.Empty(t, left)
}

// processesOf are the processes that have something to do with the directory: by their
// environment, their command line, an open file, or where they work.
func processesOf(dir string) []string {
	var found []string
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		text, _ := os.ReadFile(p + "/cmdline")
		environ, _ := os.ReadFile(p + "/environ")
		about := string(text)
		for v := range strings.SplitSeq(string(environ), "\x00") {
			if !strings.HasPrefix(v, "TMPDIR=") { // the command has this itself
				about += " " + v
			}
		}
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range append(links, p+"/cwd") {
			to, _ := os.Readlink(l)
			about += " " + to
		}
		if strings.Contains(about, dir) {
			// a reaper's begins with its text
			found = append(found, fmt.Sprintf("%s %q", p, text[max(0, len(text)-200):]))
		}
	}
	return found
}

// listening are those of the ports at which somebody listens.
func listening(ports []int) []string {
	var found []string
	text, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.SplitSeq(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "0A" {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		port, _ := strconv.ParseInt(hex, 16, 32)
		if slices.Contains(ports, int(port)) {
			found = append(found, fmt.Sprintf("port %d", port))
		}
	}
	return found
}

func mounts(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/mounts")
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}
