/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A job as the auction sees it, or why the job is left to Slurm. Nothing is remembered of a job;
 * locks are told with each.
 */
#ifndef AUC_MODEL_H
#define AUC_MODEL_H

#include "aucsched.h"
#include "compat.h"
#include "shape.h"

/* Whether it must be over by some time. Job read lock. */
static inline bool auc_has_deadline(const job_record_t *job_ptr)
{
	return job_ptr->deadline && (job_ptr->deadline != NO_VAL);
}

/*
 * The time limit that a job of the partition would have if it started now, in minutes, or INFINITE:
 * as Slurm's main loop does it, it ends by its deadline. Job read lock.
 */
extern uint32_t auc_minutes(const job_record_t *job_ptr,
			    const part_record_t *part_ptr);

/*
 * Describes a pending job to the auction.
 * RET NULL, or one word that says why the job is left to Slurm (docs/slurm.md has
 *	the table). Job and node read locks.
 */
extern const char *auc_model(job_record_t *job_ptr, part_record_t *part_ptr,
			     auc_request_t *request);

/* The request of a job as an alternative, of job 0. */
extern struct aucsched_alternative auc_as_alternative(const struct aucsched_job *job);

/* Whether the job takes its nodes as a whole. */
extern bool auc_is_whole(const job_record_t *job_ptr,
			 const part_record_t *part_ptr);

/* How many GPUs each of a partition's nodes has at least. */
extern uint32_t auc_fewest_gpus(const part_record_t *part_ptr);

/* Looks at the nodes again; to be called before a cycle's jobs are described. Job
 * write lock and node read lock. */
extern void auc_model_refresh(void);

/* The range of GPUs a node that job_submit/aucsched noted, false if there is none. */
extern bool auc_gpu_range(const job_record_t *job_ptr, uint32_t *low,
			  uint32_t *high);

/*
 * Makes a pending job ask for count GPUs on each node.
 * Job write lock.
 */
extern int auc_set_gpus(job_record_t *job_ptr, uint32_t count);

/* Lowers the GPU count of a pending job with a range to the low end again, if it has been
 * raised. Job write lock and node read lock. */
extern void auc_back_to_range(job_record_t *job_ptr);

/* The count of GPUs a node that the job asks for, and its gres record, if any. */
extern gres_job_state_t *auc_gpu_request(const job_record_t *job_ptr);

/* The node's GPUs, NULL if it has none. */
extern gres_node_state_t *auc_node_gpus(const node_record_t *node_ptr);

/* What the node has of a gres, NULL if there is none. */
extern gres_node_state_t *auc_node_gres(const node_record_t *node_ptr,
					uint32_t id);

/* Whether a gres is GPUs. */
extern bool auc_gres_is_gpu(uint32_t id);

#endif
