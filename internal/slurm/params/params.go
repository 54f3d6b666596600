// SPDX-License-Identifier: BSD-3-Clause

// Package params reads what SchedulerParameters of a slurm.conf says to Slurm's plug-in:
// auc_NAME=VALUE, as docs/reference/settings.md has them. libaucsched.so reads it for the plug-in, and "aucsched
// check" before slurmctld does.
package params

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/settings"
)

// Params are the settings of the plug-in, with defaults for what is not given or wrong.
type Params struct {
	Enabled, Shadow, Locality, AtOnce, Preempt      int32 // 0 or 1; as are
	GPURanges, Alternatives                         int32
	Interval, DelayMs, DeadlineMs, NetS, UsersShare int32

	Limit   int32 // jobs handed to the library: window + depth
	MaxRPCs int32 // Slurm's max_rpc_cnt; 0: none

	Engine             string // settings of the library: "key=value key=value"
	Status, Partitions string
	// Said is for the log: what is wrong, or has no effect any more.
	Said []Said
}

// Said is a line for the log.
type Said struct {
	Error bool
	Text  string
}

// known is a setting: what it may be, where it goes, and what docs/reference/settings.md says of it.
type known struct {
	settings.Setting
	usual, values string
	engine, path  bool                    // it goes to the library; it is an absolute path
	text          func(p *Params) *string // of a path or a word
}

var noYes = []string{"no", "yes"}

// sites are the settings of a site.
var sites = []known{
	{Setting: settings.Setting{Name: "preset", Values: settings.Names(), Meaning: "what is scheduled for: see below"},
		usual: "default", engine: true},
	{Setting: settings.Setting{Name: "enabled", Field: "Enabled", Values: noYes, Normal: 1,
		Meaning: "no: Slurm's own schedulers alone; running jobs are not touched"}},
	{Setting: settings.Setting{Name: "mode", Field: "Shadow", Values: []string{"on", "shadow"},
		Meaning: "shadow: the auction decides and starts nothing"}},
	{Setting: settings.Setting{Name: "partitions",
		Meaning: "the auction for jobs of these partitions alone; others are Slurm's"},
		usual: "all", values: "names, `a,b`", text: func(p *Params) *string { return &p.Partitions }},
	{Setting: settings.Setting{Name: "users_share", Field: "UsersShare", High: 100, Normal: 100,
		Meaning: "the auction for so many percent of the users, always the same ones"}},
	{Setting: settings.Setting{Name: "interval", Field: "Interval", Low: 1, High: 3600, Normal: 3,
		Meaning: "seconds from one cycle to the next"}},
	{Setting: settings.Setting{Name: "deadline_ms", Field: "DeadlineMs", Low: 1, High: settings.MaxDeadline.Milliseconds(), Normal: 500,
		Meaning: "milliseconds after which a decision is due, whatever it has come to"}},
	{Setting: settings.Setting{Name: "objective", Values: settings.Find("objective").Values, Meaning: settings.Find("objective").Meaning},
		usual: "the preset's", engine: true},
	{Setting: settings.Setting{Name: "preempt", Field: "Preempt", Values: noYes, Normal: 1,
		Meaning: "no: Slurm preempts for jobs that find no place, job by job"}},
	{Setting: settings.Setting{Name: "gpu_ranges", Field: "GPURanges", Values: noYes, Normal: 1,
		Meaning: "no: jobs with ranges of GPUs are refused at submission, for sites with rules of their own"}},
	{Setting: settings.Setting{Name: "alternatives", Field: "Alternatives", Values: noYes, Normal: 1,
		Meaning: "no: the same for jobs with alternative requests"}},
	{Setting: settings.Setting{Name: "locality", Field: "Locality", Values: noYes,
		Meaning: "yes: jobs may name an input file, and prefer nodes that hold it"}},
	{Setting: settings.Setting{Name: "invasic", Meaning: "jobs of this partition are negotiated by an invasive resource manager"},
		usual: "none", values: "a partition"},
	{Setting: settings.Setting{Name: "invasic_socket", Meaning: "where its jobs find the manager"},
		usual: "/var/lib/aucsched-invasive/run/jobs", path: true},
	{Setting: settings.Setting{Name: "invasic_urgent", Meaning: "the QOS whose jobs are urgent there; `*`: each job says so itself"},
		usual: "none", values: "a QOS, `*`"},
	{Setting: settings.Setting{Name: "status", Meaning: "the file that `aucsched status` reads"},
		usual: "StateSaveLocation/aucsched.status", path: true, text: func(p *Params) *string { return &p.Status }},
	{Setting: settings.Setting{Name: "record", Meaning: "each cycle as it was given to the library, and its decisions, " +
		"up to 64 MB; a new `slurmctld` starts a new record. `cshim/ctest/replay.c` repeats them"},
		usual: "none", path: true, engine: true},
	{Setting: settings.Setting{Name: "library", Meaning: "libaucsched.so; another one is loaded when `slurmctld` is restarted"},
		usual: "beside the plug-ins", path: true},
}

