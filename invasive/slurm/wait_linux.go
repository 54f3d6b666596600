// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"errors"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
)

// Pauses between two questions about a job, which double from the first to the last. While a job's
// steps run nobody is asked.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Wait has Slurm start a job, unless it has, and blocks until the job has ended. Slurm may
// have forgotten a release, or a start, if slurmctld was killed just after it: a release is
// said again, a job that had started isn't started again but cancelled. A job that Slurm
// requeues keeps its CPUs.
func (l *Launcher) Wait(id invasive.JobID) (int32, error) {
	j, err := l.get(id)
	if err != nil {
		return 0, err
	}
	for pause := l.first; ; {
		if err := l.ctx.Err(); err != nil {
			return 0, err
		}
		if l.steps(j) {
			pause = l.first
			l.pause(j, l.settle(j))
			continue
		}
		code, ended, err := l.ask(j)
		if ended {
			return code, l.markEnded(id, code)
		}
		most := lastPause
		if err != nil {
			if most = DownPause; pause == l.first {
				l.Log.Warn("Slurm doesn't say how a job is", "job", uint64(id), "why", err)
			}
		}
		l.pause(j, pause)
		pause = min(2*pause, most)
	}
}

// steps tells whether some run.
func (l *Launcher) steps(j *job) bool {
	l.look()
	return len(j.stepds()) > 0
}

// settle has a job go on that was suspended by an earlier Launcher, and isn't to be any more,
// and asks whose it is if somebody else has released it. It returns until when there is nothing
// to ask. The job goes on first: whose it is matters to who connects only, and the question may
// have no answer for long.
func (l *Launcher) settle(j *job) time.Duration {
	on, known := l.settleRunning(j), l.settleUser(j)
	if on && known {
		return time.Hour
	}
	return lastPause
}

// settleRunning tells whether the job runs, or is to be suspended, for sure.
func (l *Launcher) settleRunning(j *job) bool {
	j.hand.Lock()
	defer j.hand.Unlock()
	return j.running != unknown || j.cpus != nil && l.goOn(j) == nil
}

// settleUser tells whether it is known whose the job is.
func (l *Launcher) settleUser(j *job) bool {
	if _, known := j.user(); known {
		return true
	}
	st, err := l.Client.Job(l.ctx, uint64(j.id))
	return err == nil && l.noteUser(j, st.UID) == nil
}

// pause ends early if the job's steps change.
func (l *Launcher) pause(j *job, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-j.wake:
	case <-l.ctx.Done():
	}
}

// ask asks slurmctld about a job without steps, and has it started if it is held.
func (l *Launcher) ask(j *job) (code int32, ended bool, err error) {
	st, err := l.Client.Job(l.ctx, uint64(j.id))
	switch {
	case errors.Is(err, ErrNoJob):
		return launch.LostExit, true, nil
	case err != nil:
		return 0, false, err
	case st.Ended():
		return st.Exit, true, nil
	case st.Name != "PENDING":
		return 0, false, nil // it is just starting, or ending
	case st.Partition != l.Partition:
		l.Log.Error("a job was moved to another partition, and isn't started", "job", uint64(j.id), "partition", st.Partition)
		return launch.UnlaunchedExit, true, nil
	}
	if err := l.noteUser(j, st.UID); err != nil || !st.Held {
		return 0, false, err
	}
	return l.release(j, st.Restarts)
}

// release has a held job started. One that was released before is held again since slurmctld has
// forgotten it, or since somebody wants it.
func (l *Launcher) release(j *job, restarts uint32) (code int32, ended bool, err error) {
	before, released, err := l.released(j.id)
	switch {
	case err != nil:
		return 0, false, err
	case released && restarts > before:
		l.Log.Info("a job was requeued, and is held: it is negotiated again", "job", uint64(j.id))
		return launch.LostExit, true, nil
	case released && j.wasStarted():
		l.Log.Error("slurmctld has forgotten the start of a job; it is cancelled, as it must not run twice", "job", uint64(j.id))
		if err := l.Client.Cancel(l.ctx, uint64(j.id)); err != nil {
			return 0, false, err
		}
		return launch.LostExit, true, nil
	case !released:
		if err := l.markReleased(j.id, restarts); err != nil {
			return 0, false, err
		}
	}
	l.Log.Info("released", "job", uint64(j.id))
	return 0, false, l.Client.Release(l.ctx, uint64(j.id), l.Node)
}
