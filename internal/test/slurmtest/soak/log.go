// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"regexp"
	"strconv"
	"strings"
)

// patterns are lines of slurmctld's log that tell of something bad.
var patterns = map[string]*regexp.Regexp{
	"Bad job state":    regexp.MustCompile(`Bad job state`),
	"Jobs may be lost": regexp.MustCompile(`Jobs may be lost`),
	"moved backwards":  regexp.MustCompile(`moved backwards`),
	"Duplicate jobid":  regexp.MustCompile(`Duplicate jobid`),
	"fatal":            regexp.MustCompile(`\] fatal`),
	"aucsched errors":  regexp.MustCompile(`\] error: aucsched`),
	fullDisk:           regexp.MustCompile(`\] error: aucsched: .*(No space left on device|Input/output error|state could not be saved)`),
	"errors in all":    regexp.MustCompile(`\] error: `),
}

// fullDisk is what aucsched says of a disk that was full, slow or failing.
const fullDisk = "of a full or failing disk"

// judged are those of them that must not come oftener than with stock Slurm. (Other errors are: of
// a node that is asked for a job that it does not have, for instance.)
var judged = []string{"Bad job state", "Jobs may be lost", "moved backwards", "Duplicate jobid", "fatal", "aucsched errors"}

// backwards is by how much the state's time moved backwards. While a clock is off by that,
// each save says so again.
var backwards = regexp.MustCompile(`moved backwards by (\d+) seconds`)

// again reports whether a line says of the state's time what the line before on that said.
func again(line string, last *int) bool {
	m := backwards.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	by, _ := strconv.Atoi(m[1])
	same := by >= *last-2 && by <= *last+2
	*last = by
	return same
}

// CountLines counts the lines of a log by pattern.
func CountLines(log string) map[string]int {
	n := map[string]int{}
	last := -10
	for name := range patterns {
		n[name] = 0
	}
	for line := range strings.SplitSeq(log, "\n") {
		if patterns[fullDisk].MatchString(line) { // it is to be said
			n[fullDisk]++
			continue
		}
		if again(line, &last) {
			continue
		}
		for name, p := range patterns {
			if p.MatchString(line) {
				n[name]++
			}
		}
	}
	return n
}
