// SPDX-License-Identifier: BSD-3-Clause

package procs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process names one for good: IDs are used again, but not with the same start
// time in the same boot.
type Process struct {
	PID   int
	Start uint64 // in clock ticks since the boot
	Boot  string
}

// A Stat is what /proc/PID/stat says of a process: its parent, its process group, its state as a
// letter, and its start in clock ticks since the boot.
type Stat struct {
	Parent, Group int
	State         byte
	Start         uint64
}

// ReadStat asks the kernel.
func ReadStat(pid int) (Stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	// The name is in parentheses, and may have any in itself.
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 20 {
		return Stat{}, fmt.Errorf("/proc/%d/stat: %q", pid, text)
	}
	parent, err1 := strconv.Atoi(f[1])
	group, err2 := strconv.Atoi(f[2])
	start, err3 := strconv.ParseUint(f[19], 10, 64)
	return Stat{parent, group, f[0][0], start}, errors.Join(err1, err2, err3)
}

// GroupLives tells whether a process group has a process that is no zombie.
func GroupLives(group int) bool {
	if unix.Kill(-group, 0) == unix.ESRCH {
		return false
	}
	return slices.ContainsFunc(Numbers("/proc"), func(pid int) bool {
		s, err := ReadStat(pid)
		return err == nil && s.Group == group && s.State != 'Z'
	})
}

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// Identify is the process that has an ID now.
func Identify(pid int) (Process, error) {
	s, err := ReadStat(pid)
	if err != nil {
		return Process{}, err
	}
	boot, err := bootID()
	return Process{pid, s.Start, boot}, err
}

// Is tells whether the process is still there, if only as a zombie.
func (p Process) Is() bool {
	now, err := Identify(p.PID)
	return err == nil && now == p
}

// Watch returns a file that wakes its reader when the process has ended, see WaitFor.
func (p Process) Watch() (*os.File, error) {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	if !p.Is() { // or it is another one's
		f.Close()
		return nil, unix.ESRCH
	}
	return f, nil
}

// WaitFor blocks until the process of a pidfd has ended. It takes no thread meanwhile.
func WaitFor(pidfd *os.File) error {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

// A Tree is who is whose child, by one look at /proc. Zombies aren't in it.
type Tree struct{ children map[int][]int }

// Look makes a Tree.
func Look() Tree {
	t := Tree{map[int][]int{}}
	for _, pid := range Numbers("/proc") {
		if s, err := ReadStat(pid); err == nil && s.State != 'Z' {
			t.children[s.Parent] = append(t.children[s.Parent], pid)
		}
	}
	return t
}

// Children belong to the Tree.
func (t Tree) Children(pid int) []int { return t.children[pid] }

// Below are all processes below some.
func (t Tree) Below(roots ...int) []int {
	list := slices.Clone(roots)
	for i := 0; i < len(list); i++ {
		list = append(list, t.children[list[i]]...)
	}
	return list[len(roots):]
}

// Below is that of a new Tree.
func Below(roots ...int) []int { return Look().Below(roots...) }

// Numbers are the names in a directory that are numbers.
func Numbers(dir string) (list []int) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// restTime is how long one goes on trying to reach processes that start others, or that are on a
// busy CPU: a signal counts only once its process has had a moment there.
const (
	RestTime  = 10 * time.Second
	RoundTime = 2 * time.Millisecond
)

// ErrRestless is that they couldn't.
var ErrRestless = fmt.Errorf("its processes can't all be reached within %v", RestTime)

// A Family lists the processes of a job, as they are now.
type Family func() []int

// eachUntilStill calls f for all of a family, again and again, until it has nothing left to change:
// a process may start others meanwhile.
func (family Family) eachUntilStill(f func(pid int) (changed bool, err error)) error {
	for until := time.Now().Add(RestTime); time.Now().Before(until); time.Sleep(RoundTime) {
		still := true
		for _, pid := range family() {
			changed, err := f(pid)
			if err != nil && !Gone(err) {
				return err
			}
			still = still && !changed
		}
		if still {
			return nil
		}
	}
	return ErrRestless
}

// Gone tells whether an error is that of a process which is there no more.
func Gone(err error) bool {
	return errors.Is(err, unix.ESRCH) || errors.Is(err, os.ErrNotExist)
}

// Halt stops all of a family.
func (family Family) Halt() error {
	sent := map[int]bool{}
	return family.eachUntilStill(func(pid int) (bool, error) {
		if sent[pid] && Halted(pid) {
			return false, nil
		}
		sent[pid] = true
		return true, unix.Kill(pid, unix.SIGSTOP)
	})
}

// Halted tells whether no thread of a process that SIGSTOP was sent to can run any more. One that
// waits in the kernel (D) comes to the signal before it goes on; the parent of a vfork waits so for
// its child, which may be stopped itself.
func Halted(pid int) bool {
	for _, tid := range Numbers(fmt.Sprintf("/proc/%d/task", pid)) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
		at := bytes.LastIndexByte(text, ')') + 2
		if err == nil && (at >= len(text) || !bytes.ContainsRune([]byte("TtDZX"), rune(text[at]))) {
			return false
		}
	}
	return true
}

// Signal sends a signal to all of a family.
func (family Family) Signal(sig unix.Signal) (err error) {
	for _, pid := range family() {
		if e := unix.Kill(pid, sig); e != nil && !Gone(e) {
			err = e
		}
	}
	return err
}

// Confine lets all threads of a family run on cpus only. Those that ran on all of before get all of
// them, those that have bound themselves to some keep those that are left; with force all get all.
func (family Family) Confine(before, cpus *unix.CPUSet, force bool) error {
	return family.eachUntilStill(func(pid int) (changed bool, err error) {
		for _, tid := range Numbers(fmt.Sprintf("/proc/%d/task", pid)) {
			var now unix.CPUSet
			if err := unix.SchedGetaffinity(tid, &now); err != nil {
				if Gone(err) {
					continue
				}
				return changed, err
			}
			want := confined(&now, before, cpus, force)
			if want == now {
				continue
			}
			changed = true
			if err := unix.SchedSetaffinity(tid, &want); err != nil && !Gone(err) {
				return changed, fmt.Errorf("CPUs of process %d: %w", pid, err)
			}
		}
		return changed, nil
	})
}

func confined(now, before, cpus *unix.CPUSet, force bool) unix.CPUSet {
	if force || *now == *before {
		return *cpus
	}
	both := *now
	for i := range both {
		both[i] &= cpus[i]
	}
	if both.Count() == 0 {
		return *cpus
	}
	return both
}

// CPUSet makes a set of CPUs, of which there must be one.
func CPUSet(cpus []int) (*unix.CPUSet, error) {
	var s unix.CPUSet
	most := len(s) * 64
	for _, c := range cpus {
		if c < 0 || c >= most {
			return nil, fmt.Errorf("CPU %d: must be below %d", c, most)
		}
		s.Set(c)
	}
	if len(cpus) == 0 {
		return nil, errors.New("no CPU at all")
	}
	return &s, nil
}

// Above are the processes above one: its parent, whose parent, and so on.
func Above(pid int) (list []int) {
	for n := 0; pid > 1 && n < 10000; n++ {
		s, err := ReadStat(pid)
		if err != nil {
			return nil
		}
		pid = s.Parent
		list = append(list, pid)
	}
	return list
}

// Alive tells whether a process is still there, and no zombie.
func Alive(p Process) bool {
	s, err := ReadStat(p.PID)
	return err == nil && s.State != 'Z' && p.Is()
}
