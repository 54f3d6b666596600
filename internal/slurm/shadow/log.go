// SPDX-License-Identifier: BSD-3-Clause

// Package shadow reads what the plug-ins write with auc_mode=shadow, which jobs the auction would
// have started and what Slurm did, and compares the two.
package shadow

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Limits of what is read.
const (
	lineLimit = 1 << 20  // bytes
	fileLimit = 4 << 30  // bytes
	runLimit  = 10 << 20 // runs of jobs
	maxTime   = 1 << 36  // seconds since 1970, and all other numbers, of which millions are added up
)

// Place is where a job is, or would have been, from a time on.
type Place struct {
	Time    int64  `json:"time"` // seconds since 1970
	CPUs    int64  `json:"cpus"`
	GPUs    int64  `json:"gpus"` // on all nodes together
	Nodes   string `json:"nodes"`
	Class   string `json:"class"`   // of the bid that won
	Victims int64  `json:"victims"` // jobs that had to end first
	Before  string `json:"before"`  // what the last cycle before Slurm's start said of the job
}

// Key names a run of a job. Task is below 0 for jobs that are no tasks of an array.
type Key struct{ Job, Task, Restarts int64 }

// Run is a run of a job: what is requeued is another one.
type Run struct {
	Key       Key
	User      int64 // the number
	Partition string
	Submit    int64 // seconds since 1970
	Eligible  int64 // when it could begin, if that was later
	CPUs      int64 // asked for
	Nodes     int64
	Left      string // the word why it was left to Slurm, or ""
	Would     *Place // nil: no cycle would have started it
	Slurm     *Place // nil: Slurm has not started it
	End       int64  // 0: it has not ended
	State     string // in which it ended
}

// Sample is a look at the machine. Stranded GPUs are free, on nodes without a free core.
type Sample struct {
	Time          int64 `json:"sample"`
	Queue         int64 `json:"queue"`
	Running       int64 `json:"running"`
	Cores         int64 `json:"cores"`
	CoresUsed     int64 `json:"cores_used"`
	GPUs          int64 `json:"gpus"`
	GPUsUsed      int64 `json:"gpus_used"`
	Stranded      int64 `json:"gpus_stranded"`
	WouldCores    int64 `json:"would_cores"` // of what the auction would have started just then
	WouldGPUs     int64 `json:"would_gpus"`
	WouldStranded int64 `json:"would_stranded"` // with these
	Lost          int64 `json:"lost"`           // lines that there was no room for
}

// Log is what the files say.
type Log struct {
	Runs     []*Run  // by submission
	Samples  Samples // of the machine
	Version  string  // of aucsched, that wrote last
	Slurm    string
	Settings string
	Interval int64 // seconds from one cycle to the next
	Bad      int   // lines that could not be read
	FirstBad error // the first of them, with file and line
	runs     map[Key]*Run
}

// Samples are the sums of all samples, of which a file may have millions.
type Samples struct {
	Count     int
	Last      Sample // by time
	first     int64  // time of the first
	sum, most Sample
}

func (m *Samples) add(s *Sample) {
	if m.Count == 0 || s.Time < m.first {
		m.first = s.Time
	}
	if s.Time >= m.Last.Time {
		m.Last = *s
	}
	m.Count++
	sums, most := m.sum.fields(), m.most.fields()
	for i, f := range s.fields() {
		*sums[i].value += *f.value
		*most[i].value = max(*most[i].value, *f.value)
	}
}

// Line is what is known of a run of a job at the moment, and nothing is remembered of it: readers
// put lines of the same run together. So a file may lose its beginning, and a slurmctld that starts
// again need not read it.
type Line struct {
	Job       int64  `json:"job"` // of a task: its array's
	Task      *int64 `json:"task,omitempty"`
	Restarts  int64  `json:"restarts,omitempty"`
	User      int64  `json:"user"`
	Submit    int64  `json:"submit"`
	Eligible  int64  `json:"eligible"`
	CPUs      int64  `json:"cpus"` // asked for
	Nodes     int64  `json:"nodes"`
	Partition string `json:"partition,omitempty"`
	Left      string `json:"left,omitempty"`
	Would     *At    `json:"would,omitempty"`
	Slurm     *At    `json:"slurm,omitempty"`
	End       int64  `json:"end,omitempty"`
	State     string `json:"state,omitempty"`
}

// At is a [Place] as a line has it.
type At struct {
	Time    int64  `json:"time"`
	CPUs    int64  `json:"cpus"`
	GPUs    int64  `json:"gpus"`
	Nodes   string `json:"nodes"`
	Class   string `json:"class,omitempty"`
	Victims int64  `json:"victims,omitempty"`
	Before  string `json:"before,omitempty"`
}

// line is any line of the file.
type line struct {
	Line
	Shadow   int64           `json:"shadow"`
	Version  string          `json:"version"`
	Slurm    json.RawMessage `json:"slurm"` // a version, or a place
	Settings string          `json:"settings"`
	Interval int64           `json:"interval_s"`
	Job      *int64          `json:"job"`
	Would    *Place          `json:"would"`
}

func newLog() *Log { return &Log{runs: map[Key]*Run{}} }

// ReadFiles reads path.old, if there is one, and path.
func ReadFiles(path string) (*Log, error) {
	l := newLog()
	if err := l.readFile(path + ".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := l.readFile(path); err != nil {
		return nil, err
	}
	return l, l.finish(path)
}

func (l *Log) readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return l.read(f, path)
}

