// SPDX-License-Identifier: BSD-3-Clause

//go:build highs

package highs

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/ipmodel"
)

func play(role string) int {
	say := func(f frame) { _ = writeFrame(os.Stdout, f) }
	if role != "silent" && role != "nonsense" && role != "solve" {
		_, _ = io.WriteString(os.Stdout, answerMagic)
	}
	switch role {
	case "solve":
		if Worker(os.Stdin, os.Stdout) != nil {
			return 1
		}
	case "silent":
		time.Sleep(time.Hour)
	case "nonsense":
		_, _ = io.WriteString(os.Stdout, strings.Repeat("nonsense", 1<<16))
	case "nonsense later":
		_, _ = io.WriteString(os.Stdout, strings.Repeat("nonsense", 1<<16))
	case "long frame":
		_ = binary.Write(os.Stdout, binary.LittleEndian, frameHeader{Kind: kindSolution, Size: 1<<32 - 4})
		time.Sleep(time.Hour)
	case "die":
		fmt.Fprintln(os.Stderr, "out of luck")
		return 7
	case "find and die":
		say(frame{kind: kindSolution, chosen: []int32{1}})
		return 7
	case "find and hang":
		say(frame{kind: kindSolution, chosen: []int32{1}})
		say(frame{kind: kindBound, bound: 12})
		time.Sleep(time.Hour)
	case "lie":
		say(frame{kind: kindSolution, chosen: []int32{0, 1}})
		say(frame{kind: kindSolution, chosen: []int32{0, 99}})
		say(frame{kind: kindSolution, chosen: []int32{-1}})
		say(frame{kind: kindSolution, chosen: []int32{1, 1}})
		say(frame{kind: kindSolution, chosen: []int32{0}})
		say(frame{kind: kindBound, bound: 4})
		say(frame{kind: kindEnd, end: endFrame{Verdict: verdictDone}})
	case "deny":
		say(frame{kind: kindEnd, end: endFrame{Verdict: verdictInfeasible}})
	case "give up":
		say(frame{kind: kindEnd, end: endFrame{Verdict: verdictFailed}, message: "no more"})
	}
	return 0
}

func in(d time.Duration) ipmodel.Options { return ipmodel.Options{Deadline: time.Now().Add(d)} }

func TestSolvePair(t *testing.T) {
	var r ipmodel.Result
	require.NoError(t, worker(t, "solve").Solve(context.Background(), pair(), ipmodel.Options{}, &r))
	require.Equal(t, ipmodel.Optimal, r.Status)
	require.Equal(t, []int32{1}, r.Chosen)
	require.Equal(t, []int64{7, 7}, []int64{r.Value, r.Bound})
}

func TestBadWorkers(t *testing.T) {
	start := []int32{0}
	for _, test := range []struct {
		role   string
		start  []int32
		err    string
		status ipmodel.Status
		chosen []int32
		bound  int64
	}{
		{"silent", nil, "", ipmodel.Feasible, []int32{}, 12},
		{"silent", start, "", ipmodel.Feasible, start, 12},
		{"nonsense", nil, "nonsense", 0, nil, 0},
		{"nonsense", start, "", ipmodel.Feasible, start, 12},
		{"nonsense later", nil, "nonsense", 0, nil, 0},
		{"long frame", nil, "nonsense", 0, nil, 0},
		{"die", nil, "exit status 7): out of luck", 0, nil, 0},
		{"die", start, "", ipmodel.Feasible, start, 12},
		{"find and die", nil, "", ipmodel.Feasible, []int32{1}, 12},
		{"find and hang", nil, "", ipmodel.Feasible, []int32{1}, 12},
		{"lie", nil, "", ipmodel.Feasible, start, 12},
		{"deny", start, "", ipmodel.Feasible, start, 12},
		{"give up", nil, "no more", 0, nil, 0},
	} {
		t.Run(fmt.Sprintf("%s, start %v", test.role, test.start), func(t *testing.T) {
			s := worker(t, test.role)
			o := in(300 * time.Millisecond)
			if test.err != "" || test.role == "find and die" || test.role == "lie" || test.role == "deny" {
				o = in(10 * time.Second) // the worker ends by itself
			}
			o.Start = test.start
			var r ipmodel.Result
			began := time.Now()
			err := s.Solve(context.Background(), pair(), o, &r)
			require.Less(t, time.Since(began), 9*time.Second)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.status, r.Status)
			require.Equal(t, test.chosen, append([]int32{}, r.Chosen...))
			require.Equal(t, test.bound, r.Bound)
		})
	}
}

func TestAbsentWorker(t *testing.T) {
	var r ipmodel.Result
	s := New(Options{Command: []string{filepath.Join(t.TempDir(), "absent")}})
	require.ErrorContains(t, s.Solve(context.Background(), pair(), ipmodel.Options{Start: []int32{0}}, &r), "can't start")
}

func TestCancelledContextKeepsTheIncumbent(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	var r ipmodel.Result
	require.NoError(t, worker(t, "find and hang").Solve(ctx, pair(), ipmodel.Options{}, &r))
	require.Equal(t, []int32{1}, r.Chosen)
	require.Equal(t, ipmodel.Feasible, r.Status)
}

