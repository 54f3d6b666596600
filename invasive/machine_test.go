// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func kindsOf(list []Action) (k []ActionKind) {
	for _, a := range list {
		k = append(k, a.Kind)
	}
	return k
}

func only(list []Action, k ActionKind) (found []Action) {
	for _, a := range list {
		if a.Kind == k {
			found = append(found, a)
		}
	}
	return found
}

// linked returns an Agent in Idle that has seen the terms.
func linked(t *testing.T) *Agent {
	a := NewAgent(Terms{Attempts: 2, Reply: 5 * time.Second, Report: time.Second}, nil)
	terms := Terms{MinVersion: 1, MaxVersion: 1, Attempts: 2, Reply: 5 * time.Second, Report: time.Second}
	for _, ev := range []Event{
		{Kind: Start}, {Kind: Connected},
		{Kind: sends(ResponseInitialise), Msg: &Message{Kind: ResponseInitialise, Accept: true, Terms: &terms}},
		{Kind: sends(ResponseNegotiationStart), Msg: &Message{Kind: ResponseNegotiationStart}},
	} {
		a.Step(&ev, nil)
	}
	require.Equal(t, Idle, a.Phase())
	return a
}

// What a side itself does never puts off the end of its patience.
func TestSilentPeerCostsOneTimer(t *testing.T) {
	a := linked(t)
	job := func(id JobID, urgent bool) *Event {
		return &Event{Kind: Submit, Job: &Job{ID: id, MinCores: 1, MaxCores: 1, Urgent: urgent}}
	}
	out := a.Step(job(1, true), nil)
	require.Equal(t, []ActionKind{Save, Send, SetTimer}, kindsOf(out))
	require.Equal(t, 5*time.Second, out[2].After)
	for id := JobID(2); id < 10; id++ {
		require.Empty(t, only(a.Step(job(id, id%2 == 0), nil), SetTimer), "job %d", id)
	}
	report := &Event{Kind: sends(StatusReport), Msg: &Message{Kind: StatusReport, Load: &Load{}}}
	require.Empty(t, only(a.Step(report, nil), SetTimer), "reports don't answer for an urgent job")
	answer := &Event{Kind: sends(ResponseUrgentJob), Msg: &Message{Kind: ResponseUrgentJob, ID: 1, Accept: true}}
	require.Len(t, only(a.Step(answer, nil), SetTimer), 1, "an answer that is owed does")
	out = a.Step(&Event{Kind: Timeout}, nil)
	require.Equal(t, []ActionKind{Close, Connect}, kindsOf(out))
	require.Equal(t, Connecting, a.Phase())
}

func TestMissingReports(t *testing.T) {
	a := linked(t)
	report := &Event{Kind: sends(StatusReport), Msg: &Message{Kind: StatusReport, Load: &Load{}}}
	out := a.Step(report, nil)
	require.Equal(t, []ActionKind{SetTimer}, kindsOf(out))
	require.Equal(t, 3*time.Second, out[0].After)
	require.Equal(t, []ActionKind{Close, Connect}, kindsOf(a.Step(&Event{Kind: Timeout}, nil)))
}

func TestUrgentJobsAreBounded(t *testing.T) {
	a := linked(t)
	sent := 0
	for id := JobID(1); id <= MaxUrgent+5; id++ {
		sent += len(only(a.Step(&Event{Kind: Submit, Job: &Job{ID: id, MinCores: 1, MaxCores: 1, Urgent: true}}, nil), Send))
	}
	require.Equal(t, MaxUrgent, sent)
	out := a.Step(&Event{Kind: sends(ResponseUrgentJob), Msg: &Message{Kind: ResponseUrgentJob, ID: 3, Accept: true}}, nil)
	require.Equal(t, JobID(MaxUrgent+1), only(out, Send)[0].Msg.Job.ID, "the next one follows an answer")

	h := ready(t, nil, nil)
	for id := JobID(1); id <= MaxUrgent; id++ {
		require.Equal(t, []ActionKind{AskUrgent}, kindsOf(h.Step(urgentEvent(id), nil)))
	}
	out = h.Step(urgentEvent(99), nil)
	require.Equal(t, "too many jobs", only(out, Send)[0].Msg.Text)
	require.Equal(t, Violated, h.Step(urgentEvent(5), nil)[0].Kind, "a peer that asks twice loses the connection")
}

func urgentEvent(id JobID) *Event {
	return &Event{Kind: sends(UrgentJob), Msg: &Message{Kind: UrgentJob, Job: &Job{ID: id, MinCores: 1, MaxCores: 2, Urgent: true}}}
}

