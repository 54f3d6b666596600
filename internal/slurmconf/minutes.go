// SPDX-License-Identifier: BSD-3-Clause

package slurmconf

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxMinutes bounds times: more than 4000 years.
const maxMinutes = math.MaxInt32

// Minutes parses a time as time_str2mins of Slurm does: minutes, minutes:seconds,
// hours:minutes:seconds, days-hours, days-hours:minutes or days-hours:minutes:seconds, with seconds
// rounded up. It is -1 for INFINITE and UNLIMITED.
func Minutes(text string) (int64, error) {
	switch strings.ToUpper(text) {
	case "INFINITE", "UNLIMITED", "-1":
		return -1, nil
	}
	days, rest, hasDays := strings.Cut(text, "-")
	units := []int64{60, 1} // of the parts, in seconds; one alone is minutes
	switch parts := strings.Count(rest, ":") + 1; {
	case !hasDays:
		if rest, days = text, "0"; strings.Count(text, ":") == 2 {
			units = []int64{3600, 60, 1}
		}
	case parts <= 3:
		units = []int64{3600, 60, 1}
	}
	d, err := strconv.ParseUint(days, 10, 31)
	if err != nil {
		return 0, errTime
	}
	seconds := int64(d) * 86400
	parts := strings.Split(rest, ":")
	if len(parts) > len(units) {
		return 0, errTime
	}
	for k, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return 0, errTime
		}
		seconds += int64(n) * units[k]
	}
	if minutes := (seconds + 59) / 60; minutes <= maxMinutes {
		return minutes, nil
	}
	return 0, errTime
}

var errTime = errors.New("not a time as 90, 1:30:00, 2-12 or INFINITE")
