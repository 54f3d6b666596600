/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is remembered of pending jobs from cycle to cycle. All under the job write lock; a memo
 * moves as others are made, and is there until a sweep forgets it.
 */
#ifndef AUC_MEMO_H
#define AUC_MEMO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	uint32_t job_id;	/* 0: empty slot */
	uint32_t cycle;		/* the last one that saw the job */
	uint32_t settled;	/* the last one in which it got rows, or was left to Slurm */
	uint8_t misses;		/* starts that failed since the last one that did not */
	bool may_wake;		/* it found no place on nodes that are up */
	int missed_rc;		/* of the last of them that was logged */
	bool left;		/* to Slurm, until the next cycle says otherwise */
	bool no_place;		/* nor had Slurm: the next cycle goes by what backfill plans for it */
	bool stuck;		/* it found no place in the last decision */
	uint8_t verdict;	/* the last decision on it, plus 1; 0: it had no row */
	const char *why;	/* the word that was logged; static text */
	uint8_t unmodelled;	/* bit k: alternative k + 1 was logged as left out */
	int64_t until;		/* left to Slurm until then, by auc_now_s(), for its misses */
	const char *until_why;	/* or for another reason: the word; static text */
	int64_t could_us;	/* Slurm could start it, since; 0: or could not. Monotonic */
	int64_t asked_us;	/* when it last said so */
} auc_memo_t;

extern auc_memo_t *auc_memo_find(uint32_t job_id);
extern auc_memo_t *auc_memo_of(uint32_t job_id);	/* made if need be */
/* Forgets jobs not seen in the cycle. IN gone - called for each before; may be NULL */
extern void auc_memo_sweep(uint32_t cycle, void (*gone)(uint32_t job_id));
extern void auc_memo_free(void);

#endif
