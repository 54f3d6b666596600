// SPDX-License-Identifier: BSD-3-Clause

package core

import "fmt"

var whyNames = [...]string{
	"other", NoFit: "no_fit", Lost: "lost", Reserved: "reserved", Never: "never",
	Unmodelled: "unmodelled", TimedOut: "timed_out", OverQuota: "over_quota", Preempting: "preempting",
}

// String is the name in windows' explanations; "other" for 0.
func (w Why) String() string {
	if int(w) < len(whyNames) {
		return whyNames[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

var roleNames = [...]string{
	"none", Holds: "running", Wins: "starting", Keeps: "reserved", Waits: "waiting",
}

// String is the name in windows' explanations.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}
