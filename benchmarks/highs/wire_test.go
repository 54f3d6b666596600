// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/ipmodel"
)

func wirePair() request {
	return request{
		Seed: 1, Work: 2, Limit: 3 * time.Second, Start: []int32{1},
		Model: &ipmodel.Model{
			Value: []int64{5, 7}, GroupStart: []int32{0, 1, 2}, Required: []bool{true, false},
			ColStart: []int32{0, 1, 2}, Row: []int32{0, 0}, Coef: []int32{1, 1}, Cap: []int64{1},
		},
	}
}

func TestRequestComesBack(t *testing.T) {
	var wire bytes.Buffer
	require.NoError(t, writeRequest(&wire, wirePair()))
	whole := wire.Bytes()
	got, err := readRequest(bytes.NewReader(whole))
	require.NoError(t, err)
	require.Equal(t, wirePair(), got)
	for n := range whole {
		_, err := readRequest(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, errNotRequest, "%d bytes of %d", n, len(whole))
	}
	whole[7]++ // another version
	_, err = readRequest(bytes.NewReader(whole))
	require.ErrorIs(t, err, errNotRequest)
}

func TestRequestTooLarge(t *testing.T) {
	q := wirePair()
	q.Model.Cap = make([]int64, maxColumns+1)
	require.ErrorContains(t, writeRequest(&bytes.Buffer{}, q), "too large")
}

func TestFramesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) frame {
				return frame{kind: kindSolution, chosen: rapid.SliceOfN(rapid.Int32(), 0, 9).Draw(t, "chosen")}
			}),
			rapid.Custom(func(t *rapid.T) frame { return frame{kind: kindBound, bound: rapid.Int64().Draw(t, "bound")} }),
			rapid.Custom(func(t *rapid.T) frame {
				return frame{kind: kindEnd, end: endFrame{rapid.Byte().Draw(t, "verdict"), 2, 3},
					message: rapid.StringN(0, 20, 80).Draw(t, "message")}
			}),
		).Draw(t, "frame")
		var wire bytes.Buffer
		require.NoError(t, writeFrame(&wire, f))
		got, err := readFrame(&wire, 9)
		require.NoError(t, err)
		require.Equal(t, f, got)
	})
}

func TestScalingBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(1, 58).Draw(t, "bits")
		worth := rapid.Int64Range(0, 1<<bits-1)
		m := &ipmodel.Model{Value: []int64{worth.Draw(t, "a"), worth.Draw(t, "b")},
			GroupStart: []int32{0, 1, 2}, ColStart: []int32{0, 0, 0}}
		s := newScaling(m)
		sum := m.Value[0] + m.Value[1]
		bound, ok := s.bound(s.cost(m.Value[0]) + s.cost(m.Value[1]))
		require.True(t, ok)
		require.GreaterOrEqual(t, bound, sum)
		require.LessOrEqual(t, bound-sum, sum>>34)
		require.LessOrEqual(t, s.cost(max(m.Value[0], m.Value[1])), float64(int64(1)<<costBits))
	})
}

func TestScalingOfNothing(t *testing.T) {
	s := newScaling(&ipmodel.Model{Value: []int64{0}, GroupStart: []int32{0, 1}, ColStart: []int32{0, 0}})
	require.Zero(t, s.cost(0))
	for _, cost := range []float64{-1, 1e300} {
		_, ok := s.bound(cost)
		require.False(t, ok)
	}
}

func FuzzReadRequest(f *testing.F) {
	var wire bytes.Buffer
	require.NoError(f, writeRequest(&wire, wirePair()))
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := readRequest(bytes.NewReader(data))
		if err != nil {
			require.ErrorIs(t, err, errNotRequest)
			return
		}
		require.NoError(t, q.Model.Validate())
		newProgram(q.Model, newScaling(q.Model))
	})
}

func FuzzReadFrame(f *testing.F) {
	for _, x := range []frame{{kind: kindSolution, chosen: []int32{3}}, {kind: kindBound, bound: 1}, {kind: kindEnd, message: "m"}} {
		var wire bytes.Buffer
		require.NoError(f, writeFrame(&wire, x))
		f.Add(wire.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := readFrame(bytes.NewReader(data), 9)
		if err == nil {
			require.LessOrEqual(t, len(x.chosen), 9)
			require.LessOrEqual(t, len(x.message), maxMessage)
		}
	})
}
