// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/aucsched/aucsched/bids"
)

// Quota is what is left of a bound on what jobs take together.
type Quota struct {
	Name string `json:"name"`
	Left int64  `json:"left"`
}

// Charges is what an allocation counts against quotas, by name.
type Charges map[string]Charge

// Charge is what an allocation counts against one quota: in all, on each node, for each core and
// for each GPU.
type Charge struct {
	PerJob  int64 `json:"per_job,omitempty"`
	PerNode int64 `json:"per_node,omitempty"`
	PerCore int64 `json:"per_core,omitempty"`
	PerGPU  int64 `json:"per_gpu,omitempty"`
}

// maxQuotaName is how long the name of a quota may be, in bytes.
const maxQuotaName = 256

// CheckQuota reports what is no name of a quota: it is 1 to 256 bytes of text that can be printed.
func CheckQuota(name string) error {
	odd := func(c rune) bool { return !unicode.IsPrint(c) }
	if name == "" || len(name) > maxQuotaName || !utf8.ValidString(name) || slices.ContainsFunc([]rune(name), odd) {
		return fmt.Errorf("%.80q is not a name of 1 to %d bytes that can be printed", name, maxQuotaName)
	}
	return nil
}

// Numbered is charges with each quota by its number, such that count nothing left out; nil if none
// is left. unknown is the first name that has no number.
func (c Charges) Numbered(number func(name string) (int, bool)) (charges []bids.Charge, unknown string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		q, ok := number(name)
		if !ok {
			return nil, name
		}
		if x := c[name]; x != (Charge{}) {
			charges = append(charges, bids.Charge{Quota: q, PerJob: x.PerJob, PerNode: x.PerNode, PerCore: x.PerCore, PerGPU: x.PerGPU})
		}
	}
	slices.SortFunc(charges, func(a, b bids.Charge) int { return cmp.Compare(a.Quota, b.Quota) })
	return charges, ""
}
