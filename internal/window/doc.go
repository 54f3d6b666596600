// SPDX-License-Identifier: BSD-3-Clause

// Package window reads the state of a machine and its queue from JSON, and writes
// what a cycle decided: the formats of "aucsched plan".
//
//	{"nodes": [{"name": "n[1-1024]", "cores": 8, "gpus": 2,
//	            "free_cores": 8, "free_gpus": 2, "state": "up",
//	            "weight": 1}],
//	 "running": [{"id": "R1", "nodes": "n[65-80]", "cores_per_node": 8,
//	              "gpus_per_node": 2, "end_s": 500}],
//	 "jobs": [{"id": "J1", "priority": 4294901759, "cores": 4096, "nodes": "512",
//	           "tasks_per_node": 0, "gpus_per_node": "1-3", "contiguous": false,
//	           "time_limit_s": 600, "waited_s": 3600}]}
//
// Node names are Slurm hostlists, in machine order. free_cores and free_gpus default to what
// running jobs leave; if they are given, what running jobs hold is already off. nodes and
// gpus_per_node take N or MIN-MAX, as a string or a number. state is up (the default), drained or
// down. Jobs get nodes of the least weight where they can, as in Slurm; 0 if it is absent.
// cores_per_node and gpus_per_node of a running job are a number, or a list with an element
// for each of its nodes. end_s is the time, in seconds from now, at which the job's limit runs out;
// without it the job has none.
// waited_s is for how long the job could have started already, 0 if it is absent; auctions with a
// patience look at it. Whatever is absent is not restricted.
//
// A job that gives neither cores nor tasks_per_node takes no core: it has to ask for GPUs of each
// node, or for something of a further resource (see below). It can have them on nodes that have no
// core free, on as few nodes as it allows:
//
//	{"id": "J9", "priority": 7, "nodes": 2, "gpus_per_node": 1}
//
// Only auction2 knows of this. cores_per_node of a running job may be 0 as well.
//
// "gpus_uniform": false lets the nodes of a job give different numbers of GPUs, each in the
// range of gpus_per_node:
//
//	{"id": "J2", "priority": 7, "cores": 32, "nodes": 4, "gpus_per_node": "1-3",
//	 "gpus_uniform": false}
//
// "eligible" names the nodes that a job, or one of its alternatives, may use: all if it is absent,
// none if it is empty. "prefer" names nodes on which the job would rather be, because they hold its
// input, say:
//
//	{"id": "J4", "priority": 5, "cores": 8, "eligible": "n[1-512]", "prefer": "n[7-8]"}
//
// Nodes may have up to 64 further resources, such as memory, GPUs of one type, licences of a node
// or disk, under names and in units of the caller's. "resources" has what each of the nodes has in
// all and "free_resources" what of it is free, which is what running jobs leave of a resource that
// it does not name. "uses" says what a job takes on each of its nodes: so much a node, for each
// core and for each GPU that the node gives it. A GPU of a type is a GPU that takes one of a
// resource of that name. Jobs, alternatives and running jobs have it; its resources must be some
// node's, if only 0 of them. Amounts are 0 to 2147483647. A job with a range of GPUs may not take a
// resource both by core and by GPU:
//
//	{"name": "g[1-8]", "cores": 64, "gpus": 4,
//	 "resources": {"memory": 512000, "gpu:a100": 4}, "free_resources": {"memory": 480000}}
//	{"id": "J5", "priority": 5, "cores": 16, "gpus_per_node": 2,
//	 "uses": {"memory": {"per_node": 1000, "per_core": 4000}, "gpu:a100": {"per_gpu": 1}}}
//
// "gpu_shares" says that jobs may share the GPUs of a node, and how many shares each GPU has, in a
// unit of the caller's. "gpu_share" is how many a job or an alternative wants, all of them on one
// GPU of its one node, and no GPUs beside; "nodes" is 1 there if it is absent. A GPU is either
// given whole or in shared use. It has a number on its node then, from 1 to twice the node's
// "gpus": jobs with the same number share it, and a new number is of any GPU that is free. A
// running job says which it shares ("shared_gpu"), and so does a plan of a job that starts.
// "free_gpu_shares" has what is free of GPUs in shared use, by number; of one that it does not name
// it is what running jobs leave. GPUs that it names are not among those of "free_gpus". Components
// have whole GPUs only:
//
//	{"name": "g[1-8]", "cores": 64, "gpus": 4, "gpu_shares": 100, "free_gpu_shares": {"2": 35}}
//	{"id": "R3", "nodes": "g1", "cores_per_node": 4, "end_s": 500, "gpu_share": 65, "shared_gpu": 2}
//	{"id": "J10", "priority": 5, "cores": 4, "gpu_share": 30}
//
// "quotas" bound what waiting jobs take together, wherever they are: "left" is how much those that
// start now may count, 0 if it is absent, in a unit of the caller's. "charges" says what a job, an
// alternative or a running job counts: so much in all, on each node, for each core and for each
// GPU. What running jobs count is off "left" already, and comes back when they end. Numbers are 0
// to 2^40; what is counted is rounded up to 2^-24 of what is left:
//
//	"quotas": [{"name": "AssocGrpCpuLimit of account x", "left": 64}]
//	{"id": "J6", "priority": 5, "cores": 16,
//	 "charges": {"AssocGrpCpuLimit of account x": {"per_core": 1}}}
//
// "switches" are where the nodes stand, as in Slurm's topology.conf: racks, blocks or switches, of
// which leaves have nodes and others switches below them. Auctions lay jobs below as few as can be.
// A job demands to be below so many leaves at most ("switches"), below one switch of a level
// ("within", 1 for a leaf), or in segments of so many nodes of one leaf each ("segment"):
//
//	{"switches": [{"name": "s1", "nodes": "n[1-512]"}, {"name": "s2", "nodes": "n[513-1024]"},
//	              {"name": "root", "switches": "s[1-2]"}],
//	 "jobs": [{"id": "J7", "priority": 4, "nodes": 16, "tasks_per_node": 8, "switches": 1}]}
//
// A running job may be stopped to make room if it has a "price": what is lost then, in units of
// priority, 1 to 2^40. "preempts" lists the classes of running jobs, 0 to 63, that may be stopped
// for a job; "class" is that of a running job, 0 if it is absent. "preempted" of a plan are the
// jobs to be stopped first, with those that wait for that:
//
//	{"id": "R2", "nodes": "n[1-4]", "cores_per_node": 8, "end_s": 500, "price": 10, "class": 1}
//	{"id": "J8", "priority": 1000, "cores": 32, "preempts": [0, 1]}
//
// A job may have alternatives, at most 8 further requests, each complete by itself, of which
// the first is liked best:
//
//	{"id": "J3", "priority": 6, "cores": 64, "time_limit_s": 600,
//	 "alternatives": [{"cores": 16, "nodes": 4, "gpus_per_node": 2},
//	                  {"cores": 16, "nodes": 8, "gpus_per_node": 1, "contiguous": true}]}
//
// The job starts by one of its requests at most; priority and time_limit_s are the job's.
// A decision says which: "alternative" is 1 for the first of the list, and absent for what
// the job asks for itself. gpus_per_node of a decision is the least of its nodes;
// gpus_of_nodes has them all where they differ. Only auction1 and auction2 know
// of this: backfill and ipsched take a job's own request, with the fewest GPUs of a range.
//
// A job may have components, at most 15 further requests beside its own, as a leader has workers:
// all have places and start together, or the job waits. Parts may share nodes, save those that are
// to be "apart"; "all_within" is the level of a switch that all parts are below:
//
//	{"id": "J8", "priority": 3, "cores": 4, "nodes": 1, "gpus_per_node": 1, "time_limit_s": 600,
//	 "components": [{"nodes": 8, "tasks_per_node": 8, "apart": true}], "all_within": 1}
//
// A component is complete by itself: it has its own eligible, uses and charges, and no components.
// A decision has what the job's own request gets where it always is, and "components" has the same
// of each of its components.
//
// What a [core.Cluster] writes says more, so that it is one again: "time" is when it was so; running
// jobs have "ran_s", "components" with what each holds, and "job", what they asked for; quotas have a
// "limit" where jobs count more than it; waiting jobs have their "price" and "class".
//
// A file has at most 256 MB. Lists of nodes name at most 2^26 nodes in all, and lists that differ
// times nodes are at most 2^32, as are levels of switches times nodes at most 2^24.
//
// Everything is checked, by a Cluster as it checks what it is told: an error names the file, the
// line, the element, the field and the value, and nothing is returned besides.
package window
