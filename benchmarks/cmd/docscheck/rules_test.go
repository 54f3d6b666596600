// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/results"
)

// A repository in which all that the page "good" claims is so.
var small = map[string]string{
	"Makefile":            "run: all\nall:\n",
	"plugin/Makefile":     "check:\n",
	"lab/targets.mk":      ".PHONY: x\n\nbench more: run\n\tcheck :x\n",
	"plugin/README.md":    "`make check`, `make run`\n",
	"core/auction.go":     "package core\n\ntype Auction struct{}\n",
	"internal/sim/sim.go": "package sim\n",
	"cmd/aucsched/plan.go": "package main\n\nvar c = &cobra.Command{Use: \"plan " +
		"WINDOW.json\"}\n\nfunc f() { c.Flags().BoolVar(&j, \"json\", false, \"\") }\n",
	"docs/picture.svg": "<svg/>",
	"docs/other.md":    "# Other\n\n## A heading, of `code`\n",
	"docs/good.md": "# Good\n\n[other](other.md#a-heading-of-code) ![picture](picture.svg) [here](#good)\n" +
		"`core/auction.go`, `core/`, `sched/backfill`, `make run`, `make more`, `core.Auction`, `x.Y`\n\n" +
		"```\nmake run && bin/aucsched plan \\\n    --json  # --nothing\ngo test ./core ./...\n```\n\n" +
		"| " + strings.Repeat("a table ", 20) + "|\n",
	"benchmarks/results/load.md": "# Load\n\nIt takes 1,234 ms, 77 or 1,012, at most 3,456.\n\n" + results.Marker +
		"\n\nIt takes 1,234 ms, not 99.\n\n| 1,234 | 5 |\n\n[all](csv/load.csv)\n",
	"benchmarks/results/csv/load.csv": "a,b\n\"1,012; 77\",3456\n",
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return root
}

func TestNothingWrong(t *testing.T) {
	problems, err := check(write(t, small))
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestEachRule(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"docs/bad.md", "# B\n\n[gone](gone.md)\n", "docs/bad.md:3: the link to gone.md leads nowhere"},
		{"docs/bad.md", "# B\n\n![gone](gone.svg)\n", "docs/bad.md:3: the link to gone.svg leads nowhere"},
		{"docs/bad.md", "a\n\nb\n[o](other.md#b)\n", "docs/bad.md:4: docs/other.md has no heading #b"},
		{"docs/bad.md", "[here](#c)\n", "docs/bad.md:1: docs/bad.md has no heading #c"},
		{"docs/bad.md", "See `core/gone.go`.\n", "docs/bad.md:1: there is no core/gone.go"},
		{"docs/bad.md", "See `sim/sim.go`.\n", "docs/bad.md:1: there is no sim/sim.go"},
		{"docs/bad.md", "See `sim/policy`.\n", "docs/bad.md:1: there is no sim/policy"},
		{"docs/bad.md", "`go test ./sim -run X`\n", "docs/bad.md:1: there is no package ./sim"},
		{"docs/bad.md", "Type `make check`.\n", "docs/bad.md:1: make has no target check"},
		{"docs/bad.md", "Type `make gone`.\n", "docs/bad.md:1: make has no target gone"},
		{"docs/bad.md", "```\nmake run && make gone\n```\n", "docs/bad.md:2: make has no target gone"},
		{"docs/bad.md", "`aucsched plan\n--gone`\n", "docs/bad.md:1: aucsched plan has no flag --gone"},
		{"docs/bad.md", "```\naucsched plan \\\n  --gone\n```\n", "docs/bad.md:2: aucsched plan has no flag --gone"},
		{"docs/bad.md", "`aucsched gone`\n", "docs/bad.md:1: aucsched has no command gone"},
		{"core/a.go", "package core\n\n// See docs/gone.md.\n", "core/a.go:3: there is no docs/gone.md"},
		{"docs/bad.md", "`core.Gone`\n", "docs/bad.md:1: package core declares no Gone"},
		{"benchmarks/results/load.md", "# Load\n\nIt takes 99 or\n98 ms.\n\n" + results.Marker + "\n\nNot 99.\n",
			"benchmarks/results/load.md:4: the page and its tables do not have the finding's figure 98"},
		{"benchmarks/results/csv/load.csv", "a,b\n1012,34,5\n", "benchmarks/results/load.md:1: csv/load.csv: record on line 2: wrong number of fields"},
		{"docs/bad.md", "\n" + strings.Repeat("long ", 21) + "\n", "docs/bad.md:2: 105 columns, more than 100"},
	} {
		files := map[string]string{c.name: c.text}
		for name, text := range small {
			if name != c.name {
				files[name] = text
			}
		}
		problems, err := check(write(t, files))
		require.NoError(t, err)
		require.Len(t, problems, 1, "%q: %v", c.text, problems)
		require.Equal(t, c.want, problems[0].String())
	}
}

