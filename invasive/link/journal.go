// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire"
)

// The file is journalHead and frames. A frame is what one Save wrote: its length, a checksum of
// what follows its head, a checksum of the two, each 4 bytes, big endian; then records, each after
// its length as an uvarint. As a frame is synced before anything is done about it, only the last
// one can be torn, and nothing has come of it.
const (
	journalHead  = "aucsched invasive journal 1\n"
	frameHead    = 12
	compactAfter = 1 << 20 // bytes; less isn't worth it
	snapshotJobs = 256     // jobs in a frame of a compacted file
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Journal keeps a machine's records on the disk. It is not safe for concurrent use.
type Journal struct {
	// Point, if set, is called between the steps of a write, with its name; tests
	// end the process there.
	Point func(step string)

	path       string
	file, lock *os.File
	jobs       []invasive.Saved
	size, base int64 // bytes of the file, now and when it was made
	torn       int64
	broken     error
}

// OpenJournal reads a journal, or begins one; its directory is made, for nobody else to see, if it
// isn't there. A frame that was torn by a crash is cut off; anything else that isn't as it was
// written is an error that names file and offset. While it is open no other process can open it.
func OpenJournal(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	lock, err := LockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	j := &Journal{path: path, lock: lock}
	if err = j.load(); err != nil {
		j.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

// Saved returns what the journal says of the jobs, ascending by ID. It belongs to the Journal, and
// is to be used before the next Save.
func (j *Journal) Saved() []invasive.Saved { return j.jobs }

// Torn is the number of bytes that were cut off its end when it was opened.
func (j *Journal) Torn() int64 { return j.torn }

// Close closes the files. What was saved stays saved.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	j.broken = os.ErrClosed
	return errors.Join(err, j.lock.Close())
}

// Save writes records, all or none, and returns when they are on the disk. After an error the
// Journal takes no more: nobody knows what is in the file before it is opened again.
func (j *Journal) Save(records ...invasive.Record) error {
	if j.broken != nil {
		return j.broken
	}
	err := j.save(records)
	if err != nil {
		j.broken = fmt.Errorf("journal %s: %w", j.path, err)
	}
	return j.broken
}

func (j *Journal) save(records []invasive.Record) error {
	frame, err := appendFrame(nil, records)
	if err != nil {
		return err
	}
	if err := j.write(frame); err != nil {
		return err
	}
	for _, r := range records {
		j.jobs = invasive.Replay(j.jobs, r)
	}
	j.size += int64(len(frame))
	if j.size > compactAfter && j.size > 4*j.base {
		return j.compact()
	}
	return nil
}

func (j *Journal) write(frame []byte) error {
	half := 0
	if j.Point != nil {
		j.Point("journal: before")
		half = len(frame) / 2
		if _, err := j.file.Write(frame[:half]); err != nil {
			return err
		}
		j.Point("journal: half")
	}
	if _, err := j.file.Write(frame[half:]); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	if j.Point != nil {
		j.Point("journal: after")
	}
	return nil
}

func appendFrame(to []byte, records []invasive.Record) ([]byte, error) {
	start := len(to)
	out := append(to, make([]byte, frameHead)...)
	var one []byte
	for i := range records {
		var err error
		if one, err = wire.AppendRecord(one[:0], &records[i]); err != nil {
			return to, err
		}
		out = append(binary.AppendUvarint(out, uint64(len(one))), one...)
	}
	head, body := out[start:start+frameHead], out[start+frameHead:]
	if uint64(len(body)) > 1<<31 {
		return to, fmt.Errorf("records of %d bytes at once", len(body))
	}
	binary.BigEndian.PutUint32(head, uint32(len(body)))
	binary.BigEndian.PutUint32(head[4:], crc32.Checksum(body, castagnoli))
	binary.BigEndian.PutUint32(head[8:], crc32.Checksum(head[:8], castagnoli))
	return out, nil
}

// load reads the file, makes it if need be, and leaves it open at its end.
func (j *Journal) load() error {
	text, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	good, err := j.replay(text)
	if err != nil {
		return err
	}
	if j.torn = int64(len(text) - good); good == 0 || good > compactAfter {
		return j.compact()
	}
	if j.file, err = os.OpenFile(j.path, os.O_RDWR, 0o600); err != nil {
		return err
	}
	j.size, j.base = int64(good), int64(good)
	if j.torn > 0 {
		if err := errors.Join(j.file.Truncate(j.size), j.file.Sync()); err != nil {
			return err
		}
	}
	_, err = j.file.Seek(j.size, io.SeekStart)
	return err
}

// replay returns how many bytes of the text are good.
func (j *Journal) replay(text []byte) (int, error) {
	if len(text) < len(journalHead) && bytes.HasPrefix([]byte(journalHead), text) {
		return 0, nil
	}
	if !bytes.HasPrefix(text, []byte(journalHead)) {
		return 0, errors.New("offset 0: this is no journal of ours")
	}
	at := len(journalHead)
	for at < len(text) {
		body, err := frameAt(text[at:])
		if err != nil {
			return 0, fmt.Errorf("offset %d: %w", at, err)
		}
		if body == nil {
			return at, nil
		}
		if err := j.replayFrame(body); err != nil {
			return 0, fmt.Errorf("offset %d: %w", at, err)
		}
		at += frameHead + len(body)
	}
	return at, nil
}

// frameAt returns the body of the first frame, nil if it is the last one and torn.
func frameAt(text []byte) ([]byte, error) {
	if len(text) < frameHead || len(bytes.Trim(text, "\x00")) == 0 {
		// a file may have grown, and its bytes not come
		return nil, nil
	}
	head, rest := text[:frameHead], text[frameHead:]
	if crc32.Checksum(head[:8], castagnoli) != binary.BigEndian.Uint32(head[8:]) {
		return nil, errors.New("a frame's head is damaged")
	}
	size := uint64(binary.BigEndian.Uint32(head))
	if uint64(len(rest)) < size {
		return nil, nil
	}
	body := rest[:size:size]
	if crc32.Checksum(body, castagnoli) == binary.BigEndian.Uint32(head[4:]) {
		return body, nil
	}
	if uint64(len(rest)) == size {
		return nil, nil
	}
	return nil, errors.New("a frame is damaged, and others follow it")
}

func (j *Journal) replayFrame(body []byte) error {
	for len(body) > 0 {
		size, n := binary.Uvarint(body)
		if n <= 0 || size > uint64(len(body)-n) {
			return errors.New("a record's length is wrong")
		}
		r, err := wire.ParseRecord(body[n : n+int(size)])
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		j.jobs = invasive.Replay(j.jobs, r)
		body = body[n+int(size):]
	}
	return nil
}
