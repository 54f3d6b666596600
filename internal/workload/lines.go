// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/input"
)

// maxLine is the length of the longest line that readers take, in bytes.
const maxLine = 1 << 20

var gzipMagic = []byte{0x1f, 0x8b}

// Plain returns r, unpacked if its first bytes say that it is a gzip file, and without a byte order
// mark. Errors name the file.
func Plain(r io.Reader, name string) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := b.Peek(len(gzipMagic)); bytes.Equal(magic, gzipMagic) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, &InputError{File: name, Err: ReadError(err)}
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	if err := input.SkipMark(b); err != nil {
		return nil, &InputError{File: name, Line: 1, Err: err}
	}
	return b, nil
}

// ReadError puts the usual reason of a failed read into words.
func ReadError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is truncated: %w", err)
	}
	return fmt.Errorf("reading: %w", err)
}

// Lines goes through the lines of a file, unpacking it where need be.
type Lines struct {
	Name string // of the file, for messages
	src  io.Reader
	r    *bufio.Reader // nil before the first line
	buf  []byte
	N    int // number of the current line
	Err  error
}

func NewLines(r io.Reader, name string) *Lines { return &Lines{Name: name, src: r} }

// Next reads a line. A line that an error cuts short is not delivered.
func (l *Lines) Next() bool {
	if l.Err != nil {
		return false
	}
	if l.r == nil {
		if l.r, l.Err = Plain(l.src, l.Name); l.Err != nil {
			return false
		}
	}
	l.N++
	l.buf = l.buf[:0]
	for {
		chunk, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(chunk) > maxLine {
			return l.fail(fmt.Errorf("a line of more than %d bytes", maxLine))
		}
		l.buf = append(l.buf, chunk...)
		switch {
		case err == nil:
			return true
		case err == io.EOF:
			return len(l.buf) > 0
		case err != bufio.ErrBufferFull:
			return l.fail(ReadError(err))
		}
	}
}

func (l *Lines) fail(err error) bool {
	l.Err = &InputError{File: l.Name, Line: l.N, Err: err}
	return false
}

// Text is the current line without the space around it, valid until next.
func (l *Lines) Text() []byte { return bytes.TrimSpace(l.buf) }

// FieldError is an InputError at the current line.
func (l *Lines) FieldError(field, value string, err error) error {
	return &InputError{File: l.Name, Line: l.N, Field: field, Value: value, Err: err}
}

// Locate puts file and line to an error of the current line.
func (l *Lines) Locate(err error) error {
	var in *InputError
	if errors.As(err, &in) {
		in.File, in.Line = l.Name, l.N
		return in
	}
	return RequestError(l, err)
}

// RequestError takes apart the error of an impossible request.
func RequestError(l *Lines, err error) error {
	var f *bids.FieldError
	if errors.As(err, &f) {
		return l.FieldError(f.Field, fmt.Sprint(f.Value), errors.New(f.Why))
	}
	return &InputError{File: l.Name, Line: l.N, Err: err}
}
