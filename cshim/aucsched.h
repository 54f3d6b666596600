/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * libaucsched: the collective scheduler of aucsched behind a C interface.
 *
 * This header is the contract. It is written by hand; the library checks that it keeps
 * to it: constants when it is built, structures when it is loaded.
 *
 * A scheduler opens a handle, then calls aucsched_cycle() with flat arrays that
 * describe the machine, the running jobs and the queue, and reads flat decisions.
 * The library looks at nothing else: no file but those that it is told to write (aucsched_shadow(), aucsched_keep_files(), record=PATH), no environment
 * variable, no clock but the process's monotonic one, clock_gettime(CLOCK_MONOTONIC), for the deadline and
 * cycle_us.
 *
 * Errors. Functions return AUCSCHED_OK (0) or one of the negative AUCSCHED_E* codes;
 * aucsched_last_error() has the words. After an error there is no decision: nothing
 * in the output may be used, and the handle can be used again. The library never
 * crashes the caller on its own account: a bug inside it comes back as
 * AUCSCHED_EPANIC. See Memory for what is beyond that.
 *
 * Faults. What is wrong with one element alone does not fail a cycle: one user's odd job must not stop it for all.
 *   - a job, or one of its alternatives: the job is left out, why == AUCSCHED_FAULTY;
 *   - a priority above that of the job before: it counts as that one's, and the job takes part;
 *   - a read: it is left out, and its job takes part without;
 *   - a charge of a running job: nothing of it is expected to come back;
 *   - a running job, or one of its segments or uses: what it holds is not free, and is never expected to be.
 * output.faults counts them; aucsched_last_error() then has the words for the first, with its array and index.
 * What is wrong with the nodes, or with the arrays as such (a length, NULL), is AUCSCHED_EINVAL.
 *
 * Threads. Every function may be called from any thread. Calls on one handle must
 * not overlap; a call that finds its handle busy returns AUCSCHED_EBUSY at once.
 * Calls on different handles may overlap. The library starts threads of its own and can't
 * be unloaded; load it after the process has daemonised, for they do not survive a fork.
 *
 * Memory. The library reads the caller's arrays only during the call and keeps no
 * pointer to them. The arrays in struct aucsched_output belong to the handle and are
 * valid until the next aucsched_cycle() or aucsched_close() on it.
 *
 * What ends the process, and not only a call: memory that can't be had, as in every Go program, and a thread that
 * can't be started. Against the former a cycle is refused by the lengths of its arrays (memory_mb), before any of it
 * is allocated; and the collector works the harder the nearer all handles together come to the highest memory_mb of
 * any of them, which refuses nothing. Against the latter the library uses four processors at most, and starts the
 * threads for them when it is loaded.
 */
#ifndef AUCSCHED_H
#define AUCSCHED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure, a code or a meaning below changes. 5: further resources, 6: quotas, 7: switches,
 * 8: shares of GPUs, and preemption, 9: aucsched_settings(),
 * aucsched_shadow(), aucsched_status(), aucsched_tiers(), aucsched_price() and aucsched_keep_files(), 10: aucsched_alternatives() and
 * aucsched_topology(); neither offers nor worker processes, 11: aucsched_invasic(), 12: aucsched_price() sets
 * classes, 13: aucsched_shape(), aucsched_noted() and aucsched_input_file(); aucsched_status()
 * takes a handle, and aucsched_alternatives() settings, 14: aucsched_range(); aucsched_alternatives() takes nodes,
 * aucsched_cycle() preferences, stakes and tiers of jobs, 15: aucsched_submission() instead of aucsched_alternatives(),
 * aucsched_range() and aucsched_invasic(); aucsched_topology() takes lines, 16: cycles go by what the handle was told of it. */
#define AUCSCHED_ABI 16

/* Return values. */
#define AUCSCHED_OK 0
#define AUCSCHED_EINVAL -1   /* a setting, a node or an array of the input is wrong; the error names it */
#define AUCSCHED_EHANDLE -2  /* no such handle: never opened, or closed */
#define AUCSCHED_EBUSY -3    /* another call on this handle is under way */
#define AUCSCHED_EFAILED -4  /* the cycle came to no decision */
#define AUCSCHED_EPANIC -5   /* a bug in the library; nothing was decided */

/* Limits on the input. */
#define AUCSCHED_MAX_NODES 1048576
#define AUCSCHED_MAX_JOBS 1048576
#define AUCSCHED_MAX_ALTERNATIVES 8 /* of a job */
#define AUCSCHED_MAX_CORES INT32_MAX /* of a job */
#define AUCSCHED_MAX_CORES_PER_NODE 65535
#define AUCSCHED_MAX_GPUS 15 /* of a node */
#define AUCSCHED_MAX_PRIORITY ((uint64_t) 1 << 40)
#define AUCSCHED_MAX_FILE ((uint64_t) 1 << 60) /* bytes */
#define AUCSCHED_MAX_RESOURCES 64 /* with shares of GPUs 63 */
#define AUCSCHED_MAX_AMOUNT INT32_MAX /* of a resource on a node, of a use, and of shares of a GPU */
#define AUCSCHED_MAX_QUOTAS ((uint32_t) 1 << 20)
#define AUCSCHED_MAX_CHARGE ((uint64_t) 1 << 40) /* of what is left of a quota, and of each number of a charge */
#define AUCSCHED_MAX_CLASS 63 /* of a running job that may be preempted */
#define AUCSCHED_NO_LIMIT UINT32_MAX /* a job without a time limit */
#define AUCSCHED_NO_JOB UINT32_MAX /* no index of a job */
#define AUCSCHED_NO_SWITCH UINT32_MAX /* no index of a switch */
#define AUCSCHED_ROOT UINT16_MAX /* a level of switches above all others */

