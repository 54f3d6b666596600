// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/check"
)

func TestCheckCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slurm.conf")
	require.NoError(t, os.WriteFile(file, []byte("SelectType=select/cons_tres\nSchedulerParameters=auc_intervl=3\n"), 0o600))
	code, out, errs := aucsched(t, "", "check", file)
	require.Equal(t, 1, code)
	require.Contains(t, out, "problem: "+file+":2: auc_intervl=3: there is no such setting; ignored; did you mean auc_interval?\n")
	require.Contains(t, out, "note: "+file+": JobSubmitPlugins: ")
	require.Equal(t, "aucsched: "+file+": problems: 2\n", errs)

	code, out, _ = aucsched(t, "", "check", "--json", file)
	require.Equal(t, 1, code)
	var found []check.Finding
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found, 4)
	require.Equal(t, []any{true, "auc_intervl", 2}, []any{found[1].Problem, found[1].Field, found[1].Line})

	code, _, errs = aucsched(t, "", "check", filepath.Join(t.TempDir(), "none"))
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, errs, "no such file")
}

// What the file says reaches a terminal as text.
func TestCheckIsPlain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slurm.conf")
	text := "SchedulerParameters=auc_\x1b[2J=1,auc_\u009b=2\n\x1b[31m\nPartitionName=p OverSubscribe=FORCE\x1bc\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	_, out, errs := aucsched(t, "", "check", file)
	require.NotContains(t, out+errs, "\x1b")
	require.NotContains(t, out+errs, "\u009b")
	require.Contains(t, out, `auc_\x1b[2J=1: there is no such setting`)
}
