// SPDX-License-Identifier: BSD-3-Clause

package shadow

import "strconv"

// String is the job as squeue names it: "12", or "12_3" for a task.
func (k Key) String() string {
	name := strconv.FormatInt(k.Job, 10)
	if k.Task >= 0 {
		name += "_" + strconv.FormatInt(k.Task, 10)
	}
	return name
}
