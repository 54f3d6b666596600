// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeSlurm puts commands into PATH that print what is said here; "!" first: on
// standard error, and fail.
func fakeSlurm(t *testing.T, answers map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range answers {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".out"), []byte(text), 0o600))
	}
	script := "#!/bin/sh\nf=" + dir + "/$(basename \"$0\")\nfor w in \"$@\"; do case $w in -*) ;; *) f=$f-$w ;; esac; done\n" +
		"case $(cat $f.out) in '!'*) cat $f.out >&2; exit 1 ;; esac\ncat $f.out\n"
	for _, name := range []string{"scontrol", "squeue"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestSite(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	good := func() map[string]string {
		return map[string]string{
			"scontrol-show-partition-inv": "PartitionName=inv AllowGroups=ALL Nodes=n7 " +
				"OverSubscribe=FORCE:64 State=UP TotalCPUs=8 TotalNodes=1\n",
			"scontrol-show-node-n7": "NodeName=n7 Arch=x86_64 NodeAddr=127.0.0.1 NodeHostName=" + host + " Version=22.05.8\n",
			"scontrol-show-config": "Configuration data as of 2026-01-31T12:00:00\nPreemptMode   " +
				"          = OFF\nSchedulerParameters     = bf_interval=1,auc_invasic=x,auc_invasic=inv\n" +
				"SlurmdSpoolDir          = /var/spool/%h/%n\nTaskPlugin              = task/none\n",
		}
	}
	ctx, c := context.Background(), &Client{}
	name, _, _ := strings.Cut(host, ".")
	fakeSlurm(t, good())
	s, err := c.Site(ctx, "inv")
	require.NoError(t, err)
	require.Equal(t, &Site{Node: "n7", Spool: "/var/spool/" + name + "/n7", Socket: DefaultSocket}, s)

	for _, b := range []struct{ key, old, new, words string }{
		{"scontrol-show-partition-inv", "TotalNodes=1", "TotalNodes=2", "must be one node"},
		{"scontrol-show-partition-inv", "FORCE:64", "YES:4", "OverSubscribe=YES:4: must be FORCE:n"},
		{"scontrol-show-node-n7", host, "other.example", "host other.example, and this one is " + host},
		{"scontrol-show-config", "auc_invasic=inv", "auc_invasic=p", "auc_invasic=p: must be inv"},
		{"scontrol-show-partition-inv", "PartitionName", "!slurm_load_partitions error: ", "slurm_load_partitions error"},
	} {
		answers := good()
		answers[b.key] = strings.Replace(answers[b.key], b.old, b.new, 1)
		fakeSlurm(t, answers)
		_, err := c.Site(ctx, "inv")
		require.ErrorContains(t, err, b.words)
		require.NotErrorIs(t, err, ErrDown)
	}
	answers := good()
	answers["scontrol-show-config"] = strings.NewReplacer("task/none", "task/cgroup,task/affinity",
		"= OFF", "= SUSPEND,GANG", "auc_invasic=inv",
		"auc_invasic=inv,auc_invasic_socket=/run/x").Replace(answers["scontrol-show-config"])
	fakeSlurm(t, answers)
	s, err = c.Site(ctx, "inv")
	require.NoError(t, err)
	require.Equal(t, "/run/x", s.Socket)
	require.Len(t, s.Warnings, 2)

	answers["scontrol-show-config"] = "!slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)"
	fakeSlurm(t, answers)
	_, err = c.Site(ctx, "inv")
	require.ErrorIs(t, err, ErrDown)
	var command *CommandError
	require.True(t, errors.As(err, &command))
	require.Equal(t, "scontrol show config", command.Command)
}

func TestNoJob(t *testing.T) {
	fakeSlurm(t, map[string]string{"squeue": "!slurm_load_jobs error: Invalid job id specified\n"})
	_, err := (&Client{}).Job(context.Background(), 7)
	require.ErrorIs(t, err, ErrNoJob)
	fakeSlurm(t, map[string]string{"squeue": "nonsense\n"})
	_, err = (&Client{}).Job(context.Background(), 7)
	require.ErrorContains(t, err, "squeue printed 0 fields")
}
