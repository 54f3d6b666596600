// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"strings"

	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
)

// alike are jobs of which one tells how the others were asked for: tasks of an array, or jobs of a
// user in a partition with as much memory a core.
type alike struct {
	array, user, partition string
	memory                 int64
}

func alikeOf(j *workload.Job) [2]alike {
	array, _, isTask := strings.Cut(j.ID, "_")
	memory := max(j.Memory.PerCore, j.Memory.PerNode/max(place.LeastCores(&j.Request), 1))
	byUser := alike{user: j.User, partition: partitionOf(j), memory: memory}
	if !isTask {
		return [2]alike{byUser, byUser}
	}
	return [2]alike{{array: array}, byUser}
}

// spread lets jobs that had one node have several, where jobs alike had several though they asked
// for one at least: the accounts do not tell -n8 from -N1 -n8. Jobs with GPUs keep their nodes.
func (p *Past) spread() {
	several := map[alike]bool{}
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.MinGPUs == 0 && j.MaxNodes == 0 {
			for _, k := range alikeOf(j) {
				several[k] = true
			}
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.MinGPUs > 0 || j.MaxNodes != 1 || j.Cores < 2 {
			continue
		}
		if of := alikeOf(j); several[of[0]] || several[of[1]] {
			cores := int64(j.Cores)
			j.MaxNodes = 0
			j.Memory.PerCore, j.Memory.PerNode = max(j.Memory.PerCore, (j.Memory.PerNode+cores-1)/cores), 0
		}
	}
}
