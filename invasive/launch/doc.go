// SPDX-License-Identifier: BSD-3-Clause

// Package launch runs the jobs of an iHypervisor as real processes on Linux, pinned to CPUs, so
// that they survive it.
//
// Each job has a supervisor, a process of its own ([Supervise]), which starts it, waits for it, and
// writes down how it ended. The iHypervisor may be killed at any time; when it starts again it
// finds the supervisors ([Launcher.Find]) by what they have written: process ID, start time and
// boot. For invasive.NewHypervisor this is the mark of a launch.
//
// A job's directory has these files, spec, mark and exit written aside, synced and renamed:
//
//	spec     what to run, by the Launcher
//	lock     held by the supervisor as long as it lives
//	mark     who the supervisor is, before it starts the job
//	started  empty, once the job's first process is there
//	exit     how the job ended
//
// A job is launched at most once: whoever starts it holds the lock, and finds no mark. A launch
// that was under way when the iHypervisor died, and the one that its successor begins, meet at the
// lock; the second finds the mark and gives way.
//
// The supervisor takes the job's CPUs for its own thread before it forks, so that no instant of
// the job runs elsewhere. It is the reaper of all that the job starts: a job's processes are the
// supervisor's descendants, however they call themselves, and when the first one has ended the
// rest are killed. What isn't prevented: a process may widen its own set of CPUs; only cgroups
// could keep it from that.
package launch
