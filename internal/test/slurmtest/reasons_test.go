// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/slurm/pending"
)

// squeue says why a job waits in the words that it has with stock Slurm.
func TestReasonsAreStocks(t *testing.T) {
	slow(t)
	beside(t)
	without, with := cluster(t, stock, whyMachine()), cluster(t, auction, whyMachine())
	for _, w := range waitsOf {
		if w.name == "the window" { // stock Slurm has none
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			require.Equal(t, reasons(t, without, w), reasons(t, with, w))
		})
	}
}

// reasons has a job wait in that way, and is what squeue has of it as soon as that is the same for
// three seconds. Afterwards all is as it was.
func reasons(t *testing.T, c *Cluster, w wait) string {
	t.Helper()
	b := &whyBed{t, c}
	id := w.begin(b)
	var reason string
	var since time.Time
	require.NoError(t, c.poll(t.Context(), 40*time.Second, "a reason that stays", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%r", "-j", fmt.Sprint(id), "-t", "PD")
		if err != nil {
			return false, err
		}
		if r := strings.TrimSpace(out); r != reason {
			reason, since = r, time.Now()
		}
		return reason != "" && reason != "None" && time.Since(since) > 3*time.Second, nil
	}))
	if w.kind != pending.Turn { // which only jobs bring about
		x, err := b.asks(Alice).Why(t.Context(), fmt.Sprint(id))
		require.NoError(t, err)
		w.mend(b, x)
	}
	require.NoError(t, c.Scancel(context.Background(), "--user="+Alice))
	require.NoError(t, c.WaitEmpty(context.Background(), 30*time.Second))
	return reason
}
