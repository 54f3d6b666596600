package slurmtest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Jobs of the partition are held until they were negotiated, and run on the cores of the ledger; an urgent one takes some from a malleable one; other
// partitions are Slurm's alone.
func TestInvasive(t *testing.T) {
	beside(t)
	b := newInvasiveBed(t, "")
	first := b.malleable("--comment=invasic=1-2,malleable;mine")
	j, err := b.ShowJob(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "mine;invasic=1-2,malleable,points=100", j.Fields["Comment"])
	require.Equal(t, "JobHeldUser", j.Reason)

	other := submit(t, b.Cluster, "sleep 1; env", "-n1", "--comment=invasic=nonsense", "-o", b.file("other"))
	b.ended(other, "COMPLETED") // as ever, while the first waits
	o, err := b.ShowJob(t.Context(), other)
	require.NoError(t, err)
	require.Equal(t, "invasic=nonsense", o.Fields["Comment"])
	text, err := os.ReadFile(b.file("other"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "AUCSCHED_INVASIVE")
	j, err = b.ShowJob(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)

	b.startBoth()
	b.owns(first, "0-1")
	at := time.Now()
	urgent := b.sbatch("exec sleep 100", "-n1", "--comment=invasic=urgent")
	b.owns(urgent, "1")
	t.Logf("an urgent job ran after %v", time.Since(at))
	b.owns(first, "0")
	require.NoError(t, b.Scancel(t.Context(), fmt.Sprint(urgent)))
	b.owns(first, "0-1")
	b.stopMalleable()
	b.ended(first, "COMPLETED")
	b.startedOnce(first, urgent)
}
