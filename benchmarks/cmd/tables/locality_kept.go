// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// open reads what is done in the directory, and goes on writing there; without one nothing is kept.
func (m *measurer) open(dir string) error {
	m.done = map[[2]string]dayFigures{}
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "locality.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("-dir: %w", err)
	}
	// up to here the file has whole lines; a line may have been cut off as the command was killed
	good := int64(0)
	for d := json.NewDecoder(f); ; good = d.InputOffset() {
		var x dayFigures
		err := d.Decode(&x)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return errors.Join(fmt.Errorf("-dir: %s: after byte %d: %w", f.Name(), good, err), f.Close())
		}
		m.done[[2]string{x.Day, x.Scheduler}] = x
	}
	m.file = f
	if good == 0 {
		return f.Truncate(0)
	}
	if err := f.Truncate(good); err != nil {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

// keep notes what a scheduler came to on a day.
func (m *measurer) keep(key [2]string, f dayFigures) error {
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[key] = f
	fmt.Fprintf(m.errs, "%s: %s: stretch %.3f\n", f.Day, f.Scheduler, f.Stretch)
	if m.file == nil {
		return nil
	}
	_, err = m.file.Write(append(line, '\n'))
	return err
}

func (m *measurer) close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
