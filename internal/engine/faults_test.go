// SPDX-License-Identifier: BSD-3-Clause

package engine

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// twoJobs are two on a machine of two nodes, beside two that run.
func twoJobs() *Input {
	return &Input{
		Nodes:    []Node{{Cores: 8, FreeCores: 2, GPUs: 2, FreeGPUs: 1, Up: 1}, {Cores: 8, FreeCores: 8, Up: 1}},
		Running:  []Running{{End: 5, Segments: 1}, {End: 6, FirstSegment: 1, Segments: 1}},
		Segments: []Segment{{First: 0, Last: 0, Cores: 4, GPUs: 1}, {First: 0, Last: 0, Cores: 2}},
		Jobs: []Job{{Priority: 5, Cores: 4, TimeLimit: 9, Mask: 0},
			{Priority: 5, Cores: 4, MinNodes: 1, MaxNodes: 2, TimeLimit: 9, Mask: -1}},
		Masks: []uint64{3}, MaskCount: 1, MaskWords: 1,
	}
}

// What is wrong with the nodes or with an array as such fails the cycle; the
// engine can be used again.
func TestInputFaults(t *testing.T) {
	var out Output
	for want, spoil := range map[string]func(in *Input){
		"nodes: 0: there must be 1 to 1048576":                func(in *Input) { in.Nodes = nil },
		"nodes[1].free_cores: 9: must be at most its 8 cores": func(in *Input) { in.Nodes[1].FreeCores = 9 },
		"nodes[0].gpus: 16: must be at most 15":               func(in *Input) { in.Nodes[0].GPUs = 16 },
		"nodes[1].free_gpus: 1: must be at most its 0 GPUs":   func(in *Input) { in.Nodes[1].FreeGPUs = 1 },
		"mask_words: 2: must be 1 for 2 nodes":                func(in *Input) { in.MaskWords = 2 },
		"masks: 0: words for 1 masks of 1":                    func(in *Input) { in.Masks = nil },
		"masks: 1048577: there must be at most":               func(in *Input) { in.MaskCount = MaxJobs + 1 },
		"deadline: -1ns: must be 0 to 1h0m0s":                 func(in *Input) { in.Deadline = -1 },
		"alternatives: 8388609: there must be at most": func(in *Input) {
			in.Alternatives = make([]Alternative, 1+MaxJobs*MaxAlternatives)

		},
	} {
		in := twoJobs()
		spoil(in)
		e := open(t, "")
		err := e.Cycle(in, &out)
		require.ErrorContains(t, err, want)
		var fault *InputError
		require.ErrorAs(t, err, &fault)
		require.Empty(t, out.Decisions)
		require.NoError(t, e.Cycle(twoJobs(), &out), "the engine can be used again")
		require.NoError(t, check(twoJobs(), &out))
	}
}

// decideInSpite is a cycle on in, which has one fault, of job number first or of none of the queue,
// in these words. Its decisions are sound, and the engine goes on.
func decideInSpite(t *testing.T, e *Engine, in *Input, first int, words string) *Output {
	t.Helper()
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.ErrorContains(t, out.Fault, words)
	var fault *InputError
	require.ErrorAs(t, out.Fault, &fault)
	require.Equal(t, []int{1, first}, []int{out.Faults, out.FirstFault}, words)
	return &out
}

