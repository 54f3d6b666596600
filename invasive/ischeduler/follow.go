// SPDX-License-Identifier: BSD-3-Clause

package ischeduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/aucsched/aucsched/invasive/slurm"
)

// An Outside job is kept by another programme, which has given it its number.
type Outside struct {
	ID        invasive.JobID
	Submitted time.Time
	Spec      Spec // its Deadline counts from Submitted
}

// Follow makes the queue what another programme says: of the list, which is all that waits
// there, it takes the jobs that it doesn't know, and jobs that wait here and not there are taken
// back, as [Scheduler.Cancel] does. So it does no harm to say the same twice, or after a crash.
// Jobs that can't be taken, since the queue is full or they make no sense, are named in the
// error; the others are.
func (s *Scheduler) Follow(list []Outside) error {
	there := make(map[invasive.JobID]bool, len(list))
	for i := range list {
		there[list[i].ID] = true
	}
	var faults []error
	asked := s.inRunner(func() {
		for i := range list {
			o, full := &list[i], (*queue.FullError)(nil)
			if _, known := s.queue.Get(o.ID); known {
				continue
			}
			if err := s.adopt(o); err != nil {
				faults = append(faults, fmt.Errorf("job %d: %w", o.ID, err))
				if errors.As(err, &full) {
					break
				}
			}
		}
		if !s.connected() {
			return // only the iHypervisor can tell that it doesn't have a job
		}
		for _, j := range s.agent.Queue(nil) {
			if !there[j.ID] {
				s.runner.Post(invasive.Event{Kind: invasive.Cancel, ID: j.ID})
			}
		}
	})
	return errors.Join(append(faults, asked)...)
}

// adopt is called in the Runner's goroutine.
func (s *Scheduler) adopt(o *Outside) error {
	j, err := o.Spec.job(o.ID, o.Submitted)
	if err != nil {
		return err
	}
	if err := s.queue.Add(entry(j)); err != nil {
		return err
	}
	s.runner.Post(invasive.Event{Kind: invasive.Submit, Job: j})
	return nil
}

// Held is slurm.Client.Held of a partition.
type Held func(context.Context) ([]slurm.Held, map[uint64]error, error)

// FollowSlurm follows the held jobs of a partition of Slurm until ctx is done, and asks for them so
// often. While Slurm doesn't answer nothing is taken back.
func (s *Scheduler) FollowSlurm(ctx context.Context, ask Held, every time.Duration) {
	told := map[uint64]bool{} // faults
	for pause, down := every, false; ; {
		held, faults, err := ask(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !down {
				s.Log.Warn("Slurm doesn't answer", "why", err)
			}
			pause, down = min(max(2*pause, every), max(slurm.DownPause, every)), true
		default:
			if down {
				s.Log.Info("Slurm answers again")
			}
			pause, down = every, false
			told = s.tell(told, faults)
			if err := s.Follow(outside(held)); err != nil {
				s.Log.Warn("jobs of Slurm can't be taken", "why", err)
			}
		}
		late := make(chan struct{})
		stop := s.Clock.AfterFunc(pause, func() { close(late) })
		select {
		case <-late:
		case <-ctx.Done():
			stop()
			return
		}
	}
}

// tell logs each fault once.
func (s *Scheduler) tell(before map[uint64]bool, faults map[uint64]error) map[uint64]bool {
	now := make(map[uint64]bool, len(faults))
	for id, err := range faults {
		now[id] = true
		if !before[id] {
			s.Log.Warn("a job that Slurm holds is none that can be negotiated", "job", id, "why", err)
		}
	}
	return now
}

func outside(held []slurm.Held) []Outside {
	list := make([]Outside, len(held))
	for i, h := range held {
		spec := Spec{
			Args: []string{slurm.Command, h.Name}, Kind: h.Kind, MinCores: h.MinCores, MaxCores: h.MaxCores, MinNodes: 1, MaxNodes: 1,
			Urgent: h.Urgent, Priority: h.Points, Limit: seconds(h.Limit),
		}
		if !h.Deadline.IsZero() {
			spec.Deadline = seconds(max(h.Deadline.Sub(h.Submitted), time.Second))
		}
		list[i] = Outside{ID: invasive.JobID(h.ID), Submitted: h.Submitted, Spec: spec}
	}
	return list
}

// seconds of what is too long are 0, which stands for ever.
func seconds(d time.Duration) uint32 {
	if d <= 0 || d > invasive.MaxSeconds*time.Second {
		return 0
	}
	return uint32((d + time.Second - 1) / time.Second)
}
