// SPDX-License-Identifier: BSD-3-Clause

package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/procs"
)

var errUnknown = errors.New("it was not launched")

// Wait blocks until a job has ended, and returns its exit status. If its supervisor was killed,
// what is left of the job is killed as well.
func (l *Launcher) Wait(id invasive.JobID) (int32, error) {
	r, ok := l.get(id)
	if !ok {
		return 0, fmt.Errorf("job %d: %w", id, errUnknown)
	}
	if fd, err := r.mark.Supervisor.Watch(); err == nil {
		err = procs.WaitFor(fd)
		fd.Close()
		if err != nil {
			return 0, err
		}
	} else if !procs.Gone(err) {
		return 0, err
	}
	var e exit
	err := readFile(filepath.Join(l.dir(id), "exit"), &e)
	if !errors.Is(err, os.ErrNotExist) {
		return e.Code, err
	}
	return LostExit, killMarked(r.mark.Launch)
}

// killMarked ends all processes of a launch whose supervisor is gone.
func killMarked(launch string) error {
	entry := []byte("\x00" + launchVariable + "=" + launch + "\x00")
	for until := time.Now().Add(procs.RestTime); time.Now().Before(until); time.Sleep(procs.RoundTime) {
		found := false
		for _, pid := range procs.Numbers("/proc") {
			env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err == nil && bytes.Contains(append([]byte{0}, env...), entry) {
				found = true
				unix.Kill(pid, unix.SIGKILL)
			}
		}
		if !found {
			return nil
		}
	}
	return procs.ErrRestless
}

// Confine lets a job run on these CPUs only, and goes on with it if it was halted. A thread that
// has bound itself to some of them stays there, but with force.
func (l *Launcher) Confine(id invasive.JobID, cpus []int, force bool) error {
	set, err := procs.CPUSet(cpus)
	if err != nil {
		return err
	}
	return l.with(id, func(r *run, root int) error {
		if err := below(root).Confine(&r.before, set, force); err != nil {
			return err
		}
		r.before = *set
		return below(root).Signal(unix.SIGCONT)
	})
}

// Halt stops all processes of a job where they are.
func (l *Launcher) Halt(id invasive.JobID) error {
	return l.with(id, func(_ *run, root int) error { return below(root).Halt() })
}

// Signal sends a signal to all processes of a job.
func (l *Launcher) Signal(id invasive.JobID, sig unix.Signal) error {
	return l.with(id, func(_ *run, root int) error { return below(root).Signal(sig) })
}

// with calls f unless the job's supervisor is gone: then it has no processes any more,
// or Wait sees to them.
func (l *Launcher) with(id invasive.JobID, f func(*run, int) error) error {
	r, ok := l.get(id)
	if !ok {
		return fmt.Errorf("job %d: %w", id, errUnknown)
	}
	if !r.mark.Supervisor.Is() {
		return nil
	}
	if err := f(&r, r.mark.Supervisor.PID); err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.runs[id]; ok {
		l.runs[id] = r
	}
	return nil
}

// Started returns when a job was launched.
func (l *Launcher) Started(id invasive.JobID) (time.Time, bool) {
	r, ok := l.get(id)
	return r.mark.At, ok
}

// JobOf returns the job that a process belongs to: the one whose supervisor is above it. Processes
// of another user than the jobs' have none.
func (l *Launcher) JobOf(pid int, uid uint32) (invasive.JobID, bool) {
	ours := uint32(os.Geteuid())
	if l.Credential != nil {
		ours = l.Credential.Uid
	}
	if uid != ours {
		return 0, false
	}
	above := map[int]bool{}
	for p, n := pid, 0; p > 1 && n < 10000; n++ {
		s, err := procs.ReadStat(p)
		if err != nil {
			return 0, false
		}
		p = s.Parent
		above[p] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, r := range l.runs {
		if s := r.mark.Supervisor; above[s.PID] && s.Is() {
			return id, true
		}
	}
	return 0, false
}

// Processes returns the process IDs of a job.
func (l *Launcher) Processes(id invasive.JobID) (pids []int) {
	l.with(id, func(_ *run, root int) error { pids = procs.Below(root); return nil })
	return pids
}

// Forget removes what is kept of a job that has ended; its output stays.
func (l *Launcher) Forget(id invasive.JobID) error {
	if r, ok := l.get(id); ok && r.mark.Supervisor.Is() && alive(r.mark.Supervisor.PID) {
		return fmt.Errorf("job %d: its supervisor, process %d, runs", id, r.mark.Supervisor.PID)
	}
	l.mu.Lock()
	delete(l.runs, id)
	l.mu.Unlock()
	// First what a supervisor can't do without: one that comes late mustn't take the missing mark
	// for a job that wasn't launched.
	if err := os.Remove(filepath.Join(l.dir(id), "spec")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(l.dir(id))
}

// below is the family of all below a process.
func below(root int) procs.Family { return func() []int { return procs.Below(root) } }
