// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// python skips a test where there is no Python.
func python(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
}

const examples = "../../examples/policy/"

// The examples run all jobs to the end, by what they are named for, the same again, and beside others.
func TestPythonPolicies(t *testing.T) {
	python(t)
	differ := 0
	for _, args := range [][]string{{}, {"--workload", "gen:lublin-80", "--cluster", "16x8"}, {"--workload", "gen:esp", "--first", "100"}} {
		policies := "backfill,exec:" + examples + "shortest.py,exec:" + examples + "wfp3.py"
		all := lines(t, append(args, "--policy", policies)...)
		require.Len(t, all, 3)
		for _, r := range all {
			require.Equal(t, all[0].Jobs, r.Jobs, r.Policy)
			require.Empty(t, r.Unrun, r.Policy)
		}
		require.NotEqual(t, all[0].WaitMean, all[1].WaitMean)
		if all[1].WaitMean != all[2].WaitMean {
			differ++
		}
		require.Equal(t, all, lines(t, append(args, "--policy", policies, "--parallel", "1")...))
	}
	require.GreaterOrEqual(t, differ, 2, "workloads on which the two examples do not do the same")
}

// The order of the second example is that of easy-wfp3 behind the head, and nothing else differs: on a
// machine on which no job waits for a head both do the same.
func TestOrderOfAProgram(t *testing.T) {
	python(t)
	trace := filepath.Join(t.TempDir(), "t.swf")
	const record = " -1 100 4 -1 -1 4 "
	text := "1 0" + record + "100 -1 1 1 1 -1 1 -1 -1 -1\n"
	for _, j := range []string{"2 1", "3 2", "4 3"} {
		limit := map[string]string{"2 1": "900", "3 2": "300", "4 3": "600"}[j]
		text += j + record + limit + " -1 1 1 1 -1 1 -1 -1 -1\n"
	}
	require.NoError(t, os.WriteFile(trace, []byte(text), 0o600))
	started := func(policy string) (ids []string) {
		jobs := filepath.Join(t.TempDir(), "jobs.csv")
		code, _, errs := aucsched(t, "", "simulate", "--cluster", "1x4", "--workload", trace, "--policy", policy, "--jobs-csv", jobs)
		require.Zero(t, code, errs)
		text, err := os.ReadFile(jobs)
		require.NoError(t, err)
		for row := range strings.Lines(string(text)) {
			id, _, _ := strings.Cut(row, ",")
			ids = append(ids, id)
		}
		return ids[1:]
	}
	require.Equal(t, []string{"1", "3", "4", "2"}, started("exec:"+examples+"shortest.py"))
	require.Equal(t, []string{"1", "3", "4", "2"}, started("exec:"+examples+"wfp3.py"))
	require.Equal(t, []string{"1", "2", "3", "4"}, started("easy"))
}

// A program's fault ends the run in a line that says where.
func TestProgramFails(t *testing.T) {
	python(t)
	script := filepath.Join(t.TempDir(), "bad.py")
	write := func(text string) { require.NoError(t, os.WriteFile(script, []byte(text), 0o600)) }
	policy := "exec:python3 " + script
	for text, want := range map[string]string{
		"import sys\nsys.stdin.readline()\nraise ValueError('no idea')\n": "cycle 1: the program ended before it answered (exit status 1): its last words: ValueError: no idea",
		"print('{\"decisions\": [{\"job\": \"x\"}]}')\n":                  `cycle 1: decisions[0]: job: no job "x" waits`,
		"import sys\nfor line in sys.stdin:\n    print('{}')\n":           "cycle 1: decisions: missing",
		"import time\ntime.sleep(60)\n":                                   "cycle 1: the program gave no answer within 200ms",
	} {
		write(text)
		args := small("--policy", policy)
		if strings.Contains(text, "sleep") {
			args = append(args, "--answer-within", "200ms")
		}
		code, out, errs := aucsched(t, "", args...)
		require.Equal(t, 1, code, errs)
		require.Contains(t, errs, "aucsched: policy "+policy+" at second ")
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
	for policy, want := range map[string]string{
		"exec:./no-such.py": `--policy: exec:./no-such.py: ./no-such.py: `,
		"exec":              `--policy: exec: no program is named`,
	} {
		code, _, errs := aucsched(t, "", small("--policy", policy)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
	}
	code, _, errs := aucsched(t, "", small("--policy", policy, "--answer-within", "0s")...)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--answer-within: 0s: must be above 0")
}
