/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the auction would have done, beside what Slurm does: see agent.h.
 *
 * To look at the queue as the auction does calls functions of Slurm that write to jobs' records:
 * reasons, which partition is being tried, marks of backfill. They are kept before that, and put
 * back afterwards, under the same locks, so that nobody ever sees them.
 */
#include <string.h>
#include <sys/stat.h>

#include "agent.h"
#include "common.h"
#include "reason.h"

/* Of the file, and the one before it. */
#define MOST_BYTES (16 << 20)

/* A file that was written so long ago is of another time. */
#define DOWN_SECONDS 600

/* ---- records are as they were ---- */

/* What the auction changes of a record. Of bit_flags it is one bit; the text is the struct's own. */
#define SHADOWED(JOB) \
	JOB(part_ptr) JOB(resv_ptr) JOB(state_reason) JOB(state_desc) \
	JOB(start_time) JOB(preempt_in_progress)

typedef struct {
	job_record_t *job_ptr;
	uint32_t job_id;
	SHADOWED(AUC_JOB_FIELD)
	uint64_t backfill;
	uint32_t pend_run_tasks;
} kept_t;

static struct {
	kept_t *jobs;
	size_t len, cap;
	time_t job_update, node_update, part_update;
	int count;		/* of all jobs */
	time_t since;		/* when was looked last; 0: not known yet */
	struct aucsched_run *runs; /* that are to be written; they own partition and nodes */
	size_t runs_len, runs_cap;
	char *said;		/* the fault of the file that was logged */
} shadow;

static void _keep(job_record_t *job_ptr)
{
	kept_t *kept;

	AUC_GROW(shadow.jobs, shadow.cap, shadow.len + 1);
	kept = &shadow.jobs[shadow.len++];
	SHADOWED(AUC_KEEP_JOB)
	kept->job_ptr = job_ptr;
	kept->job_id = job_ptr->job_id;
	kept->state_desc = xstrdup(job_ptr->state_desc);
	kept->backfill = job_ptr->bit_flags & BACKFILL_SCHED;
	kept->pend_run_tasks = job_ptr->array_recs ?
		job_ptr->array_recs->pend_run_tasks : 0;
}

extern void auc_shadow_begin(void)
{
	job_record_t *job_ptr;

	auc_verdict_quiet(true);
	shadow.len = 0;
	shadow.job_update = last_job_update;
	shadow.node_update = last_node_update;
	shadow.part_update = last_part_update;
	shadow.count = list_count(job_list);
	AUC_EACH(job_ptr, job_list)
		if (IS_JOB_PENDING(job_ptr))
			_keep(job_ptr);
}

/* RET false if it is another job now: Slurm's function found it to be over, or made it one of two */
static bool _put_back(kept_t *kept)
{
	job_record_t *job_ptr = kept->job_ptr;

	if ((find_job_record(kept->job_id) != job_ptr) ||
	    !IS_JOB_PENDING(job_ptr)) {
		xfree(kept->state_desc);
		return false;
	}
	xfree(job_ptr->state_desc);
	SHADOWED(AUC_BACK_JOB)
	job_ptr->bit_flags |= kept->backfill;
	if (job_ptr->array_recs)
		job_ptr->array_recs->pend_run_tasks = kept->pend_run_tasks;
	return true;
}

extern void auc_shadow_end(void)
{
	bool same = shadow.count == list_count(job_list);

	auc_verdict_quiet(false);
	for (size_t i = 0; i < shadow.len; i++)
		same &= _put_back(&shadow.jobs[i]);
	shadow.len = 0;
	/* Backfill looks at the queue again when these are new. */
	if (same)
		last_job_update = shadow.job_update;
	last_node_update = shadow.node_update;
	last_part_update = shadow.part_update;
}

/* ---- what Slurm does ---- */

static void _set_key(struct aucsched_run *run, const job_record_t *job_ptr)
{
	bool task = job_ptr->array_task_id != NO_VAL;

	run->job = task ? job_ptr->array_job_id : job_ptr->job_id;
	run->task = task ? job_ptr->array_task_id : AUCSCHED_NO_JOB;
	run->restarts = job_ptr->restart_cnt;
}

