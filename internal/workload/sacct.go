// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/nodeset"
)

// SacctOptions choose between readings of sacct's output. The zero value is what
// Slurm would make of it.
type SacctOptions struct {
	// ExtendLimit: see [SWFOptions].ExtendLimit.
	ExtendLimit bool
	// Unlimited is the time limit in seconds of jobs whose own is UNLIMITED, Partition_Limit or
	// empty. 0 means the 365 days that Slurm's backfill scheduler reckons with.
	Unlimited int64
	// Past has jobs be as they were, not as they were asked for. They have a Past and the
	// processors that they were given, and Submit is when they could have begun (Eligible), if
	// known. Runs before a requeue are jobs of their own, as 12#2. Jobs that still run do so until
	// now, as far as sacct knows. Jobs last as long as they did, also beyond their time limit.
	Past bool
	// Limits are those of partitions, by name, for jobs that have none of their own, and
	// where theirs is longer.
	Limits map[string]PartitionLimit
	// From and To, in seconds since 1970: with Past only jobs that could begin before To and ended
	// after From are read. To 0: no such limit.
	From, To int64
}

// PartitionLimit is a partition's DefaultTime and MaxTime in seconds, 0 where it has none.
type PartitionLimit struct{ Default, Max int64 }

// PastFormat is [SacctFormat] with what the option Past goes by.
const PastFormat = SacctFormat + ",Eligible,Partition,ReqMem,Account,QOS,NodeList"

// defaultUnlimited is YEAR_MINUTES of Slurm's backfill.c, in seconds.
const defaultUnlimited = 365 * 24 * 3600

// Reasons for which ReadSacct skips jobs, beside ReadSWF's, and adjusts them.
const (
	skipStep      = "job step"
	skipAgain     = "a line that is there already"
	skipRevoked   = "revoked: another cluster of the federation ran it"
	skipNowhere   = "had no node"
	SkipPending   = "never started"
	SkipRunning   = "still running"
	SkipCancelled = "cancelled before it started"
	SkipNoRun     = "unknown run time"
	SkipNoSubmit  = "unknown submission time"
	SkipNoProcs   = "no processor"
	adjustLimit   = "no time limit of its own: taken as the option Unlimited"
	adjustCores   = "fewer cores than nodes requested: taken as one a node"
	AdjustGPUs    = "GPUs do not divide by nodes: rounded up to equal numbers"
	adjustHeld    = "no priority recorded, or held: taken as 1"
)

