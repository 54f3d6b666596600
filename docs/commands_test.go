// SPDX-License-Identifier: BSD-3-Clause

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elsewhere are the commands that TestPagesRun does not run, by page (empty: any) and first words, and
// who runs them: a test, a script, or for those of a site nobody, and why. TestCommandsParse reads
// those of aucsched with their real flags all the same.
var elsewhere = []struct{ page, begins, by string }{
	{"", "go test ", "a test itself: make test, if it needs neither a Slurm nor hours"},
	{"", "go run ./benchmarks/cmd/tables ", "wrote the page; TestDrawnRow measures rows of it again"},
	{"", "make", "a script itself; TestTargets finds it"},
	{"", "sh scripts/", "a script itself"},
	{"", "scontrol ", "make slurm-test: scripts/tutorial.sh, and TestControl and others"},
	{"CONTRIBUTING.md", "sh scripts/spdx.sh", "make lint"},
	{"SECURITY.md", "aucsched ihypervisor", "invasive/cmd/aucsched-invasive: TestIHypervisorRuns, TestAgents; TestInvasive"},
	{"adapters/kubernetes/README.md", "docker build", "nobody here: needs Docker; TestBedPage runs what is in the image"},
	{"adapters/kubernetes/README.md", "kubectl ", "make -C adapters/kubernetes test: TestBedPage"},
	{"adapters/kubernetes/README.md", "kubectl apply -k", "nobody: needs a site's cluster"},
	{"benchmarks/locality/README.md", "aucsched simulate --policy fcfs,fcfs-bf", "its data are Zenodo's; benchmarks/locality tests the figures where they are"},
	{"benchmarks/results/README.md", "aucsched reproduce all", "hours: wrote the page; benchmarks/reproduce tests each experiment"},
	{"benchmarks/results/emulation.md", "aucsched emulate", "hours: wrote the page; make emulate-quick runs 60 jobs"},
	{"benchmarks/results/gpu-traces.md", "aucsched simulate --exact-pods", "docs/reference/workloads.md types it with pods of its own"},
	{"benchmarks/results/locality-adaptive.md", "aucsched simulate --policy fcfs,lem,lead", "benchmarks/report: TestPageInBrowser, of the page that it writes"},
	{"benchmarks/results/reproduction.md", "aucsched reproduce all", "hours: wrote the page; benchmarks/reproduce tests each experiment"},
	{"docs/howto/install.md", "apt", "make package-test"},
	{"docs/howto/install.md", "aucsched check", "scripts/tutorial.sh"},
	{"docs/howto/install.md", "dnf ", "make package-test"},
	{"docs/howto/install.md", "grep aucsched:", "scripts/tutorial.sh"},
	{"docs/howto/install.md", "rpmbuild", "make package-test"},
	{"docs/howto/install.md", "sbatch --gres", "make slurm-test: TestGPURanges"},
	{"docs/howto/install.md", "systemctl restart", "nobody here: needs systemd; scripts/tutorial.sh restarts slurmctld without"},
	{"docs/howto/monitor.md", "grep aucsched:", "scripts/tutorial.sh"},
	{"docs/howto/pilot.md", "aucsched shadow", "scripts/tutorial.sh"},
	{"docs/howto/trouble.md", "aucsched why 7", "make slurm-test: TestWhy"},
	{"docs/howto/why.md", "$ aucsched why 13", "scripts/tutorial.sh"},
	{"docs/reference/requests.md", "sbatch --comment", "make slurm-test: TestJobsGoWhereTheirFileIs"},
	{"docs/reference/requests.md", "sbatch --gres", "make slurm-test: TestGPURanges, TestTypedRanges"},
	{"docs/reference/requests.md", "#!/bin/sh", "make slurm-test: TestAlternatives"},
	{"docs/tutorials/embed-c.md", "cc ", "go test ./cshim"},
	{"docs/tutorials/embed-c.md", "go build", "go test ./cshim"},
	{"docs/tutorials/embed-c.md", "pkg-config", "nobody: needs the package installed; make package-test installs it"},
	{"docs/tutorials/embed-go.md", "aucsched plan state.json", "core: TestReadWindowSaysWhatTheClusterDoes writes and reads such files"},
	{"docs/tutorials/embed-go.md", "go mod ", "typed above that text, where the module is not published"},
	{"docs/tutorials/embed-go.md", "go doc", "scripts/prose.sh, of the same packages"},
	{"docs/tutorials/first-window.md", "git clone", "scripts/newcomer.sh"},
	{"docs/tutorials/slurm.md", "export PATH=/opt", "make slurm-matrix"},
	{"docs/tutorials/slurm.md", "apt-get", "make slurm-test"},
	{"docs/tutorials/slurm.md", "", "scripts/tutorial.sh"},
	{"examples/elastic/README.md", "cp ", "make slurm-test: TestCrewElastic"},
	{"invasive/docs/crew.md", "$ cat job", "make slurm-test: TestCrew"},
	{"invasive/docs/crew.md", "scancel 27", "make slurm-test: TestCrew"},
	{"invasive/docs/crew.md", "sbatch -N", "make slurm-test: TestCrew"},
	{"invasive/docs/manager.md", "aucsched ihypervisor", "invasive/cmd/aucsched-invasive: TestIHypervisorRuns, TestAgents; invasive/link: TestTLS"},
	{"invasive/docs/manager.md", "aucsched ischeduler", "invasive/cmd/aucsched-invasive: TestIScheduler"},
	{"invasive/docs/manager.md", "mkdir ~/queue", "make slurm-test: TestAgentsHeat"},
	{"invasive/docs/manager.md", "while read", "invasive/cmd/aucsched-invasive: TestAgents"},
	{"invasive/docs/resize.md", "", "nobody: what Slurm itself does, as it was measured; aucsched does not use it"},
	{"invasive/docs/slurm.md", "", "make slurm-test: TestInvasive, and TestTaskProlog"},
}

