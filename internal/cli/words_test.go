// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"J1 é 漢 \\ \"q\"": "J1 é 漢 \\ \"q\"",
		"a\x1b[31m\nb\tc": `a\x1b[31m\nb\tc`,
		"\u202eevil":      `\u202eevil`,
		"\xff\ufffd\x7f":  `\xff` + "\ufffd" + `\x7f`,
	} {
		require.Equal(t, want, Plain(in))
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range Plain(rapid.String().Draw(t, "text")) {
			require.False(t, r < ' ' || r == 0x7f)
		}
	})
}

// What a file says can't reach the terminal in an error; each line is known as ours.
func TestStatusIsPlain(t *testing.T) {
	var errs bytes.Buffer
	require.Equal(t, ExitUsage, Status(BadInput(errors.New("w.json: id \x1b[31m\nis\tbad")), &errs))
	require.Equal(t, "aucsched: w.json: id \\x1b[31m\naucsched: is bad\n", errs.String())
}

// A fault of the program is one line that says what to report; where it was is for who asks.
func TestPanicIsWords(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		root := NewRoot("", "", &cobra.Command{Use: "fail", Run: func(*cobra.Command, []string) {
			var none []int
			_ = none[len(none)-1]
		}})
		var out, errs bytes.Buffer
		args := []string{"fail", fmt.Sprintf("--verbose=%t", verbose)}
		require.Equal(t, ExitFault, Execute(t.Context(), root, args, nil, &out, &errs))
		first, rest, _ := strings.Cut(errs.String(), "\n")
		require.Contains(t, first, "aucsched: internal error: runtime error: index out of range [-1]: please report it")
		require.Equal(t, verbose, strings.Contains(rest, "words_test.go"))
		require.Equal(t, verbose, rest != "", "no trace but on request")
	}
}
