// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Three views of who is where: of the crews themselves, of slurmctld, and of the kernel.
type views struct {
	ledgers   []ledger
	jobs      []Job
	cpus      map[string][2]int // of nodes: allocated, and in all
	processes []process
	cores     map[where][]int // by cpuset; none without cgroups
}

// where is a job on a node.
type where struct {
	job  uint32
	node string
}

// ledger is what a crew's lead that runs says it has: the file of --state.
type ledger struct {
	name   string // of the file
	lead   uint32
	places []ledgerPlace
}

type ledgerPlace struct {
	number int
	where
	leaving bool
	tasks   []int
}

// parseLedger reads a file of --state.
func parseLedger(name, text string) (l ledger, err error) {
	head, lines, _ := strings.Cut(text, "\n")
	if _, err := fmt.Sscanf(head, "# job %d at ", &l.lead); err != nil {
		return l, fmt.Errorf("%s: %q: %w", name, head, err)
	}
	l.name = name
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		if len(f) != 5 {
			return l, fmt.Errorf("%s: %q", name, line)
		}
		var p ledgerPlace
		if _, err := fmt.Sscan(f[0]+" "+f[2], &p.number, &p.job); err != nil {
			return l, fmt.Errorf("%s: %q: %w", name, line, err)
		}
		p.node, p.leaving = f[1], f[3] == "leaving"
		for task := range strings.SplitSeq(f[4], ",") {
			if n, err := strconv.Atoi(task); err == nil {
				p.tasks = append(p.tasks, n)
			}
		}
		l.places = append(l.places, p)
	}
	return l, nil
}

// process is one of a job's.
type process struct {
	where
	pid, parent int
	step        string
	task        int    // AUCSCHED_CREW_TASK; 0: none
	says        where  // by its environment
	state       string // the file of --state of the lead that this is
	member      bool   // of a companion
	orphan      bool   // it comes from no slurmstepd
}

// inCgroup is where Slurm puts a job's processes, with cgroups.
var inCgroup = regexp.MustCompile(`(?m)^\d+:freezer:.*/slurm_(n\d+)/(?:uid_\d+/)?job_(\d+)/step_(\w+)`)

// processes are those of the cluster's jobs.
func (c *Cluster) processes(cgroups bool) []process {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	parents, daemons := map[int]int{}, map[int]bool{}
	var found []process
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		rest := string(stat[bytes.LastIndexByte(stat, ')')+1:])
		var state string
		var parent int
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil {
			continue
		}
		parents[pid] = parent
		line, _ := os.ReadFile(dir + "/cmdline")
		daemons[pid] = bytes.HasPrefix(line, []byte("slurmstepd: ")) || bytes.Contains(line, []byte("/slurmstepd"))
		if daemons[pid] || state == "Z" || state == "X" {
			continue
		}
		p := process{pid: pid, parent: parent}
		env, _ := os.ReadFile(dir + "/environ")
		p.environment(string(env))
		if cgroups {
			text, _ := os.ReadFile(dir + "/cgroup")
			m := inCgroup.FindStringSubmatch(string(text))
			if m == nil {
				continue
			}
			p.node, p.step = m[1], m[3]
			job, _ := strconv.ParseUint(m[2], 10, 32)
			p.job = uint32(job)
		} else if p.where = p.says; p.job == 0 || p.node == "" || !bytes.Contains(env, []byte("SLURM_CONF="+c.conf()+"\x00")) {
			continue
		}
		argv := strings.Split(string(line), "\x00")
		if i := slices.Index(argv, "--state"); i > 0 && i+1 < len(argv) && slices.Contains(argv, "crew") {
			p.state = argv[i+1]
		}
		p.member = bytes.Contains(line, []byte("crew\x00member\x00--companion"))
		found = append(found, p)
	}
	for i := range found {
		p := found[i].parent
		for n := 0; p > 1 && !daemons[p] && n < 100; n++ {
			p = parents[p]
		}
		found[i].orphan = p <= 1
	}
	return found
}

func (p *process) environment(env string) {
	for v := range strings.SplitSeq(env, "\x00") {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "AUCSCHED_CREW_TASK":
			p.task, _ = strconv.Atoi(value)
		case "SLURM_JOB_ID":
			job, _ := strconv.ParseUint(value, 10, 32)
			p.says.job = uint32(job)
		case "SLURMD_NODENAME":
			p.says.node = value
		}
	}
}

