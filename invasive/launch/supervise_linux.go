// SPDX-License-Identifier: BSD-3-Clause

package launch

import (
	"errors"
	"fmt"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive/procs"
)

// Exit statuses of jobs. One that was ended by signal n has 128 + n.
const (
	NotFound    = 127 // there is no such programme
	NotRunnable = 126 // it can't be run
	// LostExit is that of a job whose supervisor was killed: how it ended nobody knows, but it has.
	LostExit = -1
	// UnlaunchedExit is that of a job for which not even a supervisor could be started.
	UnlaunchedExit = -2
)

// startTime is how long a supervisor waits for another one that has the lock, and a
// Launcher for a mark.
const startTime = 30 * time.Second

// Supervise is all that a supervisor does: it runs the job of a directory, and returns when that
// has ended. It is to be called by a process of its own. Point is for tests, as in [Config].
func Supervise(dir string, point func(string)) error {
	runtime.LockOSThread() // the thread whose CPUs the job inherits, and with whose end it dies
	signals := make(chan os.Signal, 1)
	// those are for the iHypervisor
	ossignal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	if point == nil {
		point = func(string) {}
	}
	var s spec
	if err := readFile(filepath.Join(dir, "spec"), &s); err != nil {
		return err
	}
	held, err := lockUnmarked(dir)
	if held == nil || err != nil {
		return err
	}
	defer held.Close()
	set, err := procs.CPUSet(s.CPUs)
	if err != nil {
		return err
	}
	if err = unix.SchedSetaffinity(0, set); err != nil {
		return fmt.Errorf("CPUs %v: %w", s.CPUs, err)
	}
	if err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	self, err := procs.Identify(os.Getpid())
	if err != nil {
		return err
	}
	point("supervisor: before mark")
	if err = writeFile(filepath.Join(dir, "mark"), mark{self, time.Now(), s.Launch}); err != nil {
		return err
	}
	point("supervisor: after mark")
	if s.With != nil {
		go endWith(s.With)
	}
	code := s.run(filepath.Join(dir, "started"))
	point("supervisor: before exit")
	return writeFile(filepath.Join(dir, "exit"), exit{code})
}

// endWith ends the job when another process ends, until this one does.
func endWith(p *procs.Process) {
	if fd, err := p.Watch(); err == nil {
		err = procs.WaitFor(fd)
		fd.Close()
		if err != nil {
			return
		}
	} else if !procs.Gone(err) {
		return
	}
	for ; ; time.Sleep(procs.RoundTime) {
		_ = below(os.Getpid()).Signal(unix.SIGKILL)
	}
}

// lockUnmarked returns the lock, or nil if the job was launched by another supervisor, or
// is forgotten already.
func lockUnmarked(dir string) (*os.File, error) {
	for until := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		held, err := lock(filepath.Join(dir, "lock"))
		if err != nil {
			return nil, err
		}
		_, err = os.Stat(filepath.Join(dir, "mark"))
		// after the mark: a job that is forgotten loses it first
		_, gone := os.Stat(filepath.Join(dir, "spec"))
		switch {
		case err == nil || gone != nil:
			if held != nil {
				held.Close()
			}
			return nil, nil
		case held != nil:
			return held, nil
		case time.Now().After(until):
			return nil, errors.New("another supervisor has the lock, and doesn't start the job")
		}
	}
}

// run starts the job, makes the file started, and waits for all of it.
func (s *spec) run(started string) int32 {
	out, errs, err := s.outputs()
	if err != nil {
		return NotRunnable
	}
	pid, err := s.start(out, errs)
	if err != nil {
		fmt.Fprintf(errs, "aucsched: %v\n", err)
	}
	out.Close()
	errs.Close()
	if e := os.WriteFile(started, nil, 0o600); e != nil && err == nil {
		unix.Kill(pid, unix.SIGKILL) // nobody could take its CPUs from it
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return NotFound
	case err != nil:
		return NotRunnable
	}
	return reap(pid)
}

func (s *spec) start(out, errs *os.File) (int, error) {
	if len(s.Args) == 0 {
		return 0, fmt.Errorf("no command: %w", os.ErrNotExist)
	}
	args, env := Texts(s.Args), Texts(s.Env)
	path, err := lookPath(args[0], s.Dir, env)
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Dir: s.Dir, Env: env, Files: []uintptr{null.Fd(), out.Fd(), errs.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL},
	}
	if s.UID != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: *s.UID, Gid: *s.GID, Groups: s.Groups}
	}
	pid, err := syscall.ForkExec(path, args, attr)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", args[0], err)
	}
	return pid, nil
}

// outputs opens both files for appending; they belong to the job's user.
func (s *spec) outputs() (out, errs *os.File, err error) {
	open := func(path string) (*os.File, error) {
		if err := s.clear(path); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
		if err == nil && s.UID != nil {
			err = f.Chown(int(*s.UID), int(*s.GID))
		}
		return f, err
	}
	out, err1 := open(s.Out)
	errs, err2 := open(s.Err)
	return out, errs, errors.Join(err1, err2)
}

// maxAside is how many files may lie beside one that has their name now.
const maxAside = 10000

// clear moves aside the file of another user whose job had the same number, as PATH.1, PATH.2 and
// so on: neither may read or write what is the other's. One of the job's own user is gone on with.
func (s *spec) clear(path string) error {
	ours := uint32(os.Geteuid())
	if s.UID != nil {
		ours = *s.UID
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || st.Uid == ours {
		return nil // or the file can't be opened either
	}
	for n := range maxAside {
		aside := fmt.Sprintf("%s.%d", path, n+1)
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			return os.Rename(path, aside)
		}
	}
	return fmt.Errorf("%s: is another user's, and so are %d beside it", path, maxAside)
}

// lookPath finds a programme as a shell would, with the job's PATH.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := DefaultPath
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, in := range filepath.SplitList(path) {
		if !filepath.IsAbs(in) {
			in = filepath.Join(dir, in)
		}
		full := filepath.Join(in, name)
		if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	return "", fmt.Errorf("%s: not in PATH: %w", name, os.ErrNotExist)
}

// DefaultPath is where a job's command is looked for if its environment has no PATH.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

// reap waits for the job's first process, then ends the rest: as their reaper this
// process gets them all.
func reap(first int) (code int32) {
	ended := false
	for {
		if ended {
			below(os.Getpid()).Signal(unix.SIGKILL)
		}
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // no child is left
			return code
		case pid == first:
			ended, code = true, int32(status.ExitStatus())
			if status.Signaled() {
				code = 128 + int32(status.Signal())
			}
		}
	}
}

// Texts are words as strings.
func Texts(words []Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// Words are texts as words.
func Words(texts []string) []Word {
	list := make([]Word, len(texts))
	for i, t := range texts {
		list[i] = Word(t)
	}
	return list
}
