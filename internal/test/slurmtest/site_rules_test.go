// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ranges and alternatives can be turned off; or a site's own rule looks at them, as the
// documentation says.
func TestSiteRules(t *testing.T) {
	beside(t)
	machine := typedMachine()
	machine.Groups[1].GPUType = longType
	c := cluster(t, auction, machine)
	t.Run("long notes", func(t *testing.T) { testLongNotes(t, c) })
	t.Run("settings", func(t *testing.T) { testRulesBySettings(t, c) })
	t.Run("lua", func(t *testing.T) { testRulesInLua(t, c) })
}

// longType is the longest name of a GPU type that a note can hold.
var longType = strings.Repeat("v", 63)

// What ranges and alternatives take of the comment is bounded, in words.
func testLongNotes(t *testing.T, c *Cluster) {
	defer cancelAll(t, c)
	line := "#AUCSCHED --alternative --nodes=1048576 --ntasks-per-node=900 --gres=gpu:" + longType + ":10-15 --contiguous"
	for n, ok := range map[int]bool{7: true, 8: false} {
		script := directives(c.Script("sleep 1"), slices.Repeat([]string{line}, n)...)
		id, err := c.Sbatch(t.Context(), []string{"-n1", "-H", "--gres=gpu:" + longType + ":1-2"}, script)
		if !ok {
			require.Error(t, err)
			require.Contains(t, Stderr(err), "bytes of the job's AdminComment, and can take 1024: leave some out")
			continue
		}
		require.NoError(t, err)
		j, err := c.ShowJob(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, n, strings.Count(j.Fields["AdminComment"], "contiguous"), "all of them are noted")
	}
}

// ruled is a job that a rule may be against.
type ruled struct {
	args, alternative string
	words             string // "": it is taken
}

func requireRuled(t *testing.T, c *Cluster, jobs []ruled) {
	t.Helper()
	defer cancelAll(t, c)
	for _, r := range jobs {
		script := c.Script("sleep 1")
		if r.alternative != "" {
			script = directives(script, "#AUCSCHED --alternative "+r.alternative)
		}
		_, err := c.Sbatch(t.Context(), append(strings.Fields(r.args), "-n1", "-H"), script)
		if r.words == "" {
			require.NoError(t, err, "%s | %s", r.args, r.alternative)
			continue
		}
		require.Error(t, err, "%s | %s", r.args, r.alternative)
		require.Contains(t, Stderr(err), r.words, "%s | %s", r.args, r.alternative)
	}
}

func testRulesBySettings(t *testing.T, c *Cluster) {
	const noRanges, noAlternatives = "takes no ranges of GPUs (auc_gpu_ranges=no)", "takes no alternative requests (auc_alternatives=no)"
	before := c.cfg.SchedulerParameters
	defer func() { require.NoError(t, c.SetParameters(t.Context(), before)) }()
	require.NoError(t, c.SetParameters(t.Context(), before+",auc_gpu_ranges=no"))
	requireRuled(t, c, []ruled{
		{"--gres=gpu:1-2", "", noRanges},
		{"--gpus-per-node=a100:1-2", "", noRanges},
		{"", "-n1 --gres=gpu:1-2", noRanges},
		{"--gres=gpu:2", "", ""},
		{"", "-n1 --gres=gpu:2", ""},
	})
	require.NoError(t, c.SetParameters(t.Context(), before+",auc_alternatives=no"))
	requireRuled(t, c, []ruled{
		{"", "-n1", noAlternatives},
		{"--gres=gpu:1-2", "", ""},
		{"", "", ""},
	})
	require.NotContains(t, c.Logs("slurmctld.log", 1<<20), "there is no such setting")
}

var luaRule = regexp.MustCompile("(?s)```lua\n(.*?)```")

func testRulesInLua(t *testing.T, c *Cluster) {
	if _, err := os.Stat(filepath.Join(c.stock, "job_submit_lua.so")); err != nil {
		t.Skipf("Slurm was built without job_submit/lua: %v", err)
	}
	page, err := os.ReadFile("../../../docs/howto/site-rules.md")
	require.NoError(t, err)
	rule := luaRule.FindSubmatch(page)
	require.NotNil(t, rule)
	require.NoError(t, os.WriteFile(c.path("job_submit.lua"), rule[1], 0o644))
	require.NoError(t, c.SetConfig(func(cfg *Config) { cfg.JobSubmitPlugins = "aucsched,lua" }))
	require.NoError(t, c.Reconfigure(t.Context()))
	const words = "at most two GPUs a node"
	requireRuled(t, c, []ruled{
		{"--gres=gpu:2", "", ""},
		{"--gres=gpu:a100:1-2", "-n2 -N2 --gres=gpu:2", ""},
		{"--gpus-per-node=a100", "", ""},
		{"--gres=gpu:3", "", words},
		{"--gres=gpu:1-3", "", words},
		{"--gpus-per-node=a100:1-3", "", words},
		{"", "-n1 --gres=gpu:a100:4", words},
		{"--gres=gpu:1-2", "-n1 --gres=gpu:1-3", words},
	})
	defer cancelAll(t, c)
	id := submit(t, c, "sleep 1", "-n1", "-N1", "--gres=gpu:1-2", "-H")
	for gres, refused := range map[string]bool{"gpu:3": true, "gpu:1-3": true, "gpu:2-2": false} {
		_, err := c.Scontrol(t.Context(), "update", fmt.Sprint("JobId=", id), "Gres="+gres)
		require.Equal(t, refused, err != nil, "%s: %v", gres, err)
		j := settled(t, c, id)
		require.Regexp(t, "auc:gpu=(1|2)-2 *$", j.Fields["AdminComment"], "after %s", gres)
	}
}
