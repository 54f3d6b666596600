// SPDX-License-Identifier: BSD-3-Clause

package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/window"
)

// fixed is a window with the right decision, cut from what users of batch systems have reported.
type fixed struct {
	Name       string
	Preset     string
	WindowJobs *int `json:"window_jobs"`
	Depth      int
	Like       int // how many jobs as the first there are
	Want       wanted
	Window     map[string]json.RawMessage
}

// wanted is what has to be decided; what is absent is not looked at.
type wanted struct {
	Starts, Has    map[string]string   // the nodes, or some of them
	OneStarts      []string            `json:"one_starts"`
	Waits          []string            //
	NoPlace        []string            `json:"no_place"`
	NoPlaceOrWaits []string            `json:"no_place_or_waits"` // the first is told no time, or the second waits
	Stopped        map[string][]string // for whom
	Quota          map[string]string   // of which an explanation says that it is too small
	RoomNow        []string            `json:"room_now"` // starts, or its explanation says that it could
}

func TestWindows(t *testing.T) {
	text, err := os.ReadFile("testdata/windows.json")
	require.NoError(t, err)
	var list []fixed
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&list))
	for _, f := range list {
		t.Run(f.Name, func(t *testing.T) {
			broken := f.judge(t)
			v := slices.IndexFunc(known, func(v violation) bool { return v.rule == "window" && v.feature == f.Name })
			switch {
			case v < 0:
				require.Empty(t, broken)
			case broken == "":
				t.Errorf("is known to fail (%s), and does not: take it out of the table", known[v].why)
			default:
				t.Log(broken)
			}
		})
	}
}

// read is the window, with jobs repeated.
func (f *fixed) read(t *testing.T) *window.Window {
	if f.Like > 0 {
		var jobs []map[string]any
		require.NoError(t, json.Unmarshal(f.Window["jobs"], &jobs))
		for i := range f.Like - 1 {
			like := map[string]any{}
			for k, v := range jobs[0] {
				like[k] = v
			}
			like["id"] = fmt.Sprint(like["id"], i)
			jobs = append(jobs, like)
		}
		var err error
		f.Window["jobs"], err = json.Marshal(jobs)
		require.NoError(t, err)
	}
	text, err := json.Marshal(f.Window)
	require.NoError(t, err)
	w, err := window.Read(bytes.NewReader(text), f.Name)
	require.NoError(t, err)
	return w
}

func (f *fixed) judge(t *testing.T) string {
	w := f.read(t)
	if f.Preset == "" {
		f.Preset = "none"
	}
	o := core.Preset(f.Preset)
	if o.Estimates = true; f.WindowJobs != nil {
		o.Window, o.Depth = *f.WindowJobs, f.Depth
	}
	a, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	e, err := core.NewExplainer(context.Background(), a, &w.Snapshot, core.Limits{Seed: 1})
	require.NoError(t, err)
	require.NoError(t, core.Verify(&w.Snapshot, e.Plan()))
	c := decided{t: t, w: w, e: e, nodes: map[string][]string{}, told: map[string]bool{}, stopped: map[string][]string{}}
	c.read()
	return c.compare(&f.Want)
}

// decided is what was decided, by name.
type decided struct {
	t       *testing.T
	w       *window.Window
	e       *core.Explainer
	nodes   map[string][]string // of those that start
	told    map[string]bool
	stopped map[string][]string
}

func (c *decided) read() {
	s, p := &c.w.Snapshot, c.e.Plan()
	for i := range p.Decisions {
		d := &p.Decisions[i]
		id := s.Pending[d.Job].ID
		c.told[id] = d.Kept
		for _, seg := range d.Segs {
			c.nodes[id] = append(c.nodes[id], c.w.Names[seg.First:seg.Last+1]...)
		}
	}
	for _, x := range p.Preempted {
		for _, j := range x.For {
			id := s.Running[x.Running].ID
			c.stopped[id] = append(c.stopped[id], s.Pending[j].ID)
		}
	}
}

func (c *decided) explain(id string) *core.Explanation {
	at := slices.IndexFunc(c.w.Snapshot.Pending, func(j *core.Job) bool { return j.ID == id })
	x, err := c.e.Explain(context.Background(), at, core.ExplainOptions{})
	require.NoError(c.t, err)
	return x
}

// compare says what is not as wanted.
func (c *decided) compare(want *wanted) string {
	var wrong []string
	say := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	for id, list := range want.Starts {
		names := c.expand(list)
		inside := !slices.ContainsFunc(c.nodes[id], func(n string) bool { return !slices.Contains(names, n) })
		say(len(c.nodes[id]) > 0 && inside, "%s starts on %v, not %s", id, c.nodes[id], list)
	}
	for id, list := range want.Has {
		for _, name := range c.expand(list) {
			say(slices.Contains(c.nodes[id], name), "%s starts on %v without %s", id, c.nodes[id], name)
		}
	}
	for _, id := range want.Waits {
		say(len(c.nodes[id]) == 0, "%s starts", id)
	}
	for _, id := range want.NoPlace {
		say(!c.told[id], "%s has a place kept", id)
	}
	starts := func(id string) bool { return len(c.nodes[id]) > 0 }
	say(len(want.OneStarts) == 0 || slices.ContainsFunc(want.OneStarts, starts), "none of %v starts", want.OneStarts)
	if two := want.NoPlaceOrWaits; len(two) > 0 {
		say(!c.told[two[0]] || !starts(two[1]), "%s has a time told, and %s starts in its place", two[0], two[1])
	}
	if want.Stopped != nil {
		say(fmt.Sprint(want.Stopped) == fmt.Sprint(c.stopped), "stopped are %v, not %v", c.stopped, want.Stopped)
	}
	for id, quota := range want.Quota {
		x := c.explain(id)
		said := x.NeverWhy
		for _, l := range x.Lacks {
			said += l.Row
		}
		say(strings.Contains(said, quota), "%s lacks quota %s: %s, %q", id, quota, x.Why, said)
	}
	for _, id := range want.RoomNow {
		if !starts(id) {
			x := c.explain(id)
			say(x.Foreseen && x.Expected == c.w.Snapshot.Now, "%s has room now, not in %d", id, x.Expected)
		}
	}
	return strings.Join(wrong, "; ")
}

func (c *decided) expand(list string) []string {
	names, err := hostlist.Expand(list)
	require.NoError(c.t, err)
	return names
}
