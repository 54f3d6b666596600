// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Array runs cells as the tasks of a job array of Slurm: sbatch submits it, squeue
// says when it has ended. The results' directory must be the same on all nodes, and
// so must this program's file.
type Array struct {
	Store     *Store
	Limit     int    // tasks at a time, at least 1
	Partition string // "": Slurm's default
	// Say and Done are those of [Runner].
	Say  func(string)
	Done func(n int)

	// how long results may take to show up in a shared directory; 0: settleTime
	settle time.Duration
}

// The waits between two looks at the queue.
const (
	firstPoll = time.Second
	lastPoll  = 30 * time.Second
	// maxPollErrors is how often in a row squeue may fail; slurmctld may be
	// restarted meanwhile.
	maxPollErrors = 10
	settleTime    = 20 * time.Second
)

// Run is [Runner.Run] with the cells that have no result yet as a job array. When ctx
// ends it cancels the array.
func (a *Array) Run(ctx context.Context, cells []Prepared) (Results, error) {
	r := Runner{Store: a.Store, Say: a.Say, Done: a.Done}
	results, missing := r.stored(cells)
	if len(missing) == 0 {
		return results, nil
	}
	id, err := a.submit(ctx, missing)
	if err != nil {
		return nil, err
	}
	if err := a.wait(ctx, id, missing, len(results)); err != nil {
		a.cancel(id)
		if ctx.Err() != nil {
			return nil, fmt.Errorf(
				"%w: job %s of Slurm is cancelled; what has ended is kept in %s, and "+
					"the same command does the rest", context.Cause(ctx), id, a.Store.dir)
		}
		return nil, err
	}
	return results, a.collect(ctx, id, missing, results)
}

// submit writes the list of cells and submits the array.
func (a *Array) submit(ctx context.Context, cells []Prepared) (id string, err error) {
	for _, command := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(command); err != nil {
			return "", fmt.Errorf("--via slurm: %w: Slurm's commands must be installed", err)
		}
	}
	list, err := a.Store.writeList(cells)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(a.Store.dir)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s reproduce --cell \"$SLURM_ARRAY_TASK_ID\" --list %s --out %s\n",
		shellQuote(self), shellQuote(list), shellQuote(dir))
	args := []string{"--parsable", "--job-name=aucsched-reproduce", "--ntasks=1", "--chdir=" + dir, "--output=slurm-%A_%a.log",
		fmt.Sprintf("--array=0-%d%%%d", len(cells)-1, a.Limit)}
	if a.Partition != "" {
		args = append(args, "--partition="+a.Partition)
	}
	out, err := command(ctx, script, "sbatch", args...)
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // JOB[;CLUSTER]
	if _, err := strconv.ParseUint(id, 10, 32); err != nil {
		return "", fmt.Errorf("sbatch: printed %q, no job id", out)
	}
	return id, nil
}

// wait returns when the array is no longer in the queue.
func (a *Array) wait(ctx context.Context, id string, cells []Prepared, done int) error {
	pause, failures := firstPoll, 0
	for {
		left, err := inQueue(ctx, id)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if failures++; failures >= maxPollErrors {
				return err
			}
		case left == 0:
			return nil
		default:
			failures = 0
		}
		if a.Done != nil {
			a.Done(done + a.Store.count(cells))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPoll)
	}
}

// inQueue is how many lines squeue prints of the array; 0 when Slurm has forgotten it.
func inQueue(ctx context.Context, id string) (int, error) {
	out, err := command(ctx, "", "squeue", "--noheader", "--jobs="+id, "--format=%i")
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return 0, nil
	}
	return len(strings.Fields(out)), err
}

// collect reads the results of the array's tasks.
func (a *Array) collect(ctx context.Context, id string, cells []Prepared, results Results) error {
	for deadline := time.Now().Add(cmp.Or(a.settle, settleTime)); a.Store.count(cells) < len(cells) &&
		ctx.Err() == nil && time.Now().Before(deadline); {
		time.Sleep(firstPoll / 4)
	}
	var failed []string
	var cause error
	for i := range cells {
		s, err := a.Store.Load(&cells[i])
		if err != nil {
			failed, cause = append(failed, strconv.Itoa(i)), err
			continue
		}
		results[cells[i].Key] = s
	}
	if len(failed) > 0 {
		return fmt.Errorf("job %s of Slurm: %d of %d tasks left no result, the last being %s (%w): see %s", id, len(failed), len(cells),
			failed[len(failed)-1], cause, filepath.Join(a.Store.dir, "slurm-"+id+"_"+failed[len(failed)-1]+".log"))
	}
	return nil
}

// cancel takes the array from the queue, as far as Slurm answers.
func (a *Array) cancel(id string) {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if _, err := command(ctx, "", "scancel", id); err != nil && a.Say != nil {
		a.Say(fmt.Sprintf("job %s of Slurm may still run: %v", id, err))
	}
}

// command runs a command of Slurm's; it has a minute.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeList writes the cells of an array into the store. The name has a hash of the
// content: another run in the same directory cannot change what tasks find there.
func (s *Store) writeList(cells []Prepared) (name string, err error) {
	text, err := json.MarshalIndent(cells, "", " ")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	name = "cells-" + hex.EncodeToString(sum[:8]) + ".json"
	return name, WriteFile(filepath.Join(s.dir, name), text)
}

// ListedCell is cell number k, from 0 on, of a list in the store. Where this program
// would run it with other settings than the one that wrote the list, it is an error.
func (s *Store) ListedCell(p *Program, list string, k int) (Prepared, error) {
	if list != filepath.Base(list) {
		return Prepared{}, fmt.Errorf("list %q: must be the name of a file in the results' directory", list)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, list))
	if err != nil {
		return Prepared{}, err
	}
	var cells []Prepared
	if err := json.Unmarshal(text, &cells); err != nil {
		return Prepared{}, fmt.Errorf("%s: %w", list, err)
	}
	if k < 0 || k >= len(cells) {
		return Prepared{}, fmt.Errorf("cell %d: %s has the cells 0 to %d", k, list, len(cells)-1)
	}
	c, err := p.Prepare(cells[k].Cell)
	if err != nil {
		return Prepared{}, err
	}
	if c.Key != cells[k].Key {
		return Prepared{}, errors.New("this program has other settings than the one that submitted the job")
	}
	return c, nil
}

// count is how many of the cells have a file.
func (s *Store) count(cells []Prepared) int {
	n := 0
	for i := range cells {
		if _, err := os.Stat(s.path(cells[i].Key)); err == nil {
			n++
		}
	}
	return n
}
