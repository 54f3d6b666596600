// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// setting is a number from the environment.
func setting(t *testing.T, name string, normal int) int {
	s := os.Getenv(name)
	if s == "" {
		return normal
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// enough is how many windows show that what is known to fail no longer does: most likely one would have.
func (v *violation) enough() int { return max(2000, 10*v.rare) }

// tally counts, by rule, feature and preset, the windows judged and those that break the rule.
type tally struct{ judged, broken map[string]int }

func (a *tally) count(w *World, broken bool) {
	keys := append([]string{"", w.Preset}, w.Features...)
	for i := range known {
		if f := known[i].feature; strings.Contains(f, " ") && known[i].of(w) && !slices.Contains(keys, f) {
			keys = append(keys, f)
		}
	}
	for _, f := range keys {
		if a.judged[f]++; broken {
			a.broken[f]++
		}
	}
}

// judge reports what is known to fail of a rule and no longer does, and what broke it.
func (a *tally) judge(t *testing.T, rule string) {
	for _, v := range known {
		if v.rule == rule && a.judged[v.feature] >= v.enough() && a.broken[v.feature] == 0 {
			t.Errorf("rule %s, %q is known to fail (%s), and did not in %d: take it out of the table", rule, v.feature, v.why, a.judged[v.feature])
		}
	}
	for _, f := range slices.Sorted(maps.Keys(a.judged)) {
		if a.broken[f] > 0 {
			t.Logf("%-12s %-14s %d of %d", rule, f, a.broken[f], a.judged[f])
		}
	}
}

// of reports whether a window has all that a violation needs.
func (v *violation) of(w *World) bool {
	return !slices.ContainsFunc(strings.Fields(v.feature), func(f string) bool { return f != w.Preset && !slices.Contains(w.Features, f) })
}

// knownFor is what is known to fail of a rule in such a window; nil if nothing is.
func knownFor(rule string, w *World) *violation {
	for i := range known {
		if v := &known[i]; v.rule == rule && v.of(w) {
			return v
		}
	}
	return nil
}

// decidedOn is what is decided on a window, or the fault in that.
func decidedOn(w *World) (o *Outcome, fault string) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Sprint("panic: ", r)
		}
	}()
	o, err := w.Decide()
	if err != nil {
		return nil, err.Error()
	}
	return o, ""
}

// verdict is how a rule is broken by what is decided on a window.
func verdict(rule *Rule, w *World, o *Outcome, fault string) (broken string) {
	defer func() {
		if r := recover(); r != nil {
			broken = fmt.Sprint("panic: ", r)
		}
	}()
	if fault != "" {
		return fault
	}
	return rule.Broken(w, o)
}

// anew is verdict on a window that is to be decided.
func anew(rule *Rule, w *World) string {
	o, fault := decidedOn(w)
	return verdict(rule, w, o, fault)
}

// trial is what came of a rule in all windows.
type trial struct {
	*Rule
	tally tally
	seeds []int // of windows that break it, although that is not known
	shown []string
}

// judge judges what is decided on a window.
func (r *trial) judge(w *World, o *Outcome, fault string) {
	broken := verdict(r.Rule, w, o, fault)
	r.tally.count(w, broken != "")
	unknown := func(c *World) bool { return os.Getenv("ORACLE_KNOWN") == "no" || knownFor(r.Name, c) == nil }
	if broken == "" || !unknown(w) {
		return
	}
	if r.seeds = append(r.seeds, int(w.Seed)); len(r.shown) < 3 {
		small := Shrink(w, func(c *World) bool { return len(c.Jobs) > 0 && unknown(c) && anew(r.Rule, c) != "" })
		r.shown = append(r.shown, fmt.Sprintf("%s\n%s\n%s", anew(r.Rule, small), small, describe(small)))
	}
}

// sameWindows reports whether two rules are about the same windows.
func (r *Rule) sameWindows(o *Rule) bool {
	return (r.Draw == nil) == (o.Draw == nil) && slices.Equal(r.Features, o.Features) && slices.Equal(r.Must, o.Must)
}

// TestRules decides each window once, for all rules that are about it: the rules' tests wait for it.
func TestRules(t *testing.T) {
	windows, from := setting(t, "ORACLE_WINDOWS", 2000), setting(t, "ORACLE_FROM", 1)
	var groups [][]*trial
	for i := range Rules {
		t.Run(Rules[i].Name, func(t *testing.T) {
			r := &trial{Rule: &Rules[i], tally: tally{map[string]int{}, map[string]int{}}}
			g := slices.IndexFunc(groups, func(g []*trial) bool { return g[0].sameWindows(r.Rule) })
			if g < 0 {
				g, groups = len(groups), append(groups, nil)
			}
			groups[g] = append(groups[g], r)
			t.Parallel()
			t.Log(r.Means)
			for _, text := range r.shown {
				t.Log(text)
			}
			if len(r.seeds) > 0 {
				t.Errorf("%d windows break it, although that is not known: seeds %v", len(r.seeds), r.seeds[:min(len(r.seeds), 20)])
			}
			r.tally.judge(t, r.Name)
		})
	}
	features := Features
	if list := os.Getenv("ORACLE_FEATURES"); list != "" {
		features = strings.Split(list, ",")
	}
	for _, rules := range groups {
		list := features
		if own := rules[0].Features; own != nil {
			list = slices.DeleteFunc(slices.Clone(own), func(f string) bool { return !slices.Contains(features, f) })
		}
		for seed := from; seed < from+windows; seed++ {
			w := Draw(uint64(seed), list, rules[0].Must)
			if len(w.Jobs) == 0 {
				continue
			}
			if rules[0].Draw != nil {
				rules[0].Draw(w)
			}
			if p := os.Getenv("ORACLE_PRESET"); p != "" && p != w.Preset {
				continue
			}
			o, fault := decidedOn(w)
			for _, r := range rules {
				r.judge(w, o, fault)
			}
		}
	}
}

// describe is what is decided on a window.
func describe(w *World) string {
	o, err := w.Decide()
	if err != nil {
		return err.Error()
	}
	var text []string
	for _, c := range o.startedClaims(anyJob) {
		text = append(text, fmt.Sprintf("%s starts on %+v", c.ID, c.Pieces))
	}
	for _, x := range o.Waits {
		text = append(text, fmt.Sprintf("%s waits: %s %q kept %v for %d", w.Jobs[x.Job].ID, x.Why, x.Reason, x.Kept, x.Expected-w.Now))
	}
	for _, s := range o.Stops {
		for _, f := range s.For {
			text = append(text, fmt.Sprintf("%s is stopped for %s", w.Running[s.Running].ID, w.Jobs[f].ID))
		}
	}
	if len(text) > 12 {
		text = text[:12]
	}
	return strings.Join(text, "\n")
}
