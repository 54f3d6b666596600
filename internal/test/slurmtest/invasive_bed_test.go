// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// builtProgrammes is where they are; TestMain removes it.
var builtProgrammes string

// programmes are the command with its companions, and a job that adapts, built once.
var programmes = sync.OnceValues(func() (dir string, err error) {
	defer func() { builtProgrammes = dir }()
	if dir, err = os.MkdirTemp("", "slurmtest-invasive"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	for module, packages := range map[string][]string{
		"../../..": {"./cmd/aucsched"}, "../../../benchmarks": {"./cmd/aucsched-lab"},
		"../../../invasive": {"./cmd/aucsched-invasive", "./internal/adapts"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-o", dir + "/"}, packages...)...)
		cmd.Dir = module
		if text, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%w: %s", err, text)
		}
	}
	return dir, nil
})

// An invasiveBed is a cluster of two nodes: partition invasic has the first, with both programmes
// as processes, and partition p the second. The first has the host's CPUs, as two cores.
type invasiveBed struct {
	*Cluster
	t            *testing.T
	dir, bin     string
	hyper, sched *exec.Cmd
	lists        map[string]string // of CPUs, by those of cores
}

const (
	invasiveCores = 2
	invasiveTime  = time.Minute // for what takes a second where there is time
)

func newInvasiveBed(t *testing.T, parameters string) *invasiveBed {
	t.Helper()
	bed(t)
	bin, err := programmes()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "invasive") // short, and open to jobs of other users
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	b := &invasiveBed{t: t, dir: dir, bin: bin, lists: make(map[string]string)}
	prolog := "#!/bin/sh\n[ \"$SLURM_JOB_PARTITION\" != invasic ] || exec " + bin + "/aucsched task-prolog\n"
	require.NoError(t, os.WriteFile(b.file("prolog"), []byte(prolog), 0o755))
	b.Cluster = cluster(t, auction, Config{
		Groups: Uniform(2, 4, 0),
		Partitions: []Partition{
			{Name: "p", Nodes: "n0002", Default: true},
			{Name: "invasic", Nodes: "n0001", Options: "OverSubscribe=FORCE:16"},
		},
		ExtraLines:          []string{"TaskProlog=" + b.file("prolog")},
		SchedulerParameters: join(",", "auc_invasic=invasic,auc_invasic_urgent=*,auc_invasic_socket="+b.file("state/run/jobs"), parameters),
	})
	// the commands of jobs of other users read slurm.conf
	require.NoError(t, os.Chmod(b.Dir, 0o755))
	t.Cleanup(func() {
		for _, cmd := range []*exec.Cmd{b.sched, b.hyper} {
			if cmd != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
		}
		if t.Failed() || os.Getenv("AUCSCHED_SLURM_KEEP") == "1" {
			log, _ := os.ReadFile(b.file("log"))
			t.Logf("%s\n%s", log, b.trace())
		}
		os.RemoveAll(dir)
	})
	return b
}

func (b *invasiveBed) file(name string) string { return filepath.Join(b.dir, name) }

func (b *invasiveBed) startBoth() {
	b.startHyper()
	b.startSched()
}

func (b *invasiveBed) startHyper() {
	b.t.Helper()
	b.hyper = b.start("ihypervisor", "--slurm", "invasic", "--socket", "unix:"+b.file("run/socket"), "--state", b.file("state"), "--cores",
		strconv.Itoa(invasiveCores), "--oversubscribe", "--report", "1s", "--retry", "1s", "--trace", b.file("trace"))
}

func (b *invasiveBed) startSched() {
	b.t.Helper()
	b.sched = b.start("ischeduler", "--slurm", "invasic", "--slurm-every", "300ms",
		"--dir", b.file("sched"), "--connect", "unix:"+b.file("run/socket"),
		"--report", "1s")
}

