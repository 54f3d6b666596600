// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/test/beside"
	"github.com/aucsched/aucsched/internal/test/generate"
	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/internal/test/race"
	"github.com/aucsched/aucsched/internal/workload"
)

func readTestdata(t *testing.T, path string) string {
	b, err := os.ReadFile("testdata/" + path)
	require.NoError(t, err)
	return string(b)
}

func TestReadSWF(t *testing.T) {
	for _, c := range []struct {
		file, golden string
		o            SWFOptions
	}{
		{"small.swf", "small.golden", SWFOptions{}},
		{"small.swf", "small-extend.golden", SWFOptions{ExtendLimit: true}},
		{"nodespec.swf", "nodespec.golden", SWFOptions{NodeSpec: true}},
		{"nodespec.swf", "nodespec-off.golden", SWFOptions{}},
	} {
		text := readTestdata(t, "swf/"+c.file)
		w, err := ReadSWF(strings.NewReader(text), c.file, c.o)
		require.NoError(t, err)
		golden.Equal(t, "swf/"+c.golden, generate.Text(w))

		packed, err := ReadSWF(bytes.NewReader(pack(t, text)), c.file, c.o)
		require.NoError(t, err)
		require.Equal(t, w, packed, "gzip makes no difference")
		for _, marked := range [][]byte{[]byte("\xef\xbb\xbf" + text), pack(t, "\xef\xbb\xbf"+text)} {
			again, err := ReadSWF(bytes.NewReader(marked), c.file, c.o)
			require.NoError(t, err)
			require.Equal(t, w, again, "nor does a byte order mark")
		}
	}
}

