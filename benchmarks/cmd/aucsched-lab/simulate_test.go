// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/locality"
	"github.com/aucsched/aucsched/benchmarks/pods"
	"github.com/aucsched/aucsched/docs/schemas"
	"github.com/aucsched/aucsched/internal/cli/simulate"
)

// aucsched names the policies and modes that are handed on, and hands on no others.
func TestNamesOfWhatIsHandedOn(t *testing.T) {
	require.Equal(t, pods.Policies(), simulate.PodPolicies())
	require.Equal(t, locality.Policies(), simulate.LocalityPolicies())
	var modes []string
	for _, name := range simulate.ModeNames() {
		m, err := locality.ParseMode(name)
		require.NoError(t, err)
		modes = append(modes, m.String())
	}
	require.Equal(t, simulate.ModeNames(), modes)
}

// What simulate prints is such by its schema.
func TestSimulate(t *testing.T) {
	judge := func(s *jsonschema.Schema, text string) error {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		return s.Validate(doc)
	}
	s := part(t, "")
	const data = "../../../internal/workload/testdata/"
	small := []string{"--cluster", "64x12x3", "--workload", data + "swf/small.swf", "--work", "20000"}
	for _, x := range []struct {
		args []string
		def  string
	}{
		{append(small, "--policy", "auction1,auction2,backfill,ipsched"), "result"},
		{append(small, "--policy", "auction2", "--locality"), "result"},
		{[]string{"--cluster", "1x1", "--workload", data + "gpu/pods.csv", "--policy", "backfill"}, "result"},
		{[]string{"--cluster", data + "cluster/alibaba.csv", "--workload", data + "gpu/pods.csv", "--policy", "backfill"}, "result"},
		{[]string{"--cluster", "64x12", "--workload", data + "swf/small.swf", "--policy", "fcfs,lead-bf"}, "locality"},
		{[]string{"--cluster", data + "cluster/alibaba.csv", "--workload", data + "gpu/pods.csv", "--policy", "fgd"}, "pods"},
		{append(small, "--bound"), "bounds"},
		{append(small, "--dry-run"), "dry_run"},
	} {
		_, out, errs := aucsched(t, "", append([]string{"simulate", "--json"}, x.args...)...)
		require.NotEmpty(t, out, errs)
		for line := range strings.Lines(out) {
			require.NoError(t, judge(s, line), "%v: %s", x.args, line)
			require.NoError(t, judge(part(t, "#/$defs/"+x.def), line), "%v is a %s", x.args, x.def)
		}
	}
	require.Error(t, judge(s, `{"policy":"backfill"}`))
}

// part is the schema of one kind of what simulate prints, or of all.
func part(t *testing.T, def string) *jsonschema.Schema {
	t.Helper()
	text, _ := schemas.Text("simulate")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json" + def)
	require.NoError(t, err)
	return s
}
