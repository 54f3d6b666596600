/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the auction would have done, beside what Slurm does: see agent.h.
 *
 * To look at the queue as the auction does calls functions of Slurm that write to jobs' records:
 * reasons, which partition is being tried, marks of backfill. They are kept before that, and put
 * back afterwards, under the same locks, so that nobody ever sees them.
 */
#include <string.h>

#include "agent.h"
#include "common.h"
#include "reason.h"
#include "status.h"

/* A file that was written so long ago is of another time. */
#define DOWN_SECONDS 600

/* ---- records are as they were ---- */

typedef struct {
	job_record_t *job_ptr;
	uint32_t job_id;
	part_record_t *part_ptr;
	slurmctld_resv_t *resv_ptr;
	uint64_t backfill;	/* its bit of bit_flags */
	uint32_t reason;
	char *desc;		/* owned */
	time_t start_time;
	uint32_t pend_run_tasks;
	bool preempts;
} kept_t;

static struct {
	kept_t *jobs;
	size_t len, cap;
	time_t job_update, node_update, part_update;
	int count;		/* of all jobs */
	time_t since;		/* starts before that are not ours to tell; 0: not known yet */
	uint32_t mark;
} shadow;

extern void auc_shadow_settings(auc_settings_t *settings)
{
	/* These are questions to Slurm's selection, and starts. */
	settings->offers = settings->net_s = settings->at_once = 0;
	settings->save = false;
}

static void _keep(job_record_t *job_ptr)
{
	AUC_GROW(shadow.jobs, shadow.cap, shadow.len + 1);
	shadow.jobs[shadow.len++] = (kept_t) {
		.job_ptr = job_ptr,
		.job_id = job_ptr->job_id,
		.part_ptr = job_ptr->part_ptr,
		.resv_ptr = job_ptr->resv_ptr,
		.backfill = job_ptr->bit_flags & BACKFILL_SCHED,
		.reason = job_ptr->state_reason,
		.desc = xstrdup(job_ptr->state_desc),
		.start_time = job_ptr->start_time,
		.pend_run_tasks = job_ptr->array_recs ?
			job_ptr->array_recs->pend_run_tasks : 0,
		.preempts = job_ptr->preempt_in_progress,
	};
}

extern void auc_shadow_begin(void)
{
	list_itr_t *iter = list_iterator_create(job_list);
	job_record_t *job_ptr;

	auc_verdict_quiet(true);
	shadow.len = 0;
	shadow.job_update = last_job_update;
	shadow.node_update = last_node_update;
	shadow.part_update = last_part_update;
	shadow.count = list_count(job_list);
	while ((job_ptr = list_next(iter)))
		if (IS_JOB_PENDING(job_ptr))
			_keep(job_ptr);
	list_iterator_destroy(iter);
}

