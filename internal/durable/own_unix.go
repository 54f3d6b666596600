// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package durable

import (
	"io/fs"
	"os"
	"syscall"
)

// OpenOwn opens a file of this user in a directory where others may write. It refuses a link, a
// device, a directory, a file of somebody else, and one with a second name. A new one is private.
func OpenOwn(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		if st := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
			err = &fs.PathError{Op: "open", Path: path, Err: syscall.EPERM}
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
