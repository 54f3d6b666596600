// SPDX-License-Identifier: BSD-3-Clause

package switches

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/aucsched/aucsched/internal/slurm/conf"
)

// maxBytes bounds a topology.yaml.
const maxBytes = 16 << 20

// ReadConf reads Slurm's topology.conf, of topology/tree or topology/block, or topology.yaml, of
// which it takes what the cluster has by default; name is the file's in errors. Of blocks each is a
// leaf, and their sizes, if more than one is given, say how many blocks, in their order, are below
// one switch of each further level. Speeds and comments are left out.
func ReadConf(r io.Reader, name string) ([]Line, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxBytes:
		return nil, fmt.Errorf("%s: more than %d MiB", name, maxBytes>>20)
	}
	var c reader
	if BeginsConf(text) {
		err = c.readConf(text, name)
	} else if err = c.readYAML(text); err != nil {
		err = fmt.Errorf("%s: no topology.conf begins so, and as topology.yaml: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	if len(c.lines) == 0 {
		return nil, fmt.Errorf("%s: has no switch and no block", name)
	}
	return c.lines, c.join(name)
}

// aSetting are empty lines and comments, and behind them KEY=VALUE or an include.
var aSetting = regexp.MustCompile(`(?i)\A(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*(?:include[ \t]|[\w.]+[ \t]*[-+*/]?=)`)

// BeginsConf reports whether a text begins as Slurm's configuration files do.
func BeginsConf(text []byte) bool { return aSetting.Match(text) }

// reader is what has been read of a topology.
type reader struct {
	lines  []Line
	blocks int
	sizes  []int
}

// readConf reads a topology.conf.
func (c *reader) readConf(text []byte, name string) error {
	file, err := conf.ReadFrom(bytes.NewReader(text), name)
	if err != nil {
		return err
	}
	if len(file.Faults) > 0 {
		return file.Faults[0]
	}
	for i := range file.Lines {
		l := &file.Lines[i]
		if err := c.line(l); err != nil {
			return fmt.Errorf("%s:%d: %w", l.File, l.Number, err)
		}
	}
	return nil
}

// line takes a line of a topology.conf.
func (c *reader) line(l *conf.Line) error {
	first := l.Fields[0]
	switch strings.ToLower(first.Key) {
	case "blocksizes":
		c.sizes = c.sizes[:0]
		for word := range strings.SplitSeq(first.Value, ",") {
			n, err := strconv.Atoi(strings.Trim(word, " \t"))
			if err != nil {
				return fmt.Errorf("BlockSizes: %.60q is no number of nodes", word)
			}
			if err := c.size(n); err != nil {
				return err
			}
		}
		return nil
	case "blockname":
		c.blocks++
	case "switchname":
	default:
		return fmt.Errorf("%.60q: neither SwitchName nor BlockName", first.Key+"="+first.Value)
	}
	line := Line{Name: first.Value}
	for _, f := range l.Fields[1:] {
		switch strings.ToLower(f.Key) {
		case "nodes":
			line.Nodes = f.Value
		case "switches":
			line.Switches = f.Value
		case "linkspeed", "comment":
		default:
			return fmt.Errorf("unknown key %.60q", f.Key)
		}
	}
	c.lines = append(c.lines, line)
	return nil
}

// size takes the next of the sizes of blocks, in nodes: each is a power of two times the first.
func (c *reader) size(n int) error {
	k := len(c.sizes)
	switch {
	case n < 1:
		return fmt.Errorf("BlockSizes: %d: is no number of nodes", n)
	case k > 0 && (n <= c.sizes[k-1] || n%c.sizes[0] != 0):
		return fmt.Errorf("BlockSizes: %d: must be a multiple of %d, and ascend", n, c.sizes[0])
	}
	c.sizes = append(c.sizes, n)
	return nil
}

// topology is one of a topology.yaml, as Slurm's data parser reads it.
type topology struct {
	Name    string `yaml:"topology"`
	Default bool   `yaml:"cluster_default"`
	Tree    *struct {
		Switches []struct {
			Name     string `yaml:"switch"`
			Children string `yaml:"children"`
			Nodes    string `yaml:"nodes"`
		} `yaml:"switches"`
	} `yaml:"tree"`
	Block *struct {
		Sizes  []int `yaml:"block_sizes"`
		Blocks []struct {
			Name  string `yaml:"block"`
			Nodes string `yaml:"nodes"`
		} `yaml:"blocks"`
	} `yaml:"block"`
}

// readYAML reads a topology.yaml: a topology, or a list of them, of which the first is taken that
// is the cluster's default, or else the first.
func (c *reader) readYAML(text []byte) error {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return err
	}
	if len(node.Content) == 0 {
		return errors.New("it is empty")
	}
	all, root := make([]topology, 1), node.Content[0]
	var err error
	if root.Kind == yaml.SequenceNode {
		err = root.Decode(&all)
	} else {
		err = root.Decode(&all[0])
	}
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("it has no topology")
	}
	best := &all[0]
	for i := range all {
		if all[i].Default {
			best = &all[i]
			break
		}
	}
	switch {
	case best.Tree != nil && best.Block != nil:
		return fmt.Errorf("topology %.60q: has both a tree and blocks", best.Name)
	case best.Tree != nil:
		for _, s := range best.Tree.Switches {
			c.lines = append(c.lines, Line{s.Name, s.Nodes, s.Children})
		}
	case best.Block != nil:
		for _, b := range best.Block.Blocks {
			c.lines = append(c.lines, Line{Name: b.Name, Nodes: b.Nodes})
		}
		c.blocks = len(c.lines)
		for _, n := range best.Block.Sizes {
			if err := c.size(n); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("topology %.60q: has neither a tree nor blocks, the kinds that are read", best.Name)
	}
	return nil
}

// join lays the blocks below switches that hold as many of them as BlockSizes say, and all below
// one root.
func (c *reader) join(name string) error {
	if c.blocks == 0 {
		return nil
	}
	if c.blocks != len(c.lines) {
		return fmt.Errorf("%s: has both SwitchName and BlockName", name)
	}
	level := make([]string, 0, c.blocks)
	for i := range c.lines {
		level = append(level, c.lines[i].Name)
	}
	below := 1
	for _, size := range c.sizes[min(1, len(c.sizes)):] {
		group := max(1, size/c.sizes[0]/below)
		below *= group
		level = c.above(level, group, fmt.Sprintf("blocks of %d nodes, ", size))
	}
	if len(level) > 1 {
		c.above(level, len(level), "all blocks, ")
	}
	return nil
}

// above adds switches above groups of those named, and returns their names.
func (c *reader) above(names []string, group int, title string) (tops []string) {
	for len(names) > 0 {
		n := min(group, len(names))
		top := fmt.Sprintf("%s%d", strings.NewReplacer(" ", "-", ",", "").Replace(title), len(tops))
		c.lines = append(c.lines, Line{Name: top, Switches: strings.Join(names[:n], ",")})
		tops, names = append(tops, top), names[n:]
	}
	return tops
}
