// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every word of the table in docs/reference/slurm-jobs.md is explained, and there is no other but those that the
// page tells of elsewhere.
func TestLeftWordsAreThoseOfThePage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/slurm-jobs.md")
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
	require.Equal(t, words, slices.Sorted(maps.Keys(left)))
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
		"MaxCpuRunMinsPerUser":            {true, "MaxTRESRunMinsPU", "cpu"},
		"MaxMemoryRunMinsPerAccount":      {true, "MaxTRESRunMinsPA", "mem"},
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
	require.Equal(t, []string{"12_3", "others"}, parseVerdict("auc:why=fit lost=12_3,7$rm,x,others@1700000000").LostTo)
	require.Nil(t, parseVerdict("of the site"))
	require.Nil(t, parseVerdict("auc:why="))
	require.Contains(t, parseVerdict("auc:why=new").Meaning, "does not know")
}

// A job that a limit forbids by itself is told so, and no other.
func TestLimitsThatForbid(t *testing.T) {
	assoc := func(set string) string {
		return "Association Records\n\n" +
			"ClusterName=c Account=root UserName= Partition= Priority=0 ID=1\n    ParentAccount= Lineage=/ DefAssoc=No\n" +
			"    GrpJobs=N(3) GrpJobsAccrue=N(0)\n    GrpTRES=cpu=N(9),mem=N(0)\n    MaxTRESPJ=cpu=1\n" +
			"ClusterName=c Account=a UserName= Partition= Priority=0 ID=2\n" +
			"    ParentAccount=root(1) Lineage=/a/ DefAssoc=No\n    " + set +
			"\nClusterName=c Account=a UserName=u(5) Partition= Priority=0 ID=3\n    ParentAccount= Lineage=/a/u/ DefAssoc=Yes\n" +
			"    GrpTRES=cpu=N(0)\n    MaxTRESPJ=cpu=20,mem=10240\n    MaxTRESPN=cpu=4\n    MaxWallPJ=90\n    MaxTRESMinsPJ=cpu=1000\n"
	}
	qos := func(all, users string) string {
		return "QOS Records\n\nQOS=other(1)\n    GrpTRES=cpu=1(0)\nQOS=n(2)\n    UsageRaw=0.000000\n    " + all +
			"\n    Account Limits\n      a\n        MaxJobsPA=N(0)\n        MaxTRESPA=cpu=16(2),gres/gpu=1(0)\n" +
			"    User Limits\n      " + users + "\n"
	}
	const forbids = ": it can't start as it is"
	for _, c := range []struct{ reason, says, asks, want, helps string }{
		{"AssocGrpCpuLimit", assoc("GrpTRES=cpu=24(0),mem=N(0)"), "cpu=25",
			"GrpTRES=cpu of account a: it asks for 25, the limit is 24", "at most 24 of cpu"},
		{"AssocGrpCpuLimit", assoc("GrpTRES=cpu=24(12)"), "cpu=25", "it asks for 25, the limit is 24", "raises"},
		{"AssocGrpCpuLimit", assoc("GrpTRES=cpu=24(12)"), "cpu=24", "", "when running jobs"},
		{"AssocGrpMemLimit", assoc("GrpTRES=cpu=N(0),mem=10240(0)"), "cpu=1,mem=25G", "it asks for 25600, the limit is 10240",
			"mem (MB)"},
		{"AssocGrpNodeLimit", assoc("GrpTRES=node=2(0)"), "cpu=4,node=3", "it asks for 3, the limit is 2", "at most 2 of node"},
		{"AssocGrpGRES", assoc("GrpTRES=gres/gpu=4(0),gres/gpu:a100=2(0)"), "gres/gpu=3,gres/gpu:a100=3",
			"GrpTRES=gres/gpu:a100 of", "raises"},
		{"AssocGrpLicense", assoc("GrpTRES=license/l=2(0)"), "license/l=3", "it asks for 3, the limit is 2", "license/l"},
		{"AssocGrpBilling", assoc("GrpTRES=billing=2(0)"), "billing=3", "it asks for 3, the limit is 2", "billing"},
		{"AssocGrpUnknown", assoc("GrpTRES=fs/disk=2(0)"), "fs/disk=3", "it asks for 3, the limit is 2", "fs/disk"},
		{"AssocGrpCPURunMinutesLimit", assoc("GrpTRESRunMins=cpu=500(0)"), "cpu=10", "it asks for 600, the limit is 500",
			"for less time"},
		{"AssocGrpCPUMinutesLimit", assoc("GrpTRESMins=cpu=500(10)"), "cpu=10", "it asks for 600, the limit is 500",
			"for less time"},
		{"AssocGrpCPUMinutesLimit", assoc("GrpTRESMins=cpu=500(510)"), "cpu=10", "", "when running jobs"},
		{"AssocGrpJobsLimit", assoc("GrpJobs=0(0) GrpJobsAccrue=N(0)"), "cpu=1", "the limit is 0", "raises"},
		{"AssocGrpJobsLimit", assoc("GrpJobs=1(1) GrpJobsAccrue=N(0)"), "cpu=1", "", "when running jobs"},
		{"AssocGrpWallLimit", assoc("GrpWall=50(1.00)"), "cpu=1", "it asks for 60, the limit is 50", "TimeLimit=50"},
		{"AssocMaxCpuPerJobLimit", assoc("MaxTRESPJ=cpu=1"), "cpu=20", "", "when running jobs"},
		{"AssocMaxCpuPerJobLimit", assoc("MaxTRESPJ=cpu=99"), "cpu=21",
			"of user u in account a: it asks for 21, the limit is 20", "raises"},
		{"AssocMaxMemPerJob", assoc(""), "mem=10241M", "it asks for 10241, the limit is 10240", "raises"},
		{"AssocMaxCpuPerNode", assoc(""), "cpu=10,node=2", "it asks for 5, the limit is 4", "on a node"},
		{"AssocMaxCpuPerNode", assoc(""), "cpu=8,node=2", "", "when running jobs"},
		{"AssocMaxWallDurationPerJobLimit", assoc(""), "cpu=1", "", "when running jobs"},
		{"AssocMaxCpuMinutesPerJobLimit", assoc(""), "cpu=17", "it asks for 1020, the limit is 1000", "for less time"},
		{"QOSMaxCpuPerUserLimit", qos("GrpTRES=cpu=N(0)", "u(5)\n        MaxTRESPU=cpu=12(0),mem=N(0)"), "cpu=13",
			"MaxTRESPU=cpu of QOS n, u: it asks for 13, the limit is 12", "at most 12"},
		{"QOSMaxCpuPerUserLimit", qos("GrpTRES=cpu=N(0)", "u(5)\n        MaxTRESPU=cpu=12(4)"), "cpu=12", "", "when running jobs"},
		{"QOSMaxCpuPerUserLimit", qos("GrpTRES=cpu=N(0)", "5\n        MaxTRESPU=cpu=12(0)"), "cpu=13",
			"QOS n, u: it asks for 13", "raises"},
		{"QOSMaxCpuPerUserLimit", qos("GrpTRES=cpu=N(0)", "v(6)\n        MaxTRESPU=cpu=12(9)"), "cpu=13",
			"it asks for 13, the limit is 12", "raises"},
		{"MaxGRESPerAccount", qos("", "No Users"), "gres/gpu=2",
			"MaxTRESPA=gres/gpu of QOS n, account a: it asks for 2, the limit is 1", "raises"},
		{"QOSMaxNodePerJobLimit", qos("MaxTRESPJ=node=4", "No Users"), "node=5", "it asks for 5, the limit is 4", "raises"},
		{"QOSMaxWallDurationPerJobLimit", qos("MaxWallPJ=30", "No Users"), "cpu=5", "it asks for 60, the limit is 30",
			"TimeLimit=30"},
		{"QOSMinCpuNotSatisfied", qos("MinTRESPJ=cpu=8", "No Users"), "cpu=5", "it asks for 5, the least is 8",
			"at least 8 of cpu"},
		{"QOSMinGRES", qos("MinTRESPJ=gres/gpu=1", "No Users"), "cpu=5", "it asks for 0, the least is 1", "at least 1"},
		{"QOSMinCpuNotSatisfied", qos("MinTRESPJ=cpu=8", "No Users"), "", "", "when running jobs"},
		{"MaxCpuRunMinsPerUser", qos("", "u(5)\n        MaxTRESRunMinsPU=cpu=100(0)"), "cpu=2",
			"it asks for 120, the limit is 100", "raises"},
		{"QOSGrpCpuLimit", qos("GrpTRES=cpu=4(0)", "No Users") + "QOS=ofp(3)\n    GrpTRES=cpu=99(98)\n", "cpu=5", "",
			"when running jobs"},
		{"QOSGrpCpuLimit", qos("GrpTRES=cpu=N(0)", "No Users") + "QOS=ofp(3)\n    GrpTRES=cpu=3(0)\n", "cpu=5",
			"of QOS ofp: it asks for 5", "raises"},
	} {
		a := &Asker{Now: time.Now, Run: func(_ context.Context, argv ...string) (string, error) {
			switch strings.Join(argv, " ") {
			case "scontrol show job 7":
				return "JobId=7 JobName=a\n   UserId=u(5) GroupId=u(5) MCS_label=N/A\n   Priority=9 Nice=0 Account=a QOS=n\n" +
					"   JobState=PENDING Reason=" + c.reason +
					" Dependency=(null)\n   RunTime=00:00:00 TimeLimit=01:00:00 TimeMin=N/A\n" +
					"   Partition=p AllocNode:Sid=h:1\n   NumNodes=2-2 NumCPUs=4\n   ReqTRES=" + c.asks + "\n", nil
			case "scontrol show partition p":
				return "PartitionName=p\n   AllowGroups=ALL QoS=ofp\n", nil
			case "scontrol show assoc_mgr flags=assoc", "scontrol show assoc_mgr flags=qos":
				return c.says, nil
			}
			return "", nil
		}}
		x, err := a.Why(t.Context(), "7")
		require.NoError(t, err)
		require.Equal(t, Limit, x.Kind, c.reason)
		require.Equal(t, c.want != "", strings.HasSuffix(x.Means, forbids), "%s: %s", c.reason, x.Means)
		require.Contains(t, x.Means, c.want, c.reason)
		require.Contains(t, strings.Join(x.Helps, "; "), c.helps, c.reason)
		require.Equal(t, c.want == "", strings.Contains(strings.Join(x.Helps, ";"), "when running"), c.reason)
	}
}

