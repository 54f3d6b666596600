// SPDX-License-Identifier: BSD-3-Clause

//go:build !highs

package highs

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

func TestNotBuilt(t *testing.T) {
	require.False(t, Built)
	s := New(Options{})
	require.Equal(t, "highs", s.Name())
	require.ErrorIs(t, s.Solve(context.Background(), &ipmodel.Model{}, ipmodel.Options{}, &ipmodel.Result{}), ErrNotBuilt)
}

func TestWorkerNotBuiltSaysSo(t *testing.T) {
	var in, out bytes.Buffer
	require.NoError(t, writeRequest(&in, wirePair()))
	require.ErrorIs(t, Worker(&in, &out), ErrNotBuilt)
	require.Equal(t, answerMagic, string(out.Next(len(answerMagic))))
	f, err := readFrame(&out, 2)
	require.NoError(t, err)
	require.Equal(t, byte(verdictFailed), f.end.Verdict)
	require.Equal(t, ErrNotBuilt.Error(), f.message)
}

// play is for workers that have HiGHS.
func play(string) int { return 2 }
