// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

// aucsched runs the command as a user would.
func aucsched(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(in), &o, &e)
	return code, o.String(), e.String()
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return cli.Execute(ctx, cli.NewRoot("", "", Command(More{})), args, in, out, errs)
}

// A trace says itself which machine it is of; it may have any name, and be standard input.
func TestMachineOfTheTrace(t *testing.T) {
	const record = "%d 0 -1 100 2 -1 -1 2 %d -1 1 1 1 -1 1 -1 %d 30\n"
	text := "; MaxNodes: 4\n; MaxProcs: 10\n\n" + fmt.Sprintf(record, 1, 200, -1) + fmt.Sprintf(record, 2, -1, 1)
	path := filepath.Join(t.TempDir(), "jobs.of.last.week")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	for name, c := range map[string]struct {
		stdin string
		args  []string
		said  []string
	}{
		"header": {"", []string{"--workload", path},
			[]string{"the trace's header: --cluster 2x3,2x2", "1 job of the trace changed: no requested time"}},
		"stdin": {text, []string{"--workload", "-"}, []string{"--cluster 2x3,2x2"}},
		"another": {"", []string{"--workload", path, "--cluster", "4x4"},
			[]string{"--cluster has 16 cores, and the trace's header says 10"}},
	} {
		args := append([]string{"simulate", "--policy", "backfill", "--interval", "1", "--json"}, c.args...)
		code, out, errs := aucsched(t, c.stdin, args...)
		require.Zero(t, code, "%s: %s", name, errs)
		require.Contains(t, out, `"jobs":2,"runtime_s":230`, "the second comes 30 s after the end of the first")
		for _, want := range c.said {
			require.Contains(t, errs, want, name)
		}
	}
	code, out, errs := aucsched(t, text+"no more of it", "simulate", "--policy", "backfill", "--json", "--workload", "-", "--first", "1")
	require.Zero(t, code, errs)
	require.Contains(t, out, `"jobs":1,`, "what comes behind the first is not read")
	require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(record, 1, 200, -1)), 0o600))
	code, _, errs = aucsched(t, "", "simulate", "--workload", path)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "no header says MaxProcs or MaxNodes")
}
