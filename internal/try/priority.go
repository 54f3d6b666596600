// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/core"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/workload"
)

// Slurm's defaults, in seconds.
const (
	defaultMaxAge     = 7 * 24 * 3600
	defaultCalcPeriod = 300
)

// factors are those of priority/multifactor that change as jobs wait: their age, and their users'
// fair share. What has changed since the accounts' priorities were reckoned (see ranked) is known.
// Age is by slurm.conf (set_priority_factors of priority_multifactor.c), fair share by other jobs
// of the association that were ranked about then. Other parts of a priority stay.
type factors struct {
	age, maxAge, period int64
	// weights of fair share, size and partition
	fair, size, partition int64
	favorSmall, relative  bool
	noNormalPartition     bool
	nodes, cpus           int64
	parts                 map[string]*conf.Partition
	mostFactor            int64 // of partitions
	shares                map[association]series
}

// association is whose fair share a job counts for. QOS is part of it since what that adds is not
// known.
type association struct{ user, account, qos string }

func associationOf(j *workload.Job) association {
	return association{j.User, j.Past.Account, j.Past.QOS}
}

// series is what an association's fair share added to priorities, at some times, in their order.
type series []sample

type sample struct {
	at    int64
	value float64
}

// at is the value at a time, between those that are known.
func (s series) at(time int64) float64 {
	k, found := slices.BinarySearchFunc(s, time, func(x sample, t int64) int { return cmp.Compare(x.at, t) })
	switch {
	case found:
		return s[k].value
	case k == 0:
		return s[0].value
	case k == len(s):
		return s[k-1].value
	}
	a, b := s[k-1], s[k]
	return a.value + (b.value-a.value)*float64(time-a.at)/float64(b.at-a.at)
}

// readFactors takes what slurm.conf says; nil where priorities do not change.
func readFactors(c *conf.Conf, m *conf.Machine) (*factors, error) {
	kind, _, _ := c.Last("PriorityType")
	if !strings.EqualFold(strings.TrimPrefix(kind, "priority/"), "multifactor") {
		return nil, nil
	}
	f := &factors{maxAge: defaultMaxAge, period: defaultCalcPeriod, nodes: int64(len(m.Nodes)),
		parts: map[string]*conf.Partition{}, mostFactor: 1}
	for key, to := range map[string]*int64{"PriorityWeightAge": &f.age, "PriorityWeightFairshare": &f.fair,
		"PriorityWeightJobSize": &f.size, "PriorityWeightPartition": &f.partition} {
		if err := setting(c, key, to, func(text string) (int64, error) {
			n, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return 0, fmt.Errorf("must be a whole number from 0 to %d", uint32(math.MaxUint32))
			}
			return int64(n), nil
		}); err != nil {
			return nil, err
		}
	}
	for key, to := range map[string]*int64{"PriorityMaxAge": &f.maxAge, "PriorityCalcPeriod": &f.period} {
		if err := setting(c, key, to, func(text string) (int64, error) {
			n, err := conf.Minutes(text)
			if err == nil && n < 1 {
				err = errors.New("must be at least a minute")
			}
			return n * 60, err
		}); err != nil {
			return nil, err
		}
	}
	small, _, _ := c.Last("PriorityFavorSmall")
	flags, _, _ := c.Last("PriorityFlags")
	flags = strings.ToUpper(flags)
	f.favorSmall, f.relative = strings.EqualFold(small, "YES"), strings.Contains(flags, "SMALL_RELATIVE_TO_TIME")
	f.noNormalPartition = strings.Contains(flags, "NO_NORMAL_PART") || strings.Contains(flags, "NO_NORMAL_ALL")
	for _, n := range m.Nodes {
		f.cpus += int64(n.Cores)
	}
	for i := range m.Partitions {
		x := &m.Partitions[i]
		f.parts[x.Name], f.mostFactor = x, max(f.mostFactor, x.JobFactor)
	}
	return f, nil
}

// setting reads a value of slurm.conf, if it is there.
func setting(c *conf.Conf, key string, to *int64, parse func(string) (int64, error)) error {
	text, line, given := c.Last(key)
	if !given {
		return nil
	}
	n, err := parse(text)
	if err != nil {
		return &conf.Error{File: line.File, Line: line.Number, Field: key, Value: text, Err: err}
	}
	*to = n
	return nil
}

