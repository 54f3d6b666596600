package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A process names one for good: IDs are used again, but not with the same start time in the same boot.
type process struct {
	PID   int
	Start uint64 // in clock ticks since the boot
	Boot  string
}

// stat is what we need of /proc/PID/stat.
type stat struct {
	parent int
	state  byte
	start  uint64
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	// The name is in parentheses, and may have any in itself.
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat: %q", pid, text)
	}
	parent, err1 := strconv.Atoi(f[1])
	start, err2 := strconv.ParseUint(f[19], 10, 64)
	return stat{parent, f[0][0], start}, errors.Join(err1, err2)
}

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

func identify(pid int) (process, error) {
	s, err := readStat(pid)
	if err != nil {
		return process{}, err
	}
	boot, err := bootID()
	return process{pid, s.start, boot}, err
}

// is tells whether the process is still there, if only as a zombie.
func (p process) is() bool {
	now, err := identify(p.PID)
	return err == nil && now == p
}

// watch returns a file that wakes its reader when the process has ended, see waitFor.
func (p process) watch() (*os.File, error) {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	if !p.is() { // or it is another one's
		f.Close()
		return nil, unix.ESRCH
	}
	return f, nil
}

// waitFor blocks until the process of a pidfd has ended. It takes no thread meanwhile.
func waitFor(pidfd *os.File) error {
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

// descendants are all processes below one, by one look at /proc.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, pid := range numbers("/proc") {
		if s, err := readStat(pid); err == nil && s.state != 'Z' {
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	list := []int{root}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return list[1:]
}

// numbers are the names in a directory that are numbers.
func numbers(dir string) (list []int) {
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

// restTime is how long one goes on trying to reach processes that start others, or that are on a busy
// CPU: a signal counts only once its process has had a moment there.
const (
	restTime  = 10 * time.Second
	roundTime = 2 * time.Millisecond
)

var errRestless = fmt.Errorf("its processes can't all be reached within %v", restTime)

// eachUntilStill calls f for all processes below root, again and again, until it has nothing left to change: a
// process may start others meanwhile.
func eachUntilStill(root int, f func(pid int) (changed bool, err error)) error {
	for until := time.Now().Add(restTime); time.Now().Before(until); time.Sleep(roundTime) {
		still := true
		for _, pid := range descendants(root) {
			changed, err := f(pid)
			if err != nil && !gone(err) {
				return err
			}
			still = still && !changed
		}
		if still {
			return nil
		}
	}
	return errRestless
}

func gone(err error) bool {
	return errors.Is(err, unix.ESRCH) || errors.Is(err, os.ErrNotExist)
}

// halt stops all processes below root.
func halt(root int) error {
	sent := map[int]bool{}
	return eachUntilStill(root, func(pid int) (bool, error) {
		if sent[pid] && halted(pid) {
			return false, nil
		}
		sent[pid] = true
		return true, unix.Kill(pid, unix.SIGSTOP)
	})
}

// halted tells whether no thread of a process that SIGSTOP was sent to can run any more. One that waits in the kernel (D) comes to
// the signal before it goes on; the parent of a vfork waits so for its child, which may be stopped itself.
func halted(pid int) bool {
	for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
		at := bytes.LastIndexByte(text, ')') + 2
		if err == nil && (at >= len(text) || !bytes.ContainsRune([]byte("TtDZX"), rune(text[at]))) {
			return false
		}
	}
	return true
}

// signal sends a signal to all processes below root.
func signal(root int, sig unix.Signal) (err error) {
	for _, pid := range descendants(root) {
		if e := unix.Kill(pid, sig); e != nil && !gone(e) {
			err = e
		}
	}
	return err
}

// confine lets all threads below root run on cpus only. Those that ran on all of before get all of them, those
// that have bound themselves to some keep those that are left; with force all get all.
func confine(root int, before, cpus *unix.CPUSet, force bool) error {
	return eachUntilStill(root, func(pid int) (changed bool, err error) {
		for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
			var now unix.CPUSet
			if err := unix.SchedGetaffinity(tid, &now); err != nil {
				if gone(err) {
					continue
				}
				return changed, err
			}
			want := confined(&now, before, cpus, force)
			if want == now {
				continue
			}
			changed = true
			if err := unix.SchedSetaffinity(tid, &want); err != nil && !gone(err) {
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

func cpuSet(cpus []int) (*unix.CPUSet, error) {
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
