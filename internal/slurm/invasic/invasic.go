// SPDX-License-Identifier: BSD-3-Clause

// Package invasic says what becomes of jobs of the partition that an invasive resource manager has
// (auc_invasic=PARTITION): they are held, and a part of their comment says what they want:
//
//	invasic=[CORES|MIN-MAX][,KIND][,urgent]
//
// in any order. What stands there then, which the iScheduler reads, is
//
//	invasic=MIN-MAX,KIND[,urgent][,held],points=N
package invasic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	key = "invasic="

	mostCores   = 65000
	usualPoints = 100 // a job's priority for the negotiation: --nice takes from this
	mostPoints  = 1000000
	mostShown   = 200 // longer notes are cut in a message

	socket = "/var/lib/aucsched-invasive/run/jobs" // where `aucsched ihypervisor` has it unless it is told otherwise
)

// Job is what slurmctld knows of a job that is submitted, or changed. Numbers are 0 where nothing is said.
type Job struct {
	Params    string // SchedulerParameters
	Partition string
	Comment   string // that the request asks for
	Before    string // a change: the job's comment
	QOS       string // that the job asks for, or has
	MostCores uint32 // of the partition

	Nodes, Tasks, CPUsPerTask uint32 // at least
	Nice                      int64
	Priority                  int64 // below 0: nothing is said

	Change    bool // and not a submission
	Elsewhere bool // other partitions as well; a change: to this one, or away from it
	NoScript  bool
	Array     bool
	Het       bool
	Begins    bool // later
	QOSCounts bool // Slurm enforces who may have which QOS
	Comments  bool // a change: it has a comment,
	Qualifies bool // a QOS
	Held      bool // a change: the job is held now,
	ByUser    bool // by its user; who asks
	Operator  bool // is an operator,
	Owner     bool // or the job's user
}

// Answer is what becomes of the request, and of the job. Empty texts leave what is there.
type Answer struct {
	Comment  string // of the request
	Was      string // of the job's record
	Socket   string // for the job's environment
	MinCPUs  uint32 // 0: as asked for
	Released bool   // the request's priority is of no account: the note says it
}

// want is what a job wants.
type want struct {
	low, high uint32 // cores that it can use
	kind      string
	urgent    bool
	held      bool // somebody wants it to wait: scontrol hold, sbatch -H
	points    uint32
}

// Judge answers, or has the words for the user.
func Judge(j *Job) (a Answer, err error) {
	if j.Change {
		return j.change()
	}
	return j.submit()
}

func (j *Job) refuse(why string) error {
	return fmt.Errorf("aucsched: partition %s: %s", j.Partition, why)
}

// refused says what a job of this partition can't have, or can't be changed to.
func (j *Job) refused() string {
	switch {
	case j.Elsewhere && j.Change:
		return "jobs can't be moved to it, or away from it"
	case j.Elsewhere:
		return "its jobs can't have other partitions as well"
	case j.NoScript:
		return "its jobs are batch jobs: use sbatch"
	case j.Array:
		return "its jobs can't be arrays"
	case j.Het:
		return "its jobs can't be heterogeneous"
	case j.Begins && j.Change:
		return "its jobs can't have a begin time"
	case j.Begins:
		return "its jobs can't have --begin"
	case j.Nodes > 1:
		return "its jobs have one node"
	}
	return ""
}

func (j *Job) submit() (a Answer, err error) {
	if why := j.refused(); why != "" {
		return a, j.refuse(why)
	}
	cores := uint32(0)
	if j.Tasks > 0 || j.CPUsPerTask > 0 {
		cores = max(j.Tasks, 1) * max(j.CPUsPerTask, 1)
	}
	w, err := parse(j.Comment, cores, false)
	if err != nil {
		return a, err
	}
	if err := j.settle(&w, true); err != nil {
		return a, err
	}
	points := usualPoints - j.Nice
	if j.Priority > 0 && j.Priority < math.MaxUint32 {
		points = j.Priority // slurmctld asks who may
	}
	w.points = uint32(min(max(points, 0), mostPoints))
	w.held = j.Priority == 0
	a.Comment = w.note(j.Comment)
	if cores == 0 {
		a.MinCPUs = w.low // what it is sure to get, for Slurm's accounts
	}
	a.Socket = param(j.Params, "auc_invasic_socket=")
	if !strings.HasPrefix(a.Socket, "/") {
		a.Socket = socket
	}
	return a, nil
}

// settle looks whether the partition has the cores, and who says that the job is urgent. With
// auc_invasic_urgent=QOS that QOS says it, and Slurm says who may have it only if it enforces QOS.
// With auc_invasic_urgent=* each job says so itself. Otherwise no job is urgent: it takes cores
// from those of other users. With `anew` the user has asked.
func (j *Job) settle(w *want, anew bool) error {
	if w.low > j.MostCores {
		return j.refuse("it has less cores")
	}
	urgent := param(j.Params, "auc_invasic_urgent=")
	if urgent == "*" {
		return nil
	}
	enforced := j.QOSCounts && urgent != "" && urgent == j.QOS
	if w.urgent && anew && !enforced {
		return j.refuse("urgent jobs are those of a QOS, see auc_invasic_urgent in slurm.conf")
	}
	w.urgent = enforced
	return nil
}

