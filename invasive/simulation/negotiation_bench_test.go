// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/ischeduler"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/queue"
	"github.com/stretchr/testify/require"
)

// BenchmarkNegotiation puts 10,000 jobs through the negotiation of an iScheduler and an iHypervisor
// of 1,024 nodes, over a Unix socket, with both journals on the disk. Nodes are simulated: a job
// ends after up to half a second. Meanwhile urgent jobs come, 20 ms apart, or more on few nodes.
// AUCSCHED_BENCH_JOBS, AUCSCHED_BENCH_NODES: other numbers. It tells, of all its runs together:
//
//   - transactions and jobs a second;
//   - transaction: from when the iHypervisor begins to make the first RESOURCE_OFFER of a
//     transaction until the iScheduler answers its NEGOTIATION_END, the jobs being saved before;
//   - question: the same from the message that opens the transaction, with the wait for free cores;
//   - answer: from a RESOURCE_OFFER until its RESPONSE_RESOURCE_OFFER has come;
//   - urgent: from an urgent job's submission to its launch;
//   - the most memory that was in use, of both sides;
//   - rejections of offers and of mappings; messages and bytes (-B) of each kind.
//
// It fails unless all that verify asks for holds. `make bench-negotiation` makes a page of it.
//
//	go test -run '^$' -bench Negotiation -benchtime 1x ./invasive/simulation
func BenchmarkNegotiation(b *testing.B) {
	jobs, nodes := number("AUCSCHED_BENCH_JOBS", 10_000), number("AUCSCHED_BENCH_NODES", 1024)
	var all figures
	for range b.N {
		all.add(negotiate(b, jobs, uint32(nodes), 0))
	}
	all.report(b)
}

// TestNegotiation is the same with few jobs, then with an iHypervisor that rejects
// mappings whenever it may.
func TestNegotiation(t *testing.T) {
	for _, minUse := range []float64{0, 2} {
		n := negotiate(t, 40, 8, minUse)
		require.NotEmpty(t, n.spans["urgent"])
		require.Positive(t, n.unwanted)
		require.Equal(t, minUse > 0, n.refused > 0)
	}
}

func number(name string, or int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return or
}

// figures are what negotiations came to.
type figures struct {
	jobs, transactions int
	unwanted, refused  int // offers that the iScheduler rejects, mappings that the iHypervisor does
	took               time.Duration
	spans              map[string][]time.Duration
	heap               uint64
	sent, heard        map[invasive.Kind]carriage // by the iScheduler
}

// add adds a run.
func (f *figures) add(run *figures) {
	if f.spans == nil {
		*f = *run
		return
	}
	f.jobs, f.transactions = f.jobs+run.jobs, f.transactions+run.transactions
	f.unwanted, f.refused = f.unwanted+run.unwanted, f.refused+run.refused
	f.took, f.heap = f.took+run.took, max(f.heap, run.heap)
	for name, list := range run.spans {
		f.spans[name] = append(f.spans[name], list...)
	}
	f.sent, f.heard = both(f.sent, run.sent), both(f.heard, run.heard)
}

func (f *figures) report(b *testing.B) {
	b.ReportMetric(float64(f.transactions)/f.took.Seconds(), "transactions/s")
	b.ReportMetric(float64(f.jobs)/f.took.Seconds(), "jobs/s")
	for name, list := range f.spans {
		slices.Sort(list)
		b.ReportMetric(1000*quantile(list, 0.5), name+"-p50-ms")
		b.ReportMetric(1000*quantile(list, 0.99), name+"-p99-ms")
	}
	b.ReportMetric(float64(f.heap)/1e6, "heap-MB")
	for name, n := range map[string]int{"transactions": f.transactions, "urgent-jobs": len(f.spans["urgent"]),
		"rejected-offers": f.unwanted, "rejected-mappings": f.refused} {
		b.ReportMetric(float64(n), name)
	}
	for kind, c := range both(f.sent, f.heard) {
		b.ReportMetric(float64(c.messages), kind.String())
		b.ReportMetric(float64(c.bytes), kind.String()+"-B")
	}
	b.ReportMetric(0, "ns/op")
}

// A bench is an iHypervisor of simulated nodes. All but its channels belongs to
// the Runner's goroutine, and to others when it has ended.
type bench struct {
	runner   *link.Runner
	hyper    *invasive.Hypervisor
	manager  *manager
	question link.Question // the AskOffer that waits
	ticking  bool
	begin    time.Time
	random   *rand.Rand
	figures  figures
	launched chan invasive.JobID
	over     chan struct{} // a value for each job that ended

	judge   *referee
	running map[invasive.JobID]*running
	fault   error // the first that the judge has found
	// AskOffer came; its first offer began to be made; the last was made
	asked, offered time.Time // the last AskOffer that opened a transaction; the last offer
	// of each transaction: asked, and when its first offer began to be made
	begun [][2]time.Time
}

