// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/version"
)

// Each state of an installation has one next step, and what can't be read is a line.
func TestPilot(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	now := time.Unix(2_000_000, 0)
	last := func(conf string) string {
		p := pilot{now: now, path: file("slurm.conf", conf)}
		p.say("next", "%s", p.look())
		lines := strings.Split(strings.TrimSpace(p.text), "\n")
		return lines[len(lines)-1]
	}
	p := pilot{now: now, path: filepath.Join(dir, "none")}
	require.Contains(t, p.look(), "name its slurm.conf")
	require.Contains(t, p.text, "there is no such file")
	require.Contains(t, last("SelectType=select/cons_tres\n"), "install the packages on all hosts")

	p = pilot{now: now, path: file("slurm.conf", "StateSaveLocation="+dir+"\n")}
	require.Contains(t, p.running(map[string]string{}), "restart slurmctld")
	state := func(state, mode string, more string) string {
		file("aucsched.status", fmt.Sprintf(`{"time":%d,"interval_s":3,"version":%q,"state":%q,"state_text":"it can't"%s}`,
			now.Unix()-1, version.Number, state, more))
		given := map[string]string{}
		for _, pair := range strings.Fields(mode) {
			name, value, _ := strings.Cut(pair, "=")
			given[name] = value
		}
		p.text = ""
		return p.running(given)
	}
	for _, c := range []struct{ state, mode, more, want string }{
		{"shadow", "", "", "scontrol reconfigure: slurm.conf says on"},
		{"off", "enabled=no", "", "auc_mode=shadow in place of auc_enabled=no"},
		{"failing", "", "", "it can't: look for aucsched:"},
		{"shadow", "mode=shadow", "", "wait until jobs have come"},
		{"on", "", `,"starts_failed":50,"started":100`, "why so many starts fail"},
		{"on", "partitions=a", "", "auc_users_share=20 in place of auc_partitions"},
		{"on", "users_share=20", "", "no auc_users_share"},
		{"on", "mode=on", "", "the auction has all jobs"},
	} {
		require.Contains(t, state(c.state, c.mode, c.more), c.want, "%v", c)
	}
	p.now = now.Add(time.Hour)
	require.Contains(t, p.running(map[string]string{}), "does not write its status any more")
	p.now = now

	run := `{"job":%d,"user":7,"submit":100,"cpus":8,"nodes":1,"partition":"p","slurm":{"time":%d,"before":"lost"}}` + "\n"
	text := `{"shadow":1,"interval_s":3}` + "\n"
	for i := range shadowJobs {
		text += fmt.Sprintf(run, i+1, 160+i*2000)
	}
	file("aucsched.shadow", text)
	require.Contains(t, state("shadow", "mode=shadow", ""), "auc_mode=on,auc_partitions=ONE")
	require.Contains(t, p.text, "100 jobs in 2.3 days: 0 earlier with the auction, median 0 s; 0 the same; 100 later")
	file("aucsched.shadow", text[:1000])
	require.Contains(t, state("shadow", "mode=shadow", ""), "stay in shadow mode for 100 jobs and 2 days")
}
