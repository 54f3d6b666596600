// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config describes a cluster. The zero value of each field but Groups is a default.
type Config struct {
	// Groups are the nodes, n0001 upwards, one group after the other.
	Groups []Group
	// Partitions defaults to one, "p", of all nodes.
	Partitions []Partition

	SlurmUser            string // whose slurmctld is; root unless set, slurm with Accounting
	SchedulerType        string // sched/backfill unless set
	SchedulerParameters  string
	SelectTypeParameters string // CR_Core unless set
	JobSubmitPlugins     string
	CliFilterPlugins     string
	Licenses             string
	PriorityType         string // priority/basic unless set
	PreemptType          string
	PreemptMode          string
	CredExpire           time.Duration // a requeued job waits so long; 120 s unless set
	MinJobAge            time.Duration // how long slurmctld remembers ended jobs; 300 s unless set
	LogLevel             string        // of slurmctld; info unless set
	ExtraLines           []string      // of slurm.conf, at its end
	// lines of topology.conf, for topology/block if the first begins with Block, else for
	// topology/tree; or of topology.yaml, from Slurm 25.05 on, if the first is "---"; none: no
	// topology
	Topology        []string
	PrologSlurmctld string // the text of a script, which is written to the cluster's directory
	// Cgroups are the lines of cgroup.conf, for a cluster whose ExtraLines use cgroups.
	Cgroups []string

	// Accounting has the cluster keep accounts, in a slurmdbd and a MariaDB of its own.
	Accounting *Accounting

	// PluginDirs are searched before the installed Slurm's own.
	PluginDirs []string
	// PortBase is slurmctld's port, the nodes' ports follow; 0 picks free ones.
	PortBase int
	// Daemonize lets slurmctld go into the background as it does by itself;
	// otherwise it runs with -D, as under systemd.
	Daemonize bool
	// Wrapper is put before slurmctld: []string{"valgrind", "--error-exitcode=99"}.
	Wrapper []string
	// Env is added to slurmctld's environment, "NAME=value".
	Env []string
	// DaemonEnv is added to that of all of Slurm's daemons, LD_PRELOAD for instance.
	DaemonEnv []string
	// Faults gives Slurm's daemons a library that makes their files and clock fail at will:
	// see [Cluster.Faults].
	Faults bool
	// Backup has the cluster know of a backup controller: see [Cluster.StartBackup].
	Backup bool
	// NodeDaemon is a program with its arguments that plays the slurmd of all nodes, on
	// one port; it is given "-f slurm.conf" as well. Without it each node has a stock slurmd.
	NodeDaemon []string
	// Urgent has Slurm's daemons run before whatever else this machine does, in real time
	// (SCHED_RR); where that is not allowed they run as ever.
	Urgent bool
	// NoAuth has everybody believe what a message says of its sender (auth/none), so
	// that no munged is needed. The ports are those of this machine alone.
	NoAuth bool
	// Ephemeral has the cluster make its directory, which must not exist, and remove it in
	// the end, also if this process is killed.
	Ephemeral bool
	// Prepare, if set, is called before any daemon is started, when the directory is there
	// and whatever becomes of this process is seen to.
	Prepare func() error
	// StartTimeout bounds the wait for all nodes to be idle; by default a minute
	// and 100 ms a node.
	StartTimeout time.Duration
}

// Group is a run of nodes that are alike.
type Group struct {
	Nodes    int
	Cores    int    // of a socket, 1 unless set
	Sockets  int    // 1 unless set
	Threads  int    // of a core, 1 unless set
	MemoryMB int    // defaultMemoryMB unless set
	TmpMB    int    // local disk
	GPUs     int    // of a node
	GPUType  string // of all of them; "" for plain gpu
	Features string // "fast,ib"
	Options  string // the rest of the line NodeName=: "Weight=10 MemSpecLimit=2000"
	// GPUTypes are a node's GPUs if they are of several types, in the order of their
	// indices; GPUs is their sum then.
	GPUTypes []GPUType
	// GPUsNearCores has each GPU close to cores of its own, as many as to the others.
	GPUsNearCores bool
	// Gres is what a node has beside GPUs, without devices.
	Gres []Gres
}

