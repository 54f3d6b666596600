// SPDX-License-Identifier: BSD-3-Clause

package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longPage has a short table, one table in two sections, and one that is alone in its section.
func longPage() string {
	row := func(cells string) string { return strings.Repeat("| "+cells+" |\n", 7) }
	return "# P\n\nFirst.\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n" +
		"## One\n\nIn one.\n\n| name | n | max | other | max |\n|---|---|---|---|---|\n" + row("x, y | 1,234.5 ± 2 | 3 | **-4 ±5** | +6 (7) yes") + "\n" +
		"## Two\n\n| name | n | max | other | max |\n|---|---|---|---|---|\n" + row("z | - | | 5 | 9 (8) within noise") + "\n" +
		"## Three\n\n```\n# no heading\n\n| no | table |\n```\n\n| t | u |\n|---|---|\n" + row("`a\\|b` | 1 of 2") + row("c | 3")
}

func TestSplit(t *testing.T) {
	short, files := Split("p", longPage())
	require.Equal(t, "# P\n\nFirst.\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n## One\n\nIn one.\n\n[Table](csv/p-name.csv)\n\n"+
		"## Three\n\n```\n# no heading\n\n| no | table |\n```\n\n[Table](csv/p-three.csv)\n\n"+
		"## Tables\n\n| table | of | rows |\n|---|---|---:|\n"+
		"| [p-name.csv](csv/p-name.csv) | several sections | 14 |\n"+
		"| [p-three.csv](csv/p-three.csv) | Three | 14 |\n", short)
	require.Len(t, files, 2)
	lines := strings.Split(string(files["p-name.csv"]), "\n")
	require.Equal(t, "section,name,n,n: ±,n: max,other,other: ±,other: bold,other: max,other: max: in brackets,other: max: verdict", lines[0])
	require.Equal(t, `One,"x, y",1234.5,2,3,-4,5,yes,+6,7,yes`, lines[1])
	require.Equal(t, `Two,z,-,,,5,,,9,8,within noise`, lines[8])
	require.Equal(t, []string{"p-name.csv", "p-name.csv", "p-three.csv", "p-three.csv"}, slices.Sorted(slices.Values(Linked(short))))

	short, files = Split("p", "# P\n\n| a |\n|---|\n| x |\n")
	require.Equal(t, "# P\n\n| a |\n|---|\n| x |\n", short)
	require.Empty(t, files)
}

// Nothing that a page's tables say is lost when they are written and read.
func TestTablesComeBack(t *testing.T) {
	goldens, err := filepath.Glob("../cmd/tables/testdata/*.golden")
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	pages := map[string]string{"p": longPage()}
	for _, file := range goldens {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[strings.TrimSuffix(filepath.Base(file), ".golden")] = string(text)
	}
	normal := strings.NewReplacer(" ± ", "±", " ±", "±", ",", "")
	rows := func(tables []Table) (all []string) {
		for _, t := range tables {
			for _, row := range t.Rows {
				all = append(all, normal.Replace(strings.Join(slices.Concat([]string{t.Section}, t.Head, row), "|")))
			}
		}
		slices.Sort(all)
		return all
	}
	for name, page := range pages {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, csvDir), 0o755))
		require.NoError(t, Write(dir, name, page))
		back, err := ReadTables(dir, name)
		require.NoError(t, err)
		require.Equal(t, rows(Tables(page)), rows(back), name)
	}
}

// A page's finding stays. The tables that it has no longer are gone. Without a directory for them
// pages stay whole.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	read := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "p.md"))
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, Write(dir, "p", longPage()))
	require.Equal(t, longPage(), read())

	require.NoError(t, os.Mkdir(filepath.Join(dir, csvDir), 0o755))
	other := filepath.Join(dir, csvDir, "other.csv")
	require.NoError(t, os.WriteFile(other, nil, 0o644))
	require.NoError(t, Write(dir, "p", longPage()))
	require.FileExists(t, filepath.Join(dir, csvDir, "p-three.csv"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.md"), []byte(strings.Replace(read(), Marker, "It gains.\n\n"+Marker, 1)), 0o644))
	require.NoError(t, Write(dir, "p", "# P\n\nShort.\n"))
	require.Equal(t, "# P\n\nIt gains.\n\n"+Marker+"\n\nShort.\n", read())
	require.NoFileExists(t, filepath.Join(dir, csvDir, "p-three.csv"))
	require.FileExists(t, other)
}

// A page is read in some minutes, and has its tables beside it.
func TestPagesOfDirectory(t *testing.T) {
	pages, err := pagesOfDirectory()
	require.NoError(t, err)
	owner := make(map[string]string)
	for name, page := range pages {
		require.LessOrEqual(t, len(page), 12<<10, "%s.md", name)
		for _, file := range Linked(page) {
			require.FileExists(t, filepath.Join(csvDir, file), "%s.md", name)
			require.Contains(t, []string{"", name}, owner[file], "%s belongs to two pages", file)
			owner[file] = name
		}
		_, err := ReadTables(".", name)
		require.NoError(t, err)
	}
	files, err := filepath.Glob(csvDir + "/*.csv")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.NotEmpty(t, owner[filepath.Base(file)], "%s belongs to no page", file)
	}
}
