// SPDX-License-Identifier: BSD-3-Clause

package pending

// left are the words with which the plug-in leaves jobs to Slurm, those of docs/slurm.md's table,
// in plain words; and what a user can change.
var left = map[string]word{
	"gres": {"which GPUs it may have together (by socket, shares on several nodes, other gres by job or task) is more than " +
		"the auction models",
		"ask by node: --gres=gpu:N or --gpus-per-node=N, without --gpus-per-socket"},
	"exclusive": {"how much it gets is known only when its nodes are: whole nodes that differ, or of a range, or --exclusive=mcs or topo",
		"give a number of nodes instead of a range, or a --constraint that makes the nodes alike; or do without --exclusive"},
	"record":        {"numbers of its request contradict each other", "look at -n, -N, -c and --ntasks-per-node once more"},
	"oversubscribe": {"it shares cores with other jobs", "do without --oversubscribe and --overcommit"},
	"features": {"it asks for counts of nodes by feature, or prefers some",
		"ask for -C a, a&b, a|b or [a|b], without counts and --prefer"},
	"nodelist": {"it names some of its nodes and wants others besides", "name all of its nodes with --nodelist, or none"},
	"segment": {"its segments do not divide its nodes, or are not alike for the auction",
		"give a --segment that divides the number of nodes and fits a block"},
	"blocks": {"it has several blocks, between which Slurm chooses by size", "ask for nodes that fit into one block, or for --segment"},
	"reservation": {"which cores are reserved is not in what the auction knows, or it names several reservations",
		"name one reservation; an administrator may reserve whole nodes"},
	"qos":        {"it names several QOS, which Slurm tries one after the other", "name one QOS"},
	"preemption": {"running jobs may be stopped for it by Slurm itself", ""},
	"hetjob": {"all parts of a heterogeneous job start in one step, inside Slurm's backfill scheduler",
		"do without a heterogeneous job, if one request can say it"},
	"burst-buffer": {"it starts in several steps, with a burst buffer", ""},
	"reboot":       {"it starts in several steps, with a reboot of its nodes", "do without --reboot"},
	"expand":       {"it expands a running job", ""},
	"federation":   {"who starts it is agreed between clusters", ""},
	"layout": {"sockets, or cores that are kept from jobs, matter to it",
		"do without --core-spec, -B, --sockets-per-node, --spread-job and --use-min-nodes"},
	"threads": {"half cores or whole sockets are given in its partition", ""},
	"limits": {"a limit of its partition, its association or its QOS allows none of its numbers of nodes, or it waits " +
		"behind a job with the same limit", "ask for fewer nodes or less of what the limit counts"},
	"topology":  {"its partition has a topology that the auction does not model", ""},
	"partition": {"the site has the auction for other partitions (auc_partitions)", ""},
	"user":      {"the site has the auction for other users (auc_users_share)", ""},
	"external":  {"it runs outside of Slurm's own launching (--external)", ""},
	"expedited": {"it was requeued to start before all others", ""},
	"failed":    {"three starts in a row failed, so that Slurm has it for five minutes; slurmctld's log says why", ""},
	"overdue":   {"the auction had not started it for auc_net_s seconds although Slurm could have; Slurm has it for a while", ""},
	"beyond":    {"it is further down the queue than the auction looks (auc_window and auc_depth)", ""},
	"place": {"the auction's model of it is rougher than its request: it found no place, and Slurm's own selection has one",
		"give -N with --ntasks-per-node or --exclusive; ask for GPUs by node"},
	"never": {"no nodes of this machine, as it is, can ever meet its request",
		"ask for less on each node, or for other features or nodes"},
	"unmodelled": {"the policy's model does not know its request", "do without --contiguous"},
}
