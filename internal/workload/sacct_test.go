// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/test/golden"
)

func TestReadSacct(t *testing.T) {
	text := readTestdata(t, "sacct/small.txt")
	for _, c := range []struct {
		golden string
		o      SacctOptions
	}{
		{"small.golden", SacctOptions{}},
		{"small-options.golden", SacctOptions{ExtendLimit: true, Unlimited: 7200}},
	} {
		w, err := ReadSacct(strings.NewReader(text), "small.txt", c.o)
		require.NoError(t, err)
		golden.Equal(t, "sacct/"+c.golden, dump(w))

		packed, err := ReadSacct(bytes.NewReader(pack(t, text)), "small.txt", c.o)
		require.NoError(t, err)
		require.Equal(t, w, packed, "gzip makes no difference")

		parsable := strings.ReplaceAll(text, "\n", "|\r\n")
		same, err := ReadSacct(strings.NewReader(parsable), "small.txt", c.o)
		require.NoError(t, err)
		require.Equal(t, w, same, "--parsable makes no difference")
	}
}

// sacctRow is a good one-job file but for the given fields; new fields are added,
// and those whose value is "-" taken out.
func sacctRow(change map[string]string) string {
	order := []string{"JobID", "Submit", "Start", "End", "ElapsedRaw", "Elapsed", "TimelimitRaw", "Timelimit", "ReqCPUS", "AllocCPUS",
		"NCPUS", "ReqNodes", "AllocNodes", "NNodes", "ReqTRES", "AllocTRES", "ReqGRES", "AllocGRES", "State", "Priority", "User", "UID",
		"Eligible", "Partition", "Account", "QOS"}
	values := map[string]string{"JobID": "1", "Submit": "2024-01-01T00:00:00", "Start": "2024-01-01T00:00:10",
		"End": "2024-01-01T00:01:10", "TimelimitRaw": "10", "ReqCPUS": "4"}
	for k, v := range change {
		values[k] = v
	}
	var names, row []string
	for _, k := range order {
		if v, ok := values[k]; ok && v != "-" {
			names, row = append(names, k), append(row, v)
		}
	}
	return strings.Join(names, "|") + "\n" + strings.Join(row, "|") + "\n"
}

