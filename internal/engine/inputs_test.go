// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func open(t testing.TB, settings string) *Engine {
	t.Helper()
	e, err := New(settings, Options{})
	require.NoError(t, err)
	return e
}

// tableI is table I of ipsched.txt.
func tableI() *Input {
	in := &Input{Now: 1_000_000, Seed: 1, Jobs: []Job{
		{Priority: 30, Cores: 4096, TimeLimit: 600, Mask: -1},
		{Priority: 20, Cores: 2048, MinNodes: 512, MaxNodes: 512, TimeLimit: 600, MinGPUs: 2, MaxGPUs: 2, Mask: -1},
		{Priority: 10, Cores: 2048, MinNodes: 512, MaxNodes: 512, TimeLimit: 600, MinGPUs: 2, MaxGPUs: 2, Mask: -1},
	}}
	for range 1024 {
		in.Nodes = append(in.Nodes, Node{Cores: 8, FreeCores: 8, GPUs: 2, FreeGPUs: 2, Up: 1})
	}
	return in
}

// randomInput is a valid input of a machine that is partly in use.
func randomInput(rng *rand.Rand, nodes, jobs int) *Input {
	in := &Input{Now: 5000, Seed: rng.Uint64()}
	cores, gpus := rng.IntN(63)+2, rng.IntN(5)
	for range nodes {
		n := Node{Cores: uint16(cores), GPUs: uint8(gpus), Up: 1}
		if rng.IntN(50) == 0 {
			n.Up = 0
		}
		n.FreeCores, n.FreeGPUs = n.Cores, n.GPUs
		in.Nodes = append(in.Nodes, n)
	}
	for first := 0; first < nodes; {
		last := min(first+rng.IntN(nodes/8+1), nodes-1)
		if rng.IntN(3) > 0 {
			s := Segment{First: uint32(first), Last: uint32(last), Cores: uint16(rng.IntN(cores) + 1), GPUs: uint8(rng.IntN(gpus + 1))}
			for n := first; n <= last; n++ {
				in.Nodes[n].FreeCores -= s.Cores
				in.Nodes[n].FreeGPUs -= s.GPUs
			}
			in.Running = append(in.Running, Running{End: in.Now + rng.Int64N(5000) - 100,
				FirstSegment: uint32(len(in.Segments)), Segments: 1})
			in.Segments = append(in.Segments, s)
		}
		first = last + 1
	}
	words := (nodes + 63) / 64
	in.MaskCount, in.MaskWords = 2, words
	for i := range 2 * words {
		in.Masks = append(in.Masks, rng.Uint64()|rng.Uint64()<<uint(i))
	}
	for range jobs {
		in.Jobs = append(in.Jobs, randomJob(rng, nodes, cores, gpus))
	}
	slices.SortStableFunc(in.Jobs, func(a, b Job) int { return int(int64(b.Priority) - int64(a.Priority)) })
	for j := range in.Jobs {
		for range rng.IntN(9) - 5 {
			in.addAlternative(j, randomJob(rng, nodes, cores, gpus))
		}
	}
	if rng.IntN(2) == 0 {
		in.addResources(rng)
	}
	if rng.IntN(2) == 0 {
		in.addQuotas(rng)
	}
	switch rng.IntN(4) {
	case 0:
		in.addShares(rng)
	case 1:
		in.addPrices(rng)
	case 2:
		in.dropCores(rng)
	}
	return in
}

// dropCores has some of the jobs and alternatives that ask for GPUs, and of the running jobs, take
// no core.
func (in *Input) dropCores(rng *rand.Rand) {
	for i := range in.Jobs {
		if j := &in.Jobs[i]; j.MinGPUs > 0 && rng.IntN(3) == 0 {
			j.Cores, j.CoresPerNode = 0, 0
		}
	}
	for i := range in.Alternatives {
		if a := &in.Alternatives[i]; a.MinGPUs > 0 && rng.IntN(3) == 0 {
			a.Cores, a.CoresPerNode = 0, 0
		}
	}
	for i := range in.Segments {
		if s := &in.Segments[i]; rng.IntN(3) == 0 {
			for n := s.First; n <= s.Last; n++ {
				in.Nodes[n].FreeCores += s.Cores
			}
			s.Cores = 0
		}
	}
}

// addQuotas adds quotas, and what running jobs, jobs and alternatives count against them.
func (in *Input) addQuotas(rng *rand.Rand) {
	for range 1 + rng.IntN(4) {
		in.Quotas = append(in.Quotas, rng.Uint64N(200))
	}
	some := func(elements int) (charges []Charge) {
		for i := range elements {
			if q := rng.IntN(len(in.Quotas) + 1); q < len(in.Quotas) {
				charges = append(charges, Charge{uint32(i), uint32(q), rng.Uint64N(3), rng.Uint64N(3), rng.Uint64N(3), rng.Uint64N(3)})
			}
		}
		return charges
	}
	in.RunningCharges, in.JobCharges, in.AlternativeCharges = some(len(in.Running)), some(len(in.Jobs)), some(len(in.Alternatives))
}

