// SPDX-License-Identifier: BSD-3-Clause

package resample_test

import (
	"fmt"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/resample"
)

// A log of two sessions, of two jobs each that share a file, and a day with half as much again: of
// one session there is a second copy, a little later.
func ExampleDay() {
	nodes := []locality.Node{{Memory: 128, Bandwidth: 0.1, Cores: 4}}
	job := func(user string, submit, file int64) locality.Job {
		return locality.Job{Submit: submit, Duration: 60, WallTime: 600, Cores: 4, User: user, File: file, FileSize: 12.8}
	}
	log := []locality.Job{job("ann", 0, 1), job("ann", 30, 1), job("bob", 3600, 2), job("bob", 3605, 2)}
	day, err := resample.Day(nodes, log, resample.Options{Load: 1.5, Scale: 1, Window: 86400, Spread: 600, Seed: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range day {
		fmt.Println(j.Submit, j.User, j.File)
	}
	// Output:
	// 0 ann 1
	// 0 ann.2 3
	// 30 ann 1
	// 30 ann.2 3
	// 3600 bob 2
	// 3605 bob 2
}