// ReadSacct reads what "sacct --parsable2" (or --parsable) prints, with its line of field names,
// among them those of [SacctFormat] or their like. Other fields are ignored. Input in gzip's format
// is unpacked; name is what the workload and errors call it. A job has
//
//   - as ID its JobID (123, 123_4 of an array, 123+0 of a heterogeneous job, each
//     a job of its own), or else JobIDRaw;
//   - as Cores ReqCPUS, or the cpu of ReqTRES, AllocCPUS, NCPUS, the cpu of
//     AllocTRES, whichever is first known, but at least one a node;
//   - as nodes exactly ReqNodes (or the node of ReqTRES); if it was given more
//     nodes than that, at least so many. Where the request is unknown, exactly
//     what it was given (AllocNodes, NNodes, the node of AllocTRES);
//   - as GPUs a node the gres/gpu of ReqTRES, which is a total, divided by the nodes and rounded
//     up. Else it is the gpu of ReqGRES, which is a node's, the total of AllocTRES, or the gpu of
//     AllocGRES, a node's. Typed GPUs (gres/gpu:a100=4) count only where the untyped total is
//     missing. A job with GPUs has a fixed number of nodes, those it was given;
//   - as Memory ReqMem or the mem of ReqTRES. It is a total, by node where the number of nodes is
//     fixed and else by core, unless an old sacct says 4000Mc or 16Gn;
//   - as TimeLimit TimelimitRaw (minutes) or Timelimit ([days-]hours:minutes:seconds),
//     see also [SacctOptions].Unlimited; as Duration ElapsedRaw (seconds), Elapsed, or
//     End less Start, at least 1 s; see also [SacctOptions].ExtendLimit;
//   - as User User, or else UID, empty where there is neither;
//   - as Priority Priority, at least 1, or where there is no such field Slurm's
//     basic one: see [AssignBasicPriorities].
//
// Times are 2024-01-02T03:04:05, or seconds since 1970 (SLURM_TIME_FORMAT=%s).
// sacct prints local time without saying which zone; it is taken as UTC, so where
// the clock was put back one hour occurs twice unless the times are in seconds.
//
// Left out and counted are steps (123.batch), second lines of a job, and rows that can't be read:
// no row ends the run of a file. So are jobs that never started, still run, were revoked, or have
// no processor or no node. Files may be joined: a line of field names may come again, with other
// names too. It is an error if no job is left, or a field is missing without which there is none.
func ReadSacct(r io.Reader, name string, o SacctOptions) (*Workload, error) {
	if o.Unlimited < 0 || o.Unlimited > MaxSeconds {
		return nil, fmt.Errorf("workload: option Unlimited: %d: must be in 0..%d", o.Unlimited, int64(MaxSeconds))
	}
	if o.Unlimited == 0 {
		o.Unlimited = defaultUnlimited
	}
	s := &sacctReader{Lines: NewLines(r, name), Builder: NewBuilder(name), o: o}
	s.outlive = o.Past
	if err := s.readAll(s.addRow); err != nil {
		return nil, err
	}
	w, err := s.Finish()
	if err != nil {
		return nil, err
	}
	w.Columns = s.all
	if !s.all["priority"] {
		AssignBasicPriorities(w.Jobs)
	}
	return w, nil
}

// sacctReader turns rows of sacct's output into jobs.
type sacctReader struct {
	*Builder
	*Lines
	Row
	o    SacctOptions
	seed maphash.Seed
	same map[string]uint64 // with Past: of each line, by the job's name, the sum
}

// readAll has each line of values taken apart and then read. One that can't be is skipped.
func (s *sacctReader) readAll(read func(text string) error) error {
	for s.Next() {
		text := string(s.Text())
		var err error
		switch {
		case text == "":
		case s.Column == nil || s.areNames(text):
			if err = s.readNames(text); err != nil {
				return s.Locate(err)
			}
		default:
			if err = s.split(text); err == nil {
				err = read(text)
			}
			if err != nil {
				s.unreadable(s.Locate(err))
			}
		}
	}
	return s.Lines.Err
}

func (s *sacctReader) addRow(text string) error {
	id := cmp.Or(s.Get("jobid"), s.Get("jobidraw"))
	if strings.Contains(id, ".") {
		s.Skip(skipStep)
		return nil
	}
	if id == "" {
		return &InputError{Err: errors.New("a job without an ID")}
	}
	t := s.times()
	if s.Fault == nil && s.o.Past && t.skip == "" && (t.start+t.duration <= s.o.From || s.o.To > 0 && t.submit >= s.o.To) {
		return nil
	}
	id, err := s.name(id, text)
	if err != nil {
		return err
	}
	if id == "" {
		s.Skip(skipAgain)
		return nil
	}
	if s.Fault == nil && t.skip == "" {
		t.skip = s.nowhere(&t)
	}
	if s.Fault == nil && t.skip != "" {
		s.Skip(t.skip)
		return nil
	}
	j := Job{Submit: t.submit, Duration: t.duration, Leaves: t.leaves, User: cmp.Or(s.Get("user"), s.Get("uid"))}
	j.ID, j.Request = id, s.request()
	if s.o.Past {
		j.Past = &Past{Partition: s.Get("partition"), Account: s.Get("account"), QOS: s.Get("qos"),
			Began: t.start, GPUType: s.tres("reqtres").kind, Nodes: s.Get("nodelist")}
	}
	if s.Fault == nil {
		j.Memory = s.memory(&j.Request)
	}
	if j.TimeLimit, j.Priority = s.limit(), s.priority(); s.Fault != nil {
		return s.Fault
	}
	if j.Leaves > 0 {
		j.Duration = j.TimeLimit // it is not known
	}
	return s.Add(j, s.o.ExtendLimit)
}

