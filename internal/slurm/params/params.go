// SPDX-License-Identifier: BSD-3-Clause

// Package params reads what SchedulerParameters of a slurm.conf says to Slurm's plug-in:
// auc_NAME=VALUE, as docs/slurm.md has them. libaucsched.so reads it for the plug-in, and "aucsched
// check" before slurmctld does.
package params

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/settings"
)

// Params are the settings of the plug-in, with defaults for what is not given or wrong.
type Params struct {
	Enabled, Shadow, Save, BeyondWaits, Locality, AtOnce, Preempt         int32 // 0 or 1
	Interval, DelayMs, StartMs, LockPercent, DeadlineMs, NetS, UsersShare int32
	FileMemory, ShadowMB, Offers                                          int32

	Counts  bool  // the policy counts memory, GPUs by type and licences
	Limit   int32 // jobs handed to the library: window + depth
	MaxRPCs int32 // Slurm's max_rpc_cnt; 0: none

	Engine                         string // settings of the library: "key=value key=value"
	Status, ShadowFile, Partitions string
	// Said is for the log: what is wrong, or deprecated.
	Said []Said
}

// Said is a line for the log.
type Said struct {
	Error bool
	Text  string
}

// kind is where a value goes, beside what it may be.
type kind struct {
	settings.Setting
	engine bool                    // it goes to the library
	text   func(p *Params) *string // of a path or a word
	path   bool
}

// Worker is where the package puts the command, which is the worker process too.
const Worker = "/usr/bin/aucsched"

var noYes = []string{"no", "yes"}

var known = func() map[string]kind {
	all := make(map[string]kind)
	for _, s := range []settings.Setting{
		{Name: "interval", Field: "Interval", Low: 1, High: 3600, Normal: 3},
		{Name: "delay_ms", Field: "DelayMs", High: 60000, Normal: 1000},
		{Name: "start_ms", Field: "StartMs", Low: 1, High: 60000, Normal: 500},
		{Name: "lock_percent", Field: "LockPercent", Low: 1, High: 100, Normal: 10},
		{Name: "deadline_ms", Field: "DeadlineMs", Low: 1, High: 600000, Normal: 500},
		{Name: "file_memory", Field: "FileMemory", High: 1<<31 - 1},
		{Name: "slurm_bids", Field: "Offers", High: 10000},
		{Name: "net_s", Field: "NetS", High: 86400, Normal: -1},
		{Name: "users_share", Field: "UsersShare", High: 100, Normal: 100},
		{Name: "shadow_mb", Field: "ShadowMB", Low: 1, High: 4096, Normal: 16},
		{Name: "enabled", Field: "Enabled", Values: noYes, Normal: 1},
		{Name: "mode", Field: "Shadow", Values: []string{"on", "shadow"}},
		{Name: "save", Field: "Save", Values: noYes, Normal: 1},
		{Name: "beyond", Field: "BeyondWaits", Values: []string{"slurm", "wait"}, Normal: -1},
		{Name: "locality", Field: "Locality", Values: noYes},
		{Name: "at_once", Field: "AtOnce", Values: noYes, Normal: -1},
		{Name: "preempt", Field: "Preempt", Values: noYes, Normal: 1},
		{Name: "alternatives", Values: noYes}, // these two are job_submit's
		{Name: "gpu_ranges", Values: noYes},
	} {
		all[s.Name] = kind{Setting: s}
	}
	for _, s := range append([]settings.Setting{
		{Name: "preset", Values: settings.Names()},
		{Name: "policy", Values: []string{"auction2", "auction1", "ipsched"}},
		{Name: "node_limits", Values: noYes},
		{Name: "on_timeout", Values: []string{"incumbent", "halve"}},
		{Name: "solver", Values: []string{"native", "auto", "highs"}},
		{Name: "file_age", High: 31536000, Seconds: true},
	}, settings.All...) {
		if s.Name != "goal" {
			s.Field = "" // of another struct
			all[s.Name] = kind{Setting: s, engine: true}
		}
	}
	for _, p := range settings.Presets {
		if p.Old != "" {
			all[p.Old] = kind{Setting: settings.Setting{Name: p.Old, Values: noYes}, engine: true}
		}
	}
	for name, field := range map[string]func(p *Params) *string{
		"status": func(p *Params) *string { return &p.Status }, "shadow": func(p *Params) *string { return &p.ShadowFile },
		"library": nil, "invasic_socket": nil, "worker": nil, "record": nil,
	} {
		all[name] = kind{Setting: settings.Setting{Name: name}, text: field, path: true, engine: name == "worker" || name == "record"}
	}
	all["partitions"] = kind{text: func(p *Params) *string { return &p.Partitions }}
	all["invasic"], all["invasic_urgent"] = kind{}, kind{} // job_submit's, as its socket
	return all
}()

// Names are those of all settings, without "auc_".
func Names() []string { return slices.Sorted(maps.Keys(known)) }

// Wrong says what a value must be instead, "" if it is fine, and whether there is such a setting.
func Wrong(name, value string) (why string, ok bool) {
	k, ok := known[name]
	_, parses := k.Parse(value)
	switch {
	case !ok:
		return "there is no such setting", false
	case k.Values != nil && !parses:
		return "must be " + strings.Join(k.Values, ", "), true
	case k.Values == nil && k.High > 0 && !parses:
		return fmt.Sprintf("must be a whole number from %d to %d", k.Low, k.High), true
	case k.path && !filepath.IsAbs(value):
		return "must be an absolute path", true
	case value == "":
		return "must not be empty", true
	}
	return "", true
}

