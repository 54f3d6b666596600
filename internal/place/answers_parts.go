// SPDX-License-Identifier: BSD-3-Clause

package place

import "fmt"

// apart is why a job of several parts can never run if each of them could.
const apart = "can never run: no place is found for all of its components at once, though nothing runs"

// neverParts is Never for a job of several parts: each has a place on an idle machine, and a place
// for all of them is found.
func (c *Cache) neverParts(s *Spec) string {
	for k := range s.Parts.Specs {
		c.part = s.Parts.Specs[k]
		c.part.Contiguous = c.part.Contiguous || s.Contiguous
		if why := c.Never(&c.part); why != "" {
			return fmt.Sprintf("%s: %s", PartName(k), why)
		}
	}
	if c.idle == nil {
		c.idle = Idle(c.now)
	}
	ok := false
	if c.segs, ok = c.placer.PlaceParts(c.segs[:0], c.idle, s, PartsOptions{}, nil, 0); !ok {
		return apart
	}
	return ""
}
