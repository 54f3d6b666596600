// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A table of more rows, or of more bytes, is kept in a CSV file beside its page.
const (
	mostRows  = 6
	mostBytes = 700
)

// csvDir is the directory of the CSV files, in that of the pages.
const csvDir = "csv"

// Table is a table of a page, and the heading that it stands under.
type Table struct {
	Section string
	Head    []string
	Rows    [][]string
}

// block is a heading, a paragraph, a list, a block of code or a table.
type block struct {
	text  string
	level int // of a heading; 0: none
	table *Table
}

// blocks takes a page apart. Blank lines are left out.
func blocks(page string) (list []block) {
	var section string
	var part []string
	fenced := false
	flush := func() {
		if len(part) > 0 {
			b := block{text: strings.Join(part, "\n")}
			if len(part) > 2 && strings.HasPrefix(part[0], "|") {
				b.table = parseTable(section, part)
			}
			list, part = append(list, b), nil
		}
	}
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(line, "```")
		switch {
		case fence || fenced:
			fenced = fenced != fence
			part = append(part, line)
		case line == "":
			flush()
		case strings.HasPrefix(line, "#"):
			flush()
			section = strings.TrimLeft(line, "# ")
			list = append(list, block{text: line, level: strings.Index(line, " ")})
		default:
			if len(part) > 0 && strings.HasPrefix(line, "|") != strings.HasPrefix(part[len(part)-1], "|") {
				flush()
			}
			part = append(part, line)
		}
	}
	flush()
	return list
}

func parseTable(section string, lines []string) *Table {
	t := &Table{Section: section, Head: rowCells(lines[0])}
	for _, line := range lines[2:] {
		t.Rows = append(t.Rows, rowCells(line))
	}
	return t
}

func rowCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "\x00", `\|`)
	}
	return cells
}

// Tables are the tables that a page itself has.
func Tables(page string) (list []Table) {
	for _, b := range blocks(page) {
		if b.table != nil {
			list = append(list, *b.table)
		}
	}
	return list
}

// Split takes the long tables out of the page NAME.md. They become CSV files, by name. Tables with
// the same columns are long together and share a file, whose first column is the section. What is
// left of the page links to the files, and lists them at its end.
func Split(name, page string) (short string, files map[string][]byte) {
	list := blocks(page)
	size, rows := make(map[string]int), make(map[string]int)
	for i := range list {
		if t := list[i].table; t != nil {
			size[t.key()] += len(list[i].text)
			rows[t.key()] += len(t.Rows)
		}
	}
	groups := make(map[string][]*Table)
	var order []string
	for i := range list {
		t := list[i].table
		if t == nil || rows[t.key()] <= mostRows && size[t.key()] <= mostBytes {
			continue
		}
		if groups[t.key()] == nil {
			order = append(order, t.key())
		}
		groups[t.key()] = append(groups[t.key()], t)
	}
	if len(order) == 0 {
		return page, nil
	}
	files, names := make(map[string][]byte), make(map[string]string)
	listed := "| table | of | rows |\n|---|---|---:|\n"
	for _, key := range order {
		file := fileName(name, groups[key], len(order) == 1, files)
		names[key] = file
		files[file] = encode(groups[key])
		section := groups[key][0].Section
		if several(groups[key]) {
			section = "several sections"
		}
		listed += fmt.Sprintf("| [%s](%s/%s) | %s | %d |\n", file, csvDir, file, section, rows[key])
	}
	return shorten(list, names) + "\n## Tables\n\n" + listed, files
}

func (t *Table) key() string { return strings.Join(t.Head, "|") }

