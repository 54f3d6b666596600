// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
)

// A companion is a program whose commands aucsched hands on to it.
type companion struct {
	program, what string
	commands      []offered
}

// offered is a command of a companion; a name of two words is below another command.
type offered struct {
	name, short string
	hidden      bool
}

const invasive = "aucsched-invasive"

var companions = []companion{
	{cli.Laboratory, "the laboratory", []offered{
		{"demo", "Show what deciding together is worth: two windows as pictures, a workload as a table", false},
		{"reproduce", "Run the papers' experiments in the simulator, and print our figures beside theirs", false},
		{"emulate", "Run a workload on a real slurmctld under an accelerated clock, and print the papers' metrics", false},
		{"simulate", "Replay a trace or a generated workload under a policy, and print the papers' metrics", false},
		{"simulate-invasive", "Measure what malleable jobs are worth: iScheduler and iHypervisor in simulated time", false},
		{"solve", "Solve a 0-1 packing model in MPS", false},
		{"solver-worker", "", true},
	}},
	{invasive, "the invasive resource manager", []offered{
		{"ihypervisor", "Own the cores of this host, negotiate with an iScheduler for jobs, and run them pinned to cores", false},
		{"agent", "Run jobs on this node, for aucsched ihypervisor --agents", false},
		{"ihypervisor-supervisor", "", true},
		{"ischeduler", "Run an iScheduler: take invasive jobs, and negotiate with an iHypervisor where they run", false},
		{"crew", "In a job of Slurm: take more nodes while it runs, and give them back when they are wanted", false},
		{"task-prolog", "As Slurm's TaskProlog: begin a task of an invasive job on the job's cores", false},
		{"demo invasive", "Run an iHypervisor, an iScheduler and jobs that give cores to an urgent one, and watch the cores", false},
	}},
}

// addTo adds commands that stand for the companion's, in a group of help's.
func (p *companion) addTo(root *cobra.Command) {
	root.AddGroup(&cobra.Group{ID: p.program, Title: "Commands of " + p.program + ", " + p.what + ":"})
	for _, o := range p.commands {
		command := &cobra.Command{
			Use: o.name, Short: o.short, Hidden: o.hidden, GroupID: p.program,
			Annotations: map[string]string{"program": p.program, cli.NoPage: ""},
			RunE:        func(_ *cobra.Command, args []string) error { return handOn(p.program, o.name, args) },
		}
		above := root
		if parent, name, below := strings.Cut(o.name, " "); below {
			above, _, _ = root.Find([]string{parent}) // which is there
			command.Use, command.GroupID = name, ""
		}
		above.AddCommand(command)
	}
}

// handedOn is the program that has the command that args call, or ask about, and the command's
// name: empty if it is this program. root is parsed, and of no use afterwards.
func handedOn(root *cobra.Command, args []string) (program, command string) {
	words, asks := args, false
	if len(args) > 1 {
		switch args[0] {
		case "help":
			words, asks = args[1:], true
		case cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
			words, asks = args[1:len(args)-1], true // the last is what is to be completed
		}
	}
	c, rest, err := root.Find(words)
	if err != nil {
		return "", ""
	}
	if program = c.Annotations["program"]; program == "" && !asks && c.ParseFlags(rest) == nil {
		program = cli.DoneBy(c)
	}
	return program, c.Name()
}

// handOn has a program do a command in the place of this one.
func handOn(program, command string, args []string) error {
	path, err := find(program, command)
	if err != nil {
		return err
	}
	return become(path, append([]string{path}, args...))
}

// find is the path of a companion, whose command is asked for: it is beside this program, or
// in PATH.
func find(program, command string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	for _, path := range []string{filepath.Join(filepath.Dir(self), program), program} {
		if path, err := exec.LookPath(path); err == nil {
			return path, nil
		}
	}
	return "", cli.BadInput(fmt.Errorf("%s: %s does this, and is neither in %s nor in PATH: make builds it, as bin/%s",
		command, program, filepath.Dir(self), program))
}
