// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/clitest"
)

// Every page and text of the commands is fit for people, from runs of them. AUCSCHED_PAGES names a
// directory for the pages, to look at.
func TestPages(t *testing.T) {
	dir := os.Getenv("AUCSCHED_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	sacct, conf := site(t)
	log := filepath.Join(t.TempDir(), "shadow")
	require.NoError(t, os.WriteFile(log, []byte(shadowText), 0o600))
	pages := make(map[string]string)
	for name, args := range map[string]string{
		"try":    "try --sacct " + sacct + " --conf " + conf,
		"shadow": "shadow --jobs " + log,
	} {
		file := filepath.Join(dir, name+".html")
		code, out, errs := aucsched(t, "", append(strings.Fields(args), "--html", file)...)
		require.Zero(t, code, errs)
		clitest.Words(t, name, out+errs)
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[name] = string(page)
	}
	for _, args := range []string{"plan ../../examples/table1.json", "explain ../../examples/table1.json J3", "--help"} {
		_, out, errs := aucsched(t, "", strings.Fields(args)...)
		clitest.Words(t, args, out+errs)
	}
	for name, page := range pages {
		clitest.Page(t, name, page)
	}
	clitest.Browse(t, pages)
}
