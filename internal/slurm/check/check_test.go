// SPDX-License-Identifier: BSD-3-Clause

package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// plugin makes an object with a plugin_version, or skips where there is no compiler.
func plugin(t *testing.T, path string, version int) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler to make a plug-in with")
	}
	source := filepath.Join(t.TempDir(), "p.c")
	require.NoError(t, os.WriteFile(source, []byte("const unsigned plugin_version = "+strconv.Itoa(version)+";\n"), 0o600))
	out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// machine has the directories of a Slurm 22.05.8 and of plug-ins for a version.
func machine(t *testing.T, version int) (ours, stock string) {
	t.Helper()
	dir := t.TempDir()
	ours, stock = filepath.Join(dir, "ours"), filepath.Join(dir, "stock")
	require.NoError(t, os.Mkdir(ours, 0o700))
	require.NoError(t, os.Mkdir(stock, 0o700))
	plugin(t, filepath.Join(ours, shim), version)
	plugin(t, filepath.Join(stock, shim), 0x160508)
	for _, name := range []string{"libaucsched.so", "aucsched-engine", "sched_backfill.so", "job_submit_aucsched.so", "cli_filter_aucsched.so"} {
		require.NoError(t, os.WriteFile(filepath.Join(ours, name), nil, 0o600))
	}
	return ours, stock
}

// check is what is found in a slurm.conf, a line each without its place.
func check(t *testing.T, text string) (problems, notes []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slurm.conf")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	found, err := Check(path)
	require.NoError(t, err)
	for _, f := range found {
		line := strings.TrimPrefix(f.String(), path)
		if f.Problem {
			problems = append(problems, line)
		} else {
			notes = append(notes, line)
		}
	}
	return problems, notes
}

const usual = "SelectType=select/cons_tres\nSchedulerType=sched/backfill\nJobSubmitPlugins=lua,aucsched\n" +
	"CliFilterPlugins=cli_filter/aucsched\nPartitionName=p Nodes=ALL\n"

func TestAllIsWell(t *testing.T) {
	ours, stock := machine(t, 0x160508)
	problems, notes := check(t, usual+"PluginDir="+ours+":"+stock+
		"\nSchedulerParameters=bf_continue,auc_interval=5,auc_partitions=p,auc_mode=shadow,auc_preset=default")
	require.Empty(t, problems)
	require.Empty(t, notes)
}

func TestDirectories(t *testing.T) {
	ours, stock := machine(t, 0x160508)
	old, _ := machine(t, 0x170208)
	for dirs, want := range map[string]string{
		stock + ":" + ours:             "must come before " + stock,
		ours:                           "Slurm's own directory is missing behind " + ours,
		stock:                          "none of them has aucsched's plug-ins",
		ours + ":/no/such:" + stock:    "PluginDir=/no/such: is not there: no command",
		old + ":" + stock:              "made for Slurm 23.02.8, and this is 22.05.8: slurmctld would not start",
		ours + ":" + stock + ":" + old: "",
	} {
		problems, _ := check(t, usual+"PluginDir="+dirs)
		if want == "" {
			require.Empty(t, problems)
			continue
		}
		require.Len(t, problems, 1, dirs)
		require.Contains(t, problems[0], ":6: PluginDir=")
		require.Contains(t, problems[0], want)
	}
	require.NoError(t, os.Remove(filepath.Join(ours, "sched_backfill.so")))
	require.NoError(t, os.WriteFile(filepath.Join(stock, shim), []byte("x"), 0o600))
	problems, _ := check(t, usual+"PluginDir="+ours+":"+stock)
	require.Len(t, problems, 2)
	require.Contains(t, problems[0], "sched_backfill.so is missing there")
	require.Contains(t, problems[1], shim+" can't be read")
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"auc_intervall=3":                ":6: auc_intervall=3: there is no such setting; ignored; did you mean auc_interval?",
		"auc_interval":                   ":6: auc_interval: a value is missing",
		"bf_continue,auc_interval=0":     ":6: auc_interval=0: must be a whole number from 1 to 3600; the default is used",
		"auc_mode=shadows":               ":6: auc_mode=shadows: must be on, shadow; the auction is off",
		"auc_status=x":                   ":6: auc_status=x: must be an absolute path; the default is used",
		"auc_partitions=p,q,bf_window=9": ":6: auc_partitions=q: no line PartitionName has that name",
		"auc_library=/no/such.so":        ":6: auc_library=/no/such.so: is not there",
		"auc_status=/no/such/dir/x":      ":6: auc_status=/no/such/dir/x: its directory is not there",
	} {
		problems, _ := check(t, usual+"SchedulerParameters="+text)
		require.Len(t, problems, 2, "%s: and PluginDir is missing", text)
		require.Contains(t, strings.Join(problems, "\n"), want)
	}
	_, notes := check(t, usual+"SchedulerParameters=auc_bids=3,auc_paper=yes,auc_interval=5,auc_interval=6,auc_mode=shadow,auc_enabled=no")
	const gone = "has no effect any more, and is an error in the next version: "
	require.Equal(t, []string{":6: auc_bids=3: " + gone + "presets say it", ":6: auc_paper=yes: " + gone + "use auc_preset=paper",
		":6: auc_interval=6: given before as 5: the last one counts", ":6: auc_mode=shadow: says nothing with auc_enabled=no"}, notes)
}

