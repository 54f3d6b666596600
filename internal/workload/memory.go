// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"math"

	"github.com/aucsched/aucsched/nodeset"
)

// Memory is what a job asks for of a node's, in MiB: PerNode, and PerCore for each core that the
// node gives. Zero: the trace does not say.
type Memory struct{ PerNode, PerCore int64 }

const kib = 1 << 10 // a MiB

// mebibytes is an amount in KiB as whole MiB, rounded up, 0 for one that is not known. It is at
// most nodeset.MaxAmount, which no node has.
func Mebibytes(kibibytes float64) int64 {
	return int64(min(max(math.Ceil(kibibytes/kib), 0), nodeset.MaxAmount))
}
