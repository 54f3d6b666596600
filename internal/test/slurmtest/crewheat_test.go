// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The MPI program of examples/heat grows from 1 to 8 nodes, gives 6 to an urgent job, and has the
// field of a run whose ranks stay.
func TestCrewHeat(t *testing.T) {
	slow(t)
	beside(t)
	for _, tool := range []string{"mpicc", "mpirun", "ompi-server"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: it is in Debian's openmpi-bin and libopenmpi-dev", tool)
		}
	}
	bothModes(t, func(t *testing.T, m mode) {
		b := newCrewBed(t, m, nil)
		b.buildHeat()
		mpi := "export HEAT_MPIRUN='--oversubscribe --bind-to none --mca mpi_yield_when_idle 1' HEAT_ON='" + b.bin + "/aucsched crew on'\n"
		const field = "/heat.sh -n 400 -s 1000"
		args := as(Alice, "-N1", "-n2", "--time=10", "-D", b.dir)
		rigid := submit(t, b.Cluster, mpi+"exec "+b.dir+field, append(args, "-o", b.dir+"/rigid.out")...)
		_, err := b.WaitFor(t.Context(), rigid, 60*time.Second, "COMPLETED")
		require.NoError(t, err)

		base := submit(t, b.Cluster, mpi+b.line("run", 7)+b.dir+field+" -w 10:8 -w 20:2", append(args, "-o", b.dir+"/lead.out")...)
		b.until(60*time.Second, "8 ranks", func() bool { return strings.Contains(b.text("lead.out"), " -> 8 ranks") })
		b.urgent()
		_, err = b.WaitFor(t.Context(), base, 120*time.Second, "COMPLETED")
		require.NoError(t, err)
		t.Log(b.text("lead.out"))
		require.Contains(t, b.text("lead.out"), " -> 2 ranks")
		sum := regexp.MustCompile(`sum [0-9a-f]{16}\n`)
		require.Regexp(t, sum, b.text("rigid.out"))
		require.Equal(t, sum.FindString(b.text("rigid.out")), sum.FindString(b.text("lead.out")))
		require.NoError(t, b.WaitEmpty(t.Context(), 30*time.Second))
	})
}

func (b *crewBed) buildHeat() {
	b.t.Helper()
	out, err := exec.Command("make", "-C", "../../../examples/heat", "OUT="+b.dir).CombinedOutput()
	require.NoError(b.t, err, "%s", out)
	script, err := os.ReadFile("../../../examples/heat/heat.sh")
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(b.dir+"/heat.sh", script, 0o755))
}
