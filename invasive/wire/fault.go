// SPDX-License-Identifier: BSD-3-Clause

package wire

import "fmt"

// A Fault is what can be wrong with a frame.
type Fault uint8

const (
	// Truncated: the stream ends in the middle of a frame.
	Truncated Fault = iota
	// Foreign: the frame doesn't begin as ours do.
	Foreign
	// Version: the framing is one that we don't know.
	Version
	// Oversized: it is longer than the limit.
	Oversized
	// Direction: it is a message that this side doesn't send, or none at all.
	Direction
	// Crowded: it has more elements than a message may have.
	Crowded
	// Malformed: it isn't protobuf, or another message than its header says.
	Malformed
	// Invalid: a field is out of its range, see invasive.FieldError.
	Invalid
	// Faults is their number.
	Faults
)

var faultNames = [Faults]string{"truncated", "foreign", "unknown framing", "oversized",
	"wrong direction", "too many elements", "malformed", "invalid"}

func (f Fault) String() string {
	if f < Faults {
		return faultNames[f]
	}
	return fmt.Sprint(uint8(f))
}

// An Error says what is wrong with a frame. After a Direction, Crowded, Malformed or Invalid one
// the reader can go on with the next frame; after the others the stream is of no use.
type Error struct {
	Fault Fault
	Err   error // may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return "frame: " + e.Fault.String()
	}
	return "frame: " + e.Fault.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Counts are the frames that a Reader has seen.
type Counts struct {
	Good uint64
	Bad  [Faults]uint64
}
