/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A pending job's record with another request in it: an alternative, or what it asked for first.
 * All under the job write lock and the node read lock.
 */
#ifndef AUC_REQUEST_SWAP_H
#define AUC_REQUEST_SWAP_H

#include "alternative_note.h"
#include "compat.h"

/* What a swap changes of a job, as it was. Nothing of it is anybody else's. */
typedef struct {
	uint32_t num_tasks, min_nodes, max_nodes;
	uint32_t min_cpus, max_cpus, orig_min_cpus, orig_max_cpus;
	uint32_t pn_min_cpus, orig_pn_min_cpus;
	uint32_t total_cpus, total_nodes, cpu_cnt, node_cnt_wag, usable_nodes;
	uint64_t pn_min_memory, bit_flags;
	uint16_t ntasks_per_node, cpus_per_task, contiguous, env_cnt;
	char **env_sup;
	char *admin_comment, *tres_per_node;
	list_t *gres, *accumulated;
	uint64_t *tres_req_cnt;
	char *tres_req_str, *tres_fmt_req_str;
} auc_kept_t;

/*
 * Makes a pending job ask for an alternative, to be looked at by auc_model() and the like.
 * OUT kept - for auc_swap_back(), which has to follow
 * RET SLURM_SUCCESS; or an error, and then the job is as it was
 */
extern int auc_swap(job_record_t *job_ptr, const auc_alternative_t *alternative,
		    auc_kept_t *kept);

/*
 * The same for a job that is to start: with a note of its first request, and the
 * environment that the script is to have.
 * IN number - the alternative's, from 1 on
 * IN gpus - how many it gets on each node
 * OUT kept - for auc_swap_back(), or auc_kept_free() once it has started
 */
extern int auc_swap_for_start(job_record_t *job_ptr,
			      const auc_alternative_t *alternative,
			      int number, int gpus, auc_kept_t *kept);
extern void auc_swap_back(job_record_t *job_ptr, auc_kept_t *kept);
extern void auc_kept_free(auc_kept_t *kept);

/*
 * Drops what a pending job asked for besides its record, if it was changed since; before
 * it is started, or described. The job write lock is enough.
 */
extern void auc_update_judge(job_record_t *job_ptr);

/*
 * Has jobs that are back in the queue (requeued, say) ask for what they asked for first, and
 * for the low end of their GPU range.
 */
extern void auc_requests_restore(void);

#endif
