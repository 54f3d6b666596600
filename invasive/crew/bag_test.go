// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// bagModel is a crew on paper: places on which commands run.
type bagModel struct {
	t      *rapid.T
	bag    *Bag
	last   uint64
	places map[int]map[uint64]string // commands by place; nil: released
	away   map[int]bool              // places that get no more tasks
	saved  map[int]int
	breaks bool // the next start fails: the connection has gone
	later  []func()
}

func newBagModel(t *rapid.T) *bagModel {
	m := &bagModel{t: t, places: map[int]map[uint64]string{}, away: map[int]bool{}, saved: map[int]int{}}
	n := rapid.IntRange(0, 12).Draw(t, "tasks")
	done, own := map[int]int{}, rapid.IntRange(1, 4).Draw(t, "places that stay")
	b := &Bag{Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Log: quiet, Spare: func(place int) bool { return place >= own }}
	for task := range n {
		b.Tasks = append(b.Tasks, fmt.Sprint(task))
		if rapid.IntRange(0, 3).Draw(t, "done before") == 0 {
			done[task] = 0
		}
	}
	b.Start = func(place int, c Command) (uint64, error) {
		require.Equal(t, m.room()[0], place, "the first with room")
		if m.breaks {
			m.breaks = false
			m.away[place] = true
			return 0, ErrNoMember
		}
		require.Equal(t, "-c", c.Argv[1])
		for other, runs := range m.places {
			for _, task := range runs {
				require.NotEqual(t, task, c.Argv[2], "it runs on place %d already", other)
			}
		}
		m.last++
		m.places[place][m.last] = c.Argv[2]
		require.LessOrEqual(t, len(m.places[place]), b.Slots)
		return m.last, nil
	}
	b.Release = func(place int) error {
		require.NotContains(t, m.away, place, "it is asked to go once")
		m.away[place] = true
		return nil
	}
	b.Later = func(f func()) { m.later = append(m.later, f) }
	b.Save = func(task, status int) error {
		require.NotContains(t, m.saved, task, "it has ended before")
		require.NotContains(t, done, task)
		m.saved[task] = status
		return nil
	}
	m.bag = b
	b.Begin(maps.Clone(done))
	return m
}

// handle tells the bag of an event. It has done all that it can then.
func (m *bagModel) handle(e Event) {
	switch e.Kind {
	case Joined:
		m.places[e.Place] = map[uint64]string{}
	case Gone:
		delete(m.places, e.Place)
		delete(m.away, e.Place)
	case Ended:
		delete(m.places[e.Place], e.ID)
	}
	m.bag.Handle(e)
	m.done()
}

func (m *bagModel) done() {
	if m.bag.Waits() {
		require.Empty(m.t, m.room(), "tasks wait")
		return
	}
	for place := range m.places {
		require.True(m.t, m.away[place] || !m.bag.Spare(place) || len(m.bag.Running()[place]) > 0, "place %d is idle", place)
	}
}

// room are the places that have room for a task, in order. A task that was killed has its place
// until it is known why.
func (m *bagModel) room() (places []int) {
	for place := range m.places {
		if !m.away[place] && len(m.bag.places[place].runs) < m.bag.Slots {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	return places
}

// settle is when the while is over.
func (m *bagModel) settle() {
	later := m.later
	m.later = nil
	for _, f := range later {
		f()
		m.done()
	}
}

func (m *bagModel) over() bool {
	select {
	case <-m.bag.Over():
		return true
	default:
		return false
	}
}

// Whatever happens to places, each task ends once, none runs on two places at a time, none waits
// while there is room, the first place with room gets the next, and with one place that stays all
// come to an end.
func TestBagEndsEachTaskOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newBagModel(t)
		leaving := map[int]bool{} // Slurm wants it
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			place := rapid.IntRange(0, 3).Draw(t, "place")
			runs, here := m.places[place]
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 6:
				m.settle()
			case 0:
				if !here {
					m.handle(Event{Kind: Joined, Place: place})
				}
			case 1:
				if here && !leaving[place] {
					leaving[place] = true
					delete(m.away, place) // it is released again, if it was
					m.handle(Event{Kind: Leaving, Place: place})
				}
			case 2:
				if here {
					delete(leaving, place)
					m.handle(Event{Kind: Gone, Place: place})
				}
			case 3:
				m.breaks = true
			default:
				if ids := slices.Sorted(maps.Keys(runs)); len(ids) > 0 {
					id := rapid.SampledFrom(ids).Draw(t, "command")
					status := rapid.SampledFrom([]int{0, 1, 143}).Draw(t, "status")
					m.handle(Event{Kind: Ended, Place: place, ID: id, Status: status})
				}
			}
		}
		m.breaks = false
		m.settle()
		for place := range 4 { // all leave, and one comes that stays
			if _, here := m.places[place]; here {
				m.handle(Event{Kind: Gone, Place: place})
			}
		}
		m.handle(Event{Kind: Joined, Place: 0})
		for len(m.places[0]) > 0 {
			id := slices.Min(slices.Collect(maps.Keys(m.places[0])))
			m.handle(Event{Kind: Ended, Place: 0, ID: id})
		}
		require.True(t, m.over())
		require.Len(t, m.bag.done, len(m.bag.Tasks))
		failed, err := m.bag.Result()
		require.NoError(t, err)
		bad := 0
		for _, status := range m.saved {
			if status != 0 {
				bad++
			}
		}
		require.Equal(t, bad, failed)
	})
}

