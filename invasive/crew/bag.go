// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
)

// A Bag has tasks run on whatever places there are. A task whose place is taken away runs again on
// another; how each ended is saved before the next takes its turn, so that what was done before a
// restart is not done again.
type Bag struct {
	// Tasks are lines for the shell.
	Tasks []string
	// Slots is how many run at a time on a place.
	Slots int
	// Start starts a command on a place, and Release lets a place go.
	Start   func(place int, c Command) (uint64, error)
	Release func(place int) error
	// Spare reports whether a place may be given back when nothing waits any more: always the same
	// of a place.
	Spare func(place int) bool
	// Later calls a function a while later, when a place that Slurm has taken is known to be gone.
	Later func(func())
	// Save keeps how a task has ended.
	Save func(task, status int) error
	Log  *slog.Logger

	mu      sync.Mutex
	waiting []int // tasks, first ones last
	done    map[int]int
	places  map[int]*bagPlace
	room    []int // places that can take a task; ascending
	over    chan struct{}
	fault   error
}

type bagPlace struct {
	leaving bool
	runs    map[uint64]int // tasks, by command
}

// Begin takes what was done before: statuses by task. It comes before the first Handle.
func (b *Bag) Begin(done map[int]int) {
	b.done, b.places, b.over = map[int]int{}, map[int]*bagPlace{}, make(chan struct{})
	for task := len(b.Tasks) - 1; task >= 0; task-- {
		if status, ok := done[task]; ok {
			b.done[task] = status
		} else {
			b.waiting = append(b.waiting, task)
		}
	}
	if len(b.waiting) == 0 {
		close(b.over)
	}
}

// Over is closed when all tasks have ended, or Save has failed.
func (b *Bag) Over() <-chan struct{} { return b.over }

// Result is how many tasks have ended with a status other than 0, once the bag is Over.
func (b *Bag) Result() (failed int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, status := range b.done {
		if status != 0 {
			failed++
		}
	}
	return failed, b.fault
}

// Waits reports whether tasks wait for a place.
func (b *Bag) Waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) > 0
}

// Running are the numbers of the tasks that run, by place; the first of the bag is 1.
func (b *Bag) Running() map[int][]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	tasks := map[int][]int{}
	for place, p := range b.places {
		for _, task := range p.runs {
			tasks[place] = append(tasks[place], task+1)
		}
		slices.Sort(tasks[place])
	}
	return tasks
}

// Handle is for NewLead.
func (b *Bag) Handle(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.places[e.Place]
	switch {
	case e.Kind == Joined:
		b.places[e.Place] = &bagPlace{runs: map[uint64]int{}}
	case p == nil:
	case e.Kind == Leaving: // others wait for the node
		p.leaving = true
		_ = b.Release(e.Place)
	case e.Kind == Gone:
		for _, task := range p.runs {
			b.back(task)
		}
		delete(b.places, e.Place)
	case e.Kind == Ended:
		b.ended(p, e)
	}
	b.changed(e.Place)
}

// ended takes a task that was killed for one that has not run if its place goes: Slurm, too, kills
// what is on a node that it takes.
func (b *Bag) ended(p *bagPlace, e Event) {
	if _, ok := p.runs[e.ID]; !ok {
		return
	}
	if e.Status != 128+int(syscall.SIGTERM) && e.Status != 128+int(syscall.SIGKILL) {
		b.keep(p, e)
		return
	}
	b.Later(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.places[e.Place] == p && !p.leaving {
			b.keep(p, e)
			b.changed(e.Place)
		}
	})
}

// keep saves how a task has ended.
func (b *Bag) keep(p *bagPlace, e Event) {
	task := p.runs[e.ID]
	delete(p.runs, e.ID)
	if err := b.Save(task, e.Status); err != nil {
		b.stop(fmt.Errorf("task %d has ended, and that can't be saved: %w", task+1, err))
		return
	}
	b.done[task] = e.Status
	if len(b.done) == len(b.Tasks) {
		b.stop(nil)
	}
}

func (b *Bag) stop(err error) {
	if b.fault == nil {
		b.fault = err
	}
	select {
	case <-b.over:
	default:
		close(b.over)
	}
}

// back puts a task before those that wait.
func (b *Bag) back(task int) {
	b.Log.Info("a task has lost its place and will run again", "task", task+1)
	b.waiting = append(b.waiting, task)
}

// changed is called after each change of a place: tasks are started where there is room, and a
// place that is left over when nothing waits is given back. That can only be this one, as the
// others were looked at when they changed.
func (b *Bag) changed(place int) {
	b.note(place)
	if b.fault != nil {
		return
	}
	b.fill()
	p := b.places[place]
	if p != nil && !p.leaving && len(p.runs) == 0 && len(b.waiting) == 0 && b.Spare(place) {
		p.leaving = true
		b.note(place)
		_ = b.Release(place)
	}
}

// note keeps the list of places with room.
func (b *Bag) note(place int) {
	p := b.places[place]
	room := p != nil && !p.leaving && len(p.runs) < b.Slots
	at, listed := slices.BinarySearch(b.room, place)
	switch {
	case room && !listed:
		b.room = slices.Insert(b.room, at, place)
	case listed && !room:
		b.room = slices.Delete(b.room, at, at+1)
	}
}

// fill starts tasks where there is room, on the places with the lowest numbers first: those are the
// job's own.
func (b *Bag) fill() {
	for len(b.waiting) > 0 && len(b.room) > 0 {
		place, task := b.room[0], b.waiting[len(b.waiting)-1]
		p := b.places[place]
		id, err := b.Start(place, Command{Argv: []string{"/bin/sh", "-c", b.Tasks[task]},
			Env: []string{fmt.Sprint("AUCSCHED_CREW_TASK=", task+1)}})
		if err != nil {
			p.leaving = true // it will be Gone
		} else {
			b.waiting = b.waiting[:len(b.waiting)-1]
			p.runs[id] = task
		}
		b.note(place)
	}
}