/* RET false if it is another job now: Slurm's function found it to be over, or made it one of two */
static bool _put_back(kept_t *kept)
{
	job_record_t *job_ptr = kept->job_ptr;

	if ((find_job_record(kept->job_id) != job_ptr) ||
	    !IS_JOB_PENDING(job_ptr)) {
		xfree(kept->desc);
		return false;
	}
	job_ptr->part_ptr = kept->part_ptr;
	job_ptr->resv_ptr = kept->resv_ptr;
	job_ptr->bit_flags |= kept->backfill;
	job_ptr->state_reason = kept->reason;
	xfree(job_ptr->state_desc);
	job_ptr->state_desc = kept->desc;
	job_ptr->start_time = kept->start_time;
	if (job_ptr->array_recs)
		job_ptr->array_recs->pend_run_tasks = kept->pend_run_tasks;
	job_ptr->preempt_in_progress = kept->preempts;
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

static auc_shadow_key_t _key(const job_record_t *job_ptr)
{
	bool task = job_ptr->array_task_id != NO_VAL;

	return (auc_shadow_key_t) {
		.job = task ? job_ptr->array_job_id : job_ptr->job_id,
		.task = task ? job_ptr->array_task_id : NO_VAL,
		.restarts = job_ptr->restart_cnt,
	};
}

/* What it asks for. Of a new entry. */
static void _describe(auc_shadow_entry_t *entry, const job_record_t *job_ptr)
{
	if (entry->partition)
		return;
	entry->user = job_ptr->user_id;
	entry->partition = xstrdup(job_ptr->part_ptr ? job_ptr->part_ptr->name :
				   job_ptr->partition);
	if (!job_ptr->details)
		return;
	entry->submit = job_ptr->details->submit_time;
	entry->eligible = job_ptr->details->begin_time;
	entry->cpus = job_ptr->details->min_cpus;
	entry->nodes = job_ptr->details->min_nodes;
}

static uint32_t _gpus(const job_record_t *job_ptr)
{
	uint32_t gpu = gres_build_id("gpu");
	uint64_t count = 0;
	gres_state_t *gres;
	list_itr_t *iter;

	if (!job_ptr->gres_list_alloc)
		return 0;
	iter = list_iterator_create(job_ptr->gres_list_alloc);
	while ((gres = list_next(iter)))
		if (gres->plugin_id == gpu)
			count += ((gres_job_state_t *) gres->gres_data)->total_gres;
	list_iterator_destroy(iter);
	return MIN(count, UINT32_MAX);
}

/* What the last cycle said of a job that Slurm has started since. */
static const char *_before(const auc_memo_t *memo)
{
	static const char *const words[] = {
		[AUCSCHED_STARTS] = "starts", [AUCSCHED_WAITS_FIT] = "fit",
		[AUCSCHED_WAITS_LOST] = "lost",
		[AUCSCHED_WAITS_RESERVED] = "reserved",
		[AUCSCHED_WAITS_NEVER] = "never",
		[AUCSCHED_NOT_LOOKED_AT] = "behind",
		[AUCSCHED_TIMED_OUT] = "timed-out",
		[AUCSCHED_FAULTY] = "faulty", [AUCSCHED_WAITS_QUOTA] = "quota",
	};

	if (!memo)
		return "unseen";
	if (!memo->verdict)
		return memo->left ? "behind" : "limits";
	return (memo->verdict - 1 < ARRAY_SIZE(words)) ?
		words[memo->verdict - 1] : "unseen";
}

/* A task has the memo of its array, until it has a record of its own. */
static const auc_memo_t *_memo(const job_record_t *job_ptr)
{
	const auc_memo_t *memo = auc_memo_find(job_ptr->job_id);

	if (!memo && job_ptr->array_job_id)
		memo = auc_memo_find(job_ptr->array_job_id);
	return memo;
}

static void _note_start(auc_shadow_entry_t *entry, const job_record_t *job_ptr)
{
	const auc_memo_t *memo = _memo(job_ptr);

	_describe(entry, job_ptr);
	entry->slurm = (auc_shadow_place_t) {
		.time = job_ptr->start_time, .nodes = xstrdup(job_ptr->nodes),
		.cpus = job_ptr->total_cpus, .gpus = _gpus(job_ptr),
	};
	if (memo && memo->left && memo->why)
		entry->left = memo->why;
	else
		entry->before = _before(memo);
	entry->dirty = true;
}

static void _note_end(auc_shadow_entry_t *entry, const job_record_t *job_ptr)
{
	_describe(entry, job_ptr);
	entry->end = job_ptr->end_time ? job_ptr->end_time : time(NULL);
	entry->state = job_state_string(job_ptr->job_state & JOB_STATE_BASE);
	entry->dirty = true;
}

/* Not so of one that was cancelled while it waited, which Slurm says to have started then. */
static bool _has_started(const job_record_t *job_ptr)
{
	return job_ptr->nodes && job_ptr->nodes[0] && job_ptr->start_time;
}

static void _look_at(job_record_t *job_ptr)
{
	bool over = IS_JOB_FINISHED(job_ptr), started = _has_started(job_ptr);
	time_t since = over && !started ? job_ptr->end_time :
		job_ptr->start_time;
	auc_shadow_key_t key = _key(job_ptr);
	auc_shadow_entry_t *entry;

	if (IS_JOB_PENDING(job_ptr) || (!over && !started))
		return;
	entry = auc_shadow_entry(&key, since >= shadow.since);
	if (!entry)
		return;
	if (started && !entry->slurm.nodes)
		_note_start(entry, job_ptr);
	if (over && !entry->end)
		_note_end(entry, job_ptr);
	entry->mark = shadow.mark;
}

/* Those who still wait; and whom slurmctld has forgotten. */
static bool _still_there(auc_shadow_entry_t *entry, void *arg)
{
	job_record_t *job_ptr;

	if (entry->mark == shadow.mark)
		return true;
	job_ptr = (entry->key.task == NO_VAL) ?
		find_job_record(entry->key.job) :
		find_job_array_rec(entry->key.job, entry->key.task);
	if (job_ptr && IS_JOB_PENDING(job_ptr) &&
	    (job_ptr->restart_cnt == entry->key.restarts))
		return true;
	if (!entry->end) {	/* nobody will know how it went on */
		entry->end = time(NULL);
		entry->state = job_ptr ? "REQUEUED" : "GONE";
		entry->dirty = true;
	}
	return false;
}

extern void auc_shadow_look(const char *path)
{
	list_itr_t *iter;
	job_record_t *job_ptr;

	/* What was started while slurmctld was down for a moment is told too. */
	if (!shadow.since)
		shadow.since = auc_shadow_before(path);
	if (shadow.since + DOWN_SECONDS < time(NULL) && !shadow.mark)
		shadow.since = time(NULL);
	shadow.mark++;
	iter = list_iterator_create(job_list);
	while ((job_ptr = list_next(iter)))
		_look_at(job_ptr);
	list_iterator_destroy(iter);
	auc_shadow_each(_still_there, NULL);
}

/* ---- what the auction would do ---- */

/* The key of a row: of those of an array's record the first has its first task, and so on. */
static bool _row_key(const auc_snapshot_t *s, uint32_t row, uint32_t nth,
		     const job_record_t *job_ptr, auc_shadow_key_t *key)
{
	bitstr_t *tasks;
	int at = -1, last;

	*key = _key(job_ptr);
	if (!s->rows[row].array)
		return true;
	if (!job_ptr->array_recs ||
	    !(tasks = job_ptr->array_recs->task_id_bitmap))
		return key->task != NO_VAL;	/* its last one */
	last = bit_fls(tasks);
	for (int i = bit_ffs(tasks); (i >= 0) && (i <= last); i++)
		if (bit_test(tasks, i) && !nth--) {
			at = i;
			break;
		}
	key->job = job_ptr->array_job_id;
	key->task = at;
	return at >= 0;
}

static auc_shadow_place_t _place(const struct aucsched_output *out,
				 const struct aucsched_decision *decision,
				 uint16_t threads, time_t now)
{
	auc_shadow_place_t place = { .time = now };
	bitstr_t *nodes = bit_alloc(node_record_count);

	for (uint32_t i = 0; i < decision->segments; i++) {
		const struct aucsched_segment *segment =
			&out->segments[decision->first_segment + i];
		uint32_t count = segment->last - segment->first + 1;

		bit_nset(nodes, segment->first, segment->last);
		place.cpus += count * segment->cores * MAX(threads, 1);
		place.gpus += count * segment->gpus;
	}
	place.nodes = bitmap2node_name(nodes);
	FREE_NULL_BITMAP(nodes);
	return place;
}

static void _note_would(const auc_snapshot_t *s,
			const struct aucsched_output *out, uint32_t row,
			uint32_t nth, const job_record_t *job_ptr)
{
	const struct aucsched_decision *decision = &out->decisions[row];
	auc_shadow_entry_t *entry;
	auc_shadow_key_t key;

	if (!_row_key(s, row, nth, job_ptr, &key) ||
	    !(entry = auc_shadow_entry(&key, true)))
		return;
	_describe(entry, job_ptr);
	entry->mark = shadow.mark;
	if (entry->would.nodes)
		return;
	entry->would = _place(out, decision, s->rows[row].threads, s->in.now);
	entry->bid_class = decision->bid_class;
	entry->victims = decision->victims;
	entry->dirty = true;
}

/* What users would be told, for when Slurm starts the job. */
static void _note_verdict(const auc_row_t *row, uint8_t why)
{
	auc_memo_t *memo = auc_memo_find(row->job_id);

	if (memo)
		memo->verdict = why + 1;
}

extern void auc_shadow_note(const auc_snapshot_t *s,
			    const struct aucsched_output *out)
{
	uint32_t nth = 0;

	if ((s->config != slurm_conf.last_update) ||
	    (s->in.nodes_len != node_record_count))
		return;
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const job_record_t *job_ptr =
			find_job_record(s->rows[row].job_id);

		if (!row || (s->rows[row].job_id != s->rows[row - 1].job_id))
			nth = 0;
		_note_verdict(&s->rows[row], out->decisions[row].why);
		if ((out->decisions[row].why != AUCSCHED_STARTS) ||
		    s->rows[row].put_off)
			continue;
		/* Slurm may have started it while the auction decided. */
		if (job_ptr && IS_JOB_PENDING(job_ptr) && job_ptr->details)
			_note_would(s, out, row, nth++, job_ptr);
	}
}

