// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Cluster is a running cluster. Its methods may be used by several goroutines.
type Cluster struct {
	// Dir holds all of the cluster's files: slurm.conf, log, state, spool.
	Dir string
	// Port is slurmctld's.
	Port int

	programs map[string]string
	host     string
	stock    string // the installed Slurm's plug-in directory

	mu         sync.Mutex
	cfg        Config
	controller *daemon
	backup     *daemon
	kills      []time.Time // when slurmctld was ended with SIGKILL

	daemons  []*daemon          // munged and the slurmds
	slurmds  map[string]*daemon // the last of each node
	reapers  []*reaper
	faults   *Faults
	stopOnce sync.Once
	stopErr  error
}

// Start brings up the cluster in dir, which is made if need be and should be empty,
// and returns when all nodes are idle. If that fails, nothing is left running and
// the error holds the ends of the logs; an [ErrMissing] says that this machine can't.
func Start(ctx context.Context, dir string, cfg Config) (*Cluster, error) {
	wanted := needed
	if cfg.Accounting != nil {
		wanted = slices.Concat(needed, neededForAccounts)
	}
	programs, err := find(wanted)
	if err != nil {
		return nil, err
	}
	stock, err := StockPluginDir()
	if err != nil {
		return nil, err
	}
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	host, _, _ = strings.Cut(host, ".")
	c := &Cluster{Dir: dir, Port: cfg.PortBase, programs: programs, host: host, stock: stock, cfg: cfg}
	if err := c.start(ctx); err != nil {
		err = fmt.Errorf("slurmtest: %w%s", err, c.logTails())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if c.Port == 0 {
		var err error
		if c.Port, err = freePorts(c.cfg.ports()); err != nil {
			return err
		}
	}
	if err := c.makeDir(); err != nil {
		return err
	}
	if err := c.makeFiles(); err != nil {
		return err
	}
	if c.cfg.Prepare != nil {
		if err := c.cfg.Prepare(); err != nil {
			return err
		}
	}
	if !c.cfg.NoAuth {
		if err := c.startMunged(ctx); err != nil {
			return err
		}
	}
	if c.cfg.Accounting != nil {
		if err := c.startAccounting(ctx); err != nil {
			return err
		}
	}
	if err := c.StartController(ctx); err != nil {
		return err
	}
	if err := c.startNodes(); err != nil {
		return err
	}
	return c.waitIdle(ctx)
}

func (c *Cluster) startNodes() error {
	if argv := c.cfg.NodeDaemon; argv != nil {
		d, err := c.launch("nodes", slices.Concat(c.faultEnv(), c.cfg.DaemonEnv), append(slices.Clone(argv), "-f", c.conf())...)
		if err != nil {
			return err
		}
		d.name = filepath.Base(argv[0])
		c.mu.Lock()
		defer c.mu.Unlock()
		c.daemons = append(c.daemons, d)
		return nil
	}
	for i := 1; i <= c.cfg.nodes(); i++ {
		if err := c.startNode(NodeName(i)); err != nil {
			return err
		}
	}
	return nil
}

// freePorts finds n neighbouring ports that are free. They lie below those that the
// system gives to whoever asks for any.
func freePorts(n int) (int, error) {
	const low, high = 10000, 32000
	for range 50 {
		base := low + rand.IntN(high-low-n)
		if portsFree(base, n) {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row between %d and %d", n, low, high)
}

func portsFree(base, n int) bool {
	for p := base; p < base+n; p++ {
		l, err := net.Listen("tcp4", fmt.Sprintf(":%d", p))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func (c *Cluster) path(elem ...string) string {
	return filepath.Join(append([]string{c.Dir}, elem...)...)
}

func (c *Cluster) conf() string { return c.path("slurm.conf") }

// makeDir makes the cluster's directory, once there are reapers: an ephemeral one is never
// without somebody who removes it, and never what was there before.
func (c *Cluster) makeDir() error {
	if !c.cfg.Ephemeral {
		return errors.Join(c.startReapers(), os.MkdirAll(c.Dir, 0o755))
	}
	if _, err := os.Lstat(c.Dir); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: an ephemeral cluster makes its directory itself, and this is there already (%v)", c.Dir, err)
	}
	if err := c.startReapers(); err != nil {
		return err
	}
	err := os.Mkdir(c.Dir, 0o700)
	if err != nil {
		c.dismiss() // it may be somebody else's by now
	}
	return err
}

// makeFiles makes the directories, the device nodes and the configuration files.
func (c *Cluster) makeFiles() error {
	dirs := []string{"state", "log", "dev", "work", "munge"}
	for i := 1; i <= c.cfg.daemons(); i++ {
		dirs = append(dirs, filepath.Join("spool", NodeName(i)))
	}
	for _, d := range dirs {
		if err := os.MkdirAll(c.path(d), 0o755); err != nil {
			return err
		}
	}
	if err := c.giveAway(); err != nil {
		return err
	}
	v, err := Version()
	if err != nil {
		return err
	}
	switch {
	case c.cfg.Cgroups != nil:
		if err := os.WriteFile(c.path("cgroup.conf"), []byte(strings.Join(c.cfg.Cgroups, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	case v < "24.05":
		if mounted, err := os.ReadDir("/sys/fs/cgroup"); err != nil || len(mounted) == 0 {
			return &ErrMissing{"slurmd " + v + " wants cgroups, and /sys/fs/cgroup is not mounted"}
		}
	default: // older versions know no such value
		if err := os.WriteFile(c.path("cgroup.conf"), []byte("CgroupPlugin=disabled\n"), 0o644); err != nil {
			return err
		}
	}
	gpus := 0
	for _, g := range c.cfg.Groups {
		gpus = max(gpus, g.gpus())
	}
	for i := range gpus { // the null device poses as a GPU
		if err := syscall.Mknod(c.path("dev", fmt.Sprintf("gpu%d", i)), syscall.S_IFCHR|0o666,
			1<<8|3); err != nil && !errors.Is(err, os.ErrExist) {
			return &ErrMissing{fmt.Sprintf("device nodes can't be made in %s: %v", c.Dir, err)}
		}
	}
	if err := os.WriteFile(c.path("gres.conf"), []byte(c.cfg.gresConf(c.Dir)), 0o644); err != nil {
		return err
	}
	if err := c.writeOptional(); err != nil {
		return err
	}
	if c.cfg.Faults {
		if err := c.makeFaults(); err != nil {
			return err
		}
	}
	return c.writeConf()
}

// writeOptional writes the files that only some clusters have.
func (c *Cluster) writeOptional() error {
	if text := c.cfg.PrologSlurmctld; text != "" {
		if err := os.WriteFile(c.path("prolog"), []byte(text), 0o755); err != nil {
			return err
		}
	}
	if lines := c.cfg.Topology; lines != nil {
		return os.WriteFile(c.path(c.cfg.topologyFile()), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	}
	return nil
}

// giveAway lets SlurmUser write what slurmctld writes, and any user run jobs.
func (c *Cluster) giveAway() error {
	if c.cfg.SlurmUser == "root" {
		return nil
	}
	if err := os.Chmod(c.path("work"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	if err := os.WriteFile(c.startsFile(), nil, 0o666); err != nil {
		return err
	}
	if err := os.Chmod(c.startsFile(), 0o666); err != nil { // whatever the umask
		return err
	}
	as, err := accountOf(c.cfg.SlurmUser)
	if err != nil {
		return err
	}
	if err := os.Chmod(c.Dir, 0o755); err != nil {
		return err
	}
	for _, d := range []string{"state", "log"} {
		if err := os.Chown(c.path(d), int(as.uid), int(as.gid)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) writeConf() error {
	text := c.cfg.slurmConf(c.Dir, c.host, c.stock, c.Port)
	tmp := c.conf() + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, c.conf())
}

func (c *Cluster) startMunged(ctx context.Context) error {
	key := make([]byte, 128)
	crand.Read(key) // never fails
	if err := os.WriteFile(c.path("munge", "key"), key, 0o600); err != nil {
		return err
	}
	d, err := c.launch("munged", nil, "munged", "--foreground", "--force", "--num-threads=4",
		"--key-file="+c.path("munge", "key"), "--socket="+c.path("munge", "socket"), "--pid-file="+c.path("munge", "pid"),
		"--log-file="+c.path("log", "munged.log"), "--seed-file="+c.path("munge", "seed"))
	if err != nil {
		return err
	}
	c.daemons = append(c.daemons, d)
	return c.poll(ctx, 10*time.Second, "munged to make its socket", func() (bool, error) {
		if d.exited() {
			return false, d.ended()
		}
		_, err := os.Stat(c.path("munge", "socket"))
		return err == nil, nil
	})
}

// waitIdle waits until slurmctld says that every node is idle.
func (c *Cluster) waitIdle(ctx context.Context) error {
	var states map[string]int
	err := c.poll(ctx, c.cfg.StartTimeout, "all nodes to be idle", func() (bool, error) {
		err := c.Failure()
		if err != nil {
			return false, err
		}
		if states, err = c.nodeStates(ctx); err != nil {
			return false, nil // slurmctld may not be listening yet
		}
		return states["idle"] == c.cfg.nodes(), nil
	})
	if err != nil && states != nil {
		return fmt.Errorf("%w (nodes by state: %v)", err, states)
	}
	return err
}

// nodeStates counts the nodes by state. (A line a node, sinfo -N, takes time that grows with the
// square of their number.)
func (c *Cluster) nodeStates(ctx context.Context) (map[string]int, error) {
	out, err := c.run(ctx, 0, "", "sinfo", "-h", "-a", "-o", "%T %N")
	if err != nil {
		return nil, err
	}
	return countStates(out)
}

// countStates reads lines of a state and a hostlist; a node of several partitions is in several.
func countStates(text string) (map[string]int, error) {
	seen, states := map[string]bool{}, map[string]int{}
	for l := range strings.SplitSeq(text, "\n") {
		state, nodes, ok := strings.Cut(strings.TrimSpace(l), " ")
		if !ok {
			continue
		}
		names, err := expandNodes(strings.TrimSpace(nodes))
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				states[state]++
			}
		}
	}
	return states, nil
}

// poll calls done until it is true, has an error, or the time is over.
func (c *Cluster) poll(ctx context.Context, limit time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(wait*3/2, 250*time.Millisecond) {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for %s: %w", limit, what, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// Stop ends the cluster: slurmctld by SIGTERM, so that a wrapper can say what it
// found, then whatever is left by SIGKILL. Two watchdogs do the latter; they work as well
// when this process is killed, panics or is interrupted, and what it has started ends with
// it even if they are killed too. An ephemeral cluster's directory is gone then. Stop may
// be called more than once; the error says that something would not end.
func (c *Cluster) Stop() error {
	c.stopOnce.Do(func() { c.stopErr = c.stop() })
	return c.stopErr
}

func (c *Cluster) stop() error {
	var errs []error
	if c.faults != nil {
		errs = append(errs, c.faults.Clear()) // or slurmctld might not end
		defer c.faults.close()
	}
	wrapped := len(c.cfg.Wrapper) > 0
	if c.BackupPid() > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		errs = append(errs, c.KillBackup(ctx, syscall.SIGKILL))
		cancel()
	}
	// When another daemon has ended, slurmctld might long wait for that.
	if c.controllerRuns() && (wrapped || c.Failure() == nil) {
		limit := 5 * time.Second
		if wrapped {
			limit = time.Minute
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		errs = append(errs, c.KillController(ctx, syscall.SIGTERM))
		cancel()
	}
	if c.reapers == nil {
		return errors.Join(errs...)
	}
	if err := c.reap(); err != nil { // who would not end is not waited for
		return errors.Join(append(errs, err)...)
	}
	for _, d := range c.daemons {
		<-d.done
	}
	return errors.Join(errs...)
}

// Logs returns the last bytes, at most n, of the named log: "slurmctld.log", "slurmd.log".
func (c *Cluster) Logs(name string, n int) string {
	f, err := os.Open(c.path("log", name))
	if err != nil {
		return ""
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > int64(n) {
		f.Seek(-int64(n), io.SeekEnd)
	} else {
		f.Seek(0, io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(f, int64(n)))
	return string(text)
}

func (c *Cluster) logTails() string {
	var b strings.Builder
	for _, name := range []string{"slurmctld.log", "slurmctld.out", "slurmd.log", "nodes.out", "munged.log", "munged.out",
		"slurmdbd.out", "mariadbd.out"} {
		if t := strings.TrimSpace(c.Logs(name, 2000)); t != "" {
			fmt.Fprintf(&b, "\n--- end of %s:\n%s", name, t)
		}
	}
	return b.String()
}
