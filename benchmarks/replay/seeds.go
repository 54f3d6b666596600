// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxSeeds is the most seeds of a run.
const maxSeeds = 1000

// parseSeedRange reads "FIRST-LAST", or one seed: from 1 on, at most maxSeeds of them.
func parseSeedRange(text string) ([]uint64, error) {
	a, b, isRange := strings.Cut(text, "-")
	if !isRange {
		b = a
	}
	first, err1 := strconv.ParseUint(a, 10, 32)
	last, err2 := strconv.ParseUint(b, 10, 32)
	if err := errors.Join(err1, err2); err != nil || first < 1 || last < first || last-first >= maxSeeds {
		return nil, fmt.Errorf("%q: must be FIRST-LAST or one seed, from 1 on, at most %d of them", text, maxSeeds)
	}
	var seeds []uint64
	for s := first; s <= last; s++ {
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// ParseSeeds reads seeds with commas, each FIRST-LAST or one.
func ParseSeeds(text string) (seeds []uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		some, err := parseSeedRange(part)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, some...)
	}
	return seeds, nil
}
