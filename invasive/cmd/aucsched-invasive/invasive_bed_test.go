// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/test/golden"
	"github.com/aucsched/aucsched/invasive"
	"github.com/aucsched/aucsched/invasive/link"
)

// A tracedPair is the two programmes as processes, and what their traces say.
type tracedPair struct {
	t      *testing.T
	dir    string
	job    string // malleable
	h, s   *exec.Cmd
	at     map[string]int // lines of each trace that were taken
	acked  []string
	golden strings.Builder
}

func newTracedPair(t *testing.T, job string) *tracedPair {
	p := &tracedPair{t: t, dir: t.TempDir(), job: job, at: map[string]int{}}
	t.Cleanup(func() {
		_ = os.WriteFile(p.file("stop"), nil, 0o600)
		p.stop(&p.s)
		p.stop(&p.h) // it starts nothing any more
		endSupervisors(t, p.dir)
	})
	return p
}

// endSupervisors waits for the supervisors of a directory, whose jobs are about to end, and
// kills those that stay.
func endSupervisors(t *testing.T, dir string) {
	t.Helper()
	for until := time.Now().Add(demoTime); ; time.Sleep(5 * time.Millisecond) {
		var left []int
		commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range commands {
			text, _ := os.ReadFile(path)
			if strings.Contains(string(text), supervisorName+"\x00"+dir) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				left = append(left, pid)
			}
		}
		switch {
		case len(left) == 0:
			return
		case time.Now().After(until):
			t.Errorf("supervisors stay: %v", left)
			for _, pid := range left {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			return
		}
	}
}

func (p *tracedPair) file(name string) string { return filepath.Join(p.dir, name) }

func (p *tracedPair) startH(args ...string) {
	p.t.Helper()
	all := append([]string{"ihypervisor", "--socket", "unix:" + p.file("run/socket"),
		"--state", p.file("state"), "--oversubscribe", "--grow=false",
		"--report", "50ms", "--offer-every", "1h", "--shrink-time", "10s", "--trace", p.file("h.trace")}, args...)
	if os.Geteuid() == 0 {
		all = append(all, "--user", "root")
	}
	p.h = p.process(all...)
}

// begin starts both, the iHypervisor with args, and has a first job start on cores, which one word
// or more of the trace names.
func (p *tracedPair) begin(text string, job []string, cores string, args ...string) {
	p.t.Helper()
	p.startH(args...)
	p.startS()
	p.submit(job...)
	p.step(text, "RESPONSE_NEGOTIATION_END 1.1", "job 1 owns "+cores)
}

// waits submits a job for which there is no offer.
func (p *tracedPair) waits(text string, job []string) {
	p.t.Helper()
	p.submit(job...)
	p.step(text, "REQUEST_RESOURCE_OFFER, 1 waiting", "")
}

// startS: without reports nobody acknowledges ends, whose time is that of processes.
func (p *tracedPair) startS(args ...string) {
	p.t.Helper()
	p.s = p.process(append([]string{"ischeduler", "--dir", p.file("s"), "--connect", "unix:" + p.file("run/socket"),
		"--report", "1h", "--trace", p.file("s.trace")}, args...)...)
	require.Eventually(p.t, func() bool {
		code, _, _ := aucsched(p.t, "", "ischeduler", "--dir", p.file("s"), "status")
		return code == 0
	}, demoTime, 10*time.Millisecond)
	require.Eventually(p.t, func() bool {
		// a job that comes earlier takes part in the first message
		messages, _, _ := p.fresh("s.trace")
		return p.h == nil || strings.Contains(strings.Join(messages, ""), "RESPONSE_NEGOTIATION_START")
	}, demoTime, 10*time.Millisecond)
}

