/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a job asks for, as the auction counts it: cores, on how many nodes, how many on each.
 * Arithmetic alone: no record, no lock.
 */
#ifndef AUC_SHAPE_H
#define AUC_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "aucsched.h"

typedef struct {
	struct aucsched_job job; /* without priority and mask */
	uint64_t memory;	/* MB a node, or a CPU with MEM_PER_CPU; 0: no matter */
	uint32_t gpu_type;	/* gres type id; 0: any */
	uint16_t threads;	/* CPUs a core */
	/*
	 * The request stands for more than the auction sees (other layouts of the
	 * tasks, say): if it finds no place, Slurm may try.
	 */
	bool approximate;
	bool lets_sleep;	/* it is not shown nodes that are powered down */
} auc_request_t;

/* What a request is made of. 0 means that the job does not say, unless told otherwise. */
typedef struct {
	uint32_t min_nodes, max_nodes; /* within all limits; max 0: any */
	uint32_t asked_nodes;	/* the job's own min_nodes */
	bool node_range;	/* -N MIN-MAX */
	uint32_t tasks, cpus_per_task, tasks_per_node;
	uint32_t min_cpus, max_cpus, node_min_cpus;
	bool whole;		/* it takes its nodes as a whole, */
	uint32_t node_cores;	/* with so many cores each; 0: they differ */
	uint32_t min_gpus, max_gpus; /* on each node */
	uint32_t minutes;	/* INFINITE or NO_VAL: no limit */
	uint16_t threads;	/* CPUs a core */
} auc_numbers_t;

/*
 * Sets cores, nodes, GPUs, time limit and threads of a request, which may be approximate then.
 * Whatever the numbers are, the library takes the request.
 * RET NULL, or one word as auc_model()
 */
extern const char *auc_shape(const auc_numbers_t *numbers,
			     auc_request_t *request);

#endif
