// SPDX-License-Identifier: BSD-3-Clause

// Package metrics makes of a status file of aucsched's plug-in what Prometheus collects. Names are
// in the manner of Slurm's own metrics/openmetrics plug-in: slurm_, what it is of, and the unit.
package metrics

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// prefix begins all names.
const prefix = "slurm_aucsched_"

// Formats of Prometheus.
var (
	OpenMetrics = expfmt.NewFormat(expfmt.TypeOpenMetrics)
	Text        = expfmt.NewFormat(expfmt.TypeTextPlain) // node_exporter's textfiles, and promtool
)

// A number of the status file, by its path in it.
type number struct{ name, help, field string }

var counters = []number{
	{"cycles_total", "Cycles of the auction that came to a decision.", "cycles"},
	{"cycles_skipped_total", "Cycles left out as nothing had changed, or as Slurm was busy.", "cycles_skipped"},
	{"cycles_failed_total", "Cycles that came to no decision.", "cycles_failed"},
	{"cycles_late_total", "Cycles whose deadline cut the search short.", "cycles_late"},
	{"fallbacks_total", "Times that Slurm's own schedulers were left alone.", "fallbacks"},
	{"jobs_started_total", "Jobs that the auction has started.", "started"},
	{"starts_failed_total", "Starts that Slurm refused, or that came out otherwise than decided.", "starts_failed"},
	{"jobs_overdue_total", "Jobs that the auction had overlooked and Slurm's selection started.", "overdue"},
	{"jobs_preempted_total", "Jobs that were preempted for starts of the auction.", "preempted"},
	{"jobs_left_started_total", "Jobs that were left to Slurm's own schedulers and have started.", "left_waits.started"},
	{"jobs_left_wait_seconds_total", "How long these have waited, in all.", "left_waits.sum_s"},
	{"saves_failed_total", "Saves of Slurm's state before a launch that failed.", "saves_failed"},
	{"input_starts_total", "Starts of jobs that name an input file.", "files.starts"},
	{"input_starts_on_holders_total", "Of these, starts on nodes that all held the file.", "files.on_holders"},
}

var gauges = []number{
	{"start_timestamp_seconds", "When counting began, with slurmctld, since 1970.", "began"},
	{"status_timestamp_seconds", "When the plug-in wrote its status, since 1970.", "time"},
	{"interval_seconds", "From one cycle to the next.", "interval_s"},
	{"nodes", "Nodes of the cluster.", "nodes"},
	{"jobs_running", "Running jobs, in the last snapshot.", "running"},
	{"jobs_queued", "Jobs of the queue, in the last snapshot.", "queue"},
	{"jobs_window", "Jobs that took part in the last decision.", "window"},
	{"jobs_left", "Jobs that are left to Slurm's own schedulers.", "handed_jobs"},
	{"jobs_left_longest_wait_seconds", "How long the job that has waited longest of those left waits.", "left_waits.pending_longest_s"},
	{"bids", "Bids of the last decision.", "solver.bids"},
	{"objective", "Worth of what the last decision starts.", "solver.objective"},
	{"objective_bound", "Upper bound on the worth of any decision.", "solver.bound"},
	{"input_files", "Input files that nodes hold.", "files.known"},
	{"input_copies", "Copies of them on nodes.", "files.copies"},
}

// A count of the status file for each word of a kind.
type labelled struct {
	number
	label string
	typ   dto.MetricType
}

var byWord = []labelled{
	{number{"jobs_left_by_word", "Jobs that are left to Slurm's own schedulers, by why.", "handed"}, "word", dto.MetricType_GAUGE},
	{number{"jobs_waiting", "Jobs that the last decision does not start, by why.", "waits"}, "verdict", dto.MetricType_GAUGE},
	{number{"starts_missed_total", "Starts that failed, by why.", "missed"}, "reason", dto.MetricType_COUNTER},
}

// stages are the times that the plug-in measures, by their fields.
var stages = []number{
	{"cycle", "A whole cycle", "cycle_us"},
	{"snapshot", "A snapshot, under Slurm's locks", "snapshot_us"},
	{"decide", "A decision, without locks", "decide_us"},
	{"start", "Starting what was decided", "start_us"},
	{"lock", "Slurm's locks held outside of starts", "lock_us"},
}

// states are those of the plug-in; any other is "other".
var states = []string{"on", "shadow", "starting", "off", "no-library", "no-shim", "failing"}

// most words of a kind are told apart; files of ours have fewer.
const mostWords = 64

// Down is what is told while there is no status.
func Down() []*dto.MetricFamily { return []*dto.MetricFamily{up(0)} }

func up(v float64) *dto.MetricFamily {
	return family("up", "Whether the plug-in of slurmctld writes its status.", dto.MetricType_GAUGE, gauge(v))
}

