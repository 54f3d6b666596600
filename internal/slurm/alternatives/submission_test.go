// SPDX-License-Identifier: BSD-3-Clause

package alternatives

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const nodesOfTypes = "4 a 4\n8 v100-pcie 2 a 6\n"

func TestTake(t *testing.T) {
	long := strings.Repeat("t", 63)
	script := "#!/bin/sh\n#AUCSCHED --alternative -n2\ntrue\n"
	for name, c := range map[string]struct{ in, want Submission }{
		"nothing":       {Submission{Gres: "gpu:1"}, Submission{Gres: "gpu:1"}},
		"a range":       {Submission{Gres: "x:1,gres:gpu:1-3,y"}, Submission{Gres: "x:1,gres:gpu:1,y", AdminComment: "auc:gpu=1-3"}},
		"of a type":     {Submission{Gres: "gpu:a:02-4"}, Submission{Gres: "gpu:a:2", AdminComment: "auc:gpu=a:2-4"}},
		"in place":      {Submission{Gres: "gpu:2-4", AdminComment: "a;auc:gpu=1-9;b;"}, Submission{Gres: "gpu:2", AdminComment: "a;b;;auc:gpu=2-4"}},
		"a range fewer": {Submission{AdminComment: "auc:gpu=1-9"}, Submission{}},
		"a change": {Submission{Gres: "gpu:1-3", Comment: "auc:gpu=1-2", Script: script, Change: true},
			Submission{Gres: "gpu:1", Comment: "auc:gpu=1-2"}},
		"of a client": {Submission{Comment: "x;auc:gpu=1-3,,;auc:gpu=9", Gres: "y", Prefix: "gres/"},
			Submission{Comment: "x", Gres: "y,gres/gpu:1", AdminComment: "auc:gpu=1-3"}},
		"of a client, all": {Submission{Comment: "auc:gpu=a:1,v100-pcie:2", Prefix: "gres:"},
			Submission{Gres: "gres:gpu:a:1,gres:gpu:v100-pcie:2"}},
		"an alternative":            {Submission{Script: script, AdminComment: "auc:first=x;y;auc:alt=n9"}, Submission{AdminComment: "y;auc:alt=n2,N1-0"}},
		"both":                      {Submission{Script: script, Gres: "gpu:1-2"}, Submission{Gres: "gpu:1", AdminComment: "auc:alt=n2,N1-0;auc:gpu=1-2"}},
		"an input that is no one's": {Submission{Comment: "input=x"}, Submission{Comment: "input=x"}},
		"ends as the list ends":     {Submission{Gres: "gpu:1-1", Params: "auc_alternatives=no"}, Submission{Gres: "gpu:1", AdminComment: "auc:gpu=1-1"}},
	} {
		s := c.in
		s.Nodes = nodesOfTypes
		r, err := s.Take()
		require.NoError(t, err, name)
		require.Equal(t, c.want, Submission{Gres: s.Gres, Comment: s.Comment, AdminComment: s.AdminComment}, name)
		require.Equal(t, s.Change || strings.Contains(s.AdminComment, rangeNote), r.High > 0, name)
	}
	for name, c := range map[string]struct {
		in    Submission
		words string
		gres  bool
	}{
		"input":        {Submission{Params: "auc_locality=yes", Comment: "input=x", Gres: "gpu:3-1"}, "input=x: must be PATH:SIZE", false},
		"input later":  {Submission{Params: "auc_locality=yes", Comment: "input=x", Change: true}, "must be PATH:SIZE", false},
		"script":       {Submission{Script: "#AUCSCHED", Gres: "gpu:3-1"}, "in script line 1", false},
		"alternatives": {Submission{Script: script, Params: "auc_alternatives=no"}, "takes no alternative requests", false},
		"ranges":       {Submission{Gres: "gpu:1-3", Params: "auc_gpu_ranges=no"}, "takes no ranges of GPUs", true},
		"range":        {Submission{Comment: "auc:gpu=3-1", Prefix: "gres:"}, "gres:gpu:3-1: the range ends below", true},
		"notes": {Submission{Script: strings.Repeat("#AUCSCHED --alternative -N1048576 --ntasks-per-node=1000 --contiguous --gres=gpu:"+long+":1-2\n", 8),
			Gres: "gpu:" + long + ":1-2", Nodes: "2 " + long + " 2", AdminComment: "x"}, "take 1028 bytes of the job's AdminComment, and can take 1024", false},
	} {
		if c.in.Nodes == "" {
			c.in.Nodes = nodesOfTypes
		}
		_, err := c.in.Take()
		require.ErrorContains(t, err, c.words, name)
		require.Equal(t, c.gres, c.in.WrongGres, name)
	}
}

// Whatever a job asks for, its range is noted, and asked for once; of others' texts nothing is lost.
func FuzzTake(f *testing.F) {
	f.Add("gres:gpu:1-3,license:2", "a;auc:gpu=1-3", "b;auc:alt=x", "#AUCSCHED --alternative -n2\n", false)
	f.Add("", "auc:gpu=a:1-2,2", "", "", true)
	f.Fuzz(func(t *testing.T, gres, comment, admin, script string, change bool) {
		s := Submission{Gres: gres, Comment: comment, AdminComment: admin, Script: script, Change: change, Nodes: nodesOfTypes}
		r, err := s.Take()
		if err != nil {
			require.Zero(t, r)
			return
		}
		again := s
		if change {
			require.Equal(t, admin, s.AdminComment)
		} else {
			require.Equal(t, r.High > 0, strings.Contains(";"+s.AdminComment, ";"+rangeNote), "%+v", s)
		}
		require.Equal(t, drop(drop(drop(admin, rangeNote), alternativesNote), firstNote),
			drop(drop(drop(s.AdminComment, rangeNote), alternativesNote), firstNote), "what others have written there")
		r, err = again.Take()
		require.NoError(t, err, "%+v", s)
		require.Zero(t, r, "the range is taken: %+v", s)
		require.Equal(t, s.Gres, again.Gres)
	})
}
