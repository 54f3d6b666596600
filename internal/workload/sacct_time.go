// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// sacctTimes are when a job was submitted and began, in seconds since 1970, and how long it
// ran, in seconds; or why it is to be skipped.
type sacctTimes struct {
	submit, start, duration int64
	// leaves is when a job was cancelled that had not begun, 0 otherwise; it is start, too.
	leaves int64
	skip   string
}

// times settles the times of the current row.
func (s *sacctReader) times() sacctTimes {
	state, _, _ := strings.Cut(s.Get("state"), " ") // "CANCELLED by 1000"
	submit, submitted := s.instant("submit")
	start, started := s.instant("start")
	end, ended := s.instant("end")
	run, known := s.elapsed()
	if !known && started && ended {
		if run, known = end-start, true; run < 0 {
			s.Bad("end", errors.New("before Start (local times? let sacct print ElapsedRaw)"))
		}
	}
	eligible, said := s.instant("eligible")
	if s.o.Past && said && eligible > submit && (eligible <= start || !started && eligible < end) {
		submit = eligible
	}
	t := sacctTimes{submit: submit, start: start, duration: run}
	runs := state == "RUNNING" || state == "SUSPENDED" || started && s.Has("end") && !ended
	switch {
	case s.o.Past && state == "CANCELLED" && submitted && ended && end > submit && (!started || run == 0):
		t.leaves, t.start, t.duration = end, end, 0
	case state == "REVOKED":
		t.skip = skipRevoked
	case state == "PENDING":
		t.skip = SkipPending
	case runs && (!s.o.Past || !known):
		t.skip = SkipRunning
	case state == "CANCELLED" && run == 0:
		t.skip = SkipCancelled
	case !started:
		t.skip = SkipPending
	case !submitted:
		t.skip = SkipNoSubmit
	case !known:
		t.skip = SkipNoRun
	}
	return t
}

// elapsed is the run time in seconds, if a field of its own says it.
func (s *sacctReader) elapsed() (n int64, known bool) {
	unknown := []string{"", "Unknown", "INVALID"}
	if !slices.Contains(unknown, s.Get("elapsedraw")) {
		return s.Parse("elapsedraw", ParseCount), true
	}
	if !slices.Contains(unknown, s.Get("elapsed")) {
		return s.Parse("elapsed", conf.ParseSpan), true
	}
	return 0, false
}

// instant is the value of a field with a point in time, in seconds since 1970.
func (s *sacctReader) instant(name string) (n int64, known bool) {
	if slices.Contains([]string{"", "Unknown", "None", "N/A"}, s.Get(name)) {
		return 0, false
	}
	return s.Parse(name, parseInstant), true
}

func parseInstant(v string) (int64, error) {
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && n <= MaxSeconds {
		return n, nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", v)
	if err != nil || t.Nanosecond() != 0 {
		return 0, errors.New("not a time like 2024-01-02T03:04:05 (unset SLURM_TIME_FORMAT)")
	}
	if t.Unix() < 0 {
		return 0, errors.New("before 1970")
	}
	return t.Unix(), nil
}

func parseMinutes(v string) (int64, error) {
	n, err := ParseCount(v)
	if err == nil && n > MaxSeconds/60 {
		err = ErrTooLarge
	}
	return n * 60, err
}
