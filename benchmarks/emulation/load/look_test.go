// SPDX-License-Identifier: BSD-3-Clause

package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
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

func TestRegistrations(t *testing.T) {
	d, err := slurmtest.ParseSdiag(
		"Remote Procedure Call statistics by message type\n\tMESSAGE_NODE_REGISTRATION_STATUS    " +
			"    ( 1002) count:1677   ave_time:60989  total_time:102280175\n")
	require.NoError(t, err)
	n, err := registrations(&d)
	require.NoError(t, err)
	require.Equal(t, 1677, n)
	n, err = registrations(&slurmtest.Sdiag{})
	require.NoError(t, err)
	require.Zero(t, n, "none yet")
}

func TestCountTimedOut(t *testing.T) {
	good, late := slurmtest.Ended{ID: 1, State: "COMPLETED"}, slurmtest.Ended{ID: 3, State: "TIMEOUT"}
	bad := slurmtest.Ended{ID: 2, State: "NODE_FAIL"}
	n, err := countTimedOut([]slurmtest.Ended{good, late, good})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = countTimedOut([]slurmtest.Ended{good, bad})
	require.ErrorContains(t, err, "job 2 has ended NODE_FAIL")
	_, err = countTimedOut(nil)
	require.Error(t, err, "nothing was going on")
}
