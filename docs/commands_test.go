// SPDX-License-Identifier: BSD-3-Clause

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elsewhere are the blocks marked bash that TestPagesRun does not run, by page and first words, and
// who runs them. Of "parsed" ones TestCommandsParse reads the commands with their real flags.
var elsewhere = []struct{ page, begins, by string }{
	{"docs/howto/install.md", "rpmbuild", "make package-test"},
	{"docs/howto/install.md", "make slurm-plugins", "make slurm-matrix"},
	{"docs/howto/install.md", "apt install", "make package-test"},
	{"docs/howto/install.md", "aucsched check", "scripts/tutorial.sh"},
	{"docs/howto/install.md", "systemctl restart", "make package-test"},
	{"docs/howto/install.md", "grep aucsched:", "scripts/tutorial.sh"},
	{"docs/howto/monitor.md", "aucsched metrics", "parsed: needs a Slurm; internal/slurm/metrics tests them"},
	{"docs/howto/pilot.md", "aucsched shadow", "scripts/tutorial.sh"},
	{"docs/howto/try.md", "make emulation", "parsed: needs a Slurm; make slurm-test"},
	{"docs/reference/commands.md", "source", "parsed: writes to the shell's directories"},
	{"docs/reference/requests.md", "sbatch", "make slurm-test"},
	{"docs/reference/slurm-versions.md", "make slurm-matrix", "hours: the command itself"},
	{"docs/tutorials/embed-c.md", "go build", "go test ./cshim"},
	{"docs/tutorials/embed-c.md", "cc ", "go test ./cshim"},
	{"docs/tutorials/first-window.md", "git clone", "scripts/newcomer.sh"},
	{"docs/tutorials/slurm.md", "apt-get", "make slurm-test"},
	{"docs/tutorials/slurm.md", "export PATH=/opt", "make slurm-matrix"},
	{"docs/tutorials/slurm.md", "", "scripts/tutorial.sh"},
	{"invasive/docs/manager.md", "aucsched ihypervisor", "parsed: daemons; go test ./invasive/..."},
	{"invasive/docs/manager.md", "aucsched ischeduler", "parsed: a daemon; go test ./invasive/..."},
	{"invasive/docs/manager.md", "aucsched simulate-invasive", "parsed: takes minutes"},
}

// ranElsewhere tells who runs a block that TestPagesRun does not run.
func ranElsewhere(page, block string) bool {
	for _, e := range elsewhere {
		if e.page == page && strings.HasPrefix(strings.TrimSpace(block), e.begins) {
			return true
		}
	}
	return false
}

// The list has no blocks that are gone.
func TestElsewhere(t *testing.T) {
	for _, e := range elsewhere {
		text, err := os.ReadFile(filepath.Join("..", e.page))
		require.NoError(t, err)
		found := false
		for _, s := range stepsOf(string(text)) {
			found = found || s.script && strings.HasPrefix(strings.TrimSpace(s.text), e.begins)
		}
		assert.True(t, found, "%s has no block that begins with %q", e.page, e.begins)
	}
}

var (
	code     = regexp.MustCompile("(?s)```[a-z-]*\n(.*?)```|``?([^`]+)``?")
	ours     = regexp.MustCompile(`(?:^|[\s/(])aucsched ([a-z][^|;&#>)]*)`)
	tables   = regexp.MustCompile(`go run \./benchmarks/cmd/tables ([^|;&#>]*)`)
	tested   = regexp.MustCompile(`go test ([^|;&#>]*)`)
	runs     = regexp.MustCompile(`-(?:run|bench)[ =]'?([^\s'^]+)'?`)
	packages = regexp.MustCompile(`(?:^|\s)\./(\S*)`)
	tests    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)`)
)

// Every command of aucsched in every page has flags that there are, with values that they take; and
// tests that pages name are there.
func TestCommandsParse(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	watch(t, root)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/aucsched", "./benchmarks/cmd/aucsched-lab",
		"./benchmarks/cmd/tables", "./invasive/cmd/aucsched-invasive")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build" || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, "emulation-commands.csv"):
			return nil
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		page := strings.TrimPrefix(name, root+"/")
		for _, command := range commandsIn(page, string(text)) {
			for _, m := range ours.FindAllStringSubmatch(command, -1) {
				if !seen[m[1]] {
					seen[m[1]] = true
					parse(t, bin, "aucsched", page, m[1])
				}
			}
			for _, m := range tables.FindAllStringSubmatch(command, -1) {
				parse(t, bin, "tables", page, m[1])
			}
			for _, m := range tested.FindAllStringSubmatch(command, -1) {
				testsExist(t, root, page, m[1])
			}
		}
		return nil
	}))
	require.Greater(t, len(seen), 50)
}

// commandsIn are the lines of a page's code, continued ones whole; of a table, its cells.
func commandsIn(page, text string) (lines []string) {
	if strings.HasSuffix(page, ".csv") {
		return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '"' })
	}
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			lines = append(lines, strings.Join(strings.Fields(m[2]), " "))
			continue
		}
		lines = append(lines, strings.Split(strings.ReplaceAll(m[1], "\\\n", " "), "\n")...)
	}
	return lines
}

// Letters that stand for numbers, and what no command can read: ..., [--html], ---+, $seed.
var (
	letter = regexp.MustCompile(`^[A-Z]$`)
	drawn  = regexp.MustCompile(`\.\.\.|\$|[\[\]{}<]|^---`)
)

// parse has a program read a command's flags, and print its help.
func parse(t *testing.T, bin, program, page, args string) {
	t.Helper()
	before, _, _ := strings.Cut(args, " -- ")
	var list []string
	for _, a := range strings.Fields(before) {
		a = strings.Trim(a, `'",.:`)
		switch {
		case letter.MatchString(a):
			a = "1"
		case drawn.MatchString(a):
			continue
		}
		list = append(list, a)
	}
	if program == "tables" {
		list = append(list, "-h")
	} else { // before the first flag or FILE, as the last one may be named without its value
		at := slices.IndexFunc(list, func(a string) bool { return a[0] == '-' || a[0] >= 'A' && a[0] <= 'Z' })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, "--help")
	}
	c := exec.Command(filepath.Join(bin, program), list...)
	c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "its value is missing") {
		first, _, _ := strings.Cut(string(out), "usage:")
		t.Errorf("%s: %s %s: %s", page, program, strings.Join(list, " "), first)
	}
}

// testsExist looks for tests that match what a command runs.
func testsExist(t *testing.T, root, page, args string) {
	t.Helper()
	run, where := runs.FindStringSubmatch(args), packages.FindStringSubmatch(args)
	if run == nil || where == nil || strings.Contains(where[1], "...") {
		return
	}
	pattern, err := regexp.Compile(strings.Split(strings.TrimSuffix(run[1], "`"), "/")[0])
	require.NoError(t, err, "%s: %s", page, args)
	files, err := filepath.Glob(filepath.Join(root, where[1], "*_test.go"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range tests.FindAllStringSubmatch(string(text), -1) {
			if pattern.MatchString(m[1]) {
				return
			}
		}
	}
	t.Errorf("%s: go test %s: ./%s has no such test", page, args, where[1])
}
