// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// kept is what is done of a measurement that takes hours: a figure of kind V by part. With a
// directory it is in a file of JSON lines too, so that the next run goes on where this one ended.
// The file says nothing of the program that wrote it: remove it to measure anew.
type kept[V any] struct {
	mu   sync.Mutex
	done map[string]V
	file *os.File // nil: there is no file
}

// keptLine is a line of the file.
type keptLine[V any] struct {
	Part   string
	Figure V
}

// openKept reads what is done from the file of that name in the directory, and goes on writing
// there; without a directory nothing is kept.
func openKept[V any](dir, name string) (*kept[V], error) {
	k := &kept[V]{done: map[string]V{}}
	if dir == "" {
		return k, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	if err := k.read(f); err != nil {
		return nil, errors.Join(fmt.Errorf("-dir: %s: %w", f.Name(), err), f.Close())
	}
	k.file = f
	return k, nil
}

// read reads the file and cuts a last line off that was not written whole.
func (k *kept[V]) read(f *os.File) error {
	good := int64(0)
	for d := json.NewDecoder(f); ; good = d.InputOffset() {
		var x keptLine[V]
		err := d.Decode(&x)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("after byte %d: %w", good, err)
		}
		k.done[x.Part] = x.Figure
	}
	if good == 0 {
		return f.Truncate(0)
	}
	if err := f.Truncate(good); err != nil {
		return err
	}
	_, err := f.WriteString("\n")
	return err
}

// get is the figure of a part, if it is done.
func (k *kept[V]) get(part string) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.done[part]
	return v, ok
}

// put keeps the figure of a part.
func (k *kept[V]) put(part string, v V) error {
	line, err := json.Marshal(keptLine[V]{part, v})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done[part] = v
	if k.file == nil {
		return nil
	}
	if _, err := k.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	return nil
}

func (k *kept[V]) close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}
