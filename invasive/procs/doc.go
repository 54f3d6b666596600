// SPDX-License-Identifier: BSD-3-Clause

// Package procs has a hand on the processes of a job on Linux, all threads of them: where they may
// run, whether they are stopped, when one ends. Who belongs to a job is said by a [Family], mostly
// those below some process ([Below]).
package procs
