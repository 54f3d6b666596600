// SPDX-License-Identifier: BSD-3-Clause

package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/procs"
)

// A Config says how jobs are run.
type Config struct {
	// Dir has a directory for each job, Output the files ID.out and ID.err; both have to be there.
	Dir, Output string
	// Supervisor is the command of a supervisor; the job's directory is added to it. It
	// has to call Supervise.
	Supervisor []string
	// Name is what the output of a job is called, without .out and .err; nil: its number.
	Name func(invasive.JobID) string
	// Credential is the user that jobs run as; nil: this process's.
	Credential *syscall.Credential
	// With is a process with whose end all jobs end; 0: none. A step of Slurm's has one: Slurm may
	// not find supervisors whose Launcher was killed.
	With int
	// Point, if set, is called between the steps of a launch, with its name; tests
	// end the process there.
	Point func(step string)
}

// A Launcher starts jobs, and knows those that run. It is safe for concurrent use, but what
// concerns one job has to be done in one order.
type Launcher struct {
	Config
	mu   sync.Mutex
	runs map[invasive.JobID]run
}

// A run is a job with a mark.
type run struct {
	mark   mark
	before unix.CPUSet // what it was confined to
}

// New returns a Launcher that knows of no job yet, see Find.
func New(c Config) *Launcher {
	if c.Point == nil {
		c.Point = func(string) {}
	}
	if c.Name == nil {
		c.Name = func(id invasive.JobID) string { return strconv.FormatUint(uint64(id), 10) }
	}
	return &Launcher{Config: c, runs: map[invasive.JobID]run{}}
}

func (l *Launcher) dir(id invasive.JobID) string {
	return filepath.Join(l.Dir, strconv.FormatUint(uint64(id), 10))
}

// Find returns the jobs that were launched before and not forgotten: what
// invasive.NewHypervisor wants to know. Each of those that haven't exited is to be given to
// Watch, and to Confine with force or Halt.
func (l *Launcher) Find() ([]invasive.Seen, error) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return nil, err
	}
	var seen []invasive.Seen
	for _, e := range entries {
		n, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("directory %s: %q is no job", l.Dir, e.Name())
		}
		id := invasive.JobID(n)
		m, err := l.marked(id)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.put(id, run{mark: m})
		s := invasive.Seen{ID: id}
		var ended exit
		if err := readFile(filepath.Join(l.dir(id), "exit"), &ended); err == nil {
			s.Exited, s.Exit = true, ended.Code
		}
		seen = append(seen, s)
	}
	return seen, nil
}

// marked waits for a supervisor that is about to write its mark, and to start the job.
func (l *Launcher) marked(id invasive.JobID) (m mark, err error) {
	for until := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		idle := !l.locked(id) // a mark comes before the lock is free again
		if m, err = l.readMark(id); err == nil || !errors.Is(err, os.ErrNotExist) || idle || time.Now().After(until) {
			return m, err
		}
	}
}

// readMark returns the mark once the job is started as well: before, nobody could take its CPUs
// from it. Without a mark the error is os.ErrNotExist.
func (l *Launcher) readMark(id invasive.JobID) (m mark, err error) {
	if err = readFile(filepath.Join(l.dir(id), "mark"), &m); err != nil {
		return m, err
	}
	for until := time.Now().Add(startTime); time.Now().Before(until); time.Sleep(time.Millisecond) {
		over := !m.Supervisor.Is() || !alive(m.Supervisor.PID)
		if _, err = os.Stat(filepath.Join(l.dir(id), "started")); err == nil || over {
			return m, nil
		}
	}
	return m, fmt.Errorf("job %d: its supervisor, process %d, doesn't start it", id, m.Supervisor.PID)
}

// Abandon sees to it that a launch that Find has not found is never begun, by a supervisor that
// comes late. It returns true if it has been begun meanwhile, and is known then.
func (l *Launcher) Abandon(id invasive.JobID) (launched bool, err error) {
	for until := time.Now().Add(startTime); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		held, err := lock(filepath.Join(l.dir(id), "lock"))
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if m, err := l.readMark(id); !errors.Is(err, os.ErrNotExist) {
			if held != nil {
				held.Close()
			}
			if err == nil {
				l.put(id, run{mark: m})
			}
			return err == nil, err
		}
		if held == nil {
			continue
		}
		err = l.Forget(id)
		held.Close()
		if !errors.Is(err, unix.ENOTEMPTY) { // a supervisor that looks for the lock makes it again
			return false, err
		}
	}
	return false, fmt.Errorf("job %d: somebody has its lock, and doesn't start it", id)
}