// Gres is so much of a generic resource of a node; of a type, or "" for none.
type Gres struct {
	Name, Type string
	Count      int
}

// String is as --gres= has it: "nic:2", "fpga:a10:1".
func (g Gres) String() string { return fmt.Sprintf("%s:%d", join(":", g.Name, g.Type), g.Count) }

// GPUType is some GPUs of a node that are of one type; "" is plain gpu.
type GPUType struct {
	Name  string
	Count int
}

// gpuTypes are a node's GPUs by type.
func (g *Group) gpuTypes() []GPUType {
	switch {
	case g.GPUTypes != nil:
		return g.GPUTypes
	case g.GPUs > 0:
		return []GPUType{{g.GPUType, g.GPUs}}
	}
	return nil
}

// shards is how many shares each of a node's GPUs has.
func (g *Group) shards() int {
	for _, more := range g.Gres {
		if more.Name == "shard" && g.gpus() > 0 {
			return more.Count / g.gpus()
		}
	}
	return 0
}

// gpus is how many GPUs a node has.
func (g *Group) gpus() int {
	n := 0
	for _, t := range g.gpuTypes() {
		n += t.Count
	}
	return n
}

// Partition is a line PartitionName=. Options has the rest of it: "PriorityTier=2
// PreemptMode=requeue".
type Partition struct {
	Name    string
	Nodes   string // a hostlist; ALL unless set
	Default bool
	Options string
}

// Uniform is a machine of n nodes that are alike.
func Uniform(n, cores, gpus int) []Group {
	return []Group{{Nodes: n, Cores: cores, GPUs: gpus}}
}

// WithAuction is c with aucsched's plug-ins of directory dir switched on;
// parameters ("auc_interval=1") are put before those of c.
func (c Config) WithAuction(dir, parameters string) Config {
	c.PluginDirs = append([]string{dir}, c.PluginDirs...)
	c.JobSubmitPlugins = join(",", "aucsched", c.JobSubmitPlugins)
	c.CliFilterPlugins = join(",", "aucsched", c.CliFilterPlugins)
	c.SchedulerParameters = join(",", parameters, c.SchedulerParameters)
	return c
}

