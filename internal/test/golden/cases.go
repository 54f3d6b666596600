// SPDX-License-Identifier: BSD-3-Clause

package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// separator stands between a case's input and what is expected of it.
const separator = "----"

// Cases runs each case of the files testdata/pattern of the package under test, and compares what
// run makes of its input with what the file says. A file is cases, each of comments and input, a
// line "----", and the output up to an empty line or the end:
//
//	# Two jobs, one node: the more important one starts.
//	nodes n1 cores=8
//	job A cores=8
//	----
//	A starts n1:8
//
// With -rewrite the outputs are written anew: look at the difference.
func Cases(t *testing.T, pattern string, run func(t *testing.T, input string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var out []string
			for _, c := range split(string(text)) {
				t.Run(title(c.input), func(t *testing.T) {
					got := strings.TrimSpace(run(t, uncommented(c.input)))
					out = append(out, c.input+"\n"+separator+"\n"+got+"\n")
					if !*rewrite {
						require.Equal(t, c.want, got, c.input)
					}
				})
			}
			if *rewrite && !t.Failed() {
				require.NoError(t, os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644))
			}
		})
	}
}

// Inputs are those of the cases of a file, as Cases hands them to run.
func Inputs(t testing.TB, file string) (inputs []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range split(string(text)) {
		inputs = append(inputs, uncommented(c.input))
	}
	return inputs
}

// testCase is the input of a case, comments included, and its output.
type testCase struct{ input, want string }

func split(text string) (cases []testCase) {
	for rest := text; ; {
		input, after, ok := strings.Cut(rest, "\n"+separator+"\n")
		if !ok {
			return cases
		}
		want, next, _ := strings.Cut("\n"+after, "\n\n") // nothing at all may be expected
		cases = append(cases, testCase{strings.TrimSpace(input), strings.TrimSpace(want)})
		rest = next
	}
}

// title is the first sentence of a case's comment.
func title(input string) string {
	line, _, _ := strings.Cut(input, "\n")
	name, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), ".")
	return name
}

func uncommented(input string) string {
	var lines []string
	for line := range strings.Lines(input) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
