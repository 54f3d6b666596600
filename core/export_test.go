// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"cmp"
	"slices"
)

// Kept is how many elements a cluster without jobs still has of jobs, but for a
// bounded number of lists.
func Kept(c *Cluster) int {
	return len(c.jobs) + len(c.queue) + len(c.running) + max(0, len(c.machine.lists)-128)
}

// sortQueue brings jobs into queue order: by falling priority, equals as they were.
func sortQueue(jobs []*Job) {
	slices.SortStableFunc(jobs, func(a, b *Job) int { return cmp.Compare(b.Priority, a.Priority) })
}

// SortQueue is for tests beside the package.
var SortQueue = sortQueue
