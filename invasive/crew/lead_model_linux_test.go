// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/invasive/lines"
)

// crewModel is a lead with a bag, and what must be true of them.
type crewModel struct {
	t       *rapid.T
	lead    *Lead
	bag     *Bag
	heard   chan Event
	members map[int]*paperMember
	joined  int
	mu      sync.Mutex
	saved   map[int]int
	later   []func()
}

// paperMember joins as a member does, and does what it is told to in the test alone.
type paperMember struct {
	*lines.Conn
	leaving bool
	job     string

	mu   sync.Mutex
	runs map[uint64]string // commands that it was given, and has not ended
	let  bool              // it may go
}

const modelPlaces = 4

func newCrewModel(t *rapid.T) *crewModel {
	m := &crewModel{t: t, heard: make(chan Event, 1000), members: map[int]*paperMember{}, saved: map[int]int{}}
	m.bag = &Bag{Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Log: quiet, Spare: func(place int) bool { return place > 0 },
		Start:   func(place int, c Command) (uint64, error) { return m.lead.Run(place, c) },
		Release: func(place int) error { return m.lead.Release(place) },
		Later:   func(f func()) { m.later = append(m.later, f) },
		Save: func(task, status int) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			require.NotContains(t, m.saved, task, "it has ended before")
			m.saved[task] = status
			return nil
		}}
	for task := range rapid.IntRange(1, 12).Draw(t, "tasks") {
		m.bag.Tasks = append(m.bag.Tasks, fmt.Sprint(task+1))
	}
	m.bag.Begin(nil)
	var err error
	m.lead, err = NewLead("127.0.0.1:0", quiet, func(e Event) {
		m.bag.Handle(e)
		m.heard <- e
	})
	require.NoError(t, err)
	return m
}

// hears waits for the event of a place that must come.
func (m *crewModel) hears(kind Kind, place int) {
	select {
	case e := <-m.heard:
		require.Equal(m.t, []any{kind, place}, []any{e.Kind, e.Place})
	case <-time.After(time.Minute):
		require.Fail(m.t, "nothing was heard", "%v %d", kind, place)
	}
}

// join has a member ask for a place, which it gets unless the place is taken or nobody is let in.
func (m *crewModel) join(place int, open bool) {
	i := m.lead.Invitation()
	conn, err := i.Dial(context.Background())
	require.NoError(m.t, err)
	m.joined++
	p := &paperMember{Conn: conn, runs: map[uint64]string{}, job: fmt.Sprint(m.joined)}
	require.NoError(m.t, p.Put(news{Hello: &hello{Secret: i.Shown(), Place: place, Node: "n", Job: p.job}}))
	if m.members[place] != nil || !open {
		var o order
		require.NoError(m.t, p.Get(&o))
		require.NotEmpty(m.t, o.Refused)
		require.Error(m.t, p.Get(&o), "it is turned away")
		return
	}
	m.members[place] = p
	m.hears(Joined, place)
	go func() {
		for {
			var o order
			if p.Get(&o) != nil {
				return
			}
			p.mu.Lock()
			if o.Run != nil {
				p.runs[o.ID] = o.Run.Argv[2]
			}
			p.let = p.let || o.Leave
			p.mu.Unlock()
		}
	}()
}

// dies has a member be gone, with all that it ran.
func (m *crewModel) dies(place int) {
	m.members[place].Close()
	delete(m.members, place)
	m.hears(Gone, place)
}

func (m *crewModel) leaving(place int) {
	p := m.members[place]
	require.NoError(m.t, p.Put(news{Leaving: true}))
	if !p.leaving { // it is said once
		m.hears(Leaving, place)
	}
	p.leaving = true
}

// ends has one of a member's commands end, or one that it has not.
func (m *crewModel) ends(place int, status int) {
	p := m.members[place]
	p.mu.Lock()
	ids := append(slices.Sorted(maps.Keys(p.runs)), 1_000_000)
	id := rapid.SampledFrom(ids).Draw(m.t, "command")
	delete(p.runs, id)
	p.mu.Unlock()
	require.NoError(m.t, p.Put(news{Ended: id, Status: status}))
	m.hears(Ended, place)
}

