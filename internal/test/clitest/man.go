// SPDX-License-Identifier: BSD-3-Clause

// Package clitest has what the tests of all programs ask of their commands.
package clitest

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

// ManPages fails the test unless every command that help lists has a page, with its flags and the
// commands below it, and none has another program's. It returns the names of the pages.
func ManPages(t *testing.T, root *cobra.Command) (names []string) {
	t.Helper()
	root.InitDefaultCompletionCmd()
	pages := make(map[string]string)
	for _, p := range cli.ManPages(root) {
		require.NotContains(t, pages, p.Name)
		pages[p.Name] = p.Text
		names = append(names, p.Name)
	}
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		page, ok := pages[strings.ReplaceAll(c.CommandPath(), " ", "-")]
		_, none := c.Annotations[cli.NoPage]
		require.Equal(t, !none && c.Name() != "help" && !c.Hidden, ok, c.CommandPath())
		if ok {
			found++
			requirePage(t, c, page)
		}
		for _, sub := range c.Commands() {
			if !c.Hidden {
				walk(sub)
			}
		}
	}
	walk(root)
	require.Len(t, pages, found)
	lint(t, pages)
	return names
}

// requirePage looks for a command's words in its page.
func requirePage(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	escaped := func(s string) string { return strings.ReplaceAll(s, "-", `\-`) }
	title := strings.ReplaceAll(c.CommandPath(), " ", "-") + " - " + c.Short
	require.Contains(t, page, ".SH NAME\n"+escaped(title)+"\n")
	for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			entry := regexp.MustCompile(`(?m)^  (    |\\-., )` + regexp.QuoteMeta(escaped("--"+f.Name)) + `\b`)
			require.Equal(t, !f.Hidden && (c.Runnable() || c.HasSubCommands()), entry.MatchString(page), "%s --%s", c.CommandPath(), f.Name)
		})
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	require.Contains(t, words(page), words(escaped(strings.ReplaceAll(c.Long, `\`, `\e`))))
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			require.Contains(t, page, ".BR "+escaped(strings.ReplaceAll(sub.CommandPath(), " ", "-"))+" (1)\n")
		}
	}
}

// lint has groff look for mistakes in its language, if it is there.
func lint(t *testing.T, pages map[string]string) {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	for name, text := range pages {
		c := exec.Command(groff, "-man", "-ww", "-z", "-Tascii")
		c.Stdin = strings.NewReader(text)
		out, err := c.CombinedOutput()
		require.NoError(t, err, name)
		require.Empty(t, string(out), name)
	}
}
