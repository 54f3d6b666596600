// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"errors"
	"fmt"
)

// Mode tells apart the two ways to simulate: as the report's text says, which is the zero value,
// and as the authors' programme does, which is an oracle too.
type Mode int

// The two modes.
const (
	Paper     Mode = iota // the text's algorithms
	Reference             // the authors' programme, decision for decision
)

// ErrProgrammeEnds is the error of a run in the reference mode in which the programme finds its own
// state to be wrong, and ends: stale reservations (D3) have put a core into two holes.
var ErrProgrammeEnds = errors.New("the reference programme ends here with an error: a core is reserved twice")

// ErrStalled is the error of a run in which jobs wait although nothing will happen any more. The
// reference programme comes to this when all that is left are reservations of jobs that have
// ended long ago (D3), and counts seconds then until it gives up.
var ErrStalled = errors.New("jobs wait, and nothing will happen that could start them")

// ParseMode gives the mode of that name, "paper" or "reference".
func ParseMode(name string) (Mode, error) {
	for m := Paper; m <= Reference; m++ {
		if m.String() == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("mode: %q is unknown; known are paper, reference", name)
}

func (m Mode) String() string {
	if m == Reference {
		return "reference"
	}
	return "paper"
}
