// SPDX-License-Identifier: BSD-3-Clause

package style

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/aucsched/aucsched/internal/cli"
)

// Document is a report, as text for a terminal and as a page of HTML that needs no other file.
type Document struct {
	Title string
	Parts []Part
}

// Part is a heading, if it has one, and what stands below it, in this order.
type Part struct {
	Heading string
	Class   string   // of the text, on the page: good, bad or note
	Text    []string // paragraphs
	Items   []string // of a list
	Bar     []Share  // on the page alone
	Table   [][]Cell // its first row is the head, if Head
	Head    bool
	More    int // rows that the table leaves out
}

// Share is a piece of a bar, in percent, in the colour of a class.
type Share struct {
	Class   string
	Percent float64
}

// Cell is one of a table. Small stands behind its text, or below it. Words are to the left. On the page
// it may have a bar below it, of so many percent, and a key in the colour of a class before it.
type Cell struct {
	Text, Small string
	Words       bool
	Percent     float64
	Key         string
}

// Row are cells that have nothing but their text.
func Row(texts ...string) (row []Cell) {
	for _, text := range texts {
		row = append(row, Cell{Text: text})
	}
	return row
}

//go:embed document.html
var documentText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"style": Sheet}).Parse(documentText))

// HTML writes the page. All texts are escaped.
func (d *Document) HTML(out io.Writer) error { return page.Execute(out, d) }

// width of paragraphs on a terminal, in characters.
const width = 80

// Text writes it for a terminal: what is no printable character stands by its code.
func (d *Document) Text(out io.Writer) error {
	var b strings.Builder
	for i := range d.Parts {
		p := &d.Parts[i]
		if i > 0 {
			fmt.Fprintln(&b)
		}
		if p.Heading != "" {
			fmt.Fprintf(&b, "%s:\n", p.Heading)
		}
		for _, text := range p.Text {
			fmt.Fprintln(&b, cli.Reflow(cli.Plain(text), width))
		}
		for _, item := range p.Items {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(cli.Reflow(cli.Plain(item), width-2), "\n", "\n  "))
		}
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range p.Table {
			for k, c := range row {
				text := cli.Cell(c.Text)
				if c.Small != "" {
					text += ", " + cli.Cell(c.Small)
				}
				if k < len(row)-1 {
					text += "\t"
				}
				fmt.Fprint(w, text)
			}
			fmt.Fprintln(w)
		}
		w.Flush()
		if p.More > 0 {
			fmt.Fprintf(&b, "and %d more: --json\n", p.More)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
