// SPDX-License-Identifier: BSD-3-Clause

package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aucsched/aucsched/internal/hostlist"
	"github.com/aucsched/aucsched/nodeset"
)

// maxNamed is the most nodes that a file may name, far above Slurm's own limit of
// 65533; each name costs memory.
const maxNamed = 1 << 20

// clusterReader turns lines into nodes.
type clusterReader struct {
	*lines
	nodes    Machine
	lineOf   map[string]int    // of each node's name
	defaults map[string]string // of NodeName=DEFAULT, keys in lower case
	first    int               // number of the current logical line's first line
	slurm    bool              // there is a NodeName line
	foreign  int               // number of the first line with another key of slurm.conf
}

var errClusterLine = errors.New("not COUNT CORES [GPUS], HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB] or NodeName=HOSTLIST CPUs=CORES")

// logicalLine is the current line with those that continue it, without comment.
func (c *clusterReader) logicalLine() (string, error) {
	c.first = c.n
	var b strings.Builder
	for {
		text, _, _ := strings.Cut(string(c.text()), "#")
		cut := strings.TrimSuffix(text, `\`)
		b.WriteString(cut)
		if b.Len() > maxLine {
			return "", fmt.Errorf("a continued line of more than %d bytes", maxLine)
		}
		if cut == text || !c.next() {
			return b.String(), nil
		}
		b.WriteByte(' ')
	}
}

// locate puts file and line to an error.
func (c *clusterReader) locate(err error) error {
	var in *InputError
	if !errors.As(err, &in) {
		in = &InputError{Err: err}
	}
	in.File, in.Line = c.name, c.first
	return in
}

func (c *clusterReader) add(line string) error {
	fields := quotedFields(line)
	if len(fields) == 0 {
		return nil
	}
	key, _, assigned := strings.Cut(fields[0], "=")
	switch {
	case assigned && strings.EqualFold(key, "NodeName"):
		c.slurm = true
		return c.addSlurm(fields)
	case assigned:
		if c.foreign == 0 {
			c.foreign = c.first
		}
		return nil
	case strings.EqualFold(key, "Include"):
		return errors.New("an Include is not followed: give the file that has the NodeName lines")
	case len(fields) > 1 && strings.Contains(fields[1], "="):
		return c.addNamed(fields)
	case len(fields) > 3 || len(fields) < 2:
		return errClusterLine
	}
	return c.nodes.addRun(fields)
}

// namedKeys are the keys of a line HOSTLIST cores=CORES [gpus=GPUS] [memory=MiB].
var namedKeys = []string{"cores", "gpus", "memory"}

// addNamed adds the nodes of such a line.
func (c *clusterReader) addNamed(fields []string) error {
	values, err := assignments(fields[1:])
	if err != nil {
		return err
	}
	for _, f := range fields[1:] {
		if key, value, _ := strings.Cut(f, "="); !slices.Contains(namedKeys, strings.ToLower(key)) {
			return &InputError{Field: key, Value: value, Err: errors.New("unknown; known are cores, gpus and memory")}
		}
	}
	cores, err := c.number(values, "cores", 0)
	if err != nil {
		return err
	}
	gpus, err := c.number(values, "gpus", 0)
	if err != nil {
		return err
	}
	memory := 0
	if text, given := values["memory"]; given {
		if memory, err = parseField("memory", text, 1, nodeset.MaxAmount); err != nil {
			return err
		}
	}
	return c.addHosts("hosts", fields[0], cores, gpus, memory)
}

// addSlurm adds the nodes of a line of slurm.conf.
func (c *clusterReader) addSlurm(fields []string) error {
	values, err := assignments(fields)
	if err != nil {
		return err
	}
	hosts := values["nodename"]
	if strings.EqualFold(hosts, "DEFAULT") {
		for key, value := range values {
			c.defaults[key] = value
		}
		return nil
	}
	for key, value := range c.defaults {
		if _, ok := values[key]; !ok {
			values[key] = value
		}
	}
	cpus, err := c.cpus(values)
	if err != nil {
		return err
	}
	gpus, err := parseGRES(values["gres"])
	if err != nil {
		return &InputError{Field: "Gres", Value: values["gres"], Err: err}
	}
	memory, err := c.slurmMemory(values)
	if err != nil {
		return err
	}
	return c.addHosts("NodeName", hosts, cpus, int(gpus), memory)
}

// cpus is CPUs or, where that is not given, what the sockets come to.
func (c *clusterReader) cpus(values map[string]string) (int, error) {
	if _, ok := values["cpus"]; ok {
		return c.number(values, "CPUs", 0)
	}
	sockets := "Sockets"
	if _, ok := values["socketsperboard"]; ok {
		sockets = "SocketsPerBoard"
	}
	cpus := 1
	for _, key := range []string{"Boards", sockets, "CoresPerSocket", "ThreadsPerCore"} {
		n, err := c.number(values, key, 1)
		if err != nil {
			return 0, err
		}
		if cpus *= n; cpus > maxNodeCores {
			return 0, fmt.Errorf("more than %d cores on a node", maxNodeCores)
		}
	}
	return cpus, nil
}

// number is the value of a key, or what it is where missing.
func (c *clusterReader) number(values map[string]string, key string, missing int) (int, error) {
	value, ok := values[strings.ToLower(key)]
	if !ok {
		return missing, nil
	}
	return parseField(key, value, 0, maxNodeCores)
}

func (c *clusterReader) addHosts(field, hosts string, cores, gpus, memory int) error {
	switch {
	case cores < 1:
		return fmt.Errorf("nodes %s without a core", quote(hosts))
	case gpus > maxNodeGPUs:
		return fmt.Errorf("nodes %s with %d GPUs each: at most %d", quote(hosts), gpus, maxNodeGPUs)
	}
	n, err := hostlist.Count(hosts)
	if err == nil && len(c.lineOf)+n > maxNamed {
		err = fmt.Errorf("more than %d named nodes; give COUNT CORES GPUS", maxNamed)
	}
	if err != nil {
		return &InputError{Field: field, Value: hosts, Err: err}
	}
	names, err := hostlist.Expand(hosts)
	if err != nil {
		return &InputError{Field: field, Value: hosts, Err: err}
	}
	for _, name := range names {
		if line, ok := c.lineOf[name]; ok {
			return &InputError{Field: field, Value: hosts, Err: fmt.Errorf("node %s is on line %d already", name, line)}
		}
		c.lineOf[name] = c.first
	}
	return c.nodes.add(n, nodeset.Capacity{Cores: uint16(cores), GPUs: uint8(gpus)}, memory)
}

// quotedFields splits s at spaces outside double quotes, as in Reason="not in use".
func quotedFields(s string) []string {
	quoted := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && unicode.IsSpace(r)
	})
}

// assignments parses fields KEY=VALUE; the keys become lower case.
func assignments(fields []string) (map[string]string, error) {
	values := make(map[string]string, len(fields))
	for _, f := range fields {
		key, value, ok := strings.Cut(f, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%s is not KEY=VALUE", quote(f))
		}
		key = strings.ToLower(key)
		if _, ok := values[key]; ok {
			return nil, &InputError{Field: key, Value: value, Err: errors.New("given twice on the line")}
		}
		values[key] = value
	}
	return values, nil
}