// coresOfJobs are those that the kernel lets the jobs of processes use.
func coresOfJobs(processes []process) map[where][]int {
	cores := map[where][]int{}
	for _, p := range processes {
		if _, ok := cores[p.where]; ok {
			continue
		}
		files, _ := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/cpuset/slurm_%s/uid_*/job_%d/cpuset.cpus", p.node, p.job))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if list, err := parseRanges(strings.TrimSpace(string(text))); err == nil && len(list) > 0 {
				cores[p.where] = list
			}
		}
	}
	return cores
}

// look takes all views, the crews' first; it fails if slurmctld does not answer.
func (c *Cluster) look(ctx context.Context, cgroups bool) (v views, err error) {
	v.processes = c.processes(cgroups)
	if cgroups {
		v.cores = coresOfJobs(v.processes)
	}
	for _, p := range v.processes {
		if p.state == "" || slices.ContainsFunc(v.ledgers, func(l ledger) bool { return l.name == p.state }) {
			continue
		}
		text, err := os.ReadFile(p.state)
		if os.IsNotExist(err) {
			continue // it has just begun
		}
		l, err := parseLedger(p.state, string(text))
		if err != nil {
			return v, err
		}
		if l.lead == p.job {
			v.ledgers = append(v.ledgers, l)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout/6)
	defer cancel()
	if v.jobs, err = c.Jobs(ctx); err != nil {
		return v, err
	}
	v.cpus, err = c.nodeCPUs(ctx)
	return v, err
}

var nodeLine = regexp.MustCompile(`(?m)^NodeName=(\S+) .*CPUAlloc=(\d+) .*CPUTot=(\d+) `)

func (c *Cluster) nodeCPUs(ctx context.Context) (map[string][2]int, error) {
	out, err := c.Scontrol(ctx, "show", "node", "-o")
	cpus := map[string][2]int{}
	for _, m := range nodeLine.FindAllStringSubmatch(out, -1) {
		alloc, _ := strconv.Atoi(m[2])
		total, _ := strconv.Atoi(m[3])
		cpus[m[1]] = [2]int{alloc, total}
	}
	return cpus, err
}

// holders are the jobs that have something, by node.
func (v *views) holders() (jobs map[uint32]*Job, on map[where]bool) {
	jobs, on = map[uint32]*Job{}, map[where]bool{}
	for i := range v.jobs {
		j := &v.jobs[i]
		jobs[j.ID] = j
		if !j.In("RUNNING", "COMPLETING") && !strings.Contains(j.State, "COMPLETING") {
			continue
		}
		nodes, _ := expandNodes(j.NodeList)
		for _, n := range nodes {
			on[where{j.ID, n}] = true
		}
	}
	return jobs, on
}

// faults are what must not be at any moment: in slurmctld's view and in the crews'.
func (v *views) faults() (found []string) {
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	ids := map[uint32]int{}
	for i := range v.jobs {
		if ids[v.jobs[i].ID]++; ids[v.jobs[i].ID] == 2 {
			add("slurmctld has job %d twice", v.jobs[i].ID)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(v.cpus)) {
		if c := v.cpus[n]; c[0] > c[1] {
			add("slurmctld has %d of %d CPUs of %s allocated", c[0], c[1], n)
		}
	}
	for _, l := range v.ledgers {
		numbers, members, tasks := map[int]bool{}, map[where]bool{}, map[int]bool{}
		for _, p := range l.places {
			if numbers[p.number] || members[p.where] {
				add("crew %d has place %d, or job %d on %s, twice", l.lead, p.number, p.job, p.node)
			}
			numbers[p.number], members[p.where] = true, true
			for _, task := range p.tasks {
				if tasks[task] {
					add("crew %d has task %d run on two places", l.lead, task)
				}
				tasks[task] = true
			}
		}
	}
	return found
}

// differences are what is said by one view and not by another. They pass: views are taken one after
// the other, and what happens on a node reaches the others a while later.
func (v *views) differences() map[string]bool {
	d := differences{views: v, found: map[string]bool{}}
	d.byID, d.on = v.holders()
	d.crewsAndSlurm()
	d.kernelAndSlurm()
	d.crewsAndKernel()
	return d.found
}

type differences struct {
	*views
	byID  map[uint32]*Job
	on    map[where]bool
	found map[string]bool
}

func (d *differences) add(format string, args ...any) { d.found[fmt.Sprintf(format, args...)] = true }

// crewsAndSlurm: each place is of a job that runs there, of that crew, and each companion that runs
// has a place.
func (d *differences) crewsAndSlurm() {
	placed := map[where]uint32{}
	for _, l := range d.ledgers {
		for _, p := range l.places {
			if other, ok := placed[p.where]; ok {
				d.add("crews %d and %d both have job %d", l.lead, other, p.job)
			}
			placed[p.where] = l.lead
			j := d.byID[p.job]
			switch {
			case !d.on[p.where]:
				d.add("crew %d has place %d of job %d on %s, and slurmctld has no such job there", l.lead, p.number, p.job, p.node)
			case p.job != l.lead && j.Name != fmt.Sprint("crew-", l.lead):
				d.add("crew %d has place %d of job %d, which is %s", l.lead, p.number, p.job, j.Name)
			}
		}
	}
	for i := range d.jobs {
		j := &d.jobs[i]
		if w := (where{j.ID, j.NodeList}); strings.HasPrefix(j.Name, "crew-") && j.State == "RUNNING" && placed[w] == 0 {
			d.add("slurmctld runs companion %d (%s) on %s, and no crew has it", j.ID, j.Name, j.NodeList)
		}
	}
}

// kernelAndSlurm: each process is of a job that slurmctld has there, and comes from Slurm; jobs
// have the cores that the kernel lets them have, each core one job.
func (d *differences) kernelAndSlurm() {
	held := map[string]int{}
	completing := map[string]bool{}
	for i := range d.jobs {
		for _, share := range d.jobs[i].Nodes {
			if d.jobs[i].State == "RUNNING" {
				held[share.Node] += len(share.CPUs)
			} else {
				completing[share.Node] = true
			}
		}
	}
	for n, c := range d.cpus {
		if c[0] != held[n] && !completing[n] {
			d.add("slurmctld has CPUs of %s allocated, and jobs that hold others", n)
		}
	}
	for _, p := range d.processes {
		if !d.on[p.where] {
			d.add("the kernel runs job %d on %s, and slurmctld does not", p.job, p.node)
		}
		if p.task > 0 && p.says != p.where {
			d.add("process %d is of job %d on %s, and was told that it is of job %d on %s", p.pid, p.job, p.node, p.says.job, p.says.node)
		}
		if p.orphan {
			d.add("process %d of job %d on %s comes from no slurmstepd", p.pid, p.job, p.node)
		}
	}
	users := map[place]uint32{}
	for w, cores := range d.cores {
		for _, core := range cores {
			if other, ok := users[place{w.node, core}]; ok {
				d.add("the kernel lets jobs %d and %d use core %d of %s", min(w.job, other), max(w.job, other), core, w.node)
			}
			users[place{w.node, core}] = w.job
		}
		if j := d.byID[w.job]; j != nil && j.State == "RUNNING" {
			i := slices.IndexFunc(j.Nodes, func(s NodeShare) bool { return s.Node == w.node })
			if i >= 0 && !slices.Equal(j.Nodes[i].CPUs, cores) {
				d.add("the kernel lets job %d use cores %v of %s, and slurmctld has %v", w.job, cores, w.node, j.Nodes[i].CPUs)
			}
		}
	}
}

// crewsAndKernel: the tasks that a crew says run on a place do, and no others.
func (d *differences) crewsAndKernel() {
	type taskAt struct {
		where
		task int
	}
	said, runs := map[taskAt]bool{}, map[taskAt]bool{}
	for _, p := range d.processes {
		if p.task > 0 {
			runs[taskAt{p.where, p.task}] = true
		}
	}
	for _, l := range d.ledgers {
		for _, p := range l.places {
			for _, task := range p.tasks {
				said[taskAt{p.where, task}] = true
			}
		}
	}
	for t := range said {
		if !runs[t] {
			d.add("a crew has task %d run as job %d on %s, and the kernel does not", t.task, t.job, t.node)
		}
	}
	for t := range runs {
		if !said[t] {
			d.add("the kernel runs task %d as job %d on %s, and no crew does", t.task, t.job, t.node)
		}
	}
}
