// SPDX-License-Identifier: BSD-3-Clause

// Package malleable is how an iHypervisor and a running job agree on the job's cores:
// a Unix socket, whose path the job finds in the environment variable
// AUCSCHED_INVASIVE, and lines of text.
//
// A job that connects says hello, and is told its cores; and again whenever they are to change:
//
//	job          iHypervisor
//	hello 1                            version 1 of these lines
//	             cores 1 0-3 0-3       yours: cores of the partition, and the CPUs that they are
//	done 1                             seen
//	             cores 2 0-1 0-1       let go of 2 and 3
//	done 2                             have let go; from now on the kernel keeps the job off them
//	             cores 3 0-1,8-9 0-1   more: they may be used at once
//	done 3
//	want 2                             an evolving job wishes to have 2 cores in all
//	             cores 4 0-1 0-1
//	keep 4 in the middle of a step     the job needs them, and keeps all
//	             bye WHY               something was wrong; the iHypervisor closes
//
// Every cores line has a number, and is to be answered by done or keep with it; a newer line
// replaces those before. A line with more cores than before needs no consent: keep is for those
// that take some. Whoever doesn't answer in time is silent, and the iHypervisor goes by its policy:
// it leaves the cores, or suspends or kills the job. More threads than CPUs are allowed; where
// several cores are one CPU (an iHypervisor that oversubscribes) the list of CPUs is shorter.
//
// Lists are numbers and ranges, ascending, with commas. A job's line is at most MaxLine bytes, an
// iHypervisor's MaxCoresLine. The job needs no name: the kernel says which process has connected,
// and its supervisor is above it. One connection for each job. When it breaks, as when the
// iHypervisor starts anew, the job connects again and goes on.
//
// [Client] is for jobs in Go; directories c, fortran and python have the same in these languages.
package malleable
