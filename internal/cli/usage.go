// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Subject is a title under which help lists flags.
type Subject struct {
	Title string
	Flags []string
}

// PolicySubjects are those of the flags of policies.
func PolicySubjects() []Subject {
	return []Subject{
		{"Policy", []string{"policy", "scheduler", "objective", "window", "work"}},
		{"Auctions (auction1, auction2)", []string{"preset", "promise", "bids", "compact",
			"contiguous-bids", "depth", "drafts", "keep-holes", "patience", "reservations", "slurm-bids", "solver"}},
		{"The policy ipsched", []string{"node-limits", "on-timeout"}},
	}
}

// The annotations of a flag that has a subject: its place and its title.
const subjectOf = "subject"

// Group has help list the command's flags by subject. Flags that there are not are passed over.
func Group(c *cobra.Command, subjects ...Subject) {
	for i, s := range subjects {
		for _, name := range s.Flags {
			_ = c.Flags().SetAnnotation(name, subjectOf, []string{fmt.Sprintf("%02d", i), s.Title})
		}
	}
}

// FlagGroup are flags of a command under a title.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups are the command's own flags by subject, those without one last. Hidden flags are left
// out.
func FlagGroups(c *cobra.Command) []FlagGroup {
	groups := make(map[string]*FlagGroup)
	var places []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		place, title := "rest", "Flags"
		if s := f.Annotations[subjectOf]; len(s) == 2 {
			place, title = s[0], s[1]
		}
		if groups[place] == nil {
			groups[place] = &FlagGroup{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
			places = append(places, place)
		}
		groups[place].Flags.AddFlag(f)
	})
	slices.Sort(places) // numbers come before letters
	var list []FlagGroup
	for _, place := range places {
		list = append(list, *groups[place])
	}
	if len(list) > 1 && list[len(list)-1].Title == "Flags" {
		list[len(list)-1].Title = "Other flags"
	}
	return list
}

// usage prints how a command is used as cobra does, with the flags by subject.
func usage(c *cobra.Command) error {
	out := c.OutOrStderr()
	var b, grouped bytes.Buffer
	c.SetOut(&b)
	err := new(cobra.Command).UsageFunc()(c)
	c.SetOut(out)
	if err != nil {
		return err
	}
	trim := func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
	for i, g := range FlagGroups(c) {
		if i > 0 {
			grouped.WriteString("\n\n")
		}
		fmt.Fprintf(&grouped, "%s:\n%s", g.Title, trim(g.Flags.FlagUsages()))
	}
	flags := "\nFlags:\n" + trim(c.LocalFlags().FlagUsages())
	text := strings.Replace(b.String(), flags, "\n"+grouped.String(), 1)
	text = strings.Replace(text, "help topcis:", "help topics:", 1) // cobra's slip of the pen
	_, err = io.WriteString(out, text)
	return err
}