// A job with a fault is left out, and the other one starts.
func TestFaultsOfOneJob(t *testing.T) {
	for want, spoil := range map[string]func(in *Input){
		"jobs[1].priority: 0: must be 1 to 1099511627776": func(in *Input) { in.Jobs[1].Priority = 0 },
		"jobs[0].priority: 1099511627777: must be": func(in *Input) {
			in.Jobs[0].Priority = MaxPriority + 1

		},
		"jobs[0].cores: 0: must be at least 1":        func(in *Input) { in.Jobs[0].Cores = 0 },
		"jobs[0].cores: 2147483648: must be at most":  func(in *Input) { in.Jobs[0].Cores = 1 << 31 },
		"jobs[0].min_nodes: 1048577: must be at most": func(in *Input) { in.Jobs[0].MinNodes = MaxNodes + 1 },
		"jobs[1].max_nodes: 1: is below min_nodes, 2": func(in *Input) {
			in.Jobs[1].MinNodes, in.Jobs[1].MaxNodes = 2, 1

		},
		"jobs[0].cores: 4: is below min_nodes, 5": func(in *Input) { in.Jobs[0].MinNodes = 5 },
		"jobs[0].cores_per_node: 3: must be 0: the job takes no core": func(in *Input) {
			in.Jobs[0].Cores, in.Jobs[0].CoresPerNode = 0, 3
		},
		"jobs[0].cores_per_node: 3: does not divide its 4 cores":                   func(in *Input) { in.Jobs[0].CoresPerNode = 3 },
		"jobs[1].cores_per_node: 1: puts its 4 cores on 4 nodes instead of 1 to 2": func(in *Input) { in.Jobs[1].CoresPerNode = 1 },
		"jobs[0].cores_per_node: 65536: must be at most 65535": func(in *Input) {
			in.Jobs[0].Cores, in.Jobs[0].CoresPerNode = 1<<17, 1<<16

		},
		"jobs[0].time_limit: 0: must be at least 1": func(in *Input) { in.Jobs[0].TimeLimit = 0 },
		"jobs[0].max_gpus: 1: is below min_gpus, 2": func(in *Input) {
			in.Jobs[0].MinGPUs, in.Jobs[0].MaxGPUs = 2, 1

		},
		"jobs[0].flags: 2: has unknown bits":                               func(in *Input) { in.Jobs[0].Flags = 2 },
		"jobs[0].reserved: 1: must be 0":                                   func(in *Input) { in.Jobs[0].Reserved = 1 },
		"jobs[1].mask: -2: must be -1, or the index of one of the 1 masks": func(in *Input) { in.Jobs[1].Mask = -2 },
		"jobs[0].mask: 1: must be -1, or":                                  func(in *Input) { in.Jobs[0].Mask = 1 },
	} {
		in, odd := twoJobs(), 0
		if spoil(in); want[:len("jobs[0]")] == "jobs[1]" {
			odd = 1
		}
		e := open(t, "")
		out := decideInSpite(t, e, in, odd, want)
		require.Equal(t, 1, out.LeftOut)
		require.Equal(t, Faulty, out.Decisions[odd].Why, want)
		require.Equal(t, Starts, out.Decisions[1-odd].Why, want)
		require.NoError(t, e.Cycle(twoJobs(), out))
		require.Equal(t, []int{0, 0, -1, 2}, []int{out.Faults, out.LeftOut, out.FirstFault, out.Starts})
		require.NoError(t, out.Fault)
	}
}

// What core.Verify would refuse of a job is a fault of it: uses that are sound by themselves may
// not go with the range of GPUs, whatever the settings are. The others start.
func TestFaultsOfUsesWithARange(t *testing.T) {
	for _, settings := range []string{"", "preset=default", "preset=short", "preset=throughput", "keep_holes=yes"} {
		for _, alternative := range []bool{false, true} {
			in := &Input{
				Nodes: []Node{{Cores: 8, FreeCores: 8, GPUs: 3, FreeGPUs: 3, Up: 1}}, Resources: 1, Amounts: []Amount{{100, 100}},
				Jobs: []Job{{Priority: 1, Cores: 2, TimeLimit: 10, MinGPUs: 1, MaxGPUs: 2, Mask: -1},
					{Priority: 1, Cores: 1, TimeLimit: 10, Mask: -1}},
			}
			uses, array := []Use{{PerCore: 1, PerGPU: 1}}, "jobs"
			if in.JobUses = uses; alternative {
				array = "alternatives"
				in.JobUses, in.AlternativeUses = nil, uses
				in.Alternatives = []Alternative{{Cores: 1, MinGPUs: 1, MaxGPUs: 3, Mask: -1}}
			}
			e := open(t, settings)
			out := decideInSpite(t, e, in, 0, array+"[0].uses: 0: used by core and by GPU, and the number of GPUs is a range")
			require.Equal(t, []uint8{Faulty, Starts}, whys(out), settings)
			in.Jobs[0].MaxGPUs = 1
			if alternative {
				in.Alternatives[0].MaxGPUs = 1
			}
			require.NoError(t, e.Cycle(in, out))
			require.Zero(t, out.Faults, "a number of GPUs is no range")
		}
	}
}

