// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest/dashboard"
)

const monitoring = "../../../slurmplugin/monitoring/"

// prometheus collects the metrics of a cluster, of aucsched and, where it has them, of Slurm.
type prometheus struct {
	*testing.T
	c   *Cluster
	url string
}

func newPrometheus(t *testing.T, c *Cluster, ofSlurm bool) *prometheus {
	t.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skip("there is no prometheus (sh scripts/packages.sh metrics)")
	}
	bin, err := programmes()
	require.NoError(t, err)
	starting.Lock()
	defer starting.Unlock()
	port, err := freePorts(2)
	require.NoError(t, err)
	exporter, web := fmt.Sprint("127.0.0.1:", port), fmt.Sprint("127.0.0.1:", port+1)
	_, err = c.launch("metrics", nil, filepath.Join(bin, "aucsched"), "metrics", "--listen", exporter)
	require.NoError(t, err)
	rules, err := filepath.Abs(monitoring + "alerts.yml")
	require.NoError(t, err)
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%s]
scrape_configs:
  - {job_name: aucsched, static_configs: [{targets: ["%s"]}]}
`, rules, exporter)
	for _, what := range []string{"jobs", "scheduler"} {
		if ofSlurm {
			config += fmt.Sprintf("  - {job_name: slurm-%s, metrics_path: /metrics/%s, static_configs: [{targets: [\"127.0.0.1:%d\"]}]}\n",
				what, what, c.Port)
		}
	}
	require.NoError(t, os.WriteFile(c.path("prometheus.yml"), []byte(config), 0o644))
	_, err = c.launch("prometheus", nil, "prometheus", "--config.file="+c.path("prometheus.yml"),
		"--storage.tsdb.path="+c.path("prometheus"), "--web.listen-address="+web)
	require.NoError(t, err)
	return &prometheus{t, c, "http://" + web + "/api/v1/"}
}

// get asks Prometheus's interface; an answer that is an error is one.
func (p *prometheus) get(path string, data any, values ...string) error {
	q := url.Values{}
	for i := 0; i < len(values); i += 2 {
		q.Set(values[i], values[i+1])
	}
	ctx, cancel := context.WithTimeout(p.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<24))
	if err != nil {
		return err
	}
	var a struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("%w: %.200s", err, text)
	}
	if a.Status != "success" {
		return fmt.Errorf("%s: %s", a.Status, a.Error)
	}
	return json.Unmarshal(a.Data, data)
}

// A series is one of the answers to a query, with its value now.
type series struct {
	Metric map[string]string
	Value  [2]any
}

func (s *series) number() float64 {
	text, _ := s.Value[1].(string)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func (p *prometheus) query(expr string) ([]series, error) {
	var data struct{ Result []series }
	err := p.get("query", &data, "query", expr)
	return data.Result, err
}

// asks has a query of the dashboard answered with at least one number.
func (p *prometheus) asks(expr string, values map[string]string) error {
	if strings.HasPrefix(expr, "label_values(") {
		return p.asksLabel(expr)
	}
	filled, err := dashboard.Fill(expr, values)
	if err != nil {
		return err
	}
	all, err := p.query(filled)
	if err != nil {
		return fmt.Errorf("%s: %w", filled, err)
	}
	for _, s := range all {
		if v := s.number(); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return nil
		}
	}
	return fmt.Errorf("%s: no number in %v", filled, all)
}

func (p *prometheus) asksLabel(expr string) error {
	name, label, err := dashboard.LabelValues(expr)
	if err != nil {
		return err
	}
	var data []map[string]string
	if err := p.get("series", &data, "match[]", name); err != nil {
		return err
	}
	if len(data) == 0 || data[0][label] == "" {
		return fmt.Errorf("%s: %v", expr, data)
	}
	return nil
}

// one is the value of a query that has one series.
func (p *prometheus) one(expr string) float64 {
	p.Helper()
	all, err := p.query(expr)
	require.NoError(p, err)
	require.Len(p, all, 1, expr)
	return all[0].number()
}

// The dashboard's queries, as Grafana would send them, are answered by a Prometheus that collects
// from a slurmctld with load; the rules for alerts are evaluated there. When slurmctld begins anew,
// so do the counters, which is seen as such.
func TestPrometheus(t *testing.T) {
	slow(t)
	beside(t)
	cfg := Config{Groups: Uniform(4, 4, 1), SchedulerParameters: "auc_locality=yes"}
	ofSlurm := hasMetrics(t)
	if ofSlurm {
		cfg.ExtraLines = []string{"MetricsType=metrics/openmetrics"}
	}
	c := cluster(t, auction, cfg)
	p := newPrometheus(t, c, ofSlurm)
	load := func() {
		for range 8 {
			submit(t, c, "sleep 3", "-N1", "-n4", "--time=1")
		}
		submit(t, c, "sleep 3", "-N4", "--ntasks-per-node=4", "--time=1")
		submit(t, c, "sleep 1", "-n1", "--time=1", ":", "-n1")
	}
	queries, err := dashboard.Read(monitoring + "dashboard.json")
	require.NoError(t, err)
	values := map[string]string{"instance": ".+", "slurmctld": ".+", "__rate_interval": "30s"}
	answered := func(q dashboard.Query) {
		var last error
		err := c.poll(t.Context(), time.Minute, q.Where, func() (bool, error) {
			last = p.asks(q.Expr, values)
			return last == nil, nil
		})
		require.NoError(t, err, "%s: %v", q.Where, last)
	}
	load()
	asked := 0
	for _, q := range queries {
		own := strings.HasPrefix(q.Row, "Slurm's own metrics") || q.Where == "variable slurmctld"
		if own && !ofSlurm || strings.HasPrefix(q.Where, "annotation") {
			continue
		}
		answered(q)
		asked++
	}
	t.Logf("%d of %d queries; Slurm has metrics of its own: %v", asked, len(queries), ofSlurm)
	require.Greater(t, asked, 40)
	p.requireRules()

	require.NoError(t, c.WaitEmpty(t.Context(), 2*time.Minute))
	p.requireAgrees()
	began := p.one("slurm_aucsched_start_timestamp_seconds")
	before := p.one("slurm_aucsched_jobs_started_total")
	require.Positive(t, before)
	time.Sleep(time.Second) // its beginning is in whole seconds
	require.NoError(t, c.KillController(t.Context(), syscall.SIGTERM))
	require.NoError(t, c.StartController(t.Context()))
	load()
	for _, q := range queries {
		if strings.HasPrefix(q.Where, "annotation") {
			answered(q)
		}
	}
	require.NoError(t, c.WaitEmpty(t.Context(), 2*time.Minute))
	p.requireAgrees()
	require.Greater(t, p.one("slurm_aucsched_start_timestamp_seconds"), began)
	require.EqualValues(t, 1, p.one("resets(slurm_aucsched_jobs_started_total[10m])"))
	require.GreaterOrEqual(t, p.one("increase(slurm_aucsched_jobs_started_total[10m])"), before/2, "over the restart")
}

// hasMetrics is whether Slurm has the plug-in metrics/openmetrics.
func hasMetrics(t *testing.T) bool {
	t.Helper()
	dir, err := StockPluginDir()
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(dir, "metrics_openmetrics.so"))
	return err == nil
}

// requireRules has all rules evaluated without a fault, and no alert of them.
func (p *prometheus) requireRules() {
	p.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, State, LastError string }
		}
	}
	require.NoError(p, p.get("rules", &data))
	require.Len(p, data.Groups, 1)
	require.Len(p, data.Groups[0].Rules, 5)
	for _, r := range data.Groups[0].Rules {
		require.Equal(p, "ok", r.Health, "%s: %s", r.Name, r.LastError)
		require.NotEqual(p, "firing", r.State, r.Name)
	}
}

// requireAgrees has Prometheus know what the status file says, and that what slurmctld's counters
// say of times and created is of this slurmctld.
func (p *prometheus) requireAgrees() {
	p.Helper()
	var last string
	require.NoError(p, p.c.poll(p.Context(), 30*time.Second, "the same in Prometheus as in the status", func() (bool, error) {
		s, err := p.c.Status()
		if err != nil {
			return false, nil
		}
		last = ""
		for expr, want := range map[string]int64{
			"slurm_aucsched_jobs_started_total":                       s.Started,
			"slurm_aucsched_jobs_started_created":                     s.Began,
			"slurm_aucsched_jobs_queued":                              s.Queue,
			`slurm_aucsched_state{state="on"}`:                        1,
			`slurm_aucsched_starts_failed_total`:                      s.StartsFailed,
			`sum(slurm_aucsched_jobs_left_by_word or on() vector(0))`: int64(s.HandedJobs),
		} {
			all, err := p.query(expr)
			if err != nil || len(all) != 1 || all[0].number() != float64(want) {
				last += fmt.Sprintf(" %s: %v, not %d (%v)", expr, all, want, err)
			}
		}
		return last == "" && s.Began > 0, nil
	}), "%s", last)
}