// Licences that there are not help nobody to wait for.
func TestTooManyLicences(t *testing.T) {
	for asks, want := range map[string]string{"l:3": "it asks for 3, the limit is 2: it can't start as it is", "l:2": "",
		"l": "", "l:3|m:1": "",
		"m,l:4": "it asks for 4, the limit is 2", "l2:9": ""} {
		a := &Asker{Now: time.Now, Run: func(_ context.Context, argv ...string) (string, error) {
			switch strings.Join(argv, " ") {
			case "scontrol show job 7":
				return "JobId=7 JobName=a\n   UserId=u(5) GroupId=u(5)\n   Priority=9\n   JobState=PENDING Reason=Licenses\n" +
					"   Partition=p\n   OverSubscribe=OK Contiguous=0 Licenses=" + asks + " Network=(null)\n", nil
			case "scontrol show licenses":
				return "LicenseName=l\n    Total=2 Used=1 Free=1 Reserved=0 Remote=no\nLicenseName=m\n" +
					"    Total=1 Used=1 Free=0 Reserved=0 Remote=no\n", nil
			}
			return "", nil
		}}
		x, err := a.Why(t.Context(), "7")
		require.NoError(t, err)
		require.Equal(t, want != "", strings.Contains(x.Means, "can't start"), "%s: %s", asks, x.Means)
		require.Contains(t, x.Means, want)
		require.NotEmpty(t, x.Helps)
	}
}

