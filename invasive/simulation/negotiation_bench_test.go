// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package simulation

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
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
// ends after up to half a second. Meanwhile urgent jobs come, 20 ms apart. It tells transactions a
// second, jobs a second, the latency of an urgent job from its submission to its launch, and the
// most memory that was in use. AUCSCHED_BENCH_JOBS, AUCSCHED_BENCH_NODES: other numbers.
//
//	go test -run '^$' -bench Negotiation -benchtime 1x ./invasive/simulation
func BenchmarkNegotiation(b *testing.B) {
	jobs, nodes := number("AUCSCHED_BENCH_JOBS", 10_000), number("AUCSCHED_BENCH_NODES", 1024)
	for range b.N {
		negotiate(b, jobs, uint32(nodes)).report(b)
	}
}

// TestNegotiation is the same with few jobs: all end, and urgent ones are launched.
func TestNegotiation(t *testing.T) {
	n := negotiate(t, 40, 8)
	require.Positive(t, n.transactions)
	require.NotEmpty(t, n.latencies)
}

func number(name string, or int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return or
}

// figures are what a negotiation came to.
type figures struct {
	jobs, transactions int
	took               time.Duration
	latencies          []time.Duration
	heap               uint64
}

func (f *figures) report(b *testing.B) {
	slices.Sort(f.latencies)
	b.ReportMetric(float64(f.transactions)/f.took.Seconds(), "transactions/s")
	b.ReportMetric(float64(f.jobs)/f.took.Seconds(), "jobs/s")
	b.ReportMetric(1000*quantile(f.latencies, 0.5), "urgent-p50-ms")
	b.ReportMetric(1000*quantile(f.latencies, 0.99), "urgent-p99-ms")
	b.ReportMetric(float64(f.heap)/1e6, "heap-MB")
	b.ReportMetric(0, "ns/op")
}

// A bench is an iHypervisor of simulated nodes. All but its channels belongs to
// the Runner's goroutine.
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
}

// hearing is the Hypervisor, with an ear for the iScheduler.
type hearing struct{ *bench }

func (m hearing) Step(ev *invasive.Event, out []invasive.Action) []invasive.Action {
	if ev.Msg != nil {
		m.manager.Hear(ev.Msg)
	}
	if ev.Kind == invasive.Exited || ev.Kind == invasive.Released {
		m.manager.Freed()
	}
	return m.hyper.Step(ev, out)
}

func (b *bench) do(a *invasive.Action, q link.Question) {
	switch a.Kind {
	case invasive.AskOffer:
		b.question = q
		if !a.Prompt {
			b.figures.transactions++
		}
	case invasive.Launch:
		b.launch(a.Job)
	case invasive.Reclaim:
		b.runner.Post(invasive.Event{Kind: invasive.Released, ID: a.ID, Cores: a.Cores})
	}
	if ev, ok := b.manager.answer(a, time.Since(b.begin)); ok {
		b.runner.Answer(q, ev)
	}
	b.later()
}

func (b *bench) launch(j *invasive.Job) {
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
		for _, ev := range b.manager.tick(time.Since(b.begin)) {
			if b.later(); ev.Kind == invasive.OfferMade {
				b.runner.Answer(b.question, ev)
			} else {
				b.runner.Post(ev)
			}
		}
	})
}

// negotiate runs it all. The clock starts when the iScheduler, which has the jobs
// already, may connect.
func negotiate(t testing.TB, jobs int, nodes uint32) *figures {
	dir := t.TempDir()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	b, done := newBench(t, dir, nodes, jobs, log)
	endpoint := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	listener, err := endpoint.Listen(link.RealClock{}, &link.Stats{})
	require.NoError(t, err)
	b.runner.Listener = listener
	gate := make(chan struct{})
	s, err := ischeduler.Open(ischeduler.Config{
		Dir: filepath.Join(dir, "s"), Terms: benchTerms(), Limit: invasive.MaxJobs,
		Queue: queue.DefaultOptions(), Random: rand.New(rand.NewPCG(1, 1)), Log: log,
		Dial: func(ctx context.Context) (net.Conn, error) {
			select {
			case <-gate:
				return endpoint.Dial(ctx)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	r := rand.New(rand.NewPCG(2, 2))
	for range jobs {
		least := uint32(1) << r.IntN(6)
		spec := &ischeduler.Spec{Args: []string{"job"}, MinCores: least, MaxCores: least << r.IntN(3), Kind: "malleable"}
		_, err := s.Submit(spec)
		require.NoError(t, err)
	}
	go func() { ended <- b.runner.Run(ctx) }()
	b.begin = time.Now()
	close(gate)
	more, stopUrgent := context.WithCancel(ctx)
	urgent := make(chan int, 1)
	go func() { urgent <- b.submitUrgent(more, t, s) }()
	for range jobs {
		b.wait(t)
	}
	took := time.Since(b.begin)
	stopUrgent()
	for range <-urgent {
		b.wait(t)
	}
	stop()
	require.NoError(t, errors.Join(<-ended, <-ended, s.Close(), listener.Close(), done()))
	b.figures.jobs, b.figures.took = jobs, took
	return &b.figures
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

func newBench(t testing.TB, dir string, nodes uint32, jobs int, log *slog.Logger) (*bench, func() error) {
	c := NewConfig(invasive.Partition{Name: "bench", Nodes: nodes, Sockets: 2, CoresPerSocket: 8})
	c.Repeat = time.Second
	journal, err := link.OpenJournal(filepath.Join(dir, "h", "journal"))
	require.NoError(t, err)
	terms := benchTerms()
	terms.Partition = c.Partition
	h, actions := invasive.NewHypervisor(terms, nil, nil, nil)
	b := &bench{hyper: h, manager: newManager(&c, h), random: rand.New(rand.NewPCG(3, 3)),
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

// submitUrgent submits urgent jobs, one after the other, until ctx is done, and returns how many.
func (b *bench) submitUrgent(ctx context.Context, t testing.TB, s *ischeduler.Scheduler) (n int) {
	var m runtime.MemStats
	var once sync.Once
	for ; ctx.Err() == nil || n == 0; n++ {
		at := time.Now()
		id, err := s.Submit(&ischeduler.Spec{Args: []string{"urgent"}, MinCores: 16, Urgent: true})
		if err != nil {
			once.Do(func() { t.Errorf("urgent job: %v", err) })
			return n
		}
		select {
		case got := <-b.launched:
			if got != id {
				t.Errorf("job %d is launched instead of %d", got, id)
			}
		case <-time.After(time.Minute):
			t.Errorf("urgent job %d isn't launched", id)
			return n
		}
		b.figures.latencies = append(b.figures.latencies, time.Since(at))
		runtime.ReadMemStats(&m)
		b.figures.heap = max(b.figures.heap, m.HeapInuse)
		time.Sleep(20 * time.Millisecond)
	}
	return n
}
