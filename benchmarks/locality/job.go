// SPDX-License-Identifier: BSD-3-Clause

package locality

// Node is one node of a cluster.
type Node struct {
	// ID is the file's name for the node. It need not be unique; nodes are told by their place.
	ID int
	// Memory is in GB, above 0.
	Memory float64
	// Bandwidth is that of the link to the shared file system, in GB/s, above 0.
	Bandwidth float64
	// Cores is in 1..MaxCores.
	Cores int
}

// Class says what a job is to the evaluation (section 5.1, figure 1).
type Class int

// The classes, with their numbers in workload files.
const (
	Running   Class = -2 // runs when the simulation begins, on its node of the log
	Queued    Class = -1 // waits when the simulation begins
	WarmUp    Class = 0  // of the day before the evaluated one
	Evaluated Class = 1  // what the results are of
	Pressure  Class = 2  // of the day after, so that the queue stays as it was
)

// Bounds of the input; what is beyond them is an error.
const (
	MaxNodes = 1 << 16
	MaxCores = 1 << 10 // of a node
	MaxJobs  = 1 << 22
	// MaxTime bounds every time and duration, in seconds: the reference programme gives up there.
	MaxTime = 2_000_000_000
	// maxGB bounds memories and files.
	maxGB = 1e9
	// maxTransfer bounds the time in which a file gets to a node, in seconds.
	maxTransfer = 1e9
)

// Job is one job of a workload. It runs on one node.
type Job struct {
	// ID is unique in a workload.
	ID int64
	// Submit is SubTime, in seconds on the log's own clock, in 0..MaxTime.
	Submit int64
	// Duration is the running time without the load of the file, in 1..MaxTime seconds. Schedulers
	// do not know it.
	Duration int64
	// WallTime is the time after which the job is killed, load included, in 1..MaxTime seconds.
	WallTime int64
	// Cores is the number of cores, at least 1.
	Cores int
	User  string
	// File is the input file; 0 is none. Jobs with the same number share a file.
	File int64
	// FileSize is the size of File in GB, the same for all its jobs.
	FileSize float64
	Class    Class
	// Started and StartNode are where the log had the job, for those of class Running: the second
	// of its start, and its node from 1 on, which counts modulo the number of nodes.
	Started   int64
	StartNode int
}