// gone are settings that have a fixed value now; what the log says of them. With auc_lab=yes, which is
// for tests and experiments, those that are in labs have an effect all the same.
var gone = map[string]string{
	"delay_ms":     "a cycle follows a submission after 1000 ms, or sooner",
	"start_ms":     "starts hold Slurm's locks for 500 ms at most",
	"lock_percent": "cycles hold Slurm's locks for 10% of the time at most",
	"save":         "starts are always saved before they are launched",
	"beyond":       "Slurm may start the jobs behind those that take part",
	"net_s":        "a job that the auction passes over although Slurm could start it is Slurm's after 60 s",
	"at_once":      "a job that nobody waits before is always started at its submission",
	"slurm_bids":   "there are no such bids any more: they gained nothing",
	"file_memory":  "a node keeps as much of input files as its RealMemory",
	"file_age":     "a file is taken to be gone when it was not read for a day",
	"shadow":       "the file is StateSaveLocation/aucsched.shadow",
	"shadow_mb":    "16 MB are kept",
	"policy":       "auction2 decides; the older policies are for simulations",
	"node_limits":  "auction2 decides; the older policies are for simulations",
	"on_timeout":   "auction2 decides; the older policies are for simulations",
	"solver":       "the solver of the library decides",
	"worker":       "the solver of the library decides",
	"keep_holes":   "it is always on",
	"paper":        "use auc_preset=paper",
	"throughput":   "use auc_preset=packed",
}

// labs are the settings of tests and experiments.
var labs = []known{
	{Setting: settings.Setting{Name: "delay_ms", Field: "DelayMs", High: 60000, Normal: 1000}},
	{Setting: settings.Setting{Name: "net_s", Field: "NetS", High: 86400, Normal: -1}},
	{Setting: settings.Setting{Name: "at_once", Field: "AtOnce", Values: noYes, Normal: -1}},
	{Setting: settings.Setting{Name: "policy", Values: []string{"auction2", "auction1", "ipsched"}}, engine: true},
	{Setting: settings.Setting{Name: "node_limits", Values: noYes}, engine: true},
	{Setting: settings.Setting{Name: "on_timeout", Values: []string{"incumbent", "halve"}}, engine: true},
}

func init() {
	for _, s := range settings.All {
		if s.Name == "objective" || s.Name == "goal" || s.Name == "keep_holes" {
			continue
		}
		s.Field = "" // of another struct
		labs = append(labs, known{Setting: s, engine: true})
		gone[s.Name] = "presets say it"
	}
}

// find is a setting of one of the tables, nil if there is none.
func find(name string, tables ...[]known) *known {
	for _, table := range tables {
		if i := slices.IndexFunc(table, func(k known) bool { return k.Name == name }); i >= 0 {
			return &table[i]
		}
	}
	return nil
}

// Names are those of all settings, without "auc_".
func Names() (names []string) {
	for i := range sites {
		names = append(names, sites[i].Name)
	}
	return names
}

// Wrong says what is wrong with a setting of a site, "" if nothing is.
func Wrong(g Given) string { return wrong(find(g.Name, sites), g) }

func wrong(k *known, g Given) string {
	switch {
	case k == nil:
		return "there is no such setting"
	case !g.Assigned:
		return "a value is missing"
	}
	return k.wrong(g.Value)
}

