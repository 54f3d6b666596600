// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// podFiles writes a cluster of two nodes, and pods that ask for all of it.
func podFiles(t *testing.T) (cluster, list string) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	cluster = write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,8000,100,2,T4\nb,8000,100,2,G2\n")
	list = write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"+
		"p,1000,1,1,500,T4\nq,1000,1,1,500,\nr,1000,1,2,1000,\ns,1000,1,1,1000,T4\n")
	return cluster, list
}

func TestSimulatePods(t *testing.T) {
	cluster, list := podFiles(t)
	args := []string{"simulate", "--cluster", cluster, "--workload", list, "--inflate", "1", "--batch", "4"}
	code, out, errs := aucsched(t, "", append(args, "--policy", "random,auction2", "--seed", "3", "--json")...)
	require.Zero(t, code, errs)
	first, second, _ := strings.Cut(out, "\n")
	require.Contains(t, first, `{"policy":"random","batch":4,`)
	require.Equal(t, `{"policy":"auction2","batch":4,"inflate":1,"seed":3,"pods":4,"failed":0,`+
		`"gpu_allocation_at":{"100":100}}`+"\n", second)

	code, out, errs = aucsched(t, "", append(args, "--policy", "auction2,fgd")...)
	require.Zero(t, code, errs)
	require.Contains(t, out, "auction2  100 %      100.00 %        4     0")
}

func TestSimulatePodsRefuses(t *testing.T) {
	cluster, list := podFiles(t)
	bad := filepath.Join(t.TempDir(), "bad.csv")
	text := "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,2,500\n"
	require.NoError(t, os.WriteFile(bad, []byte(text), 0o600))
	for want, args := range map[string][]string{
		`bad.csv:2: field gpu_milli: "500": must be 1000`: {"--policy", "fgd", "--workload", bad},
		"--batch: goes with the policies random,":         {"--policy", "auction2", "--batch", "2"},
		`--policy: "backfill" does not go with random,`:   {"--policy", "fgd,backfill"},
		`--policy: "fgd" is given twice`:                  {"--policy", "fgd,fgd"},
		"--rate: does not go with policy fgd":             {"--policy", "fgd", "--rate", "2"},
		"batch 0: must be at least 1":                     {"--policy", "fgd", "--batch", "0"},
		"inflation 0: must be above 0":                    {"--policy", "fgd", "--inflate", "0"},
		"--workload is missing":                           {"--policy", "fgd", "--workload", ""},
	} {
		args = append([]string{"simulate", "--cluster", cluster, "--workload", list}, args...)
		code, _, errs := aucsched(t, "", args...)
		require.Equal(t, 2, code, want)
		require.Contains(t, errs, want)
	}
}
