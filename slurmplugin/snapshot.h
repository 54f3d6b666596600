/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The cluster as flat arrays. */
#ifndef AUC_SNAPSHOT_H
#define AUC_SNAPSHOT_H

#include "request.h"
#include "select_hooks.h"
#include "library.h"

/* Gres that a job asks for on each of its nodes, beside its GPUs; or one of several types of these. */
typedef struct {
	uint32_t gres, type;	/* gres ids; type 0: any */
	uint32_t count;		/* on each node */
} auc_gres_t;

/* What a job asks for, as the auction counts it. */
typedef struct {
	struct aucsched_job job; /* without priority and mask; the layout that is preferred */
	struct aucsched_shape shape; /* all layouts: it would start with any of them */
	uint8_t features;	/* any one of so many features for all nodes; 0: no such choice */
	uint64_t memory;	/* MB a node, or a CPU with MEM_PER_CPU; 0: no matter */
	uint64_t gpu_memory;	/* MB for each GPU of a node; 0: by memory */
	bool all_memory;	/* all of its nodes' memory, which nobody else may hold any of */
	uint32_t gpu_type;	/* gres type id; 0: any, or several: see more */
	auc_gres_t more[AUCSCHED_MAX_GRES];
	uint8_t more_len;
	uint16_t threads;	/* CPUs a core */
	bool approximate;	/* if it finds no place, Slurm may try: see struct aucsched_shape */
	bool loose;		/* Slurm's selection may have to say which cores: see there */
	bool binds_gpus;	/* the GPUs go with the cores: Slurm's selection picks both */
	bool narrowed;		/* it is shown fewer nodes for what others hold for now */
	bool may_preempt;	/* Slurm could make room for it, should it find no place */
	uint64_t preempt_keys;	/* answers to whom it may preempt, all of which hold; 0: nobody */
} auc_request_t;

/* Layout number i of a request, 0 for that of its job, written into *job. */
extern void auc_use_layout(const auc_request_t *request, int i,
			   struct aucsched_job *job);

/* The nodes that the backfill scheduler has promised to jobs. Job and node read locks. */

/* More claims than this are not looked at: those of the first jobs count. */
#define AUC_CLAIMS_MAX 64

/* What a job that is left to Slurm has been promised by the backfill scheduler. */
typedef struct {
	time_t start;
	bitstr_t *nodes;	/* owned */
} auc_claim_t;

typedef struct {
	auc_claim_t claims[AUC_CLAIMS_MAX];
	int len;
} auc_claims_t;

/* Notes what a job is planned to get, if it is. */
extern void auc_claims_add(auc_claims_t *claims, job_record_t *job_ptr);

/* Takes off nodes those of the first len claims, if they start before end. */
extern void auc_claims_exclude(const auc_claims_t *claims, int len, int64_t end,
			       bitstr_t *nodes);
extern void auc_claims_free(auc_claims_t *claims);

/*
 * The cluster as flat arrays, which the library is shown. The arrays are the snapshot's: they
 * grow, and are kept from cycle to cycle. Those who fill them (resources.c, queue.c and so
 * on) do so in auc_snapshot_take(), in the agent's thread and under the locks; afterwards that
 * thread reads them without a lock.
 */

/* A request with which a job could start: a line of its script, or its own in one of its layouts. */
typedef struct {
	uint8_t number;		/* of the line, from 1 on; 0: none */
	uint8_t layout;		/* of the request's */
	uint8_t feature;	/* which of several all nodes have */
	bool names_type;	/* of a gres */
	const part_record_t *part_ptr; /* good as long as config is */
	struct aucsched_job job; /* as the library has it */
} auc_way_t;

/* What a row of the queue is in Slurm. */
typedef struct {
	uint32_t job_id;	/* of an array's record: the array's */
	bool array;		/* one of the tasks that an array's record stands for */
	bool approximate;
	bool reads;		/* it names an input file */
	bool loose;		/* as in its request, and so is what follows */
	bool narrowed;
	bool binds_gpus;
	bool may_preempt;
	uint16_t threads;	/* CPUs a core */
	uint8_t ways_len;	/* at least 1 */
	auc_way_t ways[1 + AUC_ALTERNATIVES]; /* the job's own request; its alternatives */
} auc_row_t;

/* A running job of the library that may be preempted: see preempt.c. */
typedef struct {
	uint32_t job_id;	/* 0: it is no job, or not all of one */
	uint64_t keys;		/* answers that it is in */
} auc_runner_t;

/* Bins of a node's GPUs in shared use have numbers up to this. */
#define AUC_BINS (2 * AUCSCHED_MAX_GPUS)

/* So many resources beside cores and GPUs are counted at most: see resources.c. */
#define AUC_RESOURCES 48

