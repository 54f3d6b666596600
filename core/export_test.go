// SPDX-License-Identifier: BSD-3-Clause

package core

// Kept is how many elements a cluster without jobs still has of jobs, but for a
// bounded number of masks.
func Kept(c *Cluster) int {
	return len(c.jobs) + len(c.queue) + len(c.running) + max(0, len(c.machine.masks)-128)
}
