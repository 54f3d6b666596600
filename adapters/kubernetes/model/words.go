// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/aucsched/aucsched/core"
	v1 "k8s.io/api/core/v1"
)

const maxRivals = 2 // that a message names

// Words say what a job lacks, who holds it, and until when.
func (m *Model) Words(w core.Waiting, x *core.Explanation) string {
	text := w.Reason
	if len(x.Lacks) > 0 {
		text += ": waits for " + m.lack(&x.Lacks[0])
	}
	word := ", behind "
	for _, rival := range x.Rivals[:min(maxRivals, len(x.Rivals))] {
		if rival.Role == "running" {
			text += ", held by " + rival.ID + at(" until ", m.jobs[rival.ID].end, m.now)
			continue
		}
		text += word + rival.ID
		word = " and "
	}
	return text + at(", expected to start at ", w.Expected, m.now)
}

// at is a time in words; "" if it is not known.
func at(words string, t, now time.Time) string {
	if t.IsZero() || t.Sub(now) > never/2 {
		return ""
	}
	return words + t.UTC().Format("15:04 on 2 Jan")
}

// lack says how much of what is missing.
func (m *Model) lack(l *core.Lack) string {
	missing, row, each := max(0, l.Needs-l.Has), l.Row, l.Each[l.Row]
	switch strings.TrimSuffix(row, "_per_node") {
	case cores:
		row, each = string(v1.ResourceCPU), l.Each[string(v1.ResourceCPU)]
	case gpus:
		row, each = "GPUs", l.Each[gpus]*m.units[gpus]
	}
	switch {
	case l.In == "quota":
		_, name, _ := strings.Cut(row, ": ")
		unit := quotaUnit(name)
		return fmt.Sprintf("%s of %s of %s", quantity(name, missing*unit), quantity(name, l.Needs*unit), row)
	case m.rooms[row] != nil:
		return fmt.Sprintf("%d of %d nodes that anti-affinity and spread allow", missing, l.Needs)
	case each > 0 && l.In == "nodes":
		return fmt.Sprintf("%d of %d nodes with %s %s", missing, l.Needs, quantity(row, each*max(m.units[row], 1)), row)
	case l.In == "cores":
		return fmt.Sprintf("room for %d of %d pods (%s)", missing, l.Needs, row)
	}
	return fmt.Sprintf("%d of %d %s (%s)", missing, l.Needs, l.In, row)
}
