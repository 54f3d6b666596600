// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/agents"
	"github.com/aucsched/aucsched/invasive/ihypervisor"
	"github.com/aucsched/aucsched/invasive/lines"
	"github.com/aucsched/aucsched/invasive/link"
)

// headFlags are those of an iHypervisor over many nodes.
type headFlags struct {
	nodes      int
	listen     string
	invitation string
	lostAfter  time.Duration
}

func (f *headFlags) add(s *pflag.FlagSet) {
	s.IntVar(&f.nodes, "agents", 0, "run jobs on so many nodes, each with an aucsched agent; 0: on this host, without any")
	s.StringVar(&f.listen, "agents-listen", "", "HOST:PORT where agents join; they are told HOST (default this host, any port)")
	s.StringVar(&f.invitation, "invitation", "",
		"file by which agents join, which only their user may read (default: invitation in --state)")
	s.DurationVar(&f.lostAfter, "lost-after", 5*time.Minute, "how long an agent may be away until what its node runs is lost")
}

// mostAgents bounds --agents.
const mostAgents = 1 << 16

func (f *headFlags) check(flags *pflag.FlagSet, state string) error {
	if f.nodes < 0 || f.nodes > mostAgents {
		return fmt.Errorf("--agents: %d: must be 0 to %d", f.nodes, mostAgents)
	}
	for _, name := range []string{"agents-listen", "invitation", "lost-after"} {
		if f.nodes == 0 && flags.Changed(name) {
			return fmt.Errorf("--%s: needs --agents", name)
		}
	}
	if f.nodes == 0 {
		return nil
	}
	for _, name := range []string{"slurm", "nodes", "sockets", "cores", "oversubscribe", "user", "output", "job-socket"} {
		if flags.Changed(name) {
			return fmt.Errorf("--%s: not with --agents, which have it", name)
		}
	}
	if f.lostAfter < time.Second || f.lostAfter > invasive.MaxTimer {
		return fmt.Errorf("--lost-after: %v: must be 1s to %v", f.lostAfter, invasive.MaxTimer)
	}
	if f.listen == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		f.listen = net.JoinHostPort(host, "0")
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return fmt.Errorf("--agents-listen: %w", err)
	}
	if f.invitation == "" {
		f.invitation = filepath.Join(state, "invitation")
	}
	return nil
}

// run is an iHypervisor whose jobs run on the nodes of agents.
func (f *headFlags) run(c *cobra.Command, config *ihypervisor.Config, endpoint *link.Endpoint) (err error) {
	if err := os.MkdirAll(filepath.Dir(config.State), 0o755); err != nil {
		return err
	}
	head, err := agents.OpenHead(agents.HeadConfig{State: config.State, JobsDir: config.JobsDir(), Listen: f.listen,
		Invitation: f.invitation, Nodes: f.nodes, LostAfter: f.lostAfter, Log: config.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, head.Close()) }()
	fmt.Fprintf(c.OutOrStdout(), "waits for %d agents, which join by %s\n", f.nodes, f.invitation)
	if config.Topology, err = head.Gather(c.Context(), config.Topology.Partition.Name); err != nil {
		if c.Context().Err() != nil {
			return nil
		}
		return err
	}
	config.Launcher = head
	return runIHypervisor(c.Context(), config, endpoint, c.OutOrStdout())
}

// agentFlags are those of an agent.
type agentFlags struct {
	c             agents.AgentConfig
	invitation    string
	partition     invasive.Partition
	oversubscribe bool
	user          string
}

