// SPDX-License-Identifier: BSD-3-Clause

package engine

var words = [...]string{Starts: "starts", WaitsFit: "fit", WaitsLost: "lost", WaitsReserved: "kept", WaitsNever: "never",
	NotLookedAt: "behind", TimedOut: "late", Faulty: "faulty", WaitsQuota: "quota"}

// Word is what users are told of a decision's why: see docs/howto/why.md.
func Word(why uint8) string {
	if int(why) >= len(words) {
		return "unseen"
	}
	return words[why]
}
