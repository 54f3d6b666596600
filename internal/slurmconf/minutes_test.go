// SPDX-License-Identifier: BSD-3-Clause

package slurmconf

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
