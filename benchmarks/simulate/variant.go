// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/benchmarks/program"
	"github.com/aucsched/aucsched/benchmarks/replay"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/cli/policy"
	"github.com/aucsched/aucsched/internal/input"
	"github.com/aucsched/aucsched/internal/settings"
	"github.com/aucsched/aucsched/internal/sim"
)

// variant is one entry of --policy: a policy, with the settings of the command line and its own.
type variant struct {
	label  string // as it was given
	policy string
	flags  *pflag.FlagSet // its settings
	from   policy.Flags
	// program makes the policy of another program; nil of others
	program func(label string, seed uint64) (core.Policy, error)
}

// presetPolicies are the presets that --policy takes for auction2 with them.
func presetPolicies() []string {
	return slices.DeleteFunc(settings.Names(), func(name string) bool { return name == "none" })
}

// labels are the entries of --policy.
func (f *Flags) labels() []string { return strings.Split(f.Policy.Policy, ",") }

// baseOf is the policy of an entry, and the preset that its name stands for, if it is one.
func baseOf(label string) (name, preset string) {
	name, _, _ = strings.Cut(label, ":")
	if slices.Contains(presetPolicies(), name) {
		return "auction2", name
	}
	return name, ""
}

// known refuses entries that are no policy, and warns of flags that none of them looks at.
func (f *Flags) known(flags *pflag.FlagSet) error {
	check := f.Policy
	var names []string
	for _, label := range f.labels() {
		name, _ := baseOf(label)
		names = append(names, name)
	}
	check.Policy = strings.Join(names, ",")
	err := check.Check(flags, policyNames())
	if err != nil && len(names) > 1 && strings.Contains(f.Policy.Policy, "=") {
		err = fmt.Errorf("%w (settings of a policy stand behind colons, as auction2:window=50:depth=0)", err)
	}
	return err
}

// variants are those of --policy, for a configuration of the simulator.
func (f *Flags) variants(flags *pflag.FlagSet) ([]*variant, error) {
	var all []*variant
	bidding := false
	for i, label := range f.labels() {
		if slices.Contains(f.labels()[:i], label) {
			return nil, fmt.Errorf("--policy: %q is given twice", label)
		}
		v, err := f.variant(label, flags)
		if err != nil {
			return nil, err
		}
		bidding = bidding || v.bids()
		all = append(all, v)
	}
	if f.slurmBids && !bidding {
		return nil, fmt.Errorf("--slurm-bids: policy %s makes no bids", f.Policy.Policy)
	}
	return all, nil
}

func (f *Flags) variant(label string, flags *pflag.FlagSet) (*variant, error) {
	v := &variant{label: label, from: f.Policy}
	var preset string
	v.policy, preset = baseOf(label)
	v.flags = pflag.NewFlagSet(label, pflag.ContinueOnError)
	v.from.Register(v.flags)
	v.flags.Bool("slurm-bids", false, "")
	var errs []error
	flags.Visit(func(flag *pflag.Flag) {
		if v.flags.Lookup(flag.Name) != nil {
			errs = append(errs, v.flags.Set(flag.Name, flag.Value.String()))
		}
	})
	if preset != "" {
		errs = append(errs, v.flags.Set("preset", preset))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err // there are such flags, and these are values of theirs
	}
	_, own, _ := strings.Cut(label, ":")
	if v.policy == program.Prefix {
		v.program, own = f.program(own), ""
	}
	for _, setting := range strings.FieldsFunc(own, func(r rune) bool { return r == ':' }) {
		if err := v.set(setting); err != nil {
			return nil, fmt.Errorf("--policy: %s: %w", label, err)
		}
	}
	v.from.Policy = v.policy
	v.from.Serial = f.Replay.Config.Serial
	return v, nil
}

// set gives the variant a setting of its own, NAME=VALUE, or NAME for yes.
func (v *variant) set(text string) error {
	name, value, given := strings.Cut(text, "=")
	if !given {
		value = "true"
	}
	flag := strings.ReplaceAll(name, "_", "-")
	var known []string
	v.flags.VisitAll(func(f *pflag.Flag) {
		of := policy.LookAt(f.Name)
		own := slices.Contains(of, v.policy) && len(of) < len(policy.Names())
		if own || f.Name == "slurm-bids" && v.bids() {
			known = append(known, f.Name)
		}
	})
	if len(known) == 0 {
		return fmt.Errorf("%s has no settings of its own", v.policy)
	}
	if !slices.Contains(known, flag) {
		shown := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return v.flags.Lookup(name).Hidden })
		return fmt.Errorf("%q is none of its settings, which are %s%s", name, strings.Join(shown, ", "), input.Hint(flag, known))
	}
	switch kind := v.flags.Lookup(flag).Value.Type(); {
	case given && kind == "bool" && value == "yes", given && kind == "bool" && value == "no":
		value = fmt.Sprint(value == "yes")
	case !given && kind != "bool":
		return fmt.Errorf("%s: its value is missing", name)
	}
	if err := v.flags.Set(flag, value); err != nil {
		return fmt.Errorf("%s: %q: %s", name, value, cli.Expected(v.flags.Lookup(flag), err.Error()))
	}
	return nil
}

// program makes policies of a command, of words with spaces.
func (f *Flags) program(command string) func(label string, seed uint64) (core.Policy, error) {
	return func(label string, seed uint64) (core.Policy, error) {
		o := program.Defaults()
		o.Timeout, o.Seed, o.Stderr = f.answerWithin, seed, f.errs
		return program.New(label, strings.Fields(command), o)
	}
}

// bids tells whether it is an auction of core.
func (v *variant) bids() bool { return v.policy == "auction1" || v.policy == "auction2" }

// make builds the policy, and sets what the simulator has to know of it.
func (v *variant) make(cfg *sim.Config) (core.Policy, error) {
	if v.program != nil {
		return v.program(v.label, cfg.Seed)
	}
	from := v.from
	if v.bids() {
		o, err := from.Auction(v.flags)
		cfg.ShrinkLimits = err == nil && o.Goal != settings.NoGoal
	}
	from.ShrinkLimits = cfg.ShrinkLimits
	p, err := from.Make(v.flags)
	if err != nil {
		return nil, err
	}
	if slurm, err := v.flags.GetBool("slurm-bids"); err == nil && slurm && v.bids() {
		window, err := v.flags.GetInt64("window")
		if err != nil {
			return nil, err
		}
		return replay.NewOffers(p, int(window)), nil
	}
	return p, nil
}

// short is the label for a table: of programs and files without their directories.
func (v *variant) short() string {
	if v.program == nil {
		return v.label
	}
	_, command, _ := strings.Cut(v.label, ":")
	words := strings.Fields(command)
	for i, word := range words {
		words[i] = filepath.Base(word)
	}
	return program.Prefix + ":" + strings.Join(words, " ")
}

// fileName is the label as a part of a file's name.
func (v *variant) fileName() string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, v.label)
}
