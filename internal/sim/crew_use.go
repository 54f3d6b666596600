// SPDX-License-Identifier: BSD-3-Clause

package sim

// CrewUse is what malleable jobs did, and who waited for how long. A job's own nodes, and those of
// its companions, are counted from start to end.
type CrewUse struct {
	// Jobs is the number of malleable jobs that ran.
	Jobs int `json:"jobs"`
	// Companions is how many companions started, Preempted how many were preempted, and Changes how
	// often jobs went on with other nodes.
	Companions int `json:"companions"`
	Preempted  int `json:"preempted"`
	Changes    int `json:"changes"`
	// Held is the node seconds that malleable jobs held, and Lost those of them in which nothing
	// was done, as nodes changed.
	Held int64 `json:"held_node_s"`
	Lost int64 `json:"lost_node_s"`
	// Malleable and Rigid are the jobs of both kinds.
	Malleable JobTimes `json:"malleable"`
	Rigid     JobTimes `json:"rigid"`
}

// JobTimes are means over some jobs, in seconds: from submission to start, and to the end.
type JobTimes struct {
	Wait       float64 `json:"wait_mean_s"`
	Turnaround float64 `json:"turnaround_mean_s"`
}

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
