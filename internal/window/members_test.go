// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// How a window begins, and what a field may not be.
func TestReadFieldErrors(t *testing.T) {
	doc := func(node, job string) string {
		return "{\"nodes\":[{\"name\":\"n1\",\n" + node + "\"cores\":4}],\n\"jobs\":[{\"id\":\"J\",\n" +
			job + "\"priority\":1,\"cores\":4}]}"
	}
	for _, x := range []struct{ in, want string }{
		{"null", "w.json:1: a window is an object: found null"},
		{"\n7", "w.json:2: a window is an object: found a number"},
		{`"x"`, "w.json:1: a window is an object: found a text"},
		{"[]", "w.json:1: a window is an object: found a list"},
		{`{"nodes":true}`, "w.json:1: nodes: expected a list, found true or false"},
		{`{"node":[]}`, `w.json:1: unknown field "node"; did you mean "nodes"?`},
		{`{"nodes":[null]}`, "w.json:1: nodes: is null: leave a field out that has no value"},
		{"\xff\xfe{\x00}\x00", "w.json:1: the text is in UTF-16: save it as UTF-8"},
		{"{\x00}\x00", "w.json:1: the text is in UTF-16: save it as UTF-8"},
		{doc("", "\"id\":\"K\",\n"), "w.json:4: jobs[0] (K): id: is there twice"},
		{doc("", "\n\"\\u0069d\":\"K\",\n"), "w.json:5: jobs[0] (K): id: is there twice"},
		{doc("\n\"gpus\":null,", ""), "w.json:3: nodes[0] (n1): gpus: is null: leave a field out that has no value"},
		{doc("", `"eligible":null,`), "w.json:4: jobs[0] (J): eligible: is null: leave a field out that has no value"},
		{doc("", `"alternatives":[null],`), "w.json:4: jobs[0] (J): alternatives: is null: leave a field out that has no value"},
		{doc("", "\"alternatives\":[{\"cores\":1,\n\"cores\":2}],"), `w.json:5: jobs[0] (J): alternatives[0]: cores: is there twice`},
		{doc("", `"Contiguous":true,`), `w.json:4: jobs[0] (J): unknown field "Contiguous"; did you mean "contiguous"?`},
		{doc("", `"memory":9,`), `w.json:4: jobs[0] (J): unknown field "memory"; did you mean "resources" of a node, or "uses" of a job?`},
		{doc("", `"gres":9,`), `w.json:4: jobs[0] (J): unknown field "gres"; did you mean "gpus" of a node, or "gpus_per_node" of a job?`},
		{`{"nodes":[{"tres":9}]}`, `w.json:1: nodes[0]: unknown field "tres"; did you mean "resources" of a node, or "uses" of a job?`},
		{`{"nodes":[{"ncpus":9}]}`, `w.json:1: nodes[0]: unknown field "ncpus"; did you mean "cores"?`},
		{doc("", `"time_limit":9,`), `w.json:4: jobs[0] (J): unknown field "time_limit"; did you mean "time_limit_s"?`},
		{doc("", "\"nodes\":\n\"1-x\","), `w.json:4: jobs[0] (J): nodes: "1-x" is neither N nor MIN-MAX`},
		{doc("", `"eligible":4,`), "w.json:4: jobs[0] (J): eligible: number is not a text in quotes"},
	} {
		_, err := Read(strings.NewReader(x.in), "w.json")
		require.ErrorContains(t, err, x.want, "%s", x.in)
	}
	w, err := Read(strings.NewReader("\xef\xbb\xbf"+doc("", "")), "w.json")
	require.NoError(t, err, "a mark of UTF-8 is no part of the text")
	require.Len(t, w.Snapshot.Pending, 1)
}

// A name that is there twice is found among many names too, of whichever object it is.
func TestTwiceAmongMany(t *testing.T) {
	for _, first := range []int{0, 31, 32, 99} {
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
