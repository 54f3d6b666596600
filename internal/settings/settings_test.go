// SPDX-License-Identifier: BSD-3-Clause

package settings

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "rewrite what is made of the table")

// What is made of the table is as it says.
func TestMade(t *testing.T) {
	for _, c := range []struct{ file, begin, end, made string }{
		{"docs/reference/settings.md", "<!-- made from internal/settings -->\n", "<!-- so far -->\n", table()},
		{"cshim/aucsched.h", " *   preset=", " *   node_limits=", list()},
	} {
		path := "../../" + c.file
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		before, after := "", ""
		if c.begin != "" {
			var rest string
			var found, ends bool
			before, rest, found = strings.Cut(string(text), c.begin)
			_, after, ends = strings.Cut(rest, c.end)
			require.True(t, found && ends, c.file)
			if strings.HasPrefix(c.begin, "<") {
				before += c.begin
			}
			after = c.end + after
		}
		if want := before + c.made + after; *rewrite {
			require.NoError(t, os.WriteFile(path, []byte(want), 0o666))
		} else {
			require.Equal(t, want, string(text), "%s: go test ./internal/settings -rewrite", c.file)
		}
	}
}

// table is that of docs/reference/settings.md.
func table() string {
	var b strings.Builder
	b.WriteString("| `auc_preset`, `--preset` | |\n|---|---|\n")
	for _, p := range Presets {
		fmt.Fprintf(&b, "| `%s` | %s |\n", p.Name, p.Meaning)
	}
	b.WriteString("\n| flag | values | " + strings.Join(Names(), " | ") + " | |\n")
	b.WriteString(strings.Repeat("|---", 3+len(Presets)) + "|\n")
	for _, s := range All[:7] {
		values := strings.Join(s.Values, ", ")
		if values == "" {
			values = fmt.Sprintf("%d-%d", s.Low, s.High)
		}
		if s.Seconds {
			values += " s"
		}
		fmt.Fprintf(&b, "| `--%s` | %s |", s.Flag(), values)
		for i := range Presets {
			value := Presets[i].Value(&s)
			text := fmt.Sprint(value)
			if s.Values != nil {
				text = s.Values[value]
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		fmt.Fprintf(&b, " %s |\n", s.Meaning)
	}
	return b.String()
}

// list is in the comment of aucsched_open.
func list() string {
	var b strings.Builder
	line := func(key, values, meaning string) {
		const width = 90
		text := fmt.Sprintf(" *   %-25s ", key+"="+values)
		for word := range strings.FieldsSeq(meaning) {
			if len(text)+len(word) > width+20 {
				b.WriteString(strings.TrimRight(text, " ") + "\n")
				text = " *" + strings.Repeat(" ", 29)
			}
			text += word + " "
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	var names []string
	for _, p := range Presets {
		names = append(names, p.Name)
	}
	line("preset", "NAME", strings.Join(names, ", ")+"; what else is given comes on top (docs/reference/settings.md):")
	for _, s := range All[:7] {
		values := strings.Join(s.Values, "|")
		if values == "" {
			values = fmt.Sprint(s.Normal)
		}
		line(s.Key(), values, s.Meaning)
	}
	return b.String()
}

// A setting's values are those that its field takes, and come back as they were.
func TestValues(t *testing.T) {
	var o struct {
		Objective                   uint8
		Window, Depth, Reservations int
		Patience, Promise           int64
		Compact                     bool
		Inner
	}
	for i := range All {
		s := &All[i]
		require.Equal(t, s, Find(s.Name))
		require.Equal(t, i >= len(All[:7]), s.Instead != "" || s.Meaning == "", s.Name)
		for _, v := range []int64{s.Low, s.Most()} {
			text := fmt.Sprint(v)
			if s.Values != nil {
				text = s.Values[v]
			}
			got, ok := s.Parse(text)
			require.True(t, ok && got == v, text)
			s.Set(&o, v)
			require.Equal(t, map[bool]int64{true: v}[s.Field != ""], s.Get(&o))
		}
		for _, bad := range []string{"", "x", "-1", fmt.Sprint(s.Most() + 1), "1e3"} {
			_, ok := s.Parse(bad)
			require.False(t, ok, "%s=%s", s.Name, bad)
		}
	}
	for _, p := range Presets {
		require.True(t, Fill(&o, p.Name))
		for word := range strings.FieldsSeq(p.Values) {
			name, text, _ := strings.Cut(word, "=")
			s := Find(name)
			value, ok := s.Parse(text)
			require.True(t, ok, word)
			require.Equal(t, value, s.Get(&o), word)
			require.NotEqual(t, s.Normal, value, "%s says %s, which it would be without", p.Name, word)
		}
	}
	require.False(t, Fill(&o, "fastest"))
}
