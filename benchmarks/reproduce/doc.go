// SPDX-License-Identifier: BSD-3-Clause

// Package reproduce runs the experiments of the papers' tables in the simulator and
// sets the results beside the papers'.
//
// A [Table] has a [Row] for each row of the printed table. A row is a list of
// arguments of "aucsched simulate"; with a seed it is a [Cell], which whoever doubts
// a figure can run by hand. A [Runner] runs the cells that a [Store] does not have
// yet and stores each as it ends, so that an interrupted run goes on where it was;
// [Array] has the cells run as the tasks of a job array of Slurm instead. [NewReport]
// makes means, deviations and comparisons of them, for [Report.Text],
// [Report.Markdown] or JSON. No figure depends on the wall clock.
package reproduce
