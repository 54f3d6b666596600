// SPDX-License-Identifier: BSD-3-Clause

package sim

// GPUQueue is what becomes of the machine's GPUs while at least one job that asks for
// GPUs waits: means over that time, of shares of all GPUs, as the policy's cycles leave
// them. Free GPUs count up to the number that the waiting jobs ask for in all, each at
// the least: where one job of 8 GPUs waits for a whole node, 8 GPUs are missed and not
// all that are free elsewhere. Of a GPU in shared use what is free of it counts, and of a
// job that asks for a share that share.
//
// A free GPU is of use if there is a waiting job that may have its node, for which the node
// has enough of them free, and enough cores and of whatever else the job takes of it, as
// memory; a job of several nodes counts as if the other nodes were there. What is free of a GPU
// in shared use is of use if such a job asks for no larger share. Those of the GPUs missed that
// cannot be made up from GPUs of use are stranded: cores or memory are gone, too few GPUs
// are left beside them, or too little of the GPU. The idea is that of Weng et al. ("Beware of
// Fragmentation", USENIX ATC'23), who take, of each node, the mean over kinds of jobs of the
// GPUs that a kind cannot use. This is for the jobs that wait instead of all that ever came, and
// counts what none of them can use. Of a job with alternatives the first request counts.
type GPUQueue struct {
	// Seconds is how long jobs waited for GPUs.
	Seconds int64 `json:"s"`
	// Idle are GPUs that nobody has and somebody wants.
	Idle float64 `json:"idle"`
	// Stranded are those of them that are of no use where they are.
	Stranded float64 `json:"stranded"`
}
