/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Claims: the nodes that the backfill scheduler has promised to jobs, and that therefore
 * those behind them don't get. See claims.h.
 *
 * Job and node read locks. A claim owns its bitmap.
 */
#include "claims.h"

/* Backfill plans no nodes for jobs that the auction may start at once: see select_shim.c. */
static bool _is_planned(const job_record_t *job_ptr)
{
	return job_ptr->start_time && job_ptr->sched_nodes &&
		job_ptr->sched_nodes[0];
}

extern void auc_claims_add(auc_claims_t *claims, job_record_t *job_ptr)
{
	bitstr_t *nodes = NULL;

	if ((claims->len == AUC_CLAIMS_MAX) || !_is_planned(job_ptr))
		return;
	if (auc_names_to_nodes(job_ptr->sched_nodes, &nodes) || !nodes) {
		FREE_NULL_BITMAP(nodes);
		return;
	}
	claims->claims[claims->len++] =
		(auc_claim_t) { job_ptr->start_time, nodes };
}

extern void auc_claims_exclude(const auc_claims_t *claims, int len, int64_t end,
			       bitstr_t *nodes)
{
	for (int i = 0; i < len; i++)
		if (claims->claims[i].start < end)
			bit_and_not(nodes, claims->claims[i].nodes);
}

extern void auc_claims_free(auc_claims_t *claims)
{
	for (int i = 0; i < claims->len; i++)
		FREE_NULL_BITMAP(claims->claims[i].nodes);
	claims->len = 0;
}
