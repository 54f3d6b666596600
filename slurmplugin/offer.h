/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What stock Slurm would allocate to a job now: as an offer of the snapshot, as a yes or no, and
 * as a start. All under the locks.
 */
#ifndef AUC_OFFER_H
#define AUC_OFFER_H

#include "compat.h"
#include "select_hooks.h"
#include "snapshot.h"

/* What a test changes in a job's record; its gres lists are swapped for copies. */
typedef struct {
	time_t start_time;
	uint32_t total_cpus, total_nodes, cpu_cnt, usable_nodes;
	uint64_t memory;
	uint32_t reason, node_cnt_wag;
	uint16_t protocol;
	char *desc;
	list_t *gres, *accumulated;
} auc_tested_t;

/* Around a question about a job, which is afterwards as it was. */
extern void auc_test_begin(auc_tested_t *tested, job_record_t *job_ptr);
extern void auc_test_end(const auc_tested_t *tested, job_record_t *job_ptr);

/* What is tested goes by what was tested before it: as if the earlier jobs had started. */
typedef struct {
	bitstr_t **taken;	/* [node]: cores; NULL until the first */
} auc_offers_t;

/*
 * Asks stock Slurm what it would give to the job of a row now, and adds that to the snapshot
 * as the job's offer. The job is as it was afterwards. Under the locks.
 * IN nodes - those that the job may use
 */
extern void auc_offer(auc_snapshot_t *snapshot, auc_offers_t *offers,
		      auc_select_hooks_t *hooks, job_record_t *job_ptr,
		      const bitstr_t *nodes, uint32_t row);
extern void auc_offers_free(auc_offers_t *offers);

/*
 * Asks stock Slurm whether it would start the job now on some of the nodes. The job is as it was
 * afterwards. Under the locks.
 */
extern bool auc_could_start(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			    const bitstr_t *nodes);

/* Whether it would on any nodes of its partition, if it preempted jobs there, and only then. */
extern bool auc_would_preempt(auc_select_hooks_t *hooks, job_record_t *job_ptr);

/*
 * Has stock Slurm start it there, whoever else keeps the job; it is to be launched then. Under the
 * locks. RET as select_nodes()
 */
extern int auc_select_among(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			    const bitstr_t *nodes);

/*
 * Makes the next task of an array's record a job of its own; any other job is that already.
 * RET that job, or NULL
 */
extern job_record_t *auc_split(job_record_t *job_ptr);

#endif
