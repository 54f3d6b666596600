// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/procs"
)

// Each step of a job on a node has a slurmstepd, which is above all its processes, and listens on a
// socket in slurmd's spool directory, NODE_JOB.STEP, from before it starts any.

// stepSocket reads the name of such a socket; ok is false for other files.
func stepSocket(name, node string) (job uint64, ok bool) {
	rest, ok := strings.CutPrefix(name, node+"_")
	if !ok {
		return 0, false
	}
	id, step, ok := strings.Cut(rest, ".")
	if !ok || step == "" || strings.Trim(step, "0123456789.") != "" {
		return 0, false
	}
	job, err := strconv.ParseUint(id, 10, 32)
	return job, err == nil && job > 0
}

// stepdOf is the process that listens on a step's socket: the kernel says so to who connects.
func stepdOf(path string) (procs.Process, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	c, err := link.DialUnix(ctx, path)
	if err != nil {
		return procs.Process{}, err
	}
	defer c.Close()
	peer, err := link.PeerOf(c)
	if err != nil {
		return procs.Process{}, err
	}
	return procs.Identify(peer.PID)
}

// A watcher tells of new files in a directory.
type watcher struct {
	file *os.File
	wake chan struct{}
}

// watchDir tells by wake that there may be something new in a directory, until it is closed. Events
// aren't counted: who is woken looks.
func watchDir(dir string, log *slog.Logger) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	w := &watcher{os.NewFile(uintptr(fd), "inotify"), make(chan struct{}, 1)}
	// IN_ATTRIB: a stepd changes the mode of its socket once that listens.
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_ATTRIB|unix.IN_DELETE|unix.IN_MOVED_TO|unix.IN_ONLYDIR); err != nil {
		w.file.Close()
		return nil, fmt.Errorf("slurmd's spool directory %s: %w", dir, err)
	}
	go func() {
		buffer := make([]byte, 16<<10)
		for {
			if _, err := w.file.Read(buffer); err != nil {
				if !errors.Is(err, os.ErrClosed) {
					log.Error("slurmd's spool directory isn't watched any more; it is looked at from time to time", "why", err)
				}
				return
			}
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}()
	return w, nil
}

// look finds the steps of our jobs that aren't known yet, and forgets those that have ended. It
// returns the jobs that something has changed about.
func (l *Launcher) look() (changed []*job) {
	l.looking.Lock()
	defer l.looking.Unlock()
	names, err := readNames(l.Spool)
	if err != nil {
		l.Log.Error("slurmd's spool directory can't be read", "why", err)
		return nil
	}
	l.mu.Lock()
	jobs := make(map[uint64]*job, len(l.jobs))
	for id, j := range l.jobs {
		jobs[uint64(id)] = j
	}
	l.mu.Unlock()
	for _, name := range names {
		id, ok := stepSocket(name, l.Node)
		if j := jobs[id]; ok && j != nil && l.enter(j, name) {
			changed = append(changed, j)
		}
	}
	for _, j := range jobs {
		if j.prune() {
			changed = append(changed, j)
		}
	}
	return changed
}

// enter takes a step in; it returns whether it is a new one.
func (l *Launcher) enter(j *job, name string) bool {
	if p, known := j.stepd(name); known && p.Is() {
		return false
	}
	p, err := stepdOf(filepath.Join(l.Spool, name))
	if err != nil {
		return false // it has just ended, or doesn't listen yet
	}
	first := j.add(name, p)
	if first {
		l.markStarted(j)
	}
	return true
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
