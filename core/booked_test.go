// SPDX-License-Identifier: BSD-3-Clause

package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/core"
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
			require.Equal(t, []any{core.Keeps, -1, int64(1800)}, []any{x.Rivals[0].Role, x.Rivals[0].Job, x.Rivals[0].At})
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
	require.EqualError(t, cycle.Dropped["a"], "job a: reservation: : it runs into reservation now")
	policy.do = func() {}
	require.Equal(t, midnight.Add(time.Minute), decide(t, c).Waiting[0].Expected)
}