// name is what the job with that ID is called: no two have the same. It is empty for a line that is
// there already.
func (s *sacctReader) name(id, text string) (string, error) {
	_, again := s.LineOf[id]
	if again && !s.o.Past {
		return "", nil
	}
	sum, other := s.sum(text), id
	for k := 2; again; k++ {
		if s.same[other] == sum {
			return "", nil
		}
		other = fmt.Sprintf("%s#%d", id, k)
		_, again = s.LineOf[other]
	}
	if err := s.See(other, s.N); err != nil {
		return "", &InputError{Field: "JobID", Value: id, Err: err}
	}
	if s.o.Past {
		s.same[other] = sum
	}
	return other, nil
}

// sum tells lines apart.
func (s *sacctReader) sum(text string) uint64 {
	if s.same == nil {
		s.seed, s.same = maphash.MakeSeed(), map[string]uint64{}
	}
	return maphash.String(s.seed, text)
}

// nowhere says why a job with these times cannot be replayed; empty for most.
func (s *sacctReader) nowhere(t *sacctTimes) string {
	req, alloc := s.tres("reqtres"), s.tres("alloctres")
	gave := s.hasAny([]string{"AllocCPUS", "NCPUS", "AllocTRES"})
	given := cmp.Or(s.number("alloccpus"), s.number("ncpus"), alloc.cpus)
	nodes := cmp.Or(s.number("allocnodes"), s.number("nnodes"), alloc.nodes)
	gpus, _ := s.gpus(req, alloc)
	switch {
	case cmp.Or(given, s.number("reqcpus"), req.cpus) == 0, t.duration == 0 && t.leaves == 0 && gave && given == 0 && nodes == 0:
		return SkipNoProcs
	case gpus > 0 && t.leaves == 0 && cmp.Or(nodes, s.number("reqnodes"), req.nodes) == 0 &&
		s.hasAny([]string{"AllocNodes", "NNodes", "ReqNodes"}):
		return skipNowhere
	}
	return ""
}

// limit is the time limit in seconds. A job without one has its partition's DefaultTime or else,
// like one that is UNLIMITED, MaxTime (select_nodes of node_scheduler.c, _attempt_backfill of
// backfill.c).
func (s *sacctReader) limit() int64 {
	partition, _, _ := strings.Cut(s.Get("partition"), ",")
	of := s.o.Limits[partition]
	raw, own := s.Get("timelimitraw"), int64(0)
	switch v := cmp.Or(raw, s.Get("timelimit")); {
	case v == "", v == "Partition_Limit":
		own = cmp.Or(of.Default, of.Max)
	case v == "UNLIMITED":
		own = of.Max
	case v == raw:
		return s.within(s.Parse("timelimitraw", parseMinutes), of)
	default:
		return s.within(s.Parse("timelimit", conf.ParseSpan), of)
	}
	if own == 0 {
		s.Adjust(adjustLimit)
		own = s.o.Unlimited
	}
	return s.within(own, of)
}

// within is a limit that is no longer than the partition's.
func (*sacctReader) within(limit int64, of PartitionLimit) int64 {
	if of.Max > 0 {
		return min(limit, of.Max)
	}
	return limit
}

// priority is the recorded priority, or 0 where there is no such field.
func (s *sacctReader) priority() int64 {
	if !s.Has("priority") {
		return 0
	}
	p := s.number("priority")
	if p == 0 {
		s.Adjust(adjustHeld)
	}
	return max(p, 1)
}

