// SPDX-License-Identifier: BSD-3-Clause

package schemas_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/internal/format"
	"github.com/aucsched/aucsched/internal/sim"
	"github.com/aucsched/aucsched/internal/slurm/check"
	"github.com/aucsched/aucsched/internal/slurm/pending"
	"github.com/aucsched/aucsched/internal/slurm/shadow"
	"github.com/aucsched/aucsched/internal/try"
	"github.com/aucsched/aucsched/internal/window"
	"github.com/aucsched/aucsched/nodeset"
)

// object is a schema, as far as these tests look at it.
type object struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Enum       []string                   `json:"enum"`
	Items      *object                    `json:"items"`
	Defs       map[string]json.RawMessage `json:"$defs"`
}

func read(t *testing.T, text []byte) (o object) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &o))
	return o
}

func schema(t *testing.T, name string) object {
	t.Helper()
	text, ok := schemas.Text(name)
	require.True(t, ok, name)
	return read(t, text)
}

// fields are those of a struct in JSON, and of them such as are always printed.
func fields(of reflect.Type) (all, always []string) {
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		all = append(all, name)
		if !strings.Contains(options, "omit") {
			always = append(always, name)
		}
	}
	return all, always
}

// A schema has the fields of the type that is read or printed, and no others; of what is
// printed those that are always there are required. The laboratory's tests have what its
// program prints more.
func TestSchemasHaveTheFields(t *testing.T) {
	for _, x := range []struct {
		schema, def string
		of          any
		printed     bool
		more        []string
	}{
		{"window", "", format.Window{}, false, nil},
		{"window", "node", format.Node{}, false, nil},
		{"window", "switch", format.Switch{}, false, nil},
		{"window", "running", format.Running{}, false, nil},
		{"window", "held", format.Held{}, false, nil},
		{"window", "claim", format.Claim{}, false, nil},
		{"window", "reservation", format.Reservation{}, false, nil},
		{"window", "on", format.Place{}, false, nil},
		{"window", "job", format.Job{}, false, nil},
		{"window", "request", format.Request{}, false, nil},
		{"window", "quota", format.Quota{}, false, nil},
		{"window", "charge", nodeset.Use{}, false, nil},
		{"plan", "", window.Outcome{}, true, nil},
		{"plan", "decision", window.Decision{}, true, nil},
		{"plan", "place", window.Place{}, true, nil},
		{"plan", "claim", format.Claim{}, true, nil},
		{"plan", "on", format.Place{}, true, nil},
		{"plan", "explanation", window.Explanation{}, true, nil},
		{"plan", "lack", core.Lack{}, true, nil},
		{"plan", "rival", window.Rival{}, true, nil},
		{"plan", "suggestion", window.Suggestion{}, true, nil},
		{"plan", "change", core.Change{}, true, nil},
		{"explain", "", window.Decision{}, true, nil},
		{"simulate", "result", sim.Result{}, true, []string{"runtime_bound_s", "seed"}},
		{"check", "finding", check.Finding{}, true, nil},
		{"try", "", try.Report{}, true, nil},
		{"try", "group", try.Group{}, true, nil},
		{"try", "figures", try.Figures{}, true, nil},
		{"try", "ratio", try.Ratio{}, true, nil},
		{"why", "", pending.Answer{}, true, nil},
		{"why", "verdict", pending.Verdict{}, true, nil},
		{"why", "holder", pending.Holder{}, true, nil},
		{"shadow", "", shadow.Report{}, true, nil},
		{"shadow", "tally", shadow.Tally{}, true, nil},
		{"shadow", "place", shadow.Place{}, true, nil},
		{"shadow", "job", shadow.Job{}, true, nil},
		{"shadow", "machine", shadow.Machine{}, true, nil},
		{"shadow", "count", shadow.Count{}, true, nil},
	} {
		s := schema(t, x.schema)
		if x.def != "" {
			s = read(t, s.Defs[x.def])
		}
		all, always := fields(reflect.TypeOf(x.of))
		require.ElementsMatch(t, append(all, x.more...), slices.Collect(maps.Keys(s.Properties)), "%s %s", x.schema, x.def)
		switch {
		case x.printed && x.schema == "explain":
			require.ElementsMatch(t, append(always, "explanation"), s.Required)
		case x.printed:
			require.ElementsMatch(t, always, s.Required, "%s %s", x.schema, x.def)
		}
	}
}

// Of a resource of nodes a job takes nothing for itself.
func TestSchemaOfUses(t *testing.T) {
	defs := schema(t, "window").Defs
	charge, use := read(t, defs["charge"]).Properties, read(t, defs["use"]).Properties
	delete(charge, "per_job")
	require.ElementsMatch(t, slices.Collect(maps.Keys(charge)), slices.Collect(maps.Keys(use)))
}

// What plan and explain print alike, their schemas have alike.
func TestSchemasAgree(t *testing.T) {
	plan, explain := schema(t, "plan"), schema(t, "explain")
	for name, text := range explain.Defs {
		require.JSONEq(t, string(plan.Defs[name]), string(text), name)
	}
	decision := read(t, plan.Defs["decision"])
	for name, text := range explain.Properties {
		require.JSONEq(t, string(decision.Properties[name]), string(text), name)
	}
	require.Equal(t, []string{"check", "explain", "plan", "shadow", "simulate", "solve", "status", "try", "why",
		"window"}, schemas.Names())
	_, ok := schemas.Text("odd")
	require.False(t, ok)
}

// Every name that a decision's reasons and rivals have is one of those listed.
func TestSchemasHaveTheNames(t *testing.T) {
	plan := schema(t, "plan")
	var whys []string
	for w := core.Why(0); w <= core.OverQuota; w++ {
		whys = append(whys, w.String())
	}
	require.ElementsMatch(t, whys, read(t, read(t, plan.Defs["explanation"]).Properties["why"]).Enum)
	require.ElementsMatch(t, []string{"running", "starting", "reserved", "waiting"}, read(t, read(t, plan.Defs["rival"]).Properties["role"]).Enum)
}
