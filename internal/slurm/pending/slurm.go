// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Run runs one of Slurm's commands and returns its standard output.
type Run func(ctx context.Context, argv ...string) (string, error)

// Limits of a question to Slurm.
const (
	mostOutput = 64 << 20         // bytes
	mostTime   = 20 * time.Second // slurmctld may be busy
)

// ErrNoSlurm is that Slurm's commands are not to be found.
var ErrNoSlurm = errors.New("the commands of Slurm are not in PATH: ask on a machine where jobs are submitted")

// Commands runs those that are in PATH.
func Commands(ctx context.Context, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%w (%s)", ErrNoSlurm, argv[0])
	case out.cut:
		return "", fmt.Errorf("%s: prints more than %d bytes", strings.Join(argv, " "), mostOutput)
	case err != nil:
		return "", fmt.Errorf("%s: %w: %.300s", strings.Join(argv, " "), err, bytes.TrimSpace(errs.b.Bytes()))
	}
	return out.b.String(), nil
}

// limited keeps the first mostOutput bytes that are written to it.
type limited struct {
	b   bytes.Buffer
	cut bool
}

func (l *limited) Write(p []byte) (int, error) {
	keep := min(len(p), mostOutput-l.b.Len())
	l.cut = l.cut || keep < len(p)
	l.b.Write(p[:keep])
	return len(p), nil
}