// request settles cores, nodes and GPUs a node.
func (s *sacctReader) request() bids.Request {
	req, alloc := s.tres("reqtres"), s.tres("alloctres")
	gpus, perNode := s.gpus(req, alloc)
	q := s.nodes(req, alloc, gpus > 0)
	asked := cmp.Or(s.number("reqcpus"), req.cpus)
	given := cmp.Or(s.number("alloccpus"), s.number("ncpus"), alloc.cpus)
	if q.Cores = int(cmp.Or(asked, given)); s.o.Past {
		q.Cores = int(cmp.Or(given, asked))
	}
	if q.Cores == 0 {
		return q
	}
	if q.Cores < q.MinNodes {
		s.Adjust(adjustCores)
		q.Cores = q.MinNodes
	}
	if n := int64(q.MinNodes); !perNode && n > 0 {
		if gpus%n != 0 {
			s.Adjust(AdjustGPUs)
		}
		gpus = (gpus + n - 1) / n
	}
	q.MinGPUs = int(gpus)
	if n := q.MinNodes; s.o.Past && n > 1 && n == q.MaxNodes && q.Cores%n == 0 {
		q.TasksPerNode = q.Cores / n // as who asks for several nodes mostly does
	}
	return q
}

// gpus is the number of GPUs, of each node or in total.
func (s *sacctReader) gpus(req, alloc tres) (n int64, perNode bool) {
	if req.gpus > 0 {
		return req.gpus, false
	}
	if n = s.Parse("reqgres", parseGRES); n > 0 {
		return n, true
	}
	if alloc.gpus > 0 {
		return alloc.gpus, false
	}
	return s.Parse("allocgres", parseGRES), true
}

// nodes is a request for the range of nodes alone. It has a fixed number of nodes
// where that matters: the number of GPUs is that of each node.
func (s *sacctReader) nodes(req, alloc tres, fixed bool) bids.Request {
	asked := int(cmp.Or(s.number("reqnodes"), req.nodes))
	given := int(cmp.Or(s.number("allocnodes"), s.number("nnodes"), alloc.nodes))
	switch {
	case asked == 0 && given == 0 && fixed:
		s.Blame(&InputError{Err: errors.New("a job with GPUs but no number of nodes: add ReqNodes and NNodes to sacct's --format")})
	case asked == 0, fixed && given > 0:
		return bids.Request{MinNodes: given, MaxNodes: given}
	case given > asked:
		return bids.Request{MinNodes: asked}
	}
	return bids.Request{MinNodes: asked, MaxNodes: asked}
}

// sacctTimes are when a job was submitted and began, in seconds since 1970, and how long it
// ran, in seconds; or why it is to be skipped.
type sacctTimes struct {
	submit, start, duration int64
	// leaves is when a job was cancelled that had not begun, 0 otherwise; it is start, too.
	leaves int64
	skip   string
}

// times settles the times of the current row.
func (s *sacctReader) times() sacctTimes {
	state, _, _ := strings.Cut(s.Get("state"), " ") // "CANCELLED by 1000"
	submit, submitted := s.instant("submit")
	start, started := s.instant("start")
	end, ended := s.instant("end")
	run, known := s.elapsed()
	if !known && started && ended {
		if run, known = end-start, true; run < 0 {
			s.Bad("end", errors.New("before Start (local times? let sacct print ElapsedRaw)"))
		}
	}
	eligible, said := s.instant("eligible")
	if s.o.Past && said && eligible > submit && (eligible <= start || !started && eligible < end) {
		submit = eligible
	}
	t := sacctTimes{submit: submit, start: start, duration: run}
	runs := state == "RUNNING" || state == "SUSPENDED" || started && s.Has("end") && !ended
	switch {
	case s.o.Past && state == "CANCELLED" && submitted && ended && end > submit && (!started || run == 0):
		t.leaves, t.start, t.duration = end, end, 0
	case state == "REVOKED":
		t.skip = skipRevoked
	case state == "PENDING":
		t.skip = SkipPending
	case runs && (!s.o.Past || !known):
		t.skip = SkipRunning
	case state == "CANCELLED" && run == 0:
		t.skip = SkipCancelled
	case !started:
		t.skip = SkipPending
	case !submitted:
		t.skip = SkipNoSubmit
	case !known:
		t.skip = SkipNoRun
	}
	return t
}

