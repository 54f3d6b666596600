package partition

import (
	"strings"
	"testing"
	"time"

	"github.com/aucsched/aucsched/invasive"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func small() Settings {
	return DefaultSettings(invasive.Partition{Name: "invasic", Nodes: 2, Sockets: 2, CoresPerSocket: 2})
}

// negotiate maps a job onto the first offer, as the parts say.
func (r *rig) negotiate(t *testing.T, job *invasive.Job, parts ...invasive.Part) {
	t.Helper()
	for range 20 {
		m := r.next()
		if m == nil {
			r.tick()
			if m = r.next(); m == nil {
				break
			}
		}
		if m.Kind == invasive.ResourceOffer {
			r.reply(m, true, []invasive.Mapping{{Job: job, Parts: parts}}, 1)
			continue
		}
		if m.Kind == invasive.NegotiationEnd {
			r.reply(m, false, nil, 0)
			break
		}
		r.reply(m, false, nil, 1)
	}
	r.tick()
	require.Empty(t, r.errs)
}

func job(id invasive.JobID, flex invasive.Flex, least, most uint32) *invasive.Job {
	return &invasive.Job{ID: id, Flex: flex, MinCores: least, MaxCores: most}
}

func urgent(id invasive.JobID, least, most uint32) *invasive.Message {
	j := job(id, invasive.Moldable, least, most)
	j.Urgent = true
	return &invasive.Message{Kind: invasive.UrgentJob, Job: j}
}

// An urgent job has malleable jobs shrink first, then others suspended, and kills only if that is allowed and
// nothing else helps; what was taken comes back.
func TestUrgent(t *testing.T) {
	tests := []struct {
		name  string
		first *invasive.Job
		set   func(*Settings)
		least uint32
		want  string // what is done when it comes
		after string // and when it has its cores, and has ended
	}{
		{"free cores are enough", job(1, invasive.Rigid, 4, 4), nil, 4, "job 9 starts on [4 5 6 7]", ""},
		{"a malleable job shrinks", job(1, invasive.Malleable, 2, 8), nil, 4,
			"job 1 is asked for [4 5 6 7], way 1", "job 9 starts on [4 5 6 7]; job 1 gets [4 5 6 7]"},
		{"it can't shrink enough", job(1, invasive.Malleable, 6, 8), nil, 4,
			"job 1 is asked for [0 1 2 3 4 5 6 7], way 2", "job 9 starts on [0 1 2 3]; job 1 gets [0 1 2 3 4 5 6 7]"},
		{"a rigid job is suspended", job(1, invasive.Rigid, 8, 8), nil, 4,
			"job 1 is asked for [0 1 2 3 4 5 6 7], way 2", "job 9 starts on [0 1 2 3]; job 1 gets [0 1 2 3 4 5 6 7]"},
		{"none may be suspended", job(1, invasive.Rigid, 8, 8), func(s *Settings) { s.MaxSuspended = 0 }, 4, "", ""},
		{"then one is killed", job(1, invasive.Rigid, 8, 8), func(s *Settings) { s.MaxSuspended, s.Kill = 0, true }, 4,
			"job 1 is asked for [0 1 2 3 4 5 6 7], way 3", "job 9 starts on [0 1 2 3]"},
		{"it is too large", job(1, invasive.Rigid, 8, 8), func(s *Settings) { s.Kill = true }, 9, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := small()
			if test.set != nil {
				test.set(&set)
			}
			r, err := newRig(set, 3)
			require.NoError(t, err)
			cores := test.first.MaxCores
			parts := []invasive.Part{{Node: 0, Cores: min(4, cores)}}
			if cores > 4 {
				parts = append(parts, invasive.Part{Node: 1, Cores: cores - 4})
			}
			r.negotiate(t, test.first, parts...)
			require.Len(t, r.jobs[1].cores, int(cores))

			r.acts, r.sent = nil, nil
			r.hear(urgent(9, test.least, test.least))
			assert.Equal(t, test.want, strings.Join(r.acts, "; "))
			require.NotEmpty(t, r.sent)
			assert.Equal(t, test.want != "", r.sent[len(r.sent)-1].Accept)
			if test.after == "" {
				return
			}
			r.acts = nil
			r.obey(1)
			r.exit(9)
			r.tick()
			assert.Equal(t, test.after, strings.Join(r.acts, "; "))
			assert.Empty(t, r.errs)
		})
	}
}

// A job that refuses to shrink is suspended, at once, and not asked to shrink again for a while.
func TestRefusal(t *testing.T) {
	r, err := newRig(small(), 3)
	require.NoError(t, err)
	r.negotiate(t, job(1, invasive.Malleable, 1, 8), invasive.Part{Node: 0, Cores: 4}, invasive.Part{Node: 1, Cores: 4})
	r.hear(urgent(9, 2, 2))
	r.acts = nil
	r.refuse(1)
	assert.Equal(t, []string{"job 1 is asked for [0 1 2 3 4 5 6 7], way 2"}, r.acts)
	assert.Empty(t, r.errs)
}

