// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// A job with a range of GPUs is the sooner done, but never after its limit.
func TestRunTime(t *testing.T) {
	for _, c := range []struct {
		gpus            uint8
		duration, limit int64
		want            int64
	}{{1, 100, 500, 100}, {2, 100, 500, 50}, {4, 100, 500, 25}, {1, 100, 60, 60}, {4, 1, 60, 1}, {1, 0, 60, 1}} {
		j := workload.Job{Job: core.Job{Request: bids.Request{Cores: 1, MinGPUs: 1, MaxGPUs: 4}, TimeLimit: c.limit}, Duration: c.duration}
		require.Equal(t, c.want, runTime(&j, []nodeset.Segment{{Cores: 1, GPUs: c.gpus}}), "%+v", c)
	}
}