// shorten puts a link where a table of names was. Sections that had nothing but such tables vanish.
func shorten(list []block, names map[string]string) string {
	linked := func(b *block) string {
		if b.table == nil {
			return ""
		}
		return names[b.table.key()]
	}
	var parts []string
	for i := 0; i < len(list); i++ {
		b := &list[i]
		if file := linked(b); file != "" {
			parts = append(parts, fmt.Sprintf("[Table](%s/%s)", csvDir, file))
			continue
		}
		end := i + 1
		for end < len(list) && linked(&list[end]) != "" {
			end++
		}
		if b.level > 1 && end > i+1 && (end == len(list) || 0 < list[end].level && list[end].level <= b.level) {
			i = end - 1
			continue
		}
		parts = append(parts, b.text)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// fileName is a name that taken does not have: the page's own if it has one file only, else with
// the section of the tables or, if they stand in several, with the title of their first column.
func fileName(page string, of []*Table, only bool, taken map[string][]byte) string {
	words := []string{of[0].Section, of[0].Head[0], of[0].Head[min(1, len(of[0].Head)-1)]}
	if several(of) {
		words = words[1:]
	}
	if only {
		words = append([]string{""}, words...)
	}
	name := page
	for _, w := range words {
		if w != "" {
			name += "-" + slug(w)
		}
		if taken[name+".csv"] == nil {
			break
		}
	}
	return name + ".csv"
}

// several tells whether tables stand in more than one section.
func several(of []*Table) bool {
	return slices.ContainsFunc(of, func(t *Table) bool { return t.Section != of[0].Section })
}

func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.Join(words, "-")
}

// What a cell may hold beside a number, each in a column of its own in CSV files.
var (
	figured   = regexp.MustCompile(`^(\*\*)?([-+]?[0-9][0-9.,]*)(?: ±\s?([0-9.,]+))?(?: \(([^()]*)\))?(?: ([a-z][a-z ,]*))?(?:\*\*)?$`)
	thousands = regexp.MustCompile(`^[-+]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)
	beside    = []string{"±", "in brackets", "verdict", "bold"}
)

// encode writes tables that have the same columns. A column of numbers with deviations and the like
// becomes several, "TITLE: ±" and so on.
func encode(of []*Table) []byte {
	columns := make([][][]string, len(of[0].Head)) // by column and row
	for i := range columns {
		columns[i] = splitColumn(of, i)
	}
	titles := distinct(of[0].Head)
	var head []string
	if several(of) {
		head = []string{"section"}
	}
	for i, c := range columns {
		head = append(head, titles[i])
		for k, more := range beside {
			if slices.ContainsFunc(c, func(parts []string) bool { return k+1 < len(parts) && parts[k+1] != "" }) {
				head = append(head, titles[i]+": "+more)
			}
		}
	}
	out := [][]string{head}
	n := 0
	for _, t := range of {
		for range t.Rows {
			row := make([]string, 0, len(head))
			if several(of) {
				row = append(row, t.Section)
			}
			for i, c := range columns {
				row = append(row, c[n][0])
				for k, more := range beside {
					if at := len(row); at < len(head) && head[at] == titles[i]+": "+more {
						row = append(row, append(c[n], make([]string, len(beside))...)[k+1])
					}
				}
			}
			out, n = append(out, row), n+1
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(out); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// splitColumn takes the cells of a column apart: a number, and what is beside it. A column in which
// anything else stands than numbers stays whole.
func splitColumn(of []*Table, column int) (cells [][]string) {
	whole := false
	for _, t := range of {
		for _, row := range t.Rows {
			m := figured.FindStringSubmatch(row[column])
			switch {
			case m != nil:
				bold := ""
				if m[1] != "" {
					bold = "yes"
				}
				cells = append(cells, []string{plain(m[2]), m[3], m[4], m[5], bold})
			default:
				whole = whole || strings.Trim(row[column], "-") != ""
				cells = append(cells, []string{row[column]})
			}
		}
	}
	if whole {
		cells = nil
		for _, t := range of {
			for _, row := range t.Rows {
				cells = append(cells, []string{row[column]})
			}
		}
	}
	return cells
}

// plain is a number without the commas between its thousands.
func plain(number string) string {
	if thousands.MatchString(number) {
		return strings.ReplaceAll(number, ",", "")
	}
	return number
}

// distinct puts before a title that is there twice the last one before it that is not.
func distinct(head []string) []string {
	out := slices.Clone(head)
	last := ""
	for i, title := range head {
		if slices.Index(head, title) == i && !slices.Contains(head[i+1:], title) {
			last = title
		} else if last != "" {
			out[i] = last + ": " + title
		}
	}
	return out
}

// ReadTables are all tables of the page NAME.md in a directory: those that it has, and those in the
// CSV files that it links to, as [Split] found them.
func ReadTables(dir, name string) ([]Table, error) {
	page, err := os.ReadFile(filepath.Join(dir, name+".md"))
	if err != nil {
		return nil, err
	}
	var list []Table
	for _, t := range Tables(string(page)) {
		if t.Section != "Tables" {
			list = append(list, t)
			continue
		}
		for _, row := range t.Rows {
			file, _, _ := strings.Cut(strings.TrimPrefix(row[0], "["), "]")
			text, err := os.ReadFile(filepath.Join(dir, csvDir, file))
			if err != nil {
				return nil, err
			}
			tables, err := decode(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if tables[0].Section == "" {
				tables[0].Section = row[1]
			}
			list = append(list, tables...)
		}
	}
	return list, nil
}

// decode is the inverse of encode, but for commas between thousands. Files without a column of
// sections have one table, of which the section is not known.
func decode(text []byte) (list []Table, err error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	titles := rows[0]
	sections := titles[0] == "section"
	for _, row := range rows[1:] {
		section := ""
		t := Table{}
		cells := []string{}
		for i, title := range titles {
			before, more, _ := cutLast(title)
			switch {
			case i == 0 && sections:
				section = row[i]
			case slices.Contains(beside, more) && slices.Contains(titles[:i], before):
				cells[len(cells)-1] = join(cells[len(cells)-1], more, row[i])
			case before != "" && slices.Contains(titles[:i], before):
				t.Head, cells = append(t.Head, more), append(cells, row[i])
			default:
				t.Head, cells = append(t.Head, title), append(cells, row[i])
			}
		}
		if len(list) == 0 || list[len(list)-1].Section != section {
			t.Section = section
			list = append(list, t)
		}
		last := &list[len(list)-1]
		last.Rows = append(last.Rows, cells)
	}
	return list, nil
}

// cutLast cuts a title at its last ": ".
func cutLast(title string) (before, after string, found bool) {
	if i := strings.LastIndex(title, ": "); i >= 0 {
		return title[:i], title[i+2:], true
	}
	return "", title, false
}

// join puts a number together again with what was beside it.
func join(cell, kind, more string) string {
	switch {
	case more == "":
	case kind == "±":
		return cell + " ± " + more
	case kind == "in brackets":
		return cell + " (" + more + ")"
	case kind == "bold":
		return "**" + cell + "**"
	default:
		return cell + " " + more
	}
	return cell
}
