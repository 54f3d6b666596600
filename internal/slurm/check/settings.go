// SPDX-License-Identifier: BSD-3-Clause

package check

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// kind is what a setting may be: a whole number from low to high, one of values, an absolute path,
// or any word.
type kind struct {
	low, high int64
	values    []string
	path      bool
}

// known are the settings of the plug-in without "auc_", as slurmplugin/settings.c has them, with
// which a test compares them.
var known = withAuctions(map[string]kind{
	"interval": {low: 1, high: 3600}, "delay_ms": {high: 60000}, "start_ms": {low: 1, high: 60000},
	"lock_percent": {low: 1, high: 100}, "deadline_ms": {low: 1, high: 600000}, "file_memory": {high: 2147483647},
	"file_age": {high: 31536000}, "slurm_bids": {high: 10000}, "net_s": {high: 86400},
	"users_share": {high: 100}, "shadow_mb": {low: 1, high: 4096},

	"enabled": {values: noYes}, "mode": {values: []string{"on", "shadow"}}, "shadow": {path: true}, "record": {path: true},
	"partitions": {}, "save": {values: noYes}, "beyond": {values: []string{"slurm", "wait"}},
	"locality": {values: noYes}, "at_once": {values: noYes}, "preempt": {values: noYes},
	"policy":      {values: []string{"auction2", "auction1", "ipsched"}},
	"node_limits": {values: noYes}, "on_timeout": {values: []string{"incumbent", "halve"}},
	"solver": {values: []string{"native", "auto", "highs"}}, "worker": {path: true}, "library": {path: true},
	"alternatives": {values: noYes}, "gpu_ranges": {values: noYes},
	"invasic": {}, "invasic_socket": {path: true}, "invasic_urgent": {}, "status": {path: true},
})

var noYes = []string{"no", "yes"}

// withAuctions adds the settings of the auction.
func withAuctions(kinds map[string]kind) map[string]kind {
	kinds["preset"] = kind{values: settings.Names()}
	for _, p := range settings.Presets {
		if p.Old != "" {
			kinds[p.Old] = kind{values: noYes}
		}
	}
	for _, s := range settings.All {
		if s.Meaning != "" {
			kinds[s.Name] = kind{s.Low, s.High, s.Values, false}
		}
	}
	return kinds
}

// wrong says what a value must be instead; "" if it is fine.
func (k *kind) wrong(value string) string {
	switch {
	case k.high > 0:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < k.low || n > k.high {
			return fmt.Sprintf("must be a whole number from %d to %d", k.low, k.high)
		}
	case k.values != nil:
		if !slices.Contains(k.values, value) {
			return "must be " + strings.Join(k.values, ", ")
		}
	case k.path:
		if !filepath.IsAbs(value) {
			return "must be an absolute path"
		}
	case value == "":
		return "must not be empty"
	}
	return ""
}

// mostFindings bounds findings of one kind: a file may have very many lines, and a line words.
const mostFindings = 100

// settings looks at what SchedulerParameters says to the plug-in.
func (c *checker) settings() {
	text, line, ok := c.conf.Last("SchedulerParameters")
	if !ok {
		return
	}
	given := map[string]string{}
	var more []string // of the partitions
	begin := len(c.found)
	last := "" // the setting before, to which words without "=" belong: auc_partitions=a,b
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		key, value, assigned := strings.Cut(word, "=")
		name, ours := strings.CutPrefix(key, "auc_")
		if !ours {
			if last == "partitions" && !assigned {
				more = append(more, word)
			} else {
				last = ""
			}
			continue
		}
		if len(c.found)-begin >= mostFindings {
			c.problem(line, "SchedulerParameters", "", "the rest was not looked at")
			break
		}
		last = name
		k, ok := known[name]
		switch {
		case !ok:
			c.problem(line, key, value, "there is no such setting"+meant(name))
		case !assigned:
			c.problem(line, key, value, "a value is missing")
		case k.wrong(value) != "":
			c.problem(line, key, value, k.wrong(value)+"; the default is used")
		default:
			if before, twice := given[name]; twice && before != value {
				c.note(line, key, value, fmt.Sprintf("given before as %s: the last one counts", before))
			}
			if instead := settings.Instead(name); instead != "" {
				instead = strings.Replace(instead, "preset=", "use auc_preset=", 1)
				c.note(line, key, value, "is deprecated, and the next version does not have it: "+instead)
			}
			given[name] = value
			if name == "partitions" {
				more = nil
			}
		}
	}
	if given["partitions"] != "" {
		given["partitions"] = strings.Join(append([]string{given["partitions"]}, more...), ",")
	}
	c.together(line, given)
}

// meant names the setting that was meant.
func meant(name string) string {
	if best := input.Nearest(name, slices.Sorted(maps.Keys(known))); best != "" {
		return "; did you mean auc_" + best + "?"
	}
	return ""
}

// together looks for settings that do not go with each other, or with the rest of the file.
func (c *checker) together(line *conf.Line, given map[string]string) {
	var pairs []string
	for name, value := range given {
		pairs = append(pairs, name+"="+value)
	}
	if _, err := settings.Read(new(core.AuctionOptions), pairs); err != nil {
		fault := err.(*settings.Fault) // that of values that do not go together: each was looked at before
		c.problem(line, "auc_"+fault.Name, fault.Value, fault.Why+": the auction would be off")
	}
	if given["mode"] == "shadow" && given["enabled"] == "no" {
		c.note(line, "auc_mode", "shadow", "says nothing with auc_enabled=no")
	}
	if given["users_share"] == "0" {
		c.note(line, "auc_users_share", "0", "the auction is for nobody")
	}
	unknown := 0
	for name := range strings.SplitSeq(given["partitions"], ",") {
		if name != "" && !c.partitions[name] && unknown < mostFindings {
			unknown++
			c.problem(line, "auc_partitions", name, "no line PartitionName has that name")
		}
	}
	for _, name := range []string{"library", "worker"} {
		if file := given[name]; file != "" && !c.exists(file) {
			c.problem(line, "auc_"+name, file, "is not there")
		}
	}
	for _, name := range []string{"status", "shadow", "record"} {
		if file := given[name]; file != "" && !c.exists(filepath.Dir(file)) {
			c.problem(line, "auc_"+name, file, "its directory is not there")
		}
	}
	if solver := given["solver"]; (solver == "auto" || solver == "highs") && given["worker"] == "" && !c.exists(defaultWorker) {
		c.problem(line, "auc_solver", solver, "needs auc_worker, as "+defaultWorker+" is not there")
	}
}

// defaultWorker is AUC_WORKER of the plug-ins.
const defaultWorker = "/usr/bin/aucsched"