func TestSWFUser(t *testing.T) {
	w, err := ReadSWF(strings.NewReader("1 0 0 5 2 -1 -1 2 9 -1 1 42 -1 -1 -1 -1 -1 -1\n2 0 0 5 "+
		"2 -1 -1 2 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), "f", SWFOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"42", ""}, []string{w.Jobs[0].User, w.Jobs[1].User})
}

func TestSWFHeader(t *testing.T) {
	w, err := ReadSWF(strings.NewReader(readTestdata(t, "swf/small.swf")), "small.swf", SWFOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"64"}, w.Header["MaxProcs"])
	require.Equal(t, []string{"1700000000"}, w.Header["UnixStartTime"])
	require.Equal(t, []string{"1 first", "2 second"}, w.Header["Partition"])
	require.Empty(t, w.Header["http"], "an address is no label")
	require.Empty(t, w.Header["MaxQueues"])
}

// swfLine is a good line but for the given fields.
func swfLine(change map[int]string) string {
	fields := strings.Fields("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 -1 1 1 -1 -1")
	for i, v := range change {
		fields[i-1] = v
	}
	return strings.Join(fields, " ")
}

func TestReadSWFErrors(t *testing.T) {
	good := swfLine(nil)
	two := swfLine(map[int]string{1: "2"})
	for _, c := range []struct{ text, want string }{
		{"", "f: no job"},
		{"; MaxProcs: 4\n\n", "f: no job"},
		{swfLine(map[int]string{4: "-1"}), `f: no job left: 1 skipped as "unknown run time", and so on`},
		{good + "\n;\n" + good, `f:3: field 1 (job number): "1": the job is on line 1 already`},
		{good + "\n" + swfLine(map[int]string{4: "-1"}), `f:2: field 1 (job number): "1": the job is on line 1 already`},
		{"1 2 3 4", "f:1: 4 fields, SWF has 18"},
		{good + "\n" + two[:len(two)-3], "f:2: 17 fields, SWF has 18"},
		{swfLine(map[int]string{4: "abc"}), `f:1: field 4 (run time): "abc": not a number`},
		{swfLine(map[int]string{4: "NaN"}), `f:1: field 4 (run time): "NaN": not a number`},
		{swfLine(map[int]string{4: "inf"}), `f:1: field 4 (run time): "inf": not a number`},
		{swfLine(map[int]string{4: "0x1p3"}), `f:1: field 4 (run time): "0x1p3": not a number`},
		{swfLine(map[int]string{4: "1_0"}), `f:1: field 4 (run time): "1_0": not a number`},
		{swfLine(map[int]string{4: "-"}), `f:1: field 4 (run time): "-": not a number`},
		{swfLine(map[int]string{4: "1e999"}), `f:1: field 4 (run time): "1e999": too large a number`},
		{swfLine(map[int]string{4: "1e13"}), `f:1: field 4 (run time): "10000000000000": too large a number`},
		{swfLine(map[int]string{2: "9007199254740993"}), `f:1: field 2 (submit time): "9007199254740993": too large a number`},
		{swfLine(map[int]string{2: "1099511627777"}), `f:1: field 2 (submit time): "1099511627777": too large a number`},
		{swfLine(map[int]string{9: "1099511627777"}), `f:1: field 9 (requested time): "1099511627777": too large a number`},
		{swfLine(map[int]string{8: "99999999999999999999"}),
			`f:1: field 8 (requested processors): "99999999999999999999": too large a number`},
		{swfLine(map[int]string{8: "2147483648"}), `f:1: field 8 (requested processors): "2147483648": too large a number`},
		{swfLine(map[int]string{8: "-1", 5: "2147483648"}), `f:1: field 5 (allocated processors): "2147483648": too large a number`},
		{swfLine(map[int]string{8: "1.5"}), `f:1: field 8 (requested processors): "1.5": not a whole number`},
		{swfLine(map[int]string{18: "x"}), `f:1: field 18 (think time): "x": not a number`},
		{swfLine(map[int]string{18: strings.Repeat("x", 99)}), `f:1: field 18 (think time): "` +
			strings.Repeat("x", 60) + `...": not a number`},
	} {
		_, err := ReadSWF(strings.NewReader(c.text), "f", SWFOptions{})
		require.EqualError(t, err, c.want)
		var in *workload.InputError
		require.ErrorAs(t, err, &in)
	}
}

func TestReadSWFLongLine(t *testing.T) {
	good := swfLine(nil)
	for _, n := range []int{1<<20 - len(good) - 1, 1 << 20, 10 << 20} {
		_, err := ReadSWF(strings.NewReader(good+strings.Repeat(" ", n)+"\n"), "f", SWFOptions{})
		if n < 1<<20-len(good) {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, "f:1: a line of more than 1048576 bytes")
		}
	}
	header := strings.Repeat("; Note: "+strings.Repeat("x", 1000)+"\n", 1200)
	_, err := ReadSWF(strings.NewReader(header+good), "f", SWFOptions{})
	require.EqualError(t, err, "f:1041: header comments of more than 1048576 bytes")
}

func TestReadSWFTruncatedGzip(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&text, swfLine(map[int]string{1: strconv.Itoa(i), 2: strconv.Itoa(i * i % 977)}))
	}
	whole := pack(t, text.String())
	for _, n := range []int{5, 20, len(whole) / 2, len(whole) - 1} {
		_, err := ReadSWF(bytes.NewReader(whole[:n]), "f.swf.gz", SWFOptions{})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Regexp(t, `^f\.swf\.gz(:\d+)?: the file is truncated: unexpected EOF$`, err.Error())
	}
	broken := bytes.Clone(whole)
	broken[len(broken)-6] ^= 1 // of the checksum
	_, err := ReadSWF(bytes.NewReader(broken), "f.swf.gz", SWFOptions{})
	require.EqualError(t, err, "f.swf.gz:5001: reading: gzip: invalid checksum")
}