func (b *invasiveBed) start(args ...string) *exec.Cmd {
	b.t.Helper()
	log, err := os.OpenFile(b.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b.t, err)
	defer log.Close()
	cmd := exec.Command(filepath.Join(b.bin, "aucsched"), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = b.environ(), log, log
	require.NoError(b.t, start(cmd))
	return cmd
}

// kill is kill -9.
func (b *invasiveBed) kill(cmd **exec.Cmd) {
	b.t.Helper()
	if *cmd == nil {
		return
	}
	require.NoError(b.t, (*cmd).Process.Signal(syscall.SIGKILL))
	err := (*cmd).Wait()
	var exit *exec.ExitError
	require.True(b.t, errors.As(err, &exit), "%v", err)
	require.Equal(b.t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "it had ended by itself")
	*cmd = nil
}

func (b *invasiveBed) trace() string {
	text, _ := os.ReadFile(b.file("trace"))
	return string(text)
}

// sbatch submits a job to the partition; its output is in file OUT.ID.
func (b *invasiveBed) sbatch(body string, args ...string) uint32 {
	b.t.Helper()
	return submit(b.t, b.Cluster, body, append([]string{"-p", "invasic", "-o", b.file("out.%j")}, args...)...)
}

// adapting is a job that adapts, until there is a file. One of its processes has lost its parent.
func (b *invasiveBed) adapting(args ...string) uint32 {
	b.t.Helper()
	return b.sbatch("sh -c 'sleep 100 & echo $! > "+b.file("orphan")+".$SLURM_JOB_ID'; exec "+b.bin+"/adapts job "+b.file("stop"), args...)
}

func (b *invasiveBed) stopAdapting() {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(b.file("stop"), nil, 0o644))
}

var ownsLine = regexp.MustCompile(`(?m)^job (\d+) (?:owns cores (\S+)|ended)`)

// ledger is what the iHypervisor's trace says last of a job's cores.
func (b *invasiveBed) ledger(id uint32) string {
	cores := ""
	for _, m := range ownsLine.FindAllStringSubmatch(b.trace(), -1) {
		if m[1] == fmt.Sprint(id) {
			cores = m[2]
		}
	}
	return cores
}

// cpus are those of cores, as the kernel writes them.
func (b *invasiveBed) cpus(cores string) string {
	b.t.Helper()
	list, ok := b.lists[cores]
	if !ok {
		out, err := exec.Command(filepath.Join(b.bin, "adapts"), "cpus", strconv.Itoa(invasiveCores), cores).CombinedOutput()
		require.NoError(b.t, err, "cores %q: %s", cores, out)
		list = strings.TrimSpace(string(out))
		b.lists[cores] = list
	}
	return list
}

// allowed are the different Cpus_allowed_list of all threads of a job. Slurm says which
// processes those are.
func (b *invasiveBed) allowed(id uint32) string {
	out, err := b.Scontrol(b.t.Context(), "listpids", fmt.Sprint(id), "n0001")
	if err != nil {
		return ""
	}
	lists := map[string]bool{}
	if orphan, err := os.ReadFile(b.file(fmt.Sprint("orphan.", id))); err == nil {
		out += fmt.Sprintf("%s %d", strings.TrimSpace(string(orphan)), id)
	}
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 || f[1] != fmt.Sprint(id) {
			continue
		}
		files, _ := filepath.Glob("/proc/" + f[0] + "/task/*/status")
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if _, rest, ok := strings.Cut(string(text), "Cpus_allowed_list:"); ok {
				list, _, _ := strings.Cut(rest, "\n")
				lists[strings.TrimSpace(list)] = true
			}
		}
	}
	var all []string
	for list := range lists {
		all = append(all, list)
	}
	return strings.Join(all, " and ")
}

// owns waits until a job owns cores, and runs on these alone.
func (b *invasiveBed) owns(id uint32, cores string) {
	b.t.Helper()
	err := b.poll(b.t.Context(), invasiveTime, fmt.Sprintf("job %d to own cores %s", id, cores), func() (bool, error) {
		return b.ledger(id) == cores && b.allowed(id) == b.cpus(cores), nil
	})
	require.NoError(b.t, err, "ledger %q, kernel %q", b.ledger(id), b.allowed(id))
}

// ended waits for a job's end.
func (b *invasiveBed) ended(id uint32, state string) {
	b.t.Helper()
	_, err := b.WaitFor(b.t.Context(), id, invasiveTime, state)
	require.NoError(b.t, err)
}

// startedOnce looks that each job's script has run once.
func (b *invasiveBed) startedOnce(ids ...uint32) {
	b.t.Helper()
	starts, err := b.Starts()
	require.NoError(b.t, err)
	count := map[uint32]int{}
	for _, s := range starts {
		count[s.ID]++
	}
	for _, id := range ids {
		require.Equal(b.t, 1, count[id], "starts of job %d", id)
	}
}
