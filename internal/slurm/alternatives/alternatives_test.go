// SPDX-License-Identifier: BSD-3-Clause

package alternatives

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var types = ReadGPUs("4 a 4\n\n8 v100-pcie 2 a 6\n0\n")

func TestNote(t *testing.T) {
	for line, want := range map[string]string{
		"-n64":                              "n64,N1-0",
		"\t-n 64\r":                         "n64,N1-0",
		"--ntasks=64 # more":                "n64,N1-0",
		"-N4":                               "n4,N4-4",
		"-n 9 --nodes 2-5":                  "n9,N2-5",
		"-n 3 -N2-5":                        "n3,N2-3",
		"-n2147483647":                      "",
		"-n999999999 -N1048576":             "n999999999,N1048576-1048576",
		"-n5 --contiguous":                  "n5,N1-0,contiguous",
		"-N1 --gres gpu":                    "n1,N1-1,gpu:1-1",
		"-n1 --gres=gpu:1-15":               "n1,N1-0,gpu:1-15",
		"-n1 --gpus-per-node=2":             "n1,N1-0,gpu:2-2",
		"-n1 --gpus-per-node=":              "n1,N1-0,gpu:1-1",
		"-n1 --gres=gpu:a:3-3":              "n1,N1-0,gpu:a:3-3",
		"-n1 --gres=gpu:":                   "n1,N1-0,gpu:1-1",
		"-n32 --ntasks-per-node 8":          "n32,N4-4,t8",
		"-n1 --gres=gpu:v100-pcie":          "n1,N1-0,gpu:v100-pcie:1-1",
		"-n1 --gpus-per-node=v100-pcie:2-3": "n1,N1-0,gpu:v100-pcie:2-3",
		"--nodes=4 --ntasks-per-node=8 --gres=gpu:2": "n32,N4-4,t8,gpu:2-2",
	} {
		got, err := Note("#!/bin/sh\n#SBATCH -n1\n\n#AUCSCHED --alternative "+line, 1, types, true)
		require.Equal(t, want == "", err != nil, line)
		require.Equal(t, want, got, line)
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []struct {
		line, words string
		cpusPerTask int
	}{
		{"", "needs --ntasks or --nodes", 1}, {"-x", "-x: is no option", 1}, {"extra", "extra: is no option", 1},
		{"--ntasks-per-core=1", "is no option", 1}, {"--nodesx=1", "is no option", 1}, {"--ntask=1", "is no option", 1},
		{"-n", "needs a value", 1}, {"--nodes", "needs a value", 1}, {"--nodes # 4", "needs a value", 1},
		{"-n1 --contiguous=yes", "takes no value", 1}, {"-n1 -n2", "-n2: is given twice", 1},
		{"-n1 --gres=gpu:1 --gpus-per-node=1", "given twice", 1},
		{"-n0", "0: the number of tasks must be", 1}, {"-n-1", "tasks must be", 1}, {"-n1k", "tasks must be", 1},
		{"-n+1", "tasks must be", 1}, {"--ntasks=", "tasks must be", 1}, {"-n9999999999", "tasks must be", 1},
		{"-N0", "nodes are", 1}, {"-N4-2", "4-2: nodes are", 1}, {"-N4-", "nodes are", 1}, {"-N-4", "nodes are", 1},
		{"-N1-2-3", "nodes are", 1}, {"-N1048577", "nodes are", 1},
		{"-n8 --ntasks-per-node=0", "on each node must be", 1}, {"-n8 --ntasks-per-node=65001", "on each node must be", 1},
		{"--ntasks-per-node=4", "needs --ntasks or --nodes", 1}, {"-n9 --ntasks-per-node=4", "fill some nodes", 1},
		{"-N2-4 --ntasks-per-node=4", "not a range", 1}, {"-N2 -n9 --ntasks-per-node=4", "is not --nodes times", 1},
		{"-N1048576 --ntasks-per-node=65000", "too many tasks", 1}, {"-N65536 --ntasks-per-node=65000", "too many tasks", 1},
		{"-N2-4", "a range of nodes needs --ntasks", 1}, {"-N4 -n3", "--alternative: fewer tasks than nodes", 1},
		{"-n999999999", "too many CPUs", 3}, {"--nodes=2 --ntasks-per-node=40000", "too many CPUs", 2},
		{"-N1 -n40000", "too many CPUs", 2}, {"-n4", "with --cpus-per-task", 2}, {"-n4 -N3", "with --cpus-per-task", 2},
		{"-n1 --gres=license:1", "license:1: an alternative can ask for gpu:... only", 1}, {"-n1 --gres=gpux", "gpu:... only", 1},
		{"-n1 --gres=gpu:0", "from 1 to 15", 1}, {"-n1 --gres=gpu:16", "from 1 to 15", 1}, {"-n1 --gres=gpu:3-1", "from 1 to 15", 1},
		{"-n1 --gres=gpu:1-", "from 1 to 15", 1}, {"-n1 --gres=gpu:-1", "from 1 to 15", 1},
		{"-n1 --gres=gpu:v100-pcie:", "from 1 to 15", 1}, {"-n1 --gres=gpu:1,gpu:2", "type of this cluster", 1},
		{"-n1 --gres=gpu:a100:1", "a100: is neither", 1}, {"-n1 --gres=gpu:a;b:1", "type of this cluster", 1},
		{"-n1 --gres=gpu::1", "type of this cluster", 1}, {"-n1 --" + strings.Repeat("x", 999), "xxx: is no option", 1},
	} {
		note, err := Note("#!/bin/sh\n\n#AUCSCHED --alternative "+c.line+"\n", c.cpusPerTask, types, true)
		require.Empty(t, note)
		require.ErrorContains(t, err, "#AUCSCHED in script line 3: ", c.line)
		require.ErrorContains(t, err, c.words, c.line)
		require.Less(t, len(err.Error()), 300)
	}
}

// Which lines of a script are looked at, and how many there may be.
func TestScripts(t *testing.T) {
	const one = "#AUCSCHED --alternative -n1"
	for script, want := range map[string]int{
		"": 0, "#!/bin/sh\nhostname\n" + one: 0, one: 1, "\n \t\n" + one: 1,
		"#AUCSCHED\t--alternative -n1\r\n \t\r\n# x\n#AUCSCHED  --alternative -N1\n": 2,
		" #AUCSCHED --alternative -x\n#AUCSCHEDX -x\n##AUCSCHED -x\n":                0,
		"#AUCSCHED --alternatives": -1, "#AUCSCHED": -1,
		strings.Repeat(one+"\n", Most): Most, strings.Repeat(one+"\n", Most+1): -1,
	} {
		note, err := Note(script, 1, types, true)
		require.Equal(t, want < 0, err != nil, script)
		if want > 0 {
			require.Len(t, strings.Split(note, "/"), want, script)
		} else {
			require.Empty(t, note)
		}
	}
}

// The notes of as many as there may be fit into what a job's texts may have.
func TestNoRanges(t *testing.T) {
	_, err := Note("#AUCSCHED --alternative -n1 --gres=gpu:2\n#AUCSCHED --alternative -n1 --gres=gpu:1-2\n", 1, nil, false)
	require.EqualError(t, err, "#AUCSCHED in script line 2: --alternative: this cluster takes no ranges of GPUs (auc_gpu_ranges=no)")
}

func TestLongestNote(t *testing.T) {
	r := request{tasks: 999999999, minNodes: mostNodes, maxNodes: mostNodes, perNode: mostPerNode, low: 10, high: 15,
		kind: strings.Repeat("a", 63), contiguous: true}
	require.LessOrEqual(t, len("auc:alt=")+Most*(len(r.note())+1), 1024)
}

var sound = regexp.MustCompile(`^(n[1-9]\d{0,9},N[1-9]\d{0,6}-\d{1,7}(,t[1-9]\d{0,4})?(,gpu:((a|v100-pcie):)?[1-9]\d?-[1-9]\d?)?(,contiguous)?(/|$))*$`)

// Whatever a script has in it, the note is sound, or the error a line.
func FuzzNote(f *testing.F) {
	f.Add("#AUCSCHED --alternative -n8 -N2-4 --gres=gpu:a:1-3 --contiguous\n#AUCSCHED --alternative -N1\n", 1)
	f.Add("#AUCSCHED --alternative --ntasks-per-node=8 -n64 # x", 2)
	f.Fuzz(func(t *testing.T, script string, cpusPerTask int) {
		note, err := Note(script, max(cpusPerTask&0xffff, 1), types, true)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			require.Less(t, len(err.Error()), 300)
		}
		require.Regexp(t, sound, note)
		require.LessOrEqual(t, len(note), 1000)
	})
}

