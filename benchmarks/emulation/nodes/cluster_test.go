// SPDX-License-Identifier: BSD-3-Clause

package nodes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/benchmarks/emulation/vclock"
	"github.com/aucsched/aucsched/internal/test/slurmtest"
)

// cluster is a stock slurmctld with a vslurmd for its nodes, both by a clock of their own.
type cluster struct {
	dir, built string
	programs   map[string]string
	host       string
	port       int
	clock      *vclock.Clock
	controller *exec.Cmd
	nodes      *exec.Cmd
	lifeline   io.Closer
}

// group is nodes of a kind: a line of slurm.conf.
type group struct {
	name               string // n[1-4]
	cpus, gpus, memory int
}

// marker is the variable by which slurmtest's reaper knows processes.
const marker = "AUCSCHED_SLURMTEST="

const conf = `ClusterName=emulation
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmdPort=%[3]d
SlurmUser=root
SlurmdUser=root
AuthType=auth/%[5]s
CredType=cred/%[5]s
%[6]s
PlugStackConfig=%[4]s/plugstack.conf
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool
SlurmctldPidFile=%[4]s/slurmctld.pid
SlurmctldLogFile=%[4]s/slurmctld.log
SlurmctldDebug=verbose
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=%[4]s/jobcomp.log
ReturnToService=2
MessageTimeout=6000
TCPTimeout=3000
SlurmctldTimeout=3600
SlurmdTimeout=0
InactiveLimit=0
BatchStartTimeout=5
MinJobAge=86400
JobRequeue=0
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/basic
GresTypes=gpu
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

func (g group) conf(host string, port int) string {
	line := fmt.Sprintf("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d CoresPerSocket=%d RealMemory=%d State=UNKNOWN",
		g.name, host, port, g.cpus, g.cpus, g.memory)
	if g.gpus > 0 {
		line += fmt.Sprintf(" Gres=gpu:%d", g.gpus)
	}
	return line
}

// options of a cluster.
type options struct {
	rate  float64
	munge bool
	extra string // of slurm.conf
}

// bed starts a cluster, and ends it with the test, or if the test dies.
func bed(t *testing.T, o options, groups ...group) *cluster {
	if os.Getenv("AUCSCHED_SLURM_TEST") != "1" {
		t.Skip("starts a real slurmctld: AUCSCHED_SLURM_TEST=1 to run it")
	}
	c, err := start(t.TempDir(), o, groups...)
	var missing *slurmtest.ErrMissing
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.logs())
		}
		require.NoError(t, c.stop())
	})
	return c
}

// build runs scripts/emulation.sh, once for all tests.
var build = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("sh", "../../../scripts/emulation.sh")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("emulation.sh: %w\n%s", err, &errs)
	}
	return strings.TrimSpace(string(out)), nil
})

// start brings a cluster up; that its nodes are idle is not waited for.
func start(dir string, o options, groups ...group) (*cluster, error) {
	programs, err := slurmtest.Programs()
	if err != nil {
		return nil, err
	}
	built, err := build()
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	host, _, _ = strings.Cut(host, ".")
	c := &cluster{dir: dir, built: built, programs: programs, host: host}
	if c.clock, err = vclock.Create(c.path("clock"), time.Unix(1767225600, 0), o.rate); err != nil {
		return nil, err
	}
	err = errors.Join(c.startReaper(), c.clock.SetRate(o.rate), c.configure(o, groups))
	if err == nil && o.munge {
		err = c.startMunged()
	}
	if err == nil {
		err = c.startController()
	}
	if err == nil {
		c.nodes, err = c.launch("vslurmd", []string{filepath.Join(built, "vslurmd"), "-vvv", "-f", c.path("slurm.conf")}, true)
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) configure(o options, groups []group) error {
	var err error
	if c.port, err = freePorts(); err != nil {
		return err
	}
	auth, info := "none", ""
	if o.munge {
		auth, info = "munge", "AuthInfo=socket="+c.path("munge.socket")
	}
	text := fmt.Sprintf(conf, c.host, c.port, c.port+1, c.dir, auth, info) + o.extra + "\n"
	for _, g := range groups {
		text += g.conf(c.host, c.port+1) + "\n"
	}
	version, err := slurmtest.Version()
	if err != nil {
		return err
	}
	cgroup := "CgroupPlugin=autodetect\n"
	if version > "23" {
		cgroup = "CgroupPlugin=disabled\n"
	}
	return errors.Join(os.Mkdir(c.path("state"), 0o755), os.WriteFile(c.path("slurm.conf"), []byte(text), 0o644),
		os.WriteFile(c.path("plugstack.conf"), nil, 0o644), os.WriteFile(c.path("cgroup.conf"), []byte(cgroup), 0o644))
}

// freePorts finds two neighbouring ports that are free, below those that the system gives to
// whoever asks for any.
func freePorts() (int, error) {
	for range 100 {
		port := 10000 + rand.IntN(20000)
		if portFree(port) && portFree(port+1) {
			return port, nil
		}
	}
	return 0, errors.New("no two free ports in a row from 10000 to 30000")
}

func portFree(port int) bool {
	l, err := net.Listen("tcp4", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// startReaper starts slurmtest's watchdog: when this process ends, however, so do those
// of the cluster.
func (c *cluster) startReaper() error {
	script, err := filepath.Abs("../../../internal/test/slurmtest/reaper.sh")
	if err != nil {
		return err
	}
	cmd := exec.Command(c.programs["sh"], script, c.dir)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.lifeline, err = cmd.StdinPipe(); err != nil {
		return err
	}
	return cmd.Start()
}

// environ is this process's environment without what Slurm reads from it, with the
// cluster's slurm.conf and mark.
func (c *cluster) environ() []string {
	var env []string
	for _, e := range os.Environ() {
		if !regexp.MustCompile(`^(SLURM|SBATCH_|SQUEUE_|SINFO_|AUCSCHED_|LC_ALL=|TZ=)`).MatchString(e) {
			env = append(env, e)
		}
	}
	return append(env, "SLURM_CONF="+c.path("slurm.conf"), marker+c.dir, "LC_ALL=C", "TZ=UTC")
}

// launch starts a daemon; scaled: by the cluster's clock.
func (c *cluster) launch(name string, argv []string, scaled bool) (*exec.Cmd, error) {
	out, err := os.OpenFile(c.path(name+".out"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.environ(), out, out
	if scaled {
		cmd.Env = append(cmd.Env, vclock.Env(filepath.Join(c.built, "vclock.so"), c.path("clock"))...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

func (c *cluster) startController() error {
	var err error
	c.controller, err = c.launch("slurmctld", []string{c.programs["slurmctld"], "-D", "-f", c.path("slurm.conf")}, true)
	return err
}

func (c *cluster) startMunged() error {
	if err := os.WriteFile(c.path("munge.key"), bytes.Repeat([]byte("not a secret..."), 10), 0o600); err != nil {
		return err
	}
	_, err := c.launch("munged", []string{c.programs["munged"], "--foreground", "--force", "--key-file=" + c.path("munge.key"),
		"--socket=" + c.path("munge.socket"), "--pid-file=" + c.path("munge.pid"),
		"--log-file=" + c.path("munged.log"), "--seed-file=" + c.path("munge.seed")}, false)
	for i := 0; err == nil && i < 100; i++ {
		if _, gone := os.Stat(c.path("munge.socket")); gone == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(err, errors.New("munged made no socket"))
}

// kill ends a daemon and waits for it.
func kill(cmd *exec.Cmd, signal syscall.Signal) error {
	if err := cmd.Process.Signal(signal); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// stop ends all processes of the cluster.
func (c *cluster) stop() error {
	if c.lifeline == nil {
		return nil
	}
	err := errors.Join(c.lifeline.Close(), c.clock.Close())
	for range 200 {
		if len(c.processes()) == 0 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(err, fmt.Errorf("processes %v would not end", c.processes()))
}

// processes are those with the cluster's mark that have not ended.
func (c *cluster) processes() []string { return marked(c.dir) }

func marked(dir string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+marker+dir+"\x00")) {
			found = append(found, filepath.Base(filepath.Dir(f)))
		}
	}
	return found
}

func (c *cluster) logs() string {
	var b strings.Builder
	for _, name := range []string{"slurmctld.log", "slurmctld.out", "vslurmd.out", "munged.log"} {
		text, _ := os.ReadFile(c.path(name))
		fmt.Fprintf(&b, "\n--- end of %s:\n%s", name, text[max(0, len(text)-6000):])
	}
	return b.String()
}

// run is a command of Slurm's; it returns what that printed.
func (c *cluster) run(input string, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdin = c.environ(), c.dir, strings.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, &errs)
	}
	return strings.TrimSpace(string(out)), nil
}
