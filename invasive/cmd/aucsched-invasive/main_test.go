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
