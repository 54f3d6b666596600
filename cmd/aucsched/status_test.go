// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/cli"
)

// statusAt runs "aucsched status" at a moment, with $SLURM_CONF.
func statusAt(t *testing.T, at time.Time, conf string, args ...string) (out string, err error) {
	t.Helper()
	c := newStatusCommand(func() time.Time { return at.UTC() }, func(name string) string {
		require.Equal(t, "SLURM_CONF", name)
		return conf
	})
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.BadInput(err) })
	var b bytes.Buffer
	c.SetOut(&b)
	c.SetArgs(args)
	err = c.Execute()
	return b.String(), err
}

var written = time.Unix(1_700_000_000, 0)

func TestStatusPage(t *testing.T) {
	out, err := statusAt(t, written.Add(7*time.Second), "", "--file", "testdata/status.json")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/status.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), out)
	require.NotContains(t, out, "\x1b", "nothing in the file gets at the terminal")
}

// Whatever a file has for text stays text, in each format: no raw control character in JSON, and
// one line a sample in metrics.
func TestHostileTextInAStatusFile(t *testing.T) {
	const hostile = "x\x1b[2J\"\\\n\u009b} 7\n# EOF\x7f"
	text, err := os.ReadFile("testdata/status.json")
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	for name, v := range fields {
		if _, isText := v.(string); isText {
			fields[name] = hostile
		}
	}
	for _, name := range []string{"handed", "waits", "missed"} {
		fields[name] = map[string]any{hostile: 3}
	}
	text, err = json.Marshal(fields)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "status")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	out, err := statusAt(t, written, "", "--json", "--file", file)
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &back))
	require.Equal(t, hostile, back["version"])
	require.NotRegexp(t, `[\x00-\x09\x0b-\x1f]`, out)
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), `\u001b`, "\x1b")), 0o600))
	_, err = statusAt(t, written, "", "--json", "--file", file)
	require.Error(t, err, "a raw one is no JSON, and is not passed on")

	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err = metricsAt(t, written, "--file", file)
	require.NoError(t, err)
	for line := range strings.Lines(out) {
		require.Regexp(t, `^(# (HELP|TYPE|UNIT) .*|# EOF|slurm_aucsched_\w+(\{(\w+="([^"\\]|\\["\\n])*",?)+\})? [-+.0-9eE]+)\n$`, line)
	}
	require.Equal(t, 1, strings.Count(out, "\n# EOF"))
}

// With auc_locality=yes there are figures of input files.
func TestStatusOfInputFiles(t *testing.T) {
	s, err := parseStatus([]byte(`{"time":1700000000,"interval_s":10,"started":7,` +
		`"handed":{"gres":1},"files":{"known":12,"copies":31,"starts":480,"on_holders":402,"new":5}}`))
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, s.print(&page, written))
	require.Contains(t, page.String(), `
Input files:
  Held by nodes:                 12
  Copies in all:                 31
  Starts of jobs that name one:  480
  On nodes that all held it:     402

Other:
  files.new:  5
`)
}

// Every value of the file is on the page, whether its field is known or not.
func TestStatusPageHasEverything(t *testing.T) {
	text, err := os.ReadFile("testdata/status.json")
	require.NoError(t, err)
	s, err := parseStatus(text)
	require.NoError(t, err)
	all, err := parseStatus(text)
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, s.print(&page, written))
	var walk func(v any)
	values := 0
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if name != "sum" { // that is mean times count
					walk(inner)
				}
			}
		case string, json.Number:
			if v != "" && v != json.Number("10") {
				values++
				require.Contains(t, page.String(), show(v))
			}
		}
	}
	walk(all.fields)
	require.Greater(t, values, 40)
}

func TestStatusAsJSON(t *testing.T) {
	want, err := os.ReadFile("testdata/status.json")
	require.NoError(t, err)
	out, err := statusAt(t, written, "", "--json", "--file", "testdata/status.json")
	require.NoError(t, err)
	require.Equal(t, string(want), out, "as it is")
}

func TestStaleStatusIsPrintedAndSaysSo(t *testing.T) {
	for _, args := range [][]string{{"--file", "testdata/status.json"}, {"--json", "--file", "testdata/status.json"}} {
		out, err := statusAt(t, written.Add(30*time.Second), "", args...)
		require.NoError(t, err)
		require.NotEmpty(t, out)
		out, err = statusAt(t, written.Add(31*time.Second), "", args...)
		require.ErrorContains(t, err, "testdata/status.json: stale: written 31s ago, and every 10s when all is well")
		require.NotEmpty(t, out)
	}
}

