// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Route is what aucsched's plug-in logged of a job.
type Route struct {
	Started  int    // times that the auction started it
	NodeList string // of the last such start
	Class    string
	Left     string // why it was left to Slurm, the first time; one word
}

// routeLine has the forms of a job's name in slurmctld's log: JobId=7, JobId=7_3(9),
// JobId=7_*, JobId=7+1(8).
var routeLine = regexp.MustCompile(`aucsched: (started )?JobId=(\d+)(?:[_+](?:\d+|\*))?(?:\((\d+)\))?(.*)`)

// ParseRoutes reads the lines of aucsched's plug-in in slurmctld's log.
func ParseRoutes(log string) map[uint32]Route {
	routes := map[uint32]Route{}
	for line := range strings.SplitSeq(log, "\n") {
		m := routeLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		number := m[2]
		if m[3] != "" {
			number = m[3]
		}
		id, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			continue
		}
		r := routes[uint32(id)]
		if m[1] != "" {
			r.Started++
			r.NodeList, r.Class = between(m[4], " on ", " "), between(m[4], "(class ", ")")
		} else if left := between(m[4], " left to Slurm: ", " "); left != "" && r.Left == "" {
			r.Left = left
		}
		routes[uint32(id)] = r
	}
	return routes
}

// between is what stands between from and to, or between from and the end.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// Routes are the routes that slurmctld's log has so far.
func (c *Cluster) Routes() (map[uint32]Route, error) {
	log, err := readBounded(c.path("log", "slurmctld.log"))
	if err != nil {
		return nil, err
	}
	return ParseRoutes(log), nil
}

// LeftWaits is how long jobs that are left to Slurm wait.
type LeftWaits struct {
	Started int64   `json:"started"`
	Sum     float64 `json:"sum_s"`
	Longest int64   `json:"longest_s"`
}

// Status is aucsched's status file, as far as tests look at it.
type Status struct {
	State         string         `json:"state"`
	StateText     string         `json:"state_text"`
	Pid           int            `json:"pid"`
	EnginePid     int            `json:"engine_pid"`
	Began         int64          `json:"began"` // seconds since 1970
	Interval      int            `json:"interval_s"`
	Settings      string         `json:"settings"`
	Time          int64          `json:"time"`
	Cycles        int64          `json:"cycles"`
	Skipped       int64          `json:"cycles_skipped"` // nothing waited, or nothing had changed
	CyclesFailed  int64          `json:"cycles_failed"`
	LastFailure   string         `json:"last_failure"`
	Started       int64          `json:"started"`
	StartsFailed  int64          `json:"starts_failed"`
	Fallbacks     int64          `json:"fallbacks"`
	Overdue       int64          `json:"overdue"`
	HandedJobs    int64          `json:"handed_jobs"`
	Handed        map[string]int `json:"handed"`
	LeftWaits     LeftWaits      `json:"left_waits"`
	Cycle         Figure         `json:"cycle_us"`
	Snapshot      Figure         `json:"snapshot_us"`
	Decide        Figure         `json:"decide_us"`
	Lock          Figure         `json:"lock_us"`
	StartFigure   Figure         `json:"start_us"`
	Queue, Window int64
	Solver        struct {
		Status    string  `json:"status"`
		Objective float64 `json:"objective"`
		Bound     float64 `json:"bound"`
	} `json:"solver"`
	Files struct {
		Known     int    `json:"known"`
		Copies    int    `json:"copies"`
		Starts    uint64 `json:"starts"` // of jobs that name an input
		OnHolders uint64 `json:"on_holders"`
	} `json:"files"`
}

// Figure is a figure of the status file, in microseconds.
type Figure struct{ Last, Mean, Max float64 }

// Status reads aucsched's status file.
func (c *Cluster) Status() (Status, error) {
	var s Status
	text, err := os.ReadFile(c.path("state", "aucsched.status"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("aucsched.status: %w: %.200s", err, text)
	}
	return s, nil
}
