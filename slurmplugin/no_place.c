/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Jobs without a place that Slurm may have one for: see no_place.h.
 *
 * The auction decides on what is free, and on the layouts that it has modelled. A job that finds no
 * place in them is asked about: would Slurm's selection start it now, or would it if it preempted
 * somebody? If so it is Slurm's until the next cycle. Any other goes on bidding: on a full machine
 * nothing would start it, and when nodes get free the auction is to decide whose they are.
 *
 * What was answered of one job holds for all that ask for the same. Jobs for which there is no time
 * left are Slurm's, if they are modelled roughly.
 *
 * Under the locks.
 */
#include "alike.h"
#include "clock.h"
#include "memo.h"
#include "no_place.h"
#include "offer.h"
#include "reason.h"
#include "verdict.h"

/* Questions of a cycle, and their time. */
#define MOST_QUESTIONS 32
#define MOST_US 50000

typedef enum { NO, YES, PREEMPTS } answer_t;

typedef struct {
	const job_record_t *job_ptr;
	answer_t answer;
} answered_t;

typedef struct {
	auc_select_hooks_t *hooks;
	answered_t answered[MOST_QUESTIONS];
	int len;
	int64_t until_us;
} round_t;

static answer_t _ask_of_partition(const round_t *round, const auc_row_t *row,
				  job_record_t *job_ptr)
{
	if (row->approximate &&
	    auc_could_start(round->hooks, job_ptr,
			    job_ptr->part_ptr->node_bitmap))
		return YES;
	if (row->may_preempt && auc_would_preempt(round->hooks, job_ptr))
		return PREEMPTS;
	return NO;
}

/* In any of its partitions. */
static answer_t _ask(const round_t *round, const auc_row_t *row,
		     job_record_t *job_ptr)
{
	part_record_t *kept = job_ptr->part_ptr, *part_ptr;
	answer_t answer = NO;
	list_itr_t *iter;

	if (!job_ptr->part_ptr_list)
		return _ask_of_partition(round, row, job_ptr);
	iter = list_iterator_create(job_ptr->part_ptr_list);
	while (!answer && (part_ptr = list_next(iter))) {
		job_ptr->part_ptr = part_ptr;
		answer = _ask_of_partition(round, row, job_ptr);
	}
	list_iterator_destroy(iter);
	job_ptr->part_ptr = kept;
	return answer;
}

/* RET false if there is no time to ask */
static bool _answer(round_t *round, const auc_row_t *row,
		    job_record_t *job_ptr, answer_t *answer)
{
	for (int i = 0; i < round->len; i++) {
		if (auc_are_alike(round->answered[i].job_ptr, job_ptr)) {
			*answer = round->answered[i].answer;
			return true;
		}
	}
	if (!round->hooks || (round->len == MOST_QUESTIONS) ||
	    (auc_now_us() > round->until_us))
		return false;
	*answer = _ask(round, row, job_ptr);
	round->answered[round->len++] = (answered_t) { job_ptr, *answer };
	return true;
}

static void _look_at(round_t *round, const auc_row_t *row, uint8_t why)
{
	job_record_t *job_ptr = find_job_record(row->job_id);
	auc_memo_t *memo = auc_memo_find(row->job_id);
	answer_t answer;

	if (!job_ptr || !memo || !IS_JOB_PENDING(job_ptr) ||
	    IS_JOB_COMPLETING(job_ptr) || !job_ptr->priority ||
	    !job_ptr->details || !job_ptr->part_ptr)
		return;
	if (!_answer(round, row, job_ptr, &answer)) {
		memo->left = row->approximate;
		auc_say_no_place(job_ptr, why);
		return;
	}
	memo->left = answer != NO;
	memo->no_place = row->approximate && (answer == NO);
	if (answer == PREEMPTS)
		auc_say_left(job_ptr, memo, "preemption");
	else if (answer == YES)
		auc_verdict_tell(job_ptr, "left", "place");
	else
		auc_say_no_place(job_ptr, why);
}

extern void auc_leave_without_place(const auc_snapshot_t *s,
				    const struct aucsched_output *out,
				    auc_select_hooks_t *hooks)
{
	round_t *round;
	uint32_t last = 0;

	if ((s->config != slurm_conf.last_update) ||
	    (s->in.nodes_len != node_record_count))
		return;
	round = xmalloc(sizeof(*round));
	round->hooks = hooks;
	round->until_us = auc_now_us() + MOST_US;
	for (uint32_t i = 0; i < s->in.jobs_len; i++) {
		const auc_row_t *row = &s->rows[i];

		/* An array's tasks share a record. */
		if ((row->job_id == last) ||
		    !auc_found_no_place(row, out->decisions[i].why))
			continue;
		last = row->job_id;
		_look_at(round, row, out->decisions[i].why);
	}
	xfree(round);
}