// join joins the parts that are not empty.
func join(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

const defaultMemoryMB = 16000

// maxNodes keeps the ports below those that the system gives out itself.
const maxNodes = 16000

// withDefaults fills in the defaults and checks what Slurm would not.
func (c Config) withDefaults() (Config, error) {
	groups := make([]Group, len(c.Groups))
	total := 0
	for i, g := range c.Groups {
		for _, v := range []int{g.Nodes, g.Cores, g.Sockets, g.Threads, g.MemoryMB, g.TmpMB, g.GPUs} {
			if v < 0 {
				return c, fmt.Errorf("slurmtest: group %d: %d is negative", i+1, v)
			}
		}
		if g.Nodes == 0 {
			return c, fmt.Errorf("slurmtest: group %d has no nodes", i+1)
		}
		g.Cores, g.Sockets, g.Threads = cmp.Or(g.Cores, 1), cmp.Or(g.Sockets, 1), cmp.Or(g.Threads, 1)
		g.MemoryMB = cmp.Or(g.MemoryMB, defaultMemoryMB)
		for _, t := range g.GPUTypes {
			if t.Count < 1 {
				return c, fmt.Errorf("slurmtest: group %d: %d GPUs of type %q", i+1, t.Count, t.Name)
			}
		}
		g.GPUs = g.gpus()
		groups[i] = g
		total += g.Nodes
	}
	switch {
	case total == 0:
		return c, errors.New("slurmtest: a cluster needs nodes")
	case total > maxNodes && c.NodeDaemon == nil:
		return c, fmt.Errorf("slurmtest: %d nodes: at most %d", total, maxNodes)
	}
	c.Groups = groups
	if c.Partitions == nil {
		c.Partitions = []Partition{{Name: "p", Default: true}}
	}
	if c.Accounting != nil {
		if err := c.Accounting.check(); err != nil {
			return c, err
		}
		if c.SlurmUser = cmp.Or(c.SlurmUser, "slurm"); c.SlurmUser == "root" {
			return c, errors.New("slurmtest: accounting needs a SlurmUser that is not root, for the database")
		}
	}
	c.SlurmUser = cmp.Or(c.SlurmUser, "root")
	c.SchedulerType = cmp.Or(c.SchedulerType, "sched/backfill")
	c.SelectTypeParameters = cmp.Or(c.SelectTypeParameters, "CR_Core")
	c.PriorityType = cmp.Or(c.PriorityType, "priority/basic")
	c.MinJobAge = cmp.Or(c.MinJobAge, 300*time.Second)
	c.LogLevel = cmp.Or(c.LogLevel, "info")
	c.StartTimeout = cmp.Or(c.StartTimeout, time.Minute+time.Duration(total)*100*time.Millisecond)
	return c, nil
}

func (c *Config) nodes() int {
	n := 0
	for _, g := range c.Groups {
		n += g.Nodes
	}
	return n
}

// daemons is how many processes play the nodes.
func (c *Config) daemons() int {
	if c.NodeDaemon != nil {
		return 1
	}
	return c.nodes()
}

// accountingPort is slurmdbd's port, if slurmctld's is port: behind those of the nodes.
func (c *Config) accountingPort(port int) int { return port + c.daemons() + 1 }

// ports is how many ports in a row the cluster needs.
func (c *Config) ports() int {
	n := c.daemons() + 1
	if c.Accounting != nil {
		n++
	}
	return n
}

// maxDir keeps the names of Unix sockets in a cluster's directory within the 107
// bytes that the kernel takes; slurmstepd's are spool/n00001/n00001_12345.4294967291.
const maxDir = 107 - len("/spool/n00001/n00001_123456.4294967291")

var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/_.+-]*$`)

func checkDir(dir string) error {
	if !plainPath.MatchString(dir) {
		return fmt.Errorf("slurmtest: directory %q: slurm.conf takes letters, digits and /_.+- only", dir)
	}
	if len(dir) > maxDir {
		return fmt.Errorf("slurmtest: directory %s: longer than %d bytes, too long for sockets in it", dir, maxDir)
	}
	return nil
}

// nodeRange is the hostlist of nodes first..last, counted from 1.
func nodeRange(first, last int) string {
	if first == last {
		return NodeName(first)
	}
	return fmt.Sprintf("n[%04d-%04d]", first, last)
}

// NodeName is the name of node i, counted from 1: n0001.
func NodeName(i int) string { return fmt.Sprintf("n%04d", i) }

// slurmConf is the text of slurm.conf. The configuration must have its defaults.
func (c *Config) slurmConf(dir, host, stockPlugins string, port int) string {
	var b confLines
	c.writeDaemons(&b, dir, host, port)
	c.writeAccounting(&b, dir, port)
	c.writeRules(&b, dir, stockPlugins)
	c.writeMachine(&b, host, port)
	for _, l := range c.ExtraLines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// confLines are lines of slurm.conf.
type confLines struct{ strings.Builder }

// line adds KEY=VALUE, unless the value is Slurm's own.
func (b *confLines) line(key, value string) {
	if value != "" {
		fmt.Fprintf(b, "%s=%s\n", key, value)
	}
}

// writeDaemons says who the daemons are, how they trust each other, and where their files are.
func (c *Config) writeDaemons(b *confLines, dir, host string, port int) {
	b.line("ClusterName", "slurmtest")
	b.line("SlurmctldHost", host+"(127.0.0.1)")
	for _, l := range c.backupLines() {
		fmt.Fprintln(b, l)
	}
	b.line("SlurmctldPort", fmt.Sprint(port))
	b.line("SlurmUser", c.SlurmUser)
	b.line("SlurmdUser", "root")
	if c.NoAuth {
		b.line("AuthType", "auth/none")
		b.line("CredType", "cred/none")
	} else {
		b.line("AuthType", "auth/munge")
		info := "socket=" + dir + "/munge/socket"
		if c.CredExpire > 0 {
			info += fmt.Sprintf(",cred_expire=%d", c.CredExpire/time.Second)
		}
		b.line("AuthInfo", info)
		b.line("CredType", "cred/munge")
	}
	b.line("StateSaveLocation", dir+"/state")
	b.line("SlurmdSpoolDir", dir+"/spool/%n")
	b.line("SlurmctldPidFile", dir+"/state/slurmctld.pid")
	b.line("SlurmdPidFile", dir+"/spool/%n/pid")
	b.line("SlurmctldLogFile", dir+"/log/slurmctld.log")
	b.line("SlurmdLogFile", dir+"/log/slurmd.log")
	b.line("SlurmctldDebug", c.LogLevel)
	b.line("SlurmdDebug", "info")
}

// writeAccounting says who records the jobs.
func (c *Config) writeAccounting(b *confLines, dir string, port int) {
	b.line("JobCompType", "jobcomp/filetxt")
	b.line("JobCompLoc", dir+"/state/jobcomp")
	if c.Accounting != nil {
		b.line("AccountingStorageType", "accounting_storage/slurmdbd")
		b.line("AccountingStorageHost", "127.0.0.1")
		b.line("AccountingStoragePort", fmt.Sprint(c.accountingPort(port)))
		if !c.NoAuth {
			b.line("AccountingStoragePass", dir+"/munge/socket") // so says slurmdbd's plug-in to it
		}
		b.line("AccountingStorageEnforce", c.Accounting.enforce())
		b.line("AccountingStorageTRES", c.Accounting.TRES)
	} else {
		b.line("AccountingStorageType", "accounting_storage/none")
	}
}

// writeRules says which plug-ins decide, and what they are told.
func (c *Config) writeRules(b *confLines, dir, stockPlugins string) {
	b.line("MpiDefault", "none")
	b.line("ProctrackType", "proctrack/pgid")
	b.line("TaskPlugin", "task/none")
	b.line("SwitchType", "switch/none")
	b.line("JobAcctGatherType", "jobacct_gather/none")
	b.line("ReturnToService", "2")
	b.line("SlurmdTimeout", "0")
	b.line("CommunicationParameters", "NoInAddrAny,NoCtldInAddrAny")
	b.line("KillWait", "2")
	b.line("TreeWidth", "128")
	b.line("PluginDir", strings.Join(append(c.PluginDirs[:len(c.PluginDirs):len(c.PluginDirs)], stockPlugins), ":"))
	b.line("SchedulerType", c.SchedulerType)
	b.line("SchedulerParameters", c.SchedulerParameters)
	b.line("SelectType", "select/cons_tres")
	b.line("SelectTypeParameters", c.SelectTypeParameters)
	b.line("JobSubmitPlugins", c.JobSubmitPlugins)
	b.line("CliFilterPlugins", c.CliFilterPlugins)
	b.line("Licenses", c.Licenses)
	b.line("PriorityType", c.PriorityType)
	b.line("PreemptType", c.PreemptType)
	b.line("PreemptMode", c.PreemptMode)
	if c.PrologSlurmctld != "" {
		b.line("PrologSlurmctld", dir+"/prolog")
	}
	if c.Topology != nil && c.topologyFile() == "topology.conf" {
		plugin := "topology/tree"
		if strings.HasPrefix(c.Topology[0], "Block") {
			plugin = "topology/block"
		}
		b.line("TopologyPlugin", plugin)
	}
	b.line("MinJobAge", fmt.Sprint(max(int(c.MinJobAge/time.Second), 1)))
	b.line("SlurmdParameters", "config_overrides")
	b.line("GresTypes", strings.Join(c.gresTypes(), ","))
}

// topologyFile is where the topology is written.
func (c *Config) topologyFile() string {
	if len(c.Topology) > 0 && c.Topology[0] == "---" {
		return "topology.yaml"
	}
	return "topology.conf"
}

// writeMachine has the nodes and the partitions.
func (c *Config) writeMachine(b *confLines, host string, port int) {
	first := 1
	for _, g := range c.Groups {
		last := first + g.Nodes - 1
		ports := portRange(port+first, port+last)
		if c.NodeDaemon != nil {
			ports = portRange(port+1, port+1)
		}
		fmt.Fprintf(b, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%s %s\n", nodeRange(first, last), host, ports, g.options())
		first = last + 1
	}
	for _, p := range c.Partitions {
		isDefault := "NO"
		if p.Default {
			isDefault = "YES"
		}
		fmt.Fprintln(b, join(" ", "PartitionName="+p.Name, "Nodes="+cmp.Or(p.Nodes, "ALL"), "Default="+isDefault,
			"MaxTime=INFINITE State=UP", p.Options))
	}
}

func portRange(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("[%d-%d]", first, last)
}

// options are a group's options of a line NodeName=.
func (g *Group) options() string {
	s := fmt.Sprintf("CPUs=%d Sockets=%d CoresPerSocket=%d ThreadsPerCore=%d RealMemory=%d State=UNKNOWN",
		g.Cores*g.Sockets*g.Threads, g.Sockets, g.Cores, g.Threads, g.MemoryMB)
	if g.TmpMB > 0 {
		s += fmt.Sprintf(" TmpDisk=%d", g.TmpMB)
	}
	var gres []string
	for _, t := range g.gpuTypes() {
		gres = append(gres, fmt.Sprintf("%s:%d", join(":", "gpu", t.Name), t.Count))
	}
	for _, more := range g.Gres {
		gres = append(gres, more.String())
	}
	if gres != nil {
		s += " Gres=" + strings.Join(gres, ",")
	}
	if g.Features != "" {
		s += " Features=" + g.Features
	}
	return join(" ", s, g.Options)
}

// gresTypes are the names of all gres.
func (c *Config) gresTypes() []string {
	names := []string{"gpu"}
	for _, g := range c.Groups {
		for _, more := range g.Gres {
			if !slices.Contains(names, more.Name) {
				names = append(names, more.Name)
			}
		}
	}
	return names
}

// splitGPUs are the GPUs as gres.conf has them, a line each: one by one if each is close to cores.
func (g *Group) splitGPUs() (lines []GPUType) {
	if !g.GPUsNearCores {
		return g.gpuTypes()
	}
	for _, t := range g.gpuTypes() {
		for range t.Count {
			lines = append(lines, GPUType{t.Name, 1})
		}
	}
	return lines
}

// coresNear is what gres.conf says of the cores that a GPU is close to.
func (g *Group) coresNear(device int) string {
	cores := g.Cores * g.Sockets / g.gpus()
	switch {
	case !g.GPUsNearCores:
		return ""
	case cores == 1:
		return fmt.Sprint("Cores=", device)
	}
	return fmt.Sprintf("Cores=%d-%d", device*cores, (device+1)*cores-1)
}

// gresConf is the text of gres.conf.
func (c *Config) gresConf(dir string) string {
	var b strings.Builder
	first := 1
	for _, g := range c.Groups {
		last := first + g.Nodes - 1
		device := 0
		for _, t := range g.splitGPUs() {
			files := fmt.Sprintf("gpu%d", device)
			if t.Count > 1 {
				files = fmt.Sprintf("gpu[%d-%d]", device, device+t.Count-1)
			}
			typ := ""
			if t.Name != "" {
				typ = "Type=" + t.Name
			}
			fmt.Fprintln(&b, join(" ", "NodeName="+nodeRange(first, last), "Name=gpu", typ, "File="+dir+"/dev/"+files, g.coresNear(device)))
			device += t.Count
		}
		for _, more := range g.Gres {
			line := []string{"NodeName=" + nodeRange(first, last), "Name=" + more.Name, fmt.Sprint("Count=", more.Count)}
			if more.Type != "" {
				line = append(line, "Type="+more.Type)
			}
			fmt.Fprintln(&b, strings.Join(line, " "))
		}
		first = last + 1
	}
	return b.String()
}
