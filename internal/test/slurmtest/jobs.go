// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/slurm/pending"
)

// Job is what "scontrol show job -d" says of a job.
type Job struct {
	ID        uint32
	ArrayID   uint32 // of the array that it is a task of, or 0
	ArrayTask string // "7", or "7-99%5" for the tasks that have not started
	Name      string
	State     string // "RUNNING"
	Reason    string
	Partition string
	NodeList  string
	NumNodes  int
	NumCPUs   int
	Restarts  int
	// Nodes is the allocation, a node an element; empty unless the job holds one.
	Nodes []NodeShare
	// Fields has everything that was printed, by key.
	Fields map[string]string
}

// NodeShare is what a job holds of one node.
type NodeShare struct {
	Node     string
	CPUs     []int // indices of the node's logical CPUs
	MemoryMB int
	GPUs     []int // indices of its devices
	// GPUCount is the number of GPUs; it is len(GPUs) unless Slurm is at fault.
	GPUCount int
	// Shards are its shares of GPUs, by device; nil: none.
	Shards []int
}

// In says whether the job's state is one of states.
func (j *Job) In(states ...string) bool { return slices.Contains(states, j.State) }

// Ended says whether the job's state is final.
func (j *Job) Ended() bool {
	return j.In("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL",
		"DEADLINE", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED")
}

// ParseJobs reads the output of "scontrol show job -d".
func ParseJobs(text string) ([]Job, error) {
	var jobs []Job
	for block := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(block, "JobId=") {
			if t := strings.TrimSpace(block); t != "" && t != "No jobs in the system" {
				return nil, fmt.Errorf("scontrol show job: %.60q where JobId= is expected", t)
			}
			continue
		}
		j, err := parseJob(block)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func parseJob(block string) (Job, error) {
	j := Job{Fields: map[string]string{}}
	for line := range strings.SplitSeq(block, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Nodes=") {
			shares, err := parseShares(line)
			if err != nil {
				return j, fmt.Errorf("job %s: %w", j.Fields["JobId"], err)
			}
			j.Nodes = append(j.Nodes, shares...)
			continue
		}
		pending.AddFields(j.Fields, line)
	}
	return j, j.fill()
}

func parseFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		pending.AddFields(fields, line)
	}
	return fields
}

// fill takes the job's members from its fields.
func (j *Job) fill() error {
	f := j.Fields
	for _, n := range []struct {
		key string
		to  *uint32
	}{{"JobId", &j.ID}, {"ArrayJobId", &j.ArrayID}} {
		v, err := strconv.ParseUint(f[n.key], 10, 32)
		if err != nil && (n.key == "JobId" || f[n.key] != "") {
			return fmt.Errorf("job %s: %s=%q is no number", f["JobId"], n.key, f[n.key])
		}
		*n.to = uint32(v)
	}
	// Pending jobs have ranges here, "2-4": the low end counts.
	for _, n := range []struct {
		key string
		to  *int
	}{{"NumNodes", &j.NumNodes}, {"NumCPUs", &j.NumCPUs}, {"Restarts", &j.Restarts}} {
		low, _, _ := strings.Cut(f[n.key], "-")
		v, err := strconv.ParseUint(low, 10, 31)
		if err != nil && low != "" {
			return fmt.Errorf("job %d: %s=%q is no number", j.ID, n.key, f[n.key])
		}
		*n.to = int(v)
	}
	j.Name, j.State, j.Partition, j.ArrayTask = f["JobName"], f["JobState"], f["Partition"], f["ArrayTaskId"]
	j.Reason, _, _ = strings.Cut(f["Reason"], " ")
	if j.NodeList = f["NodeList"]; j.NodeList == "(null)" {
		j.NodeList = ""
	}
	return nil
}

// Limits of what is believed of one node or job.
const (
	maxIndex  = 1 << 12 // CPUs of a node
	maxShares = 1 << 15 // nodes of a line
	maxHeld   = 1 << 20 // CPUs of a line
)

