// SPDX-License-Identifier: BSD-3-Clause

package replay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSeedRange(t *testing.T) {
	for text, want := range map[string][]uint64{"1-3": {1, 2, 3}, "7": {7}, "4-4": {4}} {
		got, err := parseSeedRange(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "0", "0-3", "-1", "3-1", "1-", "-", "a", "1-b",
		"1-1001", "1.5", "1-2-3", "1,2", "99999999999", " 1"} {
		_, err := parseSeedRange(text)
		require.ErrorContains(t, err, "must be FIRST-LAST", text)
	}
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{"1": {1}, "2-4": {2, 3, 4}, "7,1-2,9": {7, 1, 2, 9}} {
		got, err := ParseSeeds(text)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "3-1", "1,", "1-2-3", "-1", "1 2"} {
		_, err := ParseSeeds(text)
		require.Error(t, err, text)
	}
}
