// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/costtest"
)

// planText is a window of n jobs, the id of the first of which has so many more characters, on two
// nodes below a chain of switches.
func planText(jobs, switches, longer int) string {
	var text strings.Builder
	text.WriteString(`{"nodes":[{"name":"n[1-2]","cores":8}],"switches":[{"name":"s1","nodes":"n[1-2]"}`)
	for i := 2; i <= switches; i++ {
		fmt.Fprintf(&text, `,{"name":"s%d","switches":"s%d"}`, i, i-1)
	}
	text.WriteString(`],"jobs":[`)
	for i := range jobs {
		fmt.Fprintf(&text, `{"id":"j%s%d","priority":%d,"cores":1},`, strings.Repeat("x", longer*(1-min(i, 1))), i, jobs-i)
	}
	text.WriteString(`{"id":"last","priority":1,"cores":1}]}`)
	return text.String()
}

// A long queue, and a deep chain of switches, take time that grows with them.
func TestPlanCost(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"jobs":     func(n int) string { return planText(n, 1, 0) },
		"switches": func(n int) string { return planText(1, n, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 5_000, func(n int) func() {
				in := text(n)
				return func() {
					code, out, errs := aucsched(t, in, "plan", "-")
					require.Zero(t, code, errs)
					require.Contains(t, out, "jobs start; auction2 in ")
				}
			})
		})
	}
}

// What is printed grows with the window: no row is as wide as the longest id of all.
func TestPlanSize(t *testing.T) {
	size := func(jobs, longer int) int {
		code, out, errs := aucsched(t, planText(jobs, 1, longer), "plan", "-")
		require.Zero(t, code, errs)
		require.Contains(t, out, "jxxxxx")
		return len(out)
	}
	require.Less(t, size(2_400, 16_000), 16*size(300, 2_000))
}