var numberRange = regexp.MustCompile(`(\d+)-(\d+)`)

// expandNodes expands a hostlist of at most maxShares nodes, such as Slurm prints; it
// refuses others before it makes any name.
func expandNodes(expr string) ([]string, error) {
	names := 1 + strings.Count(expr, ",")
	for _, m := range numberRange.FindAllStringSubmatch(expr, -1) {
		lo, err1 := strconv.Atoi(m[1])
		hi, err2 := strconv.Atoi(m[2])
		if err1 != nil || err2 != nil || hi-lo > maxShares {
			return nil, fmt.Errorf("%s nodes are too many", m[0])
		}
		names += max(hi-lo, 0)
	}
	if names > maxShares || multiBracket.MatchString(expr) {
		return nil, fmt.Errorf("more than %d nodes", maxShares)
	}
	return hostlist.Expand(expr)
}

// multiBracket finds elements with several brackets, which multiply; no node of
// ours has such a name.
var multiBracket = regexp.MustCompile(`\[[^\]]*\][^,]*\[`)

// parseShares reads a line "Nodes=n[1-2] CPU_IDs=0-3 Mem=0 GRES=gpu:2(IDX:0-1)".
func parseShares(line string) ([]NodeShare, error) {
	fields := map[string]string{}
	pending.AddFields(fields, line)
	names, err := expandNodes(fields["Nodes"])
	if err != nil {
		return nil, fmt.Errorf("Nodes=%.60s: %w", fields["Nodes"], err)
	}
	cpus, err := parseRanges(fields["CPU_IDs"])
	if err != nil {
		return nil, fmt.Errorf("CPU_IDs=%.60s: %w", fields["CPU_IDs"], err)
	}
	gpus, count, err := parseGPUs(fields["GRES"])
	if err != nil {
		return nil, fmt.Errorf("GRES=%.60s: %w", fields["GRES"], err)
	}
	shards, err := parseShards(fields["GRES"])
	if err != nil {
		return nil, fmt.Errorf("GRES=%.60s: %w", fields["GRES"], err)
	}
	if len(names)*max(len(cpus), len(gpus), len(shards)) > maxHeld {
		return nil, fmt.Errorf("Nodes=%.60s: more than %d CPUs or GPUs", fields["Nodes"], maxHeld)
	}
	mem, _ := strconv.Atoi(fields["Mem"])
	shares := make([]NodeShare, len(names))
	for i, n := range names {
		shares[i] = NodeShare{Node: n, CPUs: cpus, MemoryMB: mem, GPUs: gpus, GPUCount: count, Shards: shards}
	}
	return shares, nil
}

// parseRanges reads "0-3,5".
func parseRanges(text string) ([]int, error) {
	var out []int
	if text == "" || text == "(null)" || text == "N/A" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		lo, err := strconv.ParseUint(low, 10, 32)
		if err != nil {
			return nil, err
		}
		hi, err := strconv.ParseUint(high, 10, 32)
		if err != nil {
			return nil, err
		}
		if lo > hi || hi >= maxIndex || len(out)+int(hi-lo) >= maxIndex {
			return nil, fmt.Errorf("%q is no range of indices", part)
		}
		for v := lo; v <= hi; v++ {
			out = append(out, int(v))
		}
	}
	return out, nil
}

// parseGPUs reads the GPUs of "gpu:a100:2(IDX:0,2),nic:1(IDX:0)".
func parseGPUs(text string) (indices []int, count int, err error) {
	for text != "" {
		i := strings.Index(text, "(IDX:")
		if i < 0 {
			break
		}
		name, rest := strings.TrimPrefix(text[:i], ","), text[i+len("(IDX:"):]
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return nil, 0, errors.New("no closing bracket after IDX")
		}
		text = rest[end+1:]
		words := strings.Split(name, ":")
		if words[0] != "gpu" {
			continue
		}
		n, err := strconv.ParseUint(words[len(words)-1], 10, 16)
		if err != nil {
			return nil, 0, err
		}
		idx, err := parseRanges(rest[:end])
		if err != nil {
			return nil, 0, err
		}
		count += int(n)
		indices = append(indices, idx...)
	}
	return indices, count, nil
}

