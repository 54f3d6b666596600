// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// maxMinutes bounds times: more than 4000 years.
const maxMinutes = math.MaxInt32

// maxSeconds bounds spans of time.
const maxSeconds = 1 << 40

// Minutes parses a time as time_str2mins of Slurm does: a span of time in one of its forms, with
// seconds rounded up to minutes. It is -1 for INFINITE and UNLIMITED.
func Minutes(text string) (int64, error) {
	switch strings.ToUpper(text) {
	case "INFINITE", "UNLIMITED", "-1":
		return -1, nil
	}
	seconds, err := ParseSpan(text)
	if minutes := (seconds + 59) / 60; err == nil && minutes <= maxMinutes {
		return minutes, nil
	}
	return 0, errTime
}

var errTime = errors.New("not a time as 90, 1:30:00, 2-12 or INFINITE")

// ParseSpan parses a span of time in Slurm's forms, in seconds: minutes, minutes:seconds,
// hours:minutes:seconds, and days-hours, days-hours:minutes, days-hours:minutes:seconds. It is
// 1<<40 at most; the error of a longer one is ErrTooLarge.
func ParseSpan(v string) (int64, error) {
	days, clock, hasDays := strings.Cut(v, "-")
	if !hasDays {
		days, clock = "0", v
	}
	parts := strings.Split(clock, ":")
	var units []int64
	switch {
	case len(parts) > 3:
	case hasDays:
		units = []int64{3600, 60, 1}
	case len(parts) == 3:
		units = []int64{3600, 60, 1}
	default:
		units = []int64{60, 1}
	}
	if units == nil {
		return 0, errSpan
	}
	total, err := addUnits(0, days, 24*3600)
	for i, p := range parts {
		if err == nil {
			total, err = addUnits(total, p, units[i])
		}
	}
	return total, err
}

// ErrTooLarge is that a number is beyond what is counted with.
var ErrTooLarge = errors.New("too large a number")

var errSpan = errors.New("not a span of time like 1-02:03:04")

func addUnits(total int64, digits string, unit int64) (int64, error) {
	n, err := strconv.ParseUint(digits, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && n > uint64(maxSeconds/unit):
		return 0, ErrTooLarge
	case err != nil:
		return 0, errSpan
	}
	if total += int64(n) * unit; total > maxSeconds {
		return 0, ErrTooLarge
	}
	return total, nil
}