// What two pages say of the same thing is one.
func TestContradictions(t *testing.T) {
	const (
		block = "```\nPluginDir=/a:/b\nJobSubmitPlugins=aucsched\n```\n"
		table = "## The table\n\n| request | | word |\n|---|---|---|\n" +
			"| `-C a\\|b` | modelled | |\n| `--x` | left | `exclusive` |\n| `--y` | modelled; left if it is two | `limits` |\n\n" +
			"## What is left, and why\n\n| word | why |\n|---|---|\n| `exclusive`, `limits` | why |\n| `user` | why |\n"
	)
	good := map[string]string{
		"docs/howto/install.md":        "# I\n\n## Install\n\nChange two lines of `slurm.conf`:\n\n" + block,
		"docs/tutorials/slurm.md":      "# S\n\nChange 2 lines of\n`slurm.conf`:\n\n" + block,
		"docs/reference/slurm-jobs.md": "# J\n\n" + table,
		"README.md": "# R\n\n```\nbin/aucsched plan --json w.json\nbin/aucsched plan w.json --mps m.mps && aucsched plan m.mps\n```\n\n" +
			"Two files. Change two lines of `slurm.conf`:\n\n" + block,
		"w.json":               "{}",
		"cmd/aucsched/plan.go": `c.Flags().StringVar(&s, "mps", ""); c.Flags().BoolVar(&s, "json", false)` + "\nUse: \"plan W\"",
	}
	for _, c := range []struct{ file, old, new, want string }{
		{"README.md", "", "", ""},
		{"README.md", "two lines", "four lines", "four lines of slurm.conf; the steps of docs/howto/install.md have 2"},
		{"docs/tutorials/slurm.md", "2 lines", "three lines", "three lines of slurm.conf"},
		{"docs/howto/install.md", "two lines", "3 lines", "3 lines of slurm.conf"},
		{"README.md", "JobSubmitPlugins=aucsched\n", "", "the lines of slurm.conf are [PluginDir] here"},
		{"docs/tutorials/slurm.md", "JobSubmit", "SchedulerParameters=a=1\nJobSubmit", "[PluginDir SchedulerParameters JobSubmitPlugins] here"},
		{"docs/reference/slurm-jobs.md", "`exclusive`, `limits`", "`exclusive`", `does not say why "limits" is left`},
		{"docs/reference/slurm-jobs.md", "`user`", "`user`, `shard`", `leaves nothing to Slurm for the reason "shard"`},
		{"docs/reference/slurm-jobs.md", "| left | `exclusive`", "| modelled | ", `leaves nothing to Slurm for the reason "exclusive"`},
		{"README.md", "w.json --mps", "trace.swf.gz --mps", "there is no trace.swf.gz to call this with"},
		{"README.md", "aucsched plan m.mps", "aucsched plan model.mps.gz", "there is no model.mps.gz to call this with"},
	} {
		files := make(map[string]string)
		for name, text := range good {
			files[name] = text
		}
		require.Contains(t, files[c.file], c.old)
		files[c.file] = strings.Replace(files[c.file], c.old, c.new, 1)
		problems, err := check(write(t, files))
		require.NoError(t, err)
		if c.want == "" {
			require.Empty(t, problems)
			continue
		}
		require.NotEmpty(t, problems, c.new)
		require.Contains(t, problems[0].String(), c.want)
	}
}
