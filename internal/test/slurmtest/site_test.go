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

// as has a job be a user's.
func as(user string, args ...string) []string { return append([]string{"--uid=" + user}, args...) }

// siteParameters are those of a site that knows backfill.
const siteParameters = "bf_continue,bf_window=4320,bf_interval=30,bf_max_job_test=1000"

// siteStock and siteAuction run the site at a site's pace, the auction with its defaults.
var (
	siteStock = mode{"stock", func(_ *testing.T, c Config) Config {
		c.SchedulerParameters = join(",", siteParameters, c.SchedulerParameters)
		return c
	}}
	siteAuction = mode{"auction", func(t *testing.T, c Config) Config {
		return siteStock.setup(t, c.WithAuction(pluginDir(t), ""))
	}}
)

// siteInterval is auc_interval's default.
const siteInterval = 3 * time.Second

// sideBySide runs the parts of a test at the same time, and returns what they found when all have
// ended; the zero value for one that failed.
func sideBySide[R any](t *testing.T, names []string, part func(t *testing.T, i int) R) []R {
	t.Helper()
	found := make([]R, len(names))
	t.Run("side by side", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				found[i] = part(t, i)
			})
		}
	})
	if t.Failed() {
		t.FailNow() // there is nothing to compare
	}
	return found
}

// waits is how long jobs have waited in the mean, to the second each. They have all started.
func waits(t *testing.T, c *Cluster, ids []uint32) time.Duration {
	t.Helper()
	all, err := c.Jobs(t.Context())
	require.NoError(t, err)
	sum, n := time.Duration(0), 0
	for _, j := range all {
		if slices.Contains(ids, j.ID) {
			sum += when(t, j, "StartTime").Sub(when(t, j, "SubmitTime"))
			n++
		}
	}
	require.Equal(t, len(ids), n)
	return sum / time.Duration(n)
}

// The site is up in seconds, and knows its users and limits: jobs over them wait, and slurmdbd has
// what ran.
func TestSite(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		began := time.Now()
		c := cluster(t, m, Site())
		t.Logf("up in %v", time.Since(began))
		ctx := t.Context()
		rows := []struct {
			args []string
			ask  Ask
		}{
			{as(Bob, "-n8"), Ask{MinCPUs: 8}},
			{as(Bob, "-p", "gpu", "-N1", "-n1", "--gres=gpu:v100:1"), Ask{MinCPUs: 1, Within: []string{"n0011", "n0012"}}.GPURange(1, 1)},
			{as(Carol, "-p", "gpu", "-N1", "-n1", "--gres=gpu:a100:3"), Ask{MinCPUs: 1, Within: []string{"n0009", "n0010"}}.GPURange(3, 3)},
			{as(Carol, "-p", "debug", "-N2", "--ntasks-per-node=4", "--mem=1000"),
				Ask{MinCPUs: 8, MemoryMB: 1000, Within: []string{"n0001", "n0002"}}},
		}
		w := watch(t, c)
		var ids []uint32
		for _, r := range rows {
			id := submit(t, c, "sleep 3", append(r.args, "--time=1")...)
			w.Expect(id, r.ask)
			ids = append(ids, id)
		}
		var limited []uint32
		for range 3 {
			limited = append(limited, submit(t, c, "sleep 3", as(Alice, "-A", "limited", "-N1", "-n32", "--time=1")...))
		}
		for range 3 {
			limited = append(limited, submit(t, c, "sleep 3", as(Carol, "--qos=lim", "-n1", "--time=1")...))
		}
		for range 4 {
			limited = append(limited, submit(t, c, "sleep 3", as(Dave, "-n1", "--time=1")...))
		}
		running(t, c, patience, ids...)
		most := map[string]int{}
		require.NoError(t, c.poll(ctx, 60*time.Second, "the jobs to end", func() (bool, error) {
			jobs, err := w.Look(ctx)
			now, ended := map[string]int{}, 0
			for _, j := range jobs {
				if j.State == "RUNNING" {
					now["account "+j.Fields["Account"]] += j.NumCPUs
					now["QOS "+j.Fields["QOS"]]++
					name, _, _ := strings.Cut(j.Fields["UserId"], "(")
					now["user "+name]++
				}
				if j.Ended() {
					ended++
				}
			}
			for k, n := range now {
				most[k] = max(most[k], n)
			}
			return ended == len(ids)+len(limited), err
		}))
		require.LessOrEqual(t, most["account limited"], 64)
		require.Positive(t, most["account limited"])
		require.LessOrEqual(t, most["QOS lim"], 2)
		require.Positive(t, most["QOS lim"])
		require.LessOrEqual(t, most["user "+Dave], 3)
		require.Positive(t, most["user "+Dave])
		require.NoError(t, c.RanOnce(append(ids, limited...)))
		require.NoError(t, c.poll(ctx, patience, "slurmdbd to have all of it", func() (bool, error) {
			out, err := c.Run(ctx, "sacct", "-a", "-X", "-n", "-P", "-o", "jobid,state")
			return strings.Count(out, "|COMPLETED") == len(ids)+len(limited), err
		}))
		_, err := c.Sbatch(ctx, as(Bob, "-A", "limited", "-n1"), c.Script("true"))
		require.ErrorContains(t, err, "Invalid account", "not his")
	})
}

// What can't be written into a file for sacctmgr is refused, and a database is no root's.
func TestAccountingIsChecked(t *testing.T) {
	for _, bad := range []Accounting{
		{QOS: []QOS{{"a b", ""}}},
		{QOS: []QOS{{"q", "MaxJobsPU"}}},
		{Accounts: []Account{{Name: "a", Limits: "GrpTRES='cpu=3"}}},
		{Accounts: []Account{{Name: "a", Users: []User{{Name: "x:y"}}}}},
	} {
		_, err := Config{Groups: Uniform(1, 1, 0), Accounting: &bad}.withDefaults()
		require.ErrorContains(t, err, "accounting: ", "%+v", bad)
	}
	_, err := Config{Groups: Uniform(1, 1, 0), SlurmUser: "root", Accounting: &Accounting{}}.withDefaults()
	require.ErrorContains(t, err, "not root")
	cfg, err := Site().withDefaults()
	require.NoError(t, err)
	require.Equal(t, 4, cfg.Groups[2].GPUs)
	require.Equal(t, fmt.Sprint([]string{
		"Cluster - 'slurmtest':QOS='normal,lim,grp,share'", "Parent - 'root'",
		"Account - 'open':Description='open':Organization='slurmtest'",
		"Account - 'limited':Description='limited':Organization='slurmtest':GrpTRES='cpu=64'",
		"Parent - 'open'",
		"User - 'games':DefaultAccount='open'", "User - 'news':DefaultAccount='open'", "User - 'mail':DefaultAccount='open'",
		"User - 'lp':DefaultAccount='open':MaxJobs='3'",
		"Parent - 'limited'", "User - 'games':DefaultAccount='open'",
	}), fmt.Sprint(strings.Split(strings.TrimSpace(cfg.Accounting.file()), "\n")))
	require.Contains(t, cfg.gresConf("/d"),
		"NodeName=n[0011-0012] Name=gpu Type=a100 File=/d/dev/gpu[0-1]\nNodeName=n[0011-0012] "+
			"Name=gpu Type=v100 File=/d/dev/gpu[2-3]\n")
}
