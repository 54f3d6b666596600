// SPDX-License-Identifier: BSD-3-Clause

//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// become runs another program in the place of this one: it has the same process, and so the
// same signals and the same exit status.
func become(path string, args []string) error {
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, args, os.Environ()))
}
