// SPDX-License-Identifier: BSD-3-Clause

package slurmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job of one GPU goes where GPUs are in use already, wherever that is: the other node stays whole for
// a job that wants all of its GPUs.
func TestKeepHoles(t *testing.T) {
	beside(t)
	s := cluster(t, auction, Config{Groups: []Group{{Nodes: 2, Cores: 8, GPUs: 4}}, SchedulerParameters: "auc_at_once=no"})
	w := watch(t, s)
	for _, used := range []string{"n0001", "n0002"} {
		running(t, s, patience, submit(t, s, "sleep 100", "-w", used, "-n1", "--gres=gpu:1", "--time=9"))
		id := submit(t, s, "sleep 100", "-n1", "--gres=gpu:1", "--time=9")
		require.Equal(t, used, running(t, s, patience, id)[0].NodeList)
		requireByAuction(t, s, id)
		running(t, s, patience, submit(t, s, "sleep 100", "-n1", "--gres=gpu:4", "--time=9"))
		cancelAll(t, s)
	}
	_, err := w.Look(t.Context())
	require.NoError(t, err)
}
