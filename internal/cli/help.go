// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/aucsched/aucsched/internal/version"
)

// Widths of what is printed, in characters.
const (
	narrowest = 60
	otherwise = 80 // where it is no terminal that says its own
	widest    = 100
)

// Width is how wide text for out should be.
func Width(out io.Writer) int {
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(max(width, narrowest), widest)
		}
	}
	return otherwise
}

// helpCommand is cobra's, and refuses words that are no command.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Say what a command does, and which flags it has",
		Example: "  aucsched help plan",
		RunE: func(_ *cobra.Command, words []string) error {
			c, rest, err := root.Find(words)
			if err != nil {
				return BadInput(err)
			}
			if len(rest) > 0 {
				return noCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, words []string, begun string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if c, rest, err := root.Find(words); err == nil && len(rest) == 0 {
				for _, sub := range listed(c) {
					names = append(names, sub.Name())
				}
			}
			return beginning(names, begun), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func versionCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: ExactArgs(0), Hidden: true,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s version %s\n", root.Name(), version.Text())
			return err
		},
	}
}

// wordsBelow has commands that only have others below them, as cobra's completion, refuse words
// that are not among these. Those below completion take no arguments.
func wordsBelow(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() && !sub.Runnable() {
			sub.Args, sub.RunE = ExactArgs(0), func(c *cobra.Command, _ []string) error { return c.Help() }
		}
		if c.Name() == "completion" {
			sub.Args = ExactArgs(0)
		}
		wordsBelow(sub)
	}
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

// help is what help prints of a command, in lines of at most width characters where words allow it.
func help(c *cobra.Command, width int) string {
	text := Reflow(strings.TrimSpace(cmp.Or(c.Long, c.Short)), width) + "\n\n"
	if c.Runnable() || c.HasSubCommands() {
		text += wrapLines(c.UsageString(), width)
	}
	return text
}

// Reflow breaks the lines of paragraphs again, and those of lists' entries, which are indented.
func Reflow(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if k := len(lines) - 1; k >= 0 && goesOn(lines[k], line) {
			lines[k] += " " + strings.TrimLeft(line, " ")
		} else {
			lines = append(lines, line)
		}
	}
	for i := range lines {
		lines[i] = wrapLine(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

// goesOn reports whether a line is of the same paragraph, or the same entry, as the one before.
func goesOn(before, line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if before == "" || line == "" || indent > 0 {
		return indent > 0 && indent == len(entry.FindString(before))
	}
	return before[0] != ' ' && before[0] != '\t'
}

// wrapLines wraps lines, but not those of examples, which are to be copied.
func wrapLines(text string, width int) string {
	lines := strings.Split(text, "\n")
	example := false
	for i, line := range lines {
		example = line == "Examples:" || example && line != ""
		if !example {
			lines[i] = wrapLine(line, width)
		}
	}
	return strings.Join(lines, "\n")
}

// entry is a line that begins with a name, and has its text in a column behind it.
var entry = regexp.MustCompile(`^ +\S.*?  +`)

// wrapLine breaks a line at spaces. What follows stands below the line's text, where the line is an
// entry of a list, or else below its beginning.
func wrapLine(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	indent := utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(line, " "))
	head := strings.Repeat(" ", indent)
	if m := entry.FindString(line); m != "" && utf8.RuneCountInString(m) < width*2/3 {
		head, indent = m, utf8.RuneCountInString(m)
	}
	var b strings.Builder
	b.WriteString(head)
	at := indent
	for i, word := range strings.Fields(line[len(head):]) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
