// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/aucsched/aucsched/core"
)

// large are the objects of a cluster of 1000 nodes and 10,000 pods, half of them bound.
func large() *Objects {
	o := new(Objects)
	for i := range number("NODES", 1000) {
		n := aNode(fmt.Sprintf("n%04d", i), "cpu", "64", "memory", "256Gi")
		n.Labels[rack] = fmt.Sprint("r", i/16)
		o.Nodes = append(o.Nodes, n)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for len(o.Pods) < 10*len(o.Nodes) {
		for _, p := range drawn(r, fmt.Sprint("g", len(o.Pods))) {
			p.UID = types.UID(fmt.Sprint(len(o.Pods)))
			delete(p.Spec.Containers[0].Resources.Requests, "nvidia.com/gpu")
			p.Labels[GroupLabel] = ""
			if len(o.Pods) < 5*len(o.Nodes) {
				p.Spec.NodeName = o.Nodes[len(o.Pods)/5].Name
				p.Spec.Containers[0].Resources.Requests = list("cpu", "2")
			}
			o.Pods = append(o.Pods, p)
		}
	}
	return o
}

// What a round costs where one pod has changed.
func BenchmarkRound(b *testing.B) {
	o := large()
	known := make(Cache)
	model := func() *Model {
		return New(Options{SchedulerName: "aucsched", Topology: []string{rack}}, o, time.Now(), known)
	}
	for b.Loop() {
		p := o.Pods[len(o.Pods)-1].DeepCopy()
		p.ResourceVersion += "x"
		p.Spec.Containers[0].Resources.Requests = list("cpu", fmt.Sprint(len(p.ResourceVersion)%9+1))
		o.Pods[len(o.Pods)-1] = p
		begin := time.Now()
		m := model()
		made := time.Now()
		_, err := m.Cluster(core.ClusterOptions{StrictPreemption: true})
		require.NoError(b, err)
		require.Empty(b, m.Refused)
		b.ReportMetric(float64(made.Sub(begin).Milliseconds()), "ms-model")
		b.ReportMetric(float64(time.Since(made).Milliseconds()), "ms-tell")
	}
}
