// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"fmt"
	"io"
	"regexp"

	"github.com/aucsched/aucsched/internal/workload"
)

// maxHeader bounds what is kept of the comments, in bytes.
const maxHeader = 1 << 20

var errHeader = fmt.Errorf("header comments of more than %d bytes", maxHeader)

// headerLine is "; Label: value"; the space keeps addresses from being labels.
var headerLine = regexp.MustCompile(`^;\s*([A-Za-z][A-Za-z0-9_]*):(?:\s+(.*))?$`)

// SWFScanner reads a Standard Workload Format file record by record in constant
// memory. It is used like a bufio.Scanner:
//
//	s := NewSWFScanner(r, "file.swf")
//	for s.Next() {
//		use(s.Record())
//	}
//	return s.Err()
type SWFScanner struct {
	lines  *workload.Lines
	header workload.Header
	kept   int // bytes in header
	rec    SWFRecord
	begun  bool // a record has been read
	err    error
}

// NewSWFScanner reads from r, which is unpacked if it is in gzip's format; name
// is what errors call the file.
func NewSWFScanner(r io.Reader, name string) *SWFScanner {
	return &SWFScanner{lines: workload.NewLines(r, name), header: workload.Header{}}
}

// Next goes to the next record. It returns false at the end and at an error.
func (s *SWFScanner) Next() bool {
	for s.err == nil && s.lines.Next() {
		switch text := s.lines.Text(); {
		case len(text) == 0:
		case text[0] == ';':
			s.err = s.comment(text)
		default:
			s.begun = true
			s.err = s.parse(text)
			return s.err == nil
		}
	}
	return false
}

// Record is the current record. Its Extra belongs to the caller.
func (s *SWFScanner) Record() SWFRecord { return s.rec }

// Line is the number of the current record's line, from 1.
func (s *SWFScanner) Line() int { return s.lines.N }

// Header is what the comments before the first record say; it is complete once
// Next has been called.
func (s *SWFScanner) Header() workload.Header { return s.header }

// Err is the error that ended the scan, an [*InputError], or nil.
func (s *SWFScanner) Err() error {
	if s.err != nil {
		return s.err
	}
	return s.lines.Err
}

func (s *SWFScanner) comment(text []byte) error {
	if s.begun {
		return nil
	}
	m := headerLine.FindSubmatch(text)
	if m == nil {
		return nil
	}
	if s.kept += len(text); s.kept > maxHeader {
		return &workload.InputError{File: s.lines.Name, Line: s.lines.N, Err: errHeader}
	}
	label := string(m[1])
	s.header[label] = append(s.header[label], string(m[2]))
	return nil
}

func (s *SWFScanner) parse(text []byte) error {
	s.rec = SWFRecord{}
	rest := text
	for i := range swfFields {
		var field []byte
		if field, rest = cutField(rest); len(field) == 0 {
			return &workload.InputError{File: s.lines.Name, Line: s.lines.N, Err: fmt.Errorf("%d fields, SWF has %d", i, swfFields)}
		}
		if err := s.rec.set(i, field); err != nil {
			return s.lines.FieldError(swfField(i), string(field), err)
		}
	}
	for _, f := range bytes.Fields(rest) {
		s.rec.Extra = append(s.rec.Extra, string(f))
	}
	return nil
}

// cutField takes the first field off b.
func cutField(b []byte) (field, rest []byte) {
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }
	i := 0
	for i < len(b) && space(b[i]) {
		i++
	}
	j := i
	for j < len(b) && !space(b[j]) {
		j++
	}
	return b[i:j], b[j:]
}