func TestReadSWFReadError(t *testing.T) {
	broken := errors.New("broken disk")
	r := io.MultiReader(strings.NewReader(swfLine(nil)+"\n1 2 "), errReader{broken})
	_, err := ReadSWF(r, "f", SWFOptions{})
	require.EqualError(t, err, "f:2: reading: broken disk", "the line that was cut is not looked at")
	require.ErrorIs(t, err, broken)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestSWFScanner(t *testing.T) {
	s := NewSWFScanner(strings.NewReader("; Label: v\n\n1 2.5 3 4 5 6 7 8 9 10 1 12 13 14 15 16 "+
		"17 18 a {b}\n; Later: v\n"+swfLine(nil)), "f")
	require.True(t, s.Next())
	require.Equal(t, SWFRecord{1, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 1, 12, 13, 14, 15, 16, 17, 18, []string{"a", "{b}"}}, s.Record())
	require.Equal(t, 3, s.Line())
	require.True(t, s.Next())
	require.Nil(t, s.Record().Extra)
	require.False(t, s.Next())
	require.False(t, s.Next())
	require.NoError(t, s.Err())
	require.Equal(t, workload.Header{"Label": {"v"}}, s.Header(), "only what comes before the records")
}

func TestParseNodeSpec(t *testing.T) {
	for _, c := range []struct {
		text string
		want nodeSpec
	}{
		{"2", nodeSpec{nodes: 2, cores: 2, even: true}},
		{"2:ppn=64", nodeSpec{nodes: 2, cores: 128, even: true}},
		{"2:gpus=2:ppn=4", nodeSpec{nodes: 2, cores: 8, gpus: 2, even: true}},
		{"1:x86:ppn=3:cl_a#excl", nodeSpec{nodes: 1, cores: 3, even: true, properties: true}},
		{"host1.example.org:ppn=3", nodeSpec{nodes: 1, cores: 3, even: true, properties: true}},
		{"1:ppn=2+3:ppn=2", nodeSpec{nodes: 4, cores: 8, even: true}},
		{"1:ppn=2+3:ppn=1:a", nodeSpec{nodes: 4, cores: 5, properties: true}},
	} {
		got, err := parseNodeSpec(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for _, bad := range []string{
		"", "0", "-1", "+", "1+", "2:ppn=", "2:ppn=0", "2:ppn=1.5", "2:ppn=65536", "16777217", "1.5:ppn=2", "{3}",
		"1:gpus=256", "1:gpus=-1", "1:ppn=2:gpus=1+1:ppn=2", "99999999999999999999",
	} {
		_, err := parseNodeSpec(bad)
		require.ErrorIs(t, err, errNodeSpec, bad)
	}
}

// drawJob draws a job that a request can be.
func drawJob(t *rapid.T, i int) workload.Job {
	j := workload.Job{Submit: rapid.Int64Range(0, 1000).Draw(t, "submit"), Duration: rapid.Int64Range(1, 500).Draw(t, "run")}
	j.ID = strconv.Itoa(i + 1)
	j.TimeLimit = j.Duration + rapid.Int64Range(0, 100).Draw(t, "slack")
	j.Cores = rapid.IntRange(1, 64).Draw(t, "cores")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1:
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		j.TasksPerNode = j.Cores
		j.Cores, j.MinNodes, j.MaxNodes = n*j.TasksPerNode, n, n
		j.MinGPUs = rapid.IntRange(0, 4).Draw(t, "gpus")
	case 2:
		if j.MinNodes = rapid.IntRange(1, j.Cores).Draw(t, "min nodes"); j.MinNodes == 1 {
			j.MinNodes = 0 // the same request
		}
		j.Contiguous = rapid.Bool().Draw(t, "contiguous")
	}
	return j
}

// TestPropertyWriteReadSWF: what writeSWF writes, ReadSWF reads back, all but
// what the format has no place for.
func TestPropertyWriteReadSWF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := workload.NewBuilder("f")
		for i := range rapid.IntRange(1, 20).Draw(t, "jobs") {
			require.NoError(t, b.Add(drawJob(t, i), false))
		}
		w, err := b.Finish()
		require.NoError(t, err)
		workload.AssignBasicPriorities(w.Jobs)
		w.Header = workload.Header{"MaxProcs": {"512"}, "Partition": {"1 a", "2 b"}}
		var out bytes.Buffer
		require.NoError(t, writeSWF(&out, w))

		got, err := ReadSWF(bytes.NewReader(out.Bytes()), "f", SWFOptions{NodeSpec: true})
		require.NoError(t, err)
		require.Equal(t, w.Start, got.Start)
		require.Equal(t, []string{"512"}, got.Header["MaxProcs"])
		require.Equal(t, []string{"1 a", "2 b"}, got.Header["Partition"])
		lost := 0
		for i := range w.Jobs {
			want := w.Jobs[i]
			if loses(&want.Request) {
				lost++
				want.Request = bids.Request{Cores: totalCores(&want.Request)}
			}
			require.Equal(t, want, got.Jobs[i])
		}
		if lost > 0 {
			require.Contains(t, got.Header["Lost"][0], strconv.Itoa(lost)+" jobs")
		} else {
			require.Empty(t, got.Header["Lost"])
		}
	})
}

