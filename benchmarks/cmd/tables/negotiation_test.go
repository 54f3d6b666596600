// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// The page's figures are those of the benchmark: few jobs on few nodes.
func TestNegotiationPage(t *testing.T) {
	race.Slow(t)
	f, err := measureNegotiations(t.Context(), []negotiationSize{{8, 40, 2}}, io.Discard)
	require.NoError(t, err)
	r := &f.rows[0]
	for _, once := range []string{"INITIALISE", "RESPONSE_INITIALISE", "NEGOTIATION_START", "RESPONSE_FINALISE"} {
		require.Equal(t, float64(r.runs), r.of[once], once)
	}
	require.Equal(t, r.of["transactions"], r.of["NEGOTIATION_END"])
	require.Positive(t, r.of["RESOURCE_OFFER-B"])
	require.Positive(t, r.of["transaction-p50-ms"])
	require.Less(t, r.of["answer-p50-ms"], r.of["transaction-p99-ms"])
	text, err := f.page()
	require.NoError(t, err)
	require.Contains(t, text, "| negotiation    | NEGOTIATION_END            |    1.00 |")
	require.NotContains(t, text, "NaN")
}

func TestBenchmarkMetrics(t *testing.T) {
	of, err := benchmarkMetrics("goos: linux\nBenchmarkX-2  1  5 a-B  7 b\nBenchmarkX-2  3  6.5 a-B  8 b\nPASS\n", "BenchmarkX")
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"a-B": 6.5, "b": 8}, of)
	_, err = benchmarkMetrics("PASS\n", "BenchmarkX")
	require.ErrorContains(t, err, "no BenchmarkX")
	_, err = benchmarkMetrics("BenchmarkX-2 1 x b\n", "BenchmarkX")
	require.Error(t, err)
}
