// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

func ended(id uint32, starts ...string) (all []slurmtest.Ended) {
	for _, s := range starts {
		all = append(all, slurmtest.Ended{ID: id, Start: s})
	}
	return all
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		ended, endedAfter   []slurmtest.Ended
		want                Changes
	}{
		{"as before", "1 PENDING N/A\n2 RUNNING t1\n", "1 PENDING N/A\n2 RUNNING t1\n", nil, nil, Changes{}},
		{"started and ended since", "1 PENDING N/A\n2 RUNNING t1\n", "1 RUNNING t2\n", nil, ended(2, "t1"), Changes{}},
		{"completing, and gone to another state", "1 RUNNING t1\n", "1 COMPLETED t1\n", nil, nil, Changes{}},
		{"nothing is known", "1 PENDING N/A\n2 RUNNING t1\n", "", nil, nil, Changes{Lost: 2}},
		{"not there, but ended", "1 PENDING N/A\n", "", nil, ended(1, "t2"), Changes{}},
		{"waits again", "1 RUNNING t1\n", "1 PENDING t9\n", nil, nil, Changes{Again: 1}},
		{"another start", "1 RUNNING t1\n", "1 RUNNING t2\n", nil, nil, Changes{Again: 1}},
		{"another start, and ended", "1 RUNNING t1\n", "", nil, ended(1, "t2"), Changes{Again: 1}},
		{"its end is written down twice", "1 RUNNING t1\n", "1 COMPLETED t1\n", ended(1, "t1"), ended(1, "t1", "t1"), Changes{Twice: 1}},
		{"twice, both since", "", "", nil, ended(1, "t1", "t1"), Changes{Twice: 1}},
		{"twice before", "", "", ended(1, "t1", "t1"), ended(1, "t1", "t1"), Changes{}},
		{"an estimate of a start is none", "1 PENDING t1\n", "1 PENDING t2\n", nil, nil, Changes{}},
	} {
		before, err := parseCensus(c.before, c.ended)
		require.NoError(t, err)
		after, err := parseCensus(c.after, c.endedAfter)
		require.NoError(t, err)
		require.Equal(t, c.want, compare(before, after), c.name)
	}
}

func TestCensusIsNoSqueue(t *testing.T) {
	for text, want := range map[string]string{
		"1 PENDING\n":       `"1 PENDING\n": id, state and start`,
		"x PENDING N/A\n":   `parsing "x"`,
		"-1 PENDING N/A\n":  `parsing "-1"`,
		"1 PENDING N/A x\n": "id, state and start",
	} {
		_, err := parseCensus(text, nil)
		require.ErrorContains(t, err, want)
	}
}