// A running job, and the cores that it has.
type running struct {
	job   *invasive.Job
	cores []uint32
}

// hearing is the Hypervisor, with an ear for the iScheduler.
type hearing struct{ *bench }

func (m hearing) Step(ev *invasive.Event, out []invasive.Action) []invasive.Action {
	if ev.Msg != nil {
		m.hear(ev.Msg)
		m.manager.Hear(ev.Msg)
	}
	if ev.Kind == invasive.Exited || ev.Kind == invasive.Released {
		m.manager.Freed()
		m.free(ev)
	}
	return m.hyper.Step(ev, out)
}

// hear takes the time of an answer.
func (b *bench) hear(m *invasive.Message) {
	if m.Kind == invasive.ResponseResourceOffer {
		b.figures.span("answer", time.Since(b.offered))
		if !m.Accept {
			b.figures.unwanted++
		}
	}
}

func (f *figures) span(name string, d time.Duration) { f.spans[name] = append(f.spans[name], d) }

// free has the judge hear of cores that a job has let go of; one that has ended has none.
func (b *bench) free(ev *invasive.Event) {
	r := b.running[ev.ID]
	if r == nil {
		return
	}
	cores := ev.Cores
	if ev.Kind == invasive.Exited {
		cores = r.cores
		delete(b.running, ev.ID)
	}
	b.rule(b.judge.release(r.job, cores))
	r.cores = slices.DeleteFunc(slices.Clone(r.cores), func(c uint32) bool { return slices.Contains(cores, c) })
}

func (b *bench) rule(err error) { b.fault = cmp.Or(b.fault, err) }

func (b *bench) do(a *invasive.Action, q link.Question) {
	switch a.Kind {
	case invasive.AskOffer:
		b.question = q
		if !a.Prompt {
			b.figures.transactions++
			b.asked = time.Now()
		}
	case invasive.Launch:
		b.launch(a.Job, a.Cores)
	case invasive.Grow:
		if r := b.running[a.ID]; r != nil { // it may end in the same group of events
			b.rule(b.judge.give(r.job, a.Cores, false))
			r.cores = append(r.cores, a.Cores...)
		}
	case invasive.Reclaim:
		b.runner.Post(invasive.Event{Kind: invasive.Released, ID: a.ID, Cores: a.Cores})
	}
	if ev, ok := b.manager.answer(a, time.Since(b.begin)); ok {
		switch {
		case ev.Kind == invasive.OfferMade: // another of the same transaction
			b.offered = time.Now()
		case ev.Kind == invasive.Verdict && !ev.Accept:
			b.figures.refused++
		case ev.Kind == invasive.UrgentVerdict && !ev.Accept:
			b.rule(fmt.Errorf("urgent job %d is refused: %s", ev.ID, ev.Text))
		}
		b.runner.Answer(q, ev)
	}
	b.later()
}

func (b *bench) launch(j *invasive.Job, cores []uint32) {
	b.rule(b.judge.give(j, cores, true))
	b.running[j.ID] = &running{j, slices.Clone(cores)}
	if j.Urgent {
		b.launched <- j.ID
	}
	time.AfterFunc(time.Duration(b.random.IntN(500))*time.Millisecond, func() {
		b.runner.Post(invasive.Event{Kind: invasive.Exited, ID: j.ID})
		b.over <- struct{}{}
	})
}

// later looks what is to be done when all that has come is through.
func (b *bench) later() {
	if b.ticking {
		return
	}
	b.ticking = true
	b.runner.Call(func() {
		b.ticking = false
		at := time.Now()
		for _, ev := range b.manager.tick(at.Sub(b.begin)) {
			if b.later(); ev.Kind == invasive.OfferMade { // the first of a transaction
				b.begun = append(b.begun, [2]time.Time{b.asked, at})
				b.offered = time.Now()
				b.runner.Answer(b.question, ev)
			} else {
				b.runner.Post(ev)
			}
		}
	})
}