// Instead says why the next version has no such setting; "" if it has.
func Instead(name string) string {
	return strings.Replace(settings.Instead(name), "preset=", "use auc_preset=", 1)
}

// Given is a word of SchedulerParameters that begins with "auc_".
type Given struct {
	Name, Value string // without "auc_"
	Assigned    bool   // it has a value
}

// slurms are Slurm's own words in SchedulerParameters that have no value, in any version: a list of
// partitions ends with one of these.
var slurms = strings.Fields(`allow_zero_lic assoc_limit_stop bf_allow_magnetic_slot bf_busy_nodes bf_continue
	bf_hetjob_immediate bf_licenses bf_one_resv_per_job bf_running_job_reserve bf_topopt_enable defer defer_batch
	disable_hetero_steps disable_hetjob_steps disable_job_shrink enable_hetero_steps enable_hetjob_steps
	enable_job_state_cache enable_user_top extra_constraints ignore_constraint_validation ignore_numa
	ignore_prefer_validation no_backup_scheduling no_env_cache nohold_on_prolog_fail pack_serial_at_end
	permit_job_expansion preempt_strict_order preempt_youngest_first reduce_completing_frag
	requeue_on_resume_failure requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes spec_cores_first
	time_min_as_soft_limit whole_hetjob whole_pack`)

// Split finds the settings of a text in their order. auc_partitions=a,b has commas too.
func Split(text string) (all []Given) {
	var list []string // that the last one goes on with; nil: it does not
	end := func() {
		if len(list) > 1 {
			all[len(all)-1].Value = strings.Join(list, ",")
		}
		list = nil
	}
	defer end()
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, assigned := strings.Cut(word, "=")
		name, ours := strings.CutPrefix(name, "auc_")
		switch {
		case ours:
			end()
			all = append(all, Given{name, value, assigned})
			if name == "partitions" && value != "" {
				list = []string{value}
			}
		case assigned || slices.Contains(slurms, strings.ToLower(word)):
			end()
		case list != nil:
			list = append(list, word)
		}
	}
	return all
}

// Read reads SchedulerParameters. What is wrong in it is left out.
func Read(text string) *Params {
	p := &Params{}
	for _, k := range known {
		if k.Field != "" {
			settings.SetTo(&k.Setting, p, k.Normal)
		}
	}
	var pairs []string // for the library, the last of each key
	for _, g := range Split(text) {
		why, ok := Wrong(g.Name, g.Value)
		if !ok || !g.Assigned {
			p.say(true, "auc_%s: there is no such setting; ignored", strings.TrimSuffix(g.Name+"="+g.Value, "="))
			continue
		}
		if instead := Instead(g.Name); instead != "" {
			p.say(false, "auc_%s is deprecated, and the next version does not have it: %s", g.Name, instead)
		}
		if why != "" {
			p.say(true, "auc_%s=%s: %s; using the default", g.Name, g.Value, why)
			continue
		}
		k := known[g.Name]
		if value, ok := k.Parse(g.Value); k.Field != "" && ok {
			settings.SetTo(&k.Setting, p, value)
		}
		if k.text != nil {
			*k.text(p) = g.Value
		}
		if k.engine {
			pairs = put(pairs, k.Key(), g.Value)
		}
	}
	p.fillIn(pairs)
	if _, after, ok := strings.Cut(strings.ToLower(text), "max_rpc_cnt="); ok {
		digits := after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
		n, _ := strconv.ParseInt(digits, 10, 32)
		p.MaxRPCs = int32(n)
	}
	return p
}

func (p *Params) say(err bool, format string, args ...any) {
	p.Said = append(p.Said, Said{err, fmt.Sprintf(format, args...)})
}

// put sets a pair in place of those with the key.
func put(pairs []string, key, value string) []string {
	pairs = slices.DeleteFunc(pairs, func(pair string) bool { return strings.HasPrefix(pair, key+"=") })
	return append(pairs, key+"="+value)
}

// fillIn sets what was not given, and what the plug-in goes by of that which is for the library.
func (p *Params) fillIn(pairs []string) {
	has := func(pair string) bool { return slices.Contains(pairs, pair) }
	var auction core.AuctionOptions
	if _, err := settings.Read(&auction, pairs); err != nil {
		auction = core.Preset("") // the library refuses them
	}
	p.Limit = int32(auction.Window + auction.Depth)
	p.Counts = !has("policy=ipsched") && !has("policy=auction1")
	// In the systems of the papers nobody else starts jobs.
	alone := has("policy=ipsched") || has("preset=paper") || has("paper=yes")
	for _, f := range []struct {
		field        *int32
		alone, usual int32
	}{{&p.BeyondWaits, 1, 0}, {&p.NetS, 0, 60}, {&p.AtOnce, 0, 1}} {
		if *f.field < 0 && alone {
			*f.field = f.alone
		} else if *f.field < 0 {
			*f.field = f.usual
		}
	}
	if p.Shadow != 0 { // these are questions to Slurm's selection, and starts
		p.Offers, p.NetS, p.AtOnce, p.Save = 0, 0, 0, 0
	}
	of := func(key string) int {
		return slices.IndexFunc(pairs, func(pair string) bool { return strings.HasPrefix(pair, key+"=") })
	}
	if of("solver") >= 0 && !has("solver=native") && of("worker") < 0 {
		pairs = put(pairs, "worker", Worker)
	}
	p.Engine = strings.Join(put(pairs, "deadline_ms", strconv.Itoa(int(p.DeadlineMs))), " ")
}
