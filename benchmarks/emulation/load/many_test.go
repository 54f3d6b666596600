// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/internal/workload"
)

func request(change func(*workload.Job)) workload.Job {
	j := workload.Job{Duration: 90}
	j.TimeLimit, j.Cores, j.MaxNodes = 61, 12, 3
	change(&j)
	return j
}

func TestWriteJobs(t *testing.T) {
	jobs := []workload.Job{
		request(func(j *workload.Job) {}),
		request(func(j *workload.Job) { j.MinNodes, j.TasksPerNode = 2, 6 }),
		request(func(j *workload.Job) { j.MinGPUs, j.MaxGPUs, j.Duration = 2, 2, 30 }),
		request(func(j *workload.Job) {}),
		request(func(j *workload.Job) { j.Cores = 7 }),
	}
	for _, c := range []struct {
		first int
		want  string
	}{
		{0, "0 1000000000 2 12 1 3 0 0 61\n4 999999996 2 7 1 3 0 0 61\n"},
		{1, "1 999999999 2 12 2 3 6 0 61\n"},
		{2, "2 999999998 2 12 1 3 0 2 30\n"},
		{5, ""},
	} {
		var out bytes.Buffer
		require.NoError(t, writeJobs(&out, jobs, c.first))
		require.Equal(t, c.want, out.String(), "from %d on", c.first)
	}
	for _, bad := range []func(*workload.Job){
		func(j *workload.Job) { j.Contiguous = true },
		func(j *workload.Job) { j.MinGPUs, j.MaxGPUs = 1, 2 },
	} {
		require.ErrorContains(t, writeJobs(&bytes.Buffer{}, []workload.Job{request(bad)}, 0), "job 0: vsubmit submits neither")
	}
}

func TestEnough(t *testing.T) {
	require.Equal(t, 1, enough(nil))
	require.Equal(t, 3, enough([]workload.Job{request(func(j *workload.Job) { j.Cores = 25 })}))
	require.Equal(t, 40, enough([]workload.Job{request(func(j *workload.Job) { j.MinNodes = 40 })}))
}

// What is no job is refused with its line, and nothing is submitted.
func TestVsubmitRefuses(t *testing.T) {
	v, err := slurmtest.Version()
	var missing *slurmtest.ErrMissing
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	require.NoError(t, err)
	tool := filepath.Join("../../../build/emulation", v, "vsubmit")
	if _, err := os.Stat(tool); err != nil {
		t.Skipf("%v: sh scripts/emulation.sh makes it", err)
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	require.NoError(t, os.WriteFile(conf, []byte("ClusterName=none\nSlurmctldHost=localhost(127.0.0.1)\n"+
		"AuthType=auth/none\nCredType=cred/none\nPartitionName=p Nodes=n1\nNodeName=n1\n"), 0o600))
	const good = "0 1000000000 2 12 1 3 0 0"
	for _, rest := range []string{"", " 61 1", " -1", " 4294967294", " 61x", " 99999999999999999999999"} {
		bad := good + rest
		cmd := exec.Command(tool, "-f", conf)
		cmd.Stdin = strings.NewReader(bad + "\n")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%q: %s", bad, out)
		require.Equal(t, 1, exit.ExitCode())
		require.Contains(t, string(out), "vsubmit: line 1: 9 whole numbers are expected: "+bad)
	}
}
