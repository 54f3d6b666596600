// SPDX-License-Identifier: BSD-3-Clause

package invasive

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	job := func(change func(*Job)) *Job {
		j := &Job{ID: 1, Flex: Malleable, MinCores: 1, MaxCores: 2}
		change(j)
		return j
	}
	terms := func(change func(*Terms)) *Terms {
		t := &Terms{MinVersion: 1, MaxVersion: 1, Attempts: 1, Reply: time.Second, Report: time.Second, Partition: Partition{"p", 1, 1, 1}}
		change(t)
		return t
	}
	init := func(change func(*Terms)) Message {
		return Message{Kind: ResponseInitialise, Accept: true, Terms: terms(change)}
	}
	urgent := func(change func(*Job)) Message { return Message{Kind: UrgentJob, Job: job(change)} }
	offer := func(p ...Part) Message {
		return Message{Kind: ResourceOffer, Transaction: 1, Attempt: 1, Offer: &Offer{Parts: p}}
	}
	mapping := func(accept bool, m ...Mapping) Message {
		return Message{Kind: ResponseResourceOffer, Transaction: 1, Attempt: 1, Accept: accept, Map: m}
	}
	report := func(k ...JobStatus) Message { return Message{Kind: StatusReport, Load: &Load{}, Known: k} }
	one := []Part{{Cores: 1}}
	for _, c := range []struct {
		field string // "" if it is right
		m     Message
	}{
		{"", Message{Kind: Finalise}},
		{"kind", Message{}},
		{"kind", Message{Kind: kinds}},
		{"text", Message{Kind: Finalise, Text: strings.Repeat("x", MaxText+1)}},
		{"text", Message{Kind: Finalise, Text: "\xff"}},
		// What doesn't belong to a kind, and what does.
		{"pending", Message{Kind: Finalise, Pending: 1}},
		{"acks", Message{Kind: Finalise, Acks: []JobID{1}}},
		{"job", Message{Kind: Finalise, Job: job(func(*Job) {})}},
		{"load", Message{Kind: Finalise, Load: &Load{}}},
		{"map", Message{Kind: Finalise, Map: []Mapping{{}}}},
		{"id", Message{Kind: Finalise, ID: 1}},
		{"accept", Message{Kind: Finalise, Accept: true}},
		{"known", Message{Kind: Finalise, Known: []JobStatus{{}}}},
		{"job", Message{Kind: UrgentJob}},
		{"id", Message{Kind: ResponseUrgentJob}},
		{"load", Message{Kind: StatusReport}},
		{"terms", Message{Kind: Initialise}},
		{"offer", Message{Kind: ResourceOffer, Transaction: 1, Attempt: 1}},
		{"transaction", Message{Kind: NegotiationEnd, Attempt: 1, Outcome: Agreed}},
		{"attempt", Message{Kind: NegotiationEnd, Transaction: 1, Outcome: Agreed}},
		{"outcome", Message{Kind: NegotiationEnd, Transaction: 1, Attempt: 1}},
		// Ranges.
		{"attempt", Message{Kind: NegotiationEnd, Transaction: 1, Attempt: MaxAttempts + 1, Outcome: Agreed}},
		{"outcome", Message{Kind: NegotiationEnd, Transaction: 1, Attempt: 1, Outcome: outcomes}},
		{"acks", Message{Kind: NegotiationStart, Acks: []JobID{0}}},
		{"acks", Message{Kind: NegotiationStart, Acks: make([]JobID, MaxJobs+1)}},
		{"load.free_cores", Message{Kind: StatusReport, Load: &Load{FreeCores: MaxCores + 1}}},
		{"load.busy", Message{Kind: StatusReport, Load: &Load{Busy: 1001}}},
		{"", init(func(*Terms) {})},
		{"terms.min_version", init(func(t *Terms) { t.MinVersion = 0 })},
		{"terms.max_version", init(func(t *Terms) { t.MaxVersion = 0 })},
		{"terms.max_version", init(func(t *Terms) { t.MaxVersion = 2 })},
		{"terms.attempts", init(func(t *Terms) { t.Attempts = 0 })},
		{"terms.attempts", init(func(t *Terms) { t.Attempts = MaxAttempts + 1 })},
		{"terms.reply_ms", init(func(t *Terms) { t.Reply = 0 })},
		{"terms.reply_ms", init(func(t *Terms) { t.Reply = MaxTimer + 1 })},
		{"terms.report_ms", init(func(t *Terms) { t.Report = time.Microsecond })},
		{"", init(func(t *Terms) { t.Shrink = MaxTimer })},
		{"terms.shrink_ms", init(func(t *Terms) { t.Shrink = MaxTimer + 1 })},
		{"terms.shrink_ms", Message{Kind: Initialise, Terms: terms(func(t *Terms) { t.Partition, t.Shrink = Partition{}, 1 })}},
		{"terms.partition", init(func(t *Terms) { t.Partition.Sockets = 0 })},
		{"terms.partition", init(func(t *Terms) { t.Partition.Nodes, t.Partition.CoresPerSocket = MaxCores, 2 })},
		{"terms.partition", init(func(t *Terms) { t.Partition = Partition{"", 1 << 31, 1 << 31, 4} })},
		{"terms.partition.name", init(func(t *Terms) { t.Partition.Name = strings.Repeat("x", MaxText+1) })},
		{"terms.partition", Message{Kind: Initialise, Terms: terms(func(*Terms) {})}},
		{"", urgent(func(*Job) {})},
		{"job.id", urgent(func(j *Job) { j.ID = 0 })},
		{"job.flex", urgent(func(j *Job) { j.Flex = flexes })},
		{"job.min_cores", urgent(func(j *Job) { j.MinCores = 0 })},
		{"job.max_cores", urgent(func(j *Job) { j.MinCores = 3 })},
		{"job.max_cores", urgent(func(j *Job) { j.Flex = Rigid })},
		{"job.max_cores", urgent(func(j *Job) { j.MaxCores = MaxCores + 1 })},
		{"job.max_nodes", urgent(func(j *Job) { j.MinNodes = 1 })},
		{"job.min_nodes", urgent(func(j *Job) { j.MinNodes = MaxCores + 1 })},
		{"job.limit_s", urgent(func(j *Job) { j.Limit = MaxSeconds + 1 })},
		{"job.args", urgent(func(j *Job) { j.Args = make([]string, MaxArgs+1) })},
		{"job.env", urgent(func(j *Job) { j.Env = make([]string, MaxArgs+1) })},
		{"job.args", urgent(func(j *Job) { j.Dir = strings.Repeat("x", MaxArgBytes+1) })},
		{"job.args", urgent(func(j *Job) { j.Args = []string{"a\x00b"} })},
		{"", offer(Part{Cores: 1, Delay: MaxSeconds})},
		{"", offer()},
		{"offer.parts.cores", offer(Part{})},
		{"offer.parts.node", offer(Part{Node: MaxCores, Cores: 1})},
		{"offer.parts.delay_s", offer(Part{Cores: 1, Delay: MaxSeconds + 1})},
		{"offer.parts", offer(make([]Part, MaxParts+1)...)},
		{"", mapping(true)},
		{"", mapping(true, Mapping{job(func(*Job) {}), one})},
		{"accept", mapping(false, Mapping{job(func(*Job) {}), one})},
		{"map.job", mapping(true, Mapping{nil, one})},
		{"map.parts", mapping(true, Mapping{job(func(*Job) {}), nil})},
		{"map.parts.delay_s", mapping(true, Mapping{job(func(*Job) {}), []Part{{Cores: 1, Delay: 1}}})},
		{"job.id", mapping(true, Mapping{job(func(j *Job) { j.ID = 0 }), one})},
		{"map", mapping(true, make([]Mapping, MaxJobs+1)...)},
		{"", report(JobStatus{ID: 1, State: Done})},
		{"known.id", report(JobStatus{State: Done})},
		{"known.state", report(JobStatus{ID: 1})},
		{"known.state", report(JobStatus{ID: 1, State: jobStates})},
		{"known.cores", report(JobStatus{ID: 1, State: Done, Cores: MaxCores + 1})},
		{"known", report(make([]JobStatus, MaxJobs+1)...)},
	} {
		err := c.m.Check()
		if c.field == "" {
			require.NoError(t, err)
			continue
		}
		var field *FieldError
		require.True(t, errors.As(err, &field), "%s: %v", c.field, err)
		require.Equal(t, c.field, field.Field)
	}
}