/* A node, by its index in the array: neighbours in the array are neighbours in the
 * machine, which is what contiguous means. */
struct aucsched_node {
	uint16_t cores;      /* in all */
	uint16_t free_cores; /* 0..cores */
	uint8_t gpus;        /* in all, at most 15 */
	uint8_t free_gpus;   /* 0..gpus; those that jobs share are not free, and with them at most gpus */
	uint8_t up;          /* 0: takes no new job, whatever is free */
	uint8_t tier;        /* the auctions give nodes of lower tiers first, where they can; of no account for who starts */
};

/* A part of an allocation: the same amount on each of the nodes first..last. */
struct aucsched_segment {
	uint32_t first, last; /* node indices, both included */
	uint16_t cores;       /* on each; 0: of a job that takes none */
	uint8_t gpus;         /* on each */
	uint8_t bin;          /* the GPU that has the job's share: first == last then. 0: none */
};

/* A job that holds nodes. One that holds other amounts, or shares, here and there may be there several times. */
struct aucsched_running {
	int64_t end;            /* second by which it will have ended, on the scale of input.now */
	uint32_t first_segment; /* index in input.running_segments */
	uint32_t segments;      /* how many; ascending, not overlapping */
	uint64_t price;         /* for which it may be preempted, at most AUCSCHED_MAX_PRIORITY; 0: it is not */
	uint32_t share;         /* of a GPU, on each of its nodes: the one that the segment's bin names; 0: none */
	uint8_t preempt_class;  /* 0..AUCSCHED_MAX_CLASS: by this jobs say whom they preempt */
	uint8_t whole_leaves;   /* 1: with input.switches, what is free below the leaves of its nodes is nobody's until it ends */
	uint8_t reserved[2];    /* 0 */
};

#define AUCSCHED_CONTIGUOUS 1 /* flag: the nodes must be neighbours */

/* A job of the queue. Jobs that are alike (tasks of an array) are simply repeated. */
struct aucsched_job {
	uint64_t priority;       /* 1..AUCSCHED_MAX_PRIORITY; the higher comes first, equals as they stand */
	uint32_t cores;          /* in all; 0, with cores_per_node 0: none, but GPUs, a share of one or a use per_node
	                          * on each of its nodes, of which there are min_nodes where max_nodes is 0 */
	uint32_t min_nodes;      /* 0: any */
	uint32_t max_nodes;      /* 0: any */
	uint32_t cores_per_node; /* exactly so many on each node; 0: any */
	uint32_t time_limit;     /* seconds, at least 1, or AUCSCHED_NO_LIMIT */
	uint8_t min_gpus;        /* on each node */
	uint8_t max_gpus;        /* on each node, at least min_gpus; the same number is given on all */
	uint8_t flags;           /* AUCSCHED_CONTIGUOUS */
	uint8_t reserved;        /* 0 */
	int32_t mask;            /* index of the mask of nodes that the job may use; -1: all */
	uint32_t waited;         /* seconds for which it could have started already; settings with a patience go by it */
	uint32_t switches;       /* its nodes are below so many leaf switches at most; 0: any number */
	uint16_t within;         /* its nodes are below one switch of this level: 1 a leaf, AUCSCHED_ROOT a root; 0: any */
	uint16_t segment;        /* its nodes come in so many below one leaf each; 0, 1: any; else the number of nodes is
	                          * fixed, and a multiple. All three hold for its alternatives, and demand
	                          * nothing without input.switches. */
	uint64_t preempts;       /* bit c: it may preempt running jobs with preempt_class c; all its alternatives too */
	uint32_t share;          /* of one GPU, in the unit of input.share_sizes: max_nodes is 1 then, and max_gpus 0; 0: none */
	uint32_t tier;           /* any start of a higher one is worth more than all of lower ones; priorities are below 2^32 then. 0: of none */
};

/*
 * A switch, block or rack: where nodes stand. Level 1 are those with nodes, the leaves; others are one level above
 * the highest below them. The auctions lay jobs below as few as can be, and give up no start for that.
 */
struct aucsched_switch {
	uint32_t parent;   /* index in input.switches, AUCSCHED_NO_SWITCH for none */
	uint32_t reserved; /* 0 */
};

/* Another request of a job, whole, that it would start with as well: bids for all of its
 * requests compete, and one wins at most. */
struct aucsched_alternative {
	uint32_t job;       /* index in input.jobs; alternatives are ascending by it */
	uint32_t cores, min_nodes, max_nodes, cores_per_node; /* as in a job */
	uint8_t min_gpus, max_gpus, flags;
	uint8_t reserved;   /* 0 */
	int32_t mask;       /* -1: the job's */
	uint32_t share;     /* as in a job; it says itself whether it takes one */
};

