// SPDX-License-Identifier: BSD-3-Clause

package bids

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/nodeset"
)

// Of four reservations one leaves nothing: Take names it, and takes nothing of the others.
func TestTakeNamesTheReservationInTheWay(t *testing.T) {
	for blocked := range 4 {
		one := func(free uint16) *nodeset.Table {
			n, err := nodeset.New([]nodeset.Capacity{{Cores: 4}})
			require.NoError(t, err)
			require.NoError(t, n.SetFree(0, nodeset.Capacity{Cores: free}))
			return n
		}
		s := Space{Now: one(4)}
		for k := range 4 {
			if k == blocked {
				s.Left = append(s.Left, one(0))
				continue
			}
			s.Left = append(s.Left, one(4))
		}
		var r Rest
		r.Reset(&s)
		err := r.Take([]nodeset.Segment{{Cores: 4}}, 4)
		require.ErrorContains(t, err, fmt.Sprintf("reservation %d: ", blocked))
		require.Equal(t, nodeset.Capacity{Cores: 4}, r.now.Free(0))
		for k := range r.left {
			require.Equal(t, s.Left[k].Free(0), r.left[k].Free(0), "reservation %d", k)
		}
	}
}
