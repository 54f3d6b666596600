// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// lineCounter counts the lines of a file that grows.
type lineCounter struct {
	path string
	at   int64
	n    int
}

func (l *lineCounter) count() (int, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return l.n, err
	}
	defer f.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := f.ReadAt(buf, l.at)
		l.n += bytes.Count(buf[:n], []byte{'\n'})
		l.at += int64(n)
		if errors.Is(err, io.EOF) {
			return l.n, nil
		}
		if err != nil {
			return l.n, err
		}
	}
}
