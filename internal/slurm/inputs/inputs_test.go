// SPDX-License-Identifier: BSD-3-Clause

package inputs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/engine"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		comment string
		bytes   uint64
		words   string // of the error
	}{
		{"", 0, ""}, {"for the review; my input=/a:1", 0, ""}, {"INPUT=/a:1", 0, ""}, {"input", 0, ""},
		{"input=/a:1", 1, ""}, {"input=/data/genome.fa:4G", 4 << 30, ""}, {"note;input=/a b,c:12k;auc:gpu=1-3", 12 << 10, ""},
		{"input=s3://bucket/key:3:1T", 1 << 40, ""}, {"input=/a:1048576T", 1 << 60, ""}, {"input=/a:1152921504606846976", 1 << 60, ""},
		{"input=", 0, "input=: must be PATH:SIZE"}, {"input=;x", 0, "input=: must be PATH:SIZE"}, {"input=/a", 0, "input=/a: must be PATH:SIZE"},
		{"input=:5G", 0, "input=:5G: its path must"}, {"input=a:5G", 0, "input=a:5G: its path must begin with / or be a URL"},
		{"input=://x:5", 0, "its path must"}, {"input=/a:", 0, "input=/a:: its size must"}, {"input=/a:0", 0, "input=/a:0: its size must"},
		{"input=/a:G", 0, "its size must"}, {"input=/a:-1", 0, "its size must"}, {"input=/a:+1", 0, "its size must"},
		{"input=/a:1.5G", 0, "its size must"}, {"input=/a:5 G", 0, "its size must"}, {"input=/a:5GB", 0, "its size must"},
		{"input=/a:1048577T", 0, "its size must"}, {"input=/a:1152921504606846977", 0, "its size must"},
		{"input=/a:99999999999999999999999", 0, "its size must"}, {"input=/a:1;input=/b:2", 0, "input=/b:2: is a second input"},
	} {
		in, err := Read(c.comment)
		require.Equal(t, c.bytes, in.Bytes, c.comment)
		require.Equal(t, c.bytes > 0, in.File != 0, c.comment)
		if c.words == "" {
			require.NoError(t, err, c.comment)
		} else {
			require.ErrorContains(t, err, c.words)
			require.True(t, strings.HasPrefix(err.Error(), "aucsched: --comment: input="))
		}
	}
	_, err := Read("input=" + strings.Repeat("a", 2000))
	require.Less(t, len(err.Error()), 300)
}

func TestFile(t *testing.T) {
	file := func(comment string) uint64 {
		in, err := Read(comment)
		require.NoError(t, err)
		return in.File
	}
	require.Equal(t, file("input=/a:1"), file("x;input=/a:2G"), "the path alone")
	require.NotEqual(t, file("input=/a:1"), file("input=/b:1"))
	require.Equal(t, uint64(0xaf63a24c860189fe), file("input=/:1"), "as it is in saved files")
}

func FuzzRead(f *testing.F) {
	f.Add("note;input=/a b:12k;input=://x:9T")
	f.Fuzz(func(t *testing.T, comment string) {
		in, err := Read(comment)
		require.Equal(t, in.File == 0, in.Bytes == 0)
		require.LessOrEqual(t, in.Bytes, uint64(engine.MaxFile))
		require.True(t, err == nil || in == Input{})
	})
}