func TestSacctRequest(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string]string
		want   bids.Request
	}{
		{"cores only", nil, bids.Request{Cores: 4}},
		{"cores from ReqTRES", map[string]string{"ReqCPUS": "-", "ReqTRES": "cpu=6"}, bids.Request{Cores: 6}},
		{"requested before allocated", map[string]string{"AllocCPUS": "8"}, bids.Request{Cores: 4}},
		{"allocated", map[string]string{"ReqCPUS": "0", "AllocCPUS": "8"}, bids.Request{Cores: 8}},
		{"NCPUS", map[string]string{"ReqCPUS": "-", "NCPUS": "9"}, bids.Request{Cores: 9}},
		{"AllocTRES", map[string]string{"ReqCPUS": "-", "AllocTRES": "billing=5,cpu=5"}, bids.Request{Cores: 5}},
		{"as many nodes as asked", map[string]string{"ReqNodes": "2", "NNodes": "2"}, bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2}},
		{"more nodes than asked", map[string]string{"ReqNodes": "2", "NNodes": "3"}, bids.Request{Cores: 4, MinNodes: 2}},
		{"nodes given only", map[string]string{"AllocNodes": "3"}, bids.Request{Cores: 4, MinNodes: 3, MaxNodes: 3}},
		{"nodes of ReqTRES", map[string]string{"ReqTRES": "node=2"}, bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2}},
		{"a core a node", map[string]string{"ReqNodes": "8"}, bids.Request{Cores: 8, MinNodes: 8, MaxNodes: 8}},
		{"large numbers", map[string]string{"ReqNodes": "1.50K", "ReqCPUS": "3K"},
			bids.Request{Cores: 3072, MinNodes: 1536, MaxNodes: 1536}},
		{"GPUs", map[string]string{"ReqTRES": "cpu=4,gres/gpu=4,node=2"}, bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"typed GPUs count once", map[string]string{"ReqTRES": "gres/gpu:a100=4,gres/gpu=4,node=2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"typed GPUs alone", map[string]string{"ReqTRES": "gres/gpu:a100=4,gres/gpu:v100=2,node=2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 3}},
		{"GPUs rounded up", map[string]string{"ReqTRES": "gres/gpu=3,node=2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"GPUs fix the nodes", map[string]string{"ReqTRES": "gres/gpu=4,node=1", "NNodes": "4"},
			bids.Request{Cores: 4, MinNodes: 4, MaxNodes: 4, MinGPUs: 1}},
		{"ReqGRES is of a node", map[string]string{"ReqGRES": "gpu:2", "NNodes": "2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"AllocTRES has the GPUs", map[string]string{"AllocTRES": "gres/gpu=4,node=2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"AllocGRES is of a node", map[string]string{"AllocGRES": "gpu:tesla:2", "NNodes": "2"},
			bids.Request{Cores: 4, MinNodes: 2, MaxNodes: 2, MinGPUs: 2}},
		{"AllocGRES by the number of its plug-in", map[string]string{"AllocGRES": "7696487:2", "NNodes": "1"},
			bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1, MinGPUs: 2}},
		{"AllocGRES of something else", map[string]string{"AllocGRES": "mic:2", "NNodes": "1"},
			bids.Request{Cores: 4, MinNodes: 1, MaxNodes: 1}},
		{"other gres", map[string]string{"ReqTRES": "gres/gpumem=4G,gres/shard=3,mem=1.5T"}, bids.Request{Cores: 4}},
	} {
		w, err := ReadSacct(strings.NewReader(sacctRow(c.change)), "f", SacctOptions{})
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, w.Jobs[0].Request, c.name)
	}
}

func TestSacctTimes(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     map[string]string
		run, limit int64
	}{
		{"End less Start, minutes", nil, 60, 600},
		{"ElapsedRaw", map[string]string{"ElapsedRaw": "50"}, 50, 600},
		{"Elapsed", map[string]string{"Elapsed": "00:00:40"}, 40, 600},
		{"ElapsedRaw first", map[string]string{"ElapsedRaw": "50", "Elapsed": "00:00:40"}, 50, 600},
		{"INVALID Elapsed", map[string]string{"Elapsed": "INVALID"}, 60, 600},
		{"seconds since 1970", map[string]string{"Submit": "100", "Start": "150", "End": "170"}, 20, 600},
		{"less than a second", map[string]string{"ElapsedRaw": "0"}, 1, 600},
		{"Timelimit", map[string]string{"TimelimitRaw": "-", "Timelimit": "1-02:03:04"}, 60, 93784},
		{"empty TimelimitRaw", map[string]string{"TimelimitRaw": "", "Timelimit": "00:02:00"}, 60, 120},
		{"UNLIMITED", map[string]string{"TimelimitRaw": "UNLIMITED"}, 60, 365 * 86400},
		{"Partition_Limit", map[string]string{"TimelimitRaw": "-", "Timelimit": "Partition_Limit"}, 60, 365 * 86400},
		{"a limit of nothing", map[string]string{"TimelimitRaw": "0"}, 1, 1},
		{"over the limit", map[string]string{"TimelimitRaw": "10", "ElapsedRaw": "625"}, 600, 600},
	} {
		w, err := ReadSacct(strings.NewReader(sacctRow(c.change)), "f", SacctOptions{})
		require.NoError(t, err, c.name)
		require.Equal(t, c.run, w.Jobs[0].Duration, c.name)
		require.Equal(t, c.limit, w.Jobs[0].TimeLimit, c.name)
	}
}

