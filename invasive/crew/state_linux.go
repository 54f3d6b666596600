// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A Place is what a lead has of a node.
type Place struct {
	Number int
	// Node and Job are the member's node and Slurm's number of its job.
	Node, Job string
	Leaving   bool
}

// Places are those whose members are there, in order.
func (l *Lead) Places() []Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	places := make([]Place, 0, len(l.members))
	for number, s := range l.members {
		places = append(places, Place{number, s.Node, s.Job, s.leaving})
	}
	slices.SortFunc(places, func(a, b Place) int { return a.Number - b.Number })
	return places
}

// Times between two states that are written: a change is seen after the first, and one that is
// older than the second is of a lead that is gone.
const (
	stateTime = 500 * time.Millisecond
	stateAge  = 10 * time.Second
)

// keepState keeps the file of Options.State up to date until the function that it returns is
// called, which leaves it without places. A file that can't be written is said once.
func (c *crew) keepState(w work) (end func()) {
	stop, over := make(chan struct{}), make(chan struct{})
	failed := false
	var last []byte
	var written time.Time
	write := func(text []byte) {
		if bytes.Equal(text, last) && time.Since(written) < stateAge {
			return
		}
		err := writeState(c.State, c.Job, time.Now(), text)
		if err != nil && !failed {
			c.Log.Warn("the state can't be written", "why", err)
		}
		last, written, failed = text, time.Now(), err != nil
	}
	go func() {
		defer close(over)
		tick := time.NewTicker(stateTime)
		defer tick.Stop()
		for {
			// What runs comes first: its places are there still, or are left out.
			running := w.Running()
			write(stateLines(c.lead.Places(), running))
			select {
			case <-stop:
				write(nil)
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(stop)
		<-over
	}
}

// stateLines has a line for each place: PLACE NODE JOB here|leaving TASK,TASK.
func stateLines(places []Place, running map[int][]int) []byte {
	var text bytes.Buffer
	for _, p := range places {
		state := "here"
		if p.Leaving {
			state = "leaving"
		}
		tasks := "-"
		if list := running[p.Number]; len(list) > 0 {
			tasks = strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
		}
		fmt.Fprintln(&text, p.Number, p.Node, p.Job, state, tasks)
	}
	return text.Bytes()
}

// writeState replaces the file: who reads it finds one state or the other.
func writeState(path, job string, now time.Time, lines []byte) error {
	head := fmt.Sprintf("# job %s at %s: PLACE NODE JOB STATE TASKS\n", job, now.Format(time.RFC3339))
	if err := os.WriteFile(path+".new", append([]byte(head), lines...), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
