// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aucsched/aucsched/ipmodel"
)

// memoryVariable tells a worker how many bytes it may take.
const memoryVariable = "AUCSCHED_WORKER_MEMORY"

// The two streams start with these; the digit at the end is the version. What follows is a request
// as gob has it, of who started the worker, or frames, little-endian and bounded, of whom nobody
// trusts.
const (
	requestMagic = "AUCHREQ2"
	answerMagic  = "AUCHANS1"
)

// Limits of what is read.
const (
	maxColumns = 1 << 24
	maxEntries = 1 << 28
	maxMessage = 1 << 10
)

// request is what the worker gets.
type request struct {
	Seed  uint64
	Work  int64         // 0: no limit
	Limit time.Duration // 0: no limit
	Model *ipmodel.Model
	Start []int32
}

func writeRequest(w io.Writer, q request) error {
	m := q.Model
	if len(m.Value) > maxColumns || m.Groups() > maxColumns || len(m.Cap) > maxColumns || len(m.Row) > maxEntries {
		return fmt.Errorf("a model of %d columns, %d rows and %d entries is too large for HiGHS",
			len(m.Value), m.Groups()+len(m.Cap), len(m.Row))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.WriteString(requestMagic) // Flush says what is wrong
	if err := gob.NewEncoder(out).Encode(q); err != nil {
		return err
	}
	return out.Flush()
}

var errNotRequest = errors.New("standard input is not a model for this version's worker")

func readRequest(r io.Reader) (request, error) {
	magic, q := make([]byte, len(requestMagic)), request{Model: new(ipmodel.Model)}
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != requestMagic {
		return request{}, errNotRequest
	}
	err := gob.NewDecoder(r).Decode(&q)
	m := q.Model
	switch {
	case err != nil:
	case len(m.GroupStart) == 0 || len(m.ColStart) == 0 || !slices.IsSorted(m.GroupStart) || !slices.IsSorted(m.ColStart):
		err = errors.New("starts do not ascend") // Validate indexes by these
	case q.Work < 0 || q.Limit < 0:
		err = errors.New("a limit is negative")
	default:
		err = m.Validate()
	}
	if err != nil {
		return request{}, fmt.Errorf("%w: %w", errNotRequest, err)
	}
	return q, nil
}

// frame is one message of the worker: a type, and what belongs to it.
type frame struct {
	kind    byte
	chosen  []int32  // solution
	bound   int64    // bound
	end     endFrame // end
	message string   // end: why it failed
}

const (
	kindSolution = 'S'
	kindBound    = 'B'
	kindEnd      = 'E'
)

type endFrame struct {
	Verdict     byte
	Work, Nodes int64
}

const (
	verdictStopped = iota // a limit struck
	verdictDone           // HiGHS holds the best solution for optimal
	verdictInfeasible
	verdictFailed
)

type frameHeader struct {
	Kind byte
	Size uint32
}

func writeFrame(w io.Writer, f frame) error {
	h := frameHeader{Kind: f.kind}
	var body []any
	switch f.kind {
	case kindSolution:
		h.Size = uint32(4 * len(f.chosen))
		body = []any{f.chosen}
	case kindBound:
		h.Size = 8
		body = []any{f.bound}
	case kindEnd:
		message := []byte(f.message)
		message = message[:min(len(message), maxMessage)]
		h.Size = uint32(binary.Size(f.end) + len(message))
		body = []any{f.end, message}
	}
	out := bufio.NewWriter(w)
	for _, data := range append([]any{h}, body...) {
		if err := binary.Write(out, binary.LittleEndian, data); err != nil {
			return err
		}
	}
	return out.Flush()
}

var errNonsense = errors.New("the solver's process answered nonsense")

// readFrame reads the next message of a worker that solves a model of so many columns.
func readFrame(r io.Reader, columns int) (frame, error) {
	var h frameHeader
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return frame{}, err
	}
	f := frame{kind: h.Kind}
	var err error
	switch size := int(h.Size); {
	case h.Kind == kindSolution && size%4 == 0 && size/4 <= columns:
		f.chosen = make([]int32, size/4)
		err = binary.Read(r, binary.LittleEndian, f.chosen)
	case h.Kind == kindBound && size == 8:
		err = binary.Read(r, binary.LittleEndian, &f.bound)
	case h.Kind == kindEnd && size >= binary.Size(f.end) && size <= binary.Size(f.end)+maxMessage:
		message := make([]byte, size-binary.Size(f.end))
		if err = binary.Read(r, binary.LittleEndian, &f.end); err == nil {
			_, err = io.ReadFull(r, message)
		}
		f.message = string(message)
	default:
		return frame{}, errNonsense
	}
	return f, err
}