// elapsed is the run time in seconds, if a field of its own says it.
func (s *sacctReader) elapsed() (n int64, known bool) {
	unknown := []string{"", "Unknown", "INVALID"}
	if !slices.Contains(unknown, s.Get("elapsedraw")) {
		return s.Parse("elapsedraw", ParseCount), true
	}
	if !slices.Contains(unknown, s.Get("elapsed")) {
		return s.Parse("elapsed", conf.ParseSpan), true
	}
	return 0, false
}

// instant is the value of a field with a point in time, in seconds since 1970.
func (s *sacctReader) instant(name string) (n int64, known bool) {
	if slices.Contains([]string{"", "Unknown", "None", "N/A"}, s.Get(name)) {
		return 0, false
	}
	return s.Parse(name, parseInstant), true
}

func parseInstant(v string) (int64, error) {
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && n <= MaxSeconds {
		return n, nil
	}
	t, err := time.Parse("2006-01-02T15:04:05", v)
	if err != nil || t.Nanosecond() != 0 {
		return 0, errors.New("not a time like 2024-01-02T03:04:05 (unset SLURM_TIME_FORMAT)")
	}
	if t.Unix() < 0 {
		return 0, errors.New("before 1970")
	}
	return t.Unix(), nil
}

func parseMinutes(v string) (int64, error) {
	n, err := ParseCount(v)
	if err == nil && n > MaxSeconds/60 {
		err = ErrTooLarge
	}
	return n * 60, err
}

// tres is what a list of trackable resources says of a job: totals, 0 where it says nothing. memory
// is in MiB. kind is the type of all the GPUs, empty if there are several or some without.
type tres struct {
	cpus, nodes, gpus, memory int64
	kind                      string
}

// tres is the value of a field such as "cpu=8,gres/gpu=4,mem=32G,node=2".
func (s *sacctReader) tres(name string) tres {
	t, err := parseTRES(s.Get(name))
	if err != nil {
		s.Bad(name, err)
	}
	return t
}

func parseTRES(text string) (tres, error) {
	var t tres
	var typed int64 // GPUs by type, which an untyped total includes
	kinds := 0
	if text == "" {
		return t, nil
	}
	for _, item := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			return tres{}, fmt.Errorf("%s is not NAME=COUNT", Quote(item))
		}
		to, parse := (*int64)(nil), ParseCount
		switch {
		case key == "cpu":
			to = &t.cpus
		case key == "node":
			to = &t.nodes
		case key == "mem":
			to, parse = &t.memory, parseMemory
		case key == "gres/gpu":
			to = &t.gpus
		case strings.HasPrefix(key, "gres/gpu:"):
			to, t.kind = &typed, strings.TrimPrefix(key, "gres/gpu:")
			kinds++
		default:
			continue
		}
		n, err := parse(value)
		if err != nil {
			return tres{}, fmt.Errorf("%s: %w", Quote(item), err)
		}
		*to += n
	}
	if t.gpus == 0 {
		t.gpus = typed
	}
	if kinds != 1 || typed != t.gpus {
		t.kind = ""
	}
	return t, nil
}

// gpuPlugin stands for gpu in AllocGRES of old versions: gres_build_id("gpu") of Slurm's gres.c.
const gpuPlugin = "7696487"