/*
 * Input files. Jobs may name a file that they read. A node that a job runs on is taken to hold the job's
 * file from then on, until files read after it fill the node's store, or until it was not read for
 * file_age_s seconds. The auctions have a job prefer nodes that hold its file; jobs of the queue with the same
 * file, for which these have no room, prefer some further nodes together. The handle knows who holds what from
 * cycle to cycle, by what runs: cycles without jobs tell it too. See aucsched_keep_files().
 */

/* What a node keeps of files. */
struct aucsched_store {
	uint64_t id;    /* the same whenever the node is meant, over restarts too; 0: what it holds is not saved */
	uint64_t bytes; /* 0: nothing */
};

/* A job reads a file. */
struct aucsched_read {
	uint32_t job;      /* index in input.jobs or input.running; ascending, one a job */
	uint32_t reserved; /* 0 */
	uint64_t file;     /* tells files apart, over restarts too; not 0 */
	uint64_t bytes;    /* 1..AUCSCHED_MAX_FILE */
};

/*
 * Further resources: whatever else nodes have so much of and jobs take, in the caller's units. Memory in MB, GPUs of
 * one type (a job that wants these asks for GPUs, and uses one of that resource per GPU), other gres.
 */

/* What a node has of a resource. */
struct aucsched_amount {
	uint32_t total; /* at most AUCSCHED_MAX_AMOUNT */
	uint32_t free;  /* 0..total */
};

/* What a job, an alternative or a running job takes of a resource on each of its nodes: per_node, and per_core for
 * each core that the node gives it, and per_gpu for each GPU. Only a job with min_gpus == max_gpus may have
 * both per_core and per_gpu of one resource. An alternative says all that it takes itself. */
struct aucsched_use {
	uint32_t of;       /* index in the array; uses are ascending by it, and by resource */
	uint16_t resource; /* 0..resources_len - 1 */
	uint16_t reserved; /* 0 */
	uint32_t per_node, per_core, per_gpu;
};

/*
 * Shares of single GPUs, as by Slurm's shard. A GPU is given whole, or is a bin that jobs have shares of, all of a job's
 * on one; it becomes a bin with its first share, and is whole again when the last one ends. All GPUs of a node are
 * alike: one with GPUs of several types, which jobs may ask for, has to have a share size of 0. Bins of a node have
 * numbers, 1..2 * gpus of the node: names that the caller gives to those that are in use, in any order. In the answer a
 * segment's bin is such a name, or another number: then the job gets one of the GPUs that are free as a whole, and jobs
 * that start with the same number have it together. Which of them that is is the caller's choice. Shares of ipsched's jobs
 * are not known to its model: these are AUCSCHED_NOT_LOOKED_AT.
 */

/* A GPU that is in shared use. Those of a node that jobs of the input hold shares of must all be there. */
struct aucsched_shared_gpu {
	uint32_t node;       /* index in input.nodes; shared GPUs are ascending by it, and by bin */
	uint32_t free;       /* shares: less than the node's size, from which what running jobs hold of it is taken off */
	uint8_t bin;         /* 1..2 * gpus of the node */
	uint8_t reserved[3]; /* 0 */
};

/*
 * Preemption, at a price. Where a job finds no place, nor one among those that jobs behind it would get, running jobs
 * with a price go of a class that it may preempt, the cheapest that will do, if their prices together are below its
 * priority. The price is what is lost then, in units of priority; of a job that is on its way out it may be 1. Nobody
 * is preempted for jobs behind the window, or by policies other than auction2. A job that is in input.running in
 * several parts must have no price: the others would go on.
 *
 * The decision on a start names the running jobs that have to end first. The caller ends them, and starts the job when
 * they have given back what they hold. Until that moment nothing else may be started on nodes of theirs: the caller
 * keeps the place, for the library remembers none. Starts without such jobs need not wait.
 */

/*
 * Quotas: bounds on what jobs take together, wherever they are: the CPUs of an account, the jobs of a user, licences,
 * power. A cycle never starts jobs that together count more against a quota than is left of it. Jobs over a quota take
 * no place in the window from others; the first of a quota has what it counts kept for it, from when running jobs give
 * back enough. What a job counts is rounded up to 2^-24 of what is left. ipsched knows no quotas: jobs with charges are
 * AUCSCHED_NOT_LOOKED_AT.
 */

/* What a job, an alternative or a running job counts against a quota, in the caller's unit: per_job, and per_node for
 * each of its nodes, per_core for each core and per_gpu for each GPU; at most AUCSCHED_MAX_CHARGE each. What a
 * running job counts is not left, and comes back when it ends. An alternative says all that it counts itself. */
struct aucsched_charge {
	uint32_t of;    /* index in the array; charges are ascending by it, and by quota */
	uint32_t quota; /* 0..quotas_len - 1 */
	uint64_t per_job, per_node, per_core, per_gpu;
};

/* For callers that have no tiers and prices of their own: */

/* What says how soon a node is used. Awake ones come first; of these by weight; of one weight those without GPUs. Where there
 * are more weights than tiers have room for, neighbours count as one. */
