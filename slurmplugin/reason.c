/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "common.h"
#include "model.h"
#include "reason.h"

/* ---- What the auction says of a waiting job ---- */

#define KEY "auc:why="

/* Winners that are named, and looks for them in a cycle. */
#define MOST_NAMED 4
#define MOST_LOOKS 100000

static bool quiet;

extern void auc_verdict_quiet(bool on)
{
	quiet = on;
}

/* Whether a note says the word and the detail, whatever comes behind. */
static bool _says(const char *note, const char *text)
{
	size_t len = strlen(text);

	return !strncmp(note, text, len) && (!strncmp(note + len, " since=", 7) ||
					     !strncmp(note + len, " lost=", 6));
}

/* IN lost - " lost=...", or NULL: what an older note says of that */
static void _write(job_record_t *job_ptr, const char *text, const char *lost)
{
	size_t len = 0;
	const char *found = auc_note_find(job_ptr->system_comment, KEY, &len);
	const char *older = (found && !lost) ?
		memmem(found, len, " lost=", 6) : NULL;
	char *value;

	if (quiet || (found && !lost && _says(found, text)))
		return;
	value = xstrdup_printf("%s%s%.*s since=%lld", text, lost ? lost : "",
			       older ? (int) strcspn(older + 1, " ") + 1 : 0,
			       older ? older : "", (long long) time(NULL));
	auc_note_set(&job_ptr->system_comment, KEY, value);
	last_job_update = time(NULL);
	xfree(value);
}

extern void auc_verdict_tell(job_record_t *job_ptr, const char *word,
			     const char *detail)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s%s", word, detail ? " " : "",
		 detail ? detail : "");
	_write(job_ptr, text, NULL);
}

static bool _takes_of(const auc_snapshot_t *s, const struct aucsched_output *out,
		      uint32_t winner, int32_t mask)
{
	const struct aucsched_decision *d = &out->decisions[winner];
	const uint64_t *words;

	if (mask < 0)
		return true;
	words = s->masks + (size_t) mask * s->in.mask_words;
	AUC_EACH_PLACE(n, segment, out, d)
		if (words[n / 64] >> (n % 64) & 1)
			return true;
	return false;
}

/* Who loses is told of others' jobs only where users may see these. */
static bool _may_name(const job_record_t *job_ptr, uint32_t winner)
{
	const job_record_t *other = find_job_record(winner);

	if (!(slurm_conf.private_data & PRIVATE_DATA_JOBS))
		return true;
	return other && (other->user_id == job_ptr->user_id);
}

/*
 * A row that has lost: to those that start on nodes which it could use, as far as its user may
 * see them. IN/OUT looks - for winners, of all rows
 */
static void _verdict_lost(job_record_t *job_ptr, const auc_snapshot_t *s,
			  const struct aucsched_output *out, uint32_t row,
			  uint32_t *looks)
{
	char *lost = NULL;
	int named = 0;
	uint32_t last = 0;
	bool others = false;

	for (uint32_t i = 0; !quiet && (i < s->in.jobs_len); i++) {
		if (out->decisions[i].why != AUCSCHED_STARTS)
			continue;
		if (++*looks > MOST_LOOKS)
			break;
		if (s->rows[i].job_id == last)	/* a task of an array that is named */
			continue;
		if ((s->rows[i].job_id == job_ptr->job_id) ||
		    !_takes_of(s, out, i, s->jobs[row].mask))
			continue;
		if ((named == MOST_NAMED) || !_may_name(job_ptr, s->rows[i].job_id)) {
			others = true;
			continue;
		}
		xstrfmtcat(lost, "%s%u", lost ? "," : " lost=",
			   s->rows[i].job_id);
		last = s->rows[i].job_id;
		named++;
	}
	if (others)
		xstrfmtcat(lost, "%sothers", lost ? "," : " lost=");
	if (lost)
		xstrfmtcat(lost, "@%lld", (long long) time(NULL));
	_write(job_ptr, "lost", lost);
	xfree(lost);
}

