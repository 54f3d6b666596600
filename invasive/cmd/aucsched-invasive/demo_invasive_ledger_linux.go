// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/malleable"
)

// A ledger is whose cores are, by the iHypervisor's trace. A job of 0 is none.
type ledger struct{ owner []int }

func newLedger(cores int) ledger { return ledger{make([]int, cores)} }

// take reads a line of the trace, and says what has changed, "" if nothing has.
func (l *ledger) take(line string) string {
	var job, exit int
	var list string
	if n, _ := fmt.Sscanf(line, "job %d is asked for cores %s", &job, &list); n == 2 {
		return fmt.Sprintf("job %d is asked for cores %s", job, list)
	}
	if n, _ := fmt.Sscanf(line, "job %d ended with %d", &job, &exit); n == 2 {
		l.give(job, nil)
		return fmt.Sprintf("job %d has ended with %d", job, exit)
	}
	if n, _ := fmt.Sscanf(line, "job %d owns cores %s", &job, &list); n != 2 {
		return ""
	}
	cores, _ := malleable.ParseList(list) // "none" has none
	before := len(l.of(job))
	l.give(job, cores)
	switch {
	case before == 0:
		return fmt.Sprintf("job %d starts on %d cores", job, len(cores))
	case len(cores) < before:
		return fmt.Sprintf("job %d has let go of %d cores, and keeps %d", job, before-len(cores), len(cores))
	}
	return fmt.Sprintf("job %d grows from %d to %d cores", job, before, len(cores))
}

func (l *ledger) give(job int, cores []int) {
	for c, owner := range l.owner {
		if owner == job {
			l.owner[c] = 0
		}
	}
	for _, c := range cores {
		if c < len(l.owner) {
			l.owner[c] = job
		}
	}
}

// of are a job's cores.
func (l *ledger) of(job int) (cores []int) {
	for c, owner := range l.owner {
		if owner == job {
			cores = append(cores, c)
		}
	}
	return cores
}

// jobs are those that own cores.
func (l *ledger) jobs() (list []int) {
	for _, owner := range l.owner {
		if owner != 0 && !slices.Contains(list, owner) {
			list = append(list, owner)
		}
	}
	slices.Sort(list)
	return list
}

// marks gives each job a letter of its own as far as they last.
const marks = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// bar has a mark for each core: its job's, or a dot.
func (l *ledger) bar() string {
	b := bytes.Repeat([]byte{'.'}, len(l.owner))
	for c, owner := range l.owner {
		if owner != 0 {
			b[c] = marks[min(owner, len(marks))-1]
		}
	}
	return string(b)
}

// coresOf are the CPUs of each core of such a partition on this host.
func coresOf(n int) ([][]int, error) {
	t, err := ihypervisor.Simulate(invasive.Partition{Nodes: 1, Sockets: 1, CoresPerSocket: uint32(n)}, systemCPUs, true)
	if err != nil {
		return nil, err
	}
	return t.CPUs, nil
}

func hostCPUs(cpus [][]int) []int {
	list := slices.Concat(cpus...)
	slices.Sort(list)
	return slices.Compact(list)
}

// listOf are the CPUs of cores as the kernel writes them.
func listOf(cpus [][]int, cores []int) string {
	var list [][]int
	for _, c := range cores {
		list = append(list, cpus[c])
	}
	return malleable.FormatList(hostCPUs(list))
}

// jobProcesses are a job's processes, by their environment.
func jobProcesses(dir string, job int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		vars := strings.Split(string(env), "\x00")
		if slices.Contains(vars, "AUCSCHED_INVASIVE_JOB="+strconv.Itoa(job)) &&
			slices.ContainsFunc(vars, func(v string) bool { return strings.HasPrefix(v, malleable.Variable+"="+dir) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// allowedOf are the CPUs that each thread of a process may run on, as the kernel writes them.
func allowedOf(pid int) (lists []string) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		if _, rest, ok := strings.Cut(string(text), "Cpus_allowed_list:\t"); ok {
			list, _, _ := strings.Cut(rest, "\n")
			lists = append(lists, list)
		}
	}
	return lists
}

// programmes are the two, and what they need.
type programmes struct {
	dir, exe string
	started  []*exec.Cmd
	logs     []*bytes.Buffer
}

func (p *programmes) schedulerDir() string { return filepath.Join(p.dir, "scheduler") }

func (p *programmes) start(extra *os.File, args ...string) error {
	c := exec.Command(p.exe, args...)
	log := &bytes.Buffer{}
	c.Stderr = log
	// an interrupt is for this one, which ends them in order
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if extra != nil {
		c.ExtraFiles = []*os.File{extra}
	}
	if err := c.Start(); err != nil {
		return err
	}
	p.started, p.logs = append(p.started, c), append(p.logs, log)
	return nil
}

// hypervisor starts the iHypervisor, and returns the lines of its trace.
func (p *programmes) hypervisor(cores int, shrink time.Duration) (<-chan string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"ihypervisor", "--socket", "unix:" + filepath.Join(p.dir, "run", "socket"), "--state", filepath.Join(p.dir, "state"),
		"--cores", strconv.Itoa(cores), "--oversubscribe", "--report", "200ms", "--offer-every", "200ms", "--shrink-time", shrink.String(),
		"--trace", "/proc/self/fd/3"}
	if os.Geteuid() == 0 {
		args = append(args, "--user", "root")
	}
	err = p.start(w, args...)
	_ = w.Close()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			select {
			case lines <- s.Text():
			default: // nobody looks any more
			}
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	return lines, nil
}

func (p *programmes) scheduler() error {
	return p.start(nil, "ischeduler", "--dir", p.schedulerDir(), "--connect",
		"unix:"+filepath.Join(p.dir, "run", "socket"), "--report", "200ms")
}

// end ends the jobs and both programmes, in order if they let themselves be.
func (p *programmes) end() (err error) {
	for _, name := range []string{"stop", "urgent"} {
		_ = os.WriteFile(filepath.Join(p.dir, name), nil, 0o600)
	}
	var left []int
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left = nil
		for job := 1; job <= 4; job++ {
			left = append(left, jobProcesses(p.dir, job)...)
		}
		if len(left) == 0 || time.Now().After(until) {
			break
		}
	}
	for _, pid := range left {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for i, c := range slices.Backward(p.started) { // the iScheduler first
		_ = c.Process.Signal(unix.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		if e := c.Wait(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w: %s", c.Args[1], e, p.logs[i]))
		}
		kill.Stop()
	}
	for until := time.Now().Add(5 * time.Second); p.supervised() && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// supervised tells whether a supervisor is left, which writes down its job's end.
func (p *programmes) supervised() bool {
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(commands, func(path string) bool {
		text, _ := os.ReadFile(path)
		return strings.Contains(string(text), supervisorName+"\x00"+p.dir)
	})
}
