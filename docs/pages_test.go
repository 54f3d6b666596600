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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/workload"
)

// Blocks marked console are what a reader types and sees: all of a page are run in one directory, in
// order, and what they print is compared. Of the output, "..." stands for anything, and on a line of
// its own for any lines. A block of another kind below <!-- file: NAME --> is written to that file.
// Blocks marked bash are run whole, and have to end well, and so are commands of aucsched in the text.
// Those in elsewhere are not run, and nothing else of a page is.
func TestPagesRun(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	watch(t, root)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "./cmd/aucsched", "./benchmarks/cmd/aucsched-lab", "./invasive/cmd/aucsched-invasive")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := 0
	for _, name := range pagesToRun(t, root) {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		steps := stepsOf(string(text))
		for _, command := range inText(string(text)) {
			steps = append(steps, step{script: true, text: command})
		}
		if len(steps) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if strings.Contains(string(text), " examples/") {
				require.NoError(t, os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))))
			}
			files := inputs(name)
			if files == nil {
				files = map[string]string{"trace.swf.gz": pack(hourly())}
			}
			for file, text := range files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			}
			env := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "AUCSCHED="+root, "SLURM_CONF=slurm.conf", "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off")
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
				if s.line == 0 && !strings.HasPrefix(s.text, "aucsched ") {
					t.Errorf("%s: nobody runs %q: elsewhere does not tell who", name, s.text)
					continue
				}
				shell, command := "sh", s.command
				if s.script {
					shell, command = "bash", "set -eo pipefail\nHOME=$PWD fpath=(. .)\n"+served.ReplaceAllString(strings.ReplaceAll(s.text, "/etc/slurm/", ""),
						"code=0; timeout -s INT 2 aucsched $1 127.0.0.1:0 || code=$$?; test $$code = 124")
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
	known := sources(t, root)
	t.Cleanup(func() { // when all pages have run
		for i, e := range elsewhere {
			_, found := used.Load(i)
			assert.True(t, found, "%s has no command that begins with %q", e.page, e.begins)
			for _, name := range test.FindAllString(e.by, -1) {
				assert.Contains(t, known, "func "+name+"(", "%s %s", e.page, e.begins)
			}
		}
	})
}

var test = regexp.MustCompile(`Test[A-Z]\w+`)

// sources is the text of all tests.
func sources(t *testing.T, root string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		all.Write(text)
		return err
	}))
	return all.String()
}

// served is a command that serves until it is ended: for two seconds, at an address that is free.
var served = regexp.MustCompile(`(?m)^aucsched (metrics --listen) \S+.*$`)

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

// hourly is a trace as readers have: a job each hour of eight days, on 16 cores, with 2^30 bytes.
func hourly() string {
	var b strings.Builder
	fmt.Fprintln(&b, "; MaxProcs: 16")
	for i := range 8 * 24 {
		run, cores := 3600*(1+i%5), 1+i*7%16
		fmt.Fprintln(&b, i+1, 3600*i, -1, run, cores, -1, -1, cores, run, 1<<30, 1, 1, 1, -1, 1, 1, -1, -1)
	}
	return b.String()
}

func pack(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func pagesToRun(t *testing.T, root string) []string {
	names := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "slurmplugin/README.md", "adapters/kubernetes/README.md", "scripts/own-tests/README.md"}
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

// inputs are files that readers of a page have of their own: a site's accounts and slurm.conf, logs.
func inputs(page string) map[string]string {
	switch page {
	case "docs/howto/try.md", "docs/howto/preset.md":
		var b strings.Builder
		b.WriteString(strings.ReplaceAll(workload.PastFormat, ",", "|") + "\n")
		for i := range 40 {
			at := fmt.Sprintf("2026-01-01T%02d:%02d:00", i/6, i%6*10)
			end := fmt.Sprintf("2026-01-01T%02d:%02d:00", i/6+1, i%6*10)
			fmt.Fprintf(&b, "%d|%s|%s|%s|3600|90|4|4|1|1|cpu=4|cpu=4|COMPLETED|%d|u%d|%s|p||||n%d\n", i, at, at, end, 100-i, i%3, at, i%6+1)
		}
		return map[string]string{"jobs.txt": b.String(), "slurm.conf": "NodeName=n[1-6] CPUs=4\nPartitionName=p Nodes=ALL\n"}
	case "docs/howto/monitor.md", "docs/reference/commands.md":
		status, err := os.ReadFile("../cmd/aucsched/testdata/status.json")
		if err != nil {
			panic(err)
		}
		return map[string]string{"slurm.conf": "StateSaveLocation=.\n", "aucsched.status": strings.Replace(string(status), `"time":1700000000`, fmt.Sprintf(`"time":%d`, time.Now().Unix()+600), 1), ".config/fish/completions/.keep": ""}
	case "docs/reference/workloads.md":
		return map[string]string{
			"slurm.conf":                   "NodeName=n[1-8] CPUs=16\nPartitionName=p Nodes=ALL\n",
			"topology.yaml":                "- {topology: t, cluster_default: true, tree: {switches: [{switch: s1, nodes: 'n[1-8]'}]}}\n",
			"jobs.swf":                     hourly(),
			"openb_node_list_all_node.csv": "sn,cpu_milli,memory_mib,gpu,model\na,32000,262144,0,\nb,64000,262144,2,T4\n",
			"openb_pod_list_default.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
				"p0,12000,16384,1,1000,,LS,Running,0,600,0\np1,6000,12288,1,460,T4,LS,Running,10,900,10\n",
		}
	case "docs/explanation/results.md":
		return map[string]string{"metacentrum-wagap-2013.swf": hourly(), "machine.txt": "zewura[1-20] cores=80 memory=517018\n" +
			"zegox[1-48] cores=12 memory=91832\n"}
	case "benchmarks/locality/README.md":
		return map[string]string{"cluster.txt": "{ id: 0 memory: 128 bandwidth: 0.1 core: 20 }\n", "trace.swf": hourly(), "jobs.txt": "{ id: 1 subtime: 0 " +
			"delay: 100 walltime: 3600 cores: 4 user: u data: 7 data_size: 25.6 workload: 1 start_time_from_history: 0 start_node_from_history: 1 }\n"}
	}
	return nil
}