// ready returns a Hypervisor of 8 cores in Offered, after an offer of all.
func ready(t *testing.T, saved []Saved, seen []Seen) *Hypervisor {
	terms := Terms{MinVersion: 1, MaxVersion: 1, Attempts: 2, Reply: time.Second, Report: time.Second}
	wish := terms
	wish.Partition = Partition{Nodes: 2, Sockets: 2, CoresPerSocket: 2}
	h, _ := NewHypervisor(wish, saved, seen, nil)
	for _, ev := range []Event{
		{Kind: Start}, {Kind: Connected}, {Kind: sends(Initialise), Msg: &Message{Kind: Initialise, Terms: &terms}},
		{Kind: sends(NegotiationStart), Msg: &Message{Kind: NegotiationStart, Pending: 1}},
		{Kind: OfferMade, Offer: &Offer{Parts: []Part{{Node: 0, Cores: 4}, {Node: 1, Cores: 4}}, Jobs: 9}},
	} {
		h.Step(&ev, nil)
	}
	require.Equal(t, Offered, h.Phase())
	return h
}

func running(h *Hypervisor, id JobID, cores ...uint32) []Action {
	h.Step(urgentEvent(id), nil)
	h.Step(&Event{Kind: UrgentVerdict, ID: id, Accept: true}, nil)
	return h.Step(&Event{Kind: Place, ID: id, Cores: cores}, nil)
}

// The ledger ignores what would give a core to two jobs, or a job what it can't use.
func TestLedgerRefuses(t *testing.T) {
	h := ready(t, nil, nil)
	require.Equal(t, []ActionKind{Save, Launch}, kindsOf(running(h, 1, 0, 1)))
	for _, ev := range []Event{
		{Kind: Place, ID: 1, Cores: []uint32{2}},             // runs already
		{Kind: Place, ID: 9, Cores: []uint32{2}},             // is unknown
		{Kind: Give, ID: 1, Cores: []uint32{1}},              // its own
		{Kind: Give, ID: 1, Cores: []uint32{2}},              // more than it can use
		{Kind: Take, ID: 1, Cores: []uint32{2}, How: Shrink}, // not its own
		{Kind: Take, ID: 0, Cores: []uint32{2}, How: Shrink}, // nobody's
		{Kind: Take, ID: 1, Cores: nil, How: Shrink},         // nothing
		{Kind: Released, ID: 1, Cores: []uint32{7}},          // not its own
		{Kind: Exited, ID: 9},                                // is unknown
		{Kind: UrgentVerdict, ID: 1, Accept: true},           // was answered
		{Kind: Verdict, Accept: true},                        // was not asked
		{Kind: Decided},                                      // isn't its event
		{Kind: Connected},                                    // is connected
		{Kind: OfferMade, Offer: &Offer{}},                   // was not asked
	} {
		require.Empty(t, h.Step(&ev, nil), "%v %d %v", ev.Kind, ev.ID, ev.Cores)
	}
	h.Step(urgentEvent(2), nil)
	h.Step(&Event{Kind: UrgentVerdict, ID: 2, Accept: true}, nil)
	for _, cores := range [][]uint32{{1}, {0, 2}, {2, 3, 4}, {3, 2}, {2, 2}, {8}, {1 << 31}, {}} {
		require.Empty(t, h.Step(&Event{Kind: Place, ID: 2, Cores: cores}, nil), "%v", cores)
	}
	require.Equal(t, []JobID{1, 1, 0, 0, 0, 0, 0, 0}, h.Owners())
	require.Len(t, h.Step(&Event{Kind: Place, ID: 2, Cores: []uint32{3, 5}}, nil), 2)
	require.Equal(t, []JobID{1, 1, 0, 2, 0, 2, 0, 0}, h.Owners())
}

