// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package soak

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// noon is when the runs of these tests begin.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * 1e9)) }

// said makes records of job 7 from words such as "start@3", "end@5", "start2@9" of another number,
// or "start+1@9" of a higher restart count.
func said(k Key, words string) []Record {
	var out []Record
	for word := range strings.FieldsSeq(words) {
		what, when, _ := strings.Cut(word, "@")
		r := Record{Key: k, ID: 7, End: strings.HasPrefix(what, "end"), Line: word}
		rest := strings.TrimPrefix(strings.TrimPrefix(what, "start"), "end")
		if number, ok := strings.CutPrefix(rest, "+"); ok {
			fmt.Sscan(number, &r.Restart)
		} else if rest != "" {
			fmt.Sscan(rest, &r.ID)
		}
		var seconds float64
		fmt.Sscan(when, &seconds)
		r.At = at(seconds)
		out = append(out, r)
	}
	return out
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name      string
		records   string // of the job, that was accepted at 1 s
		slurm     string // its states in the completion log
		sacct     string // its last state there
		done      string // what its user did
		kill      float64
		form      Form
		refused   bool
		cancelled bool // by the helper
		stuck     time.Duration
		want      string // words, in order
	}{
		{name: "ran once", records: "start@2 end@5", slurm: "COMPLETED"},
		{name: "ran once, of array", records: "start@2 end@5", slurm: "COMPLETED", form: "array"},
		{name: "never began", want: "lost"},
		{name: "never began, long before a kill", kill: 100, want: "lost"},
		{name: "never began, just before a kill", kill: 3, want: "forgotten"},
		{name: "never began, just before a kill that Slurm outlived", kill: 3, slurm: "TIMEOUT", want: "lost"},
		{name: "never began, Slurm says it did", slurm: "COMPLETED", want: "lost phantom"},
		{name: "cut short", records: "start@2", slurm: "NODE_FAIL", want: "interrupted lost"},
		{name: "cut short and run again", records: "start@2 start+1@9 end+1@12", slurm: "NODE_FAIL COMPLETED", want: "interrupted"},
		{name: "cut short by its user's requeue", records: "start@2 start+1@9 end+1@12", slurm: "COMPLETED", done: "requeue"},
		{name: "cut short twice, requeued once", records: "start@2 start+1@9 start+2@12 end+2@15",
			slurm: "COMPLETED", done: "requeue", want: "interrupted"},
		{name: "ran twice", records: "start@2 end@5 start+1@9 end+1@12", slurm: "COMPLETED", want: "doubled"},
		{name: "ran twice under two numbers", records: "start@2 end@5 start9@9 end9@12", slurm: "COMPLETED", want: "doubled"},
		{name: "ran twice, requeued", records: "start@2 end@5 start+1@9 end+1@12", slurm: "COMPLETED", done: "requeue"},
		{name: "ran three times, requeued once", records: "start@2 end@5 start+1@9 end+1@12 start+2@13 end+2@15",
			slurm: "COMPLETED", done: "requeue", want: "doubled"},
		{name: "ran twice at once", records: "start@2 start+1@3 end@5 end+1@6", slurm: "COMPLETED", done: "requeue", want: "doubled"},
		{name: "launched twice at once", records: "start@2 start@3 end@5 end@6", slurm: "COMPLETED", done: "requeue", want: "doubled"},
		{name: "the second of two was cut short", records: "start@2 start+1@3 end@5", slurm: "COMPLETED", done: "requeue", want: "doubled"},
		{name: "cancelled before it began", done: "cancel", slurm: "CANCELLED"},
		{name: "cancelled while it ran", records: "start@2", done: "cancel", slurm: "CANCELLED"},
		{name: "cancelled, ran on, and again", records: "start@2 end@5 start+1@9 end+1@12", done: "cancel", want: "doubled"},
		{name: "spoiled", done: "spoil"},
		{name: "held", done: "hold", want: "lost"},
		{name: "suspended", done: "suspend", records: "start@2", slurm: "TIMEOUT", want: "interrupted lost"},
		{name: "suspended just before a kill", done: "suspend", kill: 5, records: "start@2", slurm: "TIMEOUT"},
		{name: "updated", done: "update", records: "start@2 end@5", slurm: "COMPLETED"},
		{name: "nobody answered, it was not taken", refused: true},
		{name: "nobody answered, it ran", refused: true, records: "start@2 end@5", slurm: "COMPLETED"},
		{name: "nobody answered, it ran twice", refused: true, records: "start@2 end@5 start+1@9 end+1@12", want: "doubled"},
		{name: "srun was over while slurmctld was away", form: Srun, records: "start@2 end@5", slurm: "CANCELLED", cancelled: true},
		{name: "srun was cancelled by nobody", form: Srun, records: "start@2 end@5", slurm: "CANCELLED", want: "unsaid"},
		{name: "srun failed", form: Srun, refused: true},
		{name: "srun was cut short", form: Srun, refused: true, records: "start@2", want: "interrupted"},
		{name: "salloc ran twice", form: Salloc, records: "start@2 end@5 start@7 end@8", want: "doubled"},
		{name: "ended, and Slurm says another thing", records: "start@2 end@5", slurm: "COMPLETED TIMEOUT", want: "unsaid"},
		{name: "ended, and sacct says another thing", records: "start@2 end@5", slurm: "COMPLETED", sacct: "RUNNING", want: "unsaid"},
		{name: "ended, and sacct says so", records: "start@2 end@5", slurm: "COMPLETED", sacct: "COMPLETED"},
		{name: "never began, sacct says it did", sacct: "COMPLETED", want: "lost phantom"},
		{name: "stuck", records: "start@2 end@5", slurm: "COMPLETED", stuck: 2 * time.Minute, want: "stuck"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, k := Submission{Form: Batch}, Key{Try: 1}
			switch test.form {
			case "array":
				s.Tasks, k.Task = 1, 1
			case "":
			default:
				s.Form = test.form
			}
			o := Outcome{Plan: &Plan{Submissions: []Submission{s}}, Records: said(k, test.records),
				Attempts: []Attempt{{Key: Key{Try: 1}, ID: 7, Accepted: !test.refused, At: at(1)}}}
			for state := range strings.FieldsSeq(test.slurm) {
				o.Ended = append(o.Ended, slurmtest.Ended{ID: 7, Name: k.Name(),
					State: state, Fields: map[string]string{"ArrayTaskId": fmt.Sprint(k.Task)}})
			}
			if test.sacct != "" {
				o.Accounts = map[Key]string{k: test.sacct}
			}
			if test.done != "" {
				o.Done = []Done{{Action: Action{Verb: Verb(test.done)}, Key: Key{Try: 1}, At: at(3)}}
			}
			if test.kill > 0 {
				o.Kills = []time.Time{at(test.kill)}
			}
			if test.cancelled {
				o.Helps = []Help{{What: "cancel", Of: "7|" + k.Name() + "|RUNNING|None"}}
			}
			if test.stuck > 0 {
				o.Watch.Stuck = map[string]time.Duration{k.String(): test.stuck}
			}
			v := Judge(&o)
			var words []string
			for _, f := range v.Findings {
				words = append(words, string(f.Word))
			}
			require.Equal(t, test.want, strings.Join(words, " "))
			require.Equal(t, !test.refused, v.Jobs == 1)
		})
	}
}