func agentCommand() *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:         "agent",
		Short:       "Run jobs on this node, for aucsched ihypervisor --agents",
		Annotations: map[string]string{cli.Daemon: ""},
		Long: `agent runs on each node of an iHypervisor that has --agents (invasive/docs/manager.md). It may be killed at any time: jobs
run on, and the next agent with the same --state finds them. SIGTERM or SIGINT ends it in order; jobs run on then too. As long
as no iHypervisor is there it looks for one.

Jobs run as this command's user, or as --user, which root has to say.`,
		Args: cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.finish(); err != nil {
				return cli.BadInput(err)
			}
			a, err := agents.NewAgent(f.c)
			if err != nil {
				return err
			}
			p := f.c.Topology.Partition
			fmt.Fprintf(c.OutOrStdout(), "node %s of %d sockets of %d cores\n", f.c.Node, p.Sockets, p.CoresPerSocket)
			return a.Run(c.Context())
		},
	}
	s := c.Flags()
	s.StringVar(&f.invitation, "invitation", "", "the iHypervisor's file of that name")
	s.StringVar(&f.c.Node, "node", "", "this node's name (default what Slurm calls it, or the host's)")
	s.StringVar(&f.c.State, "state", "/var/lib/aucsched-agent", "directory of what is known of running jobs, on a disk of this node")
	s.StringVar(&f.c.Output, "output", "",
		"directory of the jobs' output, ID.out, and ID.NODE.out of commands (default: output in --state)")
	s.StringVar(&f.user, "user", "", "the user that jobs run as, by name; another than this one only if this one is root")
	s.Uint32Var(&f.partition.Sockets, "sockets", 0, "sockets of this node (default: 1 if --cores is given, else the host's)")
	s.Uint32Var(&f.partition.CoresPerSocket, "cores", 0, "cores of a socket (default: the host's)")
	s.IntVar(&f.c.With, "with", 0, "number of a process: when it ends, so does all that jobs run here; 0: none")
	s.BoolVar(&f.oversubscribe, "oversubscribe", false, "let several cores of the node be one of the host")
	return c
}

// finish checks all of it.
func (f *agentFlags) finish() (err error) {
	if f.invitation == "" {
		return errors.New("--invitation: must name the iHypervisor's file")
	}
	if f.c.With != 0 && (f.c.With < 2 || syscall.Kill(f.c.With, 0) != nil) {
		return fmt.Errorf("--with: %d: must be a process", f.c.With)
	}
	if f.invitation, err = filepath.Abs(f.invitation); err != nil {
		return err
	}
	if f.c.Node == "" {
		f.c.Node = os.Getenv("SLURMD_NODENAME")
	}
	if f.c.Node == "" {
		if f.c.Node, err = os.Hostname(); err != nil {
			return err
		}
	}
	if strings.ContainsAny(f.c.Node, "/\n\x00") || len(f.c.Node) > invasive.MaxText {
		return fmt.Errorf("--node: %.80q: must be a name of at most %d bytes", f.c.Node, invasive.MaxText)
	}
	if f.c.State, err = filepath.Abs(f.c.State); err != nil {
		return err
	}
	if f.c.Output == "" {
		f.c.Output = filepath.Join(f.c.State, "output")
	}
	if f.c.Output, err = filepath.Abs(f.c.Output); err != nil {
		return err
	}
	if f.c.Credential, err = credential(f.user); err != nil {
		return fmt.Errorf("--user: %w", err)
	}
	flags := ihypervisorFlags{partition: f.partition, oversubscribe: f.oversubscribe}
	if f.c.Topology, err = flags.topology(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	f.c.Supervisor = []string{exe, supervisorName}
	f.c.Log, f.c.Invitation = slog.Default(), f.readInvitation
	return os.MkdirAll(filepath.Dir(f.c.State), 0o755)
}

func (f *agentFlags) readInvitation() (lines.Invitation, error) {
	text, err := readOwn(f.invitation)
	if err != nil {
		return lines.Invitation{}, err
	}
	i, err := lines.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		err = fmt.Errorf("%s: %w", f.invitation, err)
	}
	return i, err
}

// readOwn reads a short file that nobody but this user and root can read or change: who
// can has jobs run here.
func readOwn(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var st unix.Stat_t
	switch err := unix.Fstat(int(file.Fd()), &st); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, fmt.Errorf("%s: must be a regular file", path)
	case st.Uid != 0 && st.Uid != uint32(os.Geteuid()):
		return nil, fmt.Errorf("%s: belongs to user %d: must be this user's, or root's", path, st.Uid)
	case st.Mode&0o077 != 0:
		return nil, fmt.Errorf("%s: mode %#o lets others read or write it: must be 0600", path, st.Mode&0o777)
	}
	return io.ReadAll(io.LimitReader(file, 1<<12))
}