/* ---- the machine ---- */

static uint64_t _stranded(const auc_snapshot_t *s, const uint32_t *cores,
			  const uint32_t *gpus)
{
	uint64_t count = 0;

	for (uint32_t n = 0; n < s->in.nodes_len; n++)
		if (s->nodes[n].up && (cores[n] >= s->nodes[n].free_cores))
			count += MAX((int) s->nodes[n].free_gpus -
				     (int) gpus[n], 0);
	return count;
}

/* OUT cores, gpus - by node, what the starts take of it */
static void _add_starts(const auc_snapshot_t *s,
			const struct aucsched_output *out, uint32_t *cores,
			uint32_t *gpus, auc_shadow_sample_t *sample)
{
	for (uint32_t row = 0; row < s->in.jobs_len; row++) {
		const struct aucsched_decision *decision = &out->decisions[row];

		/* What makes room first takes nothing that is free. */
		if ((decision->why != AUCSCHED_STARTS) || decision->victims)
			continue;
		for (uint32_t i = 0; i < decision->segments; i++) {
			const struct aucsched_segment *segment =
				&out->segments[decision->first_segment + i];

			for (uint32_t n = segment->first; n <= segment->last;
			     n++) {
				cores[n] += segment->cores;
				gpus[n] += segment->gpus;
				sample->would_cores += segment->cores;
				sample->would_gpus += segment->gpus;
			}
		}
	}
}