func TestModelsThatNeedNoWorker(t *testing.T) {
	s := New(Options{Command: []string{"/nonexistent"}})
	for _, test := range []struct {
		name   string
		m      *ipmodel.Model
		status ipmodel.Status
		chosen []int32
	}{
		{"no column", &ipmodel.Model{}, ipmodel.Optimal, []int32{}},
		{"no row", &ipmodel.Model{Value: []int64{1, 3, 2}, GroupStart: []int32{0, 2, 3},
			ColStart: []int32{0, 0, 0, 0}}, ipmodel.Optimal, []int32{1, 2}},
		{"a row that can't bind", &ipmodel.Model{Value: []int64{1}, GroupStart: []int32{0, 1},
			ColStart: []int32{0, 1}, Row: []int32{0}, Coef: []int32{1}, Cap: []int64{1}},
			ipmodel.Optimal, []int32{0}},
		{"empty required group", &ipmodel.Model{GroupStart: []int32{0, 0}, ColStart: []int32{0},
			Required: []bool{true}}, ipmodel.Infeasible, []int32{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r ipmodel.Result
			require.NoError(t, s.Solve(context.Background(), test.m, ipmodel.Options{}, &r))
			require.Equal(t, test.status, r.Status)
			require.Equal(t, test.chosen, append([]int32{}, r.Chosen...))
		})
	}
	require.ErrorContains(t, s.Solve(context.Background(), &ipmodel.Model{Value: []int64{1}},
		ipmodel.Options{}, &ipmodel.Result{}), "GroupStart")
}

// bruteForce tries every choice; worth is -1 when none is feasible.
func bruteForce(m *ipmodel.Model) (worth int64) {
	worth = -1
	var from func(g int, chosen []int32)
	from = func(g int, chosen []int32) {
		if g == m.Groups() {
			if w, err := m.Check(chosen); err == nil {
				worth = max(worth, w)
			}
			return
		}
		from(g+1, chosen)
		for i := m.GroupStart[g]; i < m.GroupStart[g+1]; i++ {
			from(g+1, append(chosen[:len(chosen):len(chosen)], i))
		}
	}
	from(0, nil)
	return worth
}

// randomModel has groups of up to 4 columns whose worths take so many bits.
func randomModel(rng *rand.Rand, groups, rows, worthBits int, required bool) *ipmodel.Model {
	m := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	for range rows {
		m.Cap = append(m.Cap, rng.Int64N(9))
	}
	base := int64(1)<<worthBits - 1
	for range groups {
		for range rng.IntN(4) + 1 {
			// Close to one another, so that the last unit decides.
			m.Value = append(m.Value, base-rng.Int64N(min(base, 3)+1))
			for r := range rows {
				if rng.IntN(2) == 0 {
					m.Row, m.Coef = append(m.Row, int32(r)), append(m.Coef, rng.Int32N(5)+1)
				}
			}
			m.ColStart = append(m.ColStart, int32(len(m.Row)))
		}
		m.GroupStart = append(m.GroupStart, int32(len(m.Value)))
		m.Required = append(m.Required, required && rng.IntN(3) == 0)
	}
	return m
}

func TestSolveAgainstBruteForce(t *testing.T) {
	s := worker(t, "solve")
	seen := map[ipmodel.Status]int{}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		worthBits := rapid.SampledFrom([]int{1, 5, 20, 25, 30, 45, 53}).Draw(t, "bits")
		m := randomModel(rng, rng.IntN(5)+1, rng.IntN(4)+1, worthBits, rapid.Bool().Draw(t, "required"))
		require.NoError(t, m.Validate())
		want := bruteForce(m)
		var r ipmodel.Result
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{}, &r))
		seen[r.Status]++
		if want < 0 {
			require.Equal(t, ipmodel.Infeasible, r.Status)
			return
		}
		worth, err := m.Check(r.Chosen)
		require.NoError(t, err)
		require.Equal(t, worth, r.Value)
		require.GreaterOrEqual(t, r.Bound, want, "the bound holds")
		require.Equal(t, ipmodel.Optimal, r.Status, "%d bits", worthBits)
		require.Equal(t, want, worth)
	})
	t.Log(seen)
	require.Positive(t, seen[ipmodel.Optimal])
}

func TestInfeasible(t *testing.T) {
	m := pair()
	m.Required = []bool{true, true}
	var r ipmodel.Result
	require.NoError(t, worker(t, "solve").Solve(context.Background(), m, ipmodel.Options{}, &r))
	require.Equal(t, ipmodel.Infeasible, r.Status)
	require.Empty(t, r.Chosen)
}

// TestNeverOptimalByRounding has two choices that differ by 1 in 2^53 and more, which no
// float64 tells apart.
func TestNeverOptimalByRounding(t *testing.T) {
	m := pair()
	m.Value = []int64{1<<53 + 1, 1 << 53}
	var r ipmodel.Result
	require.NoError(t, worker(t, "solve").Solve(context.Background(), m, ipmodel.Options{}, &r))
	require.GreaterOrEqual(t, r.Bound, int64(1<<53+1))
	require.Equal(t, ipmodel.Optimal, r.Status)
	require.Equal(t, []int32{0}, r.Chosen)
}