// An evolving job gets what it wishes for, if it is free.
func TestWish(t *testing.T) {
	r, err := newRig(small(), 3)
	require.NoError(t, err)
	r.negotiate(t, job(1, invasive.Evolving, 1, 6), invasive.Part{Node: 0, Cores: 2})
	r.acts = nil
	r.tick()
	assert.Empty(t, r.acts, "it hasn't asked")
	r.m.Wish(r.h, 1, 5, r.now)
	r.tick()
	assert.Equal(t, []string{"job 1 gets [2 3 4]"}, r.acts)
}

// Offers grow with the attempts: free cores, then what malleable jobs can spare, then what ends in time.
func TestOffers(t *testing.T) {
	set := small()
	r, err := newRig(set, 5)
	require.NoError(t, err)
	first := job(1, invasive.Malleable, 2, 4)
	first.Limit = 100
	r.negotiate(t, first, invasive.Part{Node: 0, Cores: 4})
	r.now += 10 * time.Second
	r.hear(&invasive.Message{Kind: invasive.RequestResourceOffer, Pending: 1})
	r.tick()
	want := [][]invasive.Part{
		{{Node: 1, Cores: 4}},
		{{Node: 1, Cores: 4}, {Node: 0, Cores: 2, Delay: 1}},
		{{Node: 1, Cores: 4}, {Node: 0, Cores: 2, Delay: 1}, {Node: 0, Cores: 2, Delay: 90}},
	}
	for _, parts := range want {
		m := r.next()
		require.Equal(t, invasive.ResourceOffer, m.Kind)
		assert.Equal(t, parts, m.Offer.Parts)
		r.reply(m, false, nil, 1)
	}
}

// A mapping is judged by what is there, by idle cores, by spread and by power.
func TestJudge(t *testing.T) {
	wide := []invasive.Part{{Node: 0, Cores: 1}, {Node: 1, Cores: 1}, {Node: 2, Cores: 1}}
	tests := []struct {
		name    string
		set     func(*Settings)
		mapping []invasive.Mapping
		why     string
	}{
		{"good", nil, []invasive.Mapping{{Job: job(1, invasive.Rigid, 4, 4), Parts: []invasive.Part{{Node: 0, Cores: 4}}}}, ""},
		{"nothing", nil, nil, ""},
		{"idle", nil, []invasive.Mapping{{Job: job(1, invasive.Moldable, 2, 16), Parts: []invasive.Part{{Node: 0, Cores: 2}}}},
			"14 of 16 cores are left idle though moldable jobs could use them"},
		{"a malleable job can grow later", nil, []invasive.Mapping{{Job: job(1, invasive.Malleable, 2, 16), Parts: []invasive.Part{{Node: 0, Cores: 2}}}}, ""},
		{"scattered", nil, []invasive.Mapping{{Job: job(1, invasive.Rigid, 3, 3), Parts: wide}}, "jobs are scattered over 3 nodes, 1 would do"},
		{"power", func(s *Settings) { s.Power, s.MaxSpread = Power{Node: 100, Core: 10, Cap: 250}, 1000 },
			[]invasive.Mapping{{Job: job(1, invasive.Rigid, 3, 3), Parts: wide}}, "330 W are more than the cap of 250 W"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := small()
			set.Partition.Nodes = 4
			if test.set != nil {
				test.set(&set)
			}
			r, err := newRig(set, 5)
			require.NoError(t, err)
			r.reply(r.next(), false, nil, 1)
			r.next()
			r.tick()
			ev := r.m.judge(test.mapping, 0)
			assert.Equal(t, test.why == "", ev.Accept)
			assert.Equal(t, test.why, ev.Text)
		})
	}
}

func TestSettings(t *testing.T) {
	tests := []struct {
		change func(*Settings)
		err    string
	}{
		{func(s *Settings) {}, ""},
		{func(s *Settings) { s.Partition.Nodes = 0 }, "partition invasic: 0 nodes of 2 sockets of 2 cores: must each be at least 1"},
		{func(s *Settings) { s.OfferJobs = 0 }, "jobs of an offer 0: must be 1 to 16384"},
		{func(s *Settings) { s.Repeat = 0 }, "repeat 0s: must be more than 0"},
		{func(s *Settings) { s.MaxSpread = 99 }, "spread 99%: must be at least 100%"},
		{func(s *Settings) { s.Power = Power{Node: 100, Core: 5, Cap: 104} }, "power cap 104 W: a node with one core draws 105 W"},
	}
	for _, test := range tests {
		s := small()
		test.change(&s)
		if _, err := New(s); test.err == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, test.err)
		}
	}
}
