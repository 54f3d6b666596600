// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/procs"
)

// A Config says whose jobs a Launcher starts.
type Config struct {
	// Dir has what survives a crash; it has to be there.
	Dir string
	// Partition is Slurm's, Node its only node, which is this host, as Slurm calls it. Spool is the
	// directory of that node's slurmd.
	Partition, Node, Spool string
	// Socket is where jobs that adapt connect, as they are told by auc_invasic_socket.
	Socket string
	Client Client
	Log    *slog.Logger
}

// A Launcher has Slurm start jobs that it holds, and keeps them to their CPUs. It is an
// ihypervisor.Launcher.
type Launcher struct {
	Config
	ctx     context.Context
	stop    context.CancelFunc
	all     sync.WaitGroup
	watch   *watcher
	looking sync.Mutex
	first   time.Duration // firstPause

	mu   sync.Mutex
	jobs map[invasive.JobID]*job
}

// sweepTime is how often all threads of all jobs are looked at: a process may have widened its own
// set of CPUs, or Slurm may have.
const sweepTime = time.Second

// New begins to watch slurmd's spool directory. Close ends it; jobs go on.
func New(c Config) (*Launcher, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	w, err := watchDir(c.Spool, c.Log)
	if err != nil {
		return nil, err
	}
	l := &Launcher{Config: c, watch: w, first: firstPause, jobs: map[invasive.JobID]*job{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.all.Add(1)
	go l.keep()
	return l, nil
}

// Close ends all that waits.
func (l *Launcher) Close() error {
	l.stop()
	err := l.watch.file.Close()
	l.all.Wait()
	return err
}

// keep has new steps run where their jobs do, from their beginning, and keeps all jobs there.
func (l *Launcher) keep() {
	defer l.all.Done()
	tick := time.NewTicker(sweepTime)
	defer tick.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.watch.wake:
			for _, j := range l.look() {
				l.hold(j)
			}
		case <-tick.C:
			l.look()
			for _, j := range l.list() {
				l.hold(j)
			}
		}
	}
}

func (l *Launcher) list() (list []*job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.jobs {
		list = append(list, j)
	}
	return list
}

// listOf are the jobs of a user.
func (l *Launcher) listOf(uid uint32) []*job {
	return slices.DeleteFunc(l.list(), func(j *job) bool {
		user, known := j.user()
		return !known || user != uid
	})
}

// hold keeps a job where it is to be. It returns false if somebody else is about to change that.
func (l *Launcher) hold(j *job) bool {
	if !j.hand.TryLock() {
		return false
	}
	defer j.hand.Unlock()
	if j.cpus == nil || len(j.stepds()) == 0 {
		return true
	}
	if err := j.family().Confine(j.cpus, j.cpus, false); err != nil && j.says(err) {
		l.Log.Error("a job can't be kept to its CPUs", "job", uint64(j.id), "why", err)
	}
	return true
}

func (l *Launcher) get(id invasive.JobID) (*job, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j := l.jobs[id]; j != nil {
		return j, nil
	}
	return nil, fmt.Errorf("job %d: it was not launched", id)
}

// Find returns the jobs that were launched before, and not forgotten.
func (l *Launcher) Find() (seen []invasive.Seen, err error) {
	marks, err := l.marks()
	if err != nil {
		return nil, err
	}
	for _, j := range marks {
		l.put(j)
		code, ended, err := l.exit(j.id)
		if err != nil {
			return nil, err
		}
		seen = append(seen, invasive.Seen{ID: j.id, Exited: ended, Exit: code})
	}
	return seen, nil
}

func (l *Launcher) put(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs[j.id] = j
}

// Launch writes down that a job is to be started; Wait sees to it that Slurm does. Env Slurm
// doesn't take any more: the plug-in has given the job what it needs.
func (l *Launcher) Launch(ij *invasive.Job, cpus []int, _ []string) error {
	if len(ij.Args) == 0 || ij.Args[0] != Command {
		return &launch.UnlaunchedError{Err: errors.New("it is none of Slurm's jobs")}
	}
	set, err := procs.CPUSet(cpus)
	if err == nil {
		err = l.mark(ij.ID)
	}
	if err != nil {
		return &launch.UnlaunchedError{Err: err}
	}
	j := newJob(ij.ID, l.Socket)
	j.cpus = set
	l.put(j)
	return nil
}

