// SPDX-License-Identifier: BSD-3-Clause

package day

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneDay(t *testing.T) {
	if os.Getenv("DAY_OUT") == "" {
		t.Skip()
	}
	num := func(k string) float64 {
		x, err := strconv.ParseFloat(os.Getenv(k), 64)
		require.NoError(t, err)
		return x
	}
	began := time.Now()
	require.NoError(t, Run(t.Context(), Options{Dir: os.Getenv("DAY_DIR"), Out: os.Getenv("DAY_OUT"), Tools: os.Getenv("DAY_TOOLS"),
		Seed: uint64(num("DAY_SEED")), Hours: num("DAY_HOURS"), Load: num("DAY_LOAD"), Priority: Priority(os.Getenv("DAY_PRIO")), Rate: num("DAY_RATE"), Busy: num("DAY_BUSY"),
		Log: func(f string, a ...any) { t.Logf("%6.1f "+f, append([]any{time.Since(began).Seconds()}, a...)...) }}))
}
