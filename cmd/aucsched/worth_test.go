// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// The example of docs/worth.md: no order of the queue saves what a plan saves.
func TestWhyToPlan(t *testing.T) {
	race.Slow(t)
	const inQueueOrder, planned = 18 * 3600, 12*3600 + 120 // jobs 2 to 5 come at 120 s
	for args, runtime := range map[[2]string]int64{
		{"--policy", "backfill"}: inQueueOrder, {"--policy", "easy"}: inQueueOrder, {"--policy", "easy-sjf"}: inQueueOrder,
		{"--policy", "easy-saf"}: inQueueOrder, {"--policy", "easy-f1"}: inQueueOrder, {"--policy", "easy-wfp3"}: inQueueOrder,
		{"--preset", "default"}: planned, {"--preset", "short"}: planned,
	} {
		code, out, errs := aucsched(t, "", "simulate", "--cluster", "4x1", "--workload", "../../examples/wide.swf",
			"--interval", "60", "--json", args[0], args[1])
		require.Zero(t, code, errs)
		var r struct {
			Runtime int64 `json:"runtime_s"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Equal(t, runtime, r.Runtime, args)
	}
}
