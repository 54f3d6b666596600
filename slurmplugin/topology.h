/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where nodes stand, as Slurm's topology plug-in says: topology/tree or topology/block; and what
 * jobs demand of that. What is known of the switches is kept until the configuration changes; it
 * is the agent's thread's.
 */
#ifndef AUC_TOPOLOGY_H
#define AUC_TOPOLOGY_H

#include "snapshot.h"

/*
 * Adds the switches above the nodes, none with other topologies. After auc_add_nodes(). Node read
 * lock.
 */
extern void auc_add_topology(auc_snapshot_t *snapshot);

/*
 * Has a job demand of switches what Slurm would hold it to.
 * RET NULL, or a word that says why it is left to Slurm. Job and node read locks.
 */
extern const char *auc_model_switches(const job_record_t *job_ptr,
				      const part_record_t *part_ptr,
				      struct aucsched_job *job);

/*
 * The nodes of blocks that a running job has to itself: nobody else may start there.
 * RET FREE_NULL_BITMAP(); NULL: it has none. Job read lock.
 */
extern bitstr_t *auc_own_blocks(const job_record_t *job_ptr);

/* Whether a job demands of switches what another, whose demands its bids keep to, does not. */
extern bool auc_demands_more(const struct aucsched_job *job,
			     const struct aucsched_job *than);

/*
 * Slurm counts the time for which a job waits for few switches from its first own try, which it
 * does not make of jobs that we decide: from when the job could have started, then. Before
 * select_nodes(). Job write lock.
 */
extern void auc_note_switch_wait(job_record_t *job_ptr);

extern void auc_topology_free(void);

#endif
