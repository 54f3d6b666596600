// SPDX-License-Identifier: BSD-3-Clause

// Package check looks at a slurm.conf as the plug-ins would, before slurmctld is restarted with it.
package check

import (
	"cmp"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/slurm/params"
)

// Finding is what a file says that is wrong, or worth to know.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"` // 0: nothing says it
	Field   string `json:"field"`
	Value   string `json:"value,omitempty"`
	Text    string `json:"text"`
	Problem bool   `json:"problem"` // else a note
}

// String is the finding in a line.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.Value != "" {
		return fmt.Sprintf("%s: %s=%s: %s", at, f.Field, f.Value, f.Text)
	}
	return fmt.Sprintf("%s: %s: %s", at, f.Field, f.Text)
}

// Check reads a slurm.conf and says what it finds, the problems first. The error is
// that it can't be read.
func Check(path string) ([]Finding, error) {
	conf, err := conf.Read(path)
	if err != nil {
		return nil, err
	}
	c := checker{path: path, conf: conf, partitions: map[string]bool{}}
	for i := range conf.Lines {
		if l := &conf.Lines[i]; l.Is("PartitionName") {
			c.partitions[l.Fields[0].Value] = true
		}
	}
	c.file()
	c.settings()
	c.plugins()
	c.left()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		switch {
		case a.Problem == b.Problem:
			return cmp.Compare(a.Line, b.Line)
		case a.Problem:
			return -1
		}
		return 1
	})
	return c.found, nil
}

type checker struct {
	path       string
	conf       *conf.Conf
	partitions map[string]bool
	found      []Finding
}

func (c *checker) add(line *conf.Line, field, value, text string, problem bool) {
	f := Finding{File: c.path, Field: field, Value: value, Text: text, Problem: problem}
	if line != nil {
		f.File, f.Line = line.File, line.Number
	}
	c.found = append(c.found, f)
}

func (c *checker) problem(line *conf.Line, field, value, text string) {
	c.add(line, field, value, text, true)
}

func (c *checker) note(line *conf.Line, field, value, text string) {
	c.add(line, field, value, text, false)
}

// file says of what Slurm can't read, and of files that are not where Slurm would look for them.
func (c *checker) file() {
	for _, f := range c.conf.Faults[:min(len(c.conf.Faults), mostFindings)] {
		c.found = append(c.found, Finding{File: f.File, Line: f.Line, Field: "syntax", Text: f.Err.Error(), Problem: true})
	}
	before := map[string]*conf.Line{}
	for i := range c.conf.Lines {
		l := &c.conf.Lines[i]
		for _, key := range []string{"SchedulerParameters", "PluginDir", "JobSubmitPlugins", "CliFilterPlugins"} {
			if !l.Is(key) {
				continue
			}
			if first := before[key]; first != nil {
				c.note(l, key, l.Fields[0].Value,
					fmt.Sprintf("given before in line %d of %s, which does not count then", first.Number, first.File))
			}
			before[key] = l
		}
	}
	for _, f := range c.conf.Moved {
		c.found = append(c.found, Finding{File: f.File, Line: f.Line, Field: f.Field, Value: f.Value, Text: f.Err.Error(), Problem: true})
	}
}

// shim is the plug-in that shows whose directory one is, since Slurm has one of that name too.
const shim = "select_cons_tres.so"

// plugins looks at PluginDir, and at what of ours is to be loaded.
func (c *checker) plugins() {
	dirs, line, ok := c.conf.Last("PluginDir")
	if !ok {
		c.problem(nil, "PluginDir", "", "must name the directory of aucsched's plug-ins, and behind it Slurm's own")
	} else {
		c.directories(dirs, line)
	}
	for _, x := range []struct{ key, missing, want, why string }{
		{"SelectType", "", "select/cons_tres", "the auction is for select/cons_tres alone"},
		{"SchedulerType", "sched/backfill", "sched/backfill", "leave it at sched/backfill: with another one the auction is not loaded"},
	} {
		value, line, ok := c.conf.Last(x.key)
		switch {
		case ok && value == "sched/aucsched":
			c.note(line, x.key, value, "heterogeneous jobs never start with it: sched/backfill loads the auction too")
		case ok && value != x.want:
			c.problem(line, x.key, value, x.why)
		case !ok && x.missing != x.want:
			c.note(nil, x.key, "", "not given: older Slurms take another than select/cons_tres then, and the auction is for that alone")
		}
	}
	for _, x := range []struct{ key, prefix, why string }{
		{"JobSubmitPlugins", "job_submit/", "without aucsched there are no ranges of GPUs and no alternative requests"},
		{"CliFilterPlugins", "cli_filter/", "without cli_filter/aucsched srun and salloc take no ranges of GPUs"},
	} {
		value, line, _ := c.conf.Last(x.key)
		has := slices.ContainsFunc(strings.Split(value, ","), func(s string) bool {
			return strings.TrimPrefix(strings.TrimSpace(s), x.prefix) == "aucsched"
		})
		if !has {
			c.note(line, x.key, value, x.why)
		}
	}
}

