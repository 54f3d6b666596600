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

	"github.com/aucsched/aucsched/internal/test/slurmtest/dashboard"
)

func metricsAt(t *testing.T, now time.Time, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := newMetricsCommand(func() time.Time { return now }, func(string) string { return "" })
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.ExecuteContext(context.WithoutCancel(t.Context()))
	return out.String(), err
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

// Counting begins anew with slurmctld, and a reader is told when that was.
func TestMetricsBegan(t *testing.T) {
	text, err := metricsAt(t, written, "--file", "testdata/status.json")
	require.NoError(t, err)
	for _, name := range []string{"cycles", "jobs_started", "cycle_seconds"} {
		require.Contains(t, text, "\nslurm_aucsched_"+name+"_created 1.69999e+09\n")
	}
	require.Contains(t, text, `slurm_aucsched_starts_missed_created{reason="Requested nodes are busy"} 1.69999e+09`)
	require.Contains(t, text, "\nslurm_aucsched_start_timestamp_seconds 1.69999e+09\n")
}

// samples are the names of all samples that a status with everything in it gives.
func samples(t *testing.T) map[string]bool {
	t.Helper()
	text, err := metricsAt(t, written, "--file", "testdata/status.json")
	require.NoError(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			names[regexp.MustCompile(`^\w+`).FindString(line)] = true
		}
	}
	return names
}

const monitoring = "../../slurmplugin/monitoring/"

// promtool finds nothing to say of the metrics, and the rules do what their tests want.
func TestPromtool(t *testing.T) {
	m := &meter{"testdata/status.json", func() time.Time { return written }}
	path := filepath.Join(t.TempDir(), "a.prom")
	require.NoError(t, m.writeTo(path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	promtool(t, string(text), "check", "metrics")
	promtool(t, "", "test", "rules", monitoring+"alerts_test.yml")
}

// Rules speak of what there is.
func TestAlertsMetrics(t *testing.T) {
	rules, err := os.ReadFile(monitoring + "alerts.yml")
	require.NoError(t, err)
	names := dashboard.Metrics(string(rules))
	require.Greater(t, len(names), 6)
	has := samples(t)
	for _, name := range names {
		require.Contains(t, has, name)
	}
}

// ofSlurm are metrics of Slurm's own plug-in metrics/openmetrics of 25.11 that
// the dashboard asks for.
var ofSlurm = []string{"slurm_jobs_pending", "slurm_jobs_running", "slurm_schedule_cycle_last", "slurm_bf_cycle_last",
	"slurm_bf_cycle_cnt", "slurm_sdiag_jobs_started"}

// The dashboard asks for what there is, and for all of it.
func TestDashboardMetrics(t *testing.T) {
	queries, err := dashboard.Read(monitoring + "dashboard.json")
	require.NoError(t, err)
	has := samples(t)
	asked := map[string]bool{}
	for _, q := range queries {
		names := dashboard.Metrics(q.Expr)
		require.NotEmpty(t, names, q.Where)
		for _, name := range names {
			if strings.HasPrefix(name, "slurm_aucsched_") {
				require.Contains(t, has, name, q.Where)
			} else {
				require.Contains(t, ofSlurm, name, q.Where)
			}
			asked[name] = true
		}
	}
	for name := range has {
		if !strings.HasSuffix(name, "_created") && name != "slurm_aucsched_interval_seconds" {
			require.Contains(t, asked, name, "a panel for it")
		}
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