// negotiate runs it all. The clock starts when the iScheduler, which has the jobs already, may
// connect. The iHypervisor wants mappings to use at least the share minUse of an offer.
func negotiate(t testing.TB, jobs int, nodes uint32, minUse float64) *figures {
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b, done := newBench(t, dir, nodes, jobs, minUse, log)
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	listener, err := endpoint.Listen(link.RealClock{}, &link.Stats{})
	require.NoError(t, err)
	b.runner.Listener = listener
	gate := make(chan struct{})
	var sent, heard frames
	s, err := ischeduler.Open(ischeduler.Config{
		Dir: filepath.Join(dir, "s"), Terms: benchTerms(), Limit: invasive.MaxJobs,
		Queue: queue.DefaultOptions(), Random: rand.New(rand.NewPCG(1, 1)), Log: log,
		Dial: func(ctx context.Context) (net.Conn, error) {
			select {
			case <-gate:
				return dialTap(ctx, endpoint, &sent, &heard)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	here, stopHere := context.WithCancel(ctx) // the iScheduler ends before the iHypervisor
	defer stop()
	ended, endedHere := make(chan error, 1), make(chan error, 1)
	go func() { endedHere <- s.Run(here) }()
	r := rand.New(rand.NewPCG(2, 2))
	for range jobs {
		least := uint32(1) << r.IntN(6)
		spec := &ischeduler.Spec{Args: []string{"job"}, MinCores: least, MaxCores: least << r.IntN(3), Kind: "malleable"}
		_, err := s.Submit(spec)
		require.NoError(t, err)
	}
	b.begin = time.Now()
	go func() { ended <- b.runner.Run(ctx) }()
	close(gate)
	more, stopUrgent := context.WithCancel(ctx)
	urgent := make(chan []time.Duration, 1)
	go func() { urgent <- b.submitUrgent(more, t, s) }()
	for range jobs {
		b.wait(t)
	}
	f := &b.figures
	f.jobs, f.took = jobs, time.Since(b.begin)
	stopUrgent()
	latencies := <-urgent
	for range latencies {
		b.wait(t)
	}
	require.Eventually(t, func() bool {
		st, err := s.Status()
		return err == nil && st.Jobs == 0
	}, 30*time.Second, 10*time.Millisecond, "the iScheduler hears of all ends")
	stopHere()
	err = <-endedHere
	stop()
	require.NoError(t, errors.Join(err, <-ended, s.Close(), listener.Close(), done()))
	f.sent, f.heard, f.spans["urgent"] = sent.total(), heard.total(), latencies
	require.Len(t, sent.ends, len(b.begun))
	for i, at := range sent.ends {
		f.span("question", at.Sub(b.begun[i][0]))
		f.span("transaction", at.Sub(b.begun[i][1]))
	}
	b.verify(t, s.Stats)
	return f
}

func (b *bench) wait(t testing.TB) {
	select {
	case <-b.over:
	case <-time.After(2 * time.Minute):
		require.Fail(t, "no job ends")
	}
}

func benchTerms() invasive.Terms {
	return invasive.Terms{Attempts: 3, Reply: 30 * time.Second, Report: time.Second}
}

func newBench(t testing.TB, dir string, nodes uint32, jobs int, minUse float64, log *slog.Logger) (*bench, func() error) {
	c := NewConfig(invasive.Partition{Name: "bench", Nodes: nodes, Sockets: 2, CoresPerSocket: 8})
	c.Repeat, c.Policy.MinUse = time.Second, minUse
	journal, err := link.OpenJournal(filepath.Join(dir, "h", "journal"))
	require.NoError(t, err)
	terms := benchTerms()
	terms.Partition = c.Partition
	h, actions := invasive.NewHypervisor(terms, nil, nil, nil)
	b := &bench{hyper: h, manager: newManager(&c, h), random: rand.New(rand.NewPCG(3, 3)),
		judge: newReferee(&c.Partition, 0), running: map[invasive.JobID]*running{},
		figures:  figures{spans: map[string][]time.Duration{}},
		launched: make(chan invasive.JobID, 1000), over: make(chan struct{}, 2*jobs+100_000)}
	b.runner = link.NewRunner(link.Config{Side: invasive.IHypervisor, Machine: hearing{b}, Journal: journal, Log: log, Do: b.do,
		Load: func() *invasive.Load {
			b.manager.Changed()
			b.later()
			return b.manager.load()
		}})
	b.begin = time.Now()
	require.NoError(t, b.runner.Perform(actions))
	return b, journal.Close
}

// urgentCores is what an urgent job needs.
const urgentCores = 16

// submitUrgent submits urgent jobs, one after the other, until ctx is done. It returns how long
// each took to its launch.
func (b *bench) submitUrgent(ctx context.Context, t testing.TB, s *ischeduler.Scheduler) (took []time.Duration) {
	var m runtime.MemStats
	// They hold their cores for a quarter of a second in the mean: at most an eighth of all cores,
	// or there would be urgent jobs that can't have theirs.
	pause := 8 * 250 * time.Millisecond * urgentCores / time.Duration(len(b.judge.owner))
	for ctx.Err() == nil || len(took) == 0 {
		at := time.Now()
		id, err := s.Submit(&ischeduler.Spec{Args: []string{"urgent"}, MinCores: urgentCores, Urgent: true})
		if err != nil {
			t.Errorf("urgent job: %v", err)
			return took
		}
		select {
		case got := <-b.launched:
			if got != id {
				t.Errorf("job %d is launched instead of %d", got, id)
			}
		case <-time.After(time.Minute):
			t.Errorf("urgent job %d isn't launched", id)
			return took
		}
		took = append(took, time.Since(at))
		runtime.ReadMemStats(&m)
		b.figures.heap = max(b.figures.heap, m.HeapInuse)
		time.Sleep(max(20*time.Millisecond, pause))
	}
	return took
}
