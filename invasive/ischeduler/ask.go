// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/queue"
)

// An Info is what is told of a job.
type Info struct {
	ID       uint64    `json:"id"`
	State    string    `json:"state"`
	Kind     string    `json:"kind"`
	MinCores uint32    `json:"min_cores"`
	MaxCores uint32    `json:"max_cores"`
	Cores    uint32    `json:"cores"` // that it has, by the last report
	Urgent   bool      `json:"urgent,omitempty"`
	Priority uint32    `json:"priority,omitempty"`
	Since    time.Time `json:"submitted"`
	Deadline time.Time `json:"deadline,omitzero"`
	Exit     int32     `json:"exit"`
	Args     []string  `json:"args"`
}

// A Status is what is told of the iScheduler.
type Status struct {
	Connected bool   `json:"connected"`
	Partition string `json:"partition,omitempty"`
	Cores     uint64 `json:"cores"`
	FreeCores uint32 `json:"free_cores"`
	// Busy is the share of busy cores between the last two reports, in thousandths.
	Busy    uint32 `json:"busy_permille"`
	Jobs    int    `json:"jobs"`
	Waiting int    `json:"waiting"`
	Limit   int    `json:"limit"`
	Peers   string `json:"peers,omitempty"` // see link.Stats
}

var (
	errOver      = errors.New("the iScheduler has ended")
	errBusy      = errors.New("the iScheduler doesn't answer")
	errConnected = errors.New("there is no connection to the iHypervisor, and only it can tell whether it has the job")
)

// askTime is how long the Runner may take.
const askTime = 10 * time.Second

// inRunner has f called in the Runner's goroutine, and waits until it is through.
func (s *Scheduler) inRunner(f func()) error {
	done, late := make(chan struct{}), make(chan struct{})
	stop := s.Clock.AfterFunc(askTime, func() { close(late) })
	defer stop()
	s.runner.Call(func() { f(); close(done) })
	select {
	case <-done:
		return nil
	case <-s.over:
		return errOver
	case <-late:
		return errBusy
	}
}

// Submit takes a job, and returns its ID when it is on the disk. The error may be a
// *queue.FullError, or name the field that is wrong.
func (s *Scheduler) Submit(spec *Spec) (id invasive.JobID, err error) {
	if s.Elsewhere != "" {
		return 0, errors.New(s.Elsewhere)
	}
	if _, err := spec.job(1, s.Clock.Now()); err != nil {
		return 0, err
	}
	asked := s.inRunner(func() {
		if s.queue.Full() {
			err = &queue.FullError{Limit: s.Limit}
			return
		}
		if id, err = s.ids.take(); err != nil {
			return
		}
		var j *invasive.Job
		if j, err = spec.job(id, s.Clock.Now()); err != nil {
			return
		}
		if err = s.queue.Add(entry(j)); err == nil {
			s.runner.Post(invasive.Event{Kind: invasive.Submit, Job: j})
		}
	})
	if asked != nil || err != nil {
		return 0, errors.Join(asked, err)
	}
	return id, s.inRunner(func() {}) // behind the event, which has saved the job
}

// Cancel takes back a job that waits. It fails if the iHypervisor has the job, or might have it.
func (s *Scheduler) Cancel(id invasive.JobID) (err error) {
	if s.Elsewhere != "" {
		return errors.New(s.Elsewhere)
	}
	asked := s.inRunner(func() {
		if _, ok := s.queue.Get(id); !ok {
			err = fmt.Errorf("job %d: there is none", id)
			return
		}
		if !s.connected() {
			err = errConnected
			return
		}
		s.runner.Post(invasive.Event{Kind: invasive.Cancel, ID: id})
	})
	if asked != nil || err != nil {
		return errors.Join(asked, err)
	}
	asked = s.inRunner(func() {
		if _, ok := s.queue.Get(id); ok {
			err = fmt.Errorf("job %d: the iHypervisor has it, or is being asked", id)
		}
	})
	return errors.Join(asked, err)
}

// List returns the jobs, ascending by ID, those that ended among them.
func (s *Scheduler) List() (list []Info, err error) {
	err = s.inRunner(func() {
		list = slices.Clone(s.ended)
		waits := make(map[invasive.JobID]bool)
		for _, j := range s.agent.Queue(nil) {
			waits[j.ID] = true
		}
		s.queue.Each(func(e queue.Entry) {
			info := infoOf(e)
			k, told := s.known[e.Job.ID]
			switch {
			case told:
				info.State, info.Cores, info.Exit = k.State.String(), k.Cores, k.Exit
			case waits[e.Job.ID], !s.connected():
				info.State = "waiting"
			default:
				info.State = "sent"
			}
			list = append(list, info)
		})
	})
	slices.SortFunc(list, func(a, b Info) int { return int(int64(a.ID) - int64(b.ID)) })
	return list, err
}

// Status says how it is.
func (s *Scheduler) Status() (st Status, err error) {
	err = s.inRunner(func() {
		st = Status{Connected: s.connected(), Partition: s.partition.Name, Cores: s.partition.Cores(), Jobs: s.queue.Len(),
			Waiting: len(s.agent.Queue(nil)), Limit: s.Limit, Peers: s.Stats.String()}
		if s.load != nil {
			st.FreeCores, st.Busy = s.load.FreeCores, s.load.Busy
		}
	})
	return st, err
}

func infoOf(e queue.Entry) Info {
	j := e.Job
	info := Info{ID: uint64(j.ID), Kind: j.Flex.String(), MinCores: j.MinCores,
		MaxCores: j.MaxCores, Urgent: j.Urgent, Priority: j.Priority,
		Since: time.Unix(0, int64(e.Submitted)).UTC(), Args: j.Args}
	if e.Deadline > 0 {
		info.Deadline = time.Unix(0, int64(e.Deadline)).UTC()
	}
	return info
}
