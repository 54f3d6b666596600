// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"bytes"
	"context"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// said is what a program says of arguments that it does not take.
func said(t *testing.T, args ...string) string {
	t.Helper()
	below := &cobra.Command{Use: "invasive", Args: ExactArgs(0), Run: func(*cobra.Command, []string) {}}
	demo := &cobra.Command{Use: "demo", Args: ExactArgs(0), Run: func(*cobra.Command, []string) {}}
	demo.AddCommand(below)
	plan := &cobra.Command{Use: "plan FILE[.gz]", Args: ExactArgs(1), Run: func(*cobra.Command, []string) {}}
	plan.Flags().String("policy", "", "")
	plan.Flags().Int("window", 1, "")
	var out, errs bytes.Buffer
	code := Execute(context.Background(), NewRoot("", "", demo, plan), args, nil, &out, &errs)
	require.Equal(t, ExitUsage, code)
	require.Empty(t, out.String())
	return errs.String()
}

func TestHints(t *testing.T) {
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"plam"}, "aucsched: unknown command \"plam\" for \"aucsched\"; did you mean \"plan\"? (see aucsched --help)\n"},
		{[]string{"frob"}, "aucsched: unknown command \"frob\" for \"aucsched\" (see aucsched --help)\n"},
		{[]string{"demo", "invasiv"},
			"aucsched: unknown command \"invasiv\" for \"aucsched demo\"; did you mean " +
				"\"invasive\"? (see aucsched demo --help)\n"},
		{[]string{"plan"}, "aucsched: plan: FILE is missing (see aucsched plan --help)\n"},
		{[]string{"plan", "--polcy", "x"}, "aucsched: unknown flag: --polcy; did you mean \"--policy\"? (see aucsched plan --help)\n"},
		{[]string{"plan", "--polcy=x"}, "aucsched: unknown flag: --polcy; did you mean \"--policy\"? (see aucsched plan --help)\n"},
		{[]string{"plan", "--verbos"}, "aucsched: unknown flag: --verbos; did you mean \"--verbose\"? (see aucsched plan --help)\n"},
		{[]string{"plan", "-policy", "x"},
			"aucsched: unknown flag: -policy; did you mean \"--policy\"? (see " +
				"aucsched plan --help)\n"},
		{[]string{"plan", "-x"}, "aucsched: unknown flag: -x (see aucsched plan --help)\n"},
	} {
		require.Equal(t, x.want, said(t, x.args...))
	}
	require.Equal(t, "aucsched: --window: \"x\": must be a whole number (see aucsched plan --help)\n", said(t, "plan", "--window", "x"))
	require.NoError(t, Did(nil, "plam", []string{"plan"}))
	require.EqualError(t, Unknown("--x", "b", []string{"abc", "def"}), `--x: "b" is unknown; known are abc, def`)
}
