// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Quota is what is left of a bound on what jobs take together.
type Quota struct {
	Name string `json:"name"`
	Left int64  `json:"left"`
	// Limit is what all jobs may count together; absent: Left, and what running jobs count.
	Limit *int64 `json:"limit,omitempty"`
}

// maxQuotaName is how long the name of a quota may be, in bytes.
const maxQuotaName = 256

// CheckQuota reports what is no name of a quota: it is 1 to 256 bytes of text that can be printed.
func CheckQuota(name string) error {
	odd := func(c rune) bool { return !unicode.IsPrint(c) }
	if name == "" || len(name) > maxQuotaName || !utf8.ValidString(name) || slices.ContainsFunc([]rune(name), odd) {
		return fmt.Errorf("%.80q is not a name of 1 to %d bytes that can be printed", name, maxQuotaName)
	}
	return nil
}
