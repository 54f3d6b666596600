/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Arithmetic of requests and nodes: no record, no lock. */
#ifndef AUC_SHAPE_H
#define AUC_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aucsched.h"

/* A choice of features, any one of which all nodes of a job must have: plain string work. */

/*
 * "[a|b|c]": all nodes have the same one of these features.
 * RET how many there are; 0: it is no such text
 */
extern uint8_t auc_one_of_features(const char *features);

/*
 * Has a job that asks for so many nodes demand what Slurm holds it to with topology/block.
 * IN segment - --segment, 0: none
 * IN demand - of the library, of a job of so many nodes without segments
 * RET NULL, or a word that says why it is left to Slurm: it is held to more than can be said
 */
extern const char *auc_block_demand(const struct aucsched_topology *blocks,
				    uint32_t nodes, uint32_t segment,
				    const struct aucsched_demand *demand,
				    struct aucsched_job *job);

/*
 * What a job asks for, as the auction counts it: cores, on how many nodes, how many on each.
 * Arithmetic alone: no record, no lock.
 */

/* Further layouts of a request: it would start with any of them as well. */
#define AUC_LAYOUTS 8

/* So many cores in all, on so many nodes, as in a job of the library; while it is worked out 64 bits wide. */
typedef struct {
	uint64_t cores, min_nodes, max_nodes, per_node, min_gpus, max_gpus;
} auc_layout_t;

/* Gres that a job asks for on each of its nodes, beside its GPUs; or one of several types of these. */
#define AUC_MORE_GRES 4
typedef struct {
	uint32_t gres, type;	/* gres ids; type 0: any */
	uint32_t count;		/* on each node */
} auc_gres_t;

typedef struct {
	struct aucsched_job job; /* without priority and mask; the layout that is preferred */
	auc_layout_t layouts[AUC_LAYOUTS]; /* then these, in order */
	uint8_t layouts_len;
	uint8_t features;	/* any one of so many features for all nodes; 0: no such choice */
	uint16_t socket_cores;	/* idle cores that each socket of a node must have; 0: no matter */
	uint64_t memory;	/* MB a node, or a CPU with MEM_PER_CPU; 0: no matter */
	uint64_t gpu_memory;	/* MB for each GPU of a node; 0: by memory */
	bool all_memory;	/* all of its nodes' memory, which nobody else may hold any of */
	uint32_t gpu_type;	/* gres type id; 0: any, or several: see more */
	auc_gres_t more[AUC_MORE_GRES];
	uint8_t more_len;
	uint16_t threads;	/* CPUs a core */
	/*
	 * The request stands for more than the auction sees (other layouts of the
	 * tasks, say): if it finds no place, Slurm may try.
	 */
	bool approximate;
	/*
	 * Which of its nodes' cores it gets, Slurm's selection may have to say; they are no
	 * more than the layout has, or else others' starts are put off.
	 */
	bool loose;
	bool binds_gpus;	/* the GPUs go with the cores: Slurm's selection picks both */
	bool narrowed;		/* it is shown fewer nodes for what others hold for now */
	bool may_preempt;	/* Slurm could make room for it, should it find no place */
	uint64_t preempt_keys;	/* answers to whom it may preempt, all of which hold; 0: nobody */
} auc_request_t;

/* What a request is made of. 0 means that the job does not say, unless told otherwise. */
typedef struct {
	uint32_t min_nodes, max_nodes; /* within all limits; max 0: any */
	uint32_t asked_nodes;	/* the job's own min_nodes */
	bool node_range;	/* -N MIN-MAX */
	uint32_t tasks, cpus_per_task, tasks_per_node;
	uint32_t min_cpus, max_cpus;
	uint32_t node_min_cpus;	/* on each node at least, however few its tasks need */
	bool whole;		/* it takes its nodes as a whole, */
	uint32_t node_cores;	/* with so many cores each; 0: they differ */
	uint32_t min_gpus, max_gpus; /* on each node */
	uint32_t job_gpus;	/* or in all */
	uint32_t cpus_per_gpu;
	bool tasks_go_by_gpus;	/* --ntasks-per-gpu: no node more than asked for */
	uint32_t socket_tasks;	/* most tasks a socket */
	uint32_t sockets;	/* of a node, the fewest */
	uint32_t most_nodes, most_cores, most_gpus; /* there are such nodes: how many; of one */
	uint32_t minutes;	/* INFINITE or NO_VAL: no limit */
	uint16_t threads;	/* CPUs a core */
	uint16_t use_threads;	/* of these the job uses so many; 0: all */
} auc_numbers_t;

/*
 * Sets cores, nodes, GPUs, time limit and threads of a request, and its further layouts. It may be
 * approximate, or loose, then.
 * Whatever the numbers are, the library takes the request.
 * RET NULL, or one word as auc_model()
 */
extern const char *auc_shape(const auc_numbers_t *numbers,
			     auc_request_t *request);

/* Layout number i of a request, 0 for that of its job, written into *job. */
extern void auc_use_layout(const auc_request_t *request, int i,
			   struct aucsched_job *job);

#endif
