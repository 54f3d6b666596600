// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/aucsched/aucsched/internal/workload"
)

// admitCrew makes the lead of a job that is malleable.
func (s *simulator) admitCrew(i int32) (err error) {
	j := &s.jobs[i]
	if j.Span == (workload.Span{}) {
		return nil
	}
	if s.crews == nil && s.cfg.Crews == nil {
		return errors.New("span: nobody knows malleable jobs here")
	}
	if s.crews == nil {
		s.crews = s.cfg.Crews(&s.cfg)
	}
	j.came = j.Job
	j.Job, j.asks, err = s.crews.Admit(i, j.came, j.nominal)
	return err
}

// makeCrews makes room for the companions of all jobs that are malleable.
func (s *simulator) makeCrews() error {
	if s.crews == nil {
		return nil
	}
	companions, err := s.crews.Begin(Hand{s}, s.order)
	switch {
	case err != nil:
		return err
	case companions == 0:
		s.crews = nil
	case s.total+companions > math.MaxInt32:
		return fmt.Errorf("malleable jobs: %d companions are too many", companions)
	}
	s.jobs = append(s.jobs, make([]job, companions)...)
	s.slot, s.due = append(s.slot, make([]int32, companions)...), append(s.due, make([]int64, companions)...)
	return nil
}

// companion reports whether a job is one, and malleable whether it is that or a lead.
func (s *simulator) companion(i int32) bool { return int(i) >= s.total }
func (s *simulator) malleable(i int32) bool {
	return s.crews != nil && (s.companion(i) || s.jobs[i].came != nil)
}

// stopped has the companions leave that the plan preempts, and returns which jobs of the queue wait
// for that. These are decided on again.
func (s *simulator) stopped() (waits map[int]bool, err error) {
	for _, x := range s.plan.Preempted {
		if x.Running < 0 || x.Running >= len(s.running) || s.held[x.Running].Price == 0 {
			return nil, fmt.Errorf("running job %d of %d is to be stopped, and has no price", x.Running, len(s.running))
		}
		if waits == nil {
			waits = make(map[int]bool)
		}
		for _, j := range x.For {
			waits[j] = true
		}
		if err := s.crews.Stop(s.running[x.Running].number); err != nil {
			return nil, err
		}
	}
	return waits, nil
}
