// SPDX-License-Identifier: BSD-3-Clause

package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/test/costtest"
)

// Whatever many of a window are, it is read, or refused, in time that grows with the text, and so
// is the outcome written.
func TestReadCost(t *testing.T) {
	const node, job = `{"name":"n[1-64]","cores":8}`, `"priority":1,"cores":1`
	list := func(item string) func(n int) string {
		return func(n int) string {
			items := make([]string, n)
			for i := range items {
				items[i] = strings.ReplaceAll(item, "#", fmt.Sprint(i+1))
			}
			return strings.Join(items, ",")
		}
	}
	for _, x := range []struct{ name, before, item, after, wrong string }{
		{"jobs", `{"nodes":[` + node + `],"jobs":[`, `{"id":"j#",` + job + `}`, `]}`, ""},
		{"jobs of one priority, last first", `{"jobs":[`, `{"id":"j#",` + job + `,"waited_s":#}`, `],"nodes":[` + node + `]}`, ""},
		{"one wrong job at the end", `{"nodes":[` + node + `],"jobs":[`, `{"id":"j#",` + job + `}`, `,{"id":"j1",` + job + `}]}`,
			"two jobs of this id"},
		{"fields of a job", `{"jobs":[{"id":"j",`, `"f#":1`, `}]}`, "unknown field"},
		{"charges of a job", `{"quotas":[{"name":"q1"}],"jobs":[{"id":"j",` + job + `,"charges":{`, `"q#":{}`, `}}]}`, "there is no such quota"},
		{"quotas", `{"nodes":[` + node + `],"quotas":[`, `{"name":"q#","left":1}`, `]}`, ""},
		{"resources of a node", `{"nodes":[{"name":"n1","resources":{`, `"r#":1`, `}}]}`, "more than 64 in all"},
		{"uses of a job", `{"nodes":[` + node + `],"jobs":[{"id":"j",` + job + `,"uses":{`, `"r#":{}`, `}}]}`, "there is no such resource"},
		{"shares of a node", `{"nodes":[{"name":"n1","free_gpu_shares":{`, `"#":1`, `}}]}`, "free_gpu_shares"},
		{"nodes", `{"jobs":[],"nodes":[`, `{"name":"n#","cores":8}`, `]}`, ""},
		{"running jobs", `{"jobs":[],"running":[`, `{"id":"r#","nodes":"n#","cores_per_node":1}`,
			`],"nodes":[{"name":"n[1-65536]","cores":8}]}`, ""},
		{"leaves", `{"nodes":[{"name":"n[1-65536]","cores":8}],"switches":[`, `{"name":"s#","nodes":"n#"}`, `]}`, ""},
		{"eligible", `{"nodes":[{"name":"n[1-1024]","cores":8}],"jobs":[`, `{"id":"j#",` + job + `,"eligible":"n[1-4]"}`, `]}`, ""},
		{"classes", `{"nodes":[` + node + `],"jobs":[{"id":"j",` + job + `,"preempts":[`, `1`, `]}]}`, ""},
		{"alternatives", `{"jobs":[{"id":"j",` + job + `,"alternatives":[`, `{"cores":#}`, `]}]}`, "must be at most 8"},
	} {
		t.Run(x.name, func(t *testing.T) {
			costtest.Linear(t, 2_000, func(n int) func() {
				text := x.before + list(x.item)(n) + x.after
				return func() {
					w, err := Read(strings.NewReader(text), "w.json")
					if x.wrong != "" {
						require.ErrorContains(t, err, x.wrong)
						return
					}
					require.NoError(t, err)
					_, err = NewOutcome("none", w, &core.Plan{})
					require.NoError(t, err)
				}
			})
		})
	}
}
