// SPDX-License-Identifier: BSD-3-Clause

package switches

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds a line of a topology.conf, in bytes.
const maxLine = 1 << 20

// ReadConf reads Slurm's topology.conf, of topology/tree or topology/block; name is the file's in
// errors. Of the latter each block is a leaf, and BlockSizes, if more than one is given, say how
// many blocks, in their order, are below one switch of each further level. Speeds and comments are
// left out.
func ReadConf(r io.Reader, name string) ([]Line, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var c conf
	for at := 1; in.Scan(); at++ {
		text, _, _ := strings.Cut(in.Text(), "#")
		for {
			cut, ok := strings.CutSuffix(strings.TrimRight(text, " \t\r"), `\`)
			if !ok || !in.Scan() {
				break
			}
			at++
			more, _, _ := strings.Cut(in.Text(), "#")
			text = cut + more
		}
		if err := c.line(text); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, at, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(c.lines) == 0 {
		return nil, fmt.Errorf("%s: has no SwitchName and no BlockName", name)
	}
	return c.lines, c.join(name)
}

// conf is what has been read of a topology.conf.
type conf struct {
	lines  []Line
	blocks int
	sizes  []int
}

func (c *conf) line(text string) error {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	var l Line
	for i, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok || value == "" {
			return fmt.Errorf("%.60q is not KEY=VALUE", field)
		}
		switch strings.ToLower(key) {
		case "switchname", "blockname":
			if i > 0 {
				return fmt.Errorf("%s stands behind something else", key)
			}
			if l.Name = value; strings.EqualFold(key, "blockname") {
				c.blocks++
			}
		case "nodes":
			l.Nodes = value
		case "switches":
			l.Switches = value
		case "linkspeed", "comment":
		case "blocksizes":
			return c.readSizes(value)
		default:
			return fmt.Errorf("unknown key %.60q", key)
		}
	}
	if l.Name == "" {
		return fmt.Errorf("%.60q: neither SwitchName nor BlockName", fields[0])
	}
	c.lines = append(c.lines, l)
	return nil
}

// readSizes reads BlockSizes: numbers of nodes, each a power of two times the first.
func (c *conf) readSizes(list string) error {
	c.sizes = c.sizes[:0]
	for _, word := range strings.Split(list, ",") {
		n := 0
		if _, err := fmt.Sscanf(word, "%d", &n); err != nil || n < 1 || fmt.Sprint(n) != word {
			return fmt.Errorf("BlockSizes: %.60q is no number of nodes", word)
		}
		if k := len(c.sizes); k > 0 && (n <= c.sizes[k-1] || n%c.sizes[0] != 0) {
			return fmt.Errorf("BlockSizes: %d: must be a multiple of %d, and ascend", n, c.sizes[0])
		}
		c.sizes = append(c.sizes, n)
	}
	return nil
}

// join lays the blocks below switches that hold as many of them as BlockSizes say, and all below
// one root.
func (c *conf) join(name string) error {
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
func (c *conf) above(names []string, group int, title string) (tops []string) {
	for len(names) > 0 {
		n := min(group, len(names))
		top := fmt.Sprintf("%s%d", strings.NewReplacer(" ", "-", ",", "").Replace(title), len(tops))
		c.lines = append(c.lines, Line{Name: top, Switches: strings.Join(names[:n], ",")})
		tops, names = append(tops, top), names[n:]
	}
	return tops
}