struct aucsched_preference {
	uint32_t weight; /* lower ones first */
	uint8_t asleep;  /* powered down: after all others */
	uint8_t spread;  /* the least loaded of these first, whatever their weight */
	uint8_t reserved[2];
};

/* What is lost when a running job is preempted, of which a class and a price are made. Prices are in proportion to that, and
 * so low that the least start of a job that may preempt somebody is worth more than all together, as long as there are
 * numbers for it: for that the priorities of all jobs count 2^output.shift times. */
struct aucsched_stake {
	uint32_t running;    /* index in the running jobs; ascending */
	uint32_t order;      /* those with lower ones are to go first */
	uint64_t cores;      /* that it holds, in all */
	int64_t ran;         /* s; a new run begins from nothing */
	uint64_t answers;    /* bit k: it may be preempted by jobs whose preempts has bit k, and no bits that are not here */
	uint8_t cancelled;   /* somebody has to submit it again */
	uint8_t reserved[7]; /* 0 */
};

struct aucsched_input {
	uint32_t abi;  /* AUCSCHED_ABI */
	uint32_t size; /* sizeof(struct aucsched_input) */
	int64_t now;   /* seconds; any origin */
	uint64_t seed; /* of this cycle's random choices: the same input and seed, the same decisions */
	uint32_t deadline_us; /* the answer is due so many microseconds from the call; 0: the handle's deadline_ms */
	uint32_t nodes_len, running_len, running_segments_len, jobs_len;
	uint32_t masks_len;  /* number of masks */
	uint32_t mask_words; /* 64-bit words a mask, (nodes_len + 63) / 64; node n is bit n % 64 of word n / 64 */
	uint32_t alternatives_len;
	uint32_t stores_len; /* 0: files are not looked at; otherwise nodes_len */
	uint32_t job_reads_len, running_reads_len; /* 0 without stores */
	uint32_t resources_len; /* how many further resources there are */
	uint32_t job_uses_len, alternative_uses_len, running_uses_len;
	uint32_t reserved;   /* 0 */
	const struct aucsched_node *nodes;
	const struct aucsched_running *running;
	const struct aucsched_segment *running_segments;
	const struct aucsched_job *jobs; /* the queue, by falling priority; the order counts, not the number, where they differ */
	const uint64_t *masks;           /* masks_len * mask_words words */
	const struct aucsched_alternative *alternatives;
	const struct aucsched_store *stores;
	const struct aucsched_read *job_reads;
	const struct aucsched_read *running_reads;
	const struct aucsched_amount *amounts; /* resources_len * nodes_len: that of node n of resource r is
						* amounts[r * nodes_len + n] */
	const struct aucsched_use *job_uses;         /* of jobs */
	const struct aucsched_use *alternative_uses; /* of alternatives */
	const struct aucsched_use *running_uses;     /* of running */
	uint32_t quotas_len;
	uint32_t job_charges_len, alternative_charges_len, running_charges_len;
	const uint64_t *quotas; /* how much of each is left to jobs that start now; at most AUCSCHED_MAX_CHARGE */
	const struct aucsched_charge *job_charges;         /* of jobs */
	const struct aucsched_charge *alternative_charges; /* of alternatives */
	const struct aucsched_charge *running_charges;     /* of running */
	uint32_t switches_len; /* 0: nothing is known of where nodes stand */
	uint32_t leaves_len;   /* nodes_len; 0 without switches */
	const struct aucsched_switch *switches;
	const uint32_t *leaves; /* of each node: its leaf, as index in switches; AUCSCHED_NO_SWITCH for none */
	uint32_t share_sizes_len; /* nodes_len; 0: GPUs are given whole only */
	uint32_t shared_gpus_len; /* 0 without share_sizes */
	const uint32_t *share_sizes; /* of each node: how many shares each of its GPUs has, in the caller's unit, at most
				      * AUCSCHED_MAX_AMOUNT; 0: they are given whole only */
	const struct aucsched_shared_gpu *shared_gpus; /* those that are in shared use now */
	uint32_t preferences_len; /* nodes_len; 0: tiers, classes and prices are the caller's */
	uint32_t stakes_len;      /* of running jobs that may be preempted; 0 without preferences */
	const struct aucsched_preference *preferences; /* of each node, instead of its tier */
	const struct aucsched_stake *stakes;
};

/* Why a job does not start. */
#define AUCSCHED_STARTS 0         /* it does; with victims > 0 when these have ended */
#define AUCSCHED_WAITS_FIT 1      /* no set of nodes that it could use is free */
#define AUCSCHED_WAITS_LOST 2     /* others were worth more */
#define AUCSCHED_WAITS_RESERVED 3 /* a place is kept for it from `expected` on */
#define AUCSCHED_WAITS_NEVER 4    /* this machine can never run it */
#define AUCSCHED_NOT_LOOKED_AT 5  /* behind the window and its depth, or not known to the policy's model */
#define AUCSCHED_TIMED_OUT 6      /* the deadline came before it was decided on: a cycle is due though nothing changes */
#define AUCSCHED_FAULTY 7         /* it was left out for a fault of its own: see Faults above */
#define AUCSCHED_WAITS_QUOTA 8    /* a quota has too little left, or would have beside jobs that start; `expected` as with RESERVED */

