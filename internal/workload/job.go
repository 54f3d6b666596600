// SPDX-License-Identifier: BSD-3-Clause

package workload

import "github.com/aucsched/aucsched/core"

// Job is one job of a workload.
type Job struct {
	core.Job
	// Submit is the second of submission since the workload's start.
	Submit int64
	// Duration is how long the job runs, in seconds. For a job with a GPU range
	// it is the duration with the fewest GPUs; with k GPUs a node it is
	// Duration x MinGPUs / k (aucsched2, equation 5).
	Duration int64
	// Leaves is the second in which the job is withdrawn if it has not begun, and ended if
	// it has; 0: it stays.
	Leaves int64
	// After is the ID of a job that has to end before this one is submitted, Think seconds later at
	// the earliest; empty: there is none. No job may come after itself, by whatever way.
	After string
	Think int64
	// Work is for how many seconds its cores count as work done; 0: Duration. A job that was given
	// a number of GPUs out of a range counts as with the fewest.
	Work int64
	// Span makes the job malleable: it asks for Span.Least nodes, and takes more while it runs. Its
	// Request and Duration are those of the rigid job.
	Span Span
	// Memory is what the job asks for of each node's memory; 0: it takes none.
	Memory Memory
	// Pod is what a pod asks for, where it was read to the letter: see
	// package traces. Else it is nil.
	Pod *Pod
	// Input is the file that the job reads before it can begin; readers and generators name none.
	Input Input
	// User is who submitted the job, as the trace calls them; empty if it does not say.
	User string
	// Past is what became of the job where it was traced, if that was asked for: see
	// [SacctOptions].Past. Else it is nil.
	Past *Past
}

// Past is what became of a job, and what of its request no policy goes by.
type Past struct {
	Partition string
	// Account and QOS, where they are said.
	Account, QOS string
	// Began is when it began, in seconds, as Job.Submit.
	Began int64
	// Came is when it could begin, though a replay may have it come later; Ranked when the accounts
	// had its priority. Both are package try's.
	Came, Ranked int64
	// GPUType is the type of GPU that it asked for, empty if of any or none.
	GPUType string
	// Nodes is the list of the nodes that it had, as sacct prints it; empty if it does not say.
	Nodes string
}

// Pod is what a pod of Alibaba's asks of its node.
type Pod struct {
	MilliCores int    // thousandths of a core
	GPUs       int    // whole ones
	Share      int    // thousandths of one GPU, below 1000; 0: none
	Models     string // of GPU that will do, with | between them; empty: all
}

// Input is the file that a job reads. Each node of the job needs all of it.
type Input struct {
	// File tells files apart; 0: the job names none.
	File uint64
	// Bytes is the file's size, at least 1 where there is a file.
	Bytes int64
}

// Memory is what a job asks for of a node's, in MiB: PerNode, and PerCore for each core that the
// node gives. Zero: the trace does not say.
type Memory struct{ PerNode, PerCore int64 }

// Span is on how many nodes a malleable job can run, Least to Most; zero for a rigid one. All give
// what a node gives in the job's request.
type Span struct{ Least, Most int }