// What Note writes Read reads.
func TestRead(t *testing.T) {
	kind := func(name string) (k [64]byte) { copy(k[:], name); return k }
	for _, c := range []struct {
		line string
		want Noted
	}{
		{"-n64", Noted{Tasks: 64, MinNodes: 1}},
		{"-n 9 --nodes 2-5 --contiguous", Noted{Tasks: 9, MinNodes: 2, MaxNodes: 5, Contiguous: 1}},
		{"--nodes=4 --ntasks-per-node=8 --gres=gpu:2", Noted{Tasks: 32, MinNodes: 4, MaxNodes: 4, PerNode: 8, Low: 2, High: 2}},
		{"-n1 --gpus-per-node=v100-pcie:2-3", Noted{Tasks: 1, MinNodes: 1, Low: 2, High: 3, Type: kind("v100-pcie")}},
		{"-n999999999 -N1048576", Noted{Tasks: 999999999, MinNodes: 1 << 20, MaxNodes: 1 << 20}},
	} {
		note, err := Note("#AUCSCHED --alternative "+c.line+"\n#AUCSCHED --alternative -n7", 1, types, true)
		require.NoError(t, err)
		require.Equal(t, []Noted{c.want, {Tasks: 7, MinNodes: 1}}, Read(note, 1), note)
	}
	// Whatever became of the job's CPUs a task since its submission.
	for note, cpus := range map[string][2]int{
		"n1,N1-0": {1 << 31, 0}, "n999999999,N1000000-0": {3, 2}, "n65535,N2-0": {2, 1}, "n80000,N2-2,t40000": {2, 1},
	} {
		require.Zero(t, Read(note, cpus[0])[0].Tasks, note)
		require.NotZero(t, Read(note, cpus[1])[0].Tasks, note)
	}
	for _, note := range []string{
		"", "n1", "N1-0", "n1,N0-0", "n1,N2-0", "n2,N2-1", "n01,N1-0,", "n1,N1-0,gpu:", "n1,N1-0,gpu:3-1", "n1,N1-0,gpu:1-16",
		"n1,N1-0,gpu::1-1", "n1,N1-0,gpu:a=b:1-1", "n3,N2-2,t1", "n2,N1-2,t2", "n1,N1-0/", "n1,N1-0,x", "n1,N1",
		strings.Repeat("n1,N1-0/", Most) + "n1,N1-0",
	} {
		require.Empty(t, Read(note, 1), note)
	}
}

// A site's own rules may write anything.
func FuzzRead(f *testing.F) {
	f.Add("n64,N2-8,gpu:v100-pcie:1-3,contiguous/n8,N4-4,t2", 1)
	f.Fuzz(func(t *testing.T, note string, cpus int) {
		for _, a := range Read(note, cpus&0xffff) {
			require.True(t, a.MinNodes > 0 && a.Low <= a.High && a.High <= mostGPUs && (a.Low == 0) == (a.High == 0))
			require.True(t, a.MaxNodes == 0 || a.MinNodes <= a.MaxNodes)
			require.True(t, a.Tasks == 0 || a.Tasks >= a.MinNodes)
			require.Zero(t, a.Type[len(a.Type)-1])
		}
	})
}
