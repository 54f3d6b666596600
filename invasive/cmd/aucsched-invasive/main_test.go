// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/clitest"
)

// aucsched runs the command as a user would.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

// TestMain lets the test binary be the command, and the programs of tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "foreign" {
		if err := speakForeign(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	supervisor := len(os.Args) == 3 && os.Args[1] == supervisorName // it has no environment
	if supervisor || os.Getenv("AUCSCHED_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// What a shell offers for arguments of these commands.
func TestComplete(t *testing.T) {
	for want, args := range map[string][]string{
		"malleable\n:4\n": {"ischeduler", "submit", "--kind", "mal"},
		":0\n":            {"ischeduler", "submit", ""},
		":4\n":            {"ischeduler", "list", ""},
	} {
		code, out, errs := aucsched(t, "", append([]string{"__complete"}, args...)...)
		require.Zero(t, code, errs)
		require.Equal(t, want, out, "%v", args)
	}
}

func TestManPages(t *testing.T) {
	names := clitest.ManPages(t, newRoot())
	require.Subset(t, names, []string{"aucsched-demo-invasive", "aucsched-ihypervisor",
		"aucsched-ischeduler", "aucsched-ischeduler-submit"})
	require.NotContains(t, names, "aucsched", "aucsched writes it")
	require.NotContains(t, names, "aucsched-demo")
}

func TestMistakes(t *testing.T) { clitest.Mistakes(t, newRoot) }
