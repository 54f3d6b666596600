// SPDX-License-Identifier: BSD-3-Clause

// Package dashboard reads a dashboard of Grafana, as far as tests look at it:
// what it asks Prometheus.
package dashboard

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// A Query is what a panel, an annotation or a variable asks.
type Query struct {
	Where string // title of the panel and the target's letter, or the name
	Row   string // title of the row that the panel is in
	Expr  string // PromQL, with Grafana's variables; label_values(METRIC, LABEL) of a variable
}

type panel struct {
	ID      int
	Type    string
	Title   string
	Panels  []panel
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ RefID, Expr string }
}

// Read reads a dashboard's queries. Panels must have a place and an id of their own,
// and targets a query.
func Read(path string) ([]Query, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d struct {
		Title         string
		UID           string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct {
				Name, Type string
				Query      json.RawMessage
			}
		}
		Annotations struct {
			List []struct{ Name, Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 {
		return nil, fmt.Errorf("%s: title, uid and schemaVersion are not all given", path)
	}
	var all []Query
	for _, v := range d.Templating.List {
		var q struct{ Query string }
		if v.Type != "query" {
			continue
		}
		if err := json.Unmarshal(v.Query, &q); err != nil {
			return nil, fmt.Errorf("%s: variable %s: query: %w", path, v.Name, err)
		}
		all = append(all, Query{"variable " + v.Name, "", q.Query})
	}
	for _, a := range d.Annotations.List {
		all = append(all, Query{"annotation " + a.Name, "", a.Expr})
	}
	panels, err := queries(d.Panels)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return append(all, panels...), nil
}

func queries(panels []panel) ([]Query, error) {
	var all []Query
	var ids []int
	row := ""
	for _, p := range panels {
		if slices.Contains(ids, p.ID) || p.ID == 0 {
			return nil, fmt.Errorf("panel %q: id %d is none of its own", p.Title, p.ID)
		}
		ids = append(ids, p.ID)
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			return nil, fmt.Errorf("panel %q: gridPos %+v is not within 24 columns", p.Title, g)
		}
		if p.Type == "row" {
			row = p.Title
			continue
		}
		if len(p.Targets) == 0 {
			return nil, fmt.Errorf("panel %q: no targets", p.Title)
		}
		for _, t := range p.Targets {
			if t.Expr == "" {
				return nil, fmt.Errorf("panel %q, target %s: no expr", p.Title, t.RefID)
			}
			all = append(all, Query{p.Title + " " + t.RefID, row, t.Expr})
		}
	}
	return all, nil
}

var metric = regexp.MustCompile(`\bslurm_[a-z0-9_]+`)

// Metrics are the names of Slurm's and aucsched's metrics in PromQL.
func Metrics(expr string) []string { return metric.FindAllString(expr, -1) }

// Fill puts in values for Grafana's variables, $NAME each.
func Fill(expr string, values map[string]string) (string, error) {
	var pairs []string
	for name, v := range values {
		pairs = append(pairs, "$"+name, v)
	}
	filled := strings.NewReplacer(pairs...).Replace(expr)
	if strings.Contains(filled, "$") {
		return "", fmt.Errorf("%s: a variable that nobody knows", filled)
	}
	return filled, nil
}

var labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)

// LabelValues are the metric and the label of a variable's query.
func LabelValues(query string) (name, label string, err error) {
	m := labelValues.FindStringSubmatch(query)
	if m == nil {
		return "", "", fmt.Errorf("%s: is not label_values(METRIC, LABEL)", query)
	}
	return m[1], m[2], nil
}
