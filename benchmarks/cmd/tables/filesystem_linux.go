// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"syscall"
)

// fileSystem is the kind of a directory's file system, by statfs(2).
func fileSystem(dir string) (string, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	switch s.Type {
	case 0x01021994:
		return "tmpfs", nil
	case 0xef53:
		return "ext4", nil
	case 0x58465342:
		return "xfs", nil
	}
	return fmt.Sprintf("file system %#x", s.Type), nil
}
