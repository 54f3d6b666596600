// SPDX-License-Identifier: BSD-3-Clause

package slurmtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With auc_keep_holes a job of one GPU goes where GPUs are in use already, wherever that is: the
// other node stays whole for a job that wants all of its GPUs.
func TestKeepHoles(t *testing.T) {
	beside(t)
	for parameters, always := range map[string]bool{"auc_at_once=no": false, "auc_at_once=no,auc_keep_holes=yes": true} {
		t.Run(parameters, func(t *testing.T) {
			s := cluster(t, auction, Config{Groups: []Group{{Nodes: 2, Cores: 8, GPUs: 4}}, SchedulerParameters: parameters})
			w := watch(t, s)
			nodes, packed := []string{"n0001", "n0002"}, 0
			for _, used := range nodes {
				running(t, s, patience, submit(t, s, "sleep 100", "-w", used, "-n1", "--gres=gpu:1", "--time=9"))
				id := submit(t, s, "sleep 100", "-n1", "--gres=gpu:1", "--time=9")
				on := running(t, s, patience, id)[0].NodeList
				requireByAuction(t, s, id)
				if on == used {
					packed++
					running(t, s, patience, submit(t, s, "sleep 100", "-n1", "--gres=gpu:4", "--time=9"))
				}
				cancelAll(t, s)
			}
			require.Equal(t, always, packed == len(nodes), "%d of %d jobs lie beside others", packed, len(nodes))
			_, err := w.Look(t.Context())
			require.NoError(t, err)
		})
	}
}
