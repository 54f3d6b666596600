// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package link

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

// CheckDir makes a directory of this mode, or looks that one has it, or less. Whose it is it
// doesn't look at: its owner can change it.
func CheckDir(path string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err == nil || !os.IsExist(err) {
		return err
	}
	st, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s: is no directory", path)
	case runtime.GOOS != "windows" && st.Mode().Perm()&^mode != 0: // which has no such modes
		return fmt.Errorf("directory %s has mode %#o, more than %#o", path, st.Mode().Perm(), mode)
	}
	return nil
}

func (e Endpoint) listenUnix(Clock, *Stats) (*Listener, error) {
	return nil, fmt.Errorf("%v: the peer's user can be asked for on Linux only", e)
}

func (e Endpoint) dialUnix(context.Context) (net.Conn, error) {
	return nil, fmt.Errorf("%v: the peer's user can be asked for on Linux only", e)
}