// A number of nodes that cores on each node say has no upper bound that would be too high.
func TestSegmentsBelowAnyNumberOfNodes(t *testing.T) {
	for _, most := range []uint32{0, 2, MaxNodes, 1<<32 - 1} {
		in := twoJobs()
		in.Jobs = []Job{{Priority: 5, Cores: 4, CoresPerNode: 2, Segment: 2, MaxNodes: most, TimeLimit: 9, Mask: -1}}
		var out Output
		require.NoError(t, open(t, "").Cycle(in, &out))
		require.Equal(t, []int{0, 1}, []int{out.Faults, out.Starts}, "at most %d", most)
	}
}

// Where priorities and the order differ the order counts: one odd number doesn't cost
// the others their part.
func TestPrioritiesOutOfOrder(t *testing.T) {
	in := &Input{Nodes: []Node{{Cores: 8, FreeCores: 8, Up: 1}}}
	for _, priority := range []uint64{1, 100, 99} {
		in.Jobs = append(in.Jobs, Job{Priority: priority, Cores: 4, TimeLimit: 9, Mask: -1})
	}
	var out Output
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.NoError(t, check(in, &out))
	require.Equal(t, []uint8{Starts, Starts, WaitsReserved}, []uint8{out.Decisions[0].Why, out.Decisions[1].Why, out.Decisions[2].Why})
	require.Equal(t, []int{2, 0, 1}, []int{out.Faults, out.LeftOut, out.FirstFault})
	require.EqualError(t, out.Fault, "jobs[1].priority: 100: is above 1, that of the job before it, and is taken as that")
}

// What a running job with a fault holds stays where it is; nobody waits for it to end.
func TestFaultsOfRunningJobs(t *testing.T) {
	for want, spoil := range map[string]func(in *Input){
		"running[1].segments: 2: with first_segment 1, these go beyond the 2": func(in *Input) {
			in.Running[1].Segments = 2

		},
		"running[0].segments: 4294967295: with first_segment 4294967295": func(in *Input) {
			in.Running[0] = Running{FirstSegment: 1<<32 - 1, Segments: 1<<32 - 1}

		},
		"running_segments[0].last: 2: there are 2 nodes": func(in *Input) {
			in.Segments[0].Last = 2

		},
		"running_segments[1].last: 0: is before first, 1": func(in *Input) {
			in.Segments[1].First = 1

		},
		"running_segments[1].bin: 1: the job has no share": func(in *Input) {
			in.Segments[1].Bin = 1

		},
		"running_segments[1].first: 0: the job's last segment ends at 0": func(in *Input) {
			in.Running = []Running{{Segments: 2}}

		},
		"running_segments[1].cores: 3: node 0 has 8 cores, of which 2 are free and others hold 4": func(in *Input) {
			in.Segments[1].Cores = 3

		},
		"running_segments[1].gpus: 1: node 0 has 2 GPUs, of which 1 are free and others hold 1": func(in *Input) {
			in.Segments[1].GPUs = 1

		},
		"running[2].segments: 1: more in all than the 2 running_segments: jobs share some": func(in *Input) {
			in.Nodes[0].FreeCores = 0
			in.Segments[0].Cores, in.Segments[0].GPUs = 1, 0
			in.Running = []Running{{Segments: 1}, {Segments: 1}, {Segments: 1}}
		},
	} {
		in := twoJobs()
		spoil(in)
		out := decideInSpite(t, open(t, ""), in, -1, want)
		require.Zero(t, out.LeftOut)
		require.Equal(t, 2, out.Starts)
	}
	in := &Input{Nodes: []Node{{Cores: 8, Up: 1}}, Running: []Running{{End: 9, Segments: 1}}, Segments: []Segment{{Cores: 8, Bin: 1}},
		Jobs: []Job{{Priority: 1, Cores: 4, TimeLimit: 9, Mask: -1}}}
	out := decideInSpite(t, open(t, "reservations=1"), in, -1, "running_segments[0].bin: 1")
	require.Equal(t, Decision{Why: WaitsFit}, out.Decisions[0], "no end is known at which it could start")
}