// Of the past, a job that was cancelled as it waited leaves then, and would
// have had its time limit.
func TestSacctLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		change        map[string]string
		leaves, lasts int64
	}{
		"waited":           {map[string]string{"Start": "None", "State": "CANCELLED by 5"}, 70, 600},
		"start as its end": {map[string]string{"Start": "2024-01-01T00:01:10", "State": "CANCELLED"}, 70, 600},
		"could begin late": {map[string]string{"Start": "Unknown", "State": "CANCELLED", "Eligible": "2024-01-01T00:01:00"}, 10, 600},
		"ran":              {map[string]string{"State": "CANCELLED by 5"}, 0, 60},
		"ended":            {map[string]string{"State": "COMPLETED"}, 0, 60},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := ReadSacct(strings.NewReader(sacctRow(c.change)), "f", SacctOptions{Past: true})
			require.NoError(t, err)
			require.Equal(t, []int64{c.leaves, c.lasts}, []int64{w.Jobs[0].Leaves, w.Jobs[0].Duration})
			if c.leaves > 0 {
				require.Equal(t, c.leaves, w.Jobs[0].Past.Began)
			}
		})
	}
	_, err := ReadSacct(strings.NewReader(sacctRow(map[string]string{"Start": "None", "State": "CANCELLED"})), "f", SacctOptions{})
	require.Error(t, err, "not of the past: there is no job")
}

// Jobs have no more time than their partition allows, and its default where they did not ask.
func TestSacctPartitionLimits(t *testing.T) {
	limits := map[string]PartitionLimit{"p": {Default: 1200, Max: 3600}, "most": {Max: 3600}, "none": {}}
	for _, c := range []struct {
		partition, limit string
		want             int64
	}{
		{"p", "10", 600}, {"p", "61", 3600}, {"p", "", 1200}, {"p", "Partition_Limit", 1200}, {"p", "UNLIMITED", 3600},
		{"p,none", "", 1200}, {"most", "", 3600}, {"most", "UNLIMITED", 3600}, {"none", "9000", 540000},
		{"none", "", 365 * 86400}, {"other", "", 365 * 86400},
	} {
		row := sacctRow(map[string]string{"Partition": c.partition, "TimelimitRaw": "", "Timelimit": c.limit, "ElapsedRaw": "9"})
		if c.limit != "" && c.limit[0] <= '9' {
			row = sacctRow(map[string]string{"Partition": c.partition, "TimelimitRaw": c.limit, "ElapsedRaw": "9"})
		}
		w, err := ReadSacct(strings.NewReader(row), "f", SacctOptions{Limits: limits})
		require.NoError(t, err)
		require.Equal(t, c.want, w.Jobs[0].TimeLimit, "%s %q", c.partition, c.limit)
	}
}

func TestSacctSkips(t *testing.T) {
	good := sacctRow(map[string]string{"State": "COMPLETED"})
	names, _, _ := strings.Cut(good, "\n")
	for _, c := range []struct{ row, reason string }{
		{"2|2024-01-01T00:00:00|Unknown|Unknown|10|4|PENDING", SkipPending},
		{"2|2024-01-01T00:00:00|None|2024-01-01T00:00:09|10|4|CANCELLED by 5", SkipCancelled},
		{"2|2024-01-01T00:00:00|2024-01-01T00:00:09|2024-01-01T00:00:09|10|4|CANCELLED", SkipCancelled},
		{"2|2024-01-01T00:00:00|Unknown|2024-01-01T00:00:09|10|4|FAILED", SkipPending},
		{"2|2024-01-01T00:00:00|2024-01-01T00:00:09|Unknown|10|4|RUNNING", SkipRunning},
		{"2|2024-01-01T00:00:00|2024-01-01T00:00:09|Unknown|10|4|NODE_FAIL", SkipRunning},
		{"2|Unknown|2024-01-01T00:00:09|2024-01-01T00:00:10|10|4|COMPLETED", SkipNoSubmit},
		{"2|2024-01-01T00:00:00|2024-01-01T00:00:09|2024-01-01T00:00:10|10|0|COMPLETED", SkipNoProcs},
		{"1.0|2024-01-01T00:00:00|2024-01-01T00:00:09|2024-01-01T00:00:10|10|1|COMPLETED", skipStep},
	} {
		require.Equal(t, "JobID|Submit|Start|End|TimelimitRaw|ReqCPUS|State", names)
		w, err := ReadSacct(strings.NewReader(good+c.row), "f", SacctOptions{})
		require.NoError(t, err)
		require.Len(t, w.Jobs, 1)
		require.Equal(t, []Tally{{c.reason, 1}}, w.Skipped)
		require.Empty(t, w.Adjusted)
	}
	w, err := ReadSacct(
		strings.NewReader(
			sacctRow(map[string]string{"End": "-",
				"Elapsed": "00:00:09"})+"2|2024-01-01T00:00:00|2024-01-01T00:00:10|INVALID|10|4\n"), "f", SacctOptions{})
	require.NoError(t, err)
	require.Equal(t, []Tally{{SkipNoRun, 1}}, w.Skipped)
}

