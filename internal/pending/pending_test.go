// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every word of the table in docs/slurm.md is explained, and there is no other but those that the
// page tells of elsewhere.
func TestLeftWordsAreThoseOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/slurm.md")
	require.NoError(t, err)
	_, page, ok := strings.Cut(string(text), "| request | | reason word |")
	require.True(t, ok)
	page, _, _ = strings.Cut(page, "\n\"As alternatives\"")
	var words []string
	for _, row := range regexp.MustCompile("(?m)^\\|.*\\| `([a-z][a-z-]*)` \\|$").FindAllStringSubmatch(page, -1) {
		words = append(words, row[1]) // the last column
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z][a-z-]*)`(?:, `([a-z][a-z-]*)`)? \\|").FindAllStringSubmatch(page, -1) {
		words = append(words, row[1:]...) // why these are left
	}
	more := []string{"beyond", "failed", "never", "overdue", "place", "unmodelled"}
	for _, w := range more {
		require.Contains(t, string(text), "`"+w+"`")
	}
	words = append(words, more...)
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "" })
	require.Equal(t, words, LeftWords())
}

func TestLimits(t *testing.T) {
	for name, want := range map[string]limit{
		"AssocGrpCpuLimit":                {false, "GrpTRES", "cpu"},
		"QOSMaxJobsPerUserLimit":          {true, "MaxJobsPU", ""},
		"AssocMaxJobsLimit":               {false, "MaxJobs", ""},
		"QOSGrpCPURunMinutesLimit":        {true, "GrpTRESRunMins", "cpu"},
		"AssocGrpGRES":                    {false, "GrpTRES", "gres"},
		"QOSMaxMemoryPerUser":             {true, "MaxTRESPU", "mem"},
		"MaxCpuPerAccount":                {true, "MaxTRESPA", "cpu"},
		"QOSMaxSubmitJobPerUserLimit":     {true, "MaxSubmitJobsPU", ""},
		"QOSMinCpuNotSatisfied":           {true, "MinTRES", "cpu"},
		"AssocMaxWallDurationPerJobLimit": {false, "MaxWallPJ", ""},
	} {
		got, ok := parseLimit(name)
		require.True(t, ok, name)
		require.Equal(t, want, got, name)
	}
	for _, name := range []string{"", "Priority", "Assoc", "QOSNotAllowed", "Resources", "MaxMemPerLimit"} {
		_, ok := parseLimit(name)
		require.False(t, ok, name)
	}
}

func TestVerdict(t *testing.T) {
	v := parseVerdict("of the site;auc:why=fit lost=12,13,others@1700000000 since=1700000009")
	require.Equal(t, "fit", v.Word)
	require.Equal(t, []string{"12", "13", "others"}, v.LostTo)
	require.Equal(t, int64(1_700_000_000), v.LostAt.Unix())
	require.Equal(t, int64(1_700_000_009), v.Since.Unix())
	v = parseVerdict("auc:why=left gres since=7")
	require.Equal(t, "gres", v.Left)
	require.Contains(t, v.Meaning, "left to Slurm")
	require.NotEmpty(t, v.Change)
	require.Nil(t, parseVerdict("of the site"))
	require.Nil(t, parseVerdict("auc:why="))
	require.Contains(t, parseVerdict("auc:why=new").Meaning, "does not know")
}

// What is asked of a Slurm whose jobs are private: others' jobs are not named.
func TestPrivateJobs(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	a := &Asker{Now: func() time.Time { return now }, Run: func(_ context.Context, argv ...string) (string, error) {
		switch strings.Join(argv[:2], " ") {
		case "scontrol show":
			return "JobId=7 JobName=a\n   UserId=u(5) GroupId=u(5)\n   Priority=9 Account=a QOS=n\n   JobState=PENDING Reason=Resources\n" +
				"   Partition=p\n   NumNodes=1 NumCPUs=4\n   SystemComment=auc:why=fit since=1700000000\n", nil
		case "scontrol -d":
			return "NodeName=n1 Arch=x\n   CPUAlloc=4 CPUTot=4\n   State=ALLOCATED RealMemory=10\n   Partitions=p\n", nil
		}
		return "", nil
	}}
	x, err := a.Why(t.Context(), "7")
	require.NoError(t, err)
	require.Equal(t, Resources, x.Kind)
	require.Empty(t, x.Holders)
	require.Contains(t, x.Helps[0], "does not show you whose")
	_, err = a.Why(t.Context(), "7; rm")
	require.ErrorContains(t, err, "no id of a job")
}

func TestWholeNodes(t *testing.T) {
	for text, want := range map[string]bool{
		// Till 25.11, and from 26.05 on.
		"OverSubscribe=OK": false, "OverSubscribe=NO": true, "OverSubscribe=USER": false,
		"OverSubscribe=NO Exclusive=NO": false, "OverSubscribe=NO Exclusive=NODE": true, "OverSubscribe=YES Exclusive=USER": false,
	} {
		require.Equal(t, want, parseDemand(parseRecords("JobId=7 "+text, "JobId")[0]).whole, text)
	}
}

func TestGres(t *testing.T) {
	require.Equal(t, map[string]int{"gpu": 6, "gpu:a100": 4, "gpu:v100": 2, "nic": 2},
		parseGres("gpu:a100:4(S:0-1),gpu:v100:2(IDX:0,1),nic:2"))
	require.Equal(t, map[string]int{"gpu:a100": 2, "nic": 1}, parseTres("gres:gpu:a100:2,gres/nic:1"))
	require.Equal(t, map[string]int{"gpu": 1}, parseTres("gpu"))
}

func FuzzRecords(f *testing.F) {
	f.Add("JobId=7 A=b c\n  Comment=x=y z\n\nJobId=8", "auc:why=left gres since=7", "gpu:a:2(S:0),b:1")
	f.Fuzz(func(t *testing.T, text, comment, gres string) {
		for _, r := range parseRecords(text, "JobId") {
			d := parseDemand(r)
			_ = d.words()
			_ = parseNode(r)
		}
		_ = parseVerdict(comment)
		_, _ = parseLimit(comment)
		for _, n := range parseGres(gres) {
			require.GreaterOrEqual(t, n, 0)
		}
	})
}
