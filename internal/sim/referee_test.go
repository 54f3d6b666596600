// SPDX-License-Identifier: BSD-3-Clause

package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/internal/test/requests"
)

func TestTheRefereeMeansWhatRequestsMean(t *testing.T) {
	judge := func(t require.TestingT, c requests.Case) {
		err := meets(&c.Request, c.Segs)
		require.Equal(t, c.OK, err == nil, "%s: %+v on %+v: %v", c.Name, c.Request, c.Segs, err)
	}
	for _, c := range requests.Cases() {
		judge(t, c)
	}
	rapid.Check(t, func(r *rapid.T) { judge(r, requests.Draw(r)) })
}