// No row ends the run of a file, whatever is in it: it is counted, with a reason.
func TestSacctAsItIs(t *testing.T) {
	const names = "JobID|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqCPUS|AllocCPUS|ReqNodes|NNodes|ReqTRES|State"
	at := func(id string, rest string) string {
		return id + "|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:01:10|" + rest
	}
	good := at("1", "60|10|4|4|1|1|cpu=4|COMPLETED")
	for _, c := range []struct {
		name, text string
		jobs       int
		skipped    []Tally
	}{
		{"no node, no processor, GPUs", at("2", "0|10|0|0|0|0|gres/gpu=2|COMPLETED"), 1, []Tally{{SkipNoProcs, 1}}},
		{"typed GPUs and no node", at("2", "0|10|4|0|0|0|gres/gpu:a100=1|NODE_FAIL"), 1, []Tally{{SkipNoProcs, 1}}},
		{"ran on no node", at("2", "60|10|4|4|0|0|gres/gpu=1|FAILED"), 1, []Tally{{skipNowhere, 1}}},
		{"revoked", at("2", "0|10|4|0|1|0|cpu=4|REVOKED"), 1, []Tally{{skipRevoked, 1}}},
		{"revoked after a run elsewhere", at("2", "60|10|4|4|1|1|cpu=4|REVOKED by 7"), 1, []Tally{{skipRevoked, 1}}},
		{"names again", names + "\n" + at("2", "60|10|4|4|1|1|cpu=4|COMPLETED"), 2, nil},
		{"names of --parsable", names + "|\n" + at("2", "60|10|4|4|1|1|cpu=4|COMPLETED|"), 2, nil},
		{"other names", "JobIDRaw|Submit|Start|Elapsed|Timelimit|NCPUS\n" +
			"2|2024-01-01T00:00:00|2024-01-01T00:00:10|00:01:00|00:10:00|4", 2, nil},
		{"blank lines", "\n  \n" + at("2", "60|10|4|4|1|1|cpu=4|COMPLETED") + "\n\n", 2, nil},
		{"the same line", good, 1, []Tally{{skipAgain, 1}}},
		{"an earlier run", at("1", "70|10|4|4|1|1|cpu=4|REQUEUED"), 1, []Tally{{skipAgain, 1}}},
		{"free text", "2|a|b\n3|c", 1, []Tally{{"can't be read, the first as f:3: 3 fields, the first line names 12 " +
			"(leave out fields of free text such as JobName)", 2}}},
		{"numbers", at("2", "x|10|4|4|1|1|cpu=4|FAILED") + "\n" + at("3", "60|10|4|4|1|1|cpu=4,gres/gpu=y|FAILED") + "\n" +
			at("4", "z|10|4|4|1|1|cpu=4|FAILED"), 1, []Tally{
			{`can't be read, the first as f:3: field ElapsedRaw: "x": not a number`, 2},
			{`can't be read, the first as f:4: field ReqTRES: "cpu=4,gres/gpu=y": "gres/gpu=y": not a number`, 1}}},
		{"no ID", at("", "60|10|4|4|1|1|cpu=4|FAILED"), 1, []Tally{{"can't be read, the first as f:3: a job without an ID", 1}}},
		{"too many GPUs", at("2", "60|10|4|4|1|1|cpu=4,gres/gpu=300|FAILED"), 1,
			[]Tally{{`can't be read, the first as f:3: field gpus_per_node: "300": must be at most 255`, 1}}},
	} {
		w, err := ReadSacct(strings.NewReader(names+"\n"+good+"\n"+c.text+"\n"), "f", SacctOptions{})
		require.NoError(t, err, c.name)
		require.Len(t, w.Jobs, c.jobs, c.name)
		require.Equal(t, c.skipped, w.Skipped, c.name)
	}
}

