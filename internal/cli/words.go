// SPDX-License-Identifier: BSD-3-Clause

package cli

import "fmt"

// YesNo is how a setting that is on or off is shown.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Count is a number of things: "1 core", "2 cores".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