// A companion with nothing to do is given back; the job's own nodes stay.
func TestBagGivesSpareNodesBack(t *testing.T) {
	var released []int
	b := &Bag{Tasks: []string{"a"}, Slots: 1, Log: quiet, Spare: func(place int) bool { return place >= 1 },
		Start:   func(int, Command) (uint64, error) { return 7, nil },
		Release: func(place int) error { released = append(released, place); return nil },
		Save:    func(int, int) error { return nil }}
	b.Begin(map[int]int{})
	b.Handle(Event{Kind: Joined, Place: 0})
	b.Handle(Event{Kind: Joined, Place: 5})
	require.Equal(t, []int{5}, released)
	require.False(t, b.Waits())
}

// A task that is killed has not ended if its place goes soon, and has if it stays.
func TestBagKnowsWhoWasKilled(t *testing.T) {
	for _, goes := range []bool{true, false} {
		saved, starts := map[int]int{}, 0
		var settle func()
		b := &Bag{Tasks: []string{"a"}, Slots: 1, Log: quiet, Spare: func(int) bool { return false },
			Start: func(int, Command) (uint64, error) { starts++; return uint64(starts), nil },
			Save:  func(task, status int) error { saved[task] = status; return nil },
			Later: func(f func()) { settle = f }}
		b.Begin(map[int]int{})
		b.Handle(Event{Kind: Joined})
		b.Handle(Event{Kind: Ended, ID: 1, Status: 143})
		require.Empty(t, saved)
		if goes {
			b.Handle(Event{Kind: Gone})
			settle()
			b.Handle(Event{Kind: Joined, Place: 1})
			b.Handle(Event{Kind: Ended, Place: 1, ID: 2})
			require.Equal(t, map[int]int{0: 0}, saved)
			continue
		}
		settle()
		require.Equal(t, map[int]int{0: 143}, saved)
		require.Equal(t, 1, starts)
	}
}

// A task whose end can't be saved ends the bag: it must not run again.
func TestBagStopsIfNothingIsSaved(t *testing.T) {
	starts := 0
	b := &Bag{Tasks: []string{"a", "b"}, Slots: 1, Log: quiet, Spare: func(int) bool { return false },
		Start: func(int, Command) (uint64, error) { starts++; return uint64(starts), nil },
		Save:  func(int, int) error { return errors.New("disk full") }}
	b.Begin(map[int]int{})
	b.Handle(Event{Kind: Joined})
	b.Handle(Event{Kind: Ended, ID: 1})
	<-b.Over()
	_, err := b.Result()
	require.EqualError(t, err, "task 1 has ended, and that can't be saved: disk full")
	require.Equal(t, 1, starts)
}

// A task that has lost its place runs on the first that has nothing to do.
func TestBagFillsTheFirstPlaces(t *testing.T) {
	var on []int
	b := busyBag(2) // 4 tasks
	b.Start = func(place int, _ Command) (uint64, error) {
		on = append(on, place)
		return uint64(len(on)), nil
	}
	for _, place := range []int{9, 5, 7, 3} {
		b.Handle(Event{Kind: Joined, Place: place})
	}
	for k, place := range []int{7, 5, 3} {
		b.Handle(Event{Kind: Ended, Place: place, ID: []uint64{3, 2, 4}[k]})
	}
	b.Handle(Event{Kind: Gone, Place: 9})
	require.Equal(t, []int{9, 5, 7, 3, 3}, on)
}

// Places that have nothing to do are not looked at each time another changes.
func TestBagLooksAtOnePlace(t *testing.T) {
	const n = 1000
	b, asked := busyBag(n), 0
	b.Spare = func(int) bool { asked++; return false }
	for place := range n {
		b.Handle(Event{Kind: Joined, Place: place})
	}
	for k := range 2 * n {
		b.Handle(Event{Kind: Ended, Place: k % n, ID: uint64(k + 1)})
	}
	<-b.Over()
	require.Equal(t, n, asked, "when each had nothing to do")
}

// What so many events cost a bag of as many places, one task on each: all join, a task ends on each
// while others wait, and a task ends on each when none waits any more. No place is given back.
func BenchmarkBag(b *testing.B) {
	for _, n := range []int{64, 1000, 10_000} {
		for _, kind := range []string{"join", "end", "end last"} {
			b.Run(fmt.Sprint(n, "/", kind), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					bag, handled := busyBag(n), 0
					each := func(handle func(place int)) {
						for place := range n {
							handle(place)
							handled++
						}
					}
					join := func(place int) { bag.Handle(Event{Kind: Joined, Place: place}) }
					end := func(place int) { bag.Handle(Event{Kind: Ended, Place: place, ID: uint64(handled - n + 1)}) }
					steps := []func(){func() { each(join) }, func() { each(end) }, func() { each(end) }}
					at := slices.Index([]string{"join", "end", "end last"}, kind)
					for _, step := range steps[:at] {
						step()
					}
					b.StartTimer()
					steps[at]()
					b.StopTimer()
					require.Len(b, bag.done, at*n)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
			})
		}
	}
}

// busyBag has two tasks for each of n places, which are numbered as their commands are.
func busyBag(n int) *Bag {
	var last uint64
	b := &Bag{Tasks: make([]string, 2*n), Slots: 1, Log: quiet, Spare: func(int) bool { return false },
		Start: func(int, Command) (uint64, error) { last++; return last, nil },
		Save:  func(int, int) error { return nil }}
	b.Begin(nil)
	return b
}
