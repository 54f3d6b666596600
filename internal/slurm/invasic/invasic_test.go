// SPDX-License-Identifier: BSD-3-Clause

package invasic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestComments(t *testing.T) {
	for _, c := range []struct {
		comment string
		cores   uint32 // that the request says
		made    bool
		note    string // what becomes of the comment
		words   string // of the error
	}{
		{"", 0, false, "invasic=1-1,rigid,points=0", ""},
		{"for the review", 4, false, "for the review;invasic=4-4,rigid,points=0", ""},
		{"invasic=2-8", 0, false, "invasic=2-8,moldable,points=0", ""},
		{"invasic=malleable,1-64;x", 2, false, "x;invasic=1-64,malleable,points=0", ""},
		{"a;invasic=urgent;b", 3, false, "a;b;invasic=3-3,rigid,urgent,points=0", ""},
		{"invasic=evolving,urgent", 3, false, "invasic=3-3,evolving,urgent,points=0", ""},
		{"invasic=65000", 0, false, "invasic=65000-65000,rigid,points=0", ""},
		{"my invasic=nonsense", 1, false, "my invasic=nonsense;invasic=1-1,rigid,points=0", ""},
		{"invasic=2-8,malleable,urgent,held,points=7", 0, true, "invasic=2-8,malleable,urgent,held,points=7", ""},
		{"invasic=1-1,rigid,points=0", 0, true, "invasic=1-1,rigid,points=0", ""},
		{"invasic=2-8,malleable,points=7", 0, false, "", "invasic=2-8,malleable,points=7: must be CORES or MIN-MAX"},
		{"invasic=held", 0, false, "", "must be CORES"},
		{"invasic=", 0, false, "", "--comment: invasic=: must be CORES"},
		{"invasic=;x", 0, false, "", "invasic=: must be"},
		{"invasic=2-8,", 0, false, "", "must be CORES"},
		{"invasic=8-2", 0, false, "", "its cores must be a number from 1, or MIN-MAX"},
		{"invasic=0", 0, false, "", "its cores must"},
		{"invasic=1-65001", 0, false, "", "its cores must"},
		{"invasic=1-99999999999999999999", 0, false, "", "its cores must"},
		{"invasic=1,2", 0, false, "", "two numbers of cores"},
		{"invasic=1-2,malleable,rigid", 0, false, "", "two kinds"},
		{"invasic=1-2,rigid", 0, false, "", "a rigid job has one number"},
		{"invasic=2-8", 9, false, "", "--ntasks times --cpus-per-task"},
		{"invasic=2-8", 1, false, "", "--ntasks times --cpus-per-task"},
		{"invasic=1;invasic=2", 0, false, "", "is there twice"},
		{"invasic=1-2,points=x", 0, true, "", "points must be a number"},
		{"invasic=" + strings.Repeat("x", 2000), 0, false, "", "xx: must be CORES"},
	} {
		w, err := parse(c.comment, c.cores, c.made)
		if c.words != "" {
			require.ErrorContains(t, err, c.words, c.comment)
			require.Less(t, len(err.Error()), 400)
			continue
		}
		require.NoError(t, err, c.comment)
		require.Equal(t, c.note, w.note(c.comment))
	}
}

func TestParam(t *testing.T) {
	const params = "auc_invasic=a,auc_invasic_socket=/x, auc_invasic=bc,auc_invasi=d,auc_invasic_urgent="
	require.Equal(t, "bc", param(params, "auc_invasic="))
	require.Empty(t, param(params, "auc_invasic_urgent="))
	require.Empty(t, param("", "auc_invasic="))
}

