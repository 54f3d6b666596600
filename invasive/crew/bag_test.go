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
	saved  map[int]int
	breaks bool // the next start fails: the connection has gone
	later  []func()
}

func newBagModel(t *rapid.T) *bagModel {
	m := &bagModel{t: t, places: map[int]map[uint64]string{}, saved: map[int]int{}}
	n := rapid.IntRange(0, 12).Draw(t, "tasks")
	done := map[int]int{}
	b := &Bag{Slots: rapid.IntRange(1, 3).Draw(t, "slots"), Log: quiet, Spare: func(place int) bool { return place > 0 }}
	for task := range n {
		b.Tasks = append(b.Tasks, fmt.Sprint(task))
		if rapid.IntRange(0, 3).Draw(t, "done before") == 0 {
			done[task] = 0
		}
	}
	b.Start = func(place int, c Command) (uint64, error) {
		if m.breaks {
			m.breaks = false
			return 0, ErrNoMember
		}
		require.NotNil(t, m.places[place], "nobody is there")
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
	b.Release = func(int) error { return nil }
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

// settle is when the while is over.
func (m *bagModel) settle() {
	later := m.later
	m.later = nil
	for _, f := range later {
		f()
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

// Whatever happens to places, each task ends once, none runs on two places at a time, and with one
// place that stays all come to an end.
func TestBagEndsEachTaskOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newBagModel(t)
		leaving := map[int]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			place := rapid.IntRange(0, 3).Draw(t, "place")
			runs, here := m.places[place]
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 6:
				m.settle()
			case 0:
				if !here {
					m.places[place] = map[uint64]string{}
					m.bag.Handle(Event{Kind: Joined, Place: place})
				}
			case 1:
				if here && !leaving[place] {
					leaving[place] = true
					m.bag.Handle(Event{Kind: Leaving, Place: place})
				}
			case 2:
				if here {
					delete(m.places, place)
					delete(leaving, place)
					m.bag.Handle(Event{Kind: Gone, Place: place})
				}
			case 3:
				m.breaks = true
			default:
				if ids := slices.Sorted(maps.Keys(runs)); len(ids) > 0 {
					id := rapid.SampledFrom(ids).Draw(t, "command")
					delete(runs, id)
					status := rapid.SampledFrom([]int{0, 1, 143}).Draw(t, "status")
					m.bag.Handle(Event{Kind: Ended, Place: place, ID: id, Status: status})
				}
			}
		}
		m.breaks = false
		m.settle()
		for place := range 4 { // all leave, and one comes that stays
			if _, here := m.places[place]; here {
				delete(m.places, place)
				m.bag.Handle(Event{Kind: Gone, Place: place})
			}
		}
		m.places[0] = map[uint64]string{}
		m.bag.Handle(Event{Kind: Joined, Place: 0})
		for len(m.places[0]) > 0 {
			id := slices.Min(slices.Collect(maps.Keys(m.places[0])))
			delete(m.places[0], id)
			m.bag.Handle(Event{Kind: Ended, Place: 0, ID: id})
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
