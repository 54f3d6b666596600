// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

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
	return cli.Execute(ctx, cli.NewRoot("", "", Command()), args, in, out, errs)
}
