// SPDX-License-Identifier: BSD-3-Clause

// Package docs has the pages; its tests type what they say.
package docs

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Blocks marked console are what a reader types and sees: all of a page are run in one directory, in
// order, and what they print is compared. Of the output, "..." stands for anything, and on a line of
// its own for any lines. A block of another kind below <!-- file: NAME --> is written to that file.
// Blocks marked bash are run whole, and have to end well, but for those in elsewhere.
func TestPagesRun(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	watch(t, root)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/aucsched", "./benchmarks/cmd/aucsched-lab")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := 0
	for _, name := range pagesToRun(t, root) {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		steps := stepsOf(string(text))
		if len(steps) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if strings.Contains(string(text), " examples/") {
				require.NoError(t, os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))))
			}
			writeTrace(t, filepath.Join(dir, "trace.swf.gz"))
			env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "AUCSCHED="+root, "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
			for _, s := range steps {
				if s.file != "" {
					file := filepath.Join(dir, s.file)
					require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
					require.NoError(t, os.WriteFile(file, []byte(s.text), 0o644))
					continue
				}
				if s.script && ranElsewhere(name, s.text) {
					continue
				}
				shell, command := "sh", s.command
				if s.script {
					shell, command = "bash", "set -eo pipefail\n"+s.text
				}
				c := exec.Command(shell, "-c", command)
				c.Dir, c.Env = dir, env
				out, err := c.CombinedOutput()
				if s.script {
					assert.NoError(t, err, "%s:%d:\n%s\n%s", name, s.line, s.text, out)
					continue
				}
				assert.Regexp(t, s.pattern(), string(out), "%s:%d: $ %s", name, s.line, s.command)
			}
		})
		run++
	}
	require.NotZero(t, run)
}

// watch reads all directories of sources, so that go test does not take an earlier result for that of
// the commands as they are now.
func watch(t *testing.T, root string) {
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if hidden := strings.HasPrefix(d.Name(), "."); d.IsDir() && (hidden || d.Name() == "build" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		return err
	}))
}

// writeTrace makes the trace that readers have: a job each hour of eight days, on 16 cores.
func writeTrace(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	fmt.Fprintln(w, "; MaxProcs: 16")
	for i := range 8 * 24 {
		run, cores := 3600*(1+i%5), 1+i*7%16
		fmt.Fprintln(w, i+1, 3600*i, -1, run, cores, -1, -1, cores, run, -1, 1, 1, 1, -1, 1, 1, -1, -1)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

func pagesToRun(t *testing.T, root string) []string {
	names := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "invasive/docs/*.md", "benchmarks/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, f := range found {
			names = append(names, strings.TrimPrefix(f, root+"/"))
		}
	}
	return names
}

// step is a file to write, a command and what it prints, or a script.
type step struct {
	file, command, text string
	line                int
	script              bool // text is to be run, and its output counts for nothing
}

var (
	toFile = regexp.MustCompile(`<!-- file: (\S+) -->`)
	anyOf  = regexp.MustCompile(`\\\.\\\.\\\.`)
)

// pattern matches what the command prints. Blanks at the ends of lines do not count.
func (s step) pattern() string {
	var b strings.Builder
	b.WriteString(`^`)
	for l := range strings.Lines(strings.TrimRight(s.text, "\n")) {
		if l = strings.TrimSpace(l); l == "..." {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(`[ \t]*` + anyOf.ReplaceAllString(regexp.QuoteMeta(l), `.*`) + `[ \t]*\n+`)
	}
	return b.String() + `$`
}

func stepsOf(text string) (out []step) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		indent := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(indent, "```") || indent == "```" {
			if indent == "```" { // of no kind: to its end
				for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
				}
			}
			continue
		}
		var file string
		for j := i - 1; j >= 0 && j >= i-2; j-- {
			if m := toFile.FindStringSubmatch(lines[j]); m != nil {
				file = m[1]
			}
		}
		from := i + 1
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "```"; i++ {
		}
		switch block := lines[from:i]; {
		case file != "":
			out = append(out, step{file: file, text: strings.Join(block, "\n") + "\n", line: from})
		case indent == "```bash":
			out = append(out, step{script: true, text: strings.Join(block, "\n") + "\n", line: from})
		case indent == "```console":
			out = append(out, commandsOf(block, from)...)
		}
	}
	return out
}

// commandsOf are the commands behind "$ " of a block, continued ones whole, and what is below them.
func commandsOf(block []string, from int) (out []step) {
	for i := 0; i < len(block); i++ {
		l := strings.TrimLeft(block[i], " ")
		command, is := strings.CutPrefix(l, "$ ")
		if !is {
			out[len(out)-1].text += l + "\n"
			continue
		}
		s := step{command: command, line: from + i + 1}
		for strings.HasSuffix(s.command, `\`) && i+1 < len(block) {
			i++
			s.command += "\n" + block[i]
		}
		out = append(out, s)
	}
	return out
}

// The page on windows has each field of the schema.
func TestFieldsOfWindows(t *testing.T) {
	schema, err := os.ReadFile("schemas/window.json")
	require.NoError(t, err)
	page, err := os.ReadFile("reference/window.md")
	require.NoError(t, err)
	var of struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(schema, &of))
	for name := range of.Properties {
		assert.Contains(t, string(page), "`"+name+"`")
	}
	for _, def := range of.Defs {
		for name := range def.Properties {
			assert.Contains(t, string(page), "`"+name+"`")
		}
	}
}