// shardsForm are the shares of a job: "shard:3(IDX:1)", or from 24.11 on, a device each,
// "shard:3(0/4,3/4)".
var shardsForm = regexp.MustCompile(`(?:^|,)shard:(\d+)\((?:IDX:([^)]*)|([\d/,]*))\)`)

// parseShards reads the shares of GPUs of "gpu:1(IDX:0),shard:3(IDX:1)", by device.
func parseShards(text string) (byDevice []int, err error) {
	m := shardsForm.FindStringSubmatch(text)
	if m == nil {
		return nil, nil
	}
	count, err := strconv.ParseUint(m[1], 10, 32)
	if err != nil {
		return nil, err
	}
	if m[3] == "" {
		devices, err := parseRanges(m[2])
		if err != nil {
			return nil, err
		}
		for _, d := range devices { // each has all of it: Slurm counts a job's shares by device
			byDevice = append(byDevice, make([]int, max(d+1-len(byDevice), 0))...)
			byDevice[d] = int(count)
		}
		return byDevice, nil
	}
	for part := range strings.SplitSeq(m[3], ",") {
		held, _, _ := strings.Cut(part, "/")
		n, err := strconv.ParseUint(held, 10, 32)
		if err != nil || len(byDevice) == maxIndex {
			return nil, fmt.Errorf("%q is no share of a device", part)
		}
		byDevice = append(byDevice, int(n))
	}
	return byDevice, nil
}

// Ended is a line of the completion log of jobcomp/filetxt: one run of a job.
type Ended struct {
	ID       uint32
	Name     string
	State    string
	NodeList string
	Start    string // "2026-01-31T12:00:00", or Unknown
	End      string
	CPUs     int
	Fields   map[string]string
}

// ParseJobComp reads the completion log of jobcomp/filetxt.
func ParseJobComp(text string) ([]Ended, error) {
	var out []Ended
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := map[string]string{}
		pending.AddFields(f, line)
		id, err := strconv.ParseUint(f["JobId"], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("completion log: %.80q: JobId=%q is no number", line, f["JobId"])
		}
		cpus, _ := strconv.Atoi(f["ProcCnt"])
		out = append(out, Ended{ID: uint32(id), Name: f["Name"], State: f["JobState"], NodeList: f["NodeList"],
			Start: f["StartTime"], End: f["EndTime"], CPUs: cpus, Fields: f})
	}
	return out, nil
}

// Start is a line that a job's script wrote when it started: see [Cluster.Script].
type ScriptStart struct {
	ID      uint32
	Restart int
	At      time.Time // to the second
}

// ParseStarts reads the lines that scripts write.
func ParseStarts(text string) ([]ScriptStart, error) {
	var out []ScriptStart
	s := bufio.NewScanner(strings.NewReader(text))
	for s.Scan() {
		var id uint32
		var restart int
		var at int64
		if _, err := fmt.Sscanf(s.Text(), "%d %d %d", &id, &restart, &at); err != nil {
			return nil, fmt.Errorf("starts: %.80q: %w", s.Text(), err)
		}
		out = append(out, ScriptStart{id, restart, time.Unix(at, 0)})
	}
	return out, s.Err()
}

// Starts are the starts that the scripts have noted so far.
func (c *Cluster) Starts() ([]ScriptStart, error) {
	text, err := readBounded(c.startsFile())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseStarts(text)
}

// readBounded reads a file of at most 256 MB.
func readBounded(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 256<<20))
	return string(text), err
}
