// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"fmt"
	"strings"
	"time"
)

// asked is what a job asks for, as limits count it.
type asked struct {
	tres    map[string]int // by "cpu", "mem" in MB, "node", "gres/gpu:a100"
	nodes   int            // at most
	minutes int            // its time limit; 0: none that is known
	known   bool           // Slurm says it
}

func parseAsked(f fields) asked {
	d := asked{tres: map[string]int{}, minutes: int(f.minutes("TimeLimit") / time.Minute)}
	_, d.nodes = parseCount(f.text("NumNodes"))
	text := f.text("ReqTRES")
	if text == "" {
		text = f.text("TRES") // till 22.05
	}
	d.known = text != ""
	for part := range strings.SplitSeq(text, ",") {
		name, amount, _ := strings.Cut(part, "=")
		d.tres[name] = number(amount)
	}
	return d
}

// A setting is a limit as assoc_mgr prints it: "cpu=64(12)", "5(2)".
type setting struct {
	text        string
	name        string // of the TRES, "" for a plain number
	limit, used int
}

// settings are those of a record that belong to the limit and are set.
func (l limit) settings(r fields) (all []setting) {
	value, isTRES := r[l.field], strings.Contains(l.field, "TRES")
	if strings.HasPrefix(l.field, "Min") {
		value = r[l.field+"PJ"]
	}
	for part := range strings.SplitSeq(value, ",") {
		s := setting{text: part}
		amount := part
		if isTRES {
			s.name, amount, _ = strings.Cut(part, "=")
		}
		if amount == "" || amount[0] < '0' || amount[0] > '9' || isTRES && !strings.HasPrefix(s.name, l.tres) {
			continue
		}
		amount, taken, _ := strings.Cut(strings.TrimSuffix(amount, ")"), "(")
		s.limit, s.used = number(amount), number(taken)
		all = append(all, s)
	}
	return all
}

// beyond is a limit that forbids a job by itself, whatever runs.
type beyond struct {
	limit       int
	asks        int
	field, unit string // field's name, for people
	least       bool   // it asks for too little
}

// words say it; whose is who has the limit.
func (b *beyond) words(whose string) string {
	what := b.field
	if b.unit != "" {
		what += "=" + b.unit
	}
	if b.least {
		return fmt.Sprintf("%s of %s: it asks for %d, the least is %d: it can't start as it is", what, whose, b.asks, b.limit)
	}
	return fmt.Sprintf("%s of %s: it asks for %d, the limit is %d: it can't start as it is", what, whose, b.asks, b.limit)
}

// asAsked is what to ask for instead.
func (b *beyond) asAsked(bound string) string {
	switch {
	case strings.Contains(b.field, "Mins"):
		return fmt.Sprintf("less, or for less time: %s %d minutes of %s, which are the product of both", bound, b.limit, b.unit)
	case strings.HasSuffix(b.field, "PN"):
		return fmt.Sprintf("%s %d of %s on a node", bound, b.limit, b.unit)
	}
	return fmt.Sprintf("%s %d of %s", bound, b.limit, b.unit)
}

// beyond returns the first limit of a record that the job breaks by itself; nil: none.
func (l limit) beyond(r fields, d *asked) *beyond {
	for _, s := range l.settings(r) {
		b := beyond{limit: s.limit, asks: l.asks(d, s.name), field: l.field, unit: s.name, least: strings.HasPrefix(l.field, "Min")}
		switch {
		case b.unit == "mem":
			b.unit = "mem (MB)"
		case strings.Contains(l.field, "Wall"):
			b.field += " (minutes)"
		}
		// Of what decays a job may take more than there is if that need not last to its end.
		decays := l.field == "GrpWall" || strings.HasSuffix(l.field, "GrpTRESMins")
		switch {
		case decays && s.used >= s.limit && s.limit > 0:
		case b.least && d.known && b.asks < b.limit, !b.least && b.asks > b.limit:
			return &b
		}
	}
	return nil
}

// asks is how much of what is limited the job asks for; 0 if that is not known.
func (l limit) asks(d *asked, name string) int {
	switch n := d.tres[name]; {
	case strings.Contains(l.field, "Jobs"):
		return 1
	case strings.Contains(l.field, "Wall"):
		return d.minutes
	case strings.Contains(l.field, "Mins"):
		return n * d.minutes
	case strings.HasSuffix(l.field, "PN"):
		return n / max(d.nodes, 1)
	default:
		return n
	}
}