// ranked says of each job when the accounts had its priority: as their record of it was made, which
// as_mysql_job_start does not change later. That is when it came, or, of a task that was split from
// its array, when it began. The last task of an array has the array's own record.
func (p *Past) ranked() {
	last := map[string]int64{} // task of an array; those that are left without a number are last
	for i := range p.Jobs {
		if array, task, ok := taskOf(&p.Jobs[i]); ok {
			last[array] = max(last[array], task)
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		j.Past.Came, j.Past.Ranked = j.Submit, j.Submit
		if array, task, ok := taskOf(j); ok && task < last[array] {
			j.Past.Ranked = j.Past.Began
		}
	}
}

// taskOf takes the name of an array's task apart, 12_3 or 12_[4-9]; what ran once more, 12_3#2, has
// a record of its own.
func taskOf(j *workload.Job) (array string, task int64, ok bool) {
	array, number, ok := strings.Cut(j.ID, "_")
	if !ok || strings.Contains(number, "#") {
		return "", 0, false
	}
	task, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		task = math.MaxInt64
	}
	return array, task, true
}

// reckoned is when the priority that a job had at a time was reckoned: as it came, or in the last
// period (_decay_thread). When these began is not known.
func (f *factors) reckoned(j *workload.Job, time int64) int64 {
	return max(j.Past.Came, time/f.period*f.period)
}

// aged is what age adds at a time.
func (f *factors) aged(j *workload.Job, time int64) float64 {
	return float64(f.age) * min(max(float64(time-j.Past.Came), 0)/float64(f.maxAge), 1)
}

// sized is what size and partition add.
func (f *factors) sized(j *workload.Job) float64 {
	nodes, cpus, all, total := float64(max(j.MinNodes, 1)), float64(place.LeastCores(&j.Request)), float64(f.nodes), float64(f.cpus)
	size := (nodes/all + cpus/total) / 2
	if f.relative {
		size = max(nodes*total/all, cpus) / max(float64(j.TimeLimit/60), 1) / total
	}
	if f.favorSmall {
		size = 1 - size
	}
	value := float64(f.size) * min(max(size, 0), 1)
	if x := f.parts[partitionOf(j)]; x != nil && f.noNormalPartition {
		value += float64(f.partition * x.JobFactor)
	} else if x != nil {
		value += float64(f.partition) * float64(x.JobFactor) / float64(f.mostFactor)
	}
	return value
}

// learn finds the fair shares that the jobs' priorities show.
func (f *factors) learn(jobs []workload.Job) {
	if f.fair == 0 {
		return
	}
	type sum struct {
		value float64
		n     int
	}
	sums := map[association]map[int64]sum{}
	for i := range jobs {
		j := &jobs[i]
		if j.Priority <= 1 || j.Priority >= core.MaxPriority {
			continue // held
		}
		of, at := associationOf(j), f.reckoned(j, j.Past.Ranked)
		if sums[of] == nil {
			sums[of] = map[int64]sum{}
		}
		x := sums[of][at]
		sums[of][at] = sum{x.value + float64(j.Priority) - f.aged(j, at) - f.sized(j), x.n + 1}
	}
	f.shares = map[association]series{}
	for of, by := range sums {
		for at, x := range by {
			f.shares[of] = append(f.shares[of], sample{at, x.value / float64(x.n)})
		}
		slices.SortFunc(f.shares[of], func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	}
}

// Priority implements [sim.Priorities]: what the accounts have, less what age and fair share added
// then, and with what they add now.
func (f *factors) Priority(j *workload.Job, now int64) int64 {
	if j.Priority >= core.MaxPriority {
		return j.Priority
	}
	tier, own := j.Priority>>tierBits, j.Priority&(1<<tierBits-1)
	then, at := f.reckoned(j, j.Past.Ranked), f.reckoned(j, now)
	value := float64(own) + f.aged(j, at) - f.aged(j, then)
	if s := f.shares[associationOf(j)]; len(s) > 0 {
		value += s.at(at) - s.at(then)
	}
	return tier<<tierBits + int64(min(max(math.Round(value), 1), 1<<tierBits-1))
}

// tierBits is how many a priority of Slurm has.
const tierBits = 32

// tiers puts what jobs' partitions rank above priorities: sort_job_queue2 goes by PriorityTier
// first.
func (p *Past) tiers() {
	var tiers []int64
	of := map[string]int64{}
	for i := range p.Machine.Partitions {
		x := &p.Machine.Partitions[i]
		of[x.Name] = x.Tier
		tiers = append(tiers, x.Tier)
	}
	slices.Sort(tiers)
	tiers = slices.Compact(tiers)
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Priority >= core.MaxPriority {
			continue
		}
		rank, _ := slices.BinarySearch(tiers, of[partitionOf(j)])
		j.Priority = min(j.Priority, 1<<tierBits-1) + int64(min(rank, 255))<<tierBits
	}
}
