// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
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
	dir := t.TempDir() + string(filepath.Separator)
	for _, name := range []string{"w.json", "a.swf", "b.SWF.GZ", "c.mps.gz", ".hidden.json", "x.go", "s.conf"} {
		require.NoError(t, os.WriteFile(dir+name, nil, 0o600))
	}
	for _, x := range []struct {
		args []string
		want []string
	}{
		{[]string{"plan"}, []string{"w.json"}},
		{[]string{"explain"}, []string{"w.json"}},
	} {
		words, directive := completed(t, append(x.args, dir)...)
		for i := range words {
			words[i] = strings.TrimPrefix(words[i], dir)
		}
		require.Equal(t, x.want, words, "%v", x.args)
		require.Equal(t, only, directive)
	}
	words, _ := completed(t, "plan", dir+".")
	require.Equal(t, []string{dir + ".hidden.json"}, words)

	require.NoError(t, os.Mkdir(dir+"windows", 0o700))
	words, directive := completed(t, "plan", dir+"wi")
	require.Equal(t, []string{dir + "windows/"}, words)
	require.Equal(t, "ShellCompDirectiveNoSpace, ShellCompDirectiveNoFileComp", directive)
	t.Chdir(dir)
	words, _ = completed(t, "plan", "")
	require.Equal(t, []string{"w.json", "windows/"}, words)
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
