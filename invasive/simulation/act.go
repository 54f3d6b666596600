// SPDX-License-Identifier: BSD-3-Clause

package simulation

import (
	"fmt"
	"math"
	"time"

	"github.com/aucsched/aucsched/invasive"
)

const (
	sideAgent = int(invasive.IScheduler) - 1
	sideHyper = int(invasive.IHypervisor) - 1
)

func (s *system) stepAgent(ev invasive.Event) {
	for _, a := range s.agent.Step(&ev, nil) {
		s.actAgent(a)
	}
}

func (s *system) stepHyper(ev invasive.Event) { s.actHyper(s.hyper.Step(&ev, nil)) }

func (s *system) actAgent(a invasive.Action) {
	switch a.Kind {
	case invasive.Connect:
		s.after(s.cfg.Latency, func() error {
			s.stepHyper(invasive.Event{Kind: invasive.Connected})
			s.stepAgent(invasive.Event{Kind: invasive.Connected})
			return nil
		})
	case invasive.Send:
		s.count.messages++
		m := a.Msg
		s.after(s.cfg.Latency, func() error {
			s.manager.Hear(m)
			s.stepHyper(invasive.Event{Kind: invasive.EventKind(m.Kind), Msg: m})
			return nil
		})
	case invasive.AskDecision:
		s.decide(a)
	case invasive.SetTimer:
		s.setTimer(sideAgent, a.After, s.stepAgent)
	case invasive.StopTimer:
		s.stopTimer(sideAgent)
	case invasive.Save:
		s.count.saves++
	case invasive.Ended:
		if r := s.find(a.ID); !r.over || r.told {
			s.fail(fmt.Errorf("job %d: its end is told though it has none, or twice", a.ID))
		} else {
			r.told = true
			s.told++
			s.queue.Remove(a.ID)
		}
	case invasive.Close, invasive.Violated, invasive.Failed, invasive.Stopped:
		s.fail(fmt.Errorf("iScheduler: %v %v: the connection ends", a.Kind, a.Text))
	}
}

// decide answers after Think with a mapping of the jobs that wait now.
func (s *system) decide(a invasive.Action) {
	s.decides++
	n := s.decides
	if s.count.offers++; a.Msg.Attempt == 1 {
		s.count.transactions++
	}
	ev, err := s.mapper.Decide(s.ctx, s.waits(), a.Msg.Offer, a.Final, s.now)
	if err != nil {
		s.fail(err)
		return
	}
	if !ev.Accept {
		s.count.rejected++
	}
	s.after(s.cfg.Think, func() error {
		if s.decides == n {
			s.stepAgent(ev)
		}
		return nil
	})
}

func (s *system) actHyper(actions []invasive.Action) {
	for i := range actions {
		a := &actions[i]
		switch a.Kind {
		case invasive.Send:
			s.count.messages++
			m := a.Msg
			s.after(s.cfg.Latency, func() error {
				s.stepAgent(invasive.Event{Kind: invasive.EventKind(m.Kind), Msg: m})
				return nil
			})
		case invasive.SetTimer:
			s.setTimer(sideHyper, a.After, s.stepHyper)
		case invasive.StopTimer:
			s.stopTimer(sideHyper)
		case invasive.Save:
			s.count.saves++
		case invasive.Launch:
			s.launch(a)
		case invasive.Grow:
			s.grow(a)
		case invasive.Reclaim:
			s.reclaim(a)
		case invasive.Close, invasive.Violated, invasive.Failed, invasive.Stopped:
			s.fail(fmt.Errorf("iHypervisor: %v %v: the connection ends", a.Kind, a.Text))
		}
		if ev, ok := s.manager.answer(a, s.now); ok {
			s.answer(ev)
		}
	}
}

func (s *system) answer(evs ...invasive.Event) {
	for _, ev := range evs {
		if ev.Kind == invasive.Verdict && !ev.Accept {
			s.count.rejected++
		}
		acts := s.hyper.Step(&ev, nil)
		if len(acts) == 0 {
			s.fail(fmt.Errorf("%v of job %d, cores %v, way %d, has no effect", ev.Kind, ev.ID, ev.Cores, ev.How))
		}
		s.actHyper(acts)
	}
}

func (s *system) launch(a *invasive.Action) {
	r := s.find(a.ID)
	s.active++
	r.launched, r.start, r.from = true, s.now, s.now
	r.cores = len(a.Cores)
	s.fail(s.judge.give(a.Job, a.Cores, true))
	s.planEnd(r)
}

func (s *system) grow(a *invasive.Action) {
	r := s.find(a.ID)
	s.count.grows++
	s.resize(r, r.cores+len(a.Cores))
	s.fail(s.judge.give(r.job, a.Cores, false))
}

// resize counts the work done so far, and plans the end anew.
func (s *system) resize(r *run, cores int) {
	s.progress(r)
	r.cores, r.from = cores, max(r.from, s.now+s.cfg.ResizeCost)
	s.planEnd(r)
}

func (s *system) progress(r *run) {
	if s.now > r.from {
		r.done += (s.now - r.from).Seconds() * speed(r.Serial, r.cores)
		r.from = s.now
	}
}

func (s *system) planEnd(r *run) {
	r.number++
	if r.cores == 0 {
		return
	}
	n := r.number
	until, next := r.work(), len(r.Wishes) > r.wished
	if next {
		until *= r.Wishes[r.wished].Done
	}
	left := math.Ceil(max(0, until-r.done) / speed(r.Serial, r.cores) * float64(time.Second))
	s.at(r.from+time.Duration(left), func() error {
		if r.number != n {
			return nil
		}
		if s.progress(r); next {
			s.wish(r)
		} else {
			s.end(r, 0)
		}
		return nil
	})
}

// wish has an evolving job ask for another number of cores, and go on.
func (s *system) wish(r *run) {
	s.manager.wishes[r.job.ID] = r.Wishes[r.wished].Cores
	s.manager.Changed() // settle follows
	s.count.wishes++
	r.wished++
	s.planEnd(r)
}

// reclaim has the job obey after a while.
func (s *system) reclaim(a *invasive.Action) {
	r := s.find(a.ID)
	r.asked, r.how = a.Cores, a.How
	s.after(s.cfg.Release, func() error {
		if r.over || r.asked == nil {
			return nil
		}
		cores := r.asked
		r.asked = nil
		switch r.how {
		case invasive.Kill:
			s.count.kills++
			r.killed = true
			s.progress(r)
			s.end(r, 128+9)
			return nil
		case invasive.Suspend:
			s.count.suspensions++
		default:
			s.count.shrinks++
		}
		s.resize(r, r.cores-len(cores))
		err := s.judge.release(r.job, cores)
		s.manager.Freed()
		s.stepHyper(invasive.Event{Kind: invasive.Released, ID: r.job.ID, Cores: cores})
		return err
	})
}

func (s *system) end(r *run, exit int32) {
	r.number++
	r.over, r.end, r.cores, r.asked = true, s.now, 0, nil
	s.left--
	s.active--
	s.fail(s.judge.end(r))
	delete(s.manager.wishes, r.job.ID)
	s.manager.Freed()
	s.stepHyper(invasive.Event{Kind: invasive.Exited, ID: r.job.ID, Exit: exit})
}
