// SPDX-License-Identifier: BSD-3-Clause

package generate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// espType is a row of the table of ESP-2 jobs in ipsched, figure 3(a).
type espType struct {
	name     string
	share    float64 // of all cores of the machine
	count    int
	duration int64 // s
}

var espTypes = [...]espType{
	{"A", 0.03125, 75, 257}, {"B", 0.06250, 9, 341}, {"C", 0.50000, 3, 536}, {"D", 0.25000, 3, 601},
	{"E", 0.50000, 3, 312}, {"F", 0.06250, 9, 1846}, {"G", 0.12500, 6, 1321}, {"H", 0.15820, 6, 1078},
	{"I", 0.03125, 24, 1438}, {"J", 0.06250, 24, 715}, {"K", 0.09570, 15, 495}, {"L", 0.12500, 36, 369},
	{"M", 0.25000, 15, 192},
}

// espFull are the jobs Z, which want all cores and have no twin with GPUs.
var espFull = espType{"Z", 1, 2, 100}

const (
	espGPUs    = 2  // of each node, for the twins
	espInitial = 50 // jobs at the start
)

// What ipsched, section V, says of the submissions, and what it leaves open.
const (
	// DefaultESPMeanGap is the mean of the gaps between submissions in seconds.
	DefaultESPMeanGap = 30
	// DefaultESPGapDeviation is their standard deviation in seconds, of which the
	// paper is silent: a third of the mean, so that hardly a gap (one in 741) would be negative
	// and has to be taken as 0. The 406 gaps come to 203 minutes within 4.
	DefaultESPGapDeviation = 10
)

// DefaultESPFullAt are the seconds at which the two jobs Z are submitted: minutes 80
// and 240. The paper names these and says that it doubled the earliest times; they are
// taken for the doubled ones. For twice as much again, the second would come after
// 480 minutes, when by the utilisations of tables V and VI (0.88 and more of 6.06 h of
// work) all was over in 413. That they come after all other jobs cannot hold as well,
// for minute 80: the 406 gaps take 203 minutes.
var DefaultESPFullAt = [2]int64{80 * 60, 240 * 60}

// ESPOptions are the parameters of [ESP]. A zero field has the default said with it.
type ESPOptions struct {
	// Nodes is the machine; it has no default.
	Nodes []nodeset.Capacity
	// Seed chooses the order of the jobs, the gaps and the deviations of the sizes,
	// each of them independently of what the other options say.
	Seed uint64
	// Jitter is the most by which the number of cores of a job deviates from its
	// share of the machine, to either side (0; 4 in ipsched, experiments 7 and 8).
	Jitter int
	// MeanGap and GapDeviation are of the Gaussian gaps between submissions, in
	// seconds (DefaultESPMeanGap, DefaultESPGapDeviation). A negative gap is 0.
	MeanGap, GapDeviation float64
	// FullAt are the seconds at which the jobs Z are submitted (DefaultESPFullAt).
	FullAt *[2]int64
	// LimitFactor is the time limit as a multiple of the duration, at least 1
	// (DefaultLimitFactor); the limit is rounded up to whole minutes, in which
	// Slurm counts. The paper is silent; its jobs slept for what the table says.
	LimitFactor float64
}

func espGenerators() []generator {
	with := func(jitter int) func([]nodeset.Capacity, uint64) (*workload.Workload, error) {
		return func(nodes []nodeset.Capacity, seed uint64) (*workload.Workload, error) {
			return ESP(ESPOptions{Nodes: nodes, Seed: seed, Jitter: jitter})
		}
	}
	return []generator{{"esp", with(0)}, {"esp-rand", with(4)}}
}

