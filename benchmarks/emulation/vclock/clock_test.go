// SPDX-License-Identifier: BSD-3-Clause

package vclock_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
)

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o644))
	for name, c := range map[string]struct {
		path string
		most float64
		want string
	}{
		"rate below 1": {"a", 0.5, "from 1 to"},
		"rate 0":       {"a", 0, "from 1 to"},
		"too great":    {"a", vclock.MostRate * 2, "from 1 to"},
		"no number":    {"a", math.NaN(), "from 1 to"},
		"infinite":     {"a", math.Inf(1), "from 1 to"},
		"file exists":  {"taken", 60, "exists"},
		"no directory": {"none/a", 60, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := vclock.Create(filepath.Join(dir, c.path), time.Now(), c.most)
			require.ErrorContains(t, err, c.want)
		})
	}
	require.NoFileExists(t, filepath.Join(dir, "a"))
}

func TestSetRate(t *testing.T) {
	clock, _ := clockAt(t, 1, 1000)
	for _, rate := range []float64{0.001, 1, 1.001, 60, 999.999, 1000} {
		require.NoError(t, clock.SetRate(rate))
		require.Equal(t, rate, clock.Rate())
	}
	for _, rate := range []float64{0, -1, 0.0001, 1000.001, math.NaN(), math.Inf(1), math.Inf(-1)} {
		require.ErrorContains(t, clock.SetRate(rate), "from 0.001 to 1000")
		require.Equal(t, 1000., clock.Rate())
	}
}

// TestNow: as much time passes as the rates say, and it goes forward.
func TestNow(t *testing.T) {
	start := time.Unix(1767225600, 0)
	clock, err := vclock.Create(filepath.Join(t.TempDir(), "clock"), start, 1000)
	require.NoError(t, err)
	defer clock.Close()
	require.InDelta(t, float64(start.UnixNano()), float64(clock.Now().UnixNano()), float64(late))

	last := clock.Now()
	for i := range 20000 {
		require.NoError(t, clock.SetRate(float64(1+i%2*999)))
		now := clock.Now()
		require.False(t, now.Before(last), "back by %v", last.Sub(now))
		last = now
	}

	require.NoError(t, clock.SetRate(500))
	before, real := clock.Now(), time.Now()
	time.Sleep(50 * time.Millisecond)
	least := time.Since(real)
	virtual := clock.Now().Sub(before)
	most := time.Since(real)
	require.GreaterOrEqual(t, virtual, 500*least)
	// before is a little older than real
	require.LessOrEqual(t, virtual, 500*(most+time.Millisecond))
}

func TestClosed(t *testing.T) {
	clock, path := clockAt(t, 60, 60)
	require.NoError(t, clock.Close())
	require.NoError(t, clock.Close())
	require.True(t, clock.Now().IsZero())
	require.Zero(t, clock.Rate())
	require.ErrorContains(t, clock.SetRate(1), "closed")
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, uint64(60000), binary.LittleEndian.Uint64(page[32:]), "the clock of those who have it runs on")
}

func TestEnv(t *testing.T) {
	require.Equal(t, []string{"LD_PRELOAD=/lib/vclock.so", "AUCSCHED_VCLOCK=/run/clock"}, vclock.Env("/lib/vclock.so", "/run/clock"))
}

// reader reads a page as vclock.c does: it is the writer's contract.
type reader struct{ words *[6]int64 }

func newReader(t *testing.T, path string) reader {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(mem)) })
	return reader{(*[6]int64)(unsafe.Pointer(&mem[0]))}
}

// read returns the fields of one moment.
func (r reader) read() (mono0, virt0, rate int64) {
	for {
		seq := atomic.LoadInt64(&r.words[1])
		mono0, virt0, rate = atomic.LoadInt64(&r.words[2]), atomic.LoadInt64(&r.words[3]), atomic.LoadInt64(&r.words[4])
		if seq%2 == 0 && atomic.LoadInt64(&r.words[1]) == seq {
			return mono0, virt0, rate
		}
	}
}

// TestSeqlock: what readers see is always one state: each begins on the line of the one
// before it, however much they differ. Two writers take turns.
func TestSeqlock(t *testing.T) {
	clock, path := clockAt(t, 1, 1000)
	r := newReader(t, path)
	for range 2 {
		flap(t, clock, 0)
	}
	states := 0
	mono, virt, rate := r.read()
	for begin := time.Now(); states < 5000 && time.Since(begin) < 10*time.Second; {
		m, v, n := r.read()
		// Between two states that were seen there may be others: at any rate from 1 to 1000.
		ok := (n == 1000 || n == 1000000) && m >= mono && v-virt >= m-mono-1 && v-virt <= 1000*(m-mono)
		if m == mono {
			ok = ok && n == rate
		} else {
			states++
		}
		if !ok {
			t.Errorf("at %d ns it is %d, rate %d; then %d ns later it is %d later, rate %d", mono, virt, rate, m-mono, v-virt, n)
			break
		}
		mono, virt, rate = m, v, n
	}
	require.Greater(t, states, 10, "the writers did not come to write")
}
