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