// ESP generates the workload of ipsched, section V: the jobs of ESP-2, those of
// the types A to M once as they are and once with 2 GPUs on every node that they
// use, and the two of type Z: 458 jobs. Their numbers of cores are shares of all cores
// of the machine. IDs are type and number, with a "g" for the twins: "A7", "A7g".
//
// Jobs ask for cores and no nodes. How many GPUs a twin takes therefore depends on
// how its cores are spread, as under srun -n N --gres=gpu:2 (ipsched, section II);
// in a Request that is Cores with MinGPUs and no nodes. A machine whose nodes
// with 2 GPUs cannot hold every twin is an error, as is an option out of range.
func ESP(o ESPOptions) (*workload.Workload, error) {
	all, err := o.settle()
	if err != nil {
		return nil, fmt.Errorf("esp workload: %w", err)
	}
	w := &workload.Workload{Name: GeneratorPrefix + "esp"}
	if o.Jitter > 0 {
		w.Name += "-rand"
	}
	jitter := rand.New(rand.NewPCG(o.Seed, 1))
	for _, t := range espTypes {
		for i := range t.count {
			w.Jobs = append(w.Jobs, o.job(t, i, 0, all, jitter), o.job(t, i, espGPUs, all, jitter))
		}
	}
	o.submit(w.Jobs)
	for i := range espFull.count {
		z := o.job(espFull, i, 0, all, jitter)
		z.Submit = o.FullAt[i]
		w.Jobs = append(w.Jobs, z)
	}
	slices.SortStableFunc(w.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	workload.AssignBasicPriorities(w.Jobs)
	return w, nil
}

// job is number i of a type, without its submission.
func (o *ESPOptions) job(t espType, i, gpus int, all [espGPUs + 1]int, jitter *rand.Rand) workload.Job {
	var j workload.Job
	if j.ID = fmt.Sprintf("%s%d", t.name, i+1); gpus > 0 {
		j.ID += "g"
	}
	j.Cores, j.MinGPUs = t.cores(all[0])+jitter.IntN(2*o.Jitter+1)-o.Jitter, gpus
	j.Cores = min(max(j.Cores, 1), all[gpus])
	j.Duration, j.TimeLimit = t.duration, timeLimit(t.duration, o.LimitFactor)
	return j
}

func (t *espType) cores(all int) int { return max(int(math.Round(t.share*float64(all))), 1) }

// submit puts jobs in a random order and says when they come.
func (o *ESPOptions) submit(jobs []workload.Job) {
	order, gaps := rand.New(rand.NewPCG(o.Seed, 2)), rand.New(rand.NewPCG(o.Seed, 3))
	order.Shuffle(len(jobs), func(i, k int) { jobs[i], jobs[k] = jobs[k], jobs[i] })
	now := 0.0
	for i := espInitial; i < len(jobs); i++ {
		now += max(o.MeanGap+float64(gaps.NormFloat64()*o.GapDeviation), 0)
		jobs[i].Submit = int64(now)
	}
}

// settle fills in the defaults and checks the options. It returns the cores of the
// machine, by the GPUs that their nodes have at least.
func (o *ESPOptions) settle() (all [espGPUs + 1]int, err error) {
	if o.MeanGap == 0 && o.GapDeviation == 0 {
		o.MeanGap, o.GapDeviation = DefaultESPMeanGap, DefaultESPGapDeviation
	}
	at := DefaultESPFullAt
	setDefault(&o.FullAt, &at)
	setDefault(&o.LimitFactor, DefaultLimitFactor)
	const most = 1 << 20 // s
	switch {
	case o.Jitter < 0 || o.Jitter > 1<<20:
		return all, fmt.Errorf("jitter: %d: must be in 0..%d cores", o.Jitter, 1<<20)
	case !(o.MeanGap >= 0 && o.MeanGap <= most):
		return all, fmt.Errorf("mean gap: %v s: must be in 0..%d", o.MeanGap, most)
	case !(o.GapDeviation >= 0 && o.GapDeviation <= most):
		return all, fmt.Errorf("deviation of the gaps: %v s: must be in 0..%d", o.GapDeviation, most)
	case min(o.FullAt[0], o.FullAt[1]) < 0 || max(o.FullAt[0], o.FullAt[1]) > 1<<31:
		return all, fmt.Errorf("submissions of the jobs Z: %d s: must be in 0..%d", *o.FullAt, int64(1<<31))
	}
	if err := checkLimitFactor(o.LimitFactor); err != nil {
		return all, err
	}
	return o.machine()
}

func (o *ESPOptions) machine() (all [espGPUs + 1]int, err error) {
	if all[0], err = allCores(o.Nodes); err != nil {
		return all, err
	}
	for _, c := range o.Nodes {
		for g := 1; g <= min(int(c.GPUs), espGPUs); g++ {
			all[g] = min(all[g]+int(c.Cores), all[0])
		}
	}
	for _, t := range espTypes {
		if need := t.cores(all[0]); need > all[espGPUs] {
			return all, fmt.Errorf("the nodes with %d GPUs have %d cores in all, jobs of type %s with GPUs need %d",
				espGPUs, all[espGPUs], t.name, need)
		}
	}
	return all, nil
}
