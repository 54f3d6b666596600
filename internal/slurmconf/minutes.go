// SPDX-License-Identifier: BSD-3-Clause

package slurmconf

import (
	"errors"
	"math"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
)

// maxMinutes bounds times: more than 4000 years.
const maxMinutes = math.MaxInt32

// Minutes parses a time as time_str2mins of Slurm does: a span of time in one of its forms, with
// seconds rounded up to minutes. It is -1 for INFINITE and UNLIMITED.
func Minutes(text string) (int64, error) {
	switch strings.ToUpper(text) {
	case "INFINITE", "UNLIMITED", "-1":
		return -1, nil
	}
	seconds, err := workload.ParseSpan(text)
	if minutes := (seconds + 59) / 60; err == nil && minutes <= maxMinutes {
		return minutes, nil
	}
	return 0, errTime
}

var errTime = errors.New("not a time as 90, 1:30:00, 2-12 or INFINITE")