func TestStatusFileOfSlurmConf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("more.conf", "SchedulerParameters=defer,AUC_STATUS=/run/b\n")
	for text, want := range map[string]string{
		"StateSaveLocation=/var/x\n":                                                             "/var/x/aucsched.status",
		"statesavelocation=/var/y # not /var/z\n#StateSaveLocation=/var/z":                       "/var/y/aucsched.status",
		"SchedulerParameters=bf_interval=2,auc_status=/run/a,defer\nStateSaveLocation=/x":        "/run/a",
		"SchedulerParameters=bf_interval=2,\\\nauc_status=/run/a\n":                              "/run/a",
		"ClusterName=c\nSchedulerParameters = \"auc_status=/run/a b\"\n":                         "/run/a b",
		"StateSaveLocation   = /x\nNodeName=n StateSaveLocation=/y":                              "/x/aucsched.status",
		"# \\\nStateSaveLocation=/x \\ \n":                                                       "/x/aucsched.status",
		"\xef\xbb\xbfStateSaveLocation=/x\n":                                                     "/x/aucsched.status",
		"StateSaveLocation=/x\nInclude more.conf\n":                                              "/run/b",
		"SchedulerParameters=auc_status=/run/a\nSchedulerParameters=defer\nStateSaveLocation=/x": "/x/aucsched.status",
		"StateSaveLocation=/x\r\nInclude " + filepath.Join(dir, "more.conf") + "\r\n":            "/run/b",
	} {
		path, err := stateFile("--file", "", write("slurm.conf", text), "auc_status", "aucsched.status")
		require.NoError(t, err, text)
		require.Equal(t, want, path, text)
	}
	conf := write("slurm.conf", "ClusterName=c\n")
	_, err := stateFile("--file", "", conf, "auc_status", "aucsched.status")
	require.EqualError(t, err, "--file is not given, and "+conf+": names neither auc_status in SchedulerParameters nor StateSaveLocation")
	loop := write("loop.conf", "Include loop.conf\n")
	_, err = stateFile("--file", "", loop, "auc_status", "aucsched.status")
	require.ErrorContains(t, err, "includes itself")
	_, err = stateFile("--file", "", write("slurm.conf", "Include absent.conf\n"), "auc_status", "aucsched.status")
	require.ErrorContains(t, err, "absent.conf: no such file")

	status := write("auc.status", `{"time":1700000000,"interval_s":1,"state":"off"}`)
	out, err := statusAt(t, written, write("slurm.conf", "SchedulerParameters=auc_status="+status))
	require.NoError(t, err)
	require.Contains(t, out, "State:  off\n")
}

func TestStatusFaults(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		path := filepath.Join(dir, "s")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for text, want := range map[string]string{
		"":                  "not the JSON of a status: the file ends too early",
		"{":                 "not the JSON of a status",
		"[]":                "not the JSON of a status",
		"{\n\"time\":1,\n]": "not the JSON of a status: line 3: invalid character",
		"7":                 "not the JSON of a status: expected an object, found a number",
		"\xff\xfe{\x00":     "the text is in UTF-16: save it as UTF-8",
		"null":              `as aucsched's plug-in of Slurm writes it: there is no field "time"`,
		"\xef\xbb\xbf{\"time\":1}": `not the JSON of a status, as aucsched's plug-in of ` +
			`Slurm writes it: there is no field "interval_s"`,
		`{"time":null,"interval_s":1}`:     "time: -: must be a number of seconds",
		`{"time":"x","interval_s":1}`:      "time: x: must be a number",
		`{"time":-1,"interval_s":1}`:       "time: -1: must be 0 to",
		`{"time":1,"interval_s":1e999}`:    "interval_s: 1e999: must be 0 to",
		`{"time":1,"interval_s":1}{}`:      "more after the end",
		strings.Repeat(" ", statusLimit+1): "longer than 1048576 bytes",
	} {
		path := file(text)
		out, err := statusAt(t, written, "", "--file", path)
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, want)
		require.Empty(t, out)
		require.Equal(t, cli.ExitUsage, cli.Status(err, io.Discard))
	}
	_, err := statusAt(t, written, filepath.Join(dir, "no.conf"))
	require.ErrorContains(t, err, "--file is not given, and open "+filepath.Join(dir, "no.conf"))
	_, err = statusAt(t, written, "", "--file", dir)
	require.ErrorContains(t, err, "is a directory")

	code, out, errs := aucsched(t, "", "status", "--file", filepath.Join(dir, "absent"))
	require.Equal(t, cli.ExitUsage, code)
	require.Equal(t, fmt.Sprintf("aucsched: %s: there is no such file: slurmctld has "+
		"not written it: either it does not run here with aucsched's plug-in, or it can't write "+
		"there, and then its log says why\n", filepath.Join(dir, "absent")), errs)
	require.Empty(t, out)
	denied := unread(&fs.PathError{Op: "open", Path: "/var/x", Err: syscall.EACCES}, "auc_status")
	require.ErrorIs(t, denied, fs.ErrPermission)
	require.ErrorContains(t, denied, "open /var/x: permission denied: ask as a user who may read it")
	require.Equal(t, io.EOF, unread(io.EOF, "auc_status"))
}

// Whatever a status file says, it is refused or printed, without control characters.
func FuzzStatus(f *testing.F) {
	text, err := os.ReadFile("testdata/status.json")
	require.NoError(f, err)
	f.Add(string(text))
	for _, s := range []string{"", "null", `{"time":1,"interval_s":0,"handed":{"a":"b"},"solver":[],"x_us":{"last":{},"mean":[],"max":1}}`,
		`{"time":1,"interval_s":2,"state":{"a":{"b":"\u0007"}},"pid":[1],"cycles":1e400,"":""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseStatus([]byte(text))
		if err != nil {
			return
		}
		var page bytes.Buffer
		require.NoError(t, s.print(&page, written))
		for _, r := range page.String() {
			require.True(t, r == '\n' || r >= ' ' && r != 0x7f, "%q", page.String())
		}
		require.Less(t, page.Len(), 2000+40*len(text)*(2+strings.Count(text, ":")))
	})
}

// A state of long ago is none of now, and its age has a unit that is read at a glance.
func TestStaleStateIsUnknown(t *testing.T) {
	for age, want := range map[time.Duration]string{
		40 * time.Second: "40s ago", 70 * time.Minute: "1h10m ago", 47 * time.Hour: "47h0m ago", 26619 * time.Hour: "1109 days ago",
	} {
		out, err := statusAt(t, written.Add(age), "", "--file", "testdata/status.json")
		require.ErrorContains(t, err, "stale: written "+want)
		require.Contains(t, out, "written "+want)
		require.Regexp(t, `(?m)^State: +unknown: the file is stale; on when it was written$`, out)
	}
	out, err := statusAt(t, written, "", "--file", "testdata/status.json")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^State: +on$`, out)
}