// There are no more kinds of reasons than can be read.
func TestSacctFaultsAreFew(t *testing.T) {
	var b strings.Builder
	b.WriteString(sacctRow(nil))
	for i := range 500 {
		fmt.Fprintf(&b, "%d|%s\n", i+2, strings.Repeat("|", i+9))
	}
	w, err := ReadSacct(strings.NewReader(b.String()), "f", SacctOptions{})
	require.NoError(t, err)
	require.LessOrEqual(t, len(w.Skipped), mostFaults+1)
	total := 0
	for _, x := range w.Skipped {
		total += x.Jobs
	}
	require.Equal(t, 500, total)
}

// Of files that were joined a line counts once, and each run of a job that was requeued.
func TestSacctPastJoined(t *testing.T) {
	const names = "JobID|Submit|Start|End|TimelimitRaw|ReqCPUS|State\n"
	first := "1|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:01:10|10|4|REQUEUED\n"
	second := "1|2024-01-01T00:00:00|2024-01-01T00:02:10|2024-01-01T00:03:10|10|4|COMPLETED\n"
	w, err := ReadSacct(strings.NewReader(names+first+second+"\n"+names+first+second), "f", SacctOptions{Past: true})
	require.NoError(t, err)
	require.Len(t, w.Jobs, 2)
	require.Equal(t, []Tally{{skipAgain, 2}}, w.Skipped)
	one, last, jobs, err := SacctSpan(strings.NewReader("\n"+names+"1|no|row\n"+first+names+second), "f")
	require.NoError(t, err)
	require.Equal(t, []int64{1704067200, 1704067390, 2}, []int64{one, last, int64(jobs)})
}

func TestSacctPriority(t *testing.T) {
	row := "2|2024-01-01T00:00:00|2024-01-01T00:00:10|2024-01-01T00:00:20|10|4|0\n"
	w, err := ReadSacct(strings.NewReader(sacctRow(map[string]string{"Priority": "77"})+row), "f", SacctOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(77), w.Jobs[0].Priority)
	require.Equal(t, int64(1), w.Jobs[1].Priority)
	require.Equal(t, []Tally{{adjustHeld, 1}}, w.Adjusted)
}

func TestSacctUser(t *testing.T) {
	for _, c := range []struct {
		change map[string]string
		want   string
	}{{nil, ""}, {map[string]string{"User": "ann", "UID": "17"}, "ann"}, {map[string]string{"UID": "17"}, "17"}} {
		w, err := ReadSacct(strings.NewReader(sacctRow(c.change)), "f", SacctOptions{})
		require.NoError(t, err)
		require.Equal(t, c.want, w.Jobs[0].User)
	}
}

