// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func metricsAt(t *testing.T, now time.Time, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := newMetricsCommand(func() time.Time { return now }, func(string) string { return "" })
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	return out.String(), c.ExecuteContext(context.WithoutCancel(t.Context()))
}

func TestMetrics(t *testing.T) {
	m := &meter{"testdata/status.json", func() time.Time { return written.Add(7 * time.Second) }}
	get := func(accept string) string {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		m.handler().ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}
	text := get("application/openmetrics-text; version=1.0.0")
	for _, line := range []string{
		"# TYPE slurm_aucsched_cycles counter", "slurm_aucsched_cycles_total 1234.0", "slurm_aucsched_up 1.0",
		"slurm_aucsched_cycle_last_seconds 0.052013", "slurm_aucsched_cycle_seconds_count 1234",
		`slurm_aucsched_jobs_left_by_word{word="gres"} 7.0`, `slurm_aucsched_jobs_waiting{verdict="lost"} 60.0`,
		`slurm_aucsched_state{state="on"} 1.0`, `slurm_aucsched_state{state="other"} 0.0`,
	} {
		require.Contains(t, text, line+"\n")
	}
	require.True(t, strings.HasSuffix(text, "# EOF\n"))
	m.now = func() time.Time { return written.Add(time.Hour) }
	require.Contains(t, get("text/plain"), "slurm_aucsched_up 0\n", "stale")
	m.file = "testdata/none"
	require.Contains(t, get("text/plain"), "slurm_aucsched_up 0\n")
}

func TestMetricsTextfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.prom")
	_, err := metricsAt(t, written, "--file", "testdata/status.json", "--textfile", path)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "# TYPE slurm_aucsched_cycles_total counter\n")
	_, err = metricsAt(t, written, "--file", "testdata/none", "--textfile", path)
	require.Error(t, err)
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "slurm_aucsched_up 0\n")
}

// promtool finds nothing to say of the metrics, and the rules do what their tests want.
func TestPromtool(t *testing.T) {
	var text bytes.Buffer
	m := &meter{"testdata/status.json", func() time.Time { return written }}
	path := filepath.Join(t.TempDir(), "a.prom")
	require.NoError(t, m.writeTo(path))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	text.Write(got)
	promtool(t, text.String(), "check", "metrics")
	promtool(t, "", "test", "rules", "../../slurmplugin/monitoring/alerts_test.yml")
	rules, err := os.ReadFile("../../slurmplugin/monitoring/alerts.yml")
	require.NoError(t, err)
	for _, name := range regexp.MustCompile(`slurm_aucsched_\w+`).FindAllString(string(rules), -1) {
		require.Contains(t, text.String(), "\n"+name, "rules speak of what there is")
	}
}

func promtool(t *testing.T, in string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("there is no promtool (Debian: apt-get install prometheus)")
	}
	cmd := exec.Command("promtool", args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
