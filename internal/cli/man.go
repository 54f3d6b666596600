// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/internal/version"
)

// NoPage is the annotation of a command that has no manual page: another program's has its words.
const NoPage = "no page"

// ManPage is a manual page of section 1, in man(7)'s macros.
type ManPage struct {
	Name string // "aucsched-plan"
	Text string
}

// ManPages are the pages of a command and of those below it, without hidden ones.
func ManPages(c *cobra.Command) []ManPage {
	var pages []ManPage
	if _, none := c.Annotations[NoPage]; !none {
		pages = append(pages, ManPage{pageName(c), manPage(c)})
	}
	for _, sub := range listed(c) {
		pages = append(pages, ManPages(sub)...)
	}
	return pages
}

// listed are the commands below c that help lists, and topics.
func listed(c *cobra.Command) (list []*cobra.Command) {
	for _, sub := range c.Commands() {
		if (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) && sub.Name() != "help" {
			list = append(list, sub)
		}
	}
	return list
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func manPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	b := new(strings.Builder)
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	title := roff(strings.ToUpper(pageName(c)))
	line(`.TH %s 1 "%s" "aucsched %s" "User Commands"`, title, date(), version.Number)
	line(".SH NAME\n%s \\- %s", roff(pageName(c)), roff(c.Short))
	if c.Runnable() {
		line(".SH SYNOPSIS\n.nf\n%s\n.fi", roff(c.UseLine()))
	}
	line(".SH DESCRIPTION")
	b.WriteString(roffText(c.Long, c.Short))
	if subs := listed(c); len(subs) > 0 {
		line(".SH COMMANDS")
		for _, sub := range subs {
			line(".TP\n.BR %s (1)\n%s", roff(pageName(sub)), roff(sub.Short))
		}
	}
	if groups := FlagGroups(c); len(groups) > 0 {
		line(".SH OPTIONS")
		for _, g := range groups {
			if len(groups) > 1 {
				line(".SS %s", roff(g.Title))
			}
			g.Flags.VisitAll(func(f *pflag.Flag) { b.WriteString(manFlag(f)) })
		}
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(manFlag(f)) })
	}
	if c.Example != "" {
		line(".SH EXAMPLES\n.nf\n%s\n.fi", roff(c.Example))
	}
	if c.Runnable() {
		line(".SH EXIT STATUS\n0 if it is done, 1 if something failed, 2 after wrong usage or input, 3 after an internal error.")
	}
	if c.HasParent() {
		line(".SH SEE ALSO\n.BR %s (1)", roff(pageName(c.Parent())))
	}
	return b.String()
}

// date is the day that SOURCE_DATE_EPOCH has, by which builds repeat each other; none without it.
func date() string {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly)
}

// manFlag is a flag's entry.
func manFlag(f *pflag.Flag) string {
	if f.Hidden {
		return ""
	}
	value, usage := pflag.UnquoteUsage(f)
	head := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		head = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + head
	}
	if value != "" {
		head += ` \fI` + roff(value) + `\fR`
	}
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return ".TP\n" + head + "\n" + roff(usage) + "\n"
}

// roffText is a text of paragraphs, of which indented lines stay as they are.
func roffText(text, otherwise string) string {
	if text == "" {
		text = otherwise + "."
	}
	var b strings.Builder
	fixed := false
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case line == "" && !fixed:
			line = ".PP"
		case indented != fixed && line != "":
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
			fixed = indented
			fallthrough
		default:
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	if fixed {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roff escapes what troff takes for a request, an escape or a hyphen.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// manPages is the command that writes the pages of root, which make calls.
func manPages(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:    "man-pages DIRECTORY",
		Short:  "Write the manual pages into a directory",
		Hidden: true,
		Args:   ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return BadInput(err)
			}
			for _, p := range ManPages(root) {
				if err := os.WriteFile(filepath.Join(args[0], p.Name+".1"), []byte(p.Text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
