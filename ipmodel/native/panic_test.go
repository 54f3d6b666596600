// SPDX-License-Identifier: BSD-3-Clause

package native

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// goroutine is the caller's "goroutine 7".
func goroutine() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return string(buf[:bytes.IndexByte(buf, '[')])
}

// A panic in the goroutine of the proof would end a process that has a recover only in
// the goroutine that called Solve: it comes up there, and the Solver is as good as before.
func TestPanicsComeUpInTheCaller(t *testing.T) {
	m := randomModel(rand.New(rand.NewPCG(3, 3)), 200, 6, 100, false)
	for _, aside := range []bool{true, false} {
		caller, elsewhere := goroutine(), false
		s := New()
		end := time.Now().Add(time.Minute)
		o := ipmodel.Options{Deadline: end, Now: func() time.Time {
			elsewhere = elsewhere || goroutine() != caller // clocks are read one at a time
			if elsewhere && (goroutine() != caller) == aside {
				panic("the clock stands still")
			}
			return end.Add(-time.Second)
		}}
		var r ipmodel.Result
		require.PanicsWithValue(t, "the clock stands still", func() { _ = s.Solve(context.Background(), m, o, &r) })
		require.True(t, elsewhere)
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Work: 2_000_000}, &r))
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err)
		require.Equal(t, r.Value, worth)
	}
}

// A model that is none is refused, in words, and the Solver is as good as before.
func TestInvalidModelsAreRefused(t *testing.T) {
	s, r := New(), ipmodel.Result{}
	good := randomModel(rand.New(rand.NewPCG(3, 3)), 20, 3, 10, false)
	for _, spoil := range []func(m *ipmodel.Model){
		func(m *ipmodel.Model) { m.GroupStart = nil },
		func(m *ipmodel.Model) { m.ColStart = nil },
		func(m *ipmodel.Model) { m.Row = append([]int32{}, m.Row...); m.Row[0] = 99 },
	} {
		m := *good
		spoil(&m)
		require.Error(t, s.Solve(t.Context(), &m, ipmodel.Options{}, &r))
		require.NoError(t, s.Solve(t.Context(), good, ipmodel.Options{}, &r))
		require.Equal(t, ipmodel.Optimal, r.Status)
	}
}