/* One of these. */
typedef struct {
	enum {
		AUC_MEMORY,
		AUC_MEMORY_HOLDERS, /* jobs that have some of a node's */
		AUC_PART_CPUS,	/* of a partition's jobs, which may have so many on a node */
		AUC_GRES
	} of;
	uint32_t gres, type;	/* gres ids; type 0: of whatever type */
	const part_record_t *part_ptr; /* good as long as config is */
} auc_kind_t;

typedef struct aucsched_left auc_delegation_t;

#define AUC_LEFT_MAX 24

/* The arrays, as X(type, name): those that the library is shown, */
#define AUC_SHOWN_ARRAYS(X) \
	X(struct aucsched_node, nodes) X(struct aucsched_running, running) \
	X(struct aucsched_segment, running_segments) X(struct aucsched_job, jobs) \
	X(uint64_t, masks) X(struct aucsched_alternative, alternatives) \
	X(struct aucsched_store, stores) X(struct aucsched_read, job_reads) \
	X(struct aucsched_read, running_reads) X(struct aucsched_amount, amounts) \
	X(struct aucsched_use, job_uses) X(struct aucsched_use, alternative_uses) \
	X(struct aucsched_use, running_uses) X(uint64_t, quotas) \
	X(struct aucsched_charge, job_charges) X(struct aucsched_charge, alternative_charges) \
	X(uint32_t, share_sizes) X(struct aucsched_shared_gpu, shared_gpus) \
	X(struct aucsched_preference, preferences) X(struct aucsched_stake, stakes)

/*
 * and others. Of each node: gpu_type, 0: no GPUs, AUC_GPU_TYPES: several types; spare_gpus, held by nobody; first_shared, its first of
 * shared_gpus, and one more at the end; devices, [node][bin - 1], which device a bin is, plus 1, 0: not
 * known yet. unheld and unheld_shares are as amounts and shared_gpus: held, by jobs that are not looked
 * at yet. held are job ids, for which the limits have less room than rows want.
 */
#define AUC_OWN_ARRAYS(X) \
	X(auc_row_t, rows) X(auc_runner_t, runners) \
	X(uint32_t, unheld) X(uint32_t, gpu_type) X(uint8_t, spare_gpus) \
	X(uint32_t, first_shared) X(uint32_t, unheld_shares) X(uint8_t, devices) X(uint32_t, held)

#define AUC_ARRAY(type, name) \
	type *name; \
	size_t name##_cap;

typedef struct {
	auc_library_t *library;	/* that is shown it */
	struct aucsched_input in; /* points into what follows */
	AUC_SHOWN_ARRAYS(AUC_ARRAY)
	AUC_OWN_ARRAYS(AUC_ARRAY)
	uint32_t held_len;
	auc_kind_t kinds[AUC_RESOURCES]; /* [resource] */
	uint32_t queue;		/* records of the queue, left ones too */
	uint32_t beyond;	/* of these, behind all that the library was given */
	uint32_t left_jobs;	/* records left to Slurm, */
	uint32_t left_longest_s; /* and the longest wait among them, s */
	auc_delegation_t left[AUC_LEFT_MAX];
	int left_len;
	bool again;		/* it is taken again in its cycle */
	auc_claims_t claims;	/* of jobs in the order of the queue */
	auc_claims_t first;	/* of the first row's job, for those that have none */
	time_t config;		/* slurm.conf's, when the nodes had these indices */
} auc_snapshot_t;

/* Adds an element to one of the arrays that the library is shown. */
#define AUC_ADD(s, name, ...) \
	(AUC_GROW((s)->name, (s)->name##_cap, (s)->in.name##_len + 1), (s)->name[(s)->in.name##_len++] = __VA_ARGS__)

/* Goes through the nodes of a decision's place: n, as a part of a segment. */
#define AUC_EACH_PLACE(n, segment, out, decision)			\
	for (const struct aucsched_segment *segment =			\
		     (out)->segments + (decision)->first_segment,	\
	     *segment##_end = segment + (decision)->segments;		\
	     segment < segment##_end; segment++)			\
		for (uint32_t n = segment->first; n <= segment->last; n++)

/* Fills the snapshot, keeping its memory. Under the locks. */
extern void auc_snapshot_take(auc_snapshot_t *snapshot,
			      const auc_settings_t *settings,
			      struct auc_library *library, uint32_t cycle);
extern void auc_snapshot_free(auc_snapshot_t *snapshot);

/* Whether nodes still have the indices of the snapshot, about which was decided. Conf read lock. */
static inline bool auc_is_current(const auc_snapshot_t *snapshot)
{
	return (snapshot->config == slurm_conf.last_update) &&
		(snapshot->in.nodes_len == node_record_count);
}

#endif
