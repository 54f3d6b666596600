// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
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

// subjectOf is the annotation of a flag that has a subject: its place and its title.
const subjectOf = "subject"

// Group has help list the command's flags by subject. Flags that there are not are passed over.
func Group(c *cobra.Command, subjects ...Subject) {
	for i, s := range subjects {
		for _, name := range s.Flags {
			_ = c.Flags().SetAnnotation(name, subjectOf, []string{fmt.Sprintf("%02d", i), s.Title})
		}
	}
}

// unsaid is the annotation of a flag whose default help does not show.
const unsaid = "unsaid"

// Unsaid has help show no default of a flag: another one says what it is.
func Unsaid(flags *pflag.FlagSet, name string) {
	_ = flags.SetAnnotation(name, unsaid, []string{}) // fails for flags that there are not
}

// flagUsages are those of the command's own flags by subject, those without one last.
func flagUsages(c *cobra.Command) string {
	groups, titles := map[string]*pflag.FlagSet{}, map[string]string{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		place, title := "rest", "Flags" // numbers come before letters
		if s := f.Annotations[subjectOf]; len(s) == 2 {
			place, title = s[0], s[1]
		}
		if groups[place] == nil {
			groups[place], titles[place] = pflag.NewFlagSet("", pflag.ContinueOnError), title
		}
		shown := *f
		if _, ok := f.Annotations[unsaid]; ok {
			shown.DefValue = map[bool]string{true: "0"}[f.Value.Type() == "int64"]
		}
		groups[place].AddFlag(&shown)
	})
	if len(groups) > 1 {
		titles["rest"] = "Other flags"
	}
	var texts []string
	for _, place := range slices.Sorted(maps.Keys(groups)) {
		if text := trimRight(groups[place].FlagUsages()); text != "" {
			texts = append(texts, titles[place]+":\n"+text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

// usage prints how a command is used as cobra does, with the flags by subject.
func usage(c *cobra.Command) error {
	out := c.OutOrStderr()
	var b bytes.Buffer
	c.SetOut(&b)
	err := new(cobra.Command).UsageFunc()(c)
	c.SetOut(out)
	if err != nil {
		return err
	}
	flags := "\nFlags:\n" + trimRight(c.LocalFlags().FlagUsages())
	text := strings.Replace(b.String(), flags, "\n"+flagUsages(c), 1)
	text = strings.Replace(text, "help topcis:", "help topics:", 1) // cobra's slip of the pen
	_, err = io.WriteString(out, text)
	return err
}