// The first fault of a job is told before one of a running job, which comes before it.
func TestTheFirstFault(t *testing.T) {
	in := twoJobs()
	in.Segments[0].Bin, in.Jobs[1].Flags, in.Jobs[0].Cores = 1, 4, 1<<31
	var out Output
	require.NoError(t, open(t, "").Cycle(in, &out))
	require.EqualError(t, out.Fault, "jobs[0].cores: 2147483648: must be at most 2147483647")
	require.Equal(t, []int{3, 2, 0}, []int{out.Faults, out.LeftOut, out.FirstFault})
}

// Faults cost the cycle no memory each: one is told, however many jobs have one.
func TestManyFaults(t *testing.T) {
	race.Skip(t, "it counts allocations")
	allocs := func(jobs int) float64 {
		in, e := twoJobs(), open(t, "")
		in.Jobs = slices.Repeat([]Job{{Priority: 5, Cores: 3000, CoresPerNode: 7000, TimeLimit: 9, Mask: -1}}, jobs)
		in.Running = slices.Repeat([]Running{{Segments: 3000}}, jobs)
		in.Alternatives = slices.Repeat([]Alternative{{Job: 1 << 20}}, jobs)
		var out Output
		return testing.AllocsPerRun(5, func() {
			require.NoError(t, e.Cycle(in, &out))
			require.Equal(t, []int{3 * jobs, jobs}, []int{out.Faults, out.LeftOut})
		})
	}
	few := allocs(10)
	require.Less(t, few, 100.0)
	require.InDelta(t, few, allocs(1000), 5)
}

// soundRequest is what the header says of a request's numbers, on a machine with so many masks.
func soundRequest(cores, least, most, each uint32, lowGPUs, highGPUs, flags, reserved uint8, mask int32, masks int) bool {
	ranged := cores <= 1<<31-1 && (cores == 0 || least <= cores) && least <= 1<<20 && (most == 0 || most >= least)
	if cores == 0 {
		ranged = ranged && each == 0
	} else if each > 0 {
		nodes := cores / each
		ranged = ranged && each <= 1<<16-1 && cores%each == 0 && nodes >= least && (most == 0 || nodes <= most)
	}
	return ranged && lowGPUs <= highGPUs && flags <= 1 && reserved == 0 && mask >= -1 && int(mask) < masks
}

// soundShare is what the header says of a request's share of a GPU.
func soundShare(in *Input, share, nodes uint32, gpus uint8) bool {
	return share == 0 || len(in.ShareSizes) > 0 && share <= 1<<31-1 && nodes == 1 && gpus == 0
}

// takesSomething says whether element i of those with these uses takes something of each node.
func takesSomething(cores, share uint32, lowGPUs uint8, uses []Use, i int) bool {
	return cores > 0 || share > 0 || lowGPUs > 0 || slices.ContainsFunc(uses, func(u Use) bool { return int(u.Of) == i && u.PerNode > 0 })
}

// soundUses says whether what element i of those with these uses takes by core and by GPU is known.
func soundUses(cores uint32, lowGPUs, highGPUs uint8, uses []Use, i int) bool {
	return cores == 0 || lowGPUs == highGPUs ||
		!slices.ContainsFunc(uses, func(u Use) bool { return int(u.Of) == i && u.PerCore > 0 && u.PerGPU > 0 })
}