func TestReadSacctErrors(t *testing.T) {
	format := "; aucsched try --how prints the command that writes all"
	good := sacctRow(nil)
	for _, c := range []struct{ text, want string }{
		{"", "f: no job"},
		{"JobID|JobName\n1|x", "f:1: no field Submit for the submission" + format},
		{strings.ReplaceAll(good, "JobID", "Job"), "f:1: no field JobID or JobIDRaw for the job's ID" + format},
		{sacctRow(map[string]string{"Start": "-"}), "f:1: no field Start for the start" + format},
		{sacctRow(map[string]string{"End": "-"}), "f:1: no field ElapsedRaw or Elapsed or End for the run time" + format},
		{sacctRow(map[string]string{"TimelimitRaw": "-"}), "f:1: no field TimelimitRaw or Timelimit for the time limit" + format},
		{sacctRow(map[string]string{"ReqCPUS": "-"}),
			"f:1: no field ReqCPUS or AllocCPUS or NCPUS or ReqTRES or AllocTRES for the number of cores" + format},
		{"JobID|Submit|submit\n", `f:1: field submit: "JobID|Submit|submit": named twice in the first line`},
		{good, ""},
		{good[:strings.Index(good, "\n")+1] + "1|2",
			"f:2: 2 fields, the first line names 6 (leave out fields of free text such as JobName)"},
		{sacctRow(map[string]string{"JobID": ""}), "f:2: a job without an ID"},
		{sacctRow(map[string]string{"Submit": "yesterday"}),
			`f:2: field Submit: "yesterday": not a time like 2024-01-02T03:04:05 (unset SLURM_TIME_FORMAT)`},
		{sacctRow(map[string]string{"Submit": "2024-02-30T00:00:00"}),
			`f:2: field Submit: "2024-02-30T00:00:00": not a time like 2024-01-02T03:04:05 (unset SLURM_TIME_FORMAT)`},
		{sacctRow(map[string]string{"Start": "1969-12-31T00:00:00"}), `f:2: field Start: "1969-12-31T00:00:00": before 1970`},
		{sacctRow(map[string]string{"End": "2024-01-01T00:00:09"}),
			`f:2: field End: "2024-01-01T00:00:09": before Start (local times? let sacct print ElapsedRaw)`},
		{sacctRow(map[string]string{"ElapsedRaw": "-5"}), `f:2: field ElapsedRaw: "-5": must not be negative`},
		{sacctRow(map[string]string{"Elapsed": "1:2:3:4"}), `f:2: field Elapsed: "1:2:3:4": not a span of time like 1-02:03:04`},
		{sacctRow(map[string]string{"TimelimitRaw": "ten"}), `f:2: field TimelimitRaw: "ten": not a number`},
		{sacctRow(map[string]string{"TimelimitRaw": "99999999999"}), `f:2: field TimelimitRaw: "99999999999": too large a number`},
		{sacctRow(map[string]string{"ReqCPUS": "2147483648"}), `f:2: field cores: "2147483648": must be at most 2147483647`},
		{sacctRow(map[string]string{"ReqCPUS": "1.5"}), `f:2: field ReqCPUS: "1.5": not a whole number`},
		{sacctRow(map[string]string{"ReqNodes": "2KK"}), `f:2: field ReqNodes: "2KK": not a number`},
		{sacctRow(map[string]string{"ReqTRES": "cpu"}), `f:2: field ReqTRES: "cpu": "cpu" is not NAME=COUNT`},
		{sacctRow(map[string]string{"ReqTRES": "node=2,cpu=x"}), `f:2: field ReqTRES: "node=2,cpu=x": "cpu=x": not a number`},
		{sacctRow(map[string]string{"ReqTRES": "gres/gpu=600,node=2"}), `f:2: field gpus_per_node: "300": must be at most 255`},
		{sacctRow(map[string]string{"AllocTRES": "gres/gpu=4"}),
			"f:2: a job with GPUs but no number of nodes: add ReqNodes and NNodes to sacct's --format"},
		{sacctRow(map[string]string{"ReqGRES": "gpu:a:b", "NNodes": "1"}), `f:2: field ReqGRES: "gpu:a:b": "gpu:a:b": not a number`},
		{sacctRow(map[string]string{"Priority": "high"}), `f:2: field Priority: "high": not a number`},
		{good + strings.Repeat("x", 1<<20+1), "f:3: a line of more than 1048576 bytes"},
	} {
		_, err := ReadSacct(strings.NewReader(c.text), "f", SacctOptions{})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, c.want)
		var in *InputError
		require.ErrorAs(t, err, &in)
	}
	_, err := ReadSacct(strings.NewReader(good), "f", SacctOptions{Unlimited: -1})
	require.EqualError(t, err, "workload: option Unlimited: -1: must be in 0..1099511627776")
}