// Confine lets a job run on these CPUs only, and goes on with it if it is suspended.
func (l *Launcher) Confine(id invasive.JobID, cpus []int, force bool) error {
	set, err := procs.CPUSet(cpus)
	if err != nil {
		return err
	}
	j, err := l.get(id)
	if err != nil {
		return err
	}
	l.look() // what has begun before this mustn't be left out
	j.hand.Lock()
	defer j.hand.Unlock()
	before := j.cpus
	if before == nil {
		before = set
	}
	if err := j.family().Confine(before, set, force); err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	j.cpus = set
	return l.goOn(j)
}

// goOn resumes a job that is, or may be, suspended. The caller has it in its hand.
func (l *Launcher) goOn(j *job) error {
	if j.running == yes {
		return nil
	}
	if j.running == no {
		if err := l.Client.Resume(l.ctx, uint64(j.id)); err == nil {
			j.running = yes
			return j.below().Signal(unix.SIGCONT)
		}
	}
	// Who was killed, this programme or slurmctld, may have forgotten that it was suspended, or
	// that it was resumed.
	st, err := l.Client.Job(l.ctx, uint64(j.id))
	unsaid := err != nil && !errors.Is(err, ErrNoJob)
	if unsaid || err == nil && st.Name == "SUSPENDED" {
		// where squeue has no answer scontrol may do it all the same
		if err := l.Client.Resume(l.ctx, uint64(j.id)); err != nil {
			return err
		}
	}
	j.running = yes
	return j.below().Signal(unix.SIGCONT)
}

// Halt has Slurm suspend a job, for its books and its accounts, and returns when none of
// its threads can run.
func (l *Launcher) Halt(id invasive.JobID) error {
	j, err := l.get(id)
	if err != nil {
		return err
	}
	j.hand.Lock()
	defer j.hand.Unlock()
	j.running = unknown
	if err := l.suspend(j); err != nil {
		return err
	}
	j.running = no
	l.look()
	if err := j.below().Halt(); err != nil {
		return fmt.Errorf("job %d: %w", id, err)
	}
	return nil
}

// suspend asks for it. A job that is suspended already, after a crash of ours, is an
// error to Slurm alone.
func (l *Launcher) suspend(j *job) error {
	err := l.Client.Suspend(l.ctx, uint64(j.id))
	if err == nil {
		return nil
	}
	if st, e := l.Client.Job(l.ctx, uint64(j.id)); e == nil && st.Name == "SUSPENDED" {
		return nil
	}
	return err
}

// Signal ends a job: with SIGTERM Slurm asks it to, and ends it after KillWait; with SIGKILL
// it never runs again.
func (l *Launcher) Signal(id invasive.JobID, sig unix.Signal) error {
	j, err := l.get(id)
	if err != nil {
		return err
	}
	if sig == unix.SIGKILL {
		l.look()
		err = j.below().Signal(sig)
	}
	if e := l.Client.Cancel(l.ctx, uint64(id)); !errors.Is(e, ErrNoJob) {
		err = errors.Join(err, e)
	}
	return err
}

// Started returns when a job began, or was released if it hasn't yet.
func (l *Launcher) Started(id invasive.JobID) (time.Time, bool) {
	j, err := l.get(id)
	if err != nil {
		return time.Time{}, false
	}
	return j.began(), true
}

// JobOf returns the job that a process belongs to: the one of its user with a step whose
// slurmstepd is above it. All of that job is on its CPUs then. A user without jobs here costs no
// look at any process.
func (l *Launcher) JobOf(pid int, uid uint32) (invasive.JobID, bool) {
	if len(l.listOf(uid)) == 0 {
		return 0, false
	}
	above := procs.Above(pid)
	for _, looked := range []bool{false, true} {
		if looked {
			l.look()
		}
		for _, j := range l.listOf(uid) {
			if j.has(above) {
				l.holdNow(j)
				return j.id, true
			}
		}
	}
	return 0, false
}

// holdTime is how long one waits for somebody else who has a job in his hand.
const holdTime = time.Second

// holdNow returns when a job is where it is to be.
func (l *Launcher) holdNow(j *job) {
	for until := time.Now().Add(holdTime); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if l.hold(j) {
			return
		}
	}
}
