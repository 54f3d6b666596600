//go:build !linux

package main

import "github.com/spf13/cobra"

// ihypervisorCommands: jobs are pinned to cores on Linux only.
func ihypervisorCommands() []*cobra.Command { return nil }

func demoInvasiveCommands() []*cobra.Command { return nil }

// emulateCommands: a Slurm of its own is run on Linux only.
func emulateCommands() []*cobra.Command { return nil }
