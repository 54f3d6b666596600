// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandover(t *testing.T) {
	on := func(start, end int64, first, last int) Life {
		return Life{Start: start, End: end, Segs: [][4]int{{first, last, 1, 0}}}
	}
	for name, c := range map[string]struct {
		lives []Life
		want  float64
	}{
		"nobody":                              {nil, -1},
		"nobody else":                         {[]Life{on(0, 10, 0, 3)}, -1},
		"on other nodes":                      {[]Life{on(0, 10, 0, 3), on(11, 20, 4, 5)}, -1},
		"at once":                             {[]Life{on(0, 10, 0, 0), on(10, 20, 0, 0)}, 0},
		"the first of two on any node":        {[]Life{on(0, 10, 0, 3), on(14, 30, 3, 5), on(12, 30, 2, 2)}, 2},
		"not one that shared the nodes":       {[]Life{on(0, 10, 0, 0), on(9, 30, 0, 0), on(13, 30, 0, 0)}, 3},
		"logged in the order of ends":         {[]Life{on(12, 15, 0, 0), on(0, 10, 0, 0), on(19, 30, 0, 0)}, 3},
		"the middle of three":                 {[]Life{on(0, 10, 0, 0), on(11, 20, 0, 0), on(22, 30, 0, 0), on(39, 40, 0, 0)}, 2},
		"ten seconds are not too long":        {[]Life{on(0, 10, 0, 0), on(20, 30, 0, 0)}, 10},
		"nodes that nobody wanted do not say": {[]Life{on(0, 10, 0, 0), on(21, 30, 0, 0), on(34, 40, 0, 0)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := (&Result{Lives: c.lives}).Handover()
			require.Equal(t, c.want >= 0, ok)
			require.Equal(t, max(c.want, 0), got)
		})
	}
}
