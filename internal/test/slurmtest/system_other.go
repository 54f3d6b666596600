// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux && !windows

package slurmtest

import (
	"errors"
	"os"
	"syscall"
)

// No cluster starts on other systems; what uses this package is compiled on those
// of Unix all the same.

func urgent(int, uint32) {}

func endWithThread(*syscall.SysProcAttr) {}

func asUser(*syscall.SysProcAttr, *account) {}

func mapShared(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) error { return nil }
