// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
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

// restOfLine are keys whose value goes on to the end of the line, spaces and all.
var restOfLine = []string{"Command", "WorkDir", "StdErr", "StdIn", "StdOut", "Comment", "AdminComment", "SystemComment",
	"TresPerNode", "TresPerJob", "TresPerTask", "MailUser", "OS", "ExtraLines", "Extra"}

// lastOfLine are those that have it in any place: nothing comes behind them, and users fill them as
// they like.
var lastOfLine = []string{"JobName", "WCKey", "Network", "MCS_label"}

// AddFields adds the KEY=VALUE of a line that "scontrol show" prints to fields; a word without =
// belongs to the value before it. Of a key that comes twice the first value stays.
func AddFields(fields map[string]string, line string) {
	last := ""
	for line = strings.TrimSpace(line); line != ""; {
		word, rest, _ := strings.Cut(line, " ")
		key, value, ok := strings.Cut(word, "=")
		switch {
		case ok && (last == "" && slices.Contains(restOfLine, key) || slices.Contains(lastOfLine, key)):
			if _, have := fields[key]; !have {
				_, fields[key], _ = strings.Cut(line, "=")
			}
			return
		case ok:
			last = ""
			if _, have := fields[key]; !have {
				fields[key], last = value, key
			}
		case last != "":
			fields[last] += " " + word
		}
		line = strings.TrimSpace(rest)
	}
}