func (l *Launcher) locked(id invasive.JobID) bool {
	f, err := os.OpenFile(filepath.Join(l.dir(id), "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

func (l *Launcher) put(id invasive.JobID, r run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[id] = r
}

func (l *Launcher) get(id invasive.JobID) (run, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.runs[id]
	return r, ok
}

// Launch starts a job on CPUs, with env added to its environment, and returns when its mark
// is there. It may block for a while. After an error that isn't *UnlaunchedError the job
// may have been started.
func (l *Launcher) Launch(job *invasive.Job, cpus []int, env []string) error {
	dir := l.dir(job.ID)
	name := l.Name(job.ID)
	launch := dir // one of a kind
	s := spec{
		Args: Words(job.Args), Dir: job.Dir, CPUs: cpus, Launch: launch,
		Env: Words(append(append([]string{}, job.Env...), append(env, launchVariable+"="+launch)...)),
		Out: filepath.Join(l.Output, name+".out"), Err: filepath.Join(l.Output, name+".err"),
	}
	if c := l.Credential; c != nil {
		s.UID, s.GID, s.Groups = &c.Uid, &c.Gid, c.Groups
	}
	if s.Dir == "" {
		s.Dir = "/"
	}
	if l.With > 0 {
		with, err := procs.Identify(l.With)
		if err != nil {
			return &UnlaunchedError{err}
		}
		s.With = &with
	}
	set, err := procs.CPUSet(cpus)
	if err == nil {
		if err = os.Mkdir(dir, 0o700); errors.Is(err, os.ErrExist) {
			err = nil
		}
	}
	if err == nil {
		err = writeFile(filepath.Join(dir, "spec"), s)
	}
	if err != nil {
		return &UnlaunchedError{err}
	}
	l.Point("launch: before supervisor")
	m, err := l.supervise(job.ID)
	if err != nil {
		return err
	}
	l.Point("launch: after supervisor")
	l.put(job.ID, run{m, *set})
	return nil
}

const launchVariable = "AUCSCHED_INVASIVE_LAUNCH"

// An UnlaunchedError is a job that was certainly not started.
type UnlaunchedError struct{ Err error }

func (e *UnlaunchedError) Error() string { return "not launched: " + e.Err.Error() }
func (e *UnlaunchedError) Unwrap() error { return e.Err }

// supervise starts a supervisor, and waits for a mark, be it its own.
func (l *Launcher) supervise(id invasive.JobID) (m mark, err error) {
	dir := l.dir(id)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return m, &UnlaunchedError{err}
	}
	defer null.Close()
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return m, &UnlaunchedError{err}
	}
	defer log.Close()
	argv := append(append([]string{}, l.Supervisor...), dir)
	keepDescriptors()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []uintptr{null.Fd(), null.Fd(), log.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return m, &UnlaunchedError{err}
	}
	go collect(pid)
	for until := time.Now().Add(startTime); ; time.Sleep(time.Millisecond) {
		over := !alive(pid)
		m, err = l.readMark(id)
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, os.ErrNotExist):
			return m, err
		case over:
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			return m, &UnlaunchedError{fmt.Errorf("the supervisor has ended: %s", text[max(0, len(text)-200):])}
		case time.Now().After(until):
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// keepDescriptors has no process that this one starts inherit what this one has inherited, but for
// standard input, output and error.
func keepDescriptors() {
	for _, fd := range procs.Numbers("/proc/self/fd") {
		if fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

func alive(pid int) bool {
	s, err := procs.ReadStat(pid)
	return err == nil && s.State != 'Z'
}

// collect takes a child's end, without a thread while it runs.
func collect(pid int) {
	if fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err == nil {
		f := os.NewFile(uintptr(fd), "pidfd")
		procs.WaitFor(f)
		f.Close()
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			return
		}
	}
}
