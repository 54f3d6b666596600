// SPDX-License-Identifier: BSD-3-Clause

package link

import "github.com/aucsched/aucsched/invasive"

// A letter is one of three: an event for the machine, which may wait to be done with others; what
// is to be called when all before is done; or alone, what has to find all before done, since it
// depends on more than the machine.
type letter struct {
	event       *invasive.Event
	call, alone func()
}

// A call comes before the action of a number in the group.
type call struct {
	before int
	f      func()
}

// maxGroup is how many records go to the disk together.
const maxGroup = 1000

// later puts f into the mail. Only this side's own doings fill it without a bound: a peer's
// messages are handed over one by one.
func (r *Runner) later(f func()) { r.put(letter{alone: f}) }

func (r *Runner) put(l letter) {
	r.mu.Lock()
	r.mail = append(r.mail, l)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// open does what the mail says, and returns what is left when the machine has ended. Events that
// wait already share one write of the journal.
func (r *Runner) open(mail []letter) []letter {
	for i, l := range mail {
		switch {
		case l.event != nil && r.result == nil:
			r.out = r.Machine.Step(l.event, r.out[:0])
			if r.gather(r.out); len(r.group.Records) >= maxGroup {
				r.flush()
			}
		case l.call != nil && len(r.group.Records)+len(r.group.Then)+len(r.calls) == 0:
			l.call()
		case l.call != nil:
			r.calls = append(r.calls, call{len(r.group.Then), l.call})
		case l.alone != nil:
			if r.flush(); !r.ended {
				l.alone()
			} else {
				return mail[i:]
			}
		}
		if r.ended {
			r.flush()
			return mail[i+1:]
		}
	}
	r.flush()
	return nil
}

// gather adds actions to the group.
func (r *Runner) gather(actions []invasive.Action) {
	for i := range actions {
		if !r.group.Add(&actions[i]) {
			r.flush()
			r.group.Add(&actions[i])
		}
	}
}

// flush does the group. After an error of the journal nothing more is done.
func (r *Runner) flush() {
	defer func() { r.group.Reset(); clear(r.calls); r.calls = r.calls[:0] }()
	if records := r.group.Records; len(records) > 0 && r.result == nil {
		if r.Point != nil {
			r.Point(invasive.Save.String())
		}
		if err := r.Journal.Save(records...); err != nil {
			r.fail(err)
			return
		}
		for i := range records {
			r.trace(records[i].Words())
		}
	}
	calls := r.calls
	for i := 0; i <= len(r.group.Then) && r.result == nil; i++ {
		for ; len(calls) > 0 && calls[0].before == i; calls = calls[1:] {
			calls[0].f()
		}
		if i == len(r.group.Then) {
			return
		}
		a := &r.group.Then[i]
		if r.Point != nil {
			r.Point(a.Kind.String())
		}
		r.trace(a.Words())
		r.act(a)
	}
}
