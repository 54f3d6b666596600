// SPDX-License-Identifier: BSD-3-Clause

package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// A Site is what slurm.conf says that matters here.
type Site struct {
	Node  string // the partition's only one, which is this host
	Spool string // of its slurmd
	// Socket is where the plug-in tells jobs to find the iHypervisor.
	Socket string
	// Warnings are of settings that keep jobs from running where they should.
	Warnings []string
}

// WaitSite is Site, asked again and again while slurmctld is down, which waiting is told of.
func (c *Client) WaitSite(ctx context.Context, partition string, waiting func(error)) (*Site, error) {
	for pause, told := time.Second, false; ; pause = min(2*pause, DownPause) {
		s, err := c.Site(ctx, partition)
		if !errors.Is(err, ErrDown) || ctx.Err() != nil {
			return s, err
		}
		if !told {
			waiting(err)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// DownPause is the longest pause between two questions to a slurmctld that doesn't answer.
const DownPause = 30 * time.Second

// Site looks whether a partition of Slurm is set up for an iHypervisor on this host. The error
// names the setting that is not.
func (c *Client) Site(ctx context.Context, partition string) (*Site, error) {
	text, err := c.run(ctx, "scontrol", "--oneliner", "show", "partition", partition)
	if err != nil {
		return nil, err
	}
	part := fields(text)
	nodes := part["Nodes"]
	switch share, _, _ := strings.Cut(part["OverSubscribe"], ":"); {
	case part["TotalNodes"] != "1":
		return nil, fmt.Errorf("partition %s: Nodes=%s: must be one node, that of this host", partition, nodes)
	case share != "FORCE":
		return nil, fmt.Errorf(
			"partition %s: OverSubscribe=%s: must be FORCE:n, n not less than the cores: who "+
				"shares them is the iHypervisor's to say",
			partition, part["OverSubscribe"])
	}
	text, err = c.run(ctx, "scontrol", "--oneliner", "show", "node", nodes)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	node := fields(text)["NodeHostName"]
	if short(node) != short(host) {
		return nil, fmt.Errorf("partition %s: its node %s is host %s, and this one is %s", partition, nodes, node, host)
	}
	text, err = c.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return nil, err
	}
	config := settings(text)
	params := config["SchedulerParameters"]
	if held := parameter(params, "auc_invasic"); held != partition {
		return nil, fmt.Errorf("SchedulerParameters: auc_invasic=%s: must be %s, or nobody holds its jobs", held, partition)
	}
	s := &Site{Node: nodes, Socket: cmp.Or(parameter(params, "auc_invasic_socket"), DefaultSocket),
		Spool: strings.NewReplacer("%n", nodes, "%h", short(node)).Replace(config["SlurmdSpoolDir"])}
	if strings.Contains(config["TaskPlugin"], "affinity") {
		s.Warnings = append(s.Warnings,
			"TaskPlugin="+config["TaskPlugin"]+": task/affinity binds tasks anew; jobs may not "+
				"get all of their cores")
	}
	if strings.Contains(config["PreemptMode"], "GANG") {
		s.Warnings = append(s.Warnings,
			"PreemptMode="+config["PreemptMode"]+": Slurm suspends jobs that share cores in "+
				"turns; the partition needs PreemptMode=OFF, or the cluster no GANG")
	}
	return s, nil
}

// DefaultSocket is that of auc_invasic_socket.
const DefaultSocket = "/var/lib/aucsched-invasive/run/jobs"

// parameter is the last value of a key in SchedulerParameters.
func parameter(params, key string) (value string) {
	for word := range strings.FieldsFuncSeq(params, func(r rune) bool { return r == ',' || r == ' ' }) {
		if v, ok := strings.CutPrefix(word, key+"="); ok {
			value = v
		}
	}
	return value
}

func short(host string) string {
	name, _, _ := strings.Cut(host, ".")
	return name
}

// fields are the words KEY=VALUE of a line.
func fields(line string) map[string]string {
	m := map[string]string{}
	for _, word := range strings.Fields(line) {
		if key, value, ok := strings.Cut(word, "="); ok {
			if _, again := m[key]; !again {
				m[key] = value
			}
		}
	}
	return m
}

// settings are lines KEY = VALUE.
func settings(text string) map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok {
			m[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return m
}
