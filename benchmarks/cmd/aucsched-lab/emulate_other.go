// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
)

// emulateCommand: a Slurm of its own is run on Linux only.
func emulateCommand() *cobra.Command { return cli.LinuxOnly("emulate") }
