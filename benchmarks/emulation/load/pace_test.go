// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantile(t *testing.T) {
	var l Latencies
	require.Zero(t, l.Quantile(0.5))
	for i := range 100 {
		l.Sorted = append(l.Sorted, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 0.991: 100, 1: 100} {
		require.Equal(t, want, l.Quantile(q), "%g", q)
	}
}

// A slow answer does not keep the next client from asking.
func TestPaceIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		l := pace(t.Context(), 5, time.Second, func(_ context.Context, i int) error {
			require.Equal(t, time.Duration(i)*time.Second, time.Since(begin))
			if i == 0 {
				time.Sleep(10 * time.Second)
			}
			if i == 3 {
				return errors.New("no")
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
			return nil
		})
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.Equal(t, Latencies{Sorted: []time.Duration{1e6, 2e6, 4e6, 10e9}, Failed: 1}, l)
	})
}

func TestPaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		l := pace(ctx, 100, time.Second, func(context.Context, int) error { return nil })
		require.Len(t, l.Sorted, 3)
	})
}
