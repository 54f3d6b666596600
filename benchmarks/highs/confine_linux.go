// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is whom a worker becomes that root has started.
const nobody = 65534

// endWithParent has a process killed when the thread that starts it ends.
func endWithParent(c *exec.Cmd) { c.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// confine takes from a worker's process what a solver has no use for, before it reads anything: it
// leaves no core, the kernel ends it before others when there is no memory left, it has no more
// memory than the caller says, and it isn't root. What the kernel refuses stays as it was.
func confine() {
	// Each thread's stack counts as memory, to its full size where cgo makes it. Go makes more
	// threads with more CPUs, but the solver uses one; the other is for the runtime, and for who
	// sees that the caller ends.
	runtime.GOMAXPROCS(2)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	limitMemory(os.Getenv(memoryVariable))
	if os.Geteuid() == 0 {
		_ = syscall.Setgroups(nil)
		_ = syscall.Setgid(nobody)
		_ = syscall.Setuid(nobody)
	}
	// another user's has none any more
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// limitMemory bounds what the process takes on top of what it has. RLIMIT_DATA counts
// memory that can be written to, and, unlike RLIMIT_AS, no addresses that are only
// reserved, as Go's runtime does.
func limitMemory(most string) {
	bytes, err := strconv.ParseUint(most, 10, 62)
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/statm")
	if f := strings.Fields(string(text)); err == nil && len(f) > 5 {
		if pages, err := strconv.ParseUint(f[5], 10, 40); err == nil {
			bytes += pages * uint64(os.Getpagesize())
		}
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &limit) == nil && bytes < limit.Cur {
		_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes})
	}
}
