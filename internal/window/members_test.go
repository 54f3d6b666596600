// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/nodeset"
)

// How a window begins, and what a field may not be.
func TestReadFieldErrors(t *testing.T) {
	doc := func(node, job string) string {
		return "{\"nodes\":[{\"name\":\"n1\",\n" + node + "\"cores\":4}],\n\"jobs\":[{\"id\":\"J\",\n" +
			job + "\"priority\":1,\"cores\":4}]}"
	}
	for _, x := range []struct{ in, want string }{
		{"null", `w.json:1: a window is an object: expected "{", found null`},
		{"\n7", `w.json:2: a window is an object: expected "{", found a number`},
		{`"x"`, `w.json:1: a window is an object: expected "{", found a text`},
		{"[]", `w.json:1: a window is an object: expected "{", found "["`},
		{`{"nodes":true}`, `w.json:1: "nodes" is a list: expected "[", found true`},
		{`{"node":[]}`, `w.json:1: unknown field "node": nodes, switches, jobs, running and quotas are known; did you mean "nodes"?`},
		{`{"nodes":[null]}`, `w.json:1: nodes[0]: expected an object, found null`},
		{"\xff\xfe{\x00}\x00", "w.json:1: the text is in UTF-16: save it as UTF-8"},
		{"{\x00}\x00", "w.json:1: the text is in UTF-16: save it as UTF-8"},
		{doc("", "\"id\":\"K\",\n"), `w.json:4: jobs[0]: id: is there twice`},
		{doc("", "\n\"\\u0069d\":\"K\",\n"), `w.json:5: jobs[0]: id: is there twice`},
		{doc("\n\"gpus\":null,", ""), `w.json:3: nodes[0]: gpus: is null: leave a field out that has no value`},
		{doc("", `"eligible":null,`), `w.json:4: jobs[0]: eligible: is null`},
		{doc("", `"alternatives":[null],`), `w.json:4: jobs[0]: alternatives: is null`},
		{doc("", "\"alternatives\":[{\"cores\":1,\n\"cores\":2}],"), `w.json:5: jobs[0] (J): alternatives[0]: cores: is there twice`},
		{doc("", `"Contiguous":true,`), `w.json:4: jobs[0]: unknown field "Contiguous"; did you mean "contiguous"?`},
		{doc("", `"time_limit":9,`), `w.json:4: jobs[0]: unknown field "time_limit"; did you mean "time_limit_s"?`},
		{doc("", "\"nodes\":\n\"1-x\","), `w.json:4: jobs[0]: nodes: "1-x" is neither N nor MIN-MAX`},
		{doc("", `"eligible":4,`), `w.json:4: jobs[0]: eligible: number is not a text in quotes`},
	} {
		_, err := Read(strings.NewReader(x.in), "w.json")
		require.ErrorContains(t, err, x.want, "%s", x.in)
	}
	w, err := Read(strings.NewReader("\xef\xbb\xbf"+doc("", "")), "w.json")
	require.NoError(t, err, "a mark of UTF-8 is no part of the text")
	require.Len(t, w.Snapshot.Pending, 1)
}

// members finds what a decoder does, wherever there is space.
func TestMembers(t *testing.T) {
	value := rapid.SampledFrom([]string{"1", "-2.5e3", "true", "null", `""`, `"a\"}],{b\\"`, "[]", "{}", "[ 1 , [2,{}], \"]\" ]",
		`{"a":{"b":[1]},"c":"}"}`, "[{\"x\": null}]"})
	space := rapid.StringMatching("[ \t\r\n]{0,2}")
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z"\\{}:,é]{0,4}`), rapid.ID).Draw(t, "keys")
		draw := func() string { return space.Draw(t, "space") }
		var b strings.Builder
		b.WriteString("{" + draw())
		values := make(map[string]string)
		for i, k := range keys {
			if i > 0 {
				b.WriteString("," + draw())
			}
			quoted, err := json.Marshal(k)
			require.NoError(t, err)
			values[k] = value.Draw(t, "value")
			b.WriteString(string(quoted) + draw() + ":" + draw() + values[k] + draw())
		}
		b.WriteString("}")
		require.True(t, json.Valid([]byte(b.String())))
		var found []string
		require.NoError(t, members([]byte(b.String()), func(m member) error {
			require.Equal(t, values[m.key], string(m.value))
			require.Equal(t, byte('"'), b.String()[m.at])
			found = append(found, m.key)
			return nil
		}))
		require.Equal(t, keys, append([]string{}, found...))
	})
}

func TestHasNull(t *testing.T) {
	for in, want := range map[string]bool{
		"null": true, "[null]": true, "[1, null ]": true, `["null"]`: false, `[{"a":null}]`: false,
		"[[null]]": false, "[]": false, "1": false,
	} {
		require.Equal(t, want, hasNull([]byte(in)), in)
	}
}

// A name that is there twice is found among many names too, of whichever object it is.
func TestTwiceAmongMany(t *testing.T) {
	for _, first := range []int{0, fewNames - 1, fewNames, 99} {
		var charges, quotas strings.Builder
		for i := range 100 {
			fmt.Fprintf(&charges, `"q%d":{"per_job":1},`, i)
			fmt.Fprintf(&quotas, `{"name":"q%d"},`, i)
		}
		window := func(more string) error {
			_, err := Read(strings.NewReader(`{"nodes":[{"name":"n1","cores":1}],"quotas":[`+quotas.String()+`{"name":"last"}],`+
				`"jobs":[{"id":"a","priority":1,"charges":{`+charges.String()+more+`},"cores":1}]}`), "w")
			return err
		}
		require.NoError(t, window(`"last":{}`))
		twice := fmt.Sprintf("q%d", first)
		require.ErrorContains(t, window(fmt.Sprintf(`%q:{}`, twice)), "charges: "+twice+": is there twice")
	}
}

// What lists of nodes cost is bounded, however they are put.
func TestListBounds(t *testing.T) {
	p := &parser{names: []string{"a", "b"}, index: map[string]int{"a": 0, "b": 1}, listed: maxListed - 2}
	for range 2 {
		nodes, err := p.find("b,b")
		require.EqualError(t, err, "node b is there twice", nodes)
		p.listed -= 2
	}
	nodes, err := p.find("b,a")
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, nodes)
	_, err = p.find("a")
	require.EqualError(t, err, "the window's lists of nodes have more than 67108864 in all")

	p.listed, p.masked = 0, maxMasked-2
	p.masks = []mask{{nodes: "a", set: func(nodeset.Mask) {}}, {nodes: "a", set: func(nodeset.Mask) {}}}
	require.NoError(t, p.setMasks())
	p.masks[0].what = "jobs[0] (j): eligible"
	require.EqualError(t, p.setMasks(), ":1: jobs[0] (j): eligible: 1 different lists of nodes are too many for 2 nodes")
}
