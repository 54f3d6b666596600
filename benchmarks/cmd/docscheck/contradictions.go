// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The pages that say how the plug-ins are installed, and what they leave to Slurm.
const (
	readme   = "README.md"
	jobs     = "docs/reference/slurm-jobs.md"
	install  = "docs/howto/install.md"
	tutorial = "docs/tutorials/slurm.md"
)

// contradictions are statements of one page that another one, or another part of it, contradicts.
func contradictions(r *repository) (out []problem) {
	for _, name := range []string{readme, jobs, install, tutorial} {
		if r.byName[name] == nil {
			return nil // not this repository
		}
	}
	out = append(out, leftWords(r.byName[jobs])...)
	lines := confLines(r.byName[install])
	for _, name := range []string{readme, tutorial, install} {
		out = append(out, sameLines(r.byName[name], lines)...)
	}
	return append(out, absentInputs(r, r.byName[readme])...)
}

// leftWords compares the words of the table of requests with those that the table below it explains.
// That has the words for what is no request of a job besides.
func leftWords(p *page) (out []problem) {
	table := map[string]int{}
	for _, row := range rows(p, "## The table", "") {
		if cells := strings.Split(strings.Trim(row.text, "| "), "|"); len(cells) == 3 && strings.Contains(cells[1], "eft") {
			for _, m := range span.FindAllStringSubmatch(cells[2], -1) {
				table[m[1]] = row.line
			}
		}
	}
	explained := map[string]bool{}
	for _, row := range rows(p, "## What is left, and why", "") {
		cells := strings.Split(strings.Trim(row.text, "| "), "|")
		for _, m := range span.FindAllStringSubmatch(cells[0], -1) {
			explained[m[1]] = true
			if table[m[1]] == 0 && m[1] != "partition" && m[1] != "user" {
				out = append(out, p.problem(row.line, "the table leaves nothing to Slurm for the reason %q", m[1]))
			}
		}
	}
	for word, line := range table {
		if !explained[word] {
			out = append(out, p.problem(line, "the page does not say why %q is left", word))
		}
	}
	slices.SortFunc(out, func(a, b problem) int { return strings.Compare(a.text, b.text) })
	return out
}

// rows are the rows of tables from the line after begin to end or the next section; cells have \|
// replaced.
func rows(p *page, begin, end string) (list []piece) {
	inside := false
	for i, l := range p.lines {
		switch {
		case l == begin:
			inside = true
		case inside && (l == end && end != "" || strings.HasPrefix(l, "## ")):
			return list
		case inside && strings.HasPrefix(l, "|"):
			list = append(list, piece{i + 1, strings.ReplaceAll(l, `\|`, "or")})
		}
	}
	return list
}

var (
	confKey  = regexp.MustCompile(`^ *(PluginDir|SchedulerParameters|JobSubmitPlugins|CliFilterPlugins)=`)
	counted  = regexp.MustCompile(`\b(one|two|three|four|five|six|\d+) lines\b`)
	numerals = []string{"", "one", "two", "three", "four", "five", "six"}
)

// confLines are the settings of the block of slurm.conf in the section Install.
func confLines(p *page) (keys []string) {
	from := slices.Index(p.lines, "## Install")
	for _, b := range p.blocks {
		m := confKey.FindStringSubmatch(b.text)
		if m == nil || b.line <= from {
			continue
		}
		if slices.Contains(keys, m[1]) {
			break // another block
		}
		keys = append(keys, m[1])
	}
	return keys
}

// sameLines compares a page's blocks of slurm.conf that begin with PluginDir, and how many lines it
// says there are, with those of the installation.
func sameLines(p *page, want []string) (out []problem) {
	for i, b := range p.blocks {
		if m := confKey.FindStringSubmatch(b.text); m == nil || m[1] != "PluginDir" {
			continue
		}
		var have []string
		for j := i; j < len(p.blocks) && p.blocks[j].line == b.line+j-i; j++ {
			if m := confKey.FindStringSubmatch(p.blocks[j].text); m != nil {
				have = append(have, m[1])
			}
		}
		if !slices.Equal(have, want) {
			out = append(out, p.problem(b.line, "the lines of slurm.conf are %v here, and %v in the steps of %s", have, want, install))
		}
	}
	for _, t := range p.prose {
		m := counted.FindStringSubmatch(t.text)
		if m == nil || !strings.Contains(t.text, "slurm.conf") || strings.HasPrefix(t.text,
			"| ") && !strings.Contains(t.text, "lines into") {
			continue
		}
		if n := fmt.Sprint(len(want)); m[1] != n && m[1] != numerals[min(len(want), 6)] {
			out = append(out, p.problem(t.line, "%s lines of slurm.conf; the steps of %s have %s", m[1], install, n))
		}
	}
	return out
}

var (
	called  = regexp.MustCompile(`\baucsched [a-z][^|;&#]*`)
	output  = regexp.MustCompile(`--(?:html|mps|jobs-csv|markdown|solution|screenshot)[= ](\S+)`)
	fileArg = regexp.MustCompile(`(?:^|[ =])([A-Za-z0-9_./-]+\.(?:json|swf|mps|csv|txt|conf)(?:\.gz)?)\b`)
)

// absentInputs are files that the commands in a page's blocks read, and that neither are there nor
// were written by a command before.
func absentInputs(r *repository, p *page) (out []problem) {
	written := map[string]bool{}
	for _, b := range p.blocks {
		for _, m := range output.FindAllStringSubmatch(b.text, -1) {
			written[m[1]] = true
		}
		for _, call := range called.FindAllString(b.text, -1) {
			for _, m := range fileArg.FindAllStringSubmatch(call, -1) {
				if !r.files[m[1]] && !written[m[1]] {
					out = append(out, p.problem(b.line, "there is no %s to call this with", m[1]))
				}
			}
		}
	}
	return out
}
