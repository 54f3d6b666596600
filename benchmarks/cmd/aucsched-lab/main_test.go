// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/simulate"
)

// aucsched runs the command as a user would; HiGHS's worker is this test binary.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

// simulated runs aucsched simulate.
func simulated(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	root := cli.NewRoot("", "", simulate.Command())
	code = cli.Execute(context.Background(), root, append([]string{"simulate"}, args...), nil, &o, &e)
	return code, o.String(), e.String()
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "solver-worker" {
		main()
	}
	os.Exit(m.Run())
}
