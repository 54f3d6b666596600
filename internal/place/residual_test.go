// SPDX-License-Identifier: BSD-3-Clause

package place

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
		now, left := one(4), []*nodeset.Table(nil)
		for k := range 4 {
			if k == blocked {
				left = append(left, one(0))
				continue
			}
			left = append(left, one(4))
		}
		var r Residual
		r.Reset(now, left)
		err := r.Take(&Spec{}, []nodeset.Segment{{Cores: 4}}, 4)
		require.ErrorContains(t, err, fmt.Sprintf("reservation %d: ", blocked))
		require.Equal(t, nodeset.Capacity{Cores: 4}, r.now.Free(0))
		for k := range r.left {
			require.Equal(t, left[k].Free(0), r.left[k].Free(0), "reservation %d", k)
		}
	}
}
