// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/cli"
)

// family are policies of a kind of their own, which go with no others.
type family struct {
	policies []string
	beside   []string // policies of others that may be compared with these
	only     []string // flags that other policies go without
	takes    []string // flags of others that these take besides
	run      func(c *cobra.Command, f *Flags) error
}

// LocalityFlags are the settings of the locality-aware policies.
type LocalityFlags struct {
	Mode             string
	WarmUp, Evaluate time.Duration
}

func (f *LocalityFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.Mode, "mode", ModeNames()[0],
		"locality: paper: the report's text; reference: its authors' programme, decision for decision")
	flags.DurationVar(&f.WarmUp, "warm-up", 0, "locality, traces: jobs submitted so long from the first on do not count")
	flags.DurationVar(&f.Evaluate, "evaluate", 0, "locality, traces: jobs submitted so long from then on count; 0: to the end")
}

// ModeNames are the values of --mode.
func ModeNames() []string { return []string{"paper", "reference"} }

// PodFlags are the settings of the policies that place pods.
type PodFlags struct {
	Inflate float64
	Batch   int
}

func (f *PodFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.Inflate, "inflate", 1.3,
		"pods: draw pods again until they ask for so many times the cluster's GPUs")
	flags.IntVar(&f.Batch, "batch", 1, "pods: how many are decided together")
}

// LocalityPolicies are the names of the locality-aware ones.
func LocalityPolicies() []string {
	return []string{"fcfs", "fcfs-bf", "eft", "eft-bf", "lea", "lea-bf", "leo", "leo-bf", "lem", "lem-bf", "lead", "lead-bf"}
}

// PodPolicies are the names of those that place pods.
func PodPolicies() []string {
	return []string{"random", "dotprod", "gpuclustering", "gpupacking", "bestfit", "fgd"}
}

// The flags of the families alone.
var (
	localityOnly = []string{"mode", "warm-up", "evaluate"}
	podOnly      = []string{"inflate", "batch"}
)

func families(more *More) []family {
	shared := []string{"policy", "cluster", "workload", "json", "dry-run", "seed", "verbose"}
	return []family{
		{LocalityPolicies(), nil, localityOnly, slices.Concat(shared, fileSettings,
			[]string{"rate", "limit-factor", "first", "extend-limits", "nodespec", "html"}), more.Locality},
		{PodPolicies(), []string{"auction2"}, podOnly, shared, more.Pods},
	}
}

// family is that of the policies: nil for those that schedule jobs on cores and GPUs.
func (f *Flags) family(flags *pflag.FlagSet, more *More) (own *family, err error) {
	names := f.labels()
	for _, x := range families(more) {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(x.policies, name) }) {
			return &x, cli.BadInput(f.alone(flags, &x, names))
		}
	}
	for _, x := range families(more) {
		for _, name := range x.only {
			if flags.Changed(name) {
				return nil, cli.BadInput(fmt.Errorf("--%s: goes with the policies %s only", name, strings.Join(x.policies, ", ")))
			}
		}
	}
	return nil, nil
}

// alone refuses policies that are not of the family, or twice there, and flags
// that it does not take.
func (f *Flags) alone(flags *pflag.FlagSet, own *family, names []string) (err error) {
	for i, name := range names {
		switch {
		case !slices.Contains(own.policies, name) && !slices.Contains(own.beside, name):
			all := slices.Concat(own.policies, own.beside)
			return fmt.Errorf("--policy: %q does not go with %s in one run", name, strings.Join(all, ", "))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("--policy: %q is given twice", name)
		}
	}
	flags.Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains(own.takes, flag.Name) && !slices.Contains(own.only, flag.Name) {
			err = fmt.Errorf("--%s: does not go with policy %s", flag.Name, f.Policy.Policy)
		}
	})
	return err
}
