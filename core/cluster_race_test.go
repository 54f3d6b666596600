// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// ledger counts what runs where, by what a cluster's caller is told alone. Nodes have ledgerCores
// and ledgerMemory each, ledgerGPUs of ledgerShares each, and no name is used twice.
type ledger struct {
	mu        sync.Mutex
	used      map[string]int
	memory    map[string]int64
	whole     map[string]int           // GPUs given whole
	shared    map[string]map[int]int64 // shares of each GPU that jobs share, by node
	started   map[string]core.Start
	running   []string
	cancelled map[string]bool
	starts    int
	shares    int // starts on a share of a GPU
	dropped   int
}

const (
	ledgerCores  = 8
	ledgerMemory = 20
	ledgerGPUs   = 2
	ledgerShares = 10
)

// note records what a cycle started, and returns what is wrong with it.
func (l *ledger) note(cycle *core.Cycle) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped += len(cycle.Dropped)
	for _, s := range cycle.Starts {
		if _, twice := l.started[s.Job]; twice || l.cancelled[s.Job] {
			return fmt.Errorf("job %s started: twice (%t), or though it was cancelled", s.Job, twice)
		}
		cores := 0
		for _, share := range s.Nodes {
			cores += share.Cores
			if l.used[share.Node] += share.Cores; l.used[share.Node] > ledgerCores {
				return fmt.Errorf("node %s gives %d cores of %d", share.Node, l.used[share.Node], ledgerCores)
			}
			if l.memory[share.Node] += memoryOf(s, share); l.memory[share.Node] > ledgerMemory {
				return fmt.Errorf("node %s gives %d memory of %d", share.Node, l.memory[share.Node], ledgerMemory)
			}
			if err := l.noteGPUs(s, share); err != nil {
				return err
			}
		}
		if want := coresOfID(s.Job); cores != want {
			return fmt.Errorf("job %s has %d cores, not %d", s.Job, cores, want)
		}
		l.started[s.Job] = s
		l.running = append(l.running, s.Job)
		l.starts++
	}
	return nil
}

// noteGPUs counts what a start has of a node's GPUs.
func (l *ledger) noteGPUs(s core.Start, at core.Share) error {
	l.whole[at.Node] += at.GPUs
	if s.GPUShare > 0 {
		if l.shared[at.Node] == nil {
			l.shared[at.Node] = map[int]int64{}
		}
		l.shared[at.Node][s.SharedGPU] += s.GPUShare
		l.shares++
	}
	if l.whole[at.Node]+len(l.shared[at.Node]) > ledgerGPUs || l.shared[at.Node][s.SharedGPU] > ledgerShares {
		return fmt.Errorf("node %s gives %d GPUs and %v of others", at.Node, l.whole[at.Node], l.shared[at.Node])
	}
	return nil
}

// end takes some running job out of the books, before the cluster hears of it.
func (l *ledger) end() (id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.running) == 0 {
		return "", false
	}
	id, l.running = l.running[0], l.running[1:]
	for _, share := range l.started[id].Nodes {
		l.used[share.Node] -= share.Cores
		l.memory[share.Node] -= memoryOf(l.started[id], share)
		l.whole[share.Node] -= share.GPUs
		if s := l.started[id]; s.GPUShare > 0 {
			if l.shared[share.Node][s.SharedGPU] -= s.GPUShare; l.shared[share.Node][s.SharedGPU] == 0 {
				delete(l.shared[share.Node], s.SharedGPU)
			}
		}
	}
	return id, true
}

// memoryOf is what a start takes of a node's memory.
func memoryOf(s core.Start, share core.Share) int64 {
	take := s.Takes["memory"]
	return take.PerNode + take.PerCore*int64(share.Cores)
}

// coresOfID is how many cores a job asks for: its id says so.
func coresOfID(id string) (cores int) {
	_, _ = fmt.Sscanf(id, "c%d-", &cores)
	return cores
}

