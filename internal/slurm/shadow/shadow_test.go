// SPDX-License-Identifier: BSD-3-Clause

package shadow

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const first = `{"shadow":1,"time":100,"interval_s":3,"version":"0.9.0","slurm":"22.05.8","settings":"window=200"}` + "\n"

func read(t *testing.T, text string) *Log {
	t.Helper()
	l, err := readLog(strings.NewReader(text), "f")
	require.NoError(t, err)
	return l
}

func job(id, more string) string {
	return `{"job":` + id + `,"user":7,"submit":100,"eligible":110,"cpus":8,"nodes":1,"partition":"p"` + more + "}\n"
}

func would(at string) string {
	return `,"would":{"time":` + at + `,"cpus":8,"gpus":2,"nodes":"n1","class":"A","victims":0}`
}

func slurm(at, before string) string {
	return `,"slurm":{"time":` + at + `,"cpus":8,"gpus":2,"nodes":"n2","before":"` + before + `"}`
}

// What became of a job, by what its lines say.
func TestOutcomes(t *testing.T) {
	for _, x := range []struct {
		more    string
		want    Outcome
		seconds int64
	}{
		{would("120") + slurm("180", "starts"), Earlier, 60},
		{would("120") + slurm("123", "starts"), Same, 3},
		{would("120") + slurm("124", "starts"), Earlier, 4},
		{would("120") + slurm("119", "starts"), Same, 0},
		{slurm("180", "fit"), Same, 0},
		{slurm("180", "lost"), Later, 0},
		{slurm("180", "reserved"), Later, 0},
		{slurm("180", "kept"), Later, 0},
		{slurm("180", "late"), Limited, 0},
		{slurm("180", "quota"), Later, 0},
		{slurm("180", "unseen"), AtOnce, 0},
		{slurm("180", "limits"), Limited, 0},
		{`,"left":"nodelist"` + slurm("180", "fit"), Left, 0},
		{`,"end":150,"state":"CANCELLED"`, Cancelled, 0},
		{would("120") + `,"end":150,"state":"CANCELLED"`, Cancelled, 0},
		{would("120"), Waiting, 0},
	} {
		l := read(t, first+job("1", x.more))
		require.Len(t, l.Runs, 1)
		o, seconds := l.Runs[0].Outcome(l.Interval)
		require.Equal(t, x.want, o, x.more)
		require.Equal(t, x.seconds, seconds, x.more)
	}
}

// Lines of a run are put together, over a restart and over the two files; the earliest start of the
// auction counts, and Slurm's first.
func TestLinesOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shadow")
	require.NoError(t, os.WriteFile(path+".old", []byte(job("1", would("120"))+job("2", `,"task":3`+would("130"))+`{"job":`), 0o600))
	require.NoError(t, os.WriteFile(path, []byte(first+job("1", would("140")+slurm("150", "starts"))+
		job("1", slurm("160", "fit")+`,"end":170,"state":"FAILED"`)+job("2", `,"task":4`+would("131"))+
		job("1", `,"restarts":1`+would("200"))+job("3", slurm("190", "fit"))+job("3", `,"restarts":1`+would("201"))+
		job("4", slurm("90", "")+`,"end":180,"state":"COMPLETED"`)), 0o600)) // it began before the file
	l, err := ReadFiles(path)
	require.NoError(t, err)
	require.Len(t, l.Runs, 6)
	require.Equal(t, "REQUEUED", l.Runs[4].State)
	require.Equal(t, 1, l.Bad)
	require.ErrorContains(t, l.FirstBad, path+".old:3: ")
	one := l.Runs[0]
	require.Equal(t, []int64{120, 150, 170}, []int64{one.Would.Time, one.Slurm.Time, one.End})
	require.Equal(t, "FAILED", one.State)
	require.Equal(t, []string{"1", "1", "2_3", "2_4"}, []string{l.Runs[0].Key.String(), l.Runs[1].Key.String(),
		l.Runs[2].Key.String(), l.Runs[3].Key.String()})
}

// What is wrong is left out, with the line and the field; a file that has nothing else is refused.
func TestBadLines(t *testing.T) {
	for text, want := range map[string]string{
		job("-1", ""):                  "f:2: job: -1: must be 0 to 68719476736",
		job("1.5", ""):                 "f:2: json: cannot unmarshal number 1.5",
		`{"shadow":2}`:                 "f:2: shadow: 2: this program knows version 1",
		`{}`:                           "f:2: neither a job nor a sample",
		`{"sample":1,"queue":-5}`:      "f:2: queue: -5: must be 0 to",
		job("1", would("-7")):          "f:2: would.time: -7: must be 0 to",
		`{"shadow":1,"interval_s":0}`:  "f:2: interval_s: 0: must be 1 to",
		strings.Repeat("x", lineLimit): "f:2: longer than 1048576 bytes",
	} {
		l := read(t, first+text+"\n"+job("9", ""))
		require.Equal(t, 1, l.Bad, text[:min(len(text), 60)])
		require.ErrorContains(t, l.FirstBad, want)
		require.Len(t, l.Runs, 1)
	}
	_, err := readLog(strings.NewReader("no\n"), "f")
	require.ErrorContains(t, err, "not what aucsched writes in shadow mode: f:1: ")
	_, err = readLog(strings.NewReader(""), "f")
	require.EqualError(t, err, "f: there is nothing in it yet")
}

