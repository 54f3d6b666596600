// SPDX-License-Identifier: BSD-3-Clause

//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"

	"github.com/aucsched/aucsched/internal/cli"
)

// become runs another program, and ends as it does. What interrupts this one interrupts both.
func become(path string, args []string) error {
	c := exec.Command(path, args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return cli.Ended(exit.ExitCode())
	}
	return err
}
