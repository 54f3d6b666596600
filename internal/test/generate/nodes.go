// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// IsRuns tells runs of nodes as [Nodes] takes them, well-formed or not, from a path.
func IsRuns(spec string) bool {
	digit := spec != "" && spec[0] >= '0' && spec[0] <= '9'
	return digit && strings.Trim(spec, "0123456789x,") == ""
}

// Nodes are a machine of runs of equal nodes, COUNTxCORES or COUNTxCORESxGPUS with commas between
// ("1408x12x3", "20x80,48x12"): at most nodeset.MaxNodes nodes, each with 1 to 65535 cores and up
// to 255 GPUs.
func Nodes(spec string) (nodes []nodeset.Capacity, err error) {
	for run := range strings.SplitSeq(spec, ",") {
		if nodes, err = AddRun(nodes, strings.Split(run, "x")); err != nil {
			return nil, fmt.Errorf("cluster %.60q: %w", spec, err)
		}
	}
	return nodes, nil
}

// AddRun adds the nodes that count, cores and perhaps GPUs say.
func AddRun(nodes []nodeset.Capacity, fields []string) ([]nodeset.Capacity, error) {
	if len(fields) != 2 && len(fields) != 3 {
		return nil, fmt.Errorf("%.60q: not a count of nodes, cores and perhaps GPUs", strings.Join(fields, "x"))
	}
	most := [...]int{nodeset.MaxNodes, 1<<16 - 1, 1<<8 - 1}
	least := [...]int{1, 1, 0}
	var n [3]int
	for i, field := range fields {
		var err error
		if n[i], err = Whole([...]string{"count", "cores", "gpus"}[i], field, least[i], most[i]); err != nil {
			return nil, err
		}
	}
	if n[0] > nodeset.MaxNodes-len(nodes) {
		return nil, fmt.Errorf("more than %d nodes", nodeset.MaxNodes)
	}
	return append(nodes, slices.Repeat([]nodeset.Capacity{{Cores: uint16(n[1]), GPUs: uint8(n[2])}}, n[0])...), nil
}

// Whole parses a number from low to high; its error is a [*workload.InputError] still without a place.
func Whole(field, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		err = workload.ErrNotWhole
	case err != nil || n < low || n > high:
		err = fmt.Errorf("must be in %d..%d", low, high)
	default:
		return n, nil
	}
	return 0, &workload.InputError{Field: field, Value: value, Err: err}
}
