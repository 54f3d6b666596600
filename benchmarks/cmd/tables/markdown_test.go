// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	x := table{textColumns: 1, header: []string{"method", "CPU %", "n"}}
	x.add("backfill", "64.0 ± 1.2", "1")
	x.add("·", "", "12,345")
	require.Equal(t, strings.TrimPrefix(`
| method   |      CPU % |      n |
| -------- | ---------: | -----: |
| backfill | 64.0 ± 1.2 |      1 |
| ·        |            | 12,345 |
`, "\n"), x.String())
}

func TestWrap(t *testing.T) {
	text := strings.Repeat("µm ", 70) + strings.Repeat("x", 130) + " end"
	lines := strings.Split(wrap(text, "  "), "\n")
	require.Greater(t, len(lines), 3)
	for i, line := range lines {
		require.True(t, i == 0 || strings.HasPrefix(line, "  "), "%q", line)
		if !strings.Contains(line, "xxx") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 100)
		}
	}
	require.Equal(t, text, strings.Join(strings.Fields(wrap(text, "  ")), " "), "no word is lost")
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ want, got string }{
		{"0.50 ns", duration(0.5)}, {"999 ns", duration(999)}, {"1.00 µs", duration(1000)},
		{"12.3 ms", duration(12.34e6)}, {"150 s", duration(150e9)},
		{"7", count(7)}, {"999", count(999)}, {"1,000", count(1000)}, {"-1,234,567", count(-1234567)}, {"-999", count(-999)},
		{"×9.77", times(9.77)}, {"×10.0", times(9.996)}, {"×100", times(99.97)}, {"×250", times(250.4)},
		{"+1.3", signed(1.25001, 1)}, {"-2.0", signed(-2, 1)}, {"0.0", signed(-0.01, 1)}, {"0.0", signed(0.01, 1)},
	} {
		require.Equal(t, c.want, c.got)
	}
}

// A command's ">" at the start of a line would make a quotation of the rest.
func TestWrapKeepsRedirectionsOffTheStart(t *testing.T) {
	long := strings.Repeat("x", 100)
	require.Equal(t, long+" >\nfile", wrap(long+" > file", ""))
}
