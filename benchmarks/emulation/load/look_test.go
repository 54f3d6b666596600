package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/slurmtest"
)

func TestStarted(t *testing.T) {
	d, err := slurmtest.ParseSdiag("Server thread count:  3\n\nJobs submitted: 4\nJobs started:   17\n")
	require.NoError(t, err)
	n, err := started(&d)
	require.NoError(t, err)
	require.Equal(t, 17, n)
	_, err = started(&slurmtest.Sdiag{})
	require.Error(t, err)
}