extern void auc_verdict_drop(job_record_t *job_ptr)
{
	size_t len;

	if (quiet || !auc_note_find(job_ptr->system_comment, KEY, &len))
		return;
	auc_note_drop(&job_ptr->system_comment, KEY);
	last_job_update = time(NULL);
}

/* ---- What users are told: only "none", Priority and Resources are replaced here ---- */

/* Unless somebody knows better. */
static bool _may_tell(const job_record_t *job_ptr)
{
	return (job_ptr->state_reason == WAIT_NO_REASON) ||
		(job_ptr->state_reason == WAIT_PRIORITY) ||
		(job_ptr->state_reason == WAIT_RESOURCES);
}

/* IN text - instead of the reason's own; NULL: none */
static void _set_reason(job_record_t *job_ptr, uint32_t reason,
			const char *text)
{
	job_ptr->state_reason = reason;
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = xstrdup(text);
	last_job_update = time(NULL);
}

static void _tell(job_record_t *job_ptr, uint32_t reason, time_t expected)
{
	if (!_may_tell(job_ptr))
		return;
	if (job_ptr->state_reason != reason)
		_set_reason(job_ptr, reason, NULL);
	if (expected && (job_ptr->start_time < time(NULL)))
		job_ptr->start_time = expected;
}

extern void auc_say_left(job_record_t *job_ptr, auc_memo_t *memo,
			 const char *why)
{
	if (xstrcmp(memo->why, why))
		info("aucsched: %pJ left to Slurm: %s", job_ptr, why);
	memo->why = why;
	auc_verdict_tell(job_ptr, "left", why);
}

extern void auc_clear_reasons(void)
{
	job_record_t *job_ptr;

	AUC_EACH(job_ptr, job_list)
		if (IS_JOB_PENDING(job_ptr))
			auc_verdict_drop(job_ptr);
}

extern bool auc_set_licence_reason(job_record_t *job_ptr, bool available)
{
	if (!available && (job_ptr->state_reason != WAIT_LICENSES))
		_set_reason(job_ptr, WAIT_LICENSES, NULL);
	/* They are no reason any more, and it is its turn among others now. */
	if (available && (job_ptr->state_reason == WAIT_LICENSES))
		_set_reason(job_ptr, WAIT_PRIORITY, NULL);
	return available;
}

/*
 * Jobs that got fewer rows than they want for what the rows before would use: if these have
 * started, that is a limit now; else it is the order of the queue.
 */
static void _explain_held(const auc_snapshot_t *s, auc_verdicts_t *verdicts,
			  job_record_t *job_ptr)
{
	auc_request_t request;
	uint32_t limit;

	if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority ||
	    auc_model(job_ptr, job_ptr->part_ptr, &request) ||
	    !auc_within_limits(verdicts, s, job_ptr, &request, &limit) ||
	    !auc_set_licence_reason(job_ptr, license_job_test(
		    job_ptr, time(NULL), true) == SLURM_SUCCESS))
		return;
	if (job_ptr->state_reason == WAIT_NO_REASON)
		_tell(job_ptr, WAIT_PRIORITY, 0);
	auc_verdict_tell(job_ptr, "quota", NULL);
}

/* Whether a job had a row, and there was no place for it. */
static void _note_stuck(uint32_t job_id, uint8_t why)
{
	auc_memo_t *memo = auc_memo_find(job_id);

	if (memo)
		memo->stuck = (why == AUCSCHED_WAITS_FIT) ||
			(why == AUCSCHED_WAITS_RESERVED);
}

/* Whether Slurm may have a place for it: overdue.c, which then says what came of it. */
extern bool auc_found_no_place(const auc_row_t *row, uint8_t why)
{
	return (row->approximate || row->may_preempt) &&
		((why == AUCSCHED_WAITS_FIT) ||
		 (why == AUCSCHED_WAITS_RESERVED) ||
		 (row->narrowed && (why == AUCSCHED_WAITS_NEVER)));
}