// Cores move from job to job only over their release.
func TestCoresMove(t *testing.T) {
	h := ready(t, nil, nil)
	running(h, 1, 0, 1)
	out := h.Step(&Event{Kind: Take, ID: 1, Cores: []uint32{1}, How: Shrink}, nil)
	require.Equal(t, []ActionKind{Reclaim}, kindsOf(out))
	require.Empty(t, h.Step(&Event{Kind: Take, ID: 1, Cores: []uint32{1}, How: Shrink}, nil), "asked already")
	require.Equal(t, JobID(1), h.Owners()[1], "still its own")
	require.Equal(t, []ActionKind{AskPlace}, kindsOf(h.Step(&Event{Kind: Kept, ID: 1}, nil)), "it refuses")
	h.Step(&Event{Kind: Take, ID: 1, Cores: []uint32{1}, How: Shrink}, nil)
	out = h.Step(&Event{Kind: Released, ID: 1, Cores: []uint32{1}}, nil)
	require.Equal(t, []ActionKind{Save, AskPlace}, kindsOf(out))
	require.Equal(t, Record{Op: Own, ID: 1, Cores: []uint32{0}}, out[0].Record)
	require.Empty(t, h.Step(&Event{Kind: Take, ID: 1, Cores: []uint32{0}, How: Shrink}, nil), "its last core can't be shrunk away")
	require.Len(t, h.Step(&Event{Kind: Take, ID: 1, Cores: []uint32{0}, How: Suspend}, nil), 1)
	require.Empty(t, h.Step(&Event{Kind: Give, ID: 1, Cores: []uint32{6}}, nil), "it would be left with this one alone")
	h.Step(&Event{Kind: Released, ID: 1, Cores: []uint32{0}}, nil)
	require.Equal(t, Suspended, h.Jobs(nil)[0].State)
	out = h.Step(&Event{Kind: Give, ID: 1, Cores: []uint32{6, 7}}, nil)
	require.Equal(t, []ActionKind{Save, Grow}, kindsOf(out))
	require.Equal(t, []JobID{0, 0, 0, 0, 0, 0, 1, 1}, h.Owners())
	out = h.Step(&Event{Kind: Exited, ID: 1, Exit: 3}, nil)
	require.Equal(t, []ActionKind{Save, AskPlace}, kindsOf(out))
	require.Equal(t, make([]JobID, 8), h.Owners())
	require.Equal(t, []JobStatus{{ID: 1, State: Done, Exit: 3}}, h.status())
}

func TestMappingBeyondTheOffer(t *testing.T) {
	job := func(id JobID, min, max uint32) *Job {
		return &Job{ID: id, Flex: Moldable, MinCores: min, MaxCores: max}
	}
	narrow := job(1, 1, 8)
	narrow.MinNodes, narrow.MaxNodes = 1, 1
	for name, c := range map[string]struct {
		m  []Mapping
		ok bool
	}{
		"empty":           {nil, true},
		"all":             {[]Mapping{{job(1, 8, 8), []Part{{Node: 0, Cores: 4}, {Node: 1, Cores: 4}}}}, true},
		"too much":        {[]Mapping{{job(1, 5, 5), []Part{{Node: 0, Cores: 5}}}}, false},
		"together":        {[]Mapping{{job(1, 3, 3), []Part{{Node: 0, Cores: 3}}}, {job(2, 2, 2), []Part{{Node: 0, Cores: 2}}}}, false},
		"other node":      {[]Mapping{{job(1, 1, 1), []Part{{Node: 2, Cores: 1}}}}, false},
		"less than least": {[]Mapping{{job(1, 3, 3), []Part{{Node: 0, Cores: 2}}}}, false},
		"more than most":  {[]Mapping{{job(1, 1, 2), []Part{{Node: 0, Cores: 3}}}}, false},
		"twice":           {[]Mapping{{job(1, 1, 1), []Part{{Node: 0, Cores: 1}}}, {job(1, 1, 1), []Part{{Node: 1, Cores: 1}}}}, false},
		"too many nodes":  {[]Mapping{{narrow, []Part{{Node: 0, Cores: 1}, {Node: 1, Cores: 1}}}}, false},
		"one node":        {[]Mapping{{narrow, []Part{{Node: 0, Cores: 1}, {Node: 0, Cores: 1}}}}, true},
	} {
		h := ready(t, nil, nil)
		out := h.Step(&Event{Kind: sends(ResponseResourceOffer),
			Msg: &Message{Kind: ResponseResourceOffer, Transaction: 1, Attempt: 1, Accept: true, Map: c.m}}, nil)
		require.Equal(t, c.ok, len(only(out, Violated)) == 0, name)
		require.Equal(t, c.ok, len(only(out, AskVerdict)) == 1, name)
		require.Equal(t, !c.ok, h.Phase() == Listening, name)
	}
}

