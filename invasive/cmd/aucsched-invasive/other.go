// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
)

// Jobs are pinned to cores on Linux only.

func ihypervisorCommand() *cobra.Command { return cli.LinuxOnly("ihypervisor") }

func agentCommand() *cobra.Command { return cli.LinuxOnly("agent") }

func supervisorCommand() *cobra.Command { return cli.LinuxOnly("ihypervisor-supervisor") }

func crewCommand() *cobra.Command { return cli.LinuxOnly("crew") }

func demoCommand() *cobra.Command { return cli.LinuxOnly("invasive") }
