// SPDX-License-Identifier: BSD-3-Clause

package residence

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// The form of what is saved, all numbers little-endian:
//
//	"aucfiles", version uint32, nodes uint32
//	for each node that holds anything: id uint64, capacity int64, copies uint32, and
//	    for each of its copies, what was read last first: file uint64, bytes int64, read int64
//	CRC-32C of all that uint32
const (
	magic    = "aucfiles"
	version  = 1
	headSize = len(magic) + 4 + 4
	nodeSize = 8 + 8 + 4
	copySize = 8 + 8 + 8
	sumSize  = 4
)

// MaxSaved is the most bytes that [State.Append] adds.
const MaxSaved = headSize + MaxCopies*(nodeSize+copySize) + sumSize

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append adds what [State.Load] reads to dst.
func (s *State) Append(dst []byte) []byte {
	from, count := len(dst), 0
	for n := range s.nodes {
		if s.nodes[n].saved() {
			count++
		}
	}
	le := binary.LittleEndian
	dst = append(dst, magic...)
	dst = le.AppendUint32(dst, version)
	dst = le.AppendUint32(dst, uint32(count))
	for n := range s.nodes {
		node := &s.nodes[n]
		if !node.saved() {
			continue
		}
		dst = le.AppendUint64(dst, node.ID)
		dst = le.AppendUint64(dst, uint64(node.Capacity))
		dst = le.AppendUint32(dst, uint32(len(node.held)))
		for _, c := range slices.Backward(node.held) {
			dst = le.AppendUint64(dst, c.File)
			dst = le.AppendUint64(dst, uint64(c.Bytes))
			dst = le.AppendUint64(dst, uint64(c.Read))
		}
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// Load replaces the state by a saved one; its machine is that of the saved nodes until
// [State.SetMachine] says otherwise. What is not just as Append wrote it is an error, and then
// nothing is held by any node. The bytes stay the caller's.
func (s *State) Load(saved []byte) error {
	s.clear(0)
	nodes, err := head(saved)
	if err != nil {
		return err
	}
	r := reader{rest: saved[headSize : len(saved)-sumSize]}
	ids := make(map[uint64]bool)
	for n := range nodes {
		if err := s.loadNode(&r, ids); err != nil {
			s.clear(0)
			return fmt.Errorf("node %d: %w", n, err)
		}
	}
	if len(r.rest) > 0 {
		s.clear(0)
		return fmt.Errorf("%d bytes more than the %d nodes have", len(r.rest), nodes)
	}
	return nil
}

// head checks what can be known before any node is read, and returns how many there are.
func head(saved []byte) (nodes uint32, err error) {
	switch {
	case len(saved) < headSize+sumSize:
		return 0, fmt.Errorf("%d bytes are too few", len(saved))
	case len(saved) > MaxSaved:
		return 0, fmt.Errorf("%d bytes: must be at most %d", len(saved), MaxSaved)
	case string(saved[:len(magic)]) != magic:
		return 0, fmt.Errorf("begins with %q instead of %q", saved[:len(magic)], magic)
	}
	le := binary.LittleEndian
	if v := le.Uint32(saved[len(magic):]); v != version {
		return 0, fmt.Errorf("version %d is unknown: this is version %d", v, version)
	}
	body := saved[:len(saved)-sumSize]
	if want, got := le.Uint32(saved[len(body):]), crc32.Checksum(body, castagnoli); want != got {
		return 0, fmt.Errorf("damaged: the checksum is %08x instead of %08x", got, want)
	}
	return le.Uint32(saved[len(magic)+4:]), nil
}

func (s *State) loadNode(r *reader, ids map[uint64]bool) error {
	id, capacity, count := r.uint64(), int64(r.uint64()), r.uint32()
	switch {
	case r.short:
		return errShort
	case id == 0 || ids[id]:
		return fmt.Errorf("id %x: is 0, or another node's", id)
	case capacity > MaxBytes:
		return fmt.Errorf("capacity %d: must be at most %d", capacity, int64(MaxBytes))
	case count == 0 || count > MaxPerNode:
		return fmt.Errorf("%d copies: must be 1 to %d", count, MaxPerNode)
	case s.used+int(count) > MaxCopies:
		return fmt.Errorf("%d copies, with those before: must be at most %d in all", count, MaxCopies)
	}
	ids[id] = true
	var held [MaxPerNode]Copy
	for k := range count {
		held[k] = Copy{r.uint64(), int64(r.uint64()), int64(r.uint64())}
	}
	if r.short {
		return errShort
	}
	n := len(s.nodes)
	s.nodes = append(s.nodes, node{Node: Node{id, capacity}})
	for k := int(count) - 1; k >= 0; k-- {
		c := held[k]
		switch {
		case c.File == 0 || s.find(n, c.File) >= 0:
			return fmt.Errorf("copy %d: file %x: is 0, or held already", k, c.File)
		case c.Bytes < 1 || c.Bytes > capacity-s.nodes[n].bytes:
			return fmt.Errorf("copy %d: %d bytes: must be 1 to what is left of the node's %d", k, c.Bytes, capacity)
		}
		s.add(n, c)
	}
	return nil
}

var errShort = errors.New("ends early")

// reader takes numbers off bytes; once there are too few it gives 0 and is short.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) uint64() (v uint64) {
	if r.short = r.short || len(r.rest) < 8; !r.short {
		v, r.rest = binary.LittleEndian.Uint64(r.rest), r.rest[8:]
	}
	return v
}

func (r *reader) uint32() (v uint32) {
	if r.short = r.short || len(r.rest) < 4; !r.short {
		v, r.rest = binary.LittleEndian.Uint32(r.rest), r.rest[4:]
	}
	return v
}
