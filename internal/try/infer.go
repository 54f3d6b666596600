// SPDX-License-Identifier: BSD-3-Clause

package try

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/place"
	"github.com/aucsched/aucsched/internal/slurm/conf"
	"github.com/aucsched/aucsched/internal/workload"
	"github.com/aucsched/aucsched/nodeset"
)

// errNoNodes is why a machine can't be inferred.
var errNoNodes = errors.New("no job says on which nodes it ran (column NodeList), so the machine can't be inferred: " +
	"give --conf slurm.conf, or the output of the command that aucsched try --how prints")

// amounts are what is used of a node.
type amounts [3]int64

const (
	cpus = iota
	mib  // of memory
	gpus
)

// seen is a node that the accounts name.
type seen struct {
	name       string
	partitions map[string]bool
	types      map[string]bool // of GPUs that its jobs asked for
	used, peak amounts
	class      *class
}

// class are nodes that share the letters of their names, and the partitions and types of GPUs of their jobs.
type class struct {
	partitions string
	nodes      []string
	peak       amounts
	types      map[string]bool
}

// run is a job on its nodes. Of each it takes no less than takes, and of one of them no less than most.
type run struct {
	job         *workload.Job
	nodes       []int
	takes, most amounts
}

// inference makes a machine of what jobs used at once.
type inference struct {
	nodes   []seen
	index   map[string]int
	runs    []run
	classes []*class
	most    int64            // CPUs in use at once
	unread  []workload.Tally // jobs whose NodeList can't be read
}

// infer has the machine be what the jobs used: each node has the most that was in use at once on any
// node of its class. A partition has the nodes that its jobs ran on. So the real machine is no smaller.
func infer(jobs []workload.Job) (*inference, error) {
	in := &inference{index: map[string]int{}}
	last := map[string]string{} // run of each job: the end of those before it may be wrong
	for i := range jobs {
		last[nameOf(&jobs[i])] = jobs[i].ID
	}
	for i := range jobs {
		j := &jobs[i]
		j.Past.Partition = cmp.Or(j.Past.Partition, "all")
		nodes, err := in.at(j.Past.Nodes)
		switch {
		case last[nameOf(j)] != j.ID:
		case err != nil:
			in.unread = workload.Count(in.unread, fmt.Sprintf("which nodes it had can't be read: NodeList: %v", err))
		case len(nodes) > 0 && j.Leaves == 0:
			in.ran(j, nodes)
		}
	}
	if len(in.nodes) == 0 {
		return nil, errNoNodes
	}
	in.sweep()
	in.classify()
	return in, nil
}

// nameOf is the job of a run: 12 of 12#2.
func nameOf(j *workload.Job) string {
	name, _, _ := strings.Cut(j.ID, "#")
	return name
}

// partitionOf is where the job ran: sacct may name several where it did not run yet.
func partitionOf(j *workload.Job) string {
	name, _, _ := strings.Cut(j.Past.Partition, ",")
	return name
}

// at are the numbers of the nodes of a NodeList; none for a job that has none.
func (in *inference) at(list string) ([]int, error) {
	if list == "" || list == "None assigned" || list == "(null)" {
		return nil, nil
	}
	if n, err := hostlist.Count(list); err != nil || n > nodeset.MaxNodes-len(in.nodes) {
		return nil, cmp.Or(err, fmt.Errorf("%.60q: more than %d nodes", list, nodeset.MaxNodes))
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return nil, err
	}
	nodes := make([]int, len(names))
	for k, name := range names {
		n, known := in.index[name]
		if !known {
			n = len(in.nodes)
			in.index[name] = n
			in.nodes = append(in.nodes, seen{name: name, partitions: map[string]bool{}, types: map[string]bool{}})
		}
		nodes[k] = n
	}
	return nodes, nil
}

func (in *inference) ran(j *workload.Job, nodes []int) {
	n := int64(len(nodes))
	most := amounts{cpus: (place.LeastCores(&j.Request) + n - 1) / n, gpus: int64(j.MinGPUs)}
	most[mib] = max(j.Memory.PerNode, j.Memory.PerCore*most[cpus])
	takes := most
	if n > 1 { // sacct does not say how it is divided
		takes[cpus], takes[mib] = 1, 0
	}
	for _, k := range nodes {
		in.nodes[k].partitions[partitionOf(j)] = true
		if j.Past.GPUType != "" {
			in.nodes[k].types[j.Past.GPUType] = true
		}
	}
	in.runs = append(in.runs, run{j, nodes, takes, most})
}

// sweep goes through starts and ends in their order, ends first, and notes what was in use at most.
func (in *inference) sweep() {
	type event struct {
		at, sign int64
		run      *run
	}
	events := make([]event, 0, 2*len(in.runs))
	for k := range in.runs {
		r := &in.runs[k]
		events = append(events, event{r.job.Past.Began, 1, r}, event{r.job.Past.Began + r.job.Duration, -1, r})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sign, b.sign)) })
	used := int64(0)
	for _, e := range events {
		for _, k := range e.run.nodes {
			n := &in.nodes[k]
			for what, amount := range e.run.takes {
				n.used[what] += e.sign * amount
				n.peak[what] = max(n.peak[what], n.used[what], e.run.most[what])
			}
		}
		used += e.sign * place.LeastCores(&e.run.job.Request)
		in.most = max(in.most, used)
	}
}

