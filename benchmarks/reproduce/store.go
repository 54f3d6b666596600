// SPDX-License-Identifier: BSD-3-Clause

package reproduce

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/aucsched/aucsched/internal/sim"
)

// Store is a directory with a file for each cell that was run, KEY.json. A file is
// there whole or not at all.
type Store struct{ dir string }

// Stored is a result as it is on file.
type Stored struct {
	Command  string   `json:"command,omitempty"` // as in Cell
	Args     []string `json:"args"`
	Seed     uint64   `json:"seed"`
	Settings []string `json:"settings"`
	// Program is the build that ran the cell.
	Program string `json:"program"`
	// Result has no wall-clock times.
	Result *sim.Result `json:"result"`
	// Notes are what the program noted besides.
	Notes json.RawMessage `json:"notes,omitempty"`
	// Sum is the SHA-256 of the rest, without spaces.
	Sum string `json:"sha256"`
}

// maxStored bounds the size of a result file.
const maxStored = 16 << 20

// OpenStore makes the directory if need be and tries whether files can be written.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	s := &Store{dir}
	return s, TryFile(filepath.Join(dir, "try"))
}

// TryFile reports what would keep a file from being written in its directory. It
// leaves nothing behind and does not touch the file.
func TryFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".try-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (s *Store) path(key string) string { return filepath.Join(s.dir, key+".json") }

// Load returns the cell's result; the error is fs.ErrNotExist if there is none, and
// another one if the file is damaged or of another cell.
func (s *Store) Load(c *Prepared) (*Stored, error) {
	f, err := os.Open(s.path(c.Key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStored))
	if err != nil {
		return nil, err
	}
	r := new(Stored)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(c.Key), err)
	}
	sum, err := r.sum()
	switch {
	case err != nil:
		return nil, err
	case sum != r.Sum:
		return nil, fmt.Errorf("%s: its checksum is not that of its content", s.path(c.Key))
	case r.Result == nil || !slices.Equal(r.Settings, c.Settings):
		return nil, fmt.Errorf("%s: not this cell's result", s.path(c.Key))
	}
	return r, nil
}

// Save writes the cell's result, without the wall clock's figures.
func (s *Store) Save(c *Prepared, program string, result sim.Result, notes json.RawMessage) (*Stored, error) {
	result.CycleMsP50, result.CycleMsP99, result.CycleMsMax = 0, 0, 0
	r := &Stored{Command: c.Command, Args: c.Args, Seed: c.Seed, Settings: c.Settings, Program: program, Result: &result, Notes: notes}
	var err error
	if r.Sum, err = r.sum(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, err
	}
	return r, WriteFile(s.path(c.Key), append(text, '\n'))
}

func (r *Stored) sum() (string, error) {
	unsigned := *r
	unsigned.Sum = ""
	text, err := json.Marshal(unsigned)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// WriteFile puts text into the file, whole or not at all.
func WriteFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
