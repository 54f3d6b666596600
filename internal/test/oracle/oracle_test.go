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

// verdict decides a window and judges that.
func verdict(rule *Rule, w *World) (broken string) {
	defer func() {
		if r := recover(); r != nil {
			broken = fmt.Sprint("panic: ", r)
		}
	}()
	o, err := w.Decide()
	if err != nil {
		return err.Error()
	}
	return rule.Broken(w, o)
}

func TestRules(t *testing.T) {
	windows, from := setting(t, "ORACLE_WINDOWS", 2000), setting(t, "ORACLE_FROM", 1)
	features := Features
	if list := os.Getenv("ORACLE_FEATURES"); list != "" {
		features = strings.Split(list, ",")
	}
	for i := range Rules {
		rule := &Rules[i]
		t.Run(rule.Name, func(t *testing.T) {
			t.Log(rule.Means)
			list := features
			if rule.Features != nil {
				list = slices.DeleteFunc(slices.Clone(rule.Features), func(f string) bool { return !slices.Contains(features, f) })
			}
			a := &tally{map[string]int{}, map[string]int{}}
			shown := 0
			for seed := from; seed < from+windows; seed++ {
				w := Draw(uint64(seed), list, rule.Must)
				if len(w.Jobs) == 0 {
					continue
				}
				if rule.Draw != nil {
					rule.Draw(w)
				}
				if p := os.Getenv("ORACLE_PRESET"); p != "" && p != w.Preset {
					continue
				}
				broken := verdict(rule, w)
				a.count(w, broken != "")
				if broken != "" && (os.Getenv("ORACLE_KNOWN") == "no" || knownFor(rule.Name, w) == nil) {
					t.Fail()
					if shown++; shown <= 3 {
						small := Shrink(w, func(c *World) bool {
							return len(c.Jobs) > 0 && (os.Getenv("ORACLE_KNOWN") == "no" || knownFor(rule.Name, c) == nil) && verdict(rule, c) != ""
						})
						t.Logf("%s\n%s\n%s", verdict(rule, small), small, describe(small))
					}
				}
			}
			a.judge(t, rule.Name)
		})
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
