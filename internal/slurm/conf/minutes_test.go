// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMinutes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "90": 90, "90:00": 90, "1:30": 2, "0:01": 1, "1:30:00": 90, "1:30:01": 91, "2-12": 3600, "2-12:30": 3630,
		"2-12:30:01": 3631, "0-0": 0, "INFINITE": -1, "unlimited": -1, "-1": -1, "2147483647": 2147483647,
	} {
		got, err := Minutes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "1:2:3:4", "1-2:3:4:5", "1-", "-2", "1--2", "1:",
		":1", " 1", "1.5", "2147483648", "1491309-0", "forever"} {
		_, err := Minutes(text)
		require.Error(t, err, text)
	}
}

// What squeue prints of a time is that time.
func TestMinutesOfTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, h := rapid.Int64Range(0, 9999).Draw(t, "days"), rapid.Int64Range(0, 23).Draw(t, "hours")
		m, s := rapid.Int64Range(0, 59).Draw(t, "minutes"), rapid.Int64Range(0, 59).Draw(t, "seconds")
		want := (d*86400 + h*3600 + m*60 + s + 59) / 60
		for _, text := range []string{fmt.Sprintf("%d-%02d:%02d:%02d", d, h, m, s), fmt.Sprintf("%d:%02d:%02d", d*24+h, m, s),
			fmt.Sprintf("%d:%02d", d*1440+h*60+m, s)} {
			got, err := Minutes(text)
			require.NoError(t, err)
			require.Equal(t, want, got, text)
		}
	})
}

func TestParseSpan(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"7", 420}, {"7:05", 425}, {"01:07:05", 4025}, {"2-03", 2*86400 + 3*3600},
		{"2-03:04", 2*86400 + 3*3600 + 240}, {"2-03:04:05", 2*86400 + 3*3600 + 245}, {"0:0", 0},
	} {
		got, err := ParseSpan(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for _, bad := range []string{"", "-", "1-", "-1", ":", "1:", "1::2", "1-2-3", "1:2:3:4", "1-1:2:3:4", "a", "1.5", "+1"} {
		_, err := ParseSpan(bad)
		require.ErrorIs(t, err, errSpan, bad)
	}
	for _, bad := range []string{"99999999999999999999", "99999999-0", "9223372036854775807-0", "12725829-23"} {
		_, err := ParseSpan(bad)
		require.ErrorIs(t, err, ErrTooLarge, bad)
	}
}

// TestPropertySpan: ParseSpan reads what Slurm prints for a number of seconds.
func TestPropertySpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<30).Draw(t, "seconds")
		text := fmt.Sprintf("%02d:%02d:%02d", n/3600%24, n/60%60, n%60)
		if days := n / 86400; days > 0 {
			text = fmt.Sprintf("%d-%s", days, text)
		}
		got, err := ParseSpan(text)
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
}

func FuzzMinutes(f *testing.F) {
	for _, text := range []string{"90", "1:30:00", "2-12", "INFINITE", "-", "1-:", "99999999999999999999", "2147483647-23:59:59"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Minutes(text)
		if err != nil {
			require.ErrorIs(t, err, errTime)
			return
		}
		require.GreaterOrEqual(t, n, int64(-1))
		require.LessOrEqual(t, n, int64(maxMinutes))
	})
}