// Many goroutines add, drain and remove nodes, submit, cancel and end jobs, and decide, all at
// once: no core, memory or GPU is given twice, no job starts twice or after it was cancelled.
func TestClusterUnderManyGoroutines(t *testing.T) {
	c, err := core.NewCluster(core.ClusterOptions{Deadline: 50 * time.Millisecond})
	require.NoError(t, err)
	l := &ledger{used: map[string]int{}, memory: map[string]int64{}, whole: map[string]int{}, shared: map[string]map[int]int64{},
		started: map[string]core.Start{}, cancelled: map[string]bool{}}
	capacity := nodeset.Capacity{Cores: ledgerCores, GPUs: ledgerGPUs}
	for n := range 20 {
		require.NoError(t, setNode(c, fmt.Sprint("n", n), capacity, true))
		require.NoError(t, setResources(c, fmt.Sprint("n", n), map[string]int64{"memory": ledgerMemory}))
		require.NoError(t, setGPUShares(c, fmt.Sprint("n", n), int64(n%2*ledgerShares)))
	}
	stop := time.Now().Add(700 * time.Millisecond)
	submit := func(worker, i int, r *rand.Rand) error {
		if i%2 == 0 {
			spec := core.JobSpec{ID: fmt.Sprintf("c1-%d-%d", worker, i), Request: bids.Request{Cores: 1},
				Priority: 1 + r.Int64N(9), TimeLimit: time.Minute, GPUShare: r.Int64N(ledgerShares + 1)}
			if spec.GPUShare == 0 {
				spec.MinGPUs = 1
			}
			return c.Submit(spec)
		}
		cores := 1 + r.IntN(30)
		return c.Submit(core.JobSpec{ID: fmt.Sprintf("c%d-%d-%d", cores, worker, i), Request: bids.Request{Cores: cores},
			Takes:    map[string]nodeset.Use{"memory": {PerNode: r.Int64N(9), PerCore: r.Int64N(4)}},
			Priority: 1 + r.Int64N(9), TimeLimit: time.Duration(1+r.IntN(100)) * time.Second})
	}
	decide := func(int, int, *rand.Rand) error {
		cycle, err := c.Decide(context.Background())
		if errors.Is(err, core.ErrBusy) {
			time.Sleep(time.Millisecond)
			return nil
		} else if err != nil {
			return err
		}
		return l.note(cycle)
	}
	end := func(_, _ int, _ *rand.Rand) error {
		if id, ok := l.end(); ok {
			return c.Ended(id)
		}
		time.Sleep(time.Millisecond)
		return nil
	}
	submitAndCancel := func(worker, i int, r *rand.Rand) error {
		id := fmt.Sprintf("c3-%d-%d", worker, i)
		err := c.Submit(core.JobSpec{ID: id, Request: bids.Request{Cores: 3}, Priority: 5, TimeLimit: time.Second})
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
		l.mu.Lock() // Cancel and its note are one step for the ledger
		defer l.mu.Unlock()
		if c.Cancel(id) == nil {
			l.cancelled[id] = true
		}
		return nil
	}
	changeNodes := func(worker, i int, r *rand.Rand) error {
		time.Sleep(time.Millisecond)
		name := fmt.Sprintf("extra%d-%d", worker, i)
		if err := setNode(c, name, capacity, true); err != nil {
			return err
		}
		if err := setNode(c, fmt.Sprint("n", r.IntN(20)), capacity, r.IntN(3) > 0); err != nil {
			return err
		}
		if err := setResources(c, name, map[string]int64{"memory": ledgerMemory, fmt.Sprint("disk", i%9): 1}); err != nil {
			return err
		}
		if err := setGPUShares(c, name, int64(i%2*ledgerShares)); err != nil {
			return err
		}
		if err := setTier(c, name, uint8(i)); err != nil {
			return err
		}
		if i > 5 {
			_, err := c.RemoveNode(fmt.Sprintf("extra%d-%d", worker, i-5))
			return err
		}
		return nil
	}
	look := func(int, int, *rand.Rand) error {
		time.Sleep(5 * time.Millisecond)
		var b bytes.Buffer
		if err := c.WriteWindow(&b); err != nil {
			return err
		}
		_, err := window.Read(&b, "window")
		return err
	}
	work := []func(worker, i int, r *rand.Rand) error{decide, decide, submit, submitAndCancel, end, changeNodes, changeNodes, look}
	errs := make([]error, len(work))
	var wg sync.WaitGroup
	for worker, do := range work {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for i := 0; time.Now().Before(stop) && errs[worker] == nil; i++ {
				errs[worker] = do(worker, i, r)
				if worker == 2 && i > 300 { // more would wait than is ever looked at
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Positive(t, l.starts)
	require.Positive(t, l.shares)
	t.Logf("%d starts, of them %d on shares of GPUs, %d dropped", l.starts, l.shares, l.dropped)
}

// How nodes are called makes no difference to how many jobs start.
func TestClusterNamesDoNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		starts := func(name func(n int) string) int {
			r := rand.New(rand.NewPCG(seed, 1))
			c, err := core.NewCluster(core.ClusterOptions{})
			require.NoError(t, err)
			for n := range 30 {
				require.NoError(t, setNode(c, name(n), nodeset.Capacity{Cores: uint16(4 + r.IntN(5)), GPUs: uint8(r.IntN(3))}, n%7 > 0))
			}
			for i := range 40 {
				require.NoError(t, c.Submit(core.JobSpec{ID: fmt.Sprint(i), Priority: 1 + r.Int64N(5), TimeLimit: time.Minute,
					Request: bids.Request{Cores: 1 + r.IntN(40), MinGPUs: r.IntN(2)},
					On:      []string{name(r.IntN(30)), name(1), name(2), name(3), name(4)}}))
			}
			return len(decide(t, c).Starts)
		}
		permuted := rand.New(rand.NewPCG(seed, 2)).Perm(30)
		plain := starts(func(n int) string { return fmt.Sprint("n", n) })
		require.Positive(t, plain)
		require.Equal(t, plain, starts(func(n int) string { return fmt.Sprint("n", permuted[n]) }))
		require.Equal(t, plain, starts(func(n int) string { return fmt.Sprintf("rack%d-x%03d", permuted[n]%3, n) }))
	}
}

// What has ended leaves nothing behind.
func TestClusterForgetsEndedJobs(t *testing.T) {
	c, _ := newCluster(t, 2)
	cycle := func(i int) {
		spec := wholeNodes(fmt.Sprint(i), 1)
		spec.On = []string{"n1"}
		for bit := range 11 { // no two jobs name their nodes alike
			spec.On = append(spec.On, fmt.Sprint("n", 1+i>>bit&1))
		}
		require.NoError(t, c.Submit(spec))
		require.Len(t, decide(t, c).Starts, 1)
		require.NoError(t, c.Ended(spec.ID))
	}
	for i := range 2000 {
		cycle(i)
	}
	require.Zero(t, core.Kept(c))
}

// drawnJob has a power of two of nodes, below 2^widths.
func drawnJob(r *rand.Rand, id, widths int) core.JobSpec {
	nodes := 1 << r.IntN(widths)
	return core.JobSpec{ID: fmt.Sprint(id), Priority: 1 + r.Int64N(1000), TimeLimit: time.Duration(1+r.IntN(24)) * time.Hour,
		Request: bids.Request{Cores: nodes * 32, MinNodes: nodes, MaxNodes: nodes, MinGPUs: r.IntN(5)}}
}

// BenchmarkCluster is a cycle of a busy cluster: 1,000 nodes and 500 waiting jobs, of which some
// start, and as many come anew and end.
func BenchmarkCluster(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	clock := &fakeClock{midnight}
	c, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(b, err)
	for n := range 1000 {
		require.NoError(b, setNode(c, fmt.Sprint("n", n), nodeset.Capacity{Cores: 64, GPUs: 4}, true))
	}
	next, waiting, started := 0, 0, 0
	var running []string
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for ; waiting < 500; waiting++ {
			require.NoError(b, c.Submit(drawnJob(r, next, 7)))
			next++
		}
		for range len(running) / 10 {
			i := r.IntN(len(running))
			require.NoError(b, c.Ended(running[i]))
			running[i] = running[len(running)-1]
			running = running[:len(running)-1]
		}
		clock.Advance(time.Minute)
		b.StartTimer()
		cycle, err := c.Decide(context.Background())
		b.StopTimer()
		require.NoError(b, err)
		for _, s := range cycle.Starts {
			running = append(running, s.Job)
		}
		waiting -= len(cycle.Starts)
		started += len(cycle.Starts)
		b.StartTimer()
	}
	b.ReportMetric(float64(started)/float64(b.N), "starts/op")
}

// BenchmarkClusterOfManyWaiting is a cycle of a full cluster: 2,000 nodes and 100,000 waiting jobs, of
// which one comes and one has ended since the cycle before.
func BenchmarkClusterOfManyWaiting(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	clock := &fakeClock{midnight}
	c, err := core.NewCluster(core.ClusterOptions{Clock: clock.Now})
	require.NoError(b, err)
	for n := range 2000 {
		require.NoError(b, setNode(c, fmt.Sprint("n", n), nodeset.Capacity{Cores: 64, GPUs: 4}, true))
	}
	next := 0
	submit := func() {
		require.NoError(b, c.Submit(drawnJob(r, next, 5)))
		next++
	}
	for range 100_000 {
		submit()
	}
	var running []string
	decide := func() {
		cycle, err := c.Decide(context.Background())
		require.NoError(b, err)
		for _, s := range cycle.Starts {
			running = append(running, s.Job)
		}
	}
	for range 30 {
		clock.Advance(time.Minute)
		decide()
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		i := r.IntN(len(running))
		require.NoError(b, c.Ended(running[i]))
		running[i] = running[len(running)-1]
		running = running[:len(running)-1]
		submit()
		clock.Advance(time.Minute)
		b.StartTimer()
		decide()
	}
}
