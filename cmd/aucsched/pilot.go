// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/slurm/check"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/slurm/params"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
	"github.com/aucsched/aucsched/internal/version"
)

func pilotCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pilot [SLURM.CONF]",
		Short: "Say how far the plug-ins' installation is, and the one next step",
		Long: `pilot looks at slurm.conf as check does, at the status of the auction inside slurmctld, and at what
it would have started in shadow mode. It prints a line for each, and then the next step of
docs/howto/pilot.md. It changes nothing; what it can't read is said in a line.

Without a file it reads $SLURM_CONF, or else /etc/slurm/slurm.conf.`,
		Example: "  aucsched pilot",
		Args:    cli.MaximumArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p := pilot{now: time.Now(), path: append(args, cmp.Or(os.Getenv("SLURM_CONF"), slurmConf))[0]}
			next := p.look()
			if _, err := os.Stat(p.path); err != nil && len(args) > 0 {
				return cli.BadInput(err)
			}
			p.say("next", "%s", next)
			_, err := io.WriteString(c.OutOrStdout(), p.text)
			return err
		},
	}
}

// pilot says a line for each thing that it looks at.
type pilot struct {
	now        time.Time
	path, text string // of slurm.conf, and what is said
}

func (p *pilot) say(what, format string, args ...any) {
	p.text += fmt.Sprintf("%-11s %s\n", what+":", cli.Plain(fmt.Sprintf(format, args...)))
}

// look says how things are, and returns the next step.
func (p *pilot) look() string {
	found, err := check.Check(p.path)
	if err != nil {
		p.say("slurm.conf", "%s", cli.Words(err))
		return "run this on the host of slurmctld, or name its slurm.conf"
	}
	c, _ := conf.Read(p.path) // as check has
	text, _, _ := c.Last("SchedulerParameters")
	given, problem, more := map[string]string{}, "", -1
	ours, _ := params.Split(text)
	for _, g := range ours {
		given[g.Name] = g.Value
	}
	for _, f := range slices.Backward(found) {
		if f.Problem {
			problem = f.String()
			more++
		}
	}
	if more > 0 {
		problem += "; " + cli.Count(more, "more problem") + " by aucsched check"
	}
	p.say("slurm.conf", "%s", cmp.Or(problem, p.path+": no problem found"))
	switch {
	case slices.ContainsFunc(found, func(f check.Finding) bool { return f.Problem && f.Field == "PluginDir" }):
		return "install the packages on all hosts, then add the three lines to slurm.conf, with auc_mode=shadow (docs/howto/install.md)"
	case problem != "":
		return "correct slurm.conf (docs/howto/trouble.md)"
	}
	return p.running(given)
}

// running looks at slurmctld, by its status.
func (p *pilot) running(given map[string]string) string {
	file, err := stateFile("the status", "", p.path, "auc_status", "aucsched.status")
	s := &status{}
	if err == nil {
		s, _, err = readStatus(file)
	}
	if err != nil {
		p.say("slurmctld", "%s", cli.Words(err))
		return "restart slurmctld, and look again after a minute; if this stays, look for aucsched: in its log (docs/howto/trouble.md)"
	}
	text := func(field string) string { return show(s.fields[field]) }
	number := func(field string) int64 { n, _ := strconv.ParseInt(text(field), 10, 64); return n }
	state, want := text("state"), map[bool]string{true: "shadow", false: "on"}[given["mode"] == "shadow"]
	if given["enabled"] == "no" {
		want = "off"
	}
	p.say("slurmctld", "state %s (%s), written %s ago; aucsched %s in Slurm %s; cycles %s, failed %s; jobs started %s, starts failed %s",
		state, text("settings"), ago(s.age(p.now)), text("version"), text("slurm"), text("cycles"), text("cycles_failed"),
		text("started"), text("starts_failed"))
	switch {
	case s.stale(p.now):
		return "see why slurmctld does not write its status any more: is it running, and its plug-in loaded?"
	case text("version") != version.Number:
		return "restart slurmctld: aucsched " + version.Number + " is installed"
	case state != want && (state == "on" || state == "shadow" || state == "off"):
		return "scontrol reconfigure: slurm.conf says " + want
	case state != want:
		return text("state_text") + ": look for aucsched: in slurmctld's log (docs/howto/trouble.md)"
	case want == "off":
		return "auc_mode=shadow in place of auc_enabled=no, and scontrol reconfigure: Slurm goes on alone, and the auction is watched"
	case want == "shadow":
		return p.shadowed()
	case number("starts_failed") > max(number("started")/20, 10):
		return "auc_mode=shadow until it is known why so many starts fail (aucsched status)"
	case given["partitions"] != "":
		return "after a week without errors in the log: auc_users_share=20 in place of auc_partitions, and scontrol reconfigure"
	case given["users_share"] != "" && given["users_share"] != "100":
		return "after a week without errors in the log: no auc_users_share, and scontrol reconfigure: the auction for all"
	}
	return "set alerts (docs/howto/monitor.md): the auction has all jobs"
}

// What a pilot waits for in shadow mode.
const shadowJobs, shadowDays = 100, 2

// shadowed looks at what the auction would have started.
func (p *pilot) shadowed() string {
	file, err := stateFile("the file", "", p.path, "", "aucsched.shadow")
	l := &shadow.Log{}
	if err == nil {
		l, err = shadow.ReadFiles(file)
	}
	if err != nil {
		p.say("shadow", "%s", cli.Words(err))
		return "wait until jobs have come, and look again"
	}
	r := shadow.Compare(l, func(int64) string { return "" }, false)
	a, days := &r.All, float64(r.To-r.From)/86400
	p.say("shadow", "%s in %.1f days: %d earlier with the auction, median %s; %d the same; %d later, which waited %s under Slurm, median",
		cli.Count(a.Jobs, "job"), days, a.Earlier, cli.Seconds(a.EarlierMedian), a.Same, a.Later, cli.Seconds(a.LaterWaitMedian))
	if a.Jobs < shadowJobs || days < shadowDays {
		return fmt.Sprintf("stay in shadow mode for %d jobs and %d days, and look at lock in aucsched status", shadowJobs, shadowDays)
	}
	return "auc_mode=on,auc_partitions=ONE in place of auc_mode=shadow, and scontrol reconfigure: the auction for one partition"
}