const hostile = `<script>alert(1)</script>"&'`

func hostileLog(t *testing.T) *Log {
	name, err := json.Marshal(hostile)
	require.NoError(t, err)
	return read(t, first+
		`{"job":1,"user":7,"submit":100,"cpus":1,"nodes":1,"partition":`+string(name)+would("110")+slurm("210", "starts")+"}\n"+
		job("2", slurm("120", "lost"))+job("3", `,"left":"gres"`+slurm("120", ""))+
		`{"sample":130,"queue":4,"running":2,"cores":10,"cores_used":5,"gpus":4,"gpus_used":2,"gpus_stranded":1,`+
		`"would_cores":2,"would_gpus":1,"would_stranded":0,"lost":3}`+"\n")
}

func TestReport(t *testing.T) {
	p := Compare(hostileLog(t), func(uid int64) string { return "u" + strconv.FormatInt(uid, 10) }, true)
	require.Equal(t, []int{3, 1, 0, 1, 1}, []int{p.All.Jobs, p.All.Earlier, p.All.Same, p.All.Later, p.All.Left})
	require.InDelta(t, 100, p.All.EarlierMedian, 1e-9)
	require.InDelta(t, 10, p.All.WaitMedian, 1e-9)
	require.InDelta(t, (110+10+10)/3., p.All.WaitMean, 1e-9)
	require.Equal(t, []string{"p", hostile}, []string{p.Partitions[0].Name, p.Partitions[1].Name})
	require.Equal(t, "u7", p.Users[0].Name)
	require.Equal(t, []string{"1", "2-8"}, []string{p.Widths[0].Name, p.Widths[1].Name})
	require.Equal(t, []Count{{"gres", 1}}, p.LeftWhy)
	require.Equal(t, Machine{Samples: 1, CoresUsed: .5, CoresWould: .7, GPUsUsed: .5, GPUsWould: .75, Stranded: 1,
		QueueMean: 4, QueueMax: 4}, p.Machine)
	require.Equal(t, []int64{110, 210, 3}, []int64{p.From, p.To, p.Lost})
	require.Len(t, p.Jobs, 3)
	require.NotEmpty(t, p.Caveats)
}

// No name of the cluster is markup, and nothing is fetched.
func TestPageIsSafe(t *testing.T) {
	p := Compare(hostileLog(t), func(int64) string { return hostile }, true)
	var page strings.Builder
	require.NoError(t, p.Document().HTML(&page))
	text := page.String()
	require.NotContains(t, text, "<script")
	require.Contains(t, text, "&lt;script&gt;alert(1)")
	for _, word := range []string{"http:", "https:", "src=", "href=", "@import", "url("} {
		require.NotContains(t, text, word)
	}
	require.NotContains(t, text, "ZgotmplZ")
	require.Contains(t, text, "1.7 min, of 1 job")
}

func FuzzRead(f *testing.F) {
	f.Add(first + job("1", would("120")+slurm("180", "starts")))
	f.Add(`{"sample":1,"cores":5}` + "\n{\"job\":1,\"task\":2}")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := readLog(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		p := Compare(l, func(uid int64) string { return strconv.FormatInt(uid, 10) }, true)
		n := 0
		for _, o := range outcomes {
			n += *o.of(&p.All)
		}
		require.Equal(t, len(l.Runs), n)
		_, err = json.Marshal(p)
		require.NoError(t, err)
	})
}

// Neither the text nor the page nor the JSON adds seconds up: those that would have been later have
// none.
func TestNoSumOfOneSide(t *testing.T) {
	text := first + job("2", slurm("120", "lost"))
	for i, after := range []string{"210", "220", "1000", "5000"} {
		text += job(strconv.Itoa(10+i), would("110")+slurm(after, "starts"))
	}
	p := Compare(read(t, text), func(int64) string { return "u" }, false)
	require.Equal(t, []any{4, 1, 500.}, []any{p.All.Earlier, p.All.Later, p.All.EarlierMedian})
	asJSON, err := json.Marshal(p)
	require.NoError(t, err)
	var page strings.Builder
	require.NoError(t, p.Document().HTML(&page))
	for _, text := range []string{string(asJSON), page.String()} {
		require.NotContains(t, text, "5990") // the sum
		require.NotContains(t, text, "1497.5")
	}
	require.Contains(t, page.String(), "8.3 min, of 4 jobs")
	require.Contains(t, page.String(), NoSum)
}

// readLog reads one file of that name.
func readLog(r io.Reader, name string) (*Log, error) {
	l := newLog()
	if err := l.read(r, name); err != nil {
		return nil, err
	}
	return l, l.finish(name)
}