/* What it asks for. */
static struct aucsched_run _run(const job_record_t *job_ptr)
{
	struct aucsched_run run = {
		.user = job_ptr->user_id,
		.partition = job_ptr->part_ptr ? job_ptr->part_ptr->name :
			job_ptr->partition,
	};

	_set_key(&run, job_ptr);
	if (job_ptr->details) {
		run.submit = job_ptr->details->submit_time;
		run.eligible = job_ptr->details->begin_time;
		run.cpus = job_ptr->details->min_cpus;
		run.nodes = job_ptr->details->min_nodes;
	}
	return run;
}

/* Until it is written, without the locks. */
static void _add(struct aucsched_run run)
{
	run.partition = xstrdup(run.partition);
	run.would.nodes = xstrdup(run.would.nodes);
	run.slurm.nodes = xstrdup(run.slurm.nodes);
	AUC_APPEND(shadow.runs, run);
}

static void _free_runs(void)
{
	for (size_t i = 0; i < shadow.runs_len; i++) {
		const char *texts[] = { shadow.runs[i].partition,
			shadow.runs[i].would.nodes, shadow.runs[i].slurm.nodes };

		for (int k = 0; k < ARRAY_SIZE(texts); k++)
			xfree(texts[k]);
	}
	shadow.runs_len = 0;
}

static uint32_t _gpus(const job_record_t *job_ptr)
{
	uint32_t gpu = gres_build_id("gpu");
	uint64_t count = 0;
	gres_state_t *gres;

	AUC_EACH(gres, job_ptr->gres_list_alloc)
		if (gres->plugin_id == gpu)
			count += ((gres_job_state_t *) gres->gres_data)->total_gres;
	return MIN(count, UINT32_MAX);
}

/* A task has the memo of its array, until it has a record of its own. */
static const auc_memo_t *_memo(const job_record_t *job_ptr)
{
	const auc_memo_t *memo = auc_memo_find(job_ptr->job_id);

	if (!memo && job_ptr->array_job_id)
		memo = auc_memo_find(job_ptr->array_job_id);
	return memo;
}

/* A start or an end of the second in which was looked last may be told twice. */
static void _look_at(const job_record_t *job_ptr)
{
	/* Slurm says of one that was cancelled while it waited that it has started then. */
	bool started = job_ptr->nodes && job_ptr->nodes[0] && job_ptr->start_time;
	bool over = IS_JOB_FINISHED(job_ptr);
	bool begun = started && (job_ptr->start_time >= shadow.since);
	const auc_memo_t *memo;
	struct aucsched_run run;

	if (IS_JOB_PENDING(job_ptr) ||
	    !(begun || (over && (job_ptr->end_time >= shadow.since))))
		return;
	run = _run(job_ptr);
	if (started)
		run.slurm = (struct aucsched_at) {
			.time = job_ptr->start_time, .nodes = job_ptr->nodes,
			.cpus = job_ptr->total_cpus, .gpus = _gpus(job_ptr),
		};
	if (begun) {
		memo = _memo(job_ptr);
		if (memo && memo->left && memo->why)
			run.left = memo->why;
		else if (memo && memo->verdict)
			run.before = memo->verdict;
		else
			run.before_word = !memo ? "unseen" :
				memo->left ? "behind" : "limits";
	}
	if (over) {
		run.end = job_ptr->end_time;
		run.state = job_state_string(job_ptr->job_state & JOB_STATE_BASE);
	}
	_add(run);
}

extern void auc_shadow_look(const char *path)
{
	time_t now = time(NULL);
	job_record_t *job_ptr;
	struct stat st;

	/* What was started while slurmctld was down for a moment is told too. */
	if (!shadow.since)
		shadow.since = (stat(path, &st) ||
				(st.st_mtime + DOWN_SECONDS < now)) ?
			now : st.st_mtime;
	AUC_EACH(job_ptr, job_list)
		_look_at(job_ptr);
	shadow.since = now;
}

/* ---- what the auction would do ---- */

