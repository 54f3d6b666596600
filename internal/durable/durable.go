// SPDX-License-Identifier: BSD-3-Clause

// Package durable writes files that are there as a whole or not at all, also after
// a crash of the host.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file that only this user can read, by way of another one beside it,
// PATH.new. When it returns without an error, the file is on the disk; after an error the one
// before may still be there.
func Write(path string, data []byte) error {
	aside := path + ".new"
	f, err := os.OpenFile(aside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(aside, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir has the names in a directory on the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