func TestParseGRES(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"", 0}, {"gpu", 1}, {"gpu:2", 2}, {"gpu:a100", 1}, {"gpu:a100:4(S:0-1)", 4}, {"gres:gpu:2", 2}, {"gres/gpu:2", 2},
		{"gpu:a100:1(S:0,1),gpu:v100:2,shard:8", 3}, {"gpumem:8", 0}, {"gpu:0", 0},
	} {
		got, err := parseGRES(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
}

func TestParseCount(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		err  error
	}{
		{"0", 0, nil}, {"12", 12, nil}, {"1.50K", 1536, nil}, {"2M", 2 << 20, nil}, {"1G", 1 << 30, nil}, {"1024G", 1 << 40, nil},
		{"1025G", 0, ErrTooLarge}, {"1.3K", 0, ErrNotWhole}, {"1T", 0, ErrNotNumber}, {"K", 0, ErrNotNumber}, {"1e400", 0, ErrTooLarge},
	} {
		got, err := ParseCount(c.text)
		require.ErrorIs(t, err, c.err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
}

func FuzzReadSacct(f *testing.F) {
	text, err := os.ReadFile("testdata/sacct/small.txt")
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(sacctRow(map[string]string{"ReqTRES": "cpu=8,gres/gpu=3,node=2", "Priority": "5"})))
	f.Add([]byte(sacctRow(map[string]string{"ReqTRES": "cpu=8,mem=1.50T,node=2", "ReqMem": "4000Mc"})))
	f.Add([]byte(sacctRow(map[string]string{"TimelimitRaw": "UNLIMITED", "Elapsed": "1-02:03:04",
		"ReqGRES": "gpu:a:2(S:0)", "NNodes": "2K"})))
	f.Add([]byte(sacctRow(map[string]string{"Start": "None", "State": "CANCELLED by 5", "Partition": "p", "Timelimit": "UNLIMITED"})))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []SacctOptions{{}, {Past: true, Limits: map[string]PartitionLimit{"p": {Default: 60, Max: 3600}}}} {
			w, err := ReadSacct(bytes.NewReader(text), "f", o)
			if err != nil {
				var in *InputError
				require.ErrorAs(t, err, &in)
				continue
			}
			require.Equal(t, sacctLines(text), len(w.Jobs)+tallied(w.Skipped), "each line is a job, or is counted")
			for i := range w.Jobs {
				if j := &w.Jobs[i]; o.Past && j.Duration > j.TimeLimit {
					j.Duration = j.TimeLimit // what ran longer did so
				}
			}
			checkWorkload(t, w)
		}
	})
}

// sacctLines is how many lines of values there are in a text that has been read,
// which may be packed.
func sacctLines(text []byte) (n int) {
	l := NewLines(bytes.NewReader(text), "f")
	var names Row
	for l.Next() {
		line := string(l.Text())
		switch {
		case line == "":
		case names.Column == nil || names.areNames(line):
			_ = names.readNames(line)
		default:
			n++
		}
	}
	return n
}

func tallied(all []Tally) (n int) {
	for _, x := range all {
		n += x.Jobs
	}
	return n
}

func ExampleReadSacct() {
	w, err := ReadSacct(strings.NewReader(`JobID|Submit|Start|End|TimelimitRaw|ReqCPUS|ReqTRES|State
12_3|2024-01-02T03:04:05|2024-01-02T03:05:00|2024-01-02T03:06:30|10|16|cpu=16,gres/gpu=4,node=2|COMPLETED
12_3.batch|2024-01-02T03:04:05|2024-01-02T03:05:00|2024-01-02T03:06:30||8|cpu=8,node=1|COMPLETED
`), "sacct.txt", SacctOptions{})
	j := w.Jobs[0]
	fmt.Println(j.ID, j.Cores, j.MinNodes, j.MinGPUs, j.Duration, j.TimeLimit, w.Skipped, err)
	// Output: 12_3 16 2 2 90 600 [{job step 1}] <nil>
}
