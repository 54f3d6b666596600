// SPDX-License-Identifier: BSD-3-Clause

package sim

// times adds up JobTimes.
type times struct{ wait, turnaround moments }

func (t *times) add(ran *Record) {
	t.wait.add(float64(ran.Start - ran.Submit))
	t.turnaround.add(float64(ran.End - ran.Submit))
}

func (t *times) result() JobTimes { return JobTimes{t.wait.mean, t.turnaround.mean} }

// add counts a job that has ended; c is nil if it was rigid.
func (cs *crews) add(c *crew, ran *Record) {
	if cs == nil {
		return
	}
	if c == nil {
		cs.rigid.add(ran)
		return
	}
	cs.malleable.add(ran)
	u := &cs.use
	u.Jobs++
	u.Companions += c.starts
	u.Preempted += c.preempted
	u.Changes += c.changes
	held := c.held + (ran.End-ran.Start)*int64(c.job.Span.Least)
	u.Held += held
	u.Lost += held - c.worked
}

// result is that of a simulation that is over; nil if all jobs were rigid.
func (cs *crews) result() (*CrewUse, error) {
	if cs == nil {
		return nil, nil
	}
	if err := cs.books.finish(cs.use.Jobs, cs.use.Held); err != nil {
		return nil, err
	}
	cs.use.Malleable, cs.use.Rigid = cs.malleable.result(), cs.rigid.result()
	return &cs.use, nil
}
