// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package agents

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/launch"
	"github.com/aucsched/aucsched/invasive/link"
	"github.com/aucsched/aucsched/invasive/link/linktest"
)

const patience = 120 * time.Second

// A cluster is a head and agents, each a process to be killed, and an iScheduler in this one.
type cluster struct {
	t      testing.TB
	root   string
	self   string
	cores  int
	lost   string
	head   *exec.Cmd
	agents []*exec.Cmd
	sched  *link.Runner
	last   invasive.JobID // a small one, to end with

	mu    sync.Mutex
	ended map[invasive.JobID]int32
}

func newCluster(t testing.TB, nodes, cores int, lost string) *cluster {
	self, err := os.Executable()
	require.NoError(t, err)
	c := &cluster{t: t, root: t.TempDir(), self: self, cores: cores, lost: lost, last: 1000, agents: make([]*exec.Cmd, nodes),
		ended: map[invasive.JobID]int32{}}
	t.Cleanup(c.end)
	c.startHead()
	for k := range nodes {
		c.startAgent(k)
	}
	c.startScheduler()
	return c
}

// small are lines about the small jobs of verify.
var small = regexp.MustCompile(`job=\d{4}`)

func (c *cluster) start(args ...string) *exec.Cmd {
	cmd := exec.Command(c.self, args...)
	cmd.Stderr = os.Stderr
	require.NoError(c.t, cmd.Start())
	return cmd
}

func (c *cluster) startHead() {
	c.head = c.start("head", c.root, strconv.Itoa(len(c.agents)), c.lost)
}

func (c *cluster) node(k int) string { return fmt.Sprintf("n%d", k) }

