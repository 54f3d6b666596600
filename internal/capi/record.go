// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"unsafe"

	"github.com/aucsched/aucsched/internal/durable"
)

/*
#include "record.h"

typedef const struct aucsched_input aucsched_in;

struct piece { const void *at; size_t bytes; };

// What a record of a cycle consists of. Returns how many pieces these are, at most 64.
static int pieces(const struct aucsched_input *in, const struct aucsched_output *out, struct piece *to)
{
	int n = 0;

	to[n++] = (struct piece) { in, sizeof(*in) };
#define ADD(array, len) to[n++] = (struct piece) { in->array, (len) * sizeof(*in->array) };
	AUCSCHED_RECORD_ARRAYS(ADD, in)
#undef ADD
	to[n++] = (struct piece) { out, sizeof(*out) };
	to[n++] = (struct piece) { out->decisions, out->decisions_len * sizeof(*out->decisions) };
	to[n++] = (struct piece) { out->segments, out->segments_len * sizeof(*out->segments) };
	return n;
}
*/
import "C"

// mostRecorded is how long the file of a record may be.
const mostRecorded = 64 << 20

// record is the file of cycles as they were given, and what was answered: cshim/record.h.
type record struct {
	path     string   // which it is, or was
	f        *os.File // nil: none, or it has ended
	settings string   // that were written last
	bytes    int
}

// add adds a cycle to the file of path, which each handle begins with a new one. An error ends the file, and
// is told once.
func (r *record) add(path, settings string, in *C.aucsched_in, out *C.struct_aucsched_output) (err error) {
	if path != r.path {
		r.end()
		*r = record{path: path}
		if path != "" {
			if r.f, _, err = durable.OpenOwn(path, os.O_CREATE|os.O_WRONLY); err != nil {
				return err
			}
			if err = r.f.Truncate(0); err == nil {
				err = r.write([]byte(C.AUCSCHED_RECORD_MAGIC))
			}
		}
	}
	if r.f == nil {
		return nil
	}
	var all []byte
	if settings != r.settings || r.bytes == len(C.AUCSCHED_RECORD_MAGIC) {
		r.settings = settings
		all = append(begin(all, 'S', len(settings)), settings...)
	}
	var parts [64]C.struct_piece
	n, size := int(C.pieces(in, out, &parts[0])), 0
	for _, p := range parts[:n] {
		size += int(p.bytes)
	}
	if err == nil && r.bytes+len(all)+size > mostRecorded {
		err = errors.New(path + ": it has 64 MB")
	}
	if err == nil {
		all = begin(all, 'C', size)
		for _, p := range parts[:n] {
			if p.bytes > 0 {
				all = append(all, unsafe.Slice((*byte)(p.at), int(p.bytes))...)
			}
		}
		err = r.write(all)
	}
	if err != nil {
		r.end()
	}
	return err
}

// begin adds the head of a record of so many bytes.
func begin(to []byte, kind uint32, bytes int) []byte {
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint32(to, kind), uint64(bytes))
}

func (r *record) write(data []byte) error {
	n, err := r.f.Write(data)
	r.bytes += n
	return err
}

func (r *record) end() {
	if r.f != nil {
		r.f.Close()
	}
	r.f = nil
}

// repeatable are settings without the file of the record, over which a repetition would write.
func repeatable(settings string) string {
	words := strings.FieldsFunc(settings, func(r rune) bool { return r == ' ' || r == ',' })
	kept := words[:0]
	for _, word := range words {
		if !strings.HasPrefix(word, "record=") {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}