extern void auc_say_no_place(job_record_t *job_ptr, uint8_t why)
{
	auc_verdict_tell(job_ptr, (why == AUCSCHED_WAITS_RESERVED) ?
			 "kept" : "fit", NULL);
}

/*
 * A job waits for Resources if it is the first of its partition that does, and has Priority behind
 * that one: so says Slurm's own scheduler, whose word would stay or not as its turn comes.
 * IN/OUT waited_for - the partitions of the jobs before
 */
static uint32_t _reason_of(list_t *waited_for, job_record_t *job_ptr)
{
	if (list_find_first(waited_for, auc_is_same, job_ptr->part_ptr))
		return WAIT_PRIORITY;
	list_append(waited_for, job_ptr->part_ptr);
	return WAIT_RESOURCES;
}

extern void auc_explain(const auc_snapshot_t *s,
			const struct aucsched_output *out)
{
	auc_verdicts_t verdicts = { 0 };
	uint32_t looks = 0;
	list_t *waited_for;

	if (!auc_is_current(s))
		return;
	waited_for = list_create(NULL);
	for (uint32_t i = 0; i < s->held_len; i++)
		_explain_held(s, &verdicts, find_job_record(s->held[i]));
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const struct aucsched_decision *decision =
			&out->decisions[row];
		job_record_t *job_ptr;
		auc_memo_t *memo;

		_note_stuck(s->rows[row].job_id, decision->why);
		if (decision->why == AUCSCHED_STARTS)
			continue;
		/* An array's tasks share a record: the first that waits speaks. */
		if (row && (s->rows[row].job_id == s->rows[row - 1].job_id) &&
		    (out->decisions[row - 1].why != AUCSCHED_STARTS))
			continue;
		job_ptr = find_job_record(s->rows[row].job_id);
		if (!job_ptr || !IS_JOB_PENDING(job_ptr) || !job_ptr->priority)
			continue;
		memo = auc_memo_of(job_ptr->job_id);
		switch (decision->why) {
		case AUCSCHED_WAITS_QUOTA:
			_explain_held(s, &verdicts, job_ptr);
			break;
		case AUCSCHED_WAITS_LOST:
			_tell(job_ptr, WAIT_PRIORITY, decision->expected);
			_verdict_lost(job_ptr, s, out, row, &looks);
			break;
		case AUCSCHED_TIMED_OUT:
			_tell(job_ptr, WAIT_PRIORITY, decision->expected);
			auc_verdict_tell(job_ptr, "late", NULL);
			break;
		case AUCSCHED_WAITS_NEVER:
			if (!s->rows[row].narrowed) {
				memo->left = true;
				auc_verdict_tell(job_ptr, "left", "never");
				break;
			}
			/* On the nodes that it is shown now. */
			__attribute__((fallthrough));
		case AUCSCHED_WAITS_FIT:
		case AUCSCHED_WAITS_RESERVED:
			_tell(job_ptr, _reason_of(waited_for, job_ptr),
			      decision->expected);
			if (!auc_found_no_place(&s->rows[row], decision->why))
				auc_say_no_place(job_ptr, decision->why);
			break;
		default:	/* Slurm has the words for it */
			memo->left = true;
			auc_verdict_tell(job_ptr, "left", "unmodelled");
		}
	}
	FREE_NULL_LIST(waited_for);
}

/* ---- Jobs that are left to Slurm ---- */

static auc_figure_t left_waits_s;	/* of those that have started. Job write lock */

extern uint32_t auc_waited(const job_record_t *job_ptr, time_t now)
{
	time_t since = MAX(job_ptr->details->submit_time,
			   job_ptr->details->begin_time);

	return (since < now) ? MIN(now - since, UINT32_MAX) : 0;
}

extern void auc_left_started(const job_record_t *job_ptr)
{
	auc_figure_add(&left_waits_s, auc_waited(job_ptr, time(NULL)));
}

extern auc_figure_t auc_left_waits(void)
{
	return left_waits_s;
}