// read takes the lines of a file. One that is wrong is left out and counted: slurmctld may have
// been killed while it wrote.
func (l *Log) read(r io.Reader, name string) error {
	in := bufio.NewReaderSize(io.LimitReader(r, fileLimit), lineLimit)
	for n := 1; ; n++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			l.bad(name, n, fmt.Errorf("longer than %d bytes", lineLimit))
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		} else if text = bytes.TrimSpace(text); len(text) > 0 {
			if wrong := l.take(text); wrong != nil {
				l.bad(name, n, wrong)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if len(l.runs) > runLimit {
			return fmt.Errorf("%s:%d: more than %d runs of jobs", name, n, runLimit)
		}
	}
}

func (l *Log) bad(name string, n int, err error) {
	if l.Bad++; l.Bad == 1 {
		l.FirstBad = fmt.Errorf("%s:%d: %w", name, n, err)
	}
}

func (l *Log) finish(name string) error {
	if l.Interval == 0 && len(l.runs) == 0 && l.Samples.Count == 0 {
		if l.FirstBad != nil {
			return fmt.Errorf("not what aucsched writes in shadow mode: %w", l.FirstBad)
		}
		return fmt.Errorf("%s: there is nothing in it yet", name)
	}
	l.Runs = make([]*Run, 0, len(l.runs))
	for k, r := range l.runs {
		// One of which only the end is known began before the file did.
		if p := r.Slurm; p != nil && r.End != 0 && r.Would == nil && p.Before == "" && r.Left == "" {
			continue
		}
		if k.Restarts++; r.End == 0 && l.runs[k] != nil {
			r.State = "REQUEUED"
		}
		l.Runs = append(l.Runs, r)
	}
	l.runs = nil
	slices.SortFunc(l.Runs, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Key.Job, b.Key.Job),
			cmp.Compare(a.Key.Task, b.Key.Task), cmp.Compare(a.Key.Restarts, b.Key.Restarts))
	})
	return nil
}

func (l *Log) take(text []byte) error {
	var any line
	if bytes.HasPrefix(text, []byte(`{"sample"`)) {
		var s Sample
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if err := checkFields(maxTime, s.fields()...); err != nil {
			return err
		}
		l.Samples.add(&s)
		return nil
	}
	if err := json.Unmarshal(text, &any); err != nil {
		return err
	}
	switch {
	case any.Job != nil:
		return l.takeRun(&any)
	case any.Shadow == 1:
		return l.takeFirst(&any)
	case any.Shadow != 0:
		return fmt.Errorf("shadow: %d: this program knows version 1", any.Shadow)
	}
	return errors.New("neither a job nor a sample")
}

func (l *Log) takeFirst(any *line) error {
	if any.Interval < 1 || any.Interval > maxTime {
		return fmt.Errorf("interval_s: %d: must be 1 to %d", any.Interval, int64(maxTime))
	}
	l.Version, l.Settings, l.Interval = any.Version, any.Settings, any.Interval
	if len(any.Slurm) > 0 {
		return json.Unmarshal(any.Slurm, &l.Slurm)
	}
	return nil
}

// takeRun adds what is new in a line: of several starts that the auction would have made the
// earliest counts, of all else the latest line.
func (l *Log) takeRun(any *line) error {
	k := Key{*any.Job, -1, any.Restarts}
	if any.Task != nil {
		k.Task = *any.Task
	}
	run := Run{Key: k, User: any.User, Partition: any.Partition, Submit: any.Submit, Eligible: any.Eligible,
		CPUs: any.CPUs, Nodes: any.Nodes, Left: any.Left, Would: any.Would, End: any.End, State: any.State}
	if len(any.Slurm) > 0 {
		if err := json.Unmarshal(any.Slurm, &run.Slurm); err != nil {
			return err
		}
	}
	if err := run.check(); err != nil {
		return err
	}
	if old := l.runs[k]; old != nil && old.Submit == run.Submit {
		if old.Would != nil && (run.Would == nil || old.Would.Time < run.Would.Time) {
			run.Would = old.Would
		}
		if old.Slurm != nil {
			run.Slurm, run.Left = old.Slurm, old.Left
		}
		if run.End == 0 {
			run.End, run.State = old.End, old.State
		}
	}
	l.runs[k] = &run
	return nil
}

// field is a number of a line, and its name.
type field struct {
	name  string
	value *int64
}

func checkFields(most int64, fields ...field) error {
	for _, f := range fields {
		if *f.value < 0 || *f.value > most {
			return fmt.Errorf("%s: %d: must be 0 to %d", f.name, *f.value, most)
		}
	}
	return nil
}

func (r *Run) check() error {
	fields := []field{{"job", &r.Key.Job}, {"restarts", &r.Key.Restarts}, {"user", &r.User}, {"submit", &r.Submit},
		{"eligible", &r.Eligible}, {"cpus", &r.CPUs}, {"nodes", &r.Nodes}, {"end", &r.End}}
	if r.Key.Task != -1 {
		fields = append(fields, field{"task", &r.Key.Task})
	}
	for name, p := range map[string]*Place{"would": r.Would, "slurm": r.Slurm} {
		if p != nil {
			fields = append(fields, field{name + ".time", &p.Time}, field{name + ".cpus", &p.CPUs},
				field{name + ".gpus", &p.GPUs}, field{name + ".victims", &p.Victims})
		}
	}
	return checkFields(maxTime, fields...)
}

// fields are all of a sample's.
func (s *Sample) fields() []field {
	return []field{{"sample", &s.Time}, {"queue", &s.Queue}, {"running", &s.Running}, {"cores", &s.Cores}, {"cores_used", &s.CoresUsed},
		{"gpus", &s.GPUs}, {"gpus_used", &s.GPUsUsed}, {"gpus_stranded", &s.Stranded}, {"would_cores", &s.WouldCores},
		{"would_gpus", &s.WouldGPUs}, {"would_stranded", &s.WouldStranded}, {"lost", &s.Lost}}
}