struct aucsched_decision {
	int64_t expected;       /* second at which the job is expected to start, 0: unknown */
	uint32_t first_segment; /* index in output.segments */
	uint32_t segments;      /* 0 unless the job starts */
	uint8_t why;            /* AUCSCHED_STARTS ... */
	char bid_class;         /* 'A', 'B' or 'C', 'I' with ipsched; 0 unless the job starts */
	uint8_t gpus;           /* on each node */
	uint8_t alternative;    /* 0: its own request; k: the k-th of its alternatives */
	uint32_t holders;       /* nodes of a start that hold the job's file */
	uint32_t quota;         /* with AUCSCHED_WAITS_QUOTA: which; else 0 */
	uint32_t first_victim;  /* index in output.victims */
	uint32_t victims;       /* how many running jobs have to end before the job starts */
	uint32_t reserved;      /* 0 */
};

struct aucsched_output {
	uint32_t abi;  /* set by the caller: AUCSCHED_ABI */
	uint32_t size; /* set by the caller: sizeof(struct aucsched_output) */
	uint32_t decisions_len; /* == input.jobs_len; decision i is about job i */
	uint32_t segments_len;
	const struct aucsched_decision *decisions;
	const struct aucsched_segment *segments; /* a job's are ascending and exact */
	double objective, bound;  /* worth of what starts, less that of whom it ends, and an upper bound; 0 if nothing was open */
	uint32_t starts;          /* decisions with why == AUCSCHED_STARTS */
	uint32_t window, bids;    /* jobs that took part, and their bids */
	uint32_t cycle_us;        /* time in the library */
	uint32_t shift;           /* see struct aucsched_stake */
	uint8_t optimal;          /* the choice among the bids is proven */
	uint8_t late;             /* the deadline cut the search short */
	uint8_t unrecorded;       /* settings.record can't be written, and ends; aucsched_last_error() has the words. Once */
	uint8_t reserved;
	uint32_t files, copies;   /* files that nodes hold; on how many nodes, in all */
	uint64_t file_changes;    /* another number whenever a node has come to hold a file, or holds one no more */
	uint32_t timed_out;       /* decisions with why == AUCSCHED_TIMED_OUT */
	uint32_t faults;          /* elements of the input with a fault: see Faults above */
	uint32_t left_out;        /* decisions with why == AUCSCHED_FAULTY */
	uint32_t first_fault;     /* index in input.jobs of the job that the first fault is about; AUCSCHED_NO_JOB: none */
	uint32_t preempted;       /* running jobs that have to end, each counted once */
	uint32_t victims_len;
	const uint32_t *victims;  /* index in input.running: a start's are ascending; several starts may name the same one */
};

/* The ABI number that the library was built with; compare with AUCSCHED_ABI. */
int aucsched_abi(void);

/* The library's version, as text; static memory. */
const char *aucsched_version(void);

/* What SchedulerParameters=auc_... of a slurm.conf say to Slurm's plug-ins; docs/reference/settings.md has the list. Without a
 * unit: 0 or 1. */
struct aucsched_settings {
	int32_t enabled;
	int32_t shadow;       /* auc_mode=shadow: decisions are written down, and that is all */
	int32_t interval;     /* s */
	int32_t delay_ms, deadline_ms;
	int32_t net_s;        /* 0: no such net */
	int32_t at_once;
	int32_t locality;
	int32_t preempt;
	int32_t limit;        /* window + depth: jobs handed to the library */
	int32_t users_share;  /* percent */
	int32_t max_rpcs;     /* max_rpc_cnt; 0: none */
	const char *engine;   /* settings for aucsched_open() and aucsched_configure() */
	const char *status, *partitions; /* NULL: not given; of auc_partitions=a,b: "a,b" */
	const char *said;     /* lines for the log; those that begin with "!" are errors */
};

/* Reads SchedulerParameters; text may be NULL. What is wrong in it is left out, and said. The texts are in buf then, said
 * cut to its len bytes. Returns AUCSCHED_OK; AUCSCHED_EINVAL, if the other texts have no room, or AUCSCHED_EPANIC. */
int aucsched_settings(const char *text, struct aucsched_settings *out, char *buf, size_t len);

/* GPUs on each node. */
struct aucsched_gpus {
	uint32_t low, high; /* from 1 on; 0, 0: none */
	char type[64];      /* "": any */
};

