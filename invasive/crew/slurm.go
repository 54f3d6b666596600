// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/invasive/lines"
)

// passed are the variables that companions have of the job. Those that Slurm has set are not among
// them, as its number of tasks. Slurm is given them as a whole: with names in --export it would
// have the user log in on the node first, which takes seconds.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TMPDIR", "SLURM_CONF", "LD_LIBRARY_PATH"}

// Commands runs Slurm's commands as this user, with an invitation in their environment, and returns
// what they print.
func Commands(i lines.Invitation) func(ctx context.Context, script string, argv ...string) (string, error) {
	return func(ctx context.Context, script string, argv ...string) (string, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = []string{Variable + "=" + i.String()}
		for _, name := range passed {
			if value, ok := os.LookupEnv(name); ok {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		cmd.Stdin = strings.NewReader(script)
		cmd.WaitDelay = time.Second
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			return "", fmt.Errorf("%s: %w: %.300s", argv[0], err, bytes.TrimSpace(errs.Bytes()))
		}
		return out.String(), nil
	}
}

// KnownArrays asks Slurm which job arrays of a name it knows, of this user, by number: those that
// wait and run, and those that have ended in the last minutes (MinJobAge).
func KnownArrays(ctx context.Context, name string) (map[string]bool, error) {
	cmd := exec.CommandContext(ctx, "squeue", "--noheader", "--states=all",
		"--user="+strconv.Itoa(os.Getuid()), "--name="+name, "--format=%F")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("squeue: %w", err)
	}
	known := map[string]bool{}
	for array := range strings.FieldsSeq(string(out)) {
		known[array] = true
	}
	return known, nil
}

// Preempted asks Slurm whether a job is being preempted; a task of an array by ARRAY_TASK, as the
// number of its last one is that of the whole array. A signal that says so is lost if it comes
// before the job's step has begun: who has begun asks.
func Preempted(ctx context.Context, job string) (bool, error) {
	cmd := exec.CommandContext(ctx, "squeue", "--noheader", "--jobs="+job, "--Format=PreemptTime:40")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("squeue: %w", err)
	}
	if bytes.ContainsRune(bytes.TrimSpace(out), '\n') {
		return false, fmt.Errorf("squeue has several jobs %s", job)
	}
	_, err = time.Parse("2006-01-02T15:04:05", strings.TrimSpace(string(out)))
	return err == nil, nil
}
