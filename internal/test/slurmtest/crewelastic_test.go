// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// torch is a Python that has PyTorch.
func torch(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(python, "-c", "import torch.distributed.run").Run() == nil {
			return python
		}
	}
	t.Skip("PyTorch is missing: it is in Debian's python3-torch")
	return ""
}

// The training of examples/elastic grows from 1 to 3 nodes, gives one to an urgent job, and has the
// losses of a training on one node to twelve digits.
func TestCrewElastic(t *testing.T) {
	slow(t)
	beside(t)
	python := torch(t)
	b := newCrewBed(t, auction, nil)
	for _, file := range []string{
		"../../../examples/elastic/elastic.py", "../../../examples/elastic/agent.py", "../../../examples/elastic/train.py",
		"../../../invasive/malleable/python/aucsched_malleable.py",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, filepath.Base(file)), text, 0o644))
	}
	export := "export OMP_NUM_THREADS=1 ELASTIC_ON='" + b.bin + "/aucsched crew on'\n"
	train := python + " train.py --epochs 8"
	args := as(Alice, "-N1", "-n2", "--time=20", "-D", b.dir)
	rigid := submit(t, b.Cluster, export+"mkdir rigid && exec "+train+" --dir rigid", append(args, "-o", b.dir+"/rigid.out")...)
	_, err := b.WaitFor(t.Context(), rigid, 240*time.Second, "COMPLETED")
	require.NoError(t, err)

	program := python + " elastic.py --host localhost -- " + train + " --pause 0.2 --wait 1:3 --wait 5:2"
	others := submit(t, b.Cluster, "sleep 1000", as(Bob, "-N7", "--exclusive", "--time=20", "-o", "/dev/null")...)
	running(t, b.Cluster, 60*time.Second, others)
	base := submit(t, b.Cluster, export+b.line("run", 2)+program, append(args, "-o", b.dir+"/lead.out")...)
	b.until(480*time.Second, "an epoch on one node", func() bool { return strings.Contains(b.text("lead.out"), "epoch 0:") })
	require.NoError(t, b.Scancel(t.Context(), fmt.Sprint(others)))
	b.until(480*time.Second, "3 ranks", func() bool { return strings.Contains(b.text("lead.out"), "epoch 1:") })
	urgent := submit(t, b.Cluster, "sleep 1000", as(Bob, "-N6", "--exclusive", "--time=20", "-o", "/dev/null")...)
	began := time.Now()
	running(t, b.Cluster, 60*time.Second, urgent)
	t.Logf("the urgent job waited for %v", time.Since(began).Round(time.Millisecond))
	_, err = b.WaitFor(t.Context(), base, 480*time.Second, "COMPLETED")
	t.Log(b.text("lead.out"))
	require.NoError(t, err)
	// At the end it says again how each epoch was.
	epochs := func(name string) []string {
		all := regexp.MustCompile(`epoch \d: 960 samples, each 1 to 1 times, loss 0\.\d{12}`).FindAllString(b.text(name), -1)
		require.Greater(t, len(all), 8, name)
		return all[len(all)-8:]
	}
	require.Equal(t, epochs("rigid.out"), epochs("lead.out"))
	require.Regexp(t, `1 -> 3 ranks`, b.text("lead.out"))
	require.Regexp(t, `3 -> 2 ranks`, b.text("lead.out"))
	require.NoError(t, b.Scancel(t.Context(), fmt.Sprint(urgent)))
	require.NoError(t, b.WaitEmpty(t.Context(), 30*time.Second))
}