/* What slurmctld knows of a job that is submitted, or changed. Numbers are 0 where nothing is said, texts NULL. */
struct aucsched_submission {
	const char *settings;    /* SchedulerParameters */
	const char *script;      /* of a batch job; a change has none */
	const char *gres;        /* that it asks for on each node: "gres:gpu:a100:1-3,license:2" */
	const char *gres_prefix; /* what Slurm puts before a name there */
	const char *nodes;       /* a line for each kind of nodes: how many GPUs such a node has, then each type and how many of it */
	const char *comment, *admin_comment; /* that the request asks for */
	const char *partition;   /* of auc_invasic=PARTITION, if the job is for it; NULL: it is not, and of what follows
	                          * cpus_per_task and change count alone */
	const char *job_comment; /* a change: the job's */
	const char *qos;         /* that the job asks for, or has */
	int64_t nice, priority;  /* priority below 0: nothing is said; UINT32_MAX: as Slurm likes */
	uint32_t most_cores;     /* of the partition */
	uint32_t nodes_least, tasks, cpus_per_task;
	uint8_t change;          /* and no submission */
	uint8_t elsewhere;       /* other partitions as well; a change: to this one, or away from it */
	uint8_t array, het;
	uint8_t begins;          /* later */
	uint8_t enforces_qos;    /* Slurm does */
	uint8_t held, user_held; /* a change: the job is now, by its user; who asks: */
	uint8_t operator_, owner;
	uint8_t qualifies;       /* a change: the job gets another QOS */
	uint8_t reserved[5];
};

/* What becomes of it. Texts are NULL where what is there stays; "": there is none any more. */
struct aucsched_submission_answer {
	const char *gres, *comment, *admin_comment; /* of the request: the low end of a range is asked for, which is noted */
	const char *job_comment; /* of the job */
	const char *socket;      /* for the job's environment: where it finds the manager */
	struct aucsched_gpus gpus; /* the range that gres ask for; 0, 0: none */
	uint32_t min_cpus;       /* 0: as asked for */
	uint32_t released;       /* 1: the request's priority is of no account */
	uint32_t wrong_gres;     /* 1: what is refused are gres */
};

/* Judges a job: alternative requests, lines "#AUCSCHED --alternative ..." of its script, and a range of GPUs, LOW-HIGH, become notes
 * in its AdminComment; an input file in its comment is looked at, and what it asks for of an invasive partition. The texts are
 * in buf then, or the words for the user. Returns AUCSCHED_OK; AUCSCHED_EINVAL, for what is wrong or the settings forbid, or
 * without room in buf; or AUCSCHED_EPANIC. */
int aucsched_submission(const struct aucsched_submission *job, struct aucsched_submission_answer *out, char *buf, size_t len);

/* An alternative: what it does not name, the job does not ask for when it starts with it. */
struct aucsched_noted {
	uint32_t tasks;      /* 0: with so many CPUs a task it is more than a job's record holds */
	uint32_t min_nodes, max_nodes; /* at least 1; 0: any */
	uint32_t per_node, contiguous; /* tasks on each node, 0: any */
	struct aucsched_gpus gpus;
};

/* Reads such a note, of a job whose tasks have so many CPUs now, into AUCSCHED_MAX_ALTERNATIVES. Returns how many there are,
 * 0 for a note that is not ours, or AUCSCHED_EPANIC. */
int aucsched_noted(const char *note, uint32_t cpus_per_task, struct aucsched_noted *out);

/* Reads the file that a job names in its comment, input=PATH:SIZE. Of out it sets file and bytes, to 0 if there is none.
 * Returns AUCSCHED_OK, or AUCSCHED_EINVAL with the words for the user in buf; or AUCSCHED_EPANIC. */
int aucsched_input_file(const char *comment, struct aucsched_read *out, char *buf, size_t len);

/* Of which kind a gres is; shares of GPUs are those of input.share_sizes, or others. */
enum { AUCSCHED_GRES_OTHER, AUCSCHED_GRES_GPU, AUCSCHED_GRES_SHARE, AUCSCHED_GRES_UNCOUNTED };

/* What a job asks for of a gres, or of one type of it; 0 where it says nothing. */
struct aucsched_gres {
	uint32_t per_node, per_job, per_socket, per_task;
	uint8_t kind, typed, reserved[2]; /* typed: it names a type */
};

#define AUCSCHED_MAX_GRES 6

/* What Slurm's record of a job says of its request, within all limits; 0 where it says nothing. */
struct aucsched_numbers {
	uint32_t min_nodes, max_nodes, asked_nodes; /* the last is the job's own min_nodes */
	uint32_t tasks, cpus_per_task, tasks_per_node, min_cpus, max_cpus;
	uint32_t node_min_cpus; /* on each node at least, however few its tasks need */
	uint32_t node_cores;    /* of each node of the partition; 0: they differ */
	struct aucsched_gres gres[AUCSCHED_MAX_GRES];
	uint32_t low_gpus, high_gpus; /* the range that is noted, for what it asks for on each node; 0, 0: none */
	uint32_t cpus_per_gpu;
	uint32_t socket_tasks;  /* most tasks a socket */
	uint32_t sockets;       /* of a node, the fewest */
	uint32_t most_nodes, most_cores, most_gpus; /* there are such nodes: how many; of one */
	uint32_t segment;       /* --segment */
	uint32_t switches;      /* --switches, as long as the job waits for them */
	uint16_t threads, use_threads; /* CPUs a core, and of these the job's; 0: all */
	uint8_t whole;          /* it takes its nodes as a whole */
	uint8_t node_range;     /* -N MIN-MAX */
	uint8_t tasks_go_by_gpus; /* --ntasks-per-gpu: no node more than asked for */
	uint8_t named;          /* its nodes are named */
	uint8_t gres_len;
	uint8_t contiguous;
	uint8_t elsewhere;      /* its partition has a topology of its own */
	uint8_t own_blocks;     /* it has the blocks of its nodes to itself */
	uint8_t arranged;       /* its segments are to be spread over blocks, or brought together */
	uint8_t reserved[3];    /* 0 */
};