func TestWriteSWF(t *testing.T) {
	jobs := []workload.Job{{Duration: 5}, {Submit: 3, Duration: 6}}
	jobs[0].ID, jobs[0].TimeLimit = "12_3", 60
	jobs[0].Request = bids.Request{MinNodes: 2, TasksPerNode: 4, MinGPUs: 1, MaxGPUs: 3}
	jobs[1].ID, jobs[1].TimeLimit = "7", 60
	jobs[1].Request = bids.Request{Cores: 9}
	var out bytes.Buffer
	require.NoError(t, writeSWF(&out, &workload.Workload{Name: "f", Start: 100, Jobs: jobs, Header: workload.Header{"MaxJobs": {"9"}, "Note": {"kept"}}}))
	require.Equal(t, `; Version: 2.2
; MaxJobs: 2
; MaxRecords: 2
; Note: kept
; Lost: 1 jobs asked for more than SWF can say
; Renumbered: job IDs were not numbers
1 100 -1 5 -1 -1 -1 8 60 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 2:ppn=4:gpus=1
2 103 -1 6 -1 -1 -1 9 60 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
`, out.String())

	full := errors.New("disk full")
	require.ErrorIs(t, writeSWF(errWriter{full}, &workload.Workload{Name: "f", Jobs: jobs}), full)
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

func TestFixedNodes(t *testing.T) {
	for _, c := range []struct {
		q    bids.Request
		want int
	}{
		{bids.Request{Cores: 8}, 0},
		{bids.Request{Cores: 8, MinNodes: 2, MaxNodes: 2}, 0}, // 1 and 7 will do
		{bids.Request{Cores: 8, MinNodes: 1, MaxNodes: 1}, 1},
		{bids.Request{Cores: 8, TasksPerNode: 4}, 2},
		{bids.Request{Cores: 8, TasksPerNode: 3}, 0},
		{bids.Request{TasksPerNode: 3}, 1},
		{bids.Request{MinNodes: 2, TasksPerNode: 3}, 2},
		{bids.Request{MinNodes: 2, MaxNodes: 4, TasksPerNode: 3}, 0},
		{bids.Request{Cores: 8, TasksPerNode: 4, MinNodes: 1, MaxNodes: 4}, 2},
		{bids.Request{Cores: 8, TasksPerNode: 4, MinNodes: 3}, 0},
	} {
		require.NoError(t, place.Validate(&c.q))
		require.Equal(t, c.want, fixedNodes(&c.q), "%+v", c.q)
	}
}

func TestRealMetacentrum(t *testing.T) {
	path := beside.Shared(t, "traces/metacentrum-wagap-2013.swf")
	w, err := ReadFile(path, Options{})
	require.NoError(t, err)
	require.Len(t, w.Jobs, 17898)
	require.Equal(t, int64(1356996147), w.Start)
	require.Equal(t, []workload.Tally{{Reason: workload.SkipNoRun, Jobs: 2}}, w.Skipped)
	require.Equal(t, "0", w.Jobs[0].ID)
	require.Equal(t, bids.Request{Cores: 64}, w.Jobs[0].Request)

	o := Options{SWF: SWFOptions{NodeSpec: true}}
	w, err = ReadFile(path, o)
	require.NoError(t, err)
	require.Equal(t, bids.Request{Cores: 64, MinNodes: 1, MaxNodes: 1, TasksPerNode: 64}, w.Jobs[0].Request)
	require.Equal(t, 12, countOf(w.Adjusted, specUneven))
	require.Equal(t, 20, countOf(w.Adjusted, specUnknown))
	require.Zero(t, countOf(w.Adjusted, specMismatch))
}

func TestRealLCG(t *testing.T) {
	race.Slow(t)
	path := beside.Shared(t, "traces/LCG.swf.gz")
	start := time.Now()
	w, err := ReadFile(path, Options{})
	t.Logf("read in %v", time.Since(start))
	require.NoError(t, err)
	require.Len(t, w.Jobs, 188041)
	require.Empty(t, w.Skipped)
	require.Equal(t, 521, countOf(w.Adjusted, "ran for less than a second: taken as 1 s"))
	require.Equal(t, []string{"24515"}, w.Header["MaxProcs"])
	require.Len(t, w.Header["Partition"], 170)
}

func BenchmarkReadLCG(b *testing.B) {
	path := beside.Shared(b, "traces/LCG.swf.gz")
	b.ReportAllocs()
	for b.Loop() {
		_, err := ReadFile(path, Options{})
		require.NoError(b, err)
	}
}

func FuzzReadSWF(f *testing.F) {
	for _, name := range []string{"small.swf", "nodespec.swf"} {
		text, err := os.ReadFile("testdata/swf/" + name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte(swfLine(map[int]string{4: "1e15", 9: "-3"})))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := ReadSWF(bytes.NewReader(text), "f", SWFOptions{NodeSpec: true})
		if err != nil {
			var in *workload.InputError
			require.ErrorAs(t, err, &in)
			return
		}
		require.NoError(t, generate.Check(w))
		var out bytes.Buffer
		require.NoError(t, writeSWF(&out, w))
		again, err := ReadSWF(&out, "f", SWFOptions{NodeSpec: true})
		require.NoError(t, err)
		require.Len(t, again.Jobs, len(w.Jobs))
		for i := range w.Jobs {
			require.Equal(t, w.Jobs[i].TimeLimit, again.Jobs[i].TimeLimit)
			require.Equal(t, totalCores(&w.Jobs[i].Request), totalCores(&again.Jobs[i].Request))
		}
	})
}

