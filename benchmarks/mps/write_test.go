// SPDX-License-Identifier: BSD-3-Clause

package mps

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/ipmodel"
)

// tiny has two groups, three columns and a row.
func tiny() *ipmodel.Model {
	return &ipmodel.Model{
		Value: []int64{50, 45, 30}, Scale: 10, GroupStart: []int32{0, 2, 3},
		ColStart: []int32{0, 1, 1, 2}, Row: []int32{0, 0}, Coef: []int32{2, 1}, Cap: []int64{2},
		ColName: []string{"a", "b", "c"}, RowName: []string{"n1"},
	}
}

func TestWriteRefusesNames(t *testing.T) {
	m := tiny()
	for _, names := range [][]string{{"a", "a", "b"}, {"a", "", "b"}, {"a", "b c", "d"}} {
		bad := *m
		bad.ColName = names
		require.ErrorContains(t, Write(&bytes.Buffer{}, &bad, "m"), "column 1")
	}
	require.ErrorContains(t, Write(&bytes.Buffer{}, m, "a b"), "model name")
}

func TestWriteGolden(t *testing.T) {
	m := tiny()
	m.Required = []bool{true, false}
	m.RowName = []string{"g0"} // the group's row has to give way
	var text bytes.Buffer
	require.NoError(t, Write(&text, m, "tiny"))
	golden, err := os.ReadFile("testdata/tiny.golden.mps")
	require.NoError(t, err)
	require.Equal(t, string(golden), text.String())
}