// agrees waits until members have got what was sent, and then has each place be counted once, and
// each task that has not ended run once or wait.
func (m *crewModel) agrees() {
	want := []Place{}
	for _, place := range slices.Sorted(maps.Keys(m.members)) {
		want = append(want, Place{place, "n", m.members[place].job, m.members[place].leaving})
	}
	m.eventually("places", func() bool { return slices.Equal(want, m.lead.Places()) })
	m.eventually("tasks", func() bool {
		running := m.bag.Running()
		for place, p := range m.members {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, task := range p.runs {
				if !slices.ContainsFunc(running[place], func(n int) bool { return fmt.Sprint(n) == task }) {
					return false
				}
			}
		}
		return true
	})
	seen := map[int]int{}
	for place, tasks := range m.bag.Running() {
		require.Contains(m.t, m.members, place, "tasks of a place that is gone")
		require.LessOrEqual(m.t, len(tasks), m.bag.Slots)
		for _, task := range tasks {
			other, ok := seen[task]
			require.False(m.t, ok, "task %d runs on places %d and %d", task, place, other)
			seen[task] = place
			require.NotContains(m.t, m.saved, task-1, "task %d has ended", task)
		}
	}
	m.bag.mu.Lock()
	defer m.bag.mu.Unlock()
	require.Len(m.t, m.bag.Tasks, len(seen)+len(m.bag.waiting)+len(m.saved), "each task runs, waits or has ended")
}

func (m *crewModel) eventually(what string, is func() bool) {
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(100 * time.Microsecond) {
		require.True(m.t, time.Now().Before(end), "%s differ: %v", what, m.lead.Places())
	}
}

// settle is when the while is over after which a task was killed by itself.
func (m *crewModel) settle() {
	later := m.later
	m.later = nil
	for _, f := range later {
		f()
	}
}

// However members come, leave, die and are let go, over real connections: a place has one member,
// a task runs once at a time, and each ends once.
func TestLeadAndBagWithMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newCrewModel(t)
		defer m.lead.Close()
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			place := rapid.IntRange(0, modelPlaces-1).Draw(t, "place")
			p := m.members[place]
			what := rapid.IntRange(0, 6).Draw(t, "what")
			switch {
			case what == 0 || p == nil:
				m.join(place, true)
			case what == 1:
				m.dies(place)
			case what == 2:
				m.leaving(place)
			case what == 3:
				p.mu.Lock()
				let := p.let
				p.mu.Unlock()
				if let {
					m.dies(place)
				}
			case what == 4:
				m.settle()
			default:
				m.ends(place, rapid.SampledFrom([]int{0, 0, 1, 143}).Draw(t, "status"))
			}
			m.agrees()
		}
		m.finish()
	})
}

// finish has all members but one go, and that one run what is left; then nobody is let in.
func (m *crewModel) finish() {
	m.settle()
	for _, place := range slices.Sorted(maps.Keys(m.members)) {
		m.dies(place)
	}
	m.eventually("places", func() bool { return len(m.lead.Places()) == 0 })
	m.join(0, true)
	for len(m.saved) < len(m.bag.Tasks) {
		p := m.members[0]
		var id uint64
		m.eventually("commands", func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			for id = range p.runs {
				delete(p.runs, id)
				return true
			}
			return false
		})
		require.NoError(m.t, p.Put(news{Ended: id}))
		m.hears(Ended, 0)
	}
	<-m.bag.Over()
	over := make(chan bool)
	go func() {
		m.lead.Dismiss(10 * time.Second)
		close(over)
	}()
	m.eventually("orders", func() bool {
		m.members[0].mu.Lock()
		defer m.members[0].mu.Unlock()
		return m.members[0].let
	})
	m.dies(0)
	<-over
	m.join(1, false)
}
