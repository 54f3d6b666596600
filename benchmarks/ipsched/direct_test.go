// SPDX-License-Identifier: BSD-3-Clause

package ipsched

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/mps"
)

func TestDirectHasTheSizeOfTheTables(t *testing.T) {
	for _, c := range []struct{ m, n int }{{1, 1}, {3, 10}, {20, 16}} {
		p := &Problem{Free: uniform(c.n, 8, 2), Jobs: make([]Job, c.m)}
		for j := range p.Jobs {
			p.Jobs[j] = Job{Worth: 5, Cores: 4, GPUs: 1}
		}
		variables, constraints := paperSize(c.m, c.n)
		d, err := Direct(p)
		require.NoError(t, err)
		require.Equal(t, variables, d.Columns())
		require.Equal(t, constraints-2*c.n+2*c.m, d.Rows(), "constraint 5 has two rows a job")
		p.NoNodeLimits = true
		d, err = Direct(p)
		require.NoError(t, err)
		require.Equal(t, constraints-2*c.n, d.Rows())
	}
}

func TestMPSOfTheDirectProgram(t *testing.T) {
	d, err := Direct(&Problem{Free: uniform(1, 3, 1), Jobs: []Job{{Worth: 7, Cores: 2, GPUs: 1, MinNodes: 1, MaxNodes: 1}}})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, mps.WriteProgram(&out, d, "one"))
	require.Equal(t, `NAME one
OBJSENSE
 MAX
ROWS
 N obj
 L cores_0
 E request_0
 L gpus_0
 E packing_0
 G least_0
 L most_0
 G used_0_0
 L unused_0_0
COLUMNS
 M0 'MARKER' 'INTORG'
 s_0 obj 14
 s_0 request_0 -2
 s_0 least_0 -1
 s_0 most_0 -1
 C_0 obj -7
 C_0 packing_0 1
 C_0 least_0 1
 C_0 most_0 1
 x_0_0 obj 0
 x_0_0 cores_0 1
 x_0_0 request_0 1
 x_0_0 used_0_0 1
 x_0_0 unused_0_0 1
 t_0_0 obj 0
 t_0_0 gpus_0 1
 t_0_0 packing_0 -1
 t_0_0 used_0_0 -1
 t_0_0 unused_0_0 -2
 M1 'MARKER' 'INTEND'
RHS
 RHS cores_0 3
 RHS gpus_0 1
BOUNDS
 UP BND s_0 1
 UP BND C_0 1
 UP BND x_0_0 2
 UP BND t_0_0 1
ENDATA
`, out.String())
}

// paperSize is the number of variables and of constraints of a window of m jobs on n nodes by
// tables II and III: 2m(1+n) and 2(m+2n+mn).
//
// [Direct] has as many variables; they are m(2+2n) with c_j and m(1+2n) are needed, since c_j is
// but a sum. It has 2(2m+n+mn) rows: constraint 5 is two rows a job, where table III counts two a
// node, and none with NoNodeLimits.
func paperSize(m, n int) (variables, constraints int) { return 2 * m * (1 + n), 2 * (m + 2*n + m*n) }
