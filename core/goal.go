// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"
	"strings"

	"github.com/aucsched/aucsched/internal/timeline"
)

// Goal says what an Auction plans for. With one it decides over time: a timetable of the first jobs
// of the window says in which order they get their places, now or later, and the auction has the
// rest. The timetable is the best of those that are found by sorting and annealing; it never lets
// the longest wait, or another sum that the goal caps, grow beyond what serving the jobs in queue
// order would give. docs/worth.md says what that is worth, and whom it costs what.
//
// Waits count by priority. Between cycles nothing is remembered.
type Goal uint8

const (
	// NoGoal is the auction of one moment.
	NoGoal Goal = iota
	// Fair lets waits be shorter, and nothing be worse than in queue order.
	Fair
	// Short has waits and slowdowns as short as they get while nobody waits longer.
	Short
	// Most has all that waits done soon, and large jobs not pile up until the end. Planned waits
	// and the end are no longer than by AuctionOptions.Patience. Places are kept for blocked jobs
	// that ask for a quarter of the machine, or have waited for so long.
	Most
	goalsEnd
)

// goal is what a Goal means.
type goal struct {
	name   string
	jobs   int // of the window that are planned
	search timeline.Options
	// wide is of what share of the machine, of the resource of which that is most, blocked jobs
	// have places kept; narrower ones only once they have waited for AuctionOptions.Patience.
	wide float64
}

var goals = [goalsEnd]goal{
	NoGoal: {name: "none"},
	Fair: {name: "fair", jobs: 60, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Squares: 1, timeline.Area: 1, timeline.Width: 1, timeline.End: 1},
		Caps:    timeline.Values{timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Moves:   30, Work: planWork,
	}},
	Short: {name: "short", jobs: 500, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Slowdown: 1},
		Caps:    timeline.Values{timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Work:    planWork,
	}},
	Most: {name: "most", jobs: 500, wide: 0.25, search: timeline.Options{
		Weights: timeline.Values{timeline.Wait: 1, timeline.Squares: 0.5, timeline.Area: 1, timeline.Width: 0.5, timeline.End: 2},
		Caps:    timeline.Values{timeline.Area: 1, timeline.Width: 1, timeline.End: 1, timeline.Longest: 1},
		Work:    planWork,
	}},
}

// planWork bounds a cycle's search, in words of the timetable.
const planWork = 40_000_000

func (g Goal) String() string {
	if g < goalsEnd {
		return goals[g].name
	}
	return fmt.Sprintf("goal %d", uint8(g))
}

// Presets are the names of the settings that AuctionPreset knows.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

var presets = []struct {
	name string
	set  func(o *AuctionOptions)
}{
	{"default", func(o *AuctionOptions) { o.Goal, o.Objective = Fair, ByRate }},
	{"short", func(o *AuctionOptions) { o.Goal, o.Objective, o.Window, o.Reservations = Short, ByRate, 500, 1 }},
	{"throughput", func(o *AuctionOptions) { o.Goal, o.Objective, o.Patience, o.Window = Most, BySize, 4*60*60, 500 }},
}

// AuctionPreset are settings that say what they promise:
//
//	default     no sum of waits is worse than under Slurm's backfill, and most are better
//	short       waits and slowdowns are at most those of EASY with the shortest limits first
//	throughput  most is done: large jobs have their places first
//
// The error is an [*OptionError].
func AuctionPreset(name string) (AuctionOptions, error) {
	for _, p := range presets {
		if p.name == name {
			o := DefaultAuctionOptions()
			o.Reservations, o.Promise = planReservations, presetPromise
			p.set(&o)
			return o, nil
		}
	}
	return AuctionOptions{}, &OptionError{"preset", name, "must be one of " + strings.Join(Presets(), ", ")}
}

const (
	// planReservations is for how many blocked jobs of a timetable places are kept. With 64 the
	// mean wait is that of conservative backfill, with 1 the widest jobs wait longer.
	planReservations = 16
	// presetPromise is in seconds.
	presetPromise = 7 * 24 * 3600
)