// parseGRES gives the number of GPUs in a list of generic resources as users and slurm.conf write
// it: gpu, gpu:2, gpu:a100:4(S:0-1), shard:8, also gres:gpu:2. Other resources count for nothing.
func parseGRES(text string) (int64, error) {
	var total int64
	for _, item := range strings.Split(conf.WithoutSockets(text), ",") {
		item = strings.TrimPrefix(strings.TrimPrefix(item, "gres:"), "gres/")
		parts := strings.Split(item, ":")
		if parts[0] != "gpu" && parts[0] != gpuPlugin {
			continue
		}
		n := int64(1)
		if len(parts) > 1 {
			var err error
			n, err = ParseCount(parts[len(parts)-1])
			switch {
			case errors.Is(err, ErrNotNumber) && len(parts) == 2:
				n = 1 // gpu:a100
			case err != nil:
				return 0, fmt.Errorf("%s: %w", Quote(item), err)
			}
		}
		total += n
	}
	return total, nil
}

// memory is what a job that asks for q asks for of memory: ReqMem, or else the mem of ReqTRES. Both
// are totals, but old versions of sacct end ReqMem with c or n for an amount a core or a node. A
// total is divided by the nodes if their number is fixed, and else by the cores, and rounded up.
func (s *sacctReader) memory(q *bids.Request) Memory {
	text := s.Get("reqmem")
	switch mib := s.Parse("reqmem", parseReqMem); {
	case mib == 0:
		return DividedMemory(s.tres("reqtres").memory, q)
	case strings.HasSuffix(text, "c"):
		return Memory{PerCore: mib}
	case strings.HasSuffix(text, "n"):
		return Memory{PerNode: mib}
	default:
		return DividedMemory(mib, q)
	}
}

// DividedMemory is a total of q's memory, by node or core.
func DividedMemory(mib int64, q *bids.Request) Memory {
	over := func(n int64) int64 { return min((mib+n-1)/n, nodeset.MaxAmount) }
	if q.MinNodes > 0 && q.MinNodes == q.MaxNodes {
		return Memory{PerNode: over(int64(q.MinNodes))}
	}
	return Memory{PerCore: over(max(place.LeastCores(q), 1))}
}

// parseReqMem is parseMemory for what ReqMem says.
func parseReqMem(v string) (int64, error) {
	return parseMemory(strings.TrimRight(v, "cn"))
}

const kib = 1 << 10 // a MiB

// memoryUnits are Slurm's, in MiB.
var memoryUnits = map[string]float64{"": 1, "K": 1. / kib, "M": 1, "G": kib, "T": kib * kib, "P": kib * kib * kib}

// parseMemory parses an amount of memory as Slurm writes it, 4000M or 1.50T, as whole MiB, rounded
// up.
func parseMemory(v string) (int64, error) {
	digits := strings.TrimRight(v, "KMGTP")
	unit, known := memoryUnits[v[len(digits):]]
	if !known {
		return 0, ErrNotNumber
	}
	f, err := ParseDecimal([]byte(digits))
	switch f = math.Ceil(f * unit); {
	case err != nil:
		return 0, err
	case f < 0:
		return 0, errors.New("must not be negative")
	case f > maxCount:
		return 0, ErrTooLarge
	}
	return int64(f), nil
}

// SacctSpan reads what "sacct --parsable2" prints for its times alone. It returns the first
// submission and the last known time, in seconds since 1970, and how many lines have begun jobs.
func SacctSpan(r io.Reader, name string) (first, last int64, jobs int, err error) {
	s := &sacctReader{Lines: NewLines(r, name), Builder: NewBuilder(name)}
	err = s.readAll(func(string) error {
		if strings.Contains(s.Get("jobid"), ".") {
			return nil
		}
		submit, submitted := s.instant("submit")
		start, started := s.instant("start")
		end, ended := s.instant("end")
		if s.Fault != nil {
			return s.Fault
		}
		if submitted && (first == 0 || submit < first) {
			first = submit
		}
		last = max(last, submit)
		if started {
			jobs++
			last = max(last, start)
		}
		if ended {
			last = max(last, end)
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, 0, 0, err
	case jobs == 0 && s.first != nil:
		return 0, 0, 0, s.first
	case jobs == 0:
		return 0, 0, 0, &InputError{File: name, Err: errors.New("no job that began; see aucsched try --how")}
	}
	return first, last, jobs, nil
}
