// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxSeeds is the most seeds of a run.
const MaxSeeds = 1000

// ParseSeeds reads "FIRST-LAST", or one seed: from 1 on, at most MaxSeeds of them.
func ParseSeeds(text string) ([]uint64, error) {
	a, b, isRange := strings.Cut(text, "-")
	if !isRange {
		b = a
	}
	first, err1 := strconv.ParseUint(a, 10, 32)
	last, err2 := strconv.ParseUint(b, 10, 32)
	if err := errors.Join(err1, err2); err != nil || first < 1 || last < first || last-first >= MaxSeeds {
		return nil, fmt.Errorf("%q: must be FIRST-LAST or one seed, from 1 on, at most %d of them", text, MaxSeeds)
	}
	var seeds []uint64
	for s := first; s <= last; s++ {
		seeds = append(seeds, s)
	}
	return seeds, nil
}

// ParseSeedList reads seeds with commas, each FIRST-LAST or one.
func ParseSeedList(text string) (seeds []uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		some, err := ParseSeeds(part)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, some...)
	}
	return seeds, nil
}
