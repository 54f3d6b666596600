// SPDX-License-Identifier: BSD-3-Clause

package conf

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrammar(t *testing.T) {
	for text, want := range map[string][][]Field{
		"A=1\nB = 2\n":            {{{"A", "1"}}, {{"B", "2"}}},
		"A=1\r\nB=2\r\n":          {{{"A", "1"}}, {{"B", "2"}}},
		"  A\t=\t1   b.c_2 =x":    {{{"A", "1"}, {"b.c_2", "x"}}},
		"A += 1 B-=2 C *=3 D/= 4": {{{"A", "1"}, {"B", "2"}, {"C", "3"}, {"D", "4"}}},
		"A=x=y B=a,b=c":           {{{"A", "x=y"}, {"B", "a,b=c"}}},
		`A="b c" D=""`:            {{{"A", "b c"}, {"D", ""}}},
		`A="b"c D=e"f g"`:         {{{"A", `"b"c`}, {"D", `e"f`}}},
		`A="b c`:                  {{{"A", `"b`}}},
		`A="b=1 c"`:               {{{"A", "b=1 c"}}},
		"A=1 # B=2 \\\nC=3":       {{{"A", "1"}}, {{"C", "3"}}},
		"# A=1 \\\nB=2":           {{{"B", "2"}}},
		"A=1 \\ # why\n B=2":      {{{"A", "1"}, {"B", "2"}}},
		"A=1 \\ \t \n B=2":        {{{"A", "1"}, {"B", "2"}}},
		"A=1 \\\r\n B=2\r\n":      {{{"A", "1"}, {"B", "2"}}},
		"A=1,\\\n2\nB=3":          {{{"A", "1,2"}}, {{"B", "3"}}},
		"A=1 \\\n# no more\nB=2":  {{{"A", "1"}}, {{"B", "2"}}},
		"A=1 \\\n\nB=2":           {{{"A", "1"}}, {{"B", "2"}}},
		"A=1 \\":                  {{{"A", "1"}}},
		`A=a\#b#c`:                {{{"A", "a#b"}}},
		`A=a\\#b`:                 {{{"A", `a\`}}},
		"A=a\\\\\nB=2":            {{{"A", `a\`}}, {{"B", "2"}}},
		"A=a\\\\\\\nb":            {{{"A", `a\b`}}},
		`A=\"b c\"`:               {{{"A", "b c"}}},
		`A="not # in use" B=1`:    {{{"A", `"not`}}},
		"A=\n":                    nil,
		"A= \\\n B=1":             {{{"A", "B=1"}}},
		";A=1":                    nil,
		"A 1 B=2":                 nil,
		"A=1 ; B=2":               {{{"A", "1"}}},
		"A=1 B C=2":               {{{"A", "1"}}},
		"A + =1":                  nil,
		"":                        nil,
		"\n \t\n":                 nil,
	} {
		var got [][]Field
		require.NoError(t, logicalLines(text, func(line string, _ int) error {
			if all, _ := fields(line); all != nil {
				got = append(got, all)
			}
			return nil
		}))
		require.Equal(t, want, got, "%q", text)
	}
}

// slow reads a text byte by byte and pattern by pattern, as Slurm's manual and source describe it.
func slow(text string) (lines [][]Field, rests []string) {
	key, end := `^[ \t\n\v\f\r]*([0-9A-Za-z_.]+)[ \t\n\v\f\r]*[-+*/]?=[ \t\n\v\f\r]*`, `(?:[ \t\n\v\f\r]|$)`
	quoted := regexp.MustCompile(key + `"([^"]*)"` + end)
	plain := regexp.MustCompile(key + `([^ \t\n\v\f\r]+)` + end)
	continued := regexp.MustCompile(`^((?s:.*?)(?:\\\\)*)\\[ \t\n\v\f\r]*$`)
	odd := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\\[ \t\n\v\f\r]*$`)
	comment := regexp.MustCompile(`^((?:[^\\#]|\\(?s:.)|\\$)*)#(?s:.*)$`)
	escape := regexp.MustCompile(`\\(?s:(.)|$)`)
	whole := ""
	finish := func() {
		rest := escape.ReplaceAllString(whole, "$1")
		var all []Field
		for {
			m := quoted.FindStringSubmatch(rest)
			if m == nil {
				m = plain.FindStringSubmatch(rest)
			}
			if m == nil {
				break
			}
			all = append(all, Field{m[1], m[2]})
			rest = rest[len(m[0]):]
		}
		lines, rests = append(lines, all), append(rests, strings.Trim(rest, space))
		whole = ""
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			continue
		}
		if m := comment.FindStringSubmatch(line); m != nil {
			line = m[1]
		}
		if odd.MatchString(line) {
			whole += continued.FindStringSubmatch(line)[1]
			continue
		}
		whole += line
		finish()
	}
	if whole != "" {
		finish()
	}
	return lines, rests
}

// Both readings of a text have the same keys and values on the same lines, and leave the same.
func FuzzGrammar(f *testing.F) {
	for _, text := range []string{
		"A=1 \\\n B = \"2 3\" # c\nC+=4\n", "\\#=\\", `A="x"y B="a b"`, "a=\"\\\"\"#", "A=1\\\\\\ \n2", "#\\\nA=1", "\"a=b\" c=\"\n",
		"A==1 B=+=2 C-D=3", "A= =B", "A=\"\" \"", "a\\\n=\\\n1", "A=1\v\\\f\nB=2", "\\\\#\\#", "A=\"b\"\"c\" d=1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) || len(text) > 1<<12 {
			return // a zero ends a line in C
		}
		var got [][]Field
		var left []string
		require.NoError(t, logicalLines(text, func(line string, _ int) error {
			all, rest := fields(line)
			got, left = append(got, all), append(left, strings.Trim(rest, space))
			return nil
		}))
		want, rests := slow(text)
		require.Equal(t, want, got)
		require.Equal(t, rests, left)
	})
}