// blocks puts models side by side that share no row, so that the greatest worths add up.
func blocks(models []*ipmodel.Model) *ipmodel.Model {
	all := &ipmodel.Model{GroupStart: []int32{0}, ColStart: []int32{0}}
	for _, m := range models {
		column, row, entry := int32(len(all.Value)), int32(len(all.Cap)), int32(len(all.Row))
		for _, end := range m.GroupStart[1:] {
			all.GroupStart = append(all.GroupStart, column+end)
		}
		for _, end := range m.ColStart[1:] {
			all.ColStart = append(all.ColStart, entry+end)
		}
		for _, r := range m.Row {
			all.Row = append(all.Row, row+r)
		}
		all.Value, all.Coef, all.Cap = append(all.Value, m.Value...), append(all.Coef, m.Coef...), append(all.Cap, m.Cap...)
	}
	return all
}

// TestLargerWindowsAreHonest has windows whose best worth is known and which only
// HiGHS can search: with short worths they have to be exact, with long ones the
// bound has to hold and be tight.
func TestLargerWindowsAreHonest(t *testing.T) {
	s := worker(t, "solve")
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		worthBits := []int{10, 30, 53}[seed%3]
		var parts []*ipmodel.Model
		var want int64
		for range 20 {
			part := randomModel(rng, 4, 3, worthBits, false)
			parts = append(parts, part)
			want += bruteForce(part)
		}
		m := blocks(parts)
		require.NoError(t, m.Validate())
		var r ipmodel.Result
		require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{}, &r))
		require.GreaterOrEqual(t, r.Bound, want)
		require.LessOrEqual(t, r.Value, want)
		require.LessOrEqual(t, r.Bound-r.Value, trivialBound(m)>>34)
		if worthBits <= 30 || r.Status == ipmodel.Optimal {
			require.Equal(t, ipmodel.Optimal, r.Status, "%d bits", worthBits)
			require.Equal(t, want, r.Value)
		}
	}
}

// hardModel keeps HiGHS busy for longer than the tests let it.
func hardModel() *ipmodel.Model {
	rng := rand.New(rand.NewPCG(1, 2))
	m := randomModel(rng, 80, 30, 20, false)
	for i := range m.Value {
		m.Value[i] = rng.Int64N(1 << 20)
	}
	for r := range m.Cap {
		m.Cap[r] += 20
	}
	return m
}

// A worker that would go on for long is not waited for when the gap is small enough.
func TestGapEndsTheWorker(t *testing.T) {
	s, m := worker(t, "solve"), hardModel()
	var r ipmodel.Result
	o := in(2 * time.Minute)
	o.Gap = 1
	begin := time.Now()
	require.NoError(t, s.Solve(context.Background(), m, o, &r))
	require.Less(t, time.Since(begin), time.Minute)
	require.True(t, ipmodel.WithinGap(r.Value, r.Bound, 1))
	require.Equal(t, ipmodel.Feasible, r.Status)
	require.NoError(t, s.Fault())
}

func TestStartReachesHiGHS(t *testing.T) {
	s, m := worker(t, "solve"), hardModel()
	var r ipmodel.Result
	require.NoError(t, s.Solve(context.Background(), m, ipmodel.Options{Work: 50000}, &r))
	// bestWithin is the best that the worker finds before the first look at its work.
	bestWithin := func(start []int32) int64 {
		p, err := startProcess(s.options.Command, s.options.environ(), request{Model: m, Work: 1, Start: start})
		require.NoError(t, err)
		defer p.stop(new(sync.WaitGroup))
		a := newAnswer(m)
		for f := range p.frames {
			if a.take(f) {
				break
			}
		}
		return a.worth
	}
	require.Less(t, bestWithin(nil), r.Value)
	require.GreaterOrEqual(t, bestWithin(r.Chosen), r.Value)
}

func TestSameSeedSameAnswer(t *testing.T) {
	s, m := worker(t, "solve"), hardModel()
	o := ipmodel.Options{Seed: 7, Work: 2000}
	var first, second ipmodel.Result
	require.NoError(t, s.Solve(context.Background(), m, o, &first))
	require.NoError(t, s.Solve(context.Background(), m, o, &second))
	require.Equal(t, first, second)
	require.Equal(t, ipmodel.Feasible, first.Status)
	require.GreaterOrEqual(t, first.Work, o.Work, "the work's limit ended it")
	require.NotEmpty(t, first.Chosen)
}

// BenchmarkSmallWindow is mostly the cost of starting the worker.
func BenchmarkSmallWindow(b *testing.B) {
	s := worker(b, "solve")
	m := pair()
	var r ipmodel.Result
	for range b.N {
		require.NoError(b, s.Solve(context.Background(), m, ipmodel.Options{}, &r))
	}
}
