// SPDX-License-Identifier: BSD-3-Clause

package clitest

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

// leaked is what libraries say, which is of no use to who calls a command.
var leaked = regexp.MustCompile(`strconv\.|accepts |arg\(s\)|invalid syntax|invalid argument|unknown shorthand|needs an argument|` +
	`time: (invalid|missing|unknown)|parsing "|\b(open|l?stat|read|mkdir) \S+: |no such file or directory|%!|<nil>|context canceled`)

// nowhere is a file that can't be there, and absent one that is not.
const (
	nowhere = "/dev/null/where"
	absent  = "absent"
)

// Mistakes calls every command of a program with arguments missing, too many or of the wrong kind,
// and fails the test unless it says so in its own words, with exit status 2. newRoot is called for
// each, as flags keep what they were given.
func Mistakes(t *testing.T, newRoot func() *cobra.Command) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", nowhere)
	t.Setenv("SLURM_CONF", filepath.Join(nowhere, "slurm.conf"))
	root := newRoot()
	root.InitDefaultCompletionCmd()
	calls := 0
	call := func(ctx context.Context, args ...string) (code int, out string) {
		calls++
		var o, errs bytes.Buffer
		code = cli.Execute(ctx, newRoot(), args, strings.NewReader(""), &o, &errs)
		require.Regexp(t, `^(aucsched: .+\n)*$`, errs.String(), "%v", args)
		require.NotRegexp(t, leaked, errs.String(), "%v", args)
		return code, o.String()
	}
	refused := func(args ...string) {
		code, out := call(context.Background(), args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, out)
		require.Empty(t, out, "%v", args)
	}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		with := func(args ...string) []string { return append(append([]string{}, path...), args...) }
		if c.Annotations["program"] != "" || c.IsAdditionalHelpTopicCommand() || c.Hidden || strings.HasPrefix(c.Name(), "__") {
			return // another program's, or for programs
		}
		refused(with("--no-such-flag")...)
		refused(with("-?")...)
		refused(with("--=x")...)
		c.InitDefaultHelpFlag()
		c.Flags().AddFlagSet(c.InheritedFlags())
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" {
				refused(with("--" + f.Name)...)
			}
			if f.Shorthand != "" && f.NoOptDefVal == "" {
				refused(with("-" + f.Shorthand)...)
			}
			for _, value := range wrong(f.Value.Type()) {
				refused(with("--" + f.Name + "=" + value)...)
			}
		})
		call(Interrupted(), path...) // which is nothing wrong for some
		for _, args := range [][]string{{nowhere}, {absent}, {nowhere, nowhere}, {absent, absent, absent}} {
			refused(with(args...)...)
		}
		for _, sub := range c.Commands() {
			walk(sub, with(sub.Name()))
		}
	}
	for _, sub := range root.Commands() {
		walk(sub, []string{sub.Name()})
	}
	require.Greater(t, calls, 50)
}

// Interrupted is the context of a command in which the user has pressed Ctrl-C.
func Interrupted() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cli.Signalled{Signal: syscall.SIGINT})
	return ctx
}

// wrong are values that a flag of that type can't have.
func wrong(kind string) []string {
	switch {
	case strings.HasPrefix(kind, "uint"):
		return []string{"x", "-1", "1.5", "", "99999999999999999999"}
	case strings.HasPrefix(kind, "int"):
		return []string{"x", "1.5", "", "99999999999999999999", "-99999999999999999999"}
	case strings.HasPrefix(kind, "float"):
		return []string{"x", "", "1e999"}
	case kind == "duration":
		return []string{"x", "5", "", "9999999999h"}
	case kind == "bool":
		return []string{"maybe", ""}
	}
	return nil
}