func (c *cluster) startAgent(k int) {
	c.agents[k] = c.start("agent", c.root, c.node(k), strconv.Itoa(c.cores))
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// end ends the cluster, and what a failed test has left.
func (c *cluster) end() {
	kill(c.head)
	for k, a := range c.agents {
		kill(a)
		c.killJobs(k)
	}
	defer func() { // a supervisor that came late may still be about to see that
		require.Eventually(c.t, func() bool { return os.RemoveAll(c.root) == nil }, 60*time.Second, 10*time.Millisecond)
	}()
	if c.t.Failed() {
		for _, name := range []string{"head.log", "n0.log", "n1.log", "n2.log", "n3.log"} {
			lines := slices.DeleteFunc(c.lines(name), func(l string) bool { return small.MatchString(l) })
			c.t.Logf("%s:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}

// killJobs ends all that runs on a node.
func (c *cluster) killJobs(k int) {
	l := launch.New(launch.Config{Dir: filepath.Join(c.root, c.node(k), "jobs")})
	seen, _ := l.Find()
	for _, s := range seen {
		_ = l.Signal(s.ID, unix.SIGKILL)
		_, _ = l.Wait(s.ID)
	}
}

func (c *cluster) startScheduler() {
	c.sched = linktest.Scheduler(c.t, filepath.Join(c.root, "scheduler"), socketOf(c.root), 100*time.Millisecond,
		func(id invasive.JobID, exit int32) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ended[id] = exit
		})
}

// bag is a job that runs tasks, so long each.
func (c *cluster) bag(id invasive.JobID, least, most uint32, tasks int, each time.Duration) *invasive.Job {
	j := &invasive.Job{ID: id, MinCores: least, MaxCores: most, Args: []string{c.self, "bag", c.root, strconv.Itoa(tasks), each.String()}}
	if least < most {
		j.Flex = invasive.Malleable
	}
	return j
}

func (c *cluster) submit(jobs ...*invasive.Job) {
	for _, j := range jobs {
		c.sched.Post(invasive.Event{Kind: invasive.Submit, Job: j})
	}
}

func (c *cluster) lines(name string) []string {
	text, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// hasCores waits until a job has been told, after that many changes, of so many cores.
func (c *cluster) hasCores(id invasive.JobID, n int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		told := c.lines(fmt.Sprint("cores.", id))
		return len(told) > 0 && count(told[len(told)-1]) == n
	}, patience, 2*time.Millisecond, "job %d is never told of %d cores", id, n)
}

func count(list string) (n int) {
	for _, part := range strings.Split(list, ",") {
		from, to, is := strings.Cut(part, "-")
		if n++; is {
			n += number(to) - number(from)
		}
	}
	return n
}

func (c *cluster) exit(id invasive.JobID) int32 {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ended := c.ended[id]
		return ended
	}, patience, 2*time.Millisecond, "job %d does not end", id)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended[id]
}

// verify checks what the jobs have noted: each has begun once; each command once at most, on one
// CPU; those that ended well have come to their end; and no place was two jobs' at a time.
func (c *cluster) verify(tasks map[invasive.JobID]int) {
	c.t.Helper()
	require.Empty(c.t, c.lines("conflicts"))
	starts := map[string]int{}
	for _, l := range c.lines("starts") {
		starts[l]++
	}
	for id, n := range tasks {
		require.Equal(c.t, 1, starts[fmt.Sprint(id)], "starts of job %d", id)
		begun, done := map[string]int{}, map[string]bool{}
		for _, l := range c.lines(fmt.Sprint("begun.", id)) {
			f := strings.Fields(l)
			begun[f[0]+" "+f[1]]++
			require.Equal(c.t, "1", f[3], "CPUs of a command")
		}
		for what, k := range begun {
			require.Equal(c.t, 1, k, "command %q of job %d", what, id)
		}
		ended := map[string]bool{}
		for _, l := range c.lines(fmt.Sprint("ended.", id)) {
			ended[l] = true
		}
		for _, l := range c.lines(fmt.Sprint("heard.", id)) {
			f := strings.Fields(l)
			if f[2] == "0" {
				require.True(c.t, ended[f[0]+" "+f[1]], "command %s of job %d has ended well, and not come to its end", f[:2], id)
				require.False(c.t, done[f[0]], "task %s of job %d has ended well twice", f[0], id)
				done[f[0]] = true
			}
		}
		require.Len(c.t, done, n, "tasks of job %d", id)
	}
	var stays string
	defer func() {
		if c.t.Failed() {
			c.t.Log("left:", stays)
		}
	}()
	for k := range c.agents {
		require.Eventually(c.t, func() bool { // all acknowledged and forgotten
			c.last++ // an acknowledgement rides on what is said next
			c.submit(&invasive.Job{ID: c.last, MinCores: 1, MaxCores: 1, Args: []string{"true"}})
			for _, kept := range []string{"jobs", "parts"} {
				left, err := os.ReadDir(filepath.Join(c.root, c.node(k), kept))
				require.NoError(c.t, err)
				for _, e := range left {
					if id := number(strings.TrimSuffix(e.Name(), ".new")); id < 1000 || isCommand(invasive.JobID(id)) {
						stays = filepath.Join(c.node(k), kept, e.Name())
						return false
					}
				}
			}
			return true
		}, patience/4, 20*time.Millisecond, "something is left")
	}
}

// killAtRandom has processes of the cluster die, so many times, and come back.
func (c *cluster) killAtRandom(random *rand.Rand, times int) {
	for range times {
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		head := random.IntN(3) == 0
		var agents []int
		for k := range c.agents {
			if random.IntN(3) == 0 {
				agents = append(agents, k)
			}
		}
		if head {
			kill(c.head)
		}
		for _, k := range agents {
			kill(c.agents[k])
		}
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		if head && random.IntN(2) == 0 {
			c.startHead()
			head = false
		}
		for _, k := range agents {
			time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
			c.startAgent(k)
		}
		if head {
			c.startHead()
		}
	}
}

// Agents and head are killed at any time, each alone and together. Jobs go on, each runs once and
// each command once, and no core is two jobs'.
func TestKilledAtRandom(t *testing.T) {
	seed, times := uint64(time.Now().UnixNano()), 8
	if text := os.Getenv("AUCSCHED_AGENTS_SEED"); text != "" {
		seed = uint64(number(text))
	}
	if text := os.Getenv("AUCSCHED_AGENTS_KILLS"); text != "" {
		times = number(text)
	}
	t.Logf("AUCSCHED_AGENTS_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	c := newCluster(t, 3, 2, "1m")
	tasks := map[invasive.JobID]int{}
	add := func(j *invasive.Job, n int) {
		tasks[j.ID] = n
		c.submit(j)
	}
	for id := invasive.JobID(1); int(id) <= 2+times/3; id++ {
		n := 10 + random.IntN(40)
		each := time.Duration(5+random.IntN(60)) * time.Millisecond
		switch random.IntN(4) {
		case 0:
			j := c.bag(id, 3, 3, n, each)
			j.Urgent = true
			add(j, n)
		case 1:
			j := c.bag(id, 4, 4, n, each)
			j.MinNodes, j.MaxNodes = 2, 3
			add(j, n)
		default:
			add(c.bag(id, uint32(1+random.IntN(2)), uint32(3+random.IntN(4)), n, each), n)
		}
		c.killAtRandom(random, 2)
	}
	c.killAtRandom(random, times/3)
	for id := range tasks {
		require.Zero(t, c.exit(id), "job %d", id)
	}
	c.verify(tasks)
}

// A node that stays away is lost: who has its first process there ends, others leave its cores, or
// end if they need them. When it comes back what still runs there is ended before its cores are
// given away.
func TestLostNode(t *testing.T) {
	c := newCluster(t, 3, 2, "500ms")
	c.submit(c.bag(1, 2, 2, 1000, 20*time.Millisecond)) // node 0, or whatever joined first
	c.hasCores(1, 2)
	home := c.homeOf(1)
	// Few tasks, as a busy machine takes longer to begin one than it runs.
	c.submit(c.bag(2, 1, 4, 60, 200*time.Millisecond))
	c.hasCores(2, 4)
	other := c.homeOf(2)
	third := 3 - home - other
	kill(c.agents[home])
	require.EqualValues(t, launch.LostExit, c.exit(1))
	require.NotEmpty(t, c.running(home), "the node itself lives, and what it runs")
	kill(c.agents[third])
	c.hasCores(2, 2)
	c.startAgent(home)
	c.startAgent(third)
	c.hasCores(2, 4)
	require.Zero(t, c.exit(2))
	c.submit(c.bag(3, 6, 6, 12, time.Millisecond))
	require.Zero(t, c.exit(3))
	c.verify(map[invasive.JobID]int{2: 60, 3: 12})
}

// A node that comes back with another disk has lost what it ran: nothing of it is begun again.
func TestOtherDisk(t *testing.T) {
	c := newCluster(t, 2, 2, "1m")
	c.submit(c.bag(1, 2, 2, 1000, 20*time.Millisecond))
	c.hasCores(1, 2)
	home := c.homeOf(1)
	c.submit(c.bag(2, 2, 2, 100, 20*time.Millisecond))
	c.hasCores(2, 2)
	kill(c.agents[home])
	c.killJobs(home)
	require.NoError(t, os.RemoveAll(filepath.Join(c.root, c.node(home))))
	c.startAgent(home)
	require.EqualValues(t, launch.LostExit, c.exit(1))
	require.Zero(t, c.exit(2))
	c.verify(map[invasive.JobID]int{2: 100})
	require.Len(t, c.lines("starts"), 2)
}

// Another user on a node reads nothing, and neither he nor a process of the jobs' own user that is
// of no job has a place, or hears of cores.
func TestStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be several users")
	}
	t.Setenv("AUCSCHED_AGENTS_USER", "65533")
	c := newCluster(t, 1, 2, "1m")
	require.NoError(t, os.Chmod(c.root, 0o711))
	require.NoError(t, os.Chmod(filepath.Dir(c.root), 0o711))
	exe := filepath.Join(c.root, "self") // the test's own may be where others can't go
	text, err := os.ReadFile(c.self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(exe, text, 0o755))
	c.submit(&invasive.Job{ID: 1, Flex: invasive.Malleable, MinCores: 1, MaxCores: 2, Args: []string{"sleep", "1000"}})
	require.Eventually(t, func() bool { return len(c.running(0)) > 0 }, patience, time.Millisecond)
	for _, uid := range []uint32{65534, 65533} {
		cmd := exec.Command(exe, "stranger", c.root, c.node(0))
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		for _, what := range []string{"read invitation", "read disk", "read agents.key", "list parts", "list jobs"} {
			require.Contains(t, string(out), what+" true\n", "user %d", uid)
		}
		require.Regexp(t, "(?m)^on .*(permission denied|of no job|the crew is gone)", string(out), "user %d", uid)
		require.Contains(t, string(out), `jobs "" false`, "user %d: it is turned away at once", uid)
	}
	kill(c.agents[0])
	c.killJobs(0)
}

