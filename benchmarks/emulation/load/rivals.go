// SPDX-License-Identifier: BSD-3-Clause

package load

// Sizes are the machines and queues that are measured.
func Sizes() []Size {
	return []Size{{1408, 5_000}, {1408, 20_000}, {10_000, 5_000}, {10_000, 20_000}}
}

// Long is the machine and queue of the long run.
func Long() Size { return Size{10_000, 100_000} }

// tuned is what Slurm's High Throughput Computing Administration Guide says
// (doc/html/high_throughput.shtml of 22.05): the parameters "used for running hundreds of jobs per
// second", but for bf_interval=300 and bf_min_age_reserve=10800, and defer, which it has in its
// text. max_rpc_cnt is what slurm.conf(5) recommends.
const tuned = "defer,batch_sched_delay=20,sched_min_interval=2000000,sched_max_job_start=200,partition_job_depth=500," +
	"bf_continue,bf_resolution=600,bf_yield_interval=1000000,max_rpc_cnt=150"

// Rivals are the schedulers that are measured: stock Slurm, then aucsched.
func Rivals() []Rival {
	return []Rival{
		{Name: "stock"},
		{Name: "stock, tuned", Parameters: tuned},
		{Name: "auction", Auction: true},
		{Name: "throughput", Parameters: "auc_preset=packed", Auction: true},
		{Name: "throughput, bf 300 s", Parameters: "auc_preset=packed,bf_interval=300", Auction: true},
	}
}

// LongRivals are the schedulers of the long run: stock Slurm, then aucsched.
func LongRivals() []Rival {
	return []Rival{
		{Name: "stock"},
		{Name: "stock, tuned", Parameters: tuned},
		{Name: "auction", Auction: true},
	}
}
