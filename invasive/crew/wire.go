// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Variable is the environment variable with the invitation.
const Variable = "AUCSCHED_CREW"

// MaxPlaces is one above the greatest number of a place.
const MaxPlaces = 100_000

// A Command is started on a place.
type Command struct {
	Argv []string `json:"argv"`
	// Env is its environment, beyond that of the member.
	Env []string `json:"env,omitempty"`
	// Dir is where it begins; "": where the member did.
	Dir string `json:"dir,omitempty"`
}

// check refuses what a message would change: JSON knows UTF-8 only.
func (c *Command) check() error {
	for _, text := range append(slices.Concat(c.Argv, c.Env), c.Dir) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%.80q is not UTF-8", text)
		}
	}
	return nil
}

// order is what a lead says to a member; one without a field is a sign of life.
type order struct {
	Run   *Command `json:"run,omitempty"`
	ID    uint64   `json:"id,omitempty"` // of the command to run
	Kill  uint64   `json:"kill,omitempty"`
	Leave bool     `json:"leave,omitempty"`
	// Refused is why a member is not let in.
	Refused string `json:"refused,omitempty"`
}

// news is what a member says; likewise.
type news struct {
	Hello   *hello `json:"hello,omitempty"`
	Ended   uint64 `json:"ended,omitempty"`
	Status  int    `json:"status,omitempty"` // of the command that has ended
	Leaving bool   `json:"leaving,omitempty"`
}

// hello comes first.
type hello struct {
	Secret string `json:"secret"`
	Place  int    `json:"place"`
	Node   string `json:"node"`
	Job    string `json:"job"` // Slurm's number
}
