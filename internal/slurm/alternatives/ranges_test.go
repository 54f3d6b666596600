// SPDX-License-Identifier: BSD-3-Clause

package alternatives

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadGPUs(t *testing.T) {
	require.Equal(t, GPUs{"": 8, "a": 6, "v100-pcie": 2}, types)
	require.Equal(t, GPUs{"": 4, "a": 4}, ReadGPUs("4 a 1 a 3\n2 a 2"), "a type that a node has twice counts in all")
	require.Empty(t, ReadGPUs(""))
}

func TestRange(t *testing.T) {
	name := strings.Repeat("n", 63)
	gpus := GPUs{"": 1024, "v100-pcie": 8, "1-2": 8, "a100": 8, name: 8}
	for text, want := range map[string]Range{
		"": {}, ",,": {}, "gpu": {}, "gpu:2": {}, "gres:gpu:2": {}, "gres/gpu=2": {}, "craynetwork:1-3": {}, "gpux:1-3": {},
		"gpu:v100-pcie": {}, "gpu:1-2": {}, "gpu:a100:1,gpu:v100-pcie:2": {}, "gpu:v100-pcie,gpu:2": {},
		"gres:gpu:1-3": {Low: 1, High: 3}, "gres/gpu:1-3": {Low: 1, High: 3}, "gres/gpu=1-3": {Low: 1, High: 3}, "gpu:a100:2-4": {Low: 2, High: 4, Type: "a100"},
		"gres:gpu:a100:1-3": {Low: 1, High: 3, Type: "a100"}, "gres/gpu:v100-pcie:1-3,license:2": {Low: 1, High: 3, Type: "v100-pcie"},
		"gpu:v100-pcie:1-2": {Low: 1, High: 2, Type: "v100-pcie"}, "gres:license:1,gres:gpu:1-1": {Low: 1, High: 1}, "gpu:" + name + ":1-3": {Low: 1, High: 3, Type: name},
	} {
		got, err := gpus.Range(text)
		require.NoError(t, err, text)
		require.True(t, got.High == 0 || strings.HasSuffix(":"+text[got.at:got.end], fmt.Sprintf(":%d-%d", got.Low, got.High)), text)
		got.at, got.end = 0, 0
		require.Equal(t, want, got, text)
	}
	for text, words := range map[string]string{
		"gpu:a100:3-1": "gpu:a100:3-1: the range ends below its beginning (", "gpu:3-1": "ends below", "gpu:0-0": "begin at 1",
		"x:1,gpu:0-2": "gpu:0-2: the range must begin at 1 or more", "gpu:a100:1-x": "neither a range", "gpu:a-b": "neither a range",
		"gpu:1-": "neither", "gpu:-3": "neither", "gpu:-": "neither", "gpu:1-2-3": "neither", "gpu:1-3 ": "neither", "gpu:+1-3": "neither",
		"gpu:1-9999999999": "neither", "gpu:1-99999": "no node has so many GPUs", "gpu::1-3": "is no GPU type",
		"gpu:a:b:1-3": "is no GPU type", "gpu:a b:1-3": "is no GPU type", "gpu:x" + name + ":1-3": "is no GPU type",
		"gpu:1-3,gpu:a100:3": "gpu:1-3,gpu:a100:3: a range of GPUs can't be asked for beside other GPUs",
		"gpu:a100:3,gpu:1-3": "beside other GPUs", "gres:gpu:1-3,gres:gpu": "beside other GPUs", "gpu:1-3,gpu:2-4": "beside other GPUs",
		"gpu:h100:1-3":    "aucsched: gpu:h100:1-3: h100 is no GPU type of this cluster",
		"gpu:1-1025":      "no node has so many GPUs",
		"gpu:a100:1-9":    "aucsched: gpu:a100:1-9: no node has so many GPUs of this type; the most is 8",
		"gpu:a100:0001-1": "", // as many digits as one likes, up to nine
	} {
		r, err := gpus.Range(text)
		if words == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, words, text)
		require.Zero(t, r, text)
	}
	_, err := GPUs{"": 4}.Range("gpu:1-5")
	require.EqualError(t, err, "aucsched: gpu:1-5: no node has so many GPUs; the most is 4")
}

// Whatever a job asks for, what is read is sound, and the error a line.
func FuzzRange(f *testing.F) {
	f.Add("gres:gpu:a:1-3,license:2", "4 a 4\n")
	f.Add("gres/gpu:v100-pcie:0-2", "2 v100-pcie 2")
	f.Fuzz(func(t *testing.T, list, nodes string) {
		r, err := ReadGPUs(nodes).Range(list)
		require.True(t, r == Range{} || err == nil && 0 < r.Low && r.Low <= r.High && r.High <= mostRange && len(r.Type) < 64 &&
			!strings.ContainsAny(r.Type, ":=;,/ "), "%+v", r)
	})
}
