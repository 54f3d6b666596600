// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/workload"
)

func pack(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func countOf(t []workload.Tally, reason string) int {
	for _, x := range t {
		if x.Reason == reason {
			return x.Jobs
		}
	}
	return 0
}

// totalCores is the number of cores of a request, the fewest if it has a range.
func totalCores(q *bids.Request) int { return int(place.LeastCores(q)) }
