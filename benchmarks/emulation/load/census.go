// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// Changes are what became of jobs while one slurmctld followed another.
type Changes struct {
	// Lost are jobs that were pending or running before, and of which nothing is known afterwards.
	Lost int
	// Again are jobs that ran before, and afterwards wait or have another start.
	Again int
	// Twice are jobs whose end was written down a second time.
	Twice int
}

// census is a look at all jobs.
type census struct {
	live  map[uint32]string   // pending or running: when it started, "" if it has not
	other map[uint32]bool     // in any other state
	ended map[uint32][]string // the starts of each time that its end was written down
}

// look takes a census.
func look(ctx context.Context, c *slurmtest.Cluster) (*census, error) {
	out, err := c.Squeue(ctx, "%A %T %S", "--states=all")
	if err != nil {
		return nil, err
	}
	// Afterwards: what has ended since is in both.
	ended, err := c.Ended()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return parseCensus(out, ended)
}

// parseCensus reads lines of squeue: id, state, start.
func parseCensus(text string, ended []slurmtest.Ended) (*census, error) {
	s := &census{live: map[uint32]string{}, other: map[uint32]bool{}, ended: map[uint32][]string{}}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("squeue: %q: id, state and start are expected", line)
		}
		n, err := strconv.ParseUint(f[0], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("squeue: %q: %w", line, err)
		}
		switch id := uint32(n); f[1] {
		case "PENDING": // its start is an estimate
			s.live[id] = ""
		case "RUNNING":
			s.live[id] = f[2]
		default:
			s.other[id] = true
		}
	}
	for i := range ended {
		e := &ended[i]
		s.ended[e.ID] = append(s.ended[e.ID], e.Start)
	}
	return s, nil
}

// compare says what became of the jobs.
func compare(before, after *census) (c Changes) {
	for id, start := range before.live {
		now, live := after.live[id]
		ends := after.ended[id]
		switch {
		case !live && !after.other[id] && len(ends) == 0:
			c.Lost++
		case start != "" && (live && now != start || differs(ends, start)):
			c.Again++
		}
	}
	for id, ends := range after.ended {
		if len(ends) > max(len(before.ended[id]), 1) {
			c.Twice++
		}
	}
	return c
}

func differs(starts []string, start string) bool {
	for _, s := range starts {
		if s != start {
			return true
		}
	}
	return false
}