func TestTheRestOfTheFile(t *testing.T) {
	problems, notes := check(t, "SelectType=select/linear\nSchedulerType=sched/builtin\nSelectTypeParameters=CR_Socket_Memory\n"+
		"PreemptMode=SUSPEND,GANG\nPartitionName=p Nodes=ALL OverSubscribe=FORCE:2 Topology=t\n")
	require.Len(t, problems, 3)
	require.Contains(t, problems[1], ":1: SelectType=select/linear")
	require.Contains(t, problems[2], ":2: SchedulerType=sched/builtin")
	for i, want := range []string{"JobSubmitPlugins: ", "CliFilterPlugins: ", "SelectTypeParameters=CR_Socket_Memory",
		"PreemptMode=SUSPEND,GANG",
		"OverSubscribe=FORCE:2", "Topology=t"} {
		require.Contains(t, notes[i], want)
	}
	_, notes = check(t, "SchedulerType=sched/aucsched\n")
	require.Contains(t, strings.Join(notes, "\n"), "heterogeneous jobs never start")
	_, err := Check(filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)
}

// Slurm takes the last of two lines with one key: it is said that the first does not count.
func TestTwice(t *testing.T) {
	_, notes := check(t, usual+"JobSubmitPlugins=lua\nSchedulerParameters=bf_continue\nSchedulerParameters=auc_mode=shadow")
	require.Contains(t, strings.Join(notes, "\n"), ":8: SchedulerParameters=auc_mode=shadow: given before in line 7 of ")
}

// The file is read as Slurm reads it.
func TestGrammarOfTheFile(t *testing.T) {
	ours, stock := machine(t, 0x160508)
	dirs := "PluginDir = " + ours + ":" + stock + "\n"
	for text, want := range map[string]string{
		strings.ReplaceAll(usual, "=", " = ") + dirs + "SchedulerParameters = auc_mode=banana\n": "" +
			":7: auc_mode=banana: must be on, shadow; the auction is off",
		strings.Replace(usual, "lua,aucsched", "lua,job_submit/aucsched", 1) + dirs: "",
		"# \\\n" + usual + dirs:    "",
		usual + dirs + ";A=1\n":    `:7: syntax: the line can't be read from ";A=1" on`,
		usual + dirs + "A=1 B=2\n": `:7: syntax: the line can't be read from "B=2" on`,
		usual + dirs + "PreemptMode=OFF\nPartitionName=q PreemptMode=SUSPEND": "",
	} {
		problems, notes := check(t, text)
		require.Empty(t, notes, text)
		require.Equal(t, want, strings.Join(problems, "\n"), text)
	}
	_, notes := check(t, usual+dirs+"PartitionName=q Shared = FORCE:4\n"+
		"PartitionName=r Shared=FORCE OverSubscribe=NO\nPartitionName=s OVERSUBSCRIBE=force\n")
	require.Equal(t, []string{":7: Shared=FORCE:4: its jobs share cores, and are left to Slurm",
		":9: OverSubscribe=force: its jobs share cores, and are left to Slurm"}, notes)
}

// A line of very many words gives as many findings as can be read.
func TestFindingsAreBounded(t *testing.T) {
	problems, _ := check(t, usual+"SchedulerParameters=auc_partitions="+strings.Repeat("p,", 200_000)+strings.Repeat("auc_x=1,", 200_000))
	require.Len(t, problems, mostFindings+2, "and PluginDir is missing")
	require.Contains(t, problems[len(problems)-1], "the rest was not looked at")
	problems, _ = check(t, usual+"SchedulerParameters=auc_partitions="+strings.Repeat("x,", 200_000)+"\n"+strings.Repeat(";\n", 1000))
	require.Len(t, problems, 2*mostFindings+1)
}
