// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"strconv"
	"strings"
)

// Sdiag is what sdiag says of slurmctld's own schedulers.
type Sdiag struct {
	Main, Backfill Cycles
	// Fields has every figure by "section: name".
	Fields map[string]string
}

// Cycles are the figures of a scheduler: microseconds, but for counts.
type Cycles struct {
	Count, Last, Max, Mean int64
	DepthMean, LastQueue   int64
}

// ParseSdiag reads the output of sdiag.
func ParseSdiag(text string) (Sdiag, error) {
	s := Sdiag{Fields: map[string]string{}}
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		// "Backfilling stats (WARNING: data obtained in the middle of ...)"
		line, _, _ = strings.Cut(line, " (WARNING:")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			if l := strings.TrimSpace(line); l != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '*' {
				section = l
			}
			continue
		}
		if line[0] != '\t' && line[0] != ' ' && strings.TrimSpace(value) == "" {
			section, _, _ = strings.Cut(name, " (")
			continue
		}
		s.Fields[section+": "+strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, c := range []struct {
		section string
		to      *Cycles
	}{{"Main schedule statistics", &s.Main}, {"Backfilling stats", &s.Backfill}} {
		for name, to := range map[string]*int64{"Total cycles": &c.to.Count, "Last cycle": &c.to.Last, "Max cycle": &c.to.Max,
			"Mean cycle": &c.to.Mean, "Mean depth cycle": &c.to.DepthMean, "Depth Mean": &c.to.DepthMean,
			"Last queue length": &c.to.LastQueue} {
			text, ok := s.Fields[c.section+": "+name]
			if !ok {
				continue
			}
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return s, fmt.Errorf("sdiag: %s: %s: %q is no number", c.section, name, text)
			}
			*to = v
		}
	}
	return s, nil
}
