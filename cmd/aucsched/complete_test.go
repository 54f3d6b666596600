// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/workload"
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
		{[]string{"simulate", "--mode", ""}, []string{"paper", "reference"}},
		{[]string{"simulate", "--priority", ""}, []string{"basic", "multifactor"}},
		{[]string{"simulate", "--cluster", "1"}, []string{"1024x8x2", "128x8x2", "1408x12x3"}},
		{[]string{"simulate", "--workload", "gen:tsubame-2.F"}, []string{"gen:tsubame-2.FC", "gen:tsubame-2.FC-ranges"}},
		{[]string{"simulate", "--work", ""}, nil},
		{[]string{"simulate", ""}, nil},
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
	words, _ := completed(t, "simulate", "--workload", "gen:")
	require.Equal(t, workload.Generators(), words)
}

// Of a list the next policy is offered, not one that is there, and a comma may follow.
func TestCompleteLists(t *testing.T) {
	words, directive := completed(t, "simulate", "--policy", "backfill,lea,l")
	require.Equal(t, []string{"backfill,lea,lea-bf", "backfill,lea,leo", "backfill,lea,leo-bf", "backfill,lea,lem",
		"backfill,lea,lem-bf", "backfill,lea,lead", "backfill,lea,lead-bf"}, words)
	require.Contains(t, directive, "NoSpace")
	words, _ = completed(t, "demo", "--part", "b,")
	require.Equal(t, []string{"b,a", "b,c"}, words)
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
		{[]string{"simulate", "--workload"}, []string{"a.swf", "b.SWF.GZ", "w.json"}},
		{[]string{"simulate", "--cluster"}, []string{"s.conf", "w.json"}},
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
