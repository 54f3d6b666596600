// SPDX-License-Identifier: BSD-3-Clause

package input

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSkip(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"a":                   "a",
		"{}":                  "{}",
		"\xef\xbb\xbf":        "",
		"\xef\xbb\xbf{}":      "{}",
		"\xef\xbb{}":          "\xef\xbb{}",
		"\x00\x00\x00\x00":    "\x00\x00\x00\x00",
		"\x1f\x8b\x08\x00":    "\x1f\x8b\x08\x00",
		"a\xef\xbb\xbfb":      "a\xef\xbb\xbfb",
		"\xef\xbb\xbf\ufeffa": "\ufeffa",
	} {
		r := bufio.NewReader(strings.NewReader(in))
		require.NoError(t, SkipMark(r), "%q", in)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, want, string(rest))
		trimmed, err := TrimMark([]byte(in))
		require.NoError(t, err)
		require.Equal(t, want, string(trimmed))
	}
}

// A text of ASCII in UTF-16 is known by its mark, and without one by its zeros.
func TestUTF16IsKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~\n]{2,9}`).Draw(t, "text")
		little, mark := rapid.Bool().Draw(t, "little"), rapid.Bool().Draw(t, "mark")
		if mark {
			text = "\ufeff" + text
		}
		var in []byte
		for _, c := range utf16.Encode([]rune(text)) {
			if little {
				in = append(in, byte(c), byte(c>>8))
			} else {
				in = append(in, byte(c>>8), byte(c))
			}
		}
		_, err := TrimMark(in)
		require.ErrorIs(t, err, ErrUTF16)
	})
}
