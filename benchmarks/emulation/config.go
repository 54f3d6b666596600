// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
	"github.com/aucsched/aucsched/nodeset"
)

// cluster is the configuration of the cluster that lives by the clock in page.
func (o *Options) cluster(page string) slurmtest.Config {
	cfg := slurmtest.Config{
		Groups: groups(o.Machine), DaemonEnv: append(vclock.Env(o.library(), page), "TZ=UTC"), NoAuth: true, Urgent: true,
		SchedulerParameters: o.Parameters, MinJobAge: 24 * time.Hour, ExtraLines: o.lines(), Ephemeral: o.Ephemeral,
	}
	if !o.Full {
		cfg.NodeDaemon = []string{filepath.Join(o.Tools, "vslurmd")}
	}
	if o.Multifactor {
		cfg.PriorityType = "priority/multifactor"
		cfg.PluginDirs = []string{filepath.Join(o.Tools, "plugins")}
	}
	if o.Auction {
		library := "" // that of the plug-ins has auction2 alone
		if strings.Contains(o.Parameters, "auc_policy=auction1") || strings.Contains(o.Parameters, "auc_policy=ipsched") {
			library = "auc_library=" + filepath.Join(o.Plugins, "libaucsched-older.so")
		}
		cfg = cfg.WithAuction(o.Plugins, library)
	}
	return cfg
}

// lines are what slurm.conf needs besides. Network timeouts are measured on the fast
// clock: they have so many real seconds.
func (o *Options) lines() []string {
	lines := []string{
		fmt.Sprintf("MessageTimeout=%d", min(max(100, int(60*o.Rate)), 65535)),
		fmt.Sprintf("TCPTimeout=%d", min(max(60, int(30*o.Rate)), 65535)),
		"SlurmctldTimeout=3600", "InactiveLimit=0", "UnkillableStepTimeout=60000",
		"OverTimeLimit=5", "JobRequeue=0", "MaxJobCount=100000", "BatchStartTimeout=600",
	}
	if o.Multifactor {
		// Age and size with equal weights, a minute a point (ipsched, section VI). That of age,
		// PriorityWeightAge, needs a slurmdbd: see benchmarks/emulation/age.
		lines = append(lines, fmt.Sprintf("PriorityMaxAge=%d", replay.DefaultMaxAge/60),
			fmt.Sprintf("PriorityWeightJobSize=%d", replay.DefaultMaxAge/60),
			"PriorityFavorSmall=NO", "PriorityCalcPeriod=1", "PrioritySiteFactorPlugin=site_factor/age")
	}
	return lines
}

// groups are runs of nodes that are alike.
func groups(machine []nodeset.Capacity) []slurmtest.Group {
	var out []slurmtest.Group
	for i, c := range machine {
		if i > 0 && c == machine[i-1] {
			out[len(out)-1].Nodes++
			continue
		}
		out = append(out, slurmtest.Group{Nodes: 1, Cores: int(c.Cores), GPUs: int(c.GPUs)})
	}
	return out
}