func TestSubmissions(t *testing.T) {
	for _, c := range []struct {
		change func(j *Job)
		want   Answer
		words  string
	}{
		{func(*Job) {}, Answer{Comment: "invasic=1-1,rigid,points=100", Socket: socket, MinCPUs: 1}, ""},
		{func(j *Job) { j.Tasks, j.CPUsPerTask, j.Nice = 2, 3, 30 },
			Answer{Comment: "invasic=6-6,rigid,points=70", Socket: socket}, ""},
		{func(j *Job) { j.Priority, j.Comment = 0, "invasic=2-4" },
			Answer{Comment: "invasic=2-4,moldable,held,points=100", Socket: socket, MinCPUs: 2}, ""},
		{func(j *Job) { j.Priority, j.Params = 7, "auc_invasic_socket=/run/x" },
			Answer{Comment: "invasic=1-1,rigid,points=7", Socket: "/run/x", MinCPUs: 1}, ""},
		{func(j *Job) { j.Priority, j.Nice = 1<<32-1, 1000 },
			Answer{Comment: "invasic=1-1,rigid,points=0", Socket: socket, MinCPUs: 1}, ""},
		{func(j *Job) { j.Comment, j.Params = "invasic=urgent", "auc_invasic_urgent=*" },
			Answer{Comment: "invasic=1-1,rigid,urgent,points=100", Socket: socket, MinCPUs: 1}, ""},
		{func(j *Job) { j.Params, j.QOS, j.QOSCounts = "auc_invasic_urgent=now", "now", true },
			Answer{Comment: "invasic=1-1,rigid,urgent,points=100", Socket: socket, MinCPUs: 1}, ""},
		{func(j *Job) { j.Params, j.QOS = "auc_invasic_urgent=now", "now" },
			Answer{Comment: "invasic=1-1,rigid,points=100", Socket: socket, MinCPUs: 1}, ""},
		{func(j *Job) { j.Comment, j.Params = "invasic=urgent", "auc_invasic_urgent=now" }, Answer{}, "urgent jobs are those of a QOS"},
		{func(j *Job) { j.Comment = "invasic=9" }, Answer{}, "partition inv: it has less cores"},
		{func(j *Job) { j.Elsewhere = true }, Answer{}, "other partitions"},
		{func(j *Job) { j.NoScript = true }, Answer{}, "use sbatch"},
		{func(j *Job) { j.Array = true }, Answer{}, "arrays"},
		{func(j *Job) { j.Het = true }, Answer{}, "heterogeneous"},
		{func(j *Job) { j.Begins = true }, Answer{}, "--begin"},
		{func(j *Job) { j.Nodes = 2 }, Answer{}, "one node"},
	} {
		j := Job{Partition: "inv", MostCores: 8, Priority: -1}
		c.change(&j)
		got, err := Judge(&j)
		if c.words != "" {
			require.ErrorContains(t, err, c.words)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestChanges(t *testing.T) {
	const was, held = "invasic=2-4,malleable,points=5", "invasic=2-4,malleable,held,points=5"
	for _, c := range []struct {
		change func(j *Job)
		want   Answer
		words  string
	}{
		{func(*Job) {}, Answer{}, ""},
		{func(j *Job) { j.Priority = 0 }, Answer{Was: held}, ""},
		{func(j *Job) { j.Priority, j.Owner = 0, false }, Answer{}, ""},
		{func(j *Job) { j.Priority, j.Before, j.ByUser = 1, held, true }, Answer{Was: was, Released: true}, ""},
		{func(j *Job) { j.Priority, j.Before = 1, held }, Answer{}, ""},
		{func(j *Job) { j.Priority, j.Before, j.Operator = 1, held, true }, Answer{Was: was, Released: true}, ""},
		{func(j *Job) { j.Priority = 1 }, Answer{}, "held until they were negotiated"},
		{func(j *Job) { j.Priority, j.Operator = 1, true }, Answer{}, ""},
		{func(j *Job) { j.Priority, j.Held = 1, false }, Answer{}, ""},
		{func(j *Job) { j.Comments, j.Comment = true, "x;invasic=3,held,points=9" },
			Answer{Comment: "x;invasic=3-3,rigid,points=5"}, ""},
		{func(j *Job) { j.Comments = true }, Answer{Comment: "invasic=1-1,rigid,points=5"}, ""},
		{func(j *Job) { j.Qualifies = true }, Answer{Comment: was}, ""},
		{func(j *Job) { j.Qualifies, j.Priority = true, 0 }, Answer{Was: held, Comment: held}, ""},
		{func(j *Job) { j.Qualifies, j.QOS, j.QOSCounts, j.Params = true, "now", true, "auc_invasic_urgent=now" },
			Answer{Comment: "invasic=2-4,malleable,urgent,points=5"}, ""},
		{func(j *Job) { j.Comments, j.Comment = true, "invasic=9" }, Answer{}, "less cores"},
		{func(j *Job) { j.Comments, j.Comment = true, "invasic=urgent" }, Answer{}, "urgent jobs"},
		{func(j *Job) { j.Comments, j.Comment, j.Before = true, "invasic=2", "mine" }, Answer{Comment: "invasic=2-2,rigid,points=100"}, ""},
		{func(j *Job) { j.Elsewhere = true }, Answer{}, "moved to it, or away"},
		{func(j *Job) { j.Begins = true }, Answer{}, "begin time"},
		{func(j *Job) { j.Nodes = 2 }, Answer{}, "one node"},
	} {
		j := Job{Partition: "inv", MostCores: 8, Priority: -1, Change: true, Held: true, Owner: true, Before: was}
		c.change(&j)
		got, err := Judge(&j)
		if c.words != "" {
			require.ErrorContains(t, err, c.words)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}
