// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/aucsched/aucsched/invasive/wire"
)

// A Count is one of what Stats counts.
type Count uint8

const (
	// Received and Sent are messages.
	Received Count = iota
	Sent
	// Sessions are connections that were handed to the machine.
	Sessions
	// Forbidden peers were of a user that isn't allowed; Unverified ones showed no certificate that
	// holds, or none in time; Surplus ones came while another was connected.
	Forbidden
	Unverified
	Surplus
	// Flooded, OutOfTurn and Stalled are peers that were cut off: for more messages than the limit
	// allows, for a message that isn't its turn, for not taking what was sent to it.
	Flooded
	OutOfTurn
	Stalled
	// BadFrame + f, for each wire.Fault f: peers that were cut off for such a frame.
	BadFrame
	counts = BadFrame + Count(wire.Faults)
)

var countNames = [BadFrame]string{
	"received", "sent", "sessions", "forbidden users", "unverified peers", "surplus peers", "flooded", "out of turn", "stalled",
}

func (c Count) String() string {
	if c >= BadFrame {
		return "bad frames, " + wire.Fault(c-BadFrame).String()
	}
	return countNames[c]
}

// Stats counts what was carried and who was turned away. The zero value is ready; it is
// safe for concurrent use.
type Stats struct{ n [counts]atomic.Uint64 }

// Get returns a count.
func (s *Stats) Get(c Count) uint64 { return s.n[c].Load() }

func (s *Stats) add(c Count) { s.n[c].Add(1) }

// String lists the counts that aren't zero.
func (s *Stats) String() string {
	var list []string
	for c := range counts {
		if n := s.Get(c); n > 0 {
			list = append(list, fmt.Sprintf("%v: %d", c, n))
		}
	}
	return strings.Join(list, "; ")
}
