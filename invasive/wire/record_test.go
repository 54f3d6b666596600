// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"testing"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func genRecord(t *rapid.T) invasive.Record {
	r := invasive.Record{Op: invasive.Op(rapid.IntRange(1, 4).Draw(t, "op"))}
	if r.Op == invasive.Add {
		r.Job, r.Parts = genJob(t), genParts(t, false)
		return r
	}
	r.ID = invasive.JobID(rapid.Uint64Range(1, 1<<63).Draw(t, "id"))
	switch r.Op {
	case invasive.Own:
		for c := range rapid.Uint32Range(0, 5).Draw(t, "cores") {
			r.Cores = append(r.Cores, 3*c)
		}
	case invasive.End:
		r.Exit = rapid.Int32().Draw(t, "exit")
	}
	return r
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genRecord(t)
		b, err := AppendRecord(nil, &want)
		require.NoError(t, err)
		got, err := ParseRecord(b)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestRecordFaults(t *testing.T) {
	for _, c := range []struct {
		name, want string
		in         *pb.Record
	}{
		{"nothing", "unknown op 0", &pb.Record{}},
		{"great op", "unknown op 900", &pb.Record{Op: 900, Id: 1}},
		{"no job", "op 1 without a job", &pb.Record{Op: 1}},
		{"bad job", "field job.id is 0", &pb.Record{Op: 1, Job: &pb.Job{}}},
		{"no id", "op 3 without an id", &pb.Record{Op: 3}},
		{"cores twice", "not ascending", &pb.Record{Op: 2, Id: 1, Cores: []uint32{1, 1}}},
	} {
		b, err := proto.Marshal(c.in)
		require.NoError(t, err)
		_, err = ParseRecord(b)
		require.ErrorContains(t, err, c.want, c.name)
	}
}

func FuzzParseRecord(f *testing.F) {
	for i := range 4 {
		r := rapid.Custom(genRecord).Example(i)
		b, _ := AppendRecord(nil, &r)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseRecord(b)
		if err != nil {
			return
		}
		again, err := AppendRecord(nil, &r)
		require.NoError(t, err)
		same, err := ParseRecord(again)
		require.NoError(t, err)
		require.Equal(t, r, same)
	})
}

func TestMappingSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &invasive.Message{Kind: invasive.ResponseResourceOffer, Transaction: 1, Attempt: 1, Accept: true}
		without, err := Append(nil, m, invasive.IScheduler, DefaultLimit)
		require.NoError(t, err)
		m.Map = []invasive.Mapping{{Job: genJob(t), Parts: genParts(t, false)}, {Job: genJob(t), Parts: genParts(t, false)}}
		for i := range m.Map {
			for k := range m.Map[i].Parts {
				m.Map[i].Parts[k].Delay = 0
			}
		}
		with, err := Append(nil, m, invasive.IScheduler, DefaultLimit)
		require.NoError(t, err)
		// The length of the whole, in front, may take some bytes more.
		require.InDelta(t, len(with)-len(without), MappingSize(&m.Map[0])+MappingSize(&m.Map[1]), 3)
	})
}