func (p *tracedPair) process(args ...string) *exec.Cmd {
	p.t.Helper()
	exe, err := os.Executable()
	require.NoError(p.t, err)
	c := exec.Command(exe, args...)
	log, err := os.OpenFile(p.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	defer log.Close()
	c.Stderr = log
	require.NoError(p.t, c.Start())
	return c
}

// stop ends one of them in order.
func (p *tracedPair) stop(c **exec.Cmd) {
	if *c == nil {
		return
	}
	_ = (*c).Process.Signal(unix.SIGTERM)
	kill := time.AfterFunc(demoTime, func() { _ = (*c).Process.Kill() })
	_ = (*c).Wait()
	kill.Stop()
	*c = nil
}

func (p *tracedPair) submit(args ...string) {
	p.t.Helper()
	code, _, errs := aucsched(p.t, "", append([]string{"ischeduler", "--dir", p.file("s"), "submit"}, args...)...)
	require.Zero(p.t, code, errs)
}

// adapts is a malleable job of 1 to so many cores, runs is one that runs until
// the file stop is there.
func (p *tracedPair) adapts(most int) []string {
	return []string{"--kind", "malleable", "--max", strconv.Itoa(most), "--", p.job, "--seconds", "60", "--until", p.file("stop")}
}

func (p *tracedPair) runs(cores int, args ...string) []string {
	return append(append([]string{"--min", strconv.Itoa(cores)}, args...), "--",
		"sh", "-c", "until [ -e '"+p.file("stop")+"' ]; do sleep 0.02; done")
}

// fresh are the lines of a trace since the last step, without reports, whose number
// depends on the time.
func (p *tracedPair) fresh(name string) (messages, ledger []string, all int) {
	text, err := os.ReadFile(p.file(name))
	if err != nil {
		return nil, nil, 0
	}
	lines := strings.Split(strings.TrimSuffix(string(text[:strings.LastIndexByte(string(text), '\n')+1]), "\n"), "\n")
	for _, line := range lines[min(p.at[name], len(lines)):] {
		switch {
		case line == "" || strings.Contains(line, "STATUS_REPORT"):
		case strings.HasPrefix(line, "iScheduler "):
			messages = append(messages, line)
		default:
			ledger = append(ledger, line)
		}
	}
	return messages, ledger, len(lines)
}

// step waits until the last message, and the last line of the iHypervisor's ledger, are these, on
// both sides, and writes down what was said since the step before. What one side has sent is what
// the other has got, in the same order.
func (p *tracedPair) step(note, lastMessage, lastLedger string) {
	p.t.Helper()
	var ms, mh, ledger []string
	var ns, nh int
	ends := func(list []string, with string) bool {
		return with == "" && len(list) == 0 || with != "" && len(list) > 0 && strings.Contains(list[len(list)-1], with)
	}
	late := time.Now().Add(demoTime)
	for {
		ms, _, ns = p.fresh("s.trace")
		mh, ledger, nh = p.fresh("h.trace")
		if ends(ms, lastMessage) && ends(mh, lastMessage) && ends(ledger, lastLedger) && len(ms) == len(mh) {
			break
		}
		if time.Now().After(late) {
			log, _ := os.ReadFile(p.file("log"))
			require.Fail(p.t, "waited for "+lastMessage+" and "+lastLedger, "%s\n%s\n%s\n%s",
				strings.Join(ms, "\n"), strings.Join(mh, "\n"), strings.Join(ledger, "\n"), log)
		}
		time.Sleep(5 * time.Millisecond)
	}
	ms, mh = p.onceAcknowledged(ms), p.onceAcknowledged(mh)
	for _, line := range ms {
		if ack := acks.FindString(line); ack != "" {
			p.acked = append(p.acked, ack)
		}
	}
	for _, arrow := range []string{" -> ", " <- "} {
		require.Equal(p.t, way(ms, arrow), way(mh, arrow))
	}
	p.at["s.trace"], p.at["h.trace"] = ns, nh
	fmt.Fprintf(&p.golden, "# %s\n%s\n", note, strings.Join(ms, "\n"))
	for _, line := range ledger {
		fmt.Fprintf(&p.golden, "%26s %s\n", "", line)
	}
}

var acks = regexp.MustCompile(`, acknowledges \[[0-9 ]+\]`)

// onceAcknowledged leaves out acknowledgements that were made before: they are repeated until a
// report shows that they were heard.
func (p *tracedPair) onceAcknowledged(lines []string) (list []string) {
	seen := slices.Clone(p.acked)
	for _, line := range lines {
		ack := acks.FindString(line)
		if slices.Contains(seen, ack) {
			line = strings.Replace(line, ack, "", 1)
		}
		list, seen = append(list, line), append(seen, ack)
	}
	return list
}

func way(lines []string, arrow string) (list []string) {
	for _, line := range lines {
		if strings.Contains(line, arrow) {
			list = append(list, line)
		}
	}
	return list
}

// done waits until the iScheduler knows the end of a job, so that its next message acknowledges it.
func (p *tracedPair) done(id int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		_, out, _ := aucsched(p.t, "", "ischeduler", "--dir", p.file("s"), "list")
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == strconv.Itoa(id) && f[1] == "done" {
				text, _ := os.ReadFile(p.file("s.trace"))
				return strings.Contains(string(text), fmt.Sprintf("job %d is forgotten", id))
			}
		}
		return false
	}, demoTime, 10*time.Millisecond)
}

func (p *tracedPair) check(file string) {
	p.t.Helper()
	golden.Equal(p.t, filepath.Join("invasive", file), p.golden.String())
}

// foreign is an Agent that says it speaks versions 2 and 3.
type foreign struct{ *invasive.Agent }

func (f foreign) Step(ev *invasive.Event, out []invasive.Action) []invasive.Action {
	out = f.Agent.Step(ev, out)
	for _, a := range out {
		if a.Kind == invasive.Send && a.Msg.Terms != nil {
			a.Msg.Terms.MinVersion, a.Msg.Terms.MaxVersion = 2, 3
		}
	}
	return out
}

// speakForeign is a process with a foreign Agent, which connects once.
func speakForeign(dir string) error {
	e := link.Endpoint{Network: "unix", Address: filepath.Join(dir, "run", "socket"), Users: []uint32{uint32(os.Geteuid())}}
	tr, err := openTrace(filepath.Join(dir, "s.trace"))
	if err != nil {
		return err
	}
	defer tr.Close()
	agent := foreign{invasive.NewAgent(invasive.Terms{Attempts: 3, Reply: 10 * time.Second, Report: time.Second}, nil)}
	return link.NewRunner(link.Config{Side: invasive.IScheduler, Machine: agent, Dial: e.Dial, Random: rand.New(rand.NewPCG(1, 2)),
		FirstPause: 10 * time.Millisecond, LastPause: 10 * time.Millisecond, Trace: tr.line}).Run(context.Background())
}
