// SPDX-License-Identifier: BSD-3-Clause

// Package metrics makes of a status file of aucsched's plug-in what Prometheus collects. Names are
// in the manner of Slurm's own metrics/openmetrics plug-in: slurm_, what it is of, and the unit.
package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefix begins all names.
const prefix = "slurm_aucsched_"

// Format is how metrics are written, by its media type.
type Format string

// Formats of Prometheus.
const (
	OpenMetrics Format = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	Text        Format = "text/plain; version=0.0.4; charset=utf-8" // node_exporter's textfiles, and promtool
)

// Accepted is the format that a reader takes, by the Accept header of its request.
func Accepted(accept string) Format {
	if strings.Contains(accept, "application/openmetrics-text") {
		return OpenMetrics
	}
	return Text
}

// Types of metrics.
const (
	gauge   = "gauge"
	counter = "counter" // its name ends in _total
	summary = "summary"
)

// Family is a metric, with a sample for each of its labels.
type Family struct {
	name, help, typ string
	samples         []sample
	created         float64 // when counting began, since 1970; 0: not known
}

// sample is a value: of a summary the sum, and count its count. labels are as they are written.
type sample struct {
	labels       string
	value, count float64
}

func family(name, help, typ string, values ...float64) Family {
	f := Family{name: prefix + name, help: help, typ: typ}
	for _, v := range values {
		f.samples = append(f.samples, sample{value: v})
	}
	return f
}

// A number of the status file, by its path in it; or, with a label, a count for each word of a kind.
type number struct{ name, help, field, label string }

// numbers are counters, whose names end in _total, and gauges.
var numbers = []number{
	{"cycles_total", "Cycles of the auction that came to a decision.", "cycles", ""},
	{"cycles_skipped_total", "Cycles left out as nothing had changed, or as Slurm was busy.", "cycles_skipped", ""},
	{"cycles_failed_total", "Cycles that came to no decision.", "cycles_failed", ""},
	{"cycles_late_total", "Cycles whose deadline cut the search short.", "cycles_late", ""},
	{"fallbacks_total", "Times that Slurm's own schedulers were left alone.", "fallbacks", ""},
	{"jobs_started_total", "Jobs that the auction has started.", "started", ""},
	{"starts_failed_total", "Starts that Slurm refused, or that came out otherwise than decided.", "starts_failed", ""},
	{"jobs_overdue_total", "Jobs that the auction had overlooked and Slurm's selection started.", "overdue", ""},
	{"jobs_preempted_total", "Jobs that were preempted for starts of the auction.", "preempted", ""},
	{"jobs_left_started_total", "Jobs that were left to Slurm's own schedulers and have started.", "left_waits.started", ""},
	{"jobs_left_wait_seconds_total", "How long these have waited, in all.", "left_waits.sum_s", ""},
	{"saves_failed_total", "Saves of Slurm's state before a launch that failed.", "saves_failed", ""},
	{"input_starts_total", "Starts of jobs that name an input file.", "files.starts", ""},
	{"input_starts_on_holders_total", "Of these, starts on nodes that all held the file.", "files.on_holders", ""},
	{"start_timestamp_seconds", "When counting began, with slurmctld, since 1970.", "began", ""},
	{"status_timestamp_seconds", "When the plug-in wrote its status, since 1970.", "time", ""},
	{"interval_seconds", "From one cycle to the next.", "interval_s", ""},
	{"nodes", "Nodes of the cluster.", "nodes", ""},
	{"jobs_running", "Running jobs, in the last snapshot.", "running", ""},
	{"jobs_queued", "Jobs of the queue, in the last snapshot.", "queue", ""},
	{"jobs_window", "Jobs that took part in the last decision.", "window", ""},
	{"jobs_left", "Jobs that are left to Slurm's own schedulers.", "handed_jobs", ""},
	{"jobs_left_longest_wait_seconds", "How long the job that has waited longest of those left waits.", "left_waits.pending_longest_s", ""},
	{"bids", "Bids of the last decision.", "solver.bids", ""},
	{"objective", "Worth of what the last decision starts.", "solver.objective", ""},
	{"objective_bound", "Upper bound on the worth of any decision.", "solver.bound", ""},
	{"input_files", "Input files that nodes hold.", "files.known", ""},
	{"input_copies", "Copies of them on nodes.", "files.copies", ""},
	{"jobs_left_by_word", "Jobs that are left to Slurm's own schedulers, by why.", "handed", "word"},
	{"jobs_waiting", "Jobs that the last decision does not start, by why.", "waits", "verdict"},
	{"starts_missed_total", "Starts that failed, by why.", "missed", "reason"},
}

// stages are the times that the plug-in measures, by their fields.
var stages = []number{
	{"cycle", "A whole cycle", "cycle_us", ""},
	{"snapshot", "A snapshot, under Slurm's locks", "snapshot_us", ""},
	{"decide", "A decision, without locks", "decide_us", ""},
	{"start", "Starting what was decided", "start_us", ""},
	{"lock", "Slurm's locks held outside of starts", "lock_us", ""},
}