// Facts about one node are in the singular.
func TestFactsAgree(t *testing.T) {
	a := &Asker{Now: time.Now, Run: func(_ context.Context, argv ...string) (string, error) {
		switch strings.Join(argv[:2], " ") {
		case "scontrol show":
			return "JobId=7 JobName=a\n   UserId=u(5) GroupId=u(5)\n   Priority=9\n   JobState=PENDING Reason=Resources\n" +
				"   Partition=p\n   NumNodes=6 NumCPUs=6\n   MinCPUsNode=1\n   Features=f DelayBoot=0\n", nil
		case "scontrol -d":
			text := ""
			for i, state := range []string{"IDLE+DRAIN", "DOWN", "DOWN", "IDLE", "IDLE", "ALLOCATED", "IDLE*", "IDLE+COMPLETING"} {
				used, features := "0", "f"
				if state == "ALLOCATED" {
					used = "4"
				}
				if i == 3 {
					features = "g"
				}
				text += fmt.Sprintf("NodeName=n%d Arch=x\n   CPUAlloc=%s CPUTot=4\n   ActiveFeatures=%s\n"+
					"   State=%s RealMemory=10\n   Partitions=p\n\n",
					i, used, features, state)
			}
			return text, nil
		}
		return "", nil
	}}
	x, err := a.Why(t.Context(), "7")
	require.NoError(t, err)
	require.Contains(t, x.Facts[0], "of the 8 that it may use 1 suits it now")
	for _, want := range []string{"1 is drained", "2 are down", "1 lacks the features f", "1 has too few free CPUs",
		"1 is not responding",
		"1 is still being cleaned up"} {
		require.Contains(t, x.Facts, want)
	}
}

