// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package shadow

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/aucsched/aucsched/internal/durable"
)

// File is the file of what the auction would have started, and what its first line says.
type File struct {
	Path     string      `json:"-"`
	Limit    int64       `json:"-"` // bytes, of the file and the one before it together
	Mode     fs.FileMode `json:"-"`
	Shadow   int         `json:"shadow"` // 1: the version of the file
	Time     int64       `json:"time"`   // seconds since 1970
	Interval int64       `json:"interval_s"`
	Version  string      `json:"version,omitempty"`
	Slurm    string      `json:"slurm,omitempty"`
	Settings string      `json:"settings,omitempty"`
}

const (
	sampleSeconds = 60 // from one sample to the next
	againSeconds  = 10 // after a write that failed
)

// Writer appends to the file. The zero Writer is ready. What can't be written waits, up to half of
// the limit; lines beyond that are lost, and counted.
type Writer struct {
	f       *os.File // nil: none is open
	path    string
	info    fs.FileInfo
	mode    fs.FileMode
	size    int64
	waiting bytes.Buffer // lines that are to be written
	lost    int64
	sample  Sample
	sampled bool  // it is to be written
	again   int64 // no write before
	fault   error // of the last write
}

// Write adds lines, and a sample at most once a minute, and writes what waits to the end of the file,
// all of it or nothing. The file is moved to PATH.old when it has half of the limit.
// The error stands until a write succeeds.
func (w *Writer) Write(to File, lines []Line, sample *Sample) error {
	for i := range lines {
		if int64(w.waiting.Len()) > to.Limit/2 {
			w.lost++
		} else {
			put(&w.waiting, &lines[i])
		}
	}
	if sample != nil && sample.Time >= w.sample.Time+sampleSeconds {
		w.sample, w.sampled = *sample, true
	}
	if w.fault != nil && to.Time < w.again && to.Time+againSeconds >= w.again {
		return w.fault
	}
	if w.fault = w.flush(&to); w.fault != nil {
		if at := (*fs.PathError)(nil); errors.As(w.fault, &at) { // the caller names the file
			w.fault = at.Err
		}
		w.Close()
		w.again = to.Time + againSeconds
	}
	return w.fault
}

func put(b *bytes.Buffer, line any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // numbers and texts: there is nothing to fail
}

func (w *Writer) flush(to *File) error {
	fresh, err := w.ready(to)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	if fresh {
		to.Shadow = 1
		put(&all, to)
	}
	if w.sampled {
		w.sample.Lost = w.lost
		put(&all, &w.sample)
	}
	all.Write(w.waiting.Bytes())
	if n, err := w.f.Write(all.Bytes()); err != nil {
		if n > 0 {
			_ = w.f.Truncate(w.size) // else half a line is ended by the next one who opens the file
		}
		return err
	}
	w.size += int64(all.Len())
	w.sampled = false
	w.waiting.Reset()
	return nil
}

// ready opens the file unless it is, and is still there; fresh says that it was not.
func (w *Writer) ready(to *File) (fresh bool, err error) {
	if st, err := os.Stat(to.Path); w.f != nil && (w.path != to.Path || err != nil || !os.SameFile(st, w.info)) {
		w.Close()
	}
	if w.f != nil && w.size >= to.Limit/2 {
		if err := os.Rename(to.Path, to.Path+".old"); err != nil {
			return false, err
		}
		w.Close()
	}
	switch {
	case w.f == nil:
		return true, w.open(to)
	case w.mode != to.Mode:
		w.mode = to.Mode
		_ = os.Chmod(to.Path+".old", to.Mode) // if there is one
		return false, w.f.Chmod(to.Mode)
	}
	return false, nil
}

// open opens the file. What a killed slurmctld, or a full disk, has left half written ends there.
func (w *Writer) open(to *File) error {
	f, info, err := durable.OpenOwn(to.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	w.f, w.info, w.path, w.mode = f, info, to.Path, to.Mode
	if err := f.Chmod(to.Mode); err != nil {
		return err
	}
	last := []byte{'\n'}
	if w.size = w.info.Size(); w.size > 0 {
		if _, err := f.ReadAt(last, w.size-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		n, err := f.WriteString("\n")
		w.size += int64(n)
		return err
	}
	return nil
}

// Close closes the file; what waits stays.
func (w *Writer) Close() {
	if w.f != nil {
		w.f.Close()
	}
	w.f = nil
}
