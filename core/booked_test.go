// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/bids"
	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/nodeset"
)

func TestReservations(t *testing.T) {
	c, clock := newCluster(t, 3)
	at := func(minutes int) time.Time { return midnight.Add(time.Duration(minutes) * time.Minute) }
	require.NoError(t, c.SetReservation(core.Reservation{Name: "maint", Nodes: []string{"n1", "n2"}, Start: at(30), End: at(90)}))
	require.NoError(t, c.Submit(wholeNodes("hour", 2)))
	half := wholeNodes("half", 2)
	half.TimeLimit = 30 * time.Minute
	require.NoError(t, c.Submit(half))
	mine := wholeNodes("mine", 1)
	mine.Reservation, mine.TimeLimit, mine.Priority = "maint", 2*time.Hour, 9
	require.NoError(t, c.Submit(mine))
	none := wholeNodes("none", 1)
	none.Reservation = "other"
	require.NoError(t, c.Submit(none))

	for _, want := range []struct{ id, why, by string }{{"hour", "reserved", "maint"}, {"mine", "reserved", "maint"}, {"none", "never", ""}} {
		x, err := c.Explain(t.Context(), want.id, core.ExplainOptions{})
		require.NoError(t, err)
		require.Equal(t, want.why, x.Why.String(), want.id)
		if want.by != "" {
			require.Equal(t, want.by, x.Rivals[0].ID)
			require.Equal(t, []any{"reserved", -1, int64(1800)}, []any{x.Rivals[0].Role, x.Rivals[0].Job, x.Rivals[0].At})
		}
	}
	cycle := decide(t, c)
	require.Equal(t, "half", cycle.Starts[0].Job)
	require.Equal(t, "can never run: there is no reservation other", cycle.Waiting[2].Reason)
	require.Equal(t, at(30), cycle.Waiting[0].Expected, "mine begins with it")
	again, err := core.ReadWindow(strings.NewReader(windowOfCluster(t, c)), "w", core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	require.Equal(t, windowOfCluster(t, c), windowOfCluster(t, again))

	clock.Advance(30 * time.Minute)
	for _, c := range []*core.Cluster{c, again} {
		require.NoError(t, c.Ended("half"))
		cycle = decide(t, c)
		require.Len(t, cycle.Starts, 1)
		require.Equal(t, "mine", cycle.Starts[0].Job)
		require.NotEqual(t, "n3", cycle.Starts[0].Nodes[0].Node)
		require.Equal(t, at(90), cycle.Waiting[0].Expected)
		require.NoError(t, c.SetReservation(core.Reservation{Name: "maint"}))
		require.Equal(t, "hour", decide(t, c).Starts[0].Job, "it is deleted")
	}
}

func TestReservationErrors(t *testing.T) {
	c, _ := newCluster(t, 1)
	r := core.Reservation{Name: "r", Nodes: []string{"n9"}, End: midnight.Add(time.Hour)}
	require.ErrorIs(t, c.SetReservation(r), core.ErrUnknown)
	require.EqualError(t, c.SetReservation(r), "reservation r: nodes: n9: there is no such node")
	require.ErrorContains(t, c.SetReservation(core.Reservation{}), "reservation : name: ")
	r.Nodes = nil
	for i := range 63 {
		r.Name = strings.Repeat("x", i+1)
		require.NoError(t, c.SetReservation(r))
	}
	require.NoError(t, c.SetReservation(r), "that is there")
	r.Name = "more"
	require.ErrorContains(t, c.SetReservation(r), "there are 63 already")
	for text, want := range map[string]string{
		`{"name":"m","nodes":"n9","end_s":5}`: `w:1: reservations[0] (m): nodes: n9: there is no such node`,
		`{"name":"m","end_s":5,"start_s":-1}`: `w:1: reservations[0] (m): start_s: -1: must be 0 to 3153600000`,
		`{"name":"m","nodes":"n[","end_s":5}`: `w:1: reservations[0] (m): nodes: n[: `,
		`{"name":"m","nodes":"n1","end":5}`:   `unknown field "end"`,
	} {
		_, err := core.ReadWindow(strings.NewReader(`{"nodes":[{"name":"n1","cores":8}],"jobs":[],"reservations":[`+text+`]}`), "w", core.ClusterOptions{})
		require.ErrorContains(t, err, want)
	}
}

// A reservation that is made while a cycle decides holds for its starts.
func TestReservationMeanwhile(t *testing.T) {
	o := core.Preset("none")
	o.Estimates = true
	auction, err := core.NewAuction(o, nil)
	require.NoError(t, err)
	policy := &meddler{auction, func() {}}
	clock := &fakeClock{midnight}
	c, err := core.NewCluster(core.ClusterOptions{Policy: policy, Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, c.SetNode(core.Node{Name: "n1"}))
	require.NoError(t, change(c, "n1", func(n *core.Node) { n.Cores = 8 }))
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	policy.do = func() {
		require.NoError(t, c.SetReservation(core.Reservation{Name: "now", End: midnight.Add(time.Minute)}))
	}
	cycle := decide(t, c)
	require.Empty(t, cycle.Starts)
	require.EqualError(t, cycle.Dropped["a"], `job a: reservation: "": it runs into reservation now`)
	policy.do = func() {}
	require.Equal(t, midnight.Add(time.Minute), decide(t, c).Waiting[0].Expected)
}

// A job that is alone on its nodes has others there neither before nor after, whether these are cores,
// GPUs or shares of one; nodes may be unlike, and what it has the window says.
func TestExclusive(t *testing.T) {
	c, clock := newCluster(t, 2)
	require.NoError(t, c.SetNode(core.Node{Name: "n3", Capacity: nodeset.Capacity{Cores: 32, GPUs: 4}, GPUShares: 10}))
	small := func(id string, priority int64, change func(*core.JobSpec)) {
		s := core.JobSpec{ID: id, Priority: priority, TimeLimit: time.Hour, Request: bids.Request{MinNodes: 1, MaxNodes: 1, TasksPerNode: 1}}
		change(&s)
		require.NoError(t, c.Submit(s))
	}
	small("runs", 9, func(s *core.JobSpec) { s.On = []string{"n1"} })
	decide(t, c)
	small("waits", 1, func(s *core.JobSpec) { s.On = []string{"n3"} })
	small("share", 1, func(s *core.JobSpec) { s.On, s.GPUShare = []string{"n3"}, 1 })
	small("beside", 1, func(s *core.JobSpec) { s.On = []string{"n1"} })
	small("alone", 5, func(s *core.JobSpec) { s.Exclusive, s.MinNodes, s.MaxNodes = true, 2, 2 })
	cycle := decide(t, c)
	require.Len(t, cycle.Starts, 2)
	require.Equal(t, []any{"alone", true, []core.Share{{Node: "n2", Cores: 1}, {Node: "n3", Cores: 1}}},
		[]any{cycle.Starts[0].Job, cycle.Starts[0].Exclusive, cycle.Starts[0].Nodes})
	require.Equal(t, "beside", cycle.Starts[1].Job)
	require.Nil(t, cycle.Starts[1].Takes)
	require.NoError(t, c.SetNode(core.Node{Name: "n4", Capacity: nodeset.Capacity{Cores: 2}}))
	small("next", 1, func(s *core.JobSpec) { s.Exclusive, s.On = true, []string{"n1", "n4"} })
	text := windowOfCluster(t, c)
	again, err := core.ReadWindow(strings.NewReader(text), "w", core.ClusterOptions{Clock: clock.Now})
	require.NoError(t, err)
	require.Equal(t, text, windowOfCluster(t, again))
	require.Equal(t, c.Nodes(), again.Nodes())
	for _, c := range []*core.Cluster{c, again} {
		starts := decide(t, c).Starts
		require.Len(t, starts, 1)
		require.Equal(t, []string{"n4"}, nodesOf(starts[0]))
		require.NoError(t, c.Ended("alone"))
		require.Len(t, decide(t, c).Starts, 2)
	}
	require.ErrorContains(t, c.SetNode(core.Node{Name: "n9", Resources: map[string]int64{"exclusive": 1}}), "is no further resource")

	// while a cycle decides, the first such job comes
	auction, err := core.NewAuction(core.Preset("none"), nil)
	require.NoError(t, err)
	policy := &meddler{auction, func() {}}
	c, err = core.NewCluster(core.ClusterOptions{Policy: policy, Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, c.SetNode(core.Node{Name: "n1", Capacity: nodeset.Capacity{Cores: 8}}))
	require.NoError(t, c.Submit(wholeNodes("a", 1)))
	policy.do = func() { small("first", 9, func(s *core.JobSpec) { s.Exclusive = true }) }
	require.Contains(t, decide(t, c).Dropped, "a")
	policy.do = func() {}
	require.Equal(t, "first", decide(t, c).Starts[0].Job)
}
