// SPDX-License-Identifier: BSD-3-Clause

package shadow

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/costtest"
)

// Whatever many of a file are, it is read, compared and shown in time that grows with it.
func TestCost(t *testing.T) {
	for name, line := range map[string]string{
		"runs":       `{"job":%d,"user":7,"submit":100,"cpus":8,"nodes":1,"would":{"time":110,"nodes":"n%[1]d"},"slurm":{"time":180}}`,
		"partitions": `{"job":%d,"user":7,"submit":100,"cpus":8,"nodes":1,"partition":"p%[1]d"}`,
		"users":      `{"job":%d,"user":%[1]d,"submit":100,"cpus":8,"nodes":1,"partition":"p"}`,
		"reasons":    `{"job":%d,"user":7,"submit":100,"cpus":8,"nodes":1,"left":"w%[1]d","slurm":{"time":180,"nodes":"n1"}}`,
		"samples":    `{"sample":%d,"queue":4,"cores":10,"cores_used":5,"gpus":4}`,
		"bad lines":  `{"job":-%d}`,
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 2_000, func(n int) func() {
				text := first + lines(n, line)
				return func() {
					l, err := readLog(strings.NewReader(text), "f")
					require.NoError(t, err)
					require.NoError(t, Compare(l, func(uid int64) string { return fmt.Sprint(uid) }, true).Document().HTML(io.Discard))
				}
			})
		})
	}
}

func lines(n int, line string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, line+"\n", i+1)
	}
	return text.String()
}

// Samples are added up, not kept: what is held does not grow with them.
func TestSamplesAreNotKept(t *testing.T) {
	held := func(n int) (bytes uint64, l *Log) {
		in := io.MultiReader(strings.NewReader(first), &repeated{n: n,
			line: `{"sample":130,"queue":4,"cores":10,"cores_used":5,"gpus":4,"gpus_used":2,"would_cores":2}` + "\n"})
		before := heap()
		l, err := readLog(in, "f")
		require.NoError(t, err)
		return max(heap(), before) - before, l
	}
	_, _ = held(1)
	few, _ := held(1_000)
	many, l := held(50_000)
	require.Less(t, many, few+200_000, "bytes")
	p := Compare(l, nil, false)
	require.Equal(t, Machine{Samples: 50_000, CoresUsed: .5, CoresWould: .7, GPUsUsed: .5, GPUsWould: .5, QueueMean: 4, QueueMax: 4},
		p.Machine)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// repeated reads as a line n times.
type repeated struct {
	line string
	n    int
	at   int // in the line
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) && r.n > 0 {
		k := copy(p[n:], r.line[r.at:])
		n += k
		if r.at += k; r.at == len(r.line) {
			r.at, r.n = 0, r.n-1
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A page lists those with the most jobs, and says how many more there are. The report has them all,
// and users with many jobs are named first.
func TestManyGroups(t *testing.T) {
	var text strings.Builder
	text.WriteString(first)
	id := 0
	for user := range 300 {
		for range 1 + user%3 {
			id++
			fmt.Fprintf(&text, `{"job":%d,"user":%d,"submit":100,"cpus":8,"nodes":1,"partition":"p%d"}`+"\n", id, user, user)
		}
	}
	var asked []int64
	p := Compare(read(t, text.String()), func(uid int64) string {
		asked = append(asked, uid)
		return fmt.Sprintf("u%d", uid)
	}, false)
	require.Len(t, p.Partitions, 300)
	require.Len(t, p.Users, 300)
	require.Equal(t, []int{3, 3, 2, 1}, []int{p.Users[0].Jobs, p.Users[99].Jobs, p.Users[100].Jobs, p.Users[299].Jobs})
	require.Len(t, asked, 300, "once for each")
	require.Equal(t, int64(2), asked[0]%3, "%d", asked[0])
	var page strings.Builder
	require.NoError(t, p.Document().HTML(&page))
	require.Equal(t, 2, strings.Count(page.String(), "<p>And 200 more.</p>"))
	require.NotContains(t, page.String(), "<td>u0</td>")
}