/* So many cores, on so many nodes, as in a job. */
struct aucsched_layout {
	uint32_t cores, min_nodes, max_nodes, cores_per_node;
	uint8_t min_gpus, max_gpus, reserved[2];
};

#define AUCSCHED_MAX_LAYOUTS 9
#define AUCSCHED_LEFT_WORDS { NULL, "blocks", "exclusive", "gres", "layout", "record", "segment", "threads", "topology" }

/* How the auction counts a request. */
struct aucsched_shape {
	struct aucsched_layout layouts[AUCSCHED_MAX_LAYOUTS]; /* it would start with any of them, and prefers the first */
	uint32_t switches;
	uint16_t within, segment; /* as in a job */
	uint16_t socket_cores;  /* idle cores that each socket of a node must have; 0: no matter */
	uint8_t len;            /* of layouts */
	uint8_t left;           /* why the job is left to Slurm, of AUCSCHED_LEFT_WORDS; 0: it is not */
	uint8_t approximate;    /* the request stands for more than that: if it finds no place, Slurm may try */
	uint8_t loose;          /* which cores of its nodes it gets, Slurm's selection may have to say: no more than the layout has */
};

/* Whatever the numbers are, aucsched_cycle() takes a job of such a layout. Returns AUCSCHED_OK or a negative code. */
int aucsched_shape(int64_t handle, const struct aucsched_numbers *numbers, struct aucsched_shape *out);

/*
 * Opens a handle. settings is NULL or "key=value" pairs separated by commas or white space:
 *   policy=auction2|auction1|ipsched  who decides: AUCSCHED2; AUCSCHED1, where the program chooses how many cores
 *                             each of a winner's nodes gives; or IPSCHED, one program for the window, without bids.
 *                             libaucsched-older.so has all three, libaucsched.so auction2 alone
 *   deadline_ms=200           time of a cycle, up to an hour
 *   preset=NAME               default, none, short, throughput, packed, paper; what else is given comes on
 *                             top (docs/reference/settings.md):
 *   objective=priority|size|rate what a start is worth: priority; size: priority times cores; rate: priority
 *                             times the shares of all cores and GPUs, by time limit
 *   window=200                jobs of the queue that take part
 *   depth=500                 requests behind the window that may fail to fit
 *   reservations=1            blocked jobs whose earliest start is kept free; 0: a wide job can wait for ever
 *   patience_s=0              keep places for blocked jobs that are large and old, not for the first of the
 *                             queue: what waiting so long weighs as much as asking for all cores
 *   promise_s=0               with a preset that plans: jobs that have waited longer are not passed over any
 *                             more; 0: no promise
 *   compact=no|yes            keep jobs together, in one block of nodes or in two
 *   node_limits=yes|no        ipsched: no: jobs are taken to have asked for no number of nodes (min_nodes, max_nodes)
 *   on_timeout=incumbent|halve  ipsched: at the deadline start the best that is known, or nothing, and take half
 *                             as many jobs next time; the decisions are the clock's then
 *   record=PATH               cycles, and what was answered, in a file of up to 64 MB: record.h
 *   memory_mb=16384           a cycle whose arrays are so long that it may take more memory is AUCSCHED_EINVAL, before
 *                             any is allocated; 0: none is. See Memory above
 *   file_age_s=86400          nodes are taken to have lost a file that was not read for so long; 0: never
 * All may be given whatever the policy is. ipsched goes by window, objective (priority or size), work, deadline_ms
 * and its own two, and looks at no alternatives; consecutive nodes and reservations it does not know.
 * Later ones win. An unknown key or a value out of range is an error. This version still takes paper=yes,
 * throughput=yes (preset=packed), bids, drafts, contiguous_bids and work.
 * Returns a handle > 0, or a negative code, with the words in err (cut to errlen
 * bytes, NUL included; err may be NULL if errlen is 0).
 */
int64_t aucsched_open(const char *settings, char *err, size_t errlen);

/* Replaces all settings: those not named go back to their defaults. On an error the old ones stay. What is
 * known of files stays either way. */
int aucsched_configure(int64_t handle, const char *settings);

/* One cycle. It always answers by the deadline, give or take the caller's machine, and has tried one job at least. Jobs that it had no time
 * for are AUCSCHED_TIMED_OUT. */
int aucsched_cycle(int64_t handle, const struct aucsched_input *in, struct aucsched_output *out);

/*
 * Reads where nodes stand, of Slurm's words for it: a line for each node, with its name, its address "top.leaf.node" and the pattern of
 * that, "switch.switch.node", as far as they are known; and what "scontrol show topology" prints, if that has sizes of blocks. Texts may
 * be NULL. Shapes, and cycles with as many nodes and without switches, go by it from then on. Returns AUCSCHED_OK, 1 for
 * topology/block, or a negative code.
 */
int aucsched_topology(int64_t handle, const char *nodes, uint32_t nodes_len, const char *sizes);

