/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cycles as they were given to the library, and what it answered, in a file: record=PATH, auc_record of the
 * plug-ins, has the library write it, ctest/replay.c reads it. It is this build's: the structures are in it as they are.
 *
 *	AUCSCHED_RECORD_MAGIC
 *	a record each:	uint32_t kind; uint64_t bytes of what follows;
 *		'S'	settings, as text without NUL: those of the cycles behind it
 *		'C'	struct aucsched_input, with pointers that mean nothing; its arrays, in
 *			the order of AUCSCHED_RECORD_ARRAYS; struct aucsched_output likewise; decisions; segments
 */
#ifndef AUCSCHED_RECORD_H
#define AUCSCHED_RECORD_H

#include "aucsched.h"

#define AUCSCHED_RECORD_MAGIC "AUCREC1\n"

/* X(array, its length in elements) of an input. */
#define AUCSCHED_RECORD_ARRAYS(X, in)						\
	X(nodes, (in)->nodes_len)						\
	X(running, (in)->running_len)						\
	X(running_segments, (in)->running_segments_len)				\
	X(jobs, (in)->jobs_len)							\
	X(masks, (size_t) (in)->masks_len * (in)->mask_words)			\
	X(alternatives, (in)->alternatives_len)					\
	X(stores, (in)->stores_len)						\
	X(job_reads, (in)->job_reads_len)					\
	X(running_reads, (in)->running_reads_len)				\
	X(amounts, (size_t) (in)->resources_len * (in)->nodes_len)		\
	X(job_uses, (in)->job_uses_len)						\
	X(alternative_uses, (in)->alternative_uses_len)				\
	X(running_uses, (in)->running_uses_len)					\
	X(quotas, (in)->quotas_len)						\
	X(job_charges, (in)->job_charges_len)					\
	X(alternative_charges, (in)->alternative_charges_len)			\
	X(running_charges, (in)->running_charges_len)				\
	X(switches, (in)->switches_len)						\
	X(leaves, (in)->leaves_len)						\
	X(share_sizes, (in)->share_sizes_len)					\
	X(shared_gpus, (in)->shared_gpus_len)					\
	X(preferences, (in)->preferences_len)					\
	X(stakes, (in)->stakes_len)

#endif