// Families are the metrics of a status, whose numbers are json.Number. It is down if it
// is older than stale.
func Families(status map[string]any, age, stale time.Duration) []*dto.MetricFamily {
	alive := 1.0
	if age > stale {
		alive = 0
	}
	all := []*dto.MetricFamily{up(alive), info(status), state(status)}
	for _, n := range counters {
		if v, ok := value(status, n.field); ok {
			all = append(all, family(n.name, n.help, dto.MetricType_COUNTER, counter(v)))
		}
	}
	for _, n := range gauges {
		if v, ok := value(status, n.field); ok {
			all = append(all, family(n.name, n.help, dto.MetricType_GAUGE, gauge(v)))
		}
	}
	optimal := family("choice_optimal", "Whether the last decision is proven to be the best of its bids.",
		dto.MetricType_GAUGE, gauge(yes(text(status, "solver.status") == "optimal")))
	journal := family("journal_on", "Whether starts and ends of jobs are noted in the journal.",
		dto.MetricType_GAUGE, gauge(yes(text(status, "journal") == "on")))
	all = append(all, optimal, journal)
	for _, l := range byWord {
		if f := l.family(status); f != nil {
			all = append(all, f)
		}
	}
	for _, s := range stages {
		all = append(all, s.times(status)...)
	}
	if began, ok := value(status, "began"); ok && began > 0 {
		created(all, timestamppb.New(time.Unix(int64(began), 0)))
	}
	slices.SortFunc(all, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

// created notes when counting began, so that a reader tells a new slurmctld from
// one that lost counts.
func created(families []*dto.MetricFamily, at *timestamppb.Timestamp) {
	for _, f := range families {
		for _, m := range f.Metric {
			switch {
			case m.Counter != nil:
				m.Counter.CreatedTimestamp = at
			case m.Summary != nil:
				m.Summary.CreatedTimestamp = at
			}
		}
	}
}

// times are a stage's sum and count, which a rate makes a mean of, its last and its greatest value.
func (n *number) times(status map[string]any) []*dto.MetricFamily {
	var all []*dto.MetricFamily
	for _, of := range []struct{ field, name, help string }{
		{"last", "_last_seconds", ": the last one."}, {"max", "_max_seconds", ": the longest since slurmctld began."},
	} {
		if v, ok := value(status, n.field+"."+of.field); ok {
			all = append(all, family(n.name+of.name, n.help+of.help, dto.MetricType_GAUGE, gauge(v/1e6)))
		}
	}
	sum, okSum := value(status, n.field+".sum")
	count, okCount := value(status, n.field+".count")
	if okSum && okCount {
		s := &dto.Summary{SampleSum: ptr(sum / 1e6), SampleCount: ptr(uint64(count))}
		all = append(all, family(n.name+"_seconds", n.help+".", dto.MetricType_SUMMARY, &dto.Metric{Summary: s}))
	}
	return all
}

func (l *labelled) family(status map[string]any) *dto.MetricFamily {
	words, ok := find(status, l.field).(map[string]any)
	if !ok || len(words) == 0 {
		return nil
	}
	f := family(l.name, l.help, l.typ)
	names := slices.Sorted(maps.Keys(words))
	for _, word := range names[:min(len(names), mostWords)] {
		v, ok := value(words, word)
		if !ok {
			continue
		}
		m := gauge(v)
		if l.typ == dto.MetricType_COUNTER {
			m = counter(v)
		}
		m.Label = []*dto.LabelPair{label(l.label, word)}
		f.Metric = append(f.Metric, m)
	}
	return f
}

func info(status map[string]any) *dto.MetricFamily {
	m := gauge(1)
	m.Label = []*dto.LabelPair{label("slurm", text(status, "slurm")), label("version", text(status, "version"))}
	return family("info", "Versions of the plug-in's library and of Slurm.", dto.MetricType_GAUGE, m)
}

func state(status map[string]any) *dto.MetricFamily {
	f := family("state", "What the plug-in does: 1 for its state, 0 for others.", dto.MetricType_GAUGE)
	known := false
	for _, s := range append(slices.Clone(states), "other") {
		is := s == text(status, "state") || s == "other" && !known
		known = known || is
		m := gauge(yes(is))
		m.Label = []*dto.LabelPair{label("state", s)}
		f.Metric = append(f.Metric, m)
	}
	return f
}

// Write writes families in a format of Prometheus.
func Write(w io.Writer, format expfmt.Format, families []*dto.MetricFamily) error {
	e := expfmt.NewEncoder(w, format, expfmt.WithCreatedLines())
	for _, f := range families {
		if len(f.Metric) == 0 {
			continue
		}
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	if c, ok := e.(expfmt.Closer); ok {
		return c.Close()
	}
	return nil
}

func family(name, help string, typ dto.MetricType, metrics ...*dto.Metric) *dto.MetricFamily {
	return &dto.MetricFamily{Name: ptr(prefix + name), Help: ptr(help), Type: ptr(typ), Metric: metrics}
}

func gauge(v float64) *dto.Metric   { return &dto.Metric{Gauge: &dto.Gauge{Value: ptr(v)}} }
func counter(v float64) *dto.Metric { return &dto.Metric{Counter: &dto.Counter{Value: ptr(v)}} }

func label(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: ptr(name), Value: ptr(strings.ToValidUTF8(value, "?"))}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func ptr[T any](v T) *T { return &v }

// find is a field of the status by its path, nil if there is none.
func find(status map[string]any, path string) any {
	name, rest, more := strings.Cut(path, ".")
	if !more {
		return status[name]
	}
	inner, _ := status[name].(map[string]any)
	return find(inner, rest)
}

// value is a number that is not negative.
func value(status map[string]any, path string) (float64, bool) {
	n, ok := find(status, path).(json.Number)
	if !ok {
		return 0, false
	}
	v, err := n.Float64()
	return v, err == nil && v >= 0
}

func text(status map[string]any, path string) string {
	s, _ := find(status, path).(string)
	return s
}