extern void auc_shadow_measure(const auc_snapshot_t *s,
			       const struct aucsched_output *out)
{
	auc_shadow_sample_t sample = {
		.time = s->in.now, .queue = s->queue,
		.running = s->in.running_len };
	uint32_t *cores = xcalloc(s->in.nodes_len + 1, sizeof(*cores));
	uint32_t *gpus = xcalloc(s->in.nodes_len + 1, sizeof(*gpus));

	for (uint32_t n = 0; n < s->in.nodes_len; n++) {
		const struct aucsched_node *node = &s->nodes[n];

		if (!node->up)
			continue;
		sample.cores += node->cores;
		sample.cores_used += node->cores - node->free_cores;
		sample.gpus += node->gpus;
		sample.gpus_used += node->gpus - node->free_gpus;
	}
	sample.gpus_stranded = _stranded(s, cores, gpus);
	if (out)
		_add_starts(s, out, cores, gpus, &sample);
	sample.would_stranded = _stranded(s, cores, gpus);
	if (sample.cores)	/* no node has come up yet */
		auc_shadow_sample(&sample);
	xfree(cores);
	xfree(gpus);
}

/* ---- the file ---- */

extern char *auc_shadow_path(const auc_settings_t *settings,
			     const char *state_dir)
{
	return settings->shadow_file ? xstrdup(settings->shadow_file) :
		xstrdup_printf("%s/aucsched.shadow", state_dir);
}

extern void auc_shadow_write(const auc_settings_t *settings, const char *path,
			     bool secret, const char *version)
{
	auc_shadow_file_t file = {
		.path = path, .limit = (int64_t) settings->shadow_mb << 20,
		.mode = secret ? 0600 : 0644,
		.version = version, .slurm = SLURM_VERSION_STRING,
		.settings = settings->engine, .interval = settings->interval,
	};

	auc_shadow_flush(&file, time(NULL));
}

extern void auc_shadow_free(void)
{
	auc_shadow_log_free();
	xfree(shadow.jobs);
	memset(&shadow, 0, sizeof(shadow));
}