// forWhom reports whether a name, or the one that was meant, is of a setting that says for which jobs
// the auction is. Where one is wrong the auction is off: it must not have more jobs than was meant.
func forWhom(name string) bool {
	limits := []string{"enabled", "mode", "partitions", "users_share"}
	return slices.Contains(limits, name) || slices.Contains(limits, input.Nearest(name, Names()))
}

// Effect is what a wrong setting does, and which one was meant if there is none of that name.
func Effect(name string) (effect string) {
	unknown, meant := find(name, sites) == nil, input.Nearest(name, Names())
	switch {
	case forWhom(name):
		effect = "the auction is off"
	case unknown:
		effect = "ignored"
	default:
		effect = "the default is used"
	}
	if unknown && meant != "" {
		effect += "; did you mean auc_" + meant + "?"
	}
	return effect
}

func (k *known) wrong(value string) string {
	_, parses := k.Parse(value)
	switch {
	case k.Values != nil && !parses:
		return "must be " + strings.Join(k.Values, ", ")
	case k.Values == nil && k.High > 0 && !parses:
		return fmt.Sprintf("must be a whole number from %d to %d", k.Low, k.High)
	case k.path && !filepath.IsAbs(value):
		return "must be an absolute path"
	case value == "":
		return "must not be empty"
	}
	return ""
}

// Instead says what became of a setting that earlier versions had; "" for all others.
func Instead(name string) string { return gone[name] }

// Given is a word of SchedulerParameters that begins with "auc_".
type Given struct {
	Name, Value string // without "auc_"
	Assigned    bool   // it has a value
}

// String is the word.
func (g Given) String() string {
	if !g.Assigned {
		return "auc_" + g.Name
	}
	return "auc_" + g.Name + "=" + g.Value
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

// Split finds the settings of a text in their order, and what are Slurm's own words. auc_partitions=a,b
// has commas too.
func Split(text string) (all []Given, slurm []string) {
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
		case !assigned && list != nil && !slices.Contains(slurms, strings.ToLower(word)):
			list = append(list, word)
		default:
			end()
			slurm = append(slurm, word)
		}
	}
	return all, slurm
}

// Read reads SchedulerParameters. What is wrong in it is left out.
func Read(text string) *Params {
	p := &Params{}
	for _, table := range [][]known{sites, labs} {
		for i := range table {
			table[i].Set(p, table[i].Normal)
		}
	}
	given, _ := Split(text)
	tables := [][]known{sites}
	if slices.Contains(given, Given{"lab", "yes", true}) {
		tables = append(tables, labs)
	}
	var pairs []string // for the library, the last of each key
	off := false
	for _, g := range given {
		k := find(g.Name, tables...)
		switch instead := Instead(g.Name); {
		case k == nil && instead != "":
			p.say(false, "auc_%s has no effect any more, and is an error in the next version: %s", g.Name, instead)
			continue
		case g.Name == "lab":
			continue
		}
		if why := wrong(k, g); why != "" {
			p.say(true, "%s: %s; %s", g, why, Effect(g.Name))
			off = off || forWhom(g.Name)
			continue
		}
		if value, ok := k.Parse(g.Value); ok {
			k.Set(p, value)
		}
		if k.text != nil {
			*k.text(p) = g.Value
		}
		if k.engine {
			pairs = put(pairs, k.Key(), g.Value)
		}
	}
	p.fillIn(pairs)
	if off {
		p.Enabled = 0
	}
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
	var auction core.AuctionOptions
	if _, err := settings.Read(&auction, pairs); err != nil {
		auction = core.Preset("") // the library refuses them
	}
	p.Limit = int32(auction.Window + auction.Depth)
	net, atOnce := int32(60), int32(1)
	if slices.Contains(pairs, "policy=ipsched") || slices.Contains(pairs, "preset=paper") { // nobody else starts jobs there
		net, atOnce = 0, 0
	}
	if p.NetS < 0 {
		p.NetS = net
	}
	if p.AtOnce < 0 {
		p.AtOnce = atOnce
	}
	if p.Shadow != 0 { // these are questions to Slurm's selection, and starts
		p.NetS, p.AtOnce = 0, 0
	}
	p.Engine = strings.Join(put(pairs, "deadline_ms", strconv.Itoa(int(p.DeadlineMs))), " ")
}
