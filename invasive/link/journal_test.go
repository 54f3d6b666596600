// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func job(id invasive.JobID) *invasive.Job {
	return &invasive.Job{ID: id, MinCores: 1, MaxCores: 1, Args: []string{"true", "\xff"}}
}

func open(t require.TestingT, path string) *Journal {
	j, err := OpenJournal(path)
	require.NoError(t, err)
	return j
}

func genRecords(t *rapid.T) []invasive.Record {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) invasive.Record {
		id := invasive.JobID(rapid.IntRange(1, 5).Draw(t, "id"))
		switch op := invasive.Op(rapid.IntRange(1, 4).Draw(t, "op")); op {
		case invasive.Add:
			return invasive.Record{Op: op, Job: job(id), Parts: []invasive.Part{{Node: 1, Cores: 1}}}
		case invasive.Own:
			return invasive.Record{Op: op, ID: id, Cores: []uint32{uint32(id), 7}}
		default:
			return invasive.Record{Op: op, ID: id, Exit: int32(rapid.IntRange(0, int(op)-3).Draw(t, "exit"))}
		}
	}), 1, 3).Draw(t, "records")
}

// memory is a directory where a sync costs nothing, if there is one: the test has many.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "journal-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// A crash may leave any beginning of what was being written: what is read is what all whole Saves
// said, and the journal goes on from there. Compacting at any time changes nothing.
func TestJournalTorn(t *testing.T) {
	root, n := memory(t), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(root, string(rune('a'+n%20)), "journal")
		os.Remove(path)
		j := open(t, path)
		var states [][]invasive.Saved
		var sizes []int64
		var twin []invasive.Saved
		note := func() {
			states, sizes = append(states, clone(twin)), append(sizes, j.size)
		}
		note()
		for range rapid.IntRange(1, 6).Draw(t, "saves") {
			records := genRecords(t)
			require.NoError(t, j.Save(records...))
			for _, r := range records {
				twin = invasive.Replay(twin, r)
			}
			if rapid.IntRange(0, 4).Draw(t, "compact") == 0 {
				require.NoError(t, j.compact())
				states, sizes = nil, nil
			}
			note()
		}
		require.NoError(t, j.Close())
		cut := rapid.Int64Range(sizes[0], sizes[len(sizes)-1]).Draw(t, "cut")
		require.NoError(t, os.Truncate(path, cut))
		whole := 0
		for i, s := range sizes {
			if s <= cut {
				whole = i
			}
		}
		j = open(t, path)
		require.Equal(t, states[whole], clone(j.Saved()))
		require.Equal(t, cut-sizes[whole], j.Torn())
		require.NoError(t, j.Save(invasive.Record{Op: invasive.Add, Job: job(9)}))
		require.NoError(t, j.Close())
		j = open(t, path)
		require.Equal(t, job(9), j.Saved()[len(j.Saved())-1].Job)
		require.NoError(t, j.Close())
	})
}

func clone(jobs []invasive.Saved) []invasive.Saved { return append([]invasive.Saved{}, jobs...) }

func TestJournalDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j := open(t, path)
	for id := range invasive.JobID(3) {
		require.NoError(t, j.Save(invasive.Record{Op: invasive.Add, Job: job(id + 1)}))
	}
	_, err := OpenJournal(path)
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Save(), os.ErrClosed)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	frame := (len(text) - len(journalHead)) / 3
	second := len(journalHead) + frame
	for _, c := range []struct {
		at   int
		want string
	}{
		{0, "offset 0: this is no journal of ours"},
		{second + 1, "a frame's head is damaged"},
		{second + 10, "a frame's head is damaged"},
		{second + frameHead + 3, "a frame is damaged, and others follow it"},
	} {
		bad := append([]byte{}, text...)
		bad[c.at] ^= 0x40
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := OpenJournal(path)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, path)
	}
	// The last one may be torn in any way: then it was never acted upon.
	for _, tail := range [][]byte{make([]byte, 5), make([]byte, 5000), text[second : second+frameHead+1]} {
		require.NoError(t, os.WriteFile(path, append(append([]byte{}, text...), tail...), 0o600))
		j := open(t, path)
		require.Len(t, j.Saved(), 3)
		require.EqualValues(t, len(tail), j.Torn())
		require.NoError(t, j.Close())
	}
}

func TestJournalCompacts(t *testing.T) {
	path := filepath.Join(memory(t), "journal")
	j := open(t, path)
	big := job(1)
	big.Args = []string{string(make([]byte, 0))}
	for len(big.Args[0]) < 60<<10 {
		big.Args[0] += "0123456789abcdef"
	}
	for i := range 80 { // 5 MB in all, of which one job counts
		big := *big
		big.ID = invasive.JobID(i + 1)
		require.NoError(t, j.Save(invasive.Record{Op: invasive.Add, Job: &big},
			invasive.Record{Op: invasive.Own, ID: big.ID, Cores: []uint32{3}}))
		if i < 79 {
			require.NoError(t, j.Save(invasive.Record{Op: invasive.End, ID: big.ID}, invasive.Record{Op: invasive.Remove, ID: big.ID}))
		}
	}
	require.NoError(t, j.Close())
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, st.Size(), int64(3*compactAfter))
	j = open(t, path)
	defer j.Close()
	require.Len(t, j.Saved(), 1)
	require.Equal(t, invasive.Saved{Job: j.Saved()[0].Job, State: invasive.Running, Cores: []uint32{3}}, j.Saved()[0])
	require.EqualValues(t, 80, j.Saved()[0].Job.ID)
}

func FuzzJournal(f *testing.F) {
	frame, err := appendFrame([]byte(journalHead), []invasive.Record{{Op: invasive.Add, Job: job(1)}, {Op: invasive.End, ID: 1}})
	require.NoError(f, err)
	f.Add(frame)
	f.Add(append(frame, frame[len(journalHead):len(frame)-2]...))
	f.Fuzz(func(t *testing.T, text []byte) {
		j := Journal{}
		good, err := j.replay(text)
		if err == nil {
			require.LessOrEqual(t, good, len(text))
		}
	})
}
