// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"math"
	"strings"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/nodeset"
)

// memory is what a job that asks for q asks for of memory: ReqMem, which old versions of sacct end
// with c or n for an amount a core or a node, or else the mem of ReqTRES, both totals otherwise. A
// total is divided by the nodes where their number is fixed, and else by the cores, and rounded up.
func (s *sacctReader) memory(q *bids.Request) Memory {
	text := s.Get("reqmem")
	switch mib := s.Parse("reqmem", parseReqMem); {
	case mib == 0:
		return DividedMemory(s.tres("reqtres").memory, q)
	case strings.HasSuffix(text, "c"):
		return Memory{PerCore: mib}
	case strings.HasSuffix(text, "n"):
		return Memory{PerNode: mib}
	default:
		return DividedMemory(mib, q)
	}
}

// DividedMemory is a total of q's memory, by node or core.
func DividedMemory(mib int64, q *bids.Request) Memory {
	over := func(n int64) int64 { return min((mib+n-1)/n, nodeset.MaxAmount) }
	if q.MinNodes > 0 && q.MinNodes == q.MaxNodes {
		return Memory{PerNode: over(int64(q.MinNodes))}
	}
	return Memory{PerCore: over(max(place.LeastCores(q), 1))}
}

// parseReqMem is parseMemory for what ReqMem says.
func parseReqMem(v string) (int64, error) {
	return parseMemory(strings.TrimRight(v, "cn"))
}

const kib = 1 << 10 // a MiB

// memoryUnits are Slurm's, in MiB.
var memoryUnits = map[string]float64{"": 1, "K": 1. / kib, "M": 1, "G": kib, "T": kib * kib, "P": kib * kib * kib}

// parseMemory parses an amount of memory as Slurm writes it, 4000M or 1.50T, as whole MiB, rounded
// up.
func parseMemory(v string) (int64, error) {
	digits := strings.TrimRight(v, "KMGTP")
	unit, known := memoryUnits[v[len(digits):]]
	if !known {
		return 0, ErrNotNumber
	}
	f, err := ParseDecimal([]byte(digits))
	switch f = math.Ceil(f * unit); {
	case err != nil:
		return 0, err
	case f < 0:
		return 0, errors.New("must not be negative")
	case f > maxCount:
		return 0, ErrTooLarge
	}
	return int64(f), nil
}