// A full iHypervisor offers resources for no job, and so gets the acknowledgements that make room.
func TestRoom(t *testing.T) {
	h := ready(t, nil, nil)
	running(h, 1, 0)
	h.Step(&Event{Kind: Exited, ID: 1}, nil)
	h.most = 1
	require.Equal(t, "too many jobs", only(h.Step(urgentEvent(2), nil), Send)[0].Msg.Text)
	reject := &Message{Kind: ResponseResourceOffer, Transaction: 1, Attempt: 1}
	h.Step(&Event{Kind: sends(reject.Kind), Msg: reject}, nil)
	out := h.Step(&Event{Kind: OfferMade, Offer: &Offer{Parts: []Part{{Cores: 1}}, Jobs: 9}}, nil)
	require.Zero(t, only(out, Send)[0].Msg.Offer.Jobs)
	answer := &Message{Kind: ResponseResourceOffer, Transaction: 1, Attempt: 2, Accept: true, Acks: []JobID{1, 7}}
	out = h.Step(&Event{Kind: sends(answer.Kind), Msg: answer}, nil)
	require.Equal(t, JobID(1), only(out, Forget)[0].ID)
	require.Empty(t, h.Jobs(nil))

	// Words are bounded too, whatever the number of jobs.
	h = ready(t, nil, nil)
	taken := JobID(0)
	for ; taken < 2*maxWords/MaxArgBytes; taken++ {
		ev := urgentEvent(taken + 1)
		ev.Msg.Job.Dir = strings.Repeat("x", MaxArgBytes)
		if len(only(h.Step(ev, nil), AskUrgent)) == 0 {
			break
		}
		h.Step(&Event{Kind: UrgentVerdict, ID: taken + 1, Accept: true}, nil)
	}
	require.EqualValues(t, maxWords/MaxArgBytes, taken)
	running(h, 1, 0)
	h.Step(&Event{Kind: Place, ID: 1, Cores: []uint32{0}}, nil)
	h.Step(&Event{Kind: Exited, ID: 1}, nil)
	h.forget([]JobID{1})
	require.Len(t, only(h.Step(urgentEvent(taken+1), nil), AskUrgent), 1, "there is room again")
}

func TestRecover(t *testing.T) {
	job := func(id JobID) *Job { return &Job{ID: id, MinCores: 1, MaxCores: 4} }
	var saved []Saved
	for _, r := range []Record{
		{Op: Add, Job: job(3)}, {Op: Add, Job: job(1)}, {Op: Add, Job: job(2)},
		{Op: Add, Job: job(1)}, {Op: Add, Job: job(4)}, {Op: Add, Job: job(5)},
		{Op: Own, ID: 1, Cores: []uint32{0, 1}}, {Op: Own, ID: 2, Cores: []uint32{2}}, {Op: Own, ID: 3, Cores: []uint32{3}},
		{Op: Own, ID: 1, Cores: []uint32{1}}, {Op: End, ID: 4, Exit: 9}, {Op: Remove, ID: 77}, {Op: Own, ID: 77},
	} {
		saved = Replay(saved, r)
	}
	h, out := NewHypervisor(Terms{Partition: Partition{Nodes: 1, Sockets: 1, CoresPerSocket: 4}},
		saved, []Seen{{ID: 1}, {ID: 3, Exited: true, Exit: 2}}, nil)
	require.Equal(t, []ActionKind{Launch, Save, AskPlace}, kindsOf(out))
	require.Equal(t, JobID(2), out[0].ID, "it owned cores and was not launched")
	require.Equal(t, []JobID{0, 1, 2, 0}, h.Owners())
	require.Equal(t, []JobStatus{
		{ID: 1, State: Running, Cores: 1}, {ID: 2, State: Running, Cores: 1}, {ID: 3, State: Done, Exit: 2},
		{ID: 4, State: Done, Exit: 9}, {ID: 5, State: Accepted},
	}, h.status())
	require.Len(t, Replay(saved, Record{Op: Remove, ID: 4}), 4)
}

// The model's keys leave out nothing that the machines have: a change of any field changes the key,
// apart from those that are the same in all states of a model, or follow from others.
func TestKeysAndClones(t *testing.T) {
	fixed := []string{"wish", "table", "wrap", "most", "words", "agreed", "out", "line", "told", "finishing"}
	for _, machine := range []any{Agent{}, Hypervisor{}} {
		typ := reflect.TypeOf(machine)
		var names []string
		for i := range typ.NumField() {
			if n := typ.Field(i).Name; !slices.Contains(fixed, n) {
				names = append(names, n)
			}
		}
		want := map[string][]string{
			"Agent":      {"transaction", "attempt", "offer", "accepted", "jobs", "acks"},
			"Hypervisor": {"transaction", "attempt", "offer", "mapping", "jobs", "owner", "urgent"},
		}[typ.Name()]
		require.Equal(t, want, names, "a new field has to be in the model's key, and in Clone")
	}
	b := base("", malleable, pressing)
	b.crash, b.loss, b.report = true, true, true
	steps := 0
	var walk func(w world, depth int)
	walk = func(w world, depth int) {
		before := w.key()
		w.next(func(label string, to world) {
			if steps++; depth > 0 && steps < 20_000 {
				walk(to, depth-1)
			}
			require.Equal(t, before, w.key(), "%s changed the state before it", label)
		})
	}
	walk(newModel(&b), 9)
	require.Greater(t, steps, 1000)
}

func TestNames(t *testing.T) {
	for e := range events {
		if e > 0 {
			require.NotContains(t, "0123456789", e.String()[:1])
		}
	}
	for a := Send; a < actions; a++ {
		require.NotContains(t, "0123456789", a.String()[:1])
	}
	require.Equal(t, "99", fmt.Sprint(Phase(99)))
}
