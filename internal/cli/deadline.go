// SPDX-License-Identifier: BSD-3-Clause

package cli

import "time"

// Deadline turns a time limit into the moment when an answer is due; 0 is none.
func Deadline(limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return time.Now().Add(limit)
}