func TestCompare(t *testing.T) {
	good := func() *Outcome {
		return &Outcome{Plan: &Plan{Submissions: []Submission{{Form: Batch}}}, Records: said(Key{Try: 1}, "start@2 end@5"),
			Attempts: []Attempt{{Key: Key{Try: 1}, ID: 7, Accepted: true, At: at(1)}}, Log: map[string]int{}}
	}
	with := func(change func(*Outcome)) *Outcome {
		o := good()
		change(o)
		return o
	}
	lost := with(func(o *Outcome) { o.Records = nil })
	for _, test := range []struct {
		name        string
		stock, ours *Outcome
		want        []string
	}{
		{"both good", good(), good(), nil},
		{"both bad", lost, lost, nil},
		{"stock bad", lost, good(), nil},
		{"ours bad", good(), lost, []string{"lost: 1, stock 0"}},
		{"ours bad, alone", nil, lost, []string{"lost: 1, stock 0"}},
		{"a line in the log", good(), with(func(o *Outcome) { o.Log["fatal"] = 1 }), []string{"fatal: 1, stock 0"}},
		{"any error line", good(), with(func(o *Outcome) { o.Log["errors in all"] = 1 }), nil},
		{"given twice", good(), with(func(o *Outcome) { o.Referee.Violations = make([]slurmtest.Violation, 2) }),
			[]string{"given twice: 2, stock 0"}},
		{"given twice, to one that was suspended", good(), with(func(o *Outcome) {
			o.Done = []Done{{Action: Action{Verb: Suspend}, Key: Key{Try: 1}}}
			o.Referee.Violations = []slurmtest.Violation{{Job: 7, What: "n0001: core 0 is also job 9's"},
				{Job: 9, What: "n0001: core 0 is also job 7's"}, {Job: 8, What: "n0001: core 0 is also job 77's"}}
		}), []string{"given twice: 1, stock 0"}},
		{"a drained node", good(), with(func(o *Outcome) { o.Helps = []Help{{What: "resume node"}} }),
			[]string{"nodes resumed: 1, stock 0"}},
		{"turned off", good(), with(func(o *Outcome) { o.Watch.NotOn = map[string]int{"failing: x": 3} }),
			[]string{"seconds failing: x: 3, stock 0"}},
		{"left over", good(), with(func(o *Outcome) { o.Left = []string{"7|soak0.1|PENDING|"} }),
			[]string{"left in the queue: 1, stock 0"}},
		{"a fault that failed", good(), with(func(o *Outcome) { o.Faults = []string{"kill: no"} }),
			[]string{"faults that failed: 1, stock 0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Compare(1, time.Minute, "22.05.8", test.stock, test.ours)
			require.Equal(t, test.want, r.Worse)
		})
	}
}