// directories says whether ours comes first, Slurm's own behind it, and both are of one version.
func (c *checker) directories(list string, line *conf.Line) {
	ours, stock := "", ""
	for dir := range strings.SplitSeq(list, ":") {
		switch {
		case !conf.Exists(dir):
			c.problem(line, "PluginDir", dir, "is not there: no command and no daemon of Slurm would start")
		case conf.Exists(filepath.Join(dir, "libaucsched.so")):
			if ours == "" && stock != "" {
				c.problem(line, "PluginDir", dir, "must come before "+stock+", which has a "+shim+" too")
			}
			ours = cmp.Or(ours, dir)
		case conf.Exists(filepath.Join(dir, shim)):
			stock = cmp.Or(stock, dir)
		}
	}
	switch {
	case ours == "":
		c.problem(line, "PluginDir", list, "none of them has aucsched's plug-ins (libaucsched.so)")
		return
	case stock == "":
		c.problem(line, "PluginDir", list, "Slurm's own directory is missing behind "+ours)
		return
	}
	for _, name := range []string{"aucsched-engine", shim, "sched_backfill.so", "job_submit_aucsched.so", "cli_filter_aucsched.so"} {
		if !conf.Exists(filepath.Join(ours, name)) {
			c.problem(line, "PluginDir", ours, name+" is missing there")
		}
	}
	mine, err := pluginVersion(filepath.Join(ours, shim))
	if err != nil {
		c.problem(line, "PluginDir", ours, err.Error())
		return
	}
	theirs, err := pluginVersion(filepath.Join(stock, shim))
	switch {
	case err != nil:
		c.problem(line, "PluginDir", stock, err.Error())
	case mine != theirs:
		c.problem(line, "PluginDir", ours, fmt.Sprintf("made for Slurm %s, and this is %s: slurmctld would not start", mine, theirs))
	}
}

// pluginVersion is the version of Slurm that a plug-in was made for: its plugin_version.
func pluginVersion(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s can't be read: %w", filepath.Base(path), err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	for _, s := range symbols {
		if s.Name != "plugin_version" {
			continue
		}
		for _, section := range f.Sections {
			if section.Type == elf.SHT_NOBITS || s.Value < section.Addr || s.Value+4 > section.Addr+section.Size {
				continue
			}
			var word [4]byte
			if _, err := section.ReadAt(word[:], int64(s.Value-section.Addr)); err != nil {
				return "", fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
			n := f.ByteOrder.Uint32(word[:])
			return fmt.Sprintf("%02d.%02d.%d", n>>16&0xff, n>>8&0xff, n&0xff), nil
		}
	}
	return "", fmt.Errorf("%s has no plugin_version: it is no plug-in of Slurm", filepath.Base(path))
}

// left says which lines of the site leave jobs to Slurm: see docs/reference/slurm-jobs.md.
func (c *checker) left() {
	parameters, line, _ := c.conf.Last("SelectTypeParameters")
	for word := range strings.SplitSeq(parameters, ",") {
		switch name := strings.ToUpper(strings.TrimSpace(word)); {
		case strings.HasPrefix(name, "CR_SOCKET"):
			c.note(line, "SelectTypeParameters", word,
				"whole sockets are given: all jobs of nodes with several threads a core are left to Slurm")
		case strings.HasPrefix(name, "CR_CPU"), name == "CR_ONE_TASK_PER_CORE":
			c.note(line, "SelectTypeParameters", word, "jobs on nodes with several threads a core are left to Slurm")
		}
	}
	mode, line, _ := c.conf.Last("PreemptMode")
	if strings.Contains(strings.ToUpper(mode), "SUSPEND") || strings.Contains(strings.ToUpper(mode), "GANG") {
		c.note(line, "PreemptMode", mode, "jobs that may preempt so are left to Slurm")
	}
	for i := range c.conf.Lines {
		l := &c.conf.Lines[i]
		if !l.Is("PartitionName") {
			continue
		}
		key := "OverSubscribe"
		share, given := l.Get(key)
		if !given { // Shared is its older name
			key = "Shared"
			share, _ = l.Get(key)
		}
		if strings.HasPrefix(strings.ToUpper(share), "FORCE") {
			c.note(l, key, share, "its jobs share cores, and are left to Slurm")
		}
		if topology, ok := l.Get("Topology"); ok {
			c.note(l, "Topology", topology, "jobs of a partition with a topology of its own are left to Slurm")
		}
	}
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
	begin := len(c.found)
	ours, _ := params.Split(text)
	for _, g := range ours {
		if len(c.found)-begin >= mostFindings {
			c.problem(line, "SchedulerParameters", "", "the rest was not looked at")
			break
		}
		key := "auc_" + g.Name
		why, instead := params.Wrong(g), params.Instead(g.Name)
		switch {
		case instead != "":
			c.note(line, key, g.Value, "has no effect any more, and is an error in the next version: "+instead)
		case g.Name == "lab":
			c.note(line, key, g.Value, "is for tests and experiments: it makes settings count that have fixed values now")
		case why != "":
			c.problem(line, key, g.Value, why+"; "+params.Effect(g.Name))
		default:
			if before, twice := given[g.Name]; twice && before != g.Value {
				c.note(line, key, g.Value, fmt.Sprintf("given before as %s: the last one counts", before))
			}
			given[g.Name] = g.Value
		}
	}
	c.together(line, given)
}

// together looks for settings that do not go with each other, or with the rest of the file.
func (c *checker) together(line *conf.Line, given map[string]string) {
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
	if file := given["library"]; file != "" && !conf.Exists(file) {
		c.problem(line, "auc_library", file, "is not there")
	}
	for _, name := range []string{"status", "record"} {
		if file := given[name]; file != "" && !conf.Exists(filepath.Dir(file)) {
			c.problem(line, "auc_"+name, file, "its directory is not there")
		}
	}
}
