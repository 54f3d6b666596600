// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// completed are the words that a shell offers for the last of args, and whether it offers files, or
// puts no space, besides.
func completed(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	code, out, errs := aucsched(t, "", append([]string{"__complete"}, args...)...)
	require.Zero(t, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, l := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(l, "\t")
		words = append(words, word)
	}
	_, directive, ok := strings.Cut(errs, "Completion ended with directive: ")
	require.True(t, ok, errs)
	return words, strings.TrimSpace(directive)
}

const only = "ShellCompDirectiveNoFileComp"

func TestCompleteValues(t *testing.T) {
	for _, x := range []struct {
		args []string
		want []string
	}{
		{[]string{"pl"}, []string{"plan"}},
		{[]string{"compl"}, []string{"completion"}},
		{[]string{"plan", "--policy", "easy-s"}, []string{"easy-sjf", "easy-saf"}},
		{[]string{"plan", "--policy=auc"}, []string{"auction1", "auction2"}},
		{[]string{"explain", "--objective", ""}, []string{"priority", "size", "rate"}},
		{[]string{"plan", "--on-timeout", ""}, []string{"incumbent", "halve"}},
		{[]string{"plan", "--solver", "n"}, []string{"native"}},
		{[]string{"status", ""}, nil},
		{[]string{"explain", "../../examples/blocked.json", ""},
			[]string{"wide", "left", "right", "late", "long", "gpus", "huge", "small"}},
		{[]string{"explain", "../../examples/blocked.json", "w"}, []string{"wide"}},
		{[]string{"explain", "absent.json", ""}, nil},
		{[]string{"explain", "../../examples/blocked.json", "wide", ""}, nil},
		{[]string{"plan", "../../examples/blocked.json", ""}, nil},
	} {
		words, directive := completed(t, x.args...)
		require.Equal(t, x.want, words, "%v", x.args)
		require.Equal(t, only, directive, "%v", x.args)
	}
}

func TestCompleteFiles(t *testing.T) {
	for _, args := range [][]string{{"plan", ""}, {"explain", "wi"}} {
		words, directive := completed(t, args...)
		require.Equal(t, []string{"json"}, words, "%v", args)
		require.Equal(t, "ShellCompDirectiveFilterFileExt", directive)
	}
	words, _ := completed(t, "plan", "--mps", "")
	require.Equal(t, []string{"mps"}, words)
}

// The script that a shell reads is made, and help says how.
func TestCompletionCommand(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, out, errs := aucsched(t, "", "completion", shell)
		require.Zero(t, code, errs)
		require.Contains(t, out, "__complete")
	}
	_, out, _ := aucsched(t, "", "--help")
	require.Regexp(t, `\n  completion  `, out)
}