// homeOf is the node of a job's first process.
func (c *cluster) homeOf(id invasive.JobID) int {
	for k := range c.agents {
		if _, err := os.Stat(filepath.Join(c.root, c.node(k), "jobs", strconv.FormatUint(uint64(id), 10))); err == nil {
			return k
		}
	}
	require.Fail(c.t, "it runs nowhere")
	return 0
}

// running are the processes that jobs have on a node.
func (c *cluster) running(k int) (pids []int) {
	l := launch.New(launch.Config{Dir: filepath.Join(c.root, c.node(k), "jobs")})
	seen, err := l.Find()
	require.NoError(c.t, err)
	for _, s := range seen {
		pids = append(pids, l.Processes(s.ID)...)
	}
	return pids
}

// A malleable job grows over all nodes, gives cores to an urgent one on two nodes, takes them back;
// a rigid one on all nodes waits its turn.
func TestJobsSpanNodes(t *testing.T) {
	c := newCluster(t, 4, 2, "1m")
	c.submit(c.bag(1, 1, 8, 250, 40*time.Millisecond))
	c.hasCores(1, 8)
	urgent := c.bag(2, 4, 4, 20, 20*time.Millisecond)
	urgent.Urgent, urgent.MinNodes, urgent.MaxNodes = true, 2, 4
	c.submit(urgent)
	require.Zero(t, c.exit(2))
	require.Equal(t, 4, count(c.lines("cores.2")[0]))
	c.hasCores(1, 8)
	rigid := c.bag(3, 8, 8, 16, 10*time.Millisecond)
	rigid.MinNodes, rigid.MaxNodes = 4, 4
	c.submit(rigid)
	require.Zero(t, c.exit(1))
	require.Zero(t, c.exit(3))
	c.submit(&invasive.Job{ID: 4, MinCores: 1, MaxCores: 1, Args: []string{"no-such-programme"}})
	require.EqualValues(t, launch.NotFound, c.exit(4))
	c.submit(&invasive.Job{ID: 5, MinCores: 1, MaxCores: 1, Args: []string{"true"}})
	require.Zero(t, c.exit(5))
	c.verify(map[invasive.JobID]int{1: 250, 2: 20, 3: 16})
}
