// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slurmCommands puts shell scripts into PATH as Slurm's commands, and nothing else;
// they find their notes in $NOTES.
func slurmCommands(t *testing.T, scripts map[string]string) (notes string) {
	t.Helper()
	bin, notes := t.TempDir(), t.TempDir()
	for name, body := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	}
	t.Setenv("PATH", bin)
	t.Setenv("NOTES", notes)
	return notes
}

const noteSubmission = `printf '%s\n' "$@" >$NOTES/args; while IFS= read -r l; do echo "$l"; done >$NOTES/script; echo '41;c'`

// runTasks does what the tasks of an array do.
func runTasks(t *testing.T, f *fake, s *Store, leaveOut int) {
	lists, err := filepath.Glob(filepath.Join(s.dir, "cells-*.json"))
	require.NoError(t, err)
	require.Len(t, lists, 1)
	for k := 0; ; k++ {
		c, err := s.ListedCell(f.program(), filepath.Base(lists[0]), k)
		if err != nil {
			require.ErrorContains(t, err, fmt.Sprintf("has the cells 0 to %d", k-1))
			return
		}
		if k != leaveOut {
			r := Runner{Program: f.program(), Store: s, Jobs: 1}
			_, err = r.Run(context.Background(), []Prepared{c})
			require.NoError(t, err)
		}
	}
}

func TestArrayRunsWhatIsMissing(t *testing.T) {
	// The queue has the array until the test says that it is over.
	notes := slurmCommands(t, map[string]string{"sbatch": noteSubmission, "squeue": `[ -e $NOTES/over ] || echo 41_0`, "scancel": "exit 1"})
	var f fake
	store := testStore(t)
	cells := testCells(t, f.program(), 5)
	r := Runner{Program: f.program(), Store: store, Jobs: 1}
	_, err := r.Run(t.Context(), cells[:2])
	require.NoError(t, err)
	go func() {
		for store.list() == "" {
			time.Sleep(10 * time.Millisecond)
		}
		runTasks(t, &f, store, -1)
		_ = os.WriteFile(filepath.Join(notes, "over"), nil, 0o644)
	}()
	a := Array{Store: store, Limit: 3, Partition: "night"}
	results, err := a.Run(t.Context(), cells)
	require.NoError(t, err)
	require.Len(t, results, 5)
	require.EqualValues(t, 5, f.runs.Load())

	args, err := os.ReadFile(filepath.Join(notes, "args"))
	require.NoError(t, err)
	require.Contains(t, string(args), "--array=0-2%3\n")
	require.Contains(t, string(args), "--partition=night\n")
	script, err := os.ReadFile(filepath.Join(notes, "script"))
	require.NoError(t, err)
	require.Regexp(t,
		`(?m)^exec '/.*' reproduce --cell "\$SLURM_ARRAY_TASK_ID" --list 'cells-[0-9a-f]{16}\.json' --out '/.*'$`,
		string(script))

	_, err = a.Run(t.Context(), cells)
	require.NoError(t, err, "nothing is missing: Slurm is not asked")
}

// list is the name of a list of cells in the store, or "".
func (s *Store) list() string {
	lists, _ := filepath.Glob(filepath.Join(s.dir, "cells-*.json"))
	return strings.Join(lists, " ")
}

func TestArrayErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		scripts    map[string]string
	}{
		{"no sbatch", `--via slurm: exec: "sbatch": executable file not found in $PATH`, nil},
		{"no squeue", `--via slurm: exec: "squeue"`, map[string]string{"sbatch": noteSubmission}},
		{"sbatch fails", "sbatch: exit status 1: sbatch: error: Invalid partition", map[string]string{
			"sbatch": "echo 'sbatch: error: Invalid partition' >&2; exit 1", "squeue": "", "scancel": ""}},
		{"no job id", `sbatch: printed "queued\n", no job id`, map[string]string{"sbatch": "echo queued", "squeue": "", "scancel": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			slurmCommands(t, c.scripts)
			var f fake
			a := Array{Store: testStore(t), Limit: 2}
			_, err := a.Run(t.Context(), testCells(t, f.program(), 2))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestArrayTaskWithoutResultIsAnError(t *testing.T) {
	slurmCommands(t, map[string]string{"sbatch": noteSubmission,
		"squeue": `echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1`, "scancel": ""})
	var f fake
	store := testStore(t)
	cells := testCells(t, f.program(), 3)
	go func() {
		for store.list() == "" {
			time.Sleep(10 * time.Millisecond)
		}
		runTasks(t, &f, store, 1)
	}()
	a := Array{Store: store, Limit: 2, settle: 2 * time.Second}
	_, err := a.Run(t.Context(), cells)
	require.ErrorContains(t, err, "job 41 of Slurm: 1 of 3 tasks left no result, the last being 1 ")
	require.ErrorContains(t, err, "slurm-41_1.log")
}

func TestInterruptedArrayIsCancelled(t *testing.T) {
	notes := slurmCommands(t, map[string]string{"sbatch": noteSubmission, "squeue": "echo 41_0", "scancel": `echo "$@" >$NOTES/cancelled`})
	var f fake
	ctx, cancel := context.WithCancelCause(t.Context())
	a := Array{Store: testStore(t), Limit: 2, Done: func(int) {
		if _, err := os.Stat(filepath.Join(notes, "args")); err == nil {
			cancel(errors.New("interrupted"))
		}
	}}
	_, err := a.Run(ctx, testCells(t, f.program(), 3))
	require.ErrorContains(t, err, "interrupted: job 41 of Slurm is cancelled")
	text, err := os.ReadFile(filepath.Join(notes, "cancelled"))
	require.NoError(t, err)
	require.Equal(t, "41\n", string(text))
}

func TestListedCell(t *testing.T) {
	var f fake
	store := testStore(t)
	cells := testCells(t, f.program(), 2)
	name, err := store.writeList(cells)
	require.NoError(t, err)
	c, err := store.ListedCell(f.program(), name, 1)
	require.NoError(t, err)
	require.Equal(t, cells[1], c)
	changed := &Program{Settings: func(args []string) ([]string, error) { return append(args, "new=1"), nil }}
	for want, list := range map[string]func() (Prepared, error){
		"has the cells 0 to 1": func() (Prepared, error) { return store.ListedCell(f.program(), name, 2) },
		"cell -1":              func() (Prepared, error) { return store.ListedCell(f.program(), name, -1) },
		"no such file":         func() (Prepared, error) { return store.ListedCell(f.program(), "cells-0.json", 0) },
		"name of a file":       func() (Prepared, error) { return store.ListedCell(f.program(), "../"+name, 0) },
		"other settings":       func() (Prepared, error) { return store.ListedCell(changed, name, 0) },
	} {
		_, err := list()
		require.ErrorContains(t, err, want)
	}
}