// soundBelow says whether so many cores and nodes can be what a job demands of switches.
func soundBelow(j *Job, cores, least, most, each uint32) bool {
	nodes, fixed := least, least == most
	if each > 0 {
		nodes, fixed = cores/each, true
	}
	return j.Switches <= 1<<20 && (j.Segment < 2 || fixed && nodes > 0 && nodes%uint32(j.Segment) == 0)
}

// sound says whether job i has no fault, nor any of its alternatives.
func sound(in *Input, i int) bool {
	j := &in.Jobs[i]
	if j.Priority < 1 || j.Priority > 1<<40 || j.TimeLimit < 1 ||
		!soundRequest(j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode, j.MinGPUs, j.MaxGPUs, j.Flags, j.Reserved, j.Mask, in.MaskCount) ||
		!soundBelow(j, j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode) ||
		!soundShare(in, j.Share, j.MaxNodes, j.MaxGPUs) ||
		!takesSomething(j.Cores, j.Share, j.MinGPUs, in.JobUses, i) || !soundUses(j.Cores, j.MinGPUs, j.MaxGPUs, in.JobUses, i) {
		return false
	}
	count, highest := 0, uint32(0) // the highest job that an alternative before has named
	for k, a := range in.Alternatives {
		if int(a.Job) == i {
			count++
			if a.Job < highest || count > 8 ||
				!soundRequest(a.Cores, a.MinNodes, a.MaxNodes, a.CoresPerNode, a.MinGPUs,
					a.MaxGPUs, a.Flags, a.Reserved, a.Mask, in.MaskCount) ||
				!soundBelow(j, a.Cores, a.MinNodes, a.MaxNodes, a.CoresPerNode) ||
				!soundShare(in, a.Share, a.MaxNodes, a.MaxGPUs) ||
				!takesSomething(a.Cores, a.Share, a.MinGPUs, in.AlternativeUses, k) ||
				!soundUses(a.Cores, a.MinGPUs, a.MaxGPUs, in.AlternativeUses, k) {
				return false
			}
		}
		if int(a.Job) < len(in.Jobs) {
			highest = max(highest, a.Job)
		}
	}
	return true
}

// withAny is a machine with jobs and alternatives of any bytes, between sound ones: n of them are
// as random says, or nearly sound.
func withAny(rng *rand.Rand, data []byte) *Input {
	in := randomInput(rng, 40, 12)
	in.Deadline = 20 * time.Millisecond
	size := int(unsafe.Sizeof(Job{}))
	for ; len(data) > size; data = data[size:] {
		var j Job
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&j)), size), data)
		at := rng.IntN(len(in.Jobs))
		switch data[0] % 4 {
		case 0:
			in.Jobs[at] = j
		case 1: // one field is off
			k := rng.IntN(size)
			unsafe.Slice((*byte)(unsafe.Pointer(&in.Jobs[at])), size)[k] = data[1]
		case 2:
			in.Alternatives = slices.Insert(in.Alternatives, rng.IntN(len(in.Alternatives)+1),
				Alternative{uint32(at), j.Cores, j.MinNodes, j.MaxNodes, j.CoresPerNode,
					j.MinGPUs, j.MaxGPUs, j.Flags, j.Reserved, j.Mask, j.Share})
		default:
			if len(in.Alternatives) > 0 {
				k := rng.IntN(len(in.Alternatives))
				unsafe.Slice((*byte)(unsafe.Pointer(&in.Alternatives[k])),
					unsafe.Sizeof(Alternative{}))[rng.IntN(int(unsafe.Sizeof(Alternative{})))] = data[1]
			}
		}
	}
	return in
}

// inSpite has an engine decide on jobs of any kind: the cycle never fails, those with a fault are
// told and never start, and the others take part.
func inSpite(t require.TestingT, e *Engine, in *Input) (faulty int) {
	var out Output
	require.NoError(t, e.Cycle(in, &out))
	require.NoError(t, check(in, &out))
	for i, d := range out.Decisions {
		require.Equal(t, sound(in, i), d.Why != Faulty, "job %d: %+v", i, in.Jobs[i])
		if d.Why == Faulty {
			faulty++
		}
	}
	require.Equal(t, faulty, out.LeftOut)
	require.GreaterOrEqual(t, out.Faults, faulty)
	return faulty
}