// What is asked of a Slurm whose jobs are private: others' jobs are not named.
func TestPrivateJobs(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	a := &Asker{Now: func() time.Time { return now }, Run: func(_ context.Context, argv ...string) (string, error) {
		switch strings.Join(argv[:2], " ") {
		case "scontrol show":
			return "JobId=7 JobName=a\n   UserId=u(5) GroupId=u(5)\n   Priority=9 Account=a QOS=n\n" +
				"   JobState=PENDING Reason=Resources\n" +
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

// record is what scontrol prints of job 7, and what squeue says of its texts.
func record(newer bool, texts map[string]string) string {
	more, exclusive := "", ""
	if newer { // 26.05
		more, exclusive = "   SLUID=s7\n", " Exclusive=NO"
	}
	return "JobId=7 JobName=" + texts["Name"] + "\n" + more +
		"   UserId=mallory(1001) GroupId=m m(1001) MCS_label=N/A\n   Priority=5 Nice=0 Account=a QOS=n WCKey=" + texts["WCKey"] +
		"\n   JobState=PENDING Reason=Resources Dependency=(null)\n   RunTime=00:00:00 TimeLimit=01:00:00 TimeMin=N/A\n" +
		"   SubmitTime=2026-01-02T03:04:05 EligibleTime=2026-01-02T03:04:05\n   Partition=p AllocNode:Sid=h:1\n" +
		"   ReqNodeList=(null) ExcNodeList=(null)\n   NodeList=\n   NumNodes=1 NumCPUs=4 NumTasks=4\n" +
		"   OverSubscribe=OK" + exclusive + " Contiguous=0 Licenses=(null) Network=" + texts["Network"] +
		"\n   Command=" + texts["Command"] + "\n   WorkDir=" + texts["WorkDir"] + "\n   AdminComment=" + texts["admin_comment"] +
		" \n   SystemComment=auc:why=fit since=1700000000 \n   Comment=" + texts["Comment"] +
		" \n   TresPerNode=gres:gpu:1\n   \n\n"
}

// Whatever users write into texts, no field of a record comes from there. Without squeue's
// word it may be refused.
func TestForgedRecords(t *testing.T) {
	hostile := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"x", " ", "\n", "\n\n", "\n   ", "JobId=7 JobName=y",
			"JobId=8;evil ",
			"JobId=8 ArrayJobId=7 ArrayTaskId=1 JobName=z", "\n   UserId=root(0) GroupId=root(0) MCS_label=N/A",
			"\n   Priority=0 Nice=0 Account=root QOS=high", "\n   JobState=RUNNING Reason=JobHeldAdmin Dependency=after:1",
			"\n   JobState=RUNNING", "\n   Partition=q AllocNode:Sid=h:1", "\n   Command=c", "\n   Comment=c",
			"\n   NumNodes=9", "JobName=",
			" UserId=root(0) Priority=0 JobState=RUNNING Reason=JobHeldAdmin Partition=q NumNodes=9 SystemComment=auc:why=lost",
			"\n   SystemComment=auc:why=lost lost=1@5", "\n   TresPerNode=gres:gpu:9", "\n   OverSubscribe=NO Network=n"}), 0,
			8).Draw(t, "text"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		texts := map[string]string{}
		for _, u := range userTexts {
			texts[u.squeue] = hostile.Draw(t, u.squeue)
		}
		answers := rapid.Bool().Draw(t, "squeue answers")
		printed := record(rapid.Bool().Draw(t, "newer"), texts)
		a := &Asker{Run: func(_ context.Context, argv ...string) (out string, err error) {
			if !answers {
				return "\n", nil
			}
			for field := range strings.SplitSeq(argv[len(argv)-1], ",") {
				name, end, _ := strings.Cut(field, ":")
				out += texts[name] + end
			}
			return out + "\n", nil
		}}
		jobs, err := parseJobs(flatten(context.Background(), a.Run, "7", printed), "7")
		if !answers && err != nil {
			return
		}
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		for key, want := range map[string]string{"JobId": "7", "UserId": "mallory(1001)", "Priority": "5", "QOS": "n",
			"JobState": "PENDING",
			"Reason":   "Resources", "Partition": "p", "NumNodes": "1", "TimeLimit": "01:00:00", "Dependency": "(null)",
			"ArrayJobId": ""} {
			require.Equal(t, want, jobs[0][key], key)
		}
		if answers {
			require.Equal(t, strings.TrimRight(strings.ReplaceAll(texts["Name"], "\n", `\n`), " "), jobs[0]["JobName"])
			require.Equal(t, "auc:why=fit since=1700000000", jobs[0]["SystemComment"])
			require.Equal(t, "gres:gpu:1", jobs[0]["TresPerNode"])
		}
	})
}

// Records of an array are one each; another job's is not taken for the one that was asked for.
func TestRecordsOfJobs(t *testing.T) {
	one := record(false, nil)
	array := strings.Replace(one, "JobId=7 ", "JobId=7 ArrayJobId=7 ArrayTaskId=2-3 ", 1) +
		strings.Replace(one, "JobId=7 ", "JobId=9 ArrayJobId=7 ArrayTaskId=1 ", 1)
	for _, c := range []struct {
		text, id string
		want     int
		err      string
	}{
		{one, "7", 1, ""}, {one + one, "7", 0, "two ways"}, {array, "7", 2, ""}, {array, "7_1", 2, ""}, {one, "8", 0,
			"shows job 7 instead"},
		{strings.Replace(one, "JobId=7 ", "JobId=9 HetJobId=7 HetJobOffset=2 ", 1), "7+2", 1, ""},
		{"", "7", 0, "no such job"}, {"JobId=7;x JobName=y\n", "7", 0, "no such job"}, {"JobId=7 JobName=y\n", "7", 0, "no user"},
	} {
		jobs, err := parseJobs(c.text, c.id)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Len(t, jobs, c.want)
	}
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
		_, _ = parseJobs(text, "7")
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
