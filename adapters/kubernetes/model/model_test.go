// SPDX-License-Identifier: BSD-3-Clause

package model

import (
	"context"
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
	o := &Objects{SchedulerName: "aucsched", Topology: []string{rack}}
	for i := range number("NODES", 1000) {
		n := aNode(fmt.Sprintf("n%04d", i), "cpu", "64", "memory", "256Gi")
		n.Labels[rack] = fmt.Sprint("r", i/16)
		o.Nodes = append(o.Nodes, *n)
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
			o.Pods = append(o.Pods, *p)
		}
	}
	return o
}

// What a round costs where one pod has changed.
func BenchmarkRound(b *testing.B) {
	o := large()
	known := make(Cache)
	for b.Loop() {
		p := o.Pods[len(o.Pods)-1].DeepCopy()
		p.ResourceVersion += "x"
		p.Spec.Containers[0].Resources.Requests = list("cpu", fmt.Sprint(len(p.ResourceVersion)%9+1))
		o.Pods[len(o.Pods)-1] = *p
		begin := time.Now()
		m, err := New(o, time.Now(), known,
			core.ClusterOptions{StrictPreemption: true})
		require.NoError(b, err)
		require.Empty(b, m.Refused)
		b.ReportMetric(float64(time.Since(begin).Milliseconds()), "ms-tell")
	}
}

// What it takes to place a backlog of groups of 8 pods, ten pods a node, half of the CPUs in all.
func BenchmarkBacklog(b *testing.B) {
	nodes := number("NODES", 1000)
	for b.Loop() {
		o, known, rounds := &Objects{SchedulerName: "aucsched", Topology: []string{rack}}, make(Cache), 0
		for i := range nodes {
			n := aNode(fmt.Sprintf("n%04d", i), "cpu", "64", "memory", "256Gi")
			n.Labels[rack] = fmt.Sprint("r", i/16)
			o.Nodes = append(o.Nodes, *n)
		}
		for g := range 10 * nodes / 8 {
			for _, p := range pods(fmt.Sprint("g", g), 8, "cpu", fmt.Sprint(2+g%3), "memory", "4Gi") {
				p.Labels[GroupLabel] = fmt.Sprint("g", g)
				o.Pods = append(o.Pods, *p)
			}
		}
		var cluster *core.Cluster
		begin, left := time.Now(), len(o.Pods)
		for left > 0 {
			m, err := New(o, time.Now(), known,
				core.ClusterOptions{Continues: cluster, Deadline: time.Second, StrictPreemption: true})
			require.NoError(b, err)
			cluster = m.Cluster
			cycle, err := cluster.Decide(context.Background())
			require.NoError(b, err)
			bindings := m.Bindings(cycle)
			require.NotEmpty(b, bindings)
			for _, x := range bindings {
				x.Pod.Spec.NodeName = x.Node
				x.Pod.ResourceVersion = "2"
			}
			left, rounds = left-len(bindings), rounds+1
		}
		b.ReportMetric(float64(len(o.Pods))/time.Since(begin).Seconds(), "pods/s")
		b.ReportMetric(float64(rounds), "rounds")
	}
}
