// SPDX-License-Identifier: BSD-3-Clause

package params

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	p := Read("")
	require.Equal(t, &Params{Enabled: 1, AtOnce: 1, Preempt: 1, GPURanges: 1, Alternatives: 1, Interval: 3, DelayMs: 1000,
		DeadlineMs: 500, NetS: 60, UsersShare: 100, Limit: 700, Engine: "deadline_ms=500"}, p)
	p = Read("bf_interval=5,auc_interval=7,auc_objective=size auc_preset=short,auc_enabled=no,auc_status=/a,max_rpc_cnt=12,defer")
	require.Equal(t, []any{int32(7), int32(1000), int32(0), "/a", int32(12)}, []any{p.Interval, p.Limit, p.Enabled, p.Status, p.MaxRPCs})
	require.Equal(t, "objective=size preset=short deadline_ms=500", p.Engine)
	// In the papers' systems nobody else starts jobs.
	p = Read("auc_preset=paper")
	require.Equal(t, []int32{0, 0, 200}, []int32{p.NetS, p.AtOnce, p.Limit})
	// In shadow mode nobody is asked or started.
	p = Read("auc_lab=yes,auc_mode=shadow,auc_net_s=9,auc_at_once=yes")
	require.Equal(t, []int32{1, 0, 0}, []int32{p.Shadow, p.NetS, p.AtOnce})
}

// Tests and experiments change what is fixed for sites.
func TestLab(t *testing.T) {
	const text = "auc_window=10,auc_depth=5,auc_patience=60,auc_delay_ms=5,auc_net_s=9,auc_at_once=no,auc_policy=ipsched"
	p := Read(text)
	require.Equal(t, Read("").Engine, p.Engine)
	require.Len(t, p.Said, 7)
	p = Read("auc_lab=yes," + text)
	require.Empty(t, p.Said)
	require.Equal(t, "window=10 depth=5 patience_s=60 policy=ipsched deadline_ms=500", p.Engine)
	require.Equal(t, []int32{15, 5, 9, 0}, []int32{p.Limit, p.DelayMs, p.NetS, p.AtOnce})
	for i := range labs {
		require.NotEmpty(t, Instead(labs[i].Name), "it is none for a site")
		require.Nil(t, find(labs[i].Name, sites))
	}
}

func TestSaid(t *testing.T) {
	const gone = " has no effect any more, and is an error in the next version: "
	for text, want := range map[string]Said{
		"auc_interval=0":     {true, "auc_interval=0: must be a whole number from 1 to 3600; the default is used"},
		"auc_mode=off":       {true, "auc_mode=off: must be on, shadow; the auction is off"},
		"auc_library=lib.so": {true, "auc_library=lib.so: must be an absolute path; the default is used"},
		"auc_partitions=":    {true, "auc_partitions=: must not be empty; the auction is off"},
		"auc_nonsense=1":     {true, "auc_nonsense=1: there is no such setting; ignored"},
		"auc_preset":         {true, "auc_preset: a value is missing; the default is used"},
		"auc_goal=fair":      {true, "auc_goal=fair: there is no such setting; ignored"},
		"auc_paper=yes":      {false, "auc_paper" + gone + "use auc_preset=paper"},
		"auc_work=7":         {false, "auc_work" + gone + "presets say it"},
		"auc_solver":         {false, "auc_solver" + gone + "the solver of the library decides"},
	} {
		require.Equal(t, []Said{want}, Read(text).Said, text)
	}
}

// A mistake in what says for which jobs the auction is must not give it more of them.
func TestMistakesTurnItOff(t *testing.T) {
	for text, enabled := range map[string]int32{
		"auc_mode=shadwo": 0, "auc_mode=SHADOW": 0, "auc_mod=shadow": 0, "auc_mode": 0, "auc_enabled=off": 0, "auc_enable=no": 0,
		"auc_users_share=2O": 0, "auc_user_share=20": 0, "auc_partition=test": 0, "auc_mode=x,auc_enabled=yes": 0,
		"auc_mode=on": 1, "auc_interval=0": 1, "auc_presets=short": 1, "auc_nonsense=1": 1, "auc_users_share=0": 1,
	} {
		require.Equal(t, enabled, Read(text).Enabled, text)
	}
}

// What is known of a setting is said by one table: each name is read without a fault by some value.
func TestEachName(t *testing.T) {
	require.LessOrEqual(t, len(Names()), 18)
	for _, name := range Names() {
		fits := false
		for _, value := range []string{"yes", "1", "/x", "word", "shadow", "rate", "paper"} {
			fits = fits || Wrong(Given{name, value, true}) == ""
		}
		require.True(t, fits, name)
		require.Empty(t, Instead(name))
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite what is made of the tables")

// The page has the tables as they are.
func TestPage(t *testing.T) {
	const page = "../../../docs/reference/settings.md"
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), "<!-- made from internal/slurm/params -->\n")
	_, after, ends := strings.Cut(rest, "<!-- so far -->\n")
	require.True(t, found && ends)
	text := before + "<!-- made from internal/slurm/params -->\n" + siteTable() + "<!-- so far -->\n" + after
	if *rewrite {
		require.NoError(t, os.WriteFile(page, []byte(text), 0o666))
	} else {
		require.Equal(t, text, string(data), "go test ./internal/slurm/params -rewrite")
	}
}

func siteTable() string {
	var b strings.Builder
	b.WriteString("| setting | default | values | |\n|---|---|---|---|\n")
	for i := range sites {
		k := &sites[i]
		usual, values := k.usual, k.values
		switch {
		case values != "":
		case k.path:
			values = "an absolute path"
		case k.Values != nil:
			values = strings.Join(k.Values, ", ")
		default:
			values = fmt.Sprintf("%d-%d", k.Low, k.High)
		}
		switch {
		case usual != "":
		case k.Values != nil:
			usual = k.Values[k.Normal]
		default:
			usual = fmt.Sprint(k.Normal)
		}
		fmt.Fprintf(&b, "| `auc_%s` | %s | %s | %s |\n", k.Name, usual, values, k.Meaning)
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	f.Add("auc_interval=7,auc_partitions=a,b defer,c")
	f.Add("auc_lab=yes,auc_window=x,auc_=,auc_max_rpc_cnt=99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		p := Read(text)
		require.True(t, p.Interval >= 1 && p.DeadlineMs >= 1 && p.Limit >= 1 && p.MaxRPCs >= 0)
		require.True(t, p.Status == "" || strings.HasPrefix(p.Status, "/"))
		require.NotContains(t, p.Engine, ",")
	})
}
