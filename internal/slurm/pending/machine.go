// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"context"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// machine is what Slurm tells of the nodes of a partition, and of who holds them.
type machine struct {
	nodes        []node
	reservations []reservation
	holders      []Holder // whom Slurm shows to who asks
}

type node struct {
	name       string
	states     []string // IDLE, MIXED, DOWN, DRAIN, ...
	reason     string   // why it is down or drained
	partitions []string
	features   []string
	cpus, busy int
	memory     int // MB that jobs may have
	held       int
	gres, used map[string]int // by "gpu" and "gpu:a100"
	threads    int            // of a core
}

type reservation struct {
	name       string
	start, end time.Time
	nodes      map[string]bool
	flags      string
}

// Holder is a job that holds nodes.
type Holder struct {
	Job   string    `json:"job"`
	User  string    `json:"user"`
	Nodes string    `json:"nodes"`
	CPUs  int       `json:"cpus"`
	Until time.Time `json:"until,omitzero"` // by its time limit; zero: it has none
	names []string
}

func parseNode(f fields) node {
	n := node{
		name: f.text("NodeName"), reason: f.text("Reason"),
		states:     strings.FieldsFunc(f.text("State"), func(r rune) bool { return r == '+' || r == '*' }),
		partitions: list(f.text("Partitions")), features: list(f.text("ActiveFeatures")),
		cpus: f.count("CPUEfctv"), busy: f.count("CPUAlloc"),
		memory: f.count("RealMemory") - f.count("MemSpecLimit"), held: f.count("AllocMem"),
		gres: parseGres(f.text("Gres")), used: parseGres(f.text("GresUsed")), threads: max(f.count("ThreadsPerCore"), 1),
	}
	if n.cpus == 0 {
		n.cpus = f.count("CPUTot")
	}
	if strings.HasSuffix(f.text("State"), "*") || strings.Contains(f.text("State"), "*+") {
		n.states = append(n.states, "NOT_RESPONDING")
	}
	return n
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// parseGres reads "gpu:a100:4(S:0-1),nic:2" and "gpu:a100:2(IDX:0,2)" by name,
// and by name and type.
func parseGres(text string) map[string]int {
	all := map[string]int{}
	for part := range strings.SplitSeq(conf.WithoutSockets(text), ",") {
		words := strings.Split(part, ":")
		if n := number(words[len(words)-1]); len(words) > 1 {
			all[words[0]] += n
			if len(words) > 2 {
				all[words[0]+":"+words[1]] += n
			}
		}
	}
	return all
}

// unusable says why nothing starts on a node; "" if it can be used.
func (n *node) unusable() string {
	for _, s := range n.states {
		if why := unusable[s]; why != "" {
			return why
		}
	}
	return ""
}

var unusable = map[string]string{"DOWN": "down", "DRAIN": "drained", "DRAINED": "drained", "DRAINING": "draining", "FAIL": "failed",
	"FAILING": "failing", "ERROR": "in error", "FUTURE": "to come (FUTURE)", "NOT_RESPONDING": "not responding",
	"NO_RESPOND": "not responding", "REBOOT": "rebooting", "POWERING_DOWN": "powering down", "UNKNOWN": "in an unknown state",
	"INVALID_REG": "registered with fewer resources than slurm.conf says (INVALID_REG)"}

// askMachine asks for the nodes, the reservations, and the running jobs: of all partitions, which
// may share nodes.
func askMachine(ctx context.Context, run Run) (*machine, error) {
	m := &machine{}
	text, err := run(ctx, "scontrol", "-d", "show", "node")
	if err != nil {
		return nil, err
	}
	for _, f := range parseRecords(text, "NodeName") {
		m.nodes = append(m.nodes, parseNode(f))
	}
	// Neither is to be had everywhere: there may be none, or they may be private.
	if text, err = run(ctx, "scontrol", "show", "reservation"); err == nil {
		for _, f := range parseRecords(text, "ReservationName") {
			m.reservations = append(m.reservations, parseReservation(f))
		}
	}
	if text, err = run(ctx, "squeue", "-h", "-t", "R,S,CG", "-o", "%i|%u|%N|%C|%e"); err == nil {
		m.holders = parseHolders(text)
	}
	return m, nil
}

func parseReservation(f fields) reservation {
	r := reservation{name: f.text("ReservationName"), start: f.time("StartTime"), end: f.time("EndTime"), flags: f.text("Flags"),
		nodes: map[string]bool{}}
	for _, n := range expand(f.text("Nodes")) {
		r.nodes[n] = true
	}
	return r
}

func parseHolders(text string) []Holder {
	var all []Holder
	for line := range strings.Lines(text) {
		p := strings.Split(strings.TrimSpace(line), "|")
		if len(p) != 5 {
			continue
		}
		h := Holder{Job: p[0], User: p[1], Nodes: p[2], CPUs: number(p[3]), names: expand(p[2])}
		h.Until = fields{"t": p[4]}.time("t")
		all = append(all, h)
	}
	return all
}

// expand is the nodes of a list of Slurm's; none where it can't be read.
func expand(text string) []string {
	if text == "" {
		return nil
	}
	if n, err := hostlist.Count(text); err != nil || n > 1<<20 {
		return nil
	}
	names, err := hostlist.Expand(text)
	if err != nil {
		return nil
	}
	return names
}