func ExampleReadSWF() {
	w, err := ReadSWF(strings.NewReader("7 1000 5 90 -1 -1 -1 16 600 -1 1 1 1 -1 1 1 -1 -1"), "trace.swf", SWFOptions{})
	fmt.Println(w.Start, w.Jobs[0].ID, w.Jobs[0].Cores, w.Jobs[0].Duration, w.Jobs[0].TimeLimit, err)
	_, err = ReadSWF(strings.NewReader("7 1000 5 abc"), "trace.swf", SWFOptions{})
	fmt.Println(err)
	// Output:
	// 1000 7 16 90 600 <nil>
	// trace.swf:1: field 4 (run time): "abc": not a number
}

func ExampleSWFScanner() {
	s := NewSWFScanner(strings.NewReader("; MaxProcs: 64\n7 1000 5 90 16 -1 -1 16 600 -1 1 1 1 -1 1 1 -1 -1\n"), "trace.swf")
	for s.Next() {
		fmt.Println(s.Record().JobNumber, s.Record().Wait, s.Header()["MaxProcs"])
	}
	fmt.Println(s.Err())
	// Output:
	// 7 5 [64]
	// <nil>
}

// TestReadSWFStable: jobs submitted in one second stay in the file's order.
func TestReadSWFStable(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&text, swfLine(map[int]string{1: strconv.Itoa(i), 2: strconv.Itoa(9 - i%10)}))
	}
	w, err := ReadSWF(strings.NewReader(text.String()), "f", SWFOptions{})
	require.NoError(t, err)
	for k, j := range w.Jobs {
		second, place := k/100, k%100
		require.Equal(t, int64(second), j.Submit)
		require.Equal(t, strconv.Itoa(10*place+9-second), j.ID)
	}
}
