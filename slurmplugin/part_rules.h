/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What partitions have to say of who may be on which nodes: defaults for each GPU,
 * MaxCPUsPerNode, nodes that are one user's. Job write lock, node and partition read locks.
 */
#ifndef AUC_PART_RULES_H
#define AUC_PART_RULES_H

#include "compat.h"
#include "shape.h"

/* Forgets what is looked at once in a cycle. */
extern void auc_part_rules_refresh(void);

/* DefCpuPerGPU or DefMemPerGPU (type: JOB_DEF_...), the partition's or the cluster's; 0: none. */
extern uint64_t auc_default_per_gpu(const part_record_t *part_ptr, uint16_t type);

/* MaxCPUsPerNode, or what MaxCPUsPerSocket leaves of a node; 0: none. Node read lock. */
extern uint32_t auc_most_cpus(const part_record_t *part_ptr);

/* Whether other users must not be on the nodes of the job. */
extern bool auc_wants_own_nodes(const job_record_t *job_ptr,
				const part_record_t *part_ptr);

/* Whether auc_and_owners() can make a difference, as the cycle began. */
extern bool auc_may_meet_owners(const job_record_t *job_ptr,
				const part_record_t *part_ptr);

/* Takes off the nodes that are another user's, or on which the job must not meet him. */
extern void auc_and_owners(job_record_t *job_ptr, bitstr_t *nodes);

/* Takes off the nodes where MaxCPUsPerNode leaves no room for what the job wants there. */
extern void auc_and_most_cpus(const part_record_t *part_ptr,
			      const auc_request_t *request, bitstr_t *nodes);

/* Whether the job is for that partition, which may be gone. */
extern bool auc_has_partition(const job_record_t *job_ptr,
			      const part_record_t *part_ptr);

#endif
