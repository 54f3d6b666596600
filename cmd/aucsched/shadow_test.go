// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/slurm/shadow"
)

const shadowText = `{"shadow":1,"time":100,"interval_s":3,"version":"0.9.0","slurm":"22.05.8","settings":"window=200"}
{"job":1,"user":7,"submit":100,"eligible":100,"cpus":8,"nodes":1,"partition":"p","would":{"time":110,"cpus":8,"gpus":0,"nodes":"n1","class":"A","victims":0},"slurm":{"time":150,"cpus":8,"gpus":0,"nodes":"n2","before":"starts"}}
`

func shadowAt(t *testing.T, conf string, args ...string) (string, error) {
	t.Helper()
	c := newShadowCommand(func(string) string { return conf }, func(int64) string { return "<b>ann</b>" })
	var out bytes.Buffer
	c.SetArgs(args)
	c.SetOut(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

// The file is found as that of the status is; there are text, JSON and a page.
func TestShadowCommand(t *testing.T) {
	dir := t.TempDir()
	file, conf, page := filepath.Join(dir, "aucsched.shadow"), filepath.Join(dir, "slurm.conf"), filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, []byte(shadowText), 0o600))
	require.NoError(t, os.WriteFile(conf, []byte("StateSaveLocation="+dir+"\n"), 0o600))
	out, err := shadowAt(t, conf, "--html", page, "--jobs")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^Earlier by, median: +40 s, of 1 job$`, out)
	require.Regexp(t, `(?m)^All jobs .*\n1 +earlier +40 +<b>ann</b> +p +8 `, out)
	require.Contains(t, out, strings.Join(strings.Fields(shadow.NoSum)[:6], " "))
	require.Contains(t, out, "Not in these figures:\n- Each cycle looked")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "&lt;b&gt;ann&lt;/b&gt;")
	require.NotContains(t, string(text), "<b>ann")

	out, err = shadowAt(t, conf, "--json")
	require.NoError(t, err)
	var p shadow.Report
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	require.Equal(t, []int64{40, 1}, []int64{int64(p.All.EarlierMedian), int64(p.All.Earlier)})
	require.Empty(t, p.Jobs)
	require.Len(t, p.Earliest, 1)

	require.NoError(t, os.WriteFile(conf, nil, 0o600))
	_, err = shadowAt(t, conf)
	require.ErrorContains(t, err, "does not name StateSaveLocation")
	_, err = shadowAt(t, conf, file+"2")
	require.ErrorContains(t, err, "no such file or directory: slurmctld has not written it")
	_, err = shadowAt(t, filepath.Join(dir, "absent"))
	require.ErrorContains(t, err, "FILE is not given, and ")
	_, err = shadowAt(t, conf, "a", "b")
	require.Error(t, err)
}

// A long name, or many of them, make a report no larger than what they are: each row has the width
// of the longest cell.
func TestShadowSize(t *testing.T) {
	size := func(rows, width int) int {
		text := shadowText
		for i := range rows {
			text += fmt.Sprintf(`{"job":%d,"user":7,"submit":100,"cpus":8,"nodes":1,"partition":"p%d%s"}`+"\n", i+2, i,
				strings.Repeat("x", width*(1-min(i, 1))))
		}
		file := filepath.Join(t.TempDir(), "shadow")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		out, err := shadowAt(t, "", file)
		require.NoError(t, err)
		require.Contains(t, out, fmt.Sprintf("and %d more: --json\n", rows+1-shadow.MostRows))
		require.Contains(t, out, "p0xxxxxxxx")
		return len(out)
	}
	require.Less(t, size(2000, 16_000), 2*size(250, 2_000))
}

// The system is asked for so many names and no more: it may have to ask a server for each.
func TestUserNames(t *testing.T) {
	root, err := user.LookupId("0")
	if err != nil {
		t.Skip("no user 0:", err)
	}
	name := userNames()
	require.Equal(t, root.Username, name(0))
	for uid := range int64(mostNames) {
		_ = name(1<<30 + uid)
	}
	require.Equal(t, root.Username, name(0), "it is known")
	name = userNames()
	for uid := range int64(mostNames) {
		require.Equal(t, fmt.Sprint(1<<30+uid), name(1<<30+uid))
	}
	require.Equal(t, "0", name(0))
}
