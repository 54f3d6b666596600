// SPDX-License-Identifier: BSD-3-Clause

package malleable

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRequests(t *testing.T) {
	for line, want := range map[string]Request{
		"hello 1":             {Verb: Hello},
		"done 7":              {Verb: Done, Number: 7},
		"keep 4294967295":     {Verb: Keep, Number: 4294967295},
		"keep 3 not now, sir": {Verb: Keep, Number: 3, Text: "not now, sir"},
		"want 16777216":       {Verb: Want, Number: MaxCores},
	} {
		got, err := ParseRequest(line)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, line, got.String())
	}
	for line, why := range map[string]string{
		"": `nothing begins with ""`, "hello 2": "version 2 of the lines", "hello": "is no number", "done -1": "is no number",
		"done 01": "is no number", "done 4294967296": "is no number", "done 1 x": "follows the number", "keep 1 ": "follows the number",
		"want 0": "must be 1 to", "want 16777217": "must be 1 to", "gone 1": `nothing begins with "gone"`, "keep 1 a\x01": "is not text",
		"keep 1 \xff": "is not text", "done  1": "is no number", "keep 1 " + strings.Repeat("x", MaxLine): "at most 256 are allowed",
	} {
		_, err := ParseRequest(line)
		require.ErrorContains(t, err, why, line)
	}
}

func TestLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.MapOf(rapid.IntRange(0, 40), rapid.Just(true)).Draw(t, "list")
		var list []int
		for i := range 41 {
			if seen[i] {
				list = append(list, i)
			}
		}
		text := FormatList(list)
		got, err := ParseList(text)
		if len(list) == 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, list, got)
		change := Change{Number: 3, Cores: list, CPUs: []int{0}}
		again, err := ParseChange(change.String())
		require.NoError(t, err)
		require.Equal(t, change, again)
	})
	require.Equal(t, "0-1,3,5-7", FormatList([]int{0, 1, 3, 5, 6, 7}))
	for list, why := range map[string]string{
		"": "is no number", "1,1": "not ascending", "3-1": "not ascending", "1,": "is no number",
		"16777216": "is no number", "0-": "is no number",
		"5,2": "not ascending", "1-3,3": "not ascending",
	} {
		_, err := ParseList(list)
		require.ErrorContains(t, err, why, list)
	}
	for _, line := range []string{"cores 1 0", "cores x 0 0", "cores 1 x 0", "cores 1 0 x", "bye 1 0 0"} {
		_, err := ParseChange(line)
		require.Error(t, err, line)
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, s := range []string{"hello 1", "done 1", "keep 2 because", "want 3", "want -3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := ParseRequest(line)
		if err == nil {
			require.Equal(t, line, r.String())
		}
	})
}

func FuzzParseChange(f *testing.F) {
	f.Add("cores 1 0-3,6 0-1")
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Count(line, "-") > 3 { // long ranges only cost time
			return
		}
		c, err := ParseChange(line)
		if err != nil {
			return
		}
		again, err := ParseChange(c.String())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
