// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/lines/linestest"
)

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	tasks := []string{"a", "b", "c"}
	r, done, err := OpenRecord(path, tasks)
	require.NoError(t, err)
	require.Empty(t, done)
	_, _, err = OpenRecord(path, tasks)
	require.ErrorContains(t, err, "in use by another process")
	require.NoError(t, r.Save(1, 0))
	require.NoError(t, r.Save(2, 137))
	require.NoError(t, r.Close())

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := range len(text) + 1 { // a crash at any byte
		require.NoError(t, os.WriteFile(path, text[:cut], 0o644))
		r, done, err := OpenRecord(path, tasks)
		require.NoError(t, err)
		want := max(bytes.Count(text[:cut], []byte("\n"))-1, 0)
		require.Len(t, done, want)
		require.NoError(t, r.Save(0, 1))
		require.NoError(t, r.Close())
		r, done, err = OpenRecord(path, tasks)
		require.NoError(t, err)
		require.Len(t, done, want+1)
		require.NoError(t, r.Close())
	}
	_, _, err = OpenRecord(path, []string{"a", "b", "other"})
	require.ErrorContains(t, err, "line 1: is of other tasks")
	head := string(text[:bytes.IndexByte(text, '\n')+1])
	for bad, says := range map[string]string{
		"x\n": `line 2: "x": must be TASK STATUS`, "4 0\n": "tasks are 1 to 3", "0 0\n": "tasks are 1 to 3", "1 256\n": "statuses 0 to 255",
		"1 0\n1 0\n": "line 3: task 1 has ended before", "1 0 0\n": "must be TASK STATUS", "01 0\n": "must be TASK STATUS",
	} {
		require.NoError(t, os.WriteFile(path, []byte(head+bad), 0o644))
		_, _, err = OpenRecord(path, tasks)
		require.ErrorContains(t, err, says, bad)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte("tasks 00\n1 0\n2 137\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		done, err := readRecord(text, 5)
		if err != nil {
			return
		}
		for task, status := range done {
			require.True(t, task >= 0 && task < 5 && status >= 0 && status < 256)
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"hello":{"secret":"x","place":3,"node":"n","job":"7"}}` + "\n" + `{"ended":1,"status":137}` + "\n{}\n"))
	f.Add([]byte(`{"run":{"argv":["a"],"env":["B=c"],"dir":"/"},"id":7}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range []any{new(news), new(order), new(OnRequest)} {
			l := lines.New(linestest.Read(text))
			for {
				if err := l.Next(m); errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrTooLong) {
					break
				}
			}
		}
	})
}
