// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/internal/engine"
)

const (
	saveEvery = time.Second // at most
	saveShare = 50          // and no more than this part of the time, one in so many
	saveAgain = time.Minute // after one that failed
	mostKept  = 64 << 20    // more than this is none of ours
)

// kept is the file in which what nodes hold outlasts the process.
type kept struct {
	path  string // "": nothing was loaded yet
	saved uint64 // changes that are in the file
	due   time.Time
}

func (k *kept) keep(h *engine.Handle, path string, end bool) error {
	if k.path == "" {
		k.path = path
		return load(h, path)
	}
	begin, changes := now(), h.FileChanges()
	if changes == k.saved || !end && begin.Before(k.due) {
		return nil
	}
	if err := replace(path, h.AppendFiles(nil)); err != nil {
		k.due = begin.Add(saveAgain)
		return err
	}
	k.saved, k.due = changes, now()
	k.due = k.due.Add(max(saveEvery, saveShare*k.due.Sub(begin)))
	return nil
}

// load takes over what an earlier process has left.
func load(h *engine.Handle, path string) error {
	f, _, err := durable.OpenOwn(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var saved []byte
	if err == nil {
		defer f.Close()
		saved, err = io.ReadAll(io.LimitReader(f, mostKept))
	}
	if err == nil {
		err = h.LoadFiles(saved)
	}
	if err != nil {
		return fmt.Errorf("%w; no node is taken to hold a file", err)
	}
	return nil
}

// replace writes a file so that a reader sees the old one or the new one. What a killed process has left,
// or a link, is not written to.
func replace(path string, data []byte) error {
	aside := path + ".new"
	_ = os.Remove(aside)
	f, _, err := durable.OpenOwn(aside, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(aside, path)
}
