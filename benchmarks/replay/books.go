// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/crewbooks"
)

// Books is for sim.CrewOptions: a second referee of malleable jobs.
func Books(pause int64, serial int, single, cut bool) sim.CrewBooks {
	return crewbooks.New(pause, serial, single, cut)
}
