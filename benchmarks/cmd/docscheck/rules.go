// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"encoding/csv"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aucsched/aucsched/benchmarks/results"
)

// blank is as long as s, and has its lines.
func blank(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' {
			return c
		}
		return '_'
	}, s)
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// links lead to files, and to headings that their pages have.
func links(r *repository, p *page) []problem {
	var out []problem
	for _, t := range p.prose {
		text := span.ReplaceAllStringFunc(t.text, blank)
		for _, m := range link.FindAllStringSubmatchIndex(text, -1) {
			to := text[m[2]:m[3]]
			line := t.line + strings.Count(text[:m[2]], "\n")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			file = path.Join(path.Dir(p.name), file)
			if strings.HasPrefix(to, "#") {
				file = p.name
			}
			target := r.byName[file]
			switch {
			case !r.files[file]:
				out = append(out, p.problem(line, "the link to %s leads nowhere", to))
			case anchor != "" && target != nil && !target.anchors[anchor]:
				out = append(out, p.problem(line, "%s has no heading #%s", file, anchor))
			}
		}
	}
	return out
}

var (
	slashed = regexp.MustCompile(`^(\./)?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+/?$`)
	source  = regexp.MustCompile(`\.(go|c|h|md|sh|svg|csv|golden)$`)
	goRun   = regexp.MustCompile(`\bgo (?:run|test|build|vet)\b[^|;&]*`)
	local   = regexp.MustCompile(`(?:^|\s)\./([A-Za-z0-9_./-]*)`)
)

// paths in code exist if they look like this repository's: they begin with one of its
// directories, wherever that lies. So a package that has moved is found under its old path.
func paths(r *repository, p *page) []problem {
	var out []problem
	for _, s := range p.spans {
		name := strings.TrimSuffix(strings.TrimPrefix(s.text, "./"), "/")
		first, _, _ := strings.Cut(name, "/")
		if !slashed.MatchString(s.text) || r.files[name] || foreign[name] || first == "build" {
			continue
		}
		if r.files[first] || r.folders[first] || source.MatchString(name) {
			out = append(out, p.problem(s.line, "there is no %s", s.text))
		}
	}
	for _, c := range p.code() {
		for _, command := range goRun.FindAllString(c.text, -1) {
			for _, m := range local.FindAllStringSubmatch(command, -1) {
				name := strings.TrimSuffix(strings.TrimSuffix(m[1], "..."), "/")
				if name != "" && !r.files[name] {
					out = append(out, p.problem(c.line, "there is no package ./%s", m[1]))
				}
			}
		}
	}
	return out
}

// foreign are names of Slurm's plug-ins and of other programs' that look like paths of ours.
var foreign = map[string]bool{
	"cli_filter/aucsched": true, "job_submit/aucsched": true, "aucsched/ischeduler": true,
}

var makes = regexp.MustCompile(`(?:^|[;&|] *|\s)make ((?:[A-Z]+=\S+ )*)([a-z][A-Za-z0-9_.-]*)`)

// targets that pages tell to make are in the Makefile, or in that beside the page.
func targets(r *repository, p *page) []problem {
	var out []problem
	for _, c := range p.code() {
		text, _, _ := strings.Cut(c.text, " #")
		for _, m := range makes.FindAllStringSubmatch(text, -1) {
			if !r.targets["."][m[2]] && !r.targets[path.Dir(p.name)][m[2]] {
				out = append(out, p.problem(c.line, "make has no target %s", m[2]))
			}
		}
	}
	return out
}

var (
	command = regexp.MustCompile(`(?:^|[\s/])aucsched ([a-z][a-z-]*)([^|;&#]*)`)
	flag    = regexp.MustCompile(`(?:^|\s)--([a-z][a-z0-9-]*)`)
)

// flags of the command are such that its source defines, and so are its words.
func flags(r *repository, p *page) []problem {
	var out []problem
	for _, c := range p.code() {
		for _, m := range command.FindAllStringSubmatch(c.text, -1) {
			if !r.commands[m[1]] {
				out = append(out, p.problem(c.line, "aucsched has no command %s", m[1]))
				continue
			}
			ours, _, _ := strings.Cut(m[2], " -- ")
			for _, f := range flag.FindAllStringSubmatch(ours, -1) {
				if !r.flags[f[1]] {
					out = append(out, p.problem(c.line, "aucsched %s has no flag --%s", m[1], f[1]))
				}
			}
		}
	}
	return out
}

var qualified = regexp.MustCompile(`^([a-z][a-z0-9]*)\.([A-Z]\w*)`)

// names package.Name in code are declared there.
func names(r *repository, p *page) []problem {
	var out []problem
	for _, s := range p.spans {
		m := qualified.FindStringSubmatch(s.text)
		if m != nil && r.exported[m[1]] != nil && !r.exported[m[1]][m[2]] {
			out = append(out, p.problem(s.line, "package %s declares no %s", m[1], m[2]))
		}
	}
	return out
}

var figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// findings, on top of measured pages, quote figures that the rest of the page or its tables have.
func findings(r *repository, p *page) []problem {
	end := slices.Index(p.lines, results.Marker)
	if end < 0 {
		return nil
	}
	texts := p.lines[end:]
	for _, m := range link.FindAllStringSubmatch(p.text, -1) {
		if strings.HasSuffix(m[1], ".csv") {
			text, _ := r.read(path.Join(path.Dir(p.name), m[1])) // links tells of one that is not there
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				return []problem{p.problem(1, "%s: %v", m[1], err)}
			}
			texts = append(texts, slices.Concat(rows...)...)
		}
	}
	has := map[string]bool{}
	for _, text := range texts {
		for _, f := range figure.FindAllString(text, -1) {
			has[strings.ReplaceAll(f, ",", "")] = true
		}
	}
	var out []problem
	for i, l := range p.lines[:end] {
		for _, f := range figure.FindAllString(link.ReplaceAllString(l, "]"), -1) {
			if f = strings.TrimRight(f, ","); !has[strings.ReplaceAll(f, ",", "")] {
				out = append(out, p.problem(i+1, "the page and its tables do not have the finding's figure %s", f))
			}
		}
	}
	return out
}

const columns = 100

// lines of pages that people write are short. Code, tables and the targets of links may be longer.
func lines(_ *repository, p *page) []problem {
	if p.measured() {
		return nil
	}
	var out []problem
	for i, l := range p.lines {
		trimmed := strings.TrimSpace(l)
		if p.fenced[i] || strings.HasPrefix(l, "    ") || strings.HasPrefix(trimmed, "|") {
			continue
		}
		if n := utf8.RuneCountInString(link.ReplaceAllString(l, "]")); n > columns {
			out = append(out, p.problem(i+1, "%d columns, more than %d", n, columns))
		}
	}
	return out
}
