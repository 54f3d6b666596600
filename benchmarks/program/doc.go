// SPDX-License-Identifier: BSD-3-Clause

// Package program has another program decide, as a policy: it gets a window a line on its standard
// input, and answers each with a plan on one line of its standard output. Both are the JSON of
// "aucsched plan": docs/schemas/window.json and docs/schemas/plan.json.
//
// Of a plan only its decisions count, and of these those that start a job, or say why it does not.
// A decision that starts a job and names no nodes leaves the choice to Slurm's selection, on what is
// free after the decisions before it; where nothing fits, the job waits.
//
// Nothing is believed: each decision is checked against the window and the job, and [core.Verify]
// judges the plan as it judges all others. A program that answers wrongly, too late, too long or not
// at all is an error that says in which cycle, and of which decision, job and field.
package program
