// SPDX-License-Identifier: BSD-3-Clause

// Package agents has one iHypervisor run jobs on many nodes. A [Head] is its Launcher, and an
// [Agent] on each node runs the parts of jobs there, under the supervisors of package launch.
//
// A job's first process runs on its home, the node of its first core. It hears of cores as on one
// host (package malleable), by its agent, and starts commands on them as a program of package crew
// does on places: a place is a core. A command keeps to its core, and is ended when the job loses
// that.
//
// Head and agents may be killed at any time, alone and together; jobs go on. What is to run on a
// node is a state that the head has for each job, with a number. It is said again whenever an agent
// comes back, which does what is missing, ends what is too much, and is given cores only then. So
// nothing depends on whether a message has arrived. What has run is marked on the disk of its node,
// and is never begun again; a node that comes back with another disk has lost what it ran.
//
// Who joins needs the invitation, a file that only its user can read (package lines).
package agents
