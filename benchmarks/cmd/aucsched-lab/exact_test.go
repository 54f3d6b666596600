// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/sim"
)

// Two pods of .5 and .47 of a GPU run beside each other, a third waits for them, and one of a model
// that is elsewhere goes there.
func TestExactPods(t *testing.T) {
	dir := t.TempDir()
	pods, nodes, conf := filepath.Join(dir, "pods.csv"), filepath.Join(dir, "nodes.csv"), filepath.Join(dir, "n.conf")
	list := `name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time
a,2500,100,1,500,,0,90,0
b,2500,100,1,470,T4,0,90,0
c,500,100,1,1000,T4,0,90,0
d,500,100,1,1000,P100|V100,0,90,0
`
	require.NoError(t, os.WriteFile(pods, []byte(list), 0o600))
	require.NoError(t, os.WriteFile(nodes, []byte("sn,cpu_milli,memory_mib,gpu,model\nx,5500,400,1,T4\ny,1000,400,1,P100\n"), 0o600))
	require.NoError(t, os.WriteFile(conf, []byte("n1 cores=8 gpus=2\n"), 0o600))
	code, out, errs := aucsched(t, "", "simulate", "--json", "--exact-pods", "--policy", "backfill,auction2",
		"--cluster", nodes, "--workload", pods)
	require.Zero(t, code, errs)
	for line := range strings.Lines(out) {
		var r sim.Result
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, []any{4, 90. / 4}, []any{r.Jobs, r.WaitMean}, "%s: c waits for a and b", r.Policy)
		require.InDelta(t, (.97*90+90+90)/(2*180), r.GPUUtilization, 1e-9)
		require.Equal(t, &sim.GPUQueue{Seconds: 90, Idle: 0.015, Stranded: 0.015}, r.GPUQueue, "30 thousandths")
	}
	code, out, errs = aucsched(t, "", "simulate", "--json", "--cluster", nodes, "--workload", pods)
	require.Zero(t, code, errs)
	var r sim.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotEqual(t, 90./4, r.WaitMean, "each share is a whole GPU")
	for want, args := range map[string][]string{
		"with --exact-pods memory counts already": {"--count-memory", "--cluster", nodes},
		"--exact-pods: does not go with --files":  {"--files", "--cluster", nodes},
		"the machine is not Alibaba's list":       {"--cluster", conf},
	} {
		code, _, errs := aucsched(t, "", append([]string{"simulate", "--exact-pods", "--workload", pods}, args...)...)
		require.NotZero(t, code)
		require.Contains(t, errs, want)
	}
}
