// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/invasive"
)

// A job's directory, named by its number, is the mark that it is Slurm's to
// start. It has these files:
//
//	user      whose it is, by number
//	released  how often it had been requeued when it was released
//	started   since Slurm has started it
//	exit      how it ended

func (l *Launcher) dir(id invasive.JobID) string {
	return filepath.Join(l.Dir, strconv.FormatUint(uint64(id), 10))
}

// mark may find one of a launch that was under way when this programme was killed.
func (l *Launcher) mark(id invasive.JobID) error {
	if err := os.Mkdir(l.dir(id), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.SyncDir(l.Dir)
}

func (l *Launcher) markStarted(j *job) {
	path := filepath.Join(l.dir(j.id), "started")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Close(), durable.SyncDir(l.dir(j.id)))
	}
	if err != nil {
		l.Log.Error("that a job has started can't be written down", "job", uint64(j.id), "why", err)
	}
}

// noteUser writes down whose a job is, before Slurm starts it: only processes of that user are
// taken for the job's.
func (l *Launcher) noteUser(j *job, uid uint32) error {
	if known, is := j.user(); is && known == uid {
		return nil
	}
	if err := l.writeNumber(j.id, "user", int64(uid)); err != nil {
		return err
	}
	j.setUser(uid)
	return nil
}

func (l *Launcher) markReleased(id invasive.JobID, restarts uint32) error {
	return l.writeNumber(id, "released", int64(restarts))
}

func (l *Launcher) released(id invasive.JobID) (restarts uint32, is bool, err error) {
	n, is, err := l.readNumber(id, "released")
	return uint32(n), is, err
}

func (l *Launcher) markEnded(id invasive.JobID, code int32) error {
	return l.writeNumber(id, "exit", int64(code))
}

// exit returns how a job has ended, if it has.
func (l *Launcher) exit(id invasive.JobID) (code int32, ended bool, err error) {
	n, ended, err := l.readNumber(id, "exit")
	return int32(n), ended, err
}

func (l *Launcher) writeNumber(id invasive.JobID, name string, n int64) error {
	return durable.Write(filepath.Join(l.dir(id), name), fmt.Appendln(nil, n))
}

// readNumber tells whether there is such a file.
func (l *Launcher) readNumber(id invasive.JobID, name string) (n int64, is bool, err error) {
	path := filepath.Join(l.dir(id), name)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, false, nil
	}
	if err == nil {
		if n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 33); err != nil {
			err = fmt.Errorf("%s:1: %.20q is no number", path, text)
		}
	}
	return n, true, err
}

// marks are the jobs that have one.
func (l *Launcher) marks() (list []*job, err error) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("directory %s: %q is no job", l.Dir, e.Name())
		}
		j := newJob(invasive.JobID(n), l.Socket)
		j.running = unknown
		path := l.dir(j.id)
		if st, err := os.Stat(filepath.Join(path, "started")); err == nil {
			j.started, j.at = true, st.ModTime()
		} else if st, err := os.Stat(path); err == nil {
			j.at = st.ModTime()
		}
		uid, is, err := l.readNumber(j.id, "user")
		if err != nil {
			return nil, err
		}
		if is {
			j.setUser(uint32(uid))
		}
		list = append(list, j)
	}
	return list, nil
}

// Forget removes the mark of a job that has ended.
func (l *Launcher) Forget(id invasive.JobID) error {
	l.mu.Lock()
	delete(l.jobs, id)
	l.mu.Unlock()
	return errors.Join(os.RemoveAll(l.dir(id)), durable.SyncDir(l.Dir))
}