// Users can't turn the cycle off: 10^4 jobs and alternatives of any kind.
func TestAnyJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	e, faulty := open(t, "work=10000"), 0
	for range race.Fewer(2000) {
		data := make([]byte, int(unsafe.Sizeof(Job{}))*(1+rng.IntN(10)))
		for i := range data {
			data[i] = byte(rng.Uint32() & rng.Uint32())
		}
		faulty += inSpite(t, e, withAny(rng, data))
	}
	require.Greater(t, faulty, race.Fewer(2000))
}

func FuzzJobs(f *testing.F) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 10 {
		data := make([]byte, rng.IntN(500))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data, rng.Uint64(), uint8(rng.Uint32()))
	}
	engines := anySettings(f)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, kind uint8) {
		inSpite(t, engines[int(kind)%len(engines)], withAny(rand.New(rand.NewPCG(seed, 1)), data))
	})
}

// A cycle is refused by the lengths of its arrays, before it takes memory for them; what is not
// refused takes less than was thought. Masks and leaves are those that could take most.
func TestMemory(t *testing.T) {
	race.Skip(t, "it counts bytes")
	in := twoJobs()
	in.Nodes = slices.Repeat(in.Nodes[1:], 64*300)
	in.Running, in.Segments = nil, nil
	in.MaskCount, in.MaskWords = 20_000, 300
	in.Masks = make([]uint64, in.MaskCount*in.MaskWords)
	small, large := open(t, "memory_mb=128"), open(t, "memory_mb=512 work=100000")
	spent := func(e *Engine) (bytes uint64, err error) {
		var before, after runtime.MemStats
		var out Output
		runtime.ReadMemStats(&before)
		err = e.Cycle(in, &out)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	bytes, err := spent(small)
	require.EqualError(t, err, "memory_mb: 128: arrays of these lengths may take 279 MB")
	var fault *InputError
	require.ErrorAs(t, err, &fault)
	require.Less(t, bytes, uint64(1<<16))
	bytes, err = spent(large)
	require.NoError(t, err)
	require.Less(t, bytes, uint64(262<<20))

	in.Masks, in.MaskCount, in.MaskWords = nil, 0, 0
	in.Jobs[0].Mask = -1
	in.Leaves = make([]uint32, len(in.Nodes))
	for n := range in.Leaves {
		in.Leaves[n] = uint32(n)
		in.Switches = append(in.Switches, Switch{Parent: NoSwitch})
	}
	_, err = spent(small)
	require.ErrorContains(t, err, "memory_mb: 128: arrays of these lengths may take")
}

// What a cycle is thought to take is more than it takes, for machines and queues of all shapes.
func TestMemoryIsEnough(t *testing.T) {
	race.Slow(t)
	for _, settings := range []string{"", "preset=throughput", "reservations=64 keep_holes=yes", "window=100000 depth=100000"} {
		for _, size := range [][3]int{{16, 2000, 0}, {4000, 50, 0}, {2000, 50, 20}, {1000, 1000, 1}} {
			in := largeInput(size[0], size[1])
			in.Resources, in.Deadline = size[2], time.Second
			in.Amounts = slices.Repeat([]Amount{{100, 100}}, size[2]*size[0])
			e := open(t, "work=10000 "+settings)
			var before, after runtime.MemStats
			var out Output
			runtime.ReadMemStats(&before)
			require.NoError(t, e.Cycle(in, &out))
			runtime.ReadMemStats(&after)
			require.Less(t, float64(after.TotalAlloc-before.TotalAlloc), 1<<20+in.memory(&e.settings.Auction),
				"%s, %d nodes, %d jobs, %d resources", settings, size[0], size[1], size[2])
		}
	}
}
