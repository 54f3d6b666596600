// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/window"
)

// auction1 gives J1 one core of the one node and three of the other.
func TestPolicyAuction1(t *testing.T) {
	w := `{"nodes":[{"name":"n1","cores":4},{"name":"n2","cores":4}],"jobs":[
		{"id":"a","priority":11,"nodes":2,"cores":4,"time_limit_s":9},{"id":"b","priority":10,"nodes":1,"cores":3,"time_limit_s":9}]}`
	for policy, want := range map[string]string{"auction1": "2 of 2 jobs start; auction1", "auction2": "1 of 2 jobs start; auction2"} {
		code, out, errs := aucsched(t, w, "plan", "-", "--preset=paper", "--policy", policy)
		require.Zero(t, code, errs)
		require.Contains(t, out, want)
	}
}

// The simulator's policies decide and explain windows too. A flag at which the policy does not look is
// taken, and said to do nothing.
func TestPlanBackfill(t *testing.T) {
	race.Slow(t)
	code, out, errs := aucsched(t, "", "plan", "../../../examples/table1.json", "--policy", "backfill", "--objective", "size")
	require.Zero(t, code)
	require.Contains(t, out, "2 of 3 jobs start")
	require.Contains(t, errs,
		"aucsched: warning: --objective does nothing with --policy backfill; it is for auction1, auction2, ipsched\n")
	_, out, _ = aucsched(t, "", "plan", "../../../examples/table1.json", "--policy", "easy-sjf")
	require.Contains(t, out, "jobs start; easy-sjf")
	_, out, _ = aucsched(t, "", "explain", "../../../examples/blocked.json", "long", "--policy", "backfill", "--time", "0")
	require.Equal(t, `long waits: it would run into reservations
  the policy says: Priority: jobs of higher priority wait
  these reservations begin before its time limit runs out
    wide  reserved from 900 s on, worth 90
    late  reserved from 240 s on, worth 40
    gpus  reserved from 300 s on, worth 30
  is expected to start in 1500 s: the policy has reserved that
  would have started now with (any one line of)
    nodes 2 instead of 5, on n[15-16]
    time_limit_s 239 instead of 1200, on n[11-15]
  12 trials
`, out)
}

// The names of policies are known without the simulator.
func TestPolicyNames(t *testing.T) {
	for _, o := range sim.Orders() {
		if name := "easy-" + o.String(); o != sim.QueueOrder {
			require.Contains(t, policy.Names(), name)
		}
	}
}

// Offers reach the auction: with one bid a job they are all that is bid, and
// other starts come of it.
func TestSlurmBids(t *testing.T) {
	race.Slow(t)
	args := []string{"simulate", "--cluster", "64x12x3", "--workload", "gen:tsubame-1.NC",
		"--preset=paper", "--bids", "1", "--work", "20000", "--json"}
	for _, policy := range []string{"auction1", "auction2"} {
		results := make(map[bool]sim.Result)
		for _, with := range []bool{false, true} {
			code, out, errs := aucsched(t, "", append(args, "--policy", policy, "--slurm-bids="+strconv.FormatBool(with))...)
			require.Zero(t, code, errs)
			var r sim.Result
			require.NoError(t, json.Unmarshal([]byte(out), &r))
			require.Equal(t, policy, r.Policy)
			results[with] = r
		}
		require.NotEqual(t, results[false].Runtime, results[true].Runtime)
	}
}

// Table I of ipsched: all three jobs start, whatever is asked of them besides.
func TestIPSchedPlansTableI(t *testing.T) {
	race.Slow(t)
	for _, args := range [][]string{{}, {"--objective", "size"}, {"--on-timeout", "halve"}, {"--node-limits=false"}} {
		code, out, errs := aucsched(t, "",
			append([]string{"plan", "../../../examples/table1.json", "--policy", "ipsched", "--json"}, args...)...)
		require.Zero(t, code, errs)
		var o window.Outcome
		require.NoError(t, json.Unmarshal([]byte(out), &o))
		require.Equal(t, []any{"ipsched", 3}, []any{o.Policy, o.Started})
		require.Positive(t, o.Objective)
		require.LessOrEqual(t, o.Objective, o.Bound)
	}
}

// Without constraint 5 jobs get fewer nodes than they ask for, and every referee agrees.
func TestNodeLimitsFlag(t *testing.T) {
	race.Slow(t)
	w := `{"nodes":[{"name":"n[1-4]","cores":8}],"jobs":[{"id":"a","priority":9,"cores":8,"nodes":"4","time_limit_s":9}]}`
	for flag, nodes := range map[string]string{"true": `n\[1-4\]`, "false": `n1\n`} {
		code, out, errs := aucsched(t, w, "plan", "-", "--policy", "ipsched", "--node-limits="+flag)
		require.Zero(t, code, errs)
		require.Regexp(t, nodes, out)
		code, out, errs = aucsched(t, w, "explain", "-", "a", "--policy", "ipsched", "--node-limits="+flag)
		require.Zero(t, code, errs)
		require.Contains(t, out, "a")
	}
	code, out, errs := aucsched(t, "", "simulate", "--policy", "ipsched", "--node-limits=false",
		"--cluster", "1408x12x3", "--workload", "gen:tsubame-1.NC", "--work", "30000", "--json")
	require.Zero(t, code, errs)
	var r sim.Result
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, []any{"ipsched", 350, 0}, []any{r.Policy, r.Jobs, len(r.Unrun)})
}

// What is wrong with their flags is said of the policies before AUCSCHED2 too.
func TestOlderMistakes(t *testing.T) {
	table := []string{"plan", "../../../examples/table1.json", "--policy", "ipsched"}
	for want, args := range map[string][]string{
		`--on-timeout "halv": must be incumbent or halve; did you mean "halve"?`: {"--on-timeout", "halv"},
		"window 0: must": {"--window", "0"},
	} {
		code, out, errs := aucsched(t, "", append(table, args...)...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, errs)
		require.Contains(t, errs, want)
		require.Empty(t, out)
	}
	code, _, errs := aucsched(t, "", append(table, "--objective", "size", "--drafts", "2")...)
	require.Zero(t, code, errs)
	require.Equal(t, 1, strings.Count(errs, "\n"), errs)
	require.Contains(t, errs, "--drafts does nothing with --policy ipsched")
}