func (j *Job) change() (a Answer, err error) {
	if why := j.refused(); why != "" {
		return a, j.refuse(why)
	}
	before, err := parse(j.Before, 0, true)
	if err != nil || !strings.Contains(j.Before, "points=") {
		before.points = usualPoints // it was there before the plug-in; an administrator may release it
	}
	if err := j.hold(&before, &a); err != nil || !j.Comments && !j.Qualifies {
		return a, err
	}
	comment := cmp.Or(a.Was, j.Before)
	if j.Comments {
		comment = j.Comment
	}
	w, err := parse(comment, 0, true)
	if err == nil {
		err = j.settle(&w, j.Comments)
	}
	w.points, w.held = before.points, before.held // what it says of these is ours
	a.Comment = w.note(comment)
	return a, err
}

// hold holds a held job, or releases it, by a word of its note: it is held on until it was negotiated.
// Who releases a job whose note has no such word starts it.
func (j *Job) hold(w *want, a *Answer) error {
	release := j.Priority > 0
	switch {
	case !j.Held || j.Priority < 0 || !j.Operator && !j.Owner: // the last Slurm refuses
		return nil
	case release && !w.held && j.Operator:
		return nil
	case release && !w.held:
		return j.refuse("its jobs are held until they were negotiated")
	case release && !j.Operator && !j.ByUser: // an administrator's: Slurm refuses it
		return nil
	}
	w.held = !release
	a.Was, a.Released = w.note(j.Before), release
	return nil
}

// param is the value of the last setting with the key that has one, as in C.
func param(params, key string) (value string) {
	for _, s := range strings.FieldsFunc(params, func(r rune) bool { return r == ',' || r == ' ' }) {
		if v, ok := strings.CutPrefix(s, key); ok {
			value = v
		}
	}
	return value
}

// parse reads what a comment says. cores are those that the request names, 0: none; made: a note as it
// stands here is taken too.
func parse(comment string, cores uint32, made bool) (w want, err error) {
	var notes []string
	for part := range strings.SplitSeq(comment, ";") {
		if note, ok := strings.CutPrefix(part, key); ok {
			notes = append(notes, note)
		}
	}
	why := ""
	if len(notes) > 0 {
		for word := range strings.SplitSeq(notes[0], ",") {
			if why = w.take(word, made); why != "" {
				break
			}
		}
		if why == "" && len(notes) > 1 {
			why = "is there twice"
		}
	}
	if why = cmp.Or(why, w.complete(cores)); why != "" {
		note := strings.Join(notes[:min(len(notes), 1)], "")
		return w, fmt.Errorf("aucsched: --comment: %s%s: %s", key, note[:min(len(note), mostShown)], why)
	}
	return w, nil
}

// take reads a word between commas, and says what is wrong with it.
func (w *want) take(word string, made bool) (why string) {
	points, isPoints := strings.CutPrefix(word, "points=")
	switch {
	case slices.Contains([]string{"rigid", "moldable", "evolving", "malleable"}, word):
		if w.kind != "" {
			return "has two kinds"
		}
		w.kind = word
	case word == "urgent":
		w.urgent = true
	case made && word == "held":
		w.held = true
	case made && isPoints:
		n, err := strconv.ParseUint(points, 10, 31)
		if err != nil {
			return "points must be a number"
		}
		w.points = uint32(n)
	case word != "" && word[0] >= '0' && word[0] <= '9':
		if w.high > 0 {
			return "has two numbers of cores"
		}
		low, high, ranged := strings.Cut(word, "-")
		if !ranged {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 32)
		to, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || from < 1 || from > to || to > mostCores {
			return "its cores must be a number from 1, or MIN-MAX"
		}
		w.low, w.high = uint32(from), uint32(to)
	default:
		return "must be CORES or MIN-MAX, rigid, moldable, evolving or malleable, and urgent, with commas between"
	}
	return ""
}

func (w *want) complete(cores uint32) (why string) {
	if w.high == 0 {
		w.low = max(cores, 1)
		w.high = w.low
	}
	if cores > 0 && (cores < w.low || cores > w.high) {
		return "its cores must have --ntasks times --cpus-per-task among them"
	}
	if w.kind == "" {
		w.kind = map[bool]string{true: "moldable", false: "rigid"}[w.low < w.high]
	}
	if w.low < w.high && w.kind == "rigid" {
		return "a rigid job has one number of cores"
	}
	return ""
}

// note is the comment with what the iScheduler reads in place of what the user wrote.
func (w *want) note(comment string) string {
	parts := slices.DeleteFunc(strings.Split(comment, ";"), func(part string) bool { return strings.HasPrefix(part, key) })
	text := strings.Join(parts, ";")
	if text != "" {
		text += ";"
	}
	text += fmt.Sprintf("%s%d-%d,%s", key, w.low, w.high, w.kind)
	if w.urgent {
		text += ",urgent"
	}
	if w.held {
		text += ",held"
	}
	return fmt.Sprintf("%s,points=%d", text, w.points)
}