/* The key of a row: of those of an array's record the first has its first task, and so on. */
static bool _row_key(const auc_snapshot_t *s, uint32_t row, uint32_t nth,
		     const job_record_t *job_ptr, struct aucsched_run *run)
{
	bitstr_t *tasks;
	int at;

	_set_key(run, job_ptr);
	if (!s->rows[row].array)
		return true;
	if (!job_ptr->array_recs ||
	    !(tasks = job_ptr->array_recs->task_id_bitmap))
		return run->task != AUCSCHED_NO_JOB;	/* its last one */
	at = bit_get_bit_num(tasks, nth);
	run->job = job_ptr->array_job_id;
	run->task = at;
	return at >= 0;
}

static struct aucsched_at _place(const struct aucsched_output *out,
				 const struct aucsched_decision *decision,
				 uint16_t threads, time_t now)
{
	struct aucsched_at place = { .time = now };
	bitstr_t *nodes = bit_alloc(node_record_count);

	AUC_EACH_PLACE(n, segment, out, decision) {
		bit_set(nodes, n);
		place.cpus += segment->cores * MAX(threads, 1);
		place.gpus += segment->gpus;
	}
	place.nodes = bitmap2node_name(nodes);
	FREE_NULL_BITMAP(nodes);
	return place;
}

/* Once for each run. Tasks of an array's record are looked at in ascending order. */
static void _note_would(const auc_snapshot_t *s,
			const struct aucsched_output *out, uint32_t row,
			uint32_t nth, const job_record_t *job_ptr, auc_memo_t *memo)
{
	const struct aucsched_decision *decision = &out->decisions[row];
	struct aucsched_run run = _run(job_ptr);
	uint64_t mark;

	if (!_row_key(s, row, nth, job_ptr, &run))
		return;
	mark = ((uint64_t) run.restarts << 32) +
		((run.task == AUCSCHED_NO_JOB) ? 0 : run.task) + 1;
	if (memo->would >= mark)
		return;
	memo->would = mark;
	run.would = _place(out, decision, s->rows[row].threads, s->in.now);
	run.bid_class = decision->bid_class;
	run.victims = decision->victims;
	_add(run);
	xfree(run.would.nodes);
}

extern void auc_shadow_note(const auc_snapshot_t *s,
			    const struct aucsched_output *out)
{
	uint32_t nth = 0;

	if (!auc_is_current(s))
		return;
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const job_record_t *job_ptr =
			find_job_record(s->rows[row].job_id);
		auc_memo_t *memo;

		if (!row || (s->rows[row].job_id != s->rows[row - 1].job_id))
			nth = 0;
		memo = auc_memo_find(s->rows[row].job_id);
		if (!memo)
			continue;
		/* What users would be told, for when Slurm starts the job. */
		memo->verdict = out->decisions[row].why + 1;
		if (out->decisions[row].why != AUCSCHED_STARTS)
			continue;
		/* Slurm may have started it while the auction decided. */
		if (job_ptr && IS_JOB_PENDING(job_ptr) && job_ptr->details)
			_note_would(s, out, row, nth++, job_ptr, memo);
	}
}

/* ---- the file ---- */

extern void auc_shadow_write(const auc_settings_t *settings, const char *path,
			     bool secret, auc_library_t *library,
			     const auc_snapshot_t *s, bool decided)
{
	struct aucsched_shadow to = {
		.path = path, .slurm = SLURM_VERSION_STRING,
		.settings = settings->engine,
		.limit = MOST_BYTES,
		.mode = secret ? 0600 : 0644, .interval = settings->interval,
		.queue = s->queue, .decided = decided, .in = &s->in,
		.runs = shadow.runs, .runs_len = shadow.runs_len };

	auc_say_file(&shadow.said, path,
		     auc_library_shadow(library, &to) ? library->error : NULL,
		     "what the auction would have started is kept in memory, and tried again");
	_free_runs();
}

extern void auc_shadow_free(void)
{
	_free_runs();
	xfree(shadow.runs);
	xfree(shadow.said);
	xfree(shadow.jobs);
	memset(&shadow, 0, sizeof(shadow));
}
