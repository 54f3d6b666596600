// SPDX-License-Identifier: BSD-3-Clause

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

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

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage has what help says of a command, as help has it, below a title.
func manPage(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"%s\" \"aucsched %s\" \"User Commands\"\n.SH NAME\n%s \\- %s\n",
		roff(strings.ToUpper(pageName(c))), date(), version.Number, roff(pageName(c)), roff(c.Short))
	text := roff(strings.TrimSpace(help(c, otherwise-manIndent)))
	long, use, _ := strings.Cut(text, "\nUsage:\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", long)
	if use != "" {
		fmt.Fprintf(&b, ".SH Usage\n.nf\n%s\n.fi\n", heading.ReplaceAllString(use, ".fi\n.SH $1\n.nf"))
	}
	if c.Runnable() {
		fmt.Fprintln(&b, ".SH EXIT STATUS\n0 if it is done, 1 if something failed, 2 after wrong usage or input, "+
			"3 after an internal error.")
	}
	also := listed(c)
	if c.HasParent() {
		also = append(also, c.Parent())
	}
	for i, other := range also {
		if i == 0 {
			fmt.Fprintln(&b, ".SH SEE ALSO")
		}
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(pageName(other)))
	}
	return b.String()
}

// heading begins a section of how a command is used.
var heading = regexp.MustCompile(`(?m)^(\w.*):$`)

// manIndent is by how many columns man(1) indents text.
const manIndent = 7

// date is the day that SOURCE_DATE_EPOCH has, by which builds repeat each other; none without it.
func date() string {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly)
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
