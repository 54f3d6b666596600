// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNotes(t *testing.T) {
	for note, want := range map[string]Held{
		"1-1,rigid,points=0":                  {MinCores: 1, MaxCores: 1, Kind: "rigid"},
		"2-64,malleable,urgent,points=100":    {MinCores: 2, MaxCores: 64, Kind: "malleable", Urgent: true, Points: 100},
		"2-4,moldable,held,points=7":          {MinCores: 2, MaxCores: 4, Kind: "moldable", Points: 7},
		"2-4,moldable,urgent,held,points=700": {MinCores: 2, MaxCores: 4, Kind: "moldable", Urgent: true, Points: 700},
	} {
		var h Held
		held, err := h.readNote(note)
		require.NoError(t, err, note)
		require.Equal(t, want, h, note)
		require.Equal(t, strings.Contains(note, "held"), held, note)
	}
	for _, note := range []string{"", "1-1", "1-1,rigid", "1-1,rigid,0", "2-1,rigid,points=1",
		"0-1,rigid,points=1", "1,rigid,points=1", "x-1,rigid,points=1",
		"1-1,rigid,points=", "1-1,rigid,points=-1", "1-1,rigid,held,urgent,points=1",
		"1-1,rigid,urgent,urgent,points=1", "1-1,rigid,points=1,urgent",
		"1-1,rigid,urgent,held,held,points=1", "1-99999999999,rigid,points=1"} {
		_, err := new(Held).readNote(note)
		require.ErrorContains(t, err, "invasic=", note)
	}
	note, ok := findNote("a;xinvasic=1;invasic=2;invasic=3")
	require.True(t, ok)
	require.Equal(t, "2", note)
	_, ok = findNote("my invasic=2")
	require.False(t, ok)
}

func TestLimits(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"UNLIMITED": 0, "NOT_SET": 0, "45": 45 * time.Second, "5:00": 5 * time.Minute, "1:02:03": time.Hour + 2*time.Minute + 3*time.Second,
		"1-02:04:00": 26*time.Hour + 4*time.Minute, "365-00:00:00": 365 * 24 * time.Hour,
	} {
		d, err := readLimit(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d, text)
	}
	for _, text := range []string{"x", "1:2:3:4", "1-", "-1", "1:-2", "99999999999"} {
		_, err := readLimit(text)
		require.Error(t, err, text)
	}
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		state, text string
		want        int32
	}{
		{"COMPLETED", "0", 0}, {"COMPLETED", "0:0", 0}, {"FAILED", "768", 3}, {"FAILED", "3:0", 3},
		{"CANCELLED", "15", 143}, {"CANCELLED", "0:15", 143},
		{"CANCELLED", "0", 143}, {"TIMEOUT", "0:0", 143}, {"FAILED", "0:9", 137}, {"PENDING", "0", 143},
	} {
		got, err := exitStatus(c.state, c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, "%s %s", c.state, c.text)
	}
	for _, text := range []string{"", "x", "1:", ":1", "1:200", "-1", "70000"} {
		_, err := exitStatus("FAILED", text)
		require.Error(t, err, text)
	}
}

// What users write can't pass for another field, or another job.
func TestRecords(t *testing.T) {
	list, err := records("1#(null)# a|b\n2 x# \n2#PENDING#name#\n", "#", 3)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"1", "", "a|b\n2 x"}, {"2", "PENDING", "name"}}, list)
	list, err = records("", "#", 3)
	require.NoError(t, err)
	require.Empty(t, list)
	for _, bad := range []string{"1#2#", "1#2#3#4#\n", "squeue: no\n", "1#2#3#x"} {
		_, err = records(bad, "#", 3)
		require.Error(t, err, bad)
	}
}

func FuzzHeld(f *testing.F) {
	f.Add("x;invasic=1-2,malleable,urgent,points=3")
	f.Fuzz(func(t *testing.T, comment string) {
		var h Held
		if _, err := h.read("1", "1:00", "N/A", comment); err == nil {
			require.GreaterOrEqual(t, h.MaxCores, h.MinCores)
			require.Positive(t, h.MinCores)
			require.Contains(t, comment, noteKey)
		}
	})
}

// What would change the output of Slurm's commands is left out.
func TestEnviron(t *testing.T) {
	require.Equal(t, []string{"PATH=/bin", "SLURM_CONF=/x", "SLURM_TIME_FORMAT=%s", "LC_ALL=C"},
		environ([]string{"PATH=/bin", "SLURM_CONF=/x", "SLURM_TIME_FORMAT=relative",
			"SQUEUE_STATES=all", "SLURM_CLUSTERS=other", "LC_ALL=de"}))
}