// states are those of the plug-in; any other is "other".
var states = []string{"on", "shadow", "starting", "off", "no-library", "no-shim", "failing"}

// most words of a kind are told apart; files of ours have fewer.
const mostWords = 64

// Down is what is told while there is no status.
func Down() []Family { return []Family{up(0)} }

func up(v float64) Family {
	return family("up", "Whether the plug-in of slurmctld writes its status.", gauge, v)
}

// Families are the metrics of a status, whose numbers are json.Number. It is down if it
// is older than stale.
func Families(status map[string]any, age, stale time.Duration) []Family {
	all := []Family{up(yes(age <= stale)), info(status), state(status),
		family("choice_optimal", "Whether the last decision is proven to be the best of its bids.", gauge,
			yes(text(status, "solver.status") == "optimal")),
		family("journal_on", "Whether starts and ends of jobs are noted in the journal.", gauge, yes(text(status, "journal") == "on"))}
	for _, n := range numbers {
		all = append(all, n.family(status))
	}
	for _, s := range stages {
		all = append(all, s.times(status)...)
	}
	began, _ := value(status, "began")
	for i := range all {
		all[i].created = began // so that a reader tells a new slurmctld from one that lost counts
	}
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.name, b.name) })
	return all
}

// times are a stage's sum and count, which a rate makes a mean of, its last and its greatest value.
func (n *number) times(status map[string]any) (all []Family) {
	for _, of := range []struct{ field, name, help string }{
		{"last", "_last_seconds", ": the last one."}, {"max", "_max_seconds", ": the longest since slurmctld began."},
	} {
		if v, ok := value(status, n.field+"."+of.field); ok {
			all = append(all, family(n.name+of.name, n.help+of.help, gauge, v/1e6))
		}
	}
	sum, okSum := value(status, n.field+".sum")
	count, okCount := value(status, n.field+".count")
	if okSum && okCount {
		f := family(n.name+"_seconds", n.help+".", summary, sum/1e6)
		f.samples[0].count = count
		all = append(all, f)
	}
	return all
}

func (n *number) family(status map[string]any) Family {
	f := family(n.name, n.help, gauge)
	if strings.HasSuffix(n.name, "_total") {
		f.typ = counter
	}
	if v, ok := value(status, n.field); ok && n.label == "" {
		f.samples = append(f.samples, sample{value: v})
	}
	words, _ := find(status, n.field).(map[string]any)
	names := slices.Sorted(maps.Keys(words))
	for _, word := range names[:min(len(names), mostWords)] {
		if v, ok := value(words, word); ok {
			f.samples = append(f.samples, sample{labels: label(n.label, word), value: v})
		}
	}
	return f
}

func info(status map[string]any) Family {
	f := family("info", "Versions of the plug-in's library and of Slurm.", gauge, 1)
	f.samples[0].labels = label("slurm", text(status, "slurm")) + "," + label("version", text(status, "version"))
	return f
}

func state(status map[string]any) Family {
	f := family("state", "What the plug-in does: 1 for its state, 0 for others.", gauge)
	known := false
	for _, s := range append(slices.Clone(states), "other") {
		is := s == text(status, "state") || s == "other" && !known
		known = known || is
		f.samples = append(f.samples, sample{labels: label("state", s), value: yes(is)})
	}
	return f
}

// Write returns families in a format of Prometheus. OpenMetrics has when counting began, and numbers
// with a point; a counter's name there lacks the end that its samples have.
func Write(as Format, families []Family) []byte {
	var b strings.Builder
	for _, f := range families {
		if len(f.samples) == 0 {
			continue
		}
		name, total := f.name, ""
		if as == OpenMetrics && f.typ == counter {
			name, total = strings.TrimSuffix(name, "_total"), "_total"
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, escape.Replace(f.help), f.typ)
		for _, s := range f.samples {
			end, labels := total, s.labels
			if labels != "" {
				labels = "{" + labels + "}"
			}
			if f.typ == summary {
				end = "_sum"
			}
			fmt.Fprintf(&b, "%s%s%s %s\n", name, end, labels, as.number(s.value))
			if f.typ == summary {
				fmt.Fprintf(&b, "%s_count%s %.0f\n", name, labels, s.count)
			}
			if as == OpenMetrics && f.typ != gauge && f.created > 0 {
				fmt.Fprintf(&b, "%s_created%s %s\n", name, labels, as.number(f.created))
			}
		}
	}
	if as == OpenMetrics {
		b.WriteString("# EOF\n")
	}
	return []byte(b.String())
}

func (as Format) number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if as == OpenMetrics && !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// escape is for texts of both formats.
var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// label is NAME="VALUE".
func label(name, value string) string {
	return name + `="` + escape.Replace(strings.ToValidUTF8(value, "?")) + `"`
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

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
