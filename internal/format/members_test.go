// SPDX-License-Identifier: BSD-3-Clause

package format

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// members finds what a decoder does, wherever there is space.
func TestMembers(t *testing.T) {
	value := rapid.SampledFrom([]string{"1", "-2.5e3", "true", "null", `""`, `"a\"}],{b\\"`, "[]", "{}", "[ 1 , [2,{}], \"]\" ]",
		`{"a":{"b":[1]},"c":"}"}`, "[{\"x\": null}]"})
	space := rapid.StringMatching("[ \t\r\n]{0,2}")
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z"\\{}:,é]{0,4}`), rapid.ID).Draw(t, "keys")
		draw := func() string { return space.Draw(t, "space") }
		var b strings.Builder
		b.WriteString("{" + draw())
		values := make(map[string]string)
		for i, k := range keys {
			if i > 0 {
				b.WriteString("," + draw())
			}
			quoted, err := json.Marshal(k)
			require.NoError(t, err)
			values[k] = value.Draw(t, "value")
			b.WriteString(string(quoted) + draw() + ":" + draw() + values[k] + draw())
		}
		b.WriteString("}")
		require.True(t, json.Valid([]byte(b.String())))
		var found []string
		require.NoError(t, members([]byte(b.String()), func(m member) error {
			require.Equal(t, values[m.key], string(m.value))
			require.Equal(t, byte('"'), b.String()[m.at])
			found = append(found, m.key)
			return nil
		}))
		require.Equal(t, keys, append([]string{}, found...))
	})
}

func TestHasNull(t *testing.T) {
	for in, want := range map[string]bool{
		"null": true, "[null]": true, "[1, null ]": true, `["null"]`: false, `[{"a":null}]`: false,
		"[[null]]": false, "[]": false, "1": false,
	} {
		require.Equal(t, want, hasNull([]byte(in)), in)
	}
}
