// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

var deadlineCases = []struct {
	nodes, jobs int
	settings    string
	due         time.Duration
}{
	{1408, 700, "", 100 * time.Millisecond},
	{1408, 700, "work=0", 100 * time.Millisecond},
	{20000, 2000, "work=0", 200 * time.Millisecond},
	{20000, 2000, "work=0 reservations=8", 200 * time.Millisecond},
	{20000, 2000, "work=0 window=2000", 200 * time.Millisecond},
}

// processors is a clock that goes as this process has processors: a busy machine does not make it
// late for anything.
func processors() time.Time {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Unix(0, u.Utime.Nano()+u.Stime.Nano())
}

// The answer is there by the deadline, also the first time, when nothing is known of the
// machine. A quarter more is allowed, for the garbage collector's processors too.
func TestDeadlines(t *testing.T) {
	race.Skip(t, "the race detector is too slow for clocks")
	for _, c := range deadlineCases {
		t.Run(fmt.Sprintf("%d nodes, %d jobs, %s", c.nodes, c.jobs, c.settings), func(t *testing.T) {
			e, err := New(c.settings, Options{Now: processors})
			require.NoError(t, err)
			in := largeInput(c.nodes, c.jobs)
			in.Deadline = c.due
			best := time.Hour
			for i := range 4 {
				var out Output
				require.NoError(t, e.Cycle(in, &out))
				require.NoError(t, check(in, &out))
				require.Positive(t, out.Starts)
				best = min(best, out.Elapsed)
				t.Logf("cycle %d: %v over the deadline, late %t, %d starts", i, max(out.Elapsed-c.due, 0), out.Late, out.Starts)
			}
			require.Less(t, best, c.due+c.due/4)
		})
	}
}

// Late says whether more time could have changed anything.
func TestLate(t *testing.T) {
	in := largeInput(1408, 700)
	var out Output
	in.Deadline = 30 * time.Millisecond
	require.NoError(t, open(t, "work=0").Cycle(in, &out))
	require.True(t, out.Late)
	in.Deadline = time.Minute
	require.NoError(t, open(t, "work=1000").Cycle(in, &out))
	require.False(t, out.Late)
	require.NoError(t, open(t, "").Cycle(tableI(), &out))
	require.False(t, out.Late)
}

// BenchmarkCycle reports by how much cycles are over their deadline in the mean.
func BenchmarkCycle(b *testing.B) {
	for _, c := range deadlineCases {
		b.Run(fmt.Sprintf("%dx%d,%s", c.nodes, c.jobs, c.settings), func(b *testing.B) {
			e, in := open(b, c.settings), largeInput(c.nodes, c.jobs)
			in.Deadline = c.due
			var out Output
			var over time.Duration
			for b.Loop() {
				if err := e.Cycle(in, &out); err != nil {
					b.Fatal(err)
				}
				over += max(out.Elapsed-c.due, 0)
			}
			b.ReportMetric(float64(over.Microseconds())/float64(b.N), "µs-over/op")
		})
	}
}

// BenchmarkLoad is the conversion of an input alone, after one of the same machine in which
// nothing, a hundredth or all of the nodes with anything free had more free.
func BenchmarkLoad(b *testing.B) {
	for _, nodes := range []int{1024, 10_000, 100_000, 1_000_000} {
		for _, every := range []int{0, 100, 1} {
			b.Run(fmt.Sprintf("%d/%s", nodes, map[int]string{0: "same", 100: "hundredth", 1: "all"}[every]), func(b *testing.B) {
				e, in := open(b, ""), largeInput(nodes, 1000)
				other := *in
				other.Nodes = slices.Clone(in.Nodes)
				for n := 0; every > 0 && n < nodes; n += every {
					other.Nodes[n].FreeCores -= min(1, other.Nodes[n].FreeCores)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := e.snapshot.load([]*Input{in, &other}[i%2]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
