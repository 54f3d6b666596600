// SPDX-License-Identifier: BSD-3-Clause

package traces

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/workload"
)

func TestReadFile(t *testing.T) {
	swf, sacct := readTestdata(t, "swf/small.swf"), readTestdata(t, "../../../internal/workload/testdata/sacct/small.txt")
	for _, c := range []struct {
		name    string
		content []byte
		jobs    int
	}{
		{"a.swf", []byte(swf), 8},
		{"a.SWF", []byte(swf), 8},
		{"a.swf.gz", pack(t, swf), 8},
		{"packed.swf", pack(t, swf), 8},
		{"unpacked.swf.gz", []byte(swf), 8},
		{"a.txt", []byte(sacct), 8},
		{"a.txt.gz", pack(t, sacct), 8},
		{"packed", pack(t, sacct), 8},
		{"pods.csv", []byte(readTestdata(t, "gpu/pods.csv")), 5},
		{"jobs", pack(t, readTestdata(t, "gpu/philly.csv")), 4},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		require.NoError(t, os.WriteFile(path, c.content, 0o644))
		w, err := ReadFile(path, Options{})
		require.NoError(t, err, c.name)
		require.Len(t, w.Jobs, c.jobs)
		require.Equal(t, path, w.Name)
	}
}

func TestReadFileOptions(t *testing.T) {
	o := Options{SWF: SWFOptions{ExtendLimit: true}, Sacct: workload.SacctOptions{Unlimited: 5000}}
	w, err := ReadFile("testdata/swf/small.swf", o)
	require.NoError(t, err)
	require.Equal(t, int64(500), w.Jobs[3].TimeLimit)
	w, err = ReadFile("../../internal/workload/testdata/sacct/small.txt", o)
	require.NoError(t, err)
	require.Equal(t, int64(5000), w.Jobs[3].TimeLimit)
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	unknown := "in no known format; known are Standard Workload Format (18 numbers a line, comments behind ;), " +
		"sacct --parsable2 (first line: field names with JobID, separated by |), " +
		"Alibaba's list of pods (first line: name,cpu_milli,...), Philly's jobs (first line: timestamp,duration,num_gpus,...)"
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"a.csv", []byte("job,nodes\n1,2\n"), ": " + unknown},
		{"later", []byte("job nodes\nJobID|Submit\n"), ": " + unknown},
		{"no-times.csv", []byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,12000,16384,1,1000\n"), ": it begins like " +
			"Alibaba's list of pods (first line: name,cpu_milli,...) but its first line lacks creation_time, deletion_time, " +
			"scheduled_time; --policy fgd and the others for pods need no times"},
		{"packed-no-start.csv.gz", pack(t, "gpu_milli,Name, cpu_milli,num_gpu,creation_time,deletion_time\r\n"), ": it begins like " +
			"Alibaba's list of pods (first line: name,cpu_milli,...) but its first line lacks scheduled_time; " +
			"--policy fgd and the others for pods need no times"},
		{"no-gpus.csv", []byte("timestamp,duration\n"), ": it begins like Philly's jobs (first line: timestamp,duration,num_gpus,...) " +
			"but its first line lacks num_gpus"},
		{"nodes.csv", []byte("sn,cpu_milli,memory_mib,gpu,model\n"), ": " + unknown},
		{"empty", nil, ": " + unknown},
		{"empty.swf", nil, ": no job"},
		{"utf16.swf", []byte("1\x00 \x000\x00"), ":1: the text is in UTF-16: save it as UTF-8"},
		{"utf16.csv.gz", pack(t, "\xff\xfen\x00a\x00"), ":1: the text is in UTF-16: save it as UTF-8"},
		{"short.swf.gz", []byte{0x1f, 0x8b, 8}, ": the file is truncated: unexpected EOF"},
		{"cut.gz", pack(t, readTestdata(t, "../../../internal/workload/testdata/sacct/small.txt"))[:12], ": the file is truncated: unexpected EOF"},
	} {
		path := filepath.Join(dir, c.name)
		require.NoError(t, os.WriteFile(path, c.content, 0o644))
		_, err := ReadFile(path, Options{})
		require.EqualError(t, err, path+c.want)
		var in *workload.InputError
		require.ErrorAs(t, err, &in)
	}
	_, err := ReadFile(filepath.Join(dir, "absent.swf"), Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadFile(dir, Options{})
	require.ErrorContains(t, err, "is a directory")
}

func ExampleReadFile() {
	w, err := ReadFile("testdata/swf/nodespec.swf", Options{SWF: SWFOptions{NodeSpec: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	j := w.Jobs[0]
	fmt.Println(len(w.Jobs), j.ID, j.MinNodes, j.TasksPerNode)
	// Output: 9 1 2 8
}