/*
 * Has what is known of the files that nodes hold outlast the process, in a file that is replaced as a whole. The first call
 * on a handle takes over what an earlier process has left there; what is damaged is AUCSCHED_EINVAL, and then no node holds
 * any file. Later calls save what has changed, once a second at most; with end other than 0 at once. AUCSCHED_EFAILED: it
 * can't be read or written.
 */
int aucsched_keep_files(int64_t handle, const char *path, int end);

/* Copies the text of the last error on the handle, or of the first fault of the last cycle that found any, whichever is later,
 * cut to len bytes with the NUL; "" if there was none. Returns the length of the whole text, without NUL. */
size_t aucsched_last_error(int64_t handle, char *buf, size_t len);

/*
 * Shadow mode of Slurm's plug-ins: what the auction would have started, and what Slurm did, in a file that "aucsched
 * shadow" reads. Texts may be NULL.
 */

/* A place of a run of a job. */
struct aucsched_at {
	int64_t time;      /* from when, s; 0: there is none */
	const char *nodes;
	uint32_t cpus, gpus;
};

/* What is known of one run of a job: whatever is requeued is another one. */
struct aucsched_run {
	uint32_t job;      /* of a task: its array's */
	uint32_t task;     /* AUCSCHED_NO_JOB: it is no task of an array */
	uint32_t restarts, user;
	uint32_t cpus, nodes; /* as asked for */
	int64_t submit, eligible;
	const char *partition;
	struct aucsched_at would, slurm;
	uint32_t victims;  /* of would: jobs that had to end first */
	char bid_class;    /* likewise */
	uint8_t before;    /* of slurm: 1 + AUCSCHED_..., what the last cycle before that said of it; or a word: */
	const char *before_word;
	const char *left;  /* the word why it was left to Slurm */
	int64_t end;       /* 0: it has not ended */
	const char *state; /* how it did */
};

struct aucsched_shadow {
	const char *path, *slurm, *settings; /* the file; Slurm's version */
	int64_t limit;     /* bytes, of the file and PATH.old together */
	uint32_t mode;     /* permissions */
	uint32_t interval; /* s */
	uint32_t queue;    /* jobs that wait */
	uint32_t decided;  /* 1: the handle's last cycle was on in */
	const struct aucsched_input *in;
	const struct aucsched_run *runs;
	uint32_t runs_len, reserved;
};

/*
 * Appends what is new to the file, with a look at the machine at most once a minute. AUCSCHED_EFAILED, as long as it can't
 * be written: it is kept then, up to half of the limit, and tried again by later calls.
 */
int aucsched_shadow(int64_t handle, const struct aucsched_shadow *shadow);

/* The figures for "aucsched status". Texts may be NULL. */

/* Of so many values. */
struct aucsched_figure {
	int64_t last, max;
	double sum;
	uint64_t count;
};

/* Starts that failed, by what was said of them. */
#define AUCSCHED_MISSES 16
#define AUCSCHED_MISS_SIZE 64
struct aucsched_misses {
	struct {
		char why[AUCSCHED_MISS_SIZE];
		uint64_t count;
	} of[AUCSCHED_MISSES];
	int32_t len;
};

/* Jobs that are left to Slurm, by a word that says why. */
struct aucsched_left {
	const char *why;
	uint32_t jobs;
};

#define AUCSCHED_WHYS (AUCSCHED_WAITS_QUOTA + 1) /* AUCSCHED_STARTS ... */

struct aucsched_status {
	const char *state;   /* "starting", "on", "off", "no-library", "failing" */
	char *state_text, *last_failure;
	const char *journal; /* "on", or why it is not */
	const char *slurm, *library, *settings; /* Slurm's version; which file; of the engine */
	int64_t began;       /* when counting began, with slurmctld */
	uint32_t pid, engine_pid; /* slurmctld's; that of the process with the library */
	uint64_t cycles, skipped, cycles_failed, late_cycles; /* late: the deadline cut the search short */
	uint64_t started, starts_failed, fallbacks, overdue;
	uint64_t preempted;  /* jobs, for the auction's starts */
	uint64_t readers, holders; /* starts of jobs that name a file; on nodes that all held it */
	uint64_t saves_failed; /* of the jobs' state before a launch */
	struct aucsched_misses misses; /* starts_failed by reason */
	struct aucsched_figure cycle_us, snapshot_us, decide_us, start_us, lock_us;
	struct aucsched_figure left_wait_s; /* of jobs left to Slurm that have started */
	const struct aucsched_left *left; /* those that wait */
	uint32_t left_len, left_jobs, left_longest_s; /* jobs: all of them */
	uint32_t interval, nodes, queue, running;
	uint32_t locality;   /* 0: files are not looked at */
};

/* The JSON of a status (docs/schemas/status.json), and of the handle's last cycle with jobs, in buf. Returns AUCSCHED_OK,
 * AUCSCHED_EINVAL if it has no room, or another negative code. */
int aucsched_status(int64_t handle, const struct aucsched_status *status, char *buf, size_t len);

/* Closes a handle and frees its memory. */
int aucsched_close(int64_t handle);

/* Number of open handles. */
int aucsched_handles(void);

#ifdef __cplusplus
}
#endif
#endif
