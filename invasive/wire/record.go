// SPDX-License-Identifier: BSD-3-Clause

package wire

import (
	"fmt"
	"slices"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/wire/pb"
	"google.golang.org/protobuf/proto"
)

// AppendRecord appends a line of a journal to a slice, without any framing, and returns it.
func AppendRecord(to []byte, r *invasive.Record) ([]byte, error) {
	p := &pb.Record{Op: uint32(r.Op), Parts: each(r.Parts, encodePart), Id: uint64(r.ID), Cores: r.Cores, Exit: r.Exit}
	if r.Job != nil {
		p.Job = encodeJob(r.Job)
	}
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend(to, p)
}

// ParseRecord reads what AppendRecord wrote. It returns an error if a field is out of its range.
func ParseRecord(b []byte) (invasive.Record, error) {
	var p pb.Record
	if err := proto.Unmarshal(b, &p); err != nil {
		return invasive.Record{}, err
	}
	r := invasive.Record{
		Op: invasive.Op(narrow(p.Op)), Job: decodeJob(p.Job), Parts: each(p.Parts, decodePart),
		ID: decodeID(p.Id), Cores: slices.Clip(p.Cores), Exit: p.Exit,
	}
	switch r.Op {
	case invasive.Add:
		if r.Job == nil {
			return r, fmt.Errorf("op %d without a job", r.Op)
		}
		return r, r.Job.Check()
	case invasive.Own, invasive.End, invasive.Remove:
		if r.ID == 0 {
			return r, fmt.Errorf("op %d without an id", r.Op)
		}
	default:
		return r, fmt.Errorf("unknown op %d", p.Op)
	}
	for i, c := range r.Cores {
		if c >= invasive.MaxCores || i > 0 && r.Cores[i-1] >= c {
			return r, fmt.Errorf("cores are not ascending below %d: %d", invasive.MaxCores, c)
		}
	}
	return r, nil
}
