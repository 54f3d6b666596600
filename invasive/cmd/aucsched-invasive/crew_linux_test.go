// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

func TestReadTasks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks")
	read := func(text string) ([]string, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return readTasks(path)
	}
	tasks, err := read("# none\n  a  b \n\n\té # 2\nlast")
	require.NoError(t, err)
	require.Equal(t, []string{"a  b", "é # 2", "last"}, tasks)
	for text, says := range map[string]string{
		"":                           "no tasks",
		"# a\n\n":                    "no tasks",
		"a\nb\x00c\n":                `line 2: "b\x00c" has a NUL byte, or is not UTF-8`,
		"\n\xff\n":                   `line 2: "\xff" has a NUL byte, or is not UTF-8`,
		strings.Repeat("x", 200_000): "token too long",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, says)
	}
}

// What is wrong in the environment or on the command line is said, and is the user's mistake.
func TestCrewRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks")
	require.NoError(t, os.WriteFile(path, []byte("true\n"), 0o644))
	job := map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_CPUS_ON_NODE": "4", "AUCSCHED_CREW_ON": ""}
	for _, c := range []struct {
		args, name, value, says string
	}{
		{"bag FILE", "SLURM_JOB_ID", "", "SLURM_JOB_ID is not set"},
		{"run -- true", "SLURM_JOB_ID", "", "SLURM_JOB_ID is not set"},
		{"bag FILE", "SLURM_JOB_NUM_NODES", "0", `SLURM_JOB_NUM_NODES="0": must be a number of 1 or more`},
		{"bag FILE", "SLURM_CPUS_ON_NODE", "x", `SLURM_CPUS_ON_NODE="x"`},
		{"bag FILE --slots -1", "", "", "--slots -1: must be 1 or more"},
		{"bag FILE --more 10001", "", "", "--more 10001: must be 0 to 10000"},
		{"bag FILE --sbatch low", "", "", `--sbatch "low": must be an option of sbatch`},
		{"bag FILE.no", "", "", "there is no such file"},
		{"on 1 -- true", "", "", "AUCSCHED_CREW_ON is not set"},
		{"on x -- true", "AUCSCHED_CREW_ON", "/nothing", `PLACE "x": must be a number`},
	} {
		for name, value := range job {
			t.Setenv(name, value)
		}
		if c.name != "" {
			t.Setenv(c.name, c.value)
		}
		var out, errs strings.Builder
		args := append([]string{"crew"}, strings.Fields(strings.ReplaceAll(c.args, "FILE", path))...)
		require.Equal(t, cli.ExitUsage, run(t.Context(), args, nil, &out, &errs), c.args)
		require.Contains(t, errs.String(), c.says)
	}
	_, err := os.Stat(path + ".done")
	require.ErrorIs(t, err, os.ErrNotExist, "nothing is half done")
}

// A step that Slurm's signal has ended before it listened comes again, and no other is begun when
// the member is gone.
func TestCompanionIsWatchedAgain(t *testing.T) {
	dir := t.TempDir()
	srun := "#!/bin/sh\necho \"$@\" >>DIR/steps\n[ -e DIR/once ] && exit 0\ntouch DIR/once\nkill -TERM $$\n"
	self := "#!/bin/sh\necho \"$@\" >>DIR/members\n" +
		"for i in $(seq 100); do [ $(grep -c . DIR/steps) = 2 ] && exit; sleep 0.1; done\n"
	for name, text := range map[string]string{"srun": srun, "self": self} {
		text = strings.ReplaceAll(text, "DIR", dir)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	cmd := exec.Command("/bin/sh")
	cmd.Stdin = strings.NewReader(companionScript("srun --overlap", dir+"/self"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	steps, err := os.ReadFile(filepath.Join(dir, "steps"))
	require.NoError(t, err)
	pid := cmd.Process.Pid
	require.Equal(t, strings.Repeat(fmt.Sprintf("--overlap --nodes=1 --ntasks=1 %s/self crew watch %d\n", dir, pid), 2), string(steps))
	members, err := os.ReadFile(filepath.Join(dir, "members"))
	require.NoError(t, err)
	require.Equal(t, "crew member --companion\n", string(members))
}
