// SPDX-License-Identifier: BSD-3-Clause

package core

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/answers"
)

// neverRuns returns why the machine can never meet any of the job's requests, or "".
func neverRuns(c *answers.Cache, job *Job) string {
	why := c.Never(&job.Request)
	if len(job.Alternatives) == 0 {
		return why
	}
	if n := len(job.Alternatives); n > MaxAlternatives {
		return fmt.Sprintf("can never run: alternatives: %d: must be at most %d", n, MaxAlternatives)
	}
	if why == "" {
		return ""
	}
	for k := 1; k < job.Ways(); k++ {
		if r, _ := job.Way(k); c.Never(&r) == "" {
			return ""
		}
	}
	return why + "; nor can any of its alternatives"
}