// classify sorts the nodes by their names, numbers by their values, and puts them into classes.
func (in *inference) classify() {
	slices.SortFunc(in.nodes, func(a, b seen) int {
		x, m := numbered(a.name)
		y, n := numbered(b.name)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(m, n), cmp.Compare(a.name, b.name))
	})
	known := map[[3]string]*class{}
	for i := range in.nodes {
		n := &in.nodes[i]
		letters, _ := numbered(n.name)
		list := func(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ",") }
		key := [3]string{letters, list(n.partitions), list(n.types)}
		c := known[key]
		if c == nil {
			c = &class{partitions: key[1], types: n.types}
			known[key], in.classes = c, append(in.classes, c)
		}
		n.class, c.nodes = c, append(c.nodes, n.name)
		for what, amount := range n.peak {
			c.peak[what] = max(c.peak[what], amount)
		}
	}
}

// numbered takes the number off the end of a name.
func numbered(name string) (prefix string, number uint64) {
	prefix = strings.TrimRight(name, "0123456789")
	number, _ = strconv.ParseUint(name[len(prefix):], 10, 64)
	return prefix, number
}

// machine makes it. The GPUs of a class have a type if all jobs that asked for one asked for the same.
func (in *inference) machine() (*conf.Machine, error) {
	m := &conf.Machine{}
	types, masks := map[string][]int64{}, map[string]nodeset.Mask{}
	for i := range in.nodes {
		n, peak := &in.nodes[i], in.nodes[i].class.peak
		if peak[cpus] > math.MaxUint16 || peak[gpus] > math.MaxUint8 || peak[mib] > nodeset.MaxAmount {
			return nil, fmt.Errorf("node %s: jobs used %d CPUs, %d MiB and %d GPUs of it at once: too much for a node, so the "+
				"machine can't be inferred: give --conf slurm.conf", n.name, peak[cpus], peak[mib], peak[gpus])
		}
		m.Names, m.Memory = append(m.Names, n.name), append(m.Memory, peak[mib])
		m.Nodes = append(m.Nodes, nodeset.Capacity{Cores: uint16(peak[cpus]), GPUs: uint8(peak[gpus])})
		if kind := n.class.kind(); kind != "" {
			if types[kind] == nil {
				types[kind] = make([]int64, len(in.nodes))
			}
			types[kind][i] = peak[gpus]
		}
		for name := range n.partitions {
			if masks[name] == nil {
				masks[name] = nodeset.NewMask(len(in.nodes))
			}
			masks[name].Set(i)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(types)) {
		m.Types, m.GPUs = append(m.Types, kind), append(m.GPUs, types[kind])
	}
	for _, name := range slices.Sorted(maps.Keys(masks)) {
		m.Partitions = append(m.Partitions, conf.Partition{Name: name, Nodes: masks[name], Tier: 1, JobFactor: 1})
	}
	return m, nil
}

// kind is the type of a class's GPUs; "" if there is none, or several.
func (c *class) kind() string {
	if len(c.types) != 1 {
		return ""
	}
	return slices.Collect(maps.Keys(c.types))[0]
}

// mostClasses is how many classes of nodes are listed.
const mostClasses = 12

// assumed says what was inferred, and how far it may be wrong.
func (in *inference) assumed() []string {
	words := []string{fmt.Sprintf("There is no slurm.conf. The nodes are taken from where jobs ran: %s. Each has the most that "+
		"jobs used at once of a node of its class (same letters in the name, same partitions, same types of GPUs).",
		cli.Count(len(in.nodes), "node"))}
	total := int64(0)
	for i, c := range in.classes {
		total += c.peak[cpus] * int64(len(c.nodes))
		if i == mostClasses {
			words = append(words, fmt.Sprintf("and %d more classes", len(in.classes)-mostClasses))
		}
		if i >= mostClasses {
			continue
		}
		list, err := hostlist.Compress(c.nodes)
		if err != nil {
			list = strings.Join(c.nodes, ",")
		}
		words = append(words, fmt.Sprintf("%s: %d CPUs, %.1f GiB, %s; partitions: %s", cli.Cell(list), c.peak[cpus],
			float64(c.peak[mib])/1024, strings.TrimSpace(cli.Count(c.peak[gpus], "GPU")+" "+c.kind()), cli.Cell(c.partitions)))
	}
	return append(words,
		fmt.Sprintf("At most %.0f%% of these CPUs were in use at once. The real machine may be larger by what nobody used: nodes "+
			"without a job, and parts of nodes that were never full. Then simulated jobs wait too long.",
			100*float64(in.most)/float64(max(total, 1))),
		"Also not known, and taken as Slurm's defaults: scheduler settings, limits and priority of partitions. Priorities stay as "+
			"recorded. --conf slurm.conf says all of this.")
}