func TestPlanDependsOnTheSeedAlone(t *testing.T) {
	a, b, other := NewPlan(7, 10*time.Minute, Usual), NewPlan(7, 10*time.Minute, Usual), NewPlan(8, 10*time.Minute, Usual)
	require.Equal(t, a, b)
	require.NotEqual(t, a.Submissions, other.Submissions)
	require.NotEqual(t, a.Faults, other.Faults)
	kinds, verbs, forms := map[Kind]int{}, map[Verb]int{}, map[Form]int{}
	for _, f := range NewPlan(7, time.Hour, Usual).Faults {
		kinds[f.Kind]++
	}
	for _, x := range NewPlan(7, time.Hour, Usual).Actions {
		verbs[x.Verb]++
	}
	for _, s := range a.Submissions {
		forms[s.Form]++
	}
	require.Len(t, verbs, 6, "%v", verbs)
	require.Len(t, forms, 3, "%v", forms)
	require.GreaterOrEqual(t, len(kinds), 5, "%v", kinds)
}

func TestRecords(t *testing.T) {
	records, err := ParseRecords("start 3 1 0 12 0 n0006 1795448240.144807157\nend 3 2 7 13 1 - 1795448241.5\n")
	require.NoError(t, err)
	require.Len(t, records, 2)
	require.Equal(t, Key{3, 1, 0}, records[0].Key)
	require.False(t, records[0].End)
	require.Equal(t, int64(1795448240144), records[0].At.UnixMilli())
	require.Equal(t, Record{Key: Key{3, 2, 7}, End: true, ID: 13, Restart: 1, Node: "-",
		At: records[1].At, Line: "end 3 2 7 13 1 - 1795448241.5"}, records[1])
	for _, bad := range []string{"start 3 1 0 12", "begin 3 1 0 12 0 n 1.5", "start x 1 0 12 0 n 1.5"} {
		_, err := ParseRecords(bad + "\n")
		require.Error(t, err, bad)
	}
	for _, k := range []Key{{0, 1, 0}, {312, 20, 0}} {
		parsed, ok := ParseName(k.Name())
		require.True(t, ok)
		require.Equal(t, k, parsed)
	}
	for _, bad := range []string{"", "soak", "soak1", "soak1.2x", "sh"} {
		_, ok := ParseName(bad)
		require.False(t, ok, bad)
	}
}

func TestFitMemory(t *testing.T) {
	var samples []Sample
	for i := range 200 { // 10 MB an hour, in two processes
		s := Sample{At: time.Duration(i) * time.Minute, Pid: 1 + i/150, KB: 50<<10 + i*1024/6}
		samples = append(samples, s)
	}
	m := FitMemory(samples)
	require.InDelta(t, 10, m.MBPerHour, 0.1)
	require.InDelta(t, 50, m.FirstMB, 0.01)
	require.Equal(t, m.MaxMB, m.LastMB)
	require.Zero(t, FitMemory(nil))
	for i := range samples {
		samples[i].KB = 50 << 10
	}
	require.InDelta(t, 0, FitMemory(samples).MBPerHour, 1e-9)
}

func TestParseAccounts(t *testing.T) {
	states, running := parseAccounts(
		"7|soak3.1|NODE_FAIL\n7|soak3.1|COMPLETED\n8_2|soak4.1|CANCELLED by 0\n9|soak5.1|RUNNING\n10|sh|RUNNING\n\n")
	require.Equal(t, map[Key]string{{3, 1, 0}: "COMPLETED", {4, 1, 2}: "CANCELLED", {5, 1, 0}: "RUNNING"}, states)
	require.Equal(t, 1, running)
}

func TestHelp(t *testing.T) {
	jobs := parseQueue("17_3|soak4.1|PENDING|launch failed requeued held\n" +
		"18|soak5.1|RUNNING|None\n19|other|PENDING|Priority\n" +
		"20|soak6.2|PENDING|BeginTime\n21|soak7.1|SUSPENDED|None\n22|soak8.1|PENDING|JobHeldUser\n")
	require.Len(t, jobs, 5)
	require.Equal(t, Key{4, 1, 3}, jobs[0].key)
	var got []string
	for _, j := range jobs {
		argv, after := helpFor(j)
		got = append(got, fmt.Sprintf("%s %v", strings.Join(argv, " "), after))
	}
	require.Equal(t, []string{"release 17_3 0s", " 0s", "update JobId=20 StartTime=now 0s", "resume 21 20s", "release 22 20s"}, got)
}
