// SPDX-License-Identifier: BSD-3-Clause

package core

// SetPrice says what is lost if a running job is stopped, in units of priority: see
// Running.Price. 0 is for one that nobody may have stopped. After a cycle that has it stopped it
// is 1. The error is a
// [*Error]: one that is ErrUnknown, or one of a job that waits.
func (c *Cluster) SetPrice(id string, price int64) error {
	return c.change(Event{Kind: "price", Job: id}, func() error {
		if f := priceFault(price, 0); f != nil {
			return &Error{Of: "job", Name: id, Job: -1, Fault: f}
		}
		job, err := c.runningJob(id)
		if err != nil {
			return err
		}
		if price > 0 && len(job.beside) > 0 {
			return jobFault(id, "price", price, "it has components, which would go on", nil)
		}
		job.price = price
		return nil
	})
}

// stop says in the cycle which running jobs are to be stopped, and returns which jobs of the queue
// wait for that, or for one that has ended meanwhile.
func (c *Cluster) stop(w *scratch, cycle *Cycle) map[int]bool {
	if len(w.plan.Preempted) == 0 {
		return nil
	}
	waits := make(map[int]bool)
	for _, x := range w.plan.Preempted {
		job := w.running[x.Running]
		stop := Preempted{Job: job.id}
		for _, j := range x.For {
			waits[j] = true
			if waiting := w.queue[j]; c.jobs[waiting.id] == waiting {
				stop.For = append(stop.For, waiting.id)
			}
		}
		if c.jobs[job.id] == job && job.price > 0 && len(stop.For) > 0 {
			job.price = 1 // it is as good as lost
			cycle.Preempted = append(cycle.Preempted, stop)
		}
	}
	return waits
}
