// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A limitRow is an array of eight jobs of a core each, two CPUs, and how many of them limits of
// several holders let run.
type limitRow struct {
	qos, account, user, part string // limits; part is of a QOS of the partition
	run                      int
}

// The rules are those of src/slurmctld/acct_policy.c.
var limitRows = []limitRow{
	{account: "GrpTRES=cpu=4", run: 2},
	// a QOS comes before the association,
	{account: "GrpTRES=cpu=4", qos: "GrpTRES=cpu=12", run: 6},
	{account: "GrpTRES=cpu=12", qos: "GrpTRES=cpu=4", run: 2},
	// but for TRES on which it has no limit
	{account: "GrpTRES=cpu=4", qos: "GrpTRES=mem=1G", run: 2},
	{account: "GrpJobs=5", user: "MaxJobs=3", run: 3},
	{user: "MaxJobs=2", qos: "MaxJobsPU=5", run: 5},
	{account: "GrpTRES=cpu=4", qos: "LimitFactor=2", run: 4},
	{account: "GrpTRES=mem=600", run: 3},
	{account: "GrpTRESRunMins=cpu=30", run: 3},
	{qos: "MaxTRESPA=cpu=6", run: 3},
	{qos: "MaxTRESPU=billing=8", run: 4},
	{part: "GrpTRES=cpu=8", qos: "GrpTRES=cpu=4", run: 4},
	{part: "GrpTRES=cpu=8", qos: "GrpTRES=cpu=4 Flags=OverPartQOS", run: 2},
}

// names are what goes with row i.
func (r limitRow) names(i int) (account, qos, part, partQOS string) {
	account, qos, part = fmt.Sprintf("a%d", i), "normal", "p"
	if r.qos != "" {
		qos = fmt.Sprintf("q%d", i)
	}
	if r.part != "" {
		part, partQOS = fmt.Sprintf("p%d", i), fmt.Sprintf("pq%d", i)
	}
	return account, qos, part, partQOS
}

// limitConfig is a machine with all the rows' holders of limits, and two accounts below one.
func limitConfig() Config {
	var a Accounting
	parts := []Partition{{Name: "p", Default: true}}
	for i, r := range limitRows {
		account, qos, part, partQOS := r.names(i)
		a.Accounts = append(a.Accounts, Account{account, r.account, []User{{Bob, r.user}}})
		if r.qos != "" {
			a.QOS = append(a.QOS, QOS{qos, r.qos})
		}
		if r.part != "" {
			a.QOS = append(a.QOS, QOS{partQOS, r.part})
			parts = append(parts, Partition{Name: part, Options: "QOS=" + partQOS})
		}
	}
	for _, name := range []string{"above", "left", "right"} {
		a.Accounts = append(a.Accounts, Account{name, "", []User{{Name: Bob}}})
	}
	a.Accounts[len(a.Accounts)-3].Limits = "GrpTRES=cpu=6"
	cfg := quotaMachine(a)
	cfg.Partitions = parts
	return cfg
}

// All that the limits let run starts in the same cycle, and no more: the auction knows whose limit
// binds.
func TestWhoseLimitsBind(t *testing.T) {
	slow(t)
	beside(t)
	c := cluster(t, auction, limitConfig())
	for _, name := range []string{"left", "right"} {
		_, err := c.Sacctmgr(t.Context(), "modify", "account", "where", "name="+name, "set", "parent=above")
		require.NoError(t, err)
	}
	require.NoError(t, c.SetParameters(t.Context(), quickAuction+",auc_interval=10,auc_delay_ms=10000,bf_interval=60"))
	args := func(name string) []string { return as(Bob, "-A", name, "-J", name, "-n2", "--time=5", "--array=1-8") }
	together(t, c, func() {
		for i, r := range limitRows {
			account, qos, part, _ := r.names(i)
			submit(t, c, "sleep 120", append(args(account), "--qos="+qos, "-p", part)...)
		}
		submit(t, c, "sleep 120", args("left")...)
		submit(t, c, "sleep 120", args("right")...)
	})
	want := map[string]int{"below": 3}
	for i, r := range limitRows {
		want[fmt.Sprintf("a%d", i)] = r.run
	}
	var got map[string]int
	var began []time.Time
	look := func() (bool, error) {
		got, began = map[string]int{}, nil
		jobs, err := c.Jobs(t.Context())
		for _, j := range jobs {
			if name := j.Name; j.State == "RUNNING" {
				if !strings.HasPrefix(name, "a") {
					name = "below"
				}
				got[name]++
				began = append(began, when(t, j, "StartTime"))
			}
		}
		return len(began) > 0, err
	}
	require.NoError(t, c.poll(t.Context(), 30*time.Second, "a cycle", look))
	time.Sleep(time.Second)
	_, err := look()
	require.NoError(t, err)
	require.Equal(t, want, got)
	slices.SortFunc(began, time.Time.Compare)
	require.LessOrEqual(t, began[len(began)-1].Sub(began[0]), 5*time.Second)
	time.Sleep(12 * time.Second) // another cycle
	_, err = look()
	require.NoError(t, err)
	require.Equal(t, want, got)
	requireNoMisses(t, c)
}