// addResources adds further resources, and what running jobs, jobs and alternatives take of them.
func (in *Input) addResources(rng *rand.Rand) {
	in.Resources = 1 + rng.IntN(3)
	for range in.Resources * len(in.Nodes) {
		total := rng.Uint32N(300)
		in.Amounts = append(in.Amounts, Amount{total, total})
	}
	use := func(i int, fixed bool, most uint32) (uses []Use) {
		for r := range in.Resources {
			u := Use{Of: uint32(i), Resource: uint16(r), PerNode: rng.Uint32N(most)}
			switch rng.IntN(4) {
			case 0:
				continue
			case 1:
				u.PerCore = rng.Uint32N(most / 8)
			case 2:
				u.PerGPU = rng.Uint32N(most / 4)
			default:
				if fixed {
					u.PerCore, u.PerGPU = rng.Uint32N(most/8), rng.Uint32N(most/4)
				}
			}
			uses = append(uses, u)
		}
		return uses
	}
	for i := range in.Running {
		for _, u := range use(i, true, 40) {
			s := in.Segments[in.Running[i].FirstSegment]
			takes := u.PerNode + u.PerCore*uint32(s.Cores) + u.PerGPU*uint32(s.GPUs)
			row := in.Amounts[int(u.Resource)*len(in.Nodes):]
			if slices.ContainsFunc(row[s.First:s.Last+1], func(a Amount) bool { return a.Free < takes }) {
				continue
			}
			for n := s.First; n <= s.Last; n++ {
				row[n].Free -= takes
			}
			in.RunningUses = append(in.RunningUses, u)
		}
	}
	for i := range in.Jobs {
		in.JobUses = append(in.JobUses, use(i, in.Jobs[i].MinGPUs == in.Jobs[i].MaxGPUs, 100)...)
	}
	for i := range in.Alternatives {
		a := &in.Alternatives[i]
		in.AlternativeUses = append(in.AlternativeUses, use(i, a.MinGPUs == a.MaxGPUs, 100)...)
	}
}

// addAlternative has job j ask for what another one asks for, or else.
func (in *Input) addAlternative(j int, a Job) {
	in.Alternatives = append(in.Alternatives, Alternative{
		Job: uint32(j), Cores: a.Cores, MinNodes: a.MinNodes, MaxNodes: a.MaxNodes, CoresPerNode: a.CoresPerNode,
		MinGPUs: a.MinGPUs, MaxGPUs: a.MaxGPUs, Flags: a.Flags, Mask: a.Mask,
	})
}

func randomJob(rng *rand.Rand, nodes, cores, gpus int) Job {
	j := Job{
		Priority: rng.Uint64N(1<<32) + 1, TimeLimit: rng.Uint32N(5000) + 1, Mask: -1,
		MinGPUs: uint8(rng.IntN(gpus + 1)),
	}
	j.Waited = 7 * j.TimeLimit
	j.MaxGPUs = j.MinGPUs + uint8(rng.IntN(gpus+1-int(j.MinGPUs)))
	most := rng.IntN(max(nodes/8, 1)) + 1
	switch rng.IntN(3) {
	case 0:
		j.Cores = rng.Uint32N(uint32(cores*most)) + 1
	case 1:
		j.MinNodes = rng.Uint32N(uint32(most)) + 1
		j.MaxNodes = j.MinNodes + rng.Uint32N(3)
		j.Cores = j.MinNodes + rng.Uint32N(j.MinNodes*uint32(cores)+1)
	default:
		j.CoresPerNode = rng.Uint32N(uint32(cores)) + 1
		j.MinNodes = rng.Uint32N(uint32(most)) + 1
		j.MaxNodes = j.MinNodes
		j.Cores = j.MinNodes * j.CoresPerNode
	}
	if rng.IntN(8) == 0 {
		j.Flags = Contiguous
	}
	if rng.IntN(8) == 0 {
		j.Mask = int32(rng.IntN(2))
	}
	if rng.IntN(20) == 0 {
		j.TimeLimit = NoLimit
	}
	return j
}

// largeInput is a machine like Tsubame's, half in use.
func largeInput(nodes, jobs int) *Input {
	rng := rand.New(rand.NewPCG(7, uint64(nodes)))
	in := &Input{Now: 5000, Seed: 3}
	for range nodes {
		in.Nodes = append(in.Nodes, Node{Cores: 12, FreeCores: 12, GPUs: 3, FreeGPUs: 3, Up: 1})
	}
	for first := 0; first < nodes; {
		last := min(first+rng.IntN(16), nodes-1)
		if rng.IntN(2) == 0 {
			s := Segment{First: uint32(first), Last: uint32(last), Cores: uint16(rng.IntN(12) + 1), GPUs: uint8(rng.IntN(4))}
			for n := first; n <= last; n++ {
				in.Nodes[n].FreeCores -= s.Cores
				in.Nodes[n].FreeGPUs -= s.GPUs
			}
			in.Running = append(in.Running, Running{End: in.Now + rng.Int64N(5000), FirstSegment: uint32(len(in.Segments)), Segments: 1})
			in.Segments = append(in.Segments, s)
		}
		first = last + 1
	}
	for range jobs {
		in.Jobs = append(in.Jobs, randomJob(rng, nodes/4, 12, 3))
	}
	for i := range in.Jobs {
		in.Jobs[i].Mask = -1
	}
	slices.SortStableFunc(in.Jobs, func(a, b Job) int { return int(int64(b.Priority) - int64(a.Priority)) })
	return in
}