// ranElsewhere tells who runs a command that TestPagesRun does not run.
func ranElsewhere(page, command string) bool {
	found := false
	for i, e := range elsewhere {
		if (e.page == page || e.page == "") && strings.HasPrefix(strings.TrimSpace(command), e.begins) {
			used.Store(i, true)
			found = true
		}
	}
	return found
}

var used sync.Map // rows of elsewhere

// asked is a command as people type it, with an argument at least: in a text, or on a line of a block
// behind its prompt.
var asked = regexp.MustCompile(`^(?:[$#] )?(?:make|(?:aucsched|bin/aucsched|go|sh|docker|kubectl|rpmbuild|dnf|apt|apt-get|systemctl|` +
	`scontrol|sbatch|srun|salloc|scancel|python3|cc|pkg-config|grep aucsched:) \S.*)`)

// form is a command in which letters stand for something, or that only names what aucsched can do.
var form = regexp.MustCompile(`\[|\.\.\.| [A-Z][A-Z.a-z]*( |$)|^aucsched [a-z-]+( [a-z]+)?$|^(aucsched simulate|srun|scancel) --\w+[ =]?\w*$|^go get$`)

// inText are the commands of a page outside of what stepsOf finds: in its text, and in blocks of no kind
// or of shell-session, which are whole.
func inText(text string) (out []string) {
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		command := strings.Join(strings.Fields(m[2]), " ")
		if asked.MatchString(command) && !form.MatchString(command) {
			out = append(out, command)
		}
	}
	for _, m := range blocks.FindAllStringSubmatch(text, -1) {
		if m[1] != "" && m[1] != "shell-session" {
			continue
		}
		for l := range strings.Lines(m[2]) {
			if asked.MatchString(strings.TrimSpace(l)) {
				out = append(out, strings.TrimSpace(m[2]))
				break
			}
		}
	}
	for _, block := range indented.FindAllString(text, -1) {
		for l := range strings.Lines(block) {
			if l = strings.TrimSpace(l); asked.MatchString(l) {
				out = append(out, l)
			}
		}
	}
	return out
}

var (
	blocks   = regexp.MustCompile("(?ms)^ *```([a-z-]*)\n(.*?)^ *```")
	indented = regexp.MustCompile(`(?m)^\n(?: {4}\S.*\n)+`)
	targets  = regexp.MustCompile(`(?m)^([a-z][a-z0-9 .-]*):`)
)

// Targets that pages name are there.
func TestTargets(t *testing.T) {
	var known []string
	for _, name := range []string{"Makefile", "benchmarks/targets.mk", "slurmplugin/targets.mk", "slurmplugin/Makefile",
		"packaging/targets.mk", "adapters/kubernetes/Makefile"} {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		for _, m := range targets.FindAllStringSubmatch(string(text), -1) {
			known = append(known, strings.Fields(m[1])...)
		}
	}
	named := 0
	for _, page := range pagesToRun(t, "..") {
		text, err := os.ReadFile(filepath.Join("..", page))
		require.NoError(t, err)
		for _, command := range commandsIn(page, string(text)) {
			if m := made.FindStringSubmatch(command); m != nil {
				named++
				assert.Contains(t, known, m[1], "%s: %s", page, command)
			}
		}
	}
	require.Greater(t, named, 30)
}

var made = regexp.MustCompile(`^(?:\S+=\S+ )*make (?:-C \S+ )?([a-z][a-z0-9.-]*)`)

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
