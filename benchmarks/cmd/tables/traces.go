// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/sim"
)

// realTrace is a trace that is replayed, and the machine it is replayed on.
type realTrace struct{ name, file, cluster string }

var realTraces = []realTrace{
	{"MetaCentrum 2013", "metacentrum-wagap-2013.swf", "20x80,48x12"},
	{"LCG 2005", "LCG.swf.gz", "100x16"},
}

// traceRow is one replay.
type traceRow struct {
	Trace, Cluster string
	CPU            time.Duration // of the whole process
	PeakBytes      int64         // 0 where the system does not tell
	Result         sim.Result
}

// replayTraces runs every trace under both policies, each as a process of the
// command, one after another.
func replayTraces(ctx context.Context, dir, match string, errs io.Writer) ([]traceRow, error) {
	for _, t := range realTraces {
		if _, err := os.Stat(filepath.Join(dir, t.file)); err != nil {
			return nil, fmt.Errorf("-traces: %w", err)
		}
	}
	tmp, err := os.MkdirTemp("", "aucsched-tables-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	command := filepath.Join(tmp, "aucsched")
	build := exec.CommandContext(ctx, "go", "build", "-o", command, "github.com/aucsched/aucsched/benchmarks/cmd/aucsched-lab")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the command: %w: %s", err, bytes.TrimSpace(out))
	}
	var rows []traceRow
	for _, t := range realTraces {
		if !strings.Contains(t.name, match) {
			continue
		}
		for _, policy := range []string{"backfill", "auction2"} {
			fmt.Fprintf(errs, "replaying: %s, %s\n", t.name, policy)
			r, err := replay(ctx, command, dir, t, policy)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.name, policy, err)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// replay is one run of the command. It fails if the simulator's referee found
// anything wrong with a start, for then the command does.
func replay(ctx context.Context, command, dir string, t realTrace, policy string) (traceRow, error) {
	c := exec.CommandContext(ctx, command, "simulate", "--policy", policy, "--cluster", t.cluster,
		"--workload", filepath.Join(dir, t.file), "--json")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	r := traceRow{Trace: t.name, Cluster: t.cluster}
	if err != nil {
		return r, errors.Join(err, errors.New(strings.TrimSpace(errs.String())))
	}
	r.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	r.PeakBytes = peakBytes(c.ProcessState)
	if err := json.Unmarshal(out.Bytes(), &r.Result); err != nil {
		return r, fmt.Errorf("the command's answer: %w", err)
	}
	if r.Result.Jobs == 0 {
		return r, fmt.Errorf("the command ran no job")
	}
	return r, nil
}
