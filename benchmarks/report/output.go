// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OutputFile is a file that appears whole or not at all: it is written under another
// name beside its place, so that a place that cannot be written is known at once.
type OutputFile struct {
	*os.File
	path string // where it goes; empty if File writes there directly
}

// CreateOutput begins a file. What is no regular file, such as a pipe or a device, is
// written to directly.
func CreateOutput(path string) (*OutputFile, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &OutputFile{File: f}, err
	case err == nil: // a link stays one: its target is replaced
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d.new", path, os.Getpid()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	var fault *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("%s: is named for two outputs", path)
	case errors.As(err, &fault): // of the name that nobody gave
		return nil, &fs.PathError{Op: fault.Op, Path: path, Err: fault.Err}
	case err != nil:
		return nil, err
	}
	if info != nil { // it keeps the permissions of the file that it replaces
		err = f.Chmod(info.Mode().Perm())
	}
	return &OutputFile{f, path}, err
}

// CreateIf begins the file if a path is given; a nil file may be discarded.
func CreateIf(path string) (*OutputFile, error) {
	if path == "" {
		return nil, nil
	}
	return CreateOutput(path)
}

// Fill has write write the file, and puts it in its place.
func (o *OutputFile) Fill(write func(io.Writer) error) error {
	w := bufio.NewWriter(o)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return o.Commit()
}

// Commit puts the file in its place.
func (o *OutputFile) Commit() error {
	if err := o.Close(); err != nil || o.path == "" {
		return err
	}
	return os.Rename(o.Name(), o.path)
}

// Discard takes back what was not committed; after Commit, and of nil, it does nothing.
func (o *OutputFile) Discard() {
	if o != nil && o.Close() == nil && o.path != "" {
		_ = os.Remove(o.Name())
	}
}
