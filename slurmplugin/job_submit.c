/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "library.h"
#include "request.h"
#include "src/common/env.h"

/* Reads scripts and notes, in an engine of its own; none runs until the first that is to be read. */
static struct {
	pthread_mutex_t lock;
	auc_library_t library;
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* An engine for what is to be read. _put_reader() has to follow */
static auc_library_t *_get_reader(void)
{
	slurm_mutex_lock(&reader.lock);
	(void) auc_library_load(&reader.library, slurm_conf.sched_params);
	return &reader.library;
}

/* IN what - could not be read; NULL: all was */
static void _put_reader(const char *what)
{
	if (what && reader.library.error[0])
		info("aucsched: %s: %s", what, reader.library.error);
	slurm_mutex_unlock(&reader.lock);
}

/* Words for the user. RET rc */
static int _refuse_submit(char **err_msg, char *words, int rc)
{
	if (err_msg)
		*err_msg = words;
	else
		xfree(words);
	return rc;
}

/* ---- Jobs of the partition that an invasive resource manager has ---- */

/* Texts of an answer: a job's are of 1024 bytes, except for one, which may be as long as it was. */
#define MOST_TEXTS 4096

/* The partition's name. xfree(); NULL: there is no such partition */
static char *_invasic_partition(void)
{
	word_t name;

	return auc_param(slurm_conf.sched_params, "auc_invasic=", &name) ?
		xstrndup(name.at, name.len) : NULL;
}

/* What a submission and a change have in common. */
static struct aucsched_invasic _invasic_job(const job_desc_msg_t *job_desc,
					    char *name)
{
	/* Slurm doesn't look at its cores while a job is held. */
	const part_record_t *part_ptr = find_part_record(name);

	return (struct aucsched_invasic) {
		.settings = slurm_conf.sched_params,
		.partition = name,
		.comment = job_desc->comment,
		.qos = job_desc->qos,
		.nice = (job_desc->nice == NO_VAL) ? 0 :
			(int64_t) job_desc->nice - NICE_OFFSET,
		.priority = (job_desc->priority == NO_VAL) ? -1 :
			job_desc->priority,
		.most_cores = part_ptr ? part_ptr->total_cpus : 0,
		.nodes = (job_desc->min_nodes == NO_VAL) ? 0 :
			job_desc->min_nodes,
		.begins = job_desc->begin_time > time(NULL),
		.enforces_qos = (slurm_conf.accounting_storage_enforce &
				 ACCOUNTING_ENFORCE_QOS) != 0,
	};
}

/* IN job_ptr - whose record gets what is noted of it; NULL: a submission */
static int _judge_invasic(const struct aucsched_invasic *job,
			  job_desc_msg_t *job_desc, job_record_t *job_ptr,
			  char **err_msg)
{
	struct aucsched_invasic_answer answer;
	size_t len = MOST_TEXTS + (job->comment ? strlen(job->comment) : 0) +
		(job->job_comment ? 2 * strlen(job->job_comment) : 0);
	char *buf = xmalloc(len);
	int rc;

	rc = auc_library_invasic(_get_reader(), job, &answer, buf, len);
	_put_reader(rc ? "a job of the invasive partition is refused" : NULL);
	if (rc)
		return _refuse_submit(err_msg, buf, EINVAL);
	if (answer.comment) {
		xfree(job_desc->comment);
		job_desc->comment = xstrdup(answer.comment);
	}
	if (answer.job_comment && job_ptr) {
		xfree(job_ptr->comment);
		job_ptr->comment = xstrdup(answer.job_comment);
	}
	if (answer.min_cpus)
		job_desc->min_cpus = answer.min_cpus;
	if (answer.released)
		job_desc->priority = NO_VAL;
	if (answer.socket) {
		env_array_overwrite(&job_desc->environment,
				    "AUCSCHED_INVASIVE", answer.socket);
		job_desc->env_size = envcount(job_desc->environment);
	}
	xfree(buf);
	return SLURM_SUCCESS;
}

/* OUT err_msg - what is wrong; may be NULL. RET an error of Slurm, or SLURM_SUCCESS */
static int _invasic_submit(job_desc_msg_t *job_desc, char **err_msg)
{
	char *name = _invasic_partition();
	const char *asked = job_desc->partition ? job_desc->partition :
		default_part_name;
	struct aucsched_invasic job;
	int rc = SLURM_SUCCESS;

	if (name && auc_is_listed(asked, name)) {
		job = _invasic_job(job_desc, name);
		job.tasks = (job_desc->num_tasks == NO_VAL) ? 0 :
			MAX(job_desc->num_tasks, 1);
		job.cpus_per_task = (job_desc->cpus_per_task == NO_VAL16) ? 0 :
			MAX(job_desc->cpus_per_task, 1);
		job.elsewhere = xstrcmp(asked, name) != 0;
		job.no_script = !job_desc->script;
		job.array = job_desc->array_inx != NULL;
		job.het = job_desc->het_job_offset != NO_VAL;
		if (!(rc = _judge_invasic(&job, job_desc, NULL, err_msg)))
			job_desc->priority = 0;
	}
	xfree(name);
	return rc;
}

static int _invasic_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
			   uint32_t submit_uid, char **err_msg)
{
	char *name = _invasic_partition();
	struct aucsched_invasic job;
	bool ours, moved;
	int rc = SLURM_SUCCESS;

	if (!name)
		return SLURM_SUCCESS;
	ours = auc_is_listed(job_ptr->partition, name);
	moved = job_desc->partition &&
		(ours != !xstrcmp(job_desc->partition, name));
	if (moved || (ours && IS_JOB_PENDING(job_ptr))) {
		job = _invasic_job(job_desc, name);
		job.change = true;
		job.elsewhere = moved;
		job.job_comment = job_ptr->comment;
		job.qualifies = job_desc->qos != NULL;
		if (!job.qos && job_ptr->qos_ptr)
			job.qos = job_ptr->qos_ptr->name;
		job.held = !job_ptr->priority;
		job.user_held = job_ptr->state_reason == WAIT_HELD_USER;
		job.operator_ = validate_operator(submit_uid);
		job.owner = submit_uid == job_ptr->user_id;
		rc = _judge_invasic(&job, job_desc, job_ptr, err_msg);
	}
	xfree(name);
	return rc;
}

/*
 * job_submit/aucsched: at submission, GPU ranges and alternative requests. A range
 * --gres=gpu:LOW-HIGH becomes gpu:LOW for Slurm, and a note on the job for the auction;
 * lines #AUCSCHED --alternative of a batch script become a note as well. The library reads both; wrong ones are
 * refused in words. Whatever has neither passes untouched. With auc_locality=yes a part
 * input=PATH:SIZE of the comment is looked at too, and left where it is. Jobs of the
 * partition auc_invasic=PARTITION are held: see request.h.
 *
 * Locks: slurmctld's job, node and partition read locks are the caller's.
 */

/* So much of the notes goes into an admin_comment, as into other texts of a job. */
#define MOST_NOTES 1024

const char plugin_name[] = "GPU ranges and alternative requests for aucsched";
const char plugin_type[] = "job_submit/aucsched";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static auc_select_hooks_t *hooks;

extern int init(void)
{
	return SLURM_SUCCESS;
}

extern void fini(void)
{
	slurm_mutex_lock(&reader.lock);
	auc_library_close(&reader.library);
	slurm_mutex_unlock(&reader.lock);
}

/* What nodes have of GPUs, as aucsched_range() has it. xfree() */
static char *_gpus_of_nodes(void)
{
	char *text = NULL, *line = NULL, *last = NULL;

	for (int n = 0; n < node_record_count; n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];
		const gres_node_state_t *gpus = node_ptr ?
			auc_gres_data(node_ptr->gres_list, gres_build_id("gpu")) : NULL;

		if (!gpus)
			continue;
		/* Those of a node that never came up count as configured. */
		xstrfmtcat(line, "%llu", (unsigned long long) (
			(gpus->gres_cnt_config == NO_VAL64) ? gpus->gres_cnt_avail :
			MAX(gpus->gres_cnt_avail, gpus->gres_cnt_config)));
		for (int i = 0; i < gpus->type_cnt; i++)
			if (gpus->type_name[i])
				xstrfmtcat(line, " %s %llu", gpus->type_name[i],
					   (unsigned long long) gpus->type_cnt_avail[i]);
		if (xstrcmp(line, last))
			xstrfmtcat(text, "%s\n", line);
		xfree(last);
		last = line;
		line = NULL;
	}
	xfree(last);
	return text;
}

/* As auc_library_request(). */
static int _read(auc_call_number_t call, const char *text, uint32_t cpus_per_task, auc_gpus_t *range,
		 char *words, size_t len)
{
	char *nodes = _gpus_of_nodes();
	int rc = auc_library_request(_get_reader(), call, slurm_conf.sched_params, text, cpus_per_task,
				     nodes, range, words, len);

	_put_reader(rc ? "a request is refused" : NULL);
	xfree(nodes);
	return rc;
}

/* IN/OUT note - the comment that keeps the range */
static int _take_range(job_desc_msg_t *job_desc, char **note, char **err_msg)
{
	char **asked = &job_desc->tres_per_node, *single, words[512];
	auc_gpus_t range = { 0 };

	if (*asked && strchr(*asked, '-') &&
	    _read(AUC_CALL_RANGE, *asked, 0, &range, words, sizeof(words)))
		return _refuse_submit(err_msg, xstrdup(words), ESLURM_INVALID_GRES);
	auc_note_drop(note, AUC_RANGE_NOTE);
	if (!range.high)
		return SLURM_SUCCESS;
	if (!(single = auc_range_with_count(*asked, range.low)))
		return ESLURM_INVALID_GRES;
	xfree(*asked);
	*asked = single;
	auc_range_add_note(note, &range);
	return SLURM_SUCCESS;
}

/* Adds the GPUs that a client's filter put into the comment: see cli_filter.c. */
static void _from_comment(job_desc_msg_t *job_desc)
{
	size_t len;
	const char *note = auc_note_find(job_desc->comment, AUC_RANGE_NOTE, &len);
	char *gpus = note ? xstrndup(note, len) : NULL, *save = NULL, *each;

	for (each = gpus ? strtok_r(gpus, ",", &save) : NULL; each;
	     each = strtok_r(NULL, ",", &save))
		xstrfmtcat(job_desc->tres_per_node, "%s" AUC_GRES_PREFIX "gpu:%s",
			   job_desc->tres_per_node ? "," : "", each);
	xfree(gpus);
	auc_note_drop(&job_desc->comment, AUC_RANGE_NOTE);
}

/* Takes the alternatives out of the script, into the note. The library is asked of scripts that may have some alone. */
static int _take_alternatives(job_desc_msg_t *job_desc, char **err_msg)
{
	uint32_t cpus_per_task = (job_desc->cpus_per_task == NO_VAL16) ? 1 :
		MAX(job_desc->cpus_per_task, 1);
	char **comment = &job_desc->admin_comment, note[2048] = "";
	auc_gpus_t none;

	auc_note_drop(comment, AUC_ALTERNATIVES_NOTE);
	auc_note_drop(comment, AUC_FIRST_NOTE);
	if (!job_desc->script || !strstr(job_desc->script, "#AUCSCHED"))
		return SLURM_SUCCESS;
	if (_read(AUC_CALL_ALTERNATIVES, job_desc->script, cpus_per_task, &none, note, sizeof(note)))
		return _refuse_submit(err_msg, xstrdup(note), EINVAL);
	if (note[0])
		auc_note_set(comment, AUC_ALTERNATIVES_NOTE, note);
	return SLURM_SUCCESS;
}

/* Slurm bounds a job's texts but this one, which others than administrators write here alone. */
static int _check_notes(const char *before, const char *after, char **err_msg)
{
	size_t given = before ? strlen(before) : 0;
	size_t len = after ? strlen(after) : 0;

	if (len <= given + MOST_NOTES)
		return SLURM_SUCCESS;
	return _refuse_submit(err_msg, xstrdup_printf("aucsched: the alternatives and the range of GPUs take %zu bytes of the job's AdminComment, and can take %d: leave some out",
					       len - given, MOST_NOTES),
		       EINVAL);
}

/* A comment that names an input, but not so that it is understood, is refused. */
static int _check_input(const char *comment, char **err_msg)
{
	auc_library_t *library;
	struct aucsched_read read;
	size_t len;
	char *words = NULL;
	int rc;

	/* Else the word input= is not ours. */
	if (!auc_yes(slurm_conf.sched_params, "auc_locality=", false) ||
	    !auc_note_find(comment, AUC_INPUT_NOTE, &len))
		return SLURM_SUCCESS;
	library = _get_reader();
	for (int i = 0; i < 2; i++) {	/* it is not known at first */
		rc = auc_library_read(library, AUC_CALL_INPUT_FILE, 0, comment,
				      strlen(comment) + 1, &read, sizeof(read));
		if ((rc != AUC_UNREAD) || auc_library_answer(library))
			break;
	}
	if (rc && (rc != AUC_UNREAD))
		words = xstrdup(library->error);
	_put_reader(NULL);
	return words ? _refuse_submit(err_msg, words, EINVAL) : SLURM_SUCCESS;
}

extern int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		      char **err_msg)
{
	char *before = NULL;
	int rc;

	if (!hooks)
		hooks = auc_find_select_hooks();
	if (hooks && hooks->immediate)
		*hooks->immediate() = (job_desc->immediate == 1) ?
			time(NULL) : 0;
	if ((rc = _check_input(job_desc->comment, err_msg)))
		return rc;
	before = xstrdup(job_desc->admin_comment);
	_from_comment(job_desc);
	if (!(rc = _take_alternatives(job_desc, err_msg)) &&
	    !(rc = _take_range(job_desc, &job_desc->admin_comment, err_msg)))
		rc = _check_notes(before, job_desc->admin_comment, err_msg);
	xfree(before);
	return rc ? rc : _invasic_submit(job_desc, err_msg);
}

/* Whether the update is about what an alternative says otherwise. */
static bool _asks_otherwise(const job_desc_msg_t *job_desc)
{
	return (job_desc->num_tasks != NO_VAL) ||
		(job_desc->min_nodes != NO_VAL) ||
		(job_desc->max_nodes != NO_VAL) ||
		(job_desc->min_cpus != NO_VAL) ||
		(job_desc->max_cpus != NO_VAL) ||
		(job_desc->pn_min_cpus != NO_VAL16) ||
		(job_desc->ntasks_per_node != NO_VAL16) ||
		(job_desc->cpus_per_task != NO_VAL16) ||
		(job_desc->contiguous != NO_VAL16) ||
		job_desc->tres_per_node;
}

/*
 * A changed request takes its range along, or loses it; and it is the only one from then on.
 * Whether it changes slurmctld says later: see request.h. The notes go to the job's record
 * directly: slurmctld lets administrators alone change an admin_comment by request. The
 * caller holds the job write lock here.
 */
extern int job_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
		      uint32_t submit_uid, char **err_msg)
{
	auc_gpus_t range, *update = NULL;
	char *note = NULL;
	int rc;

	if ((rc = _check_input(job_desc->comment, err_msg)) ||
	    (rc = _invasic_modify(job_desc, job_ptr, submit_uid,
				     err_msg)))
		return rc;
	if (!_asks_otherwise(job_desc) || !IS_JOB_PENDING(job_ptr) ||
	    !job_ptr->details)
		return SLURM_SUCCESS;
	(void) auc_update_settle(job_ptr);
	if (job_desc->tres_per_node) {
		if ((rc = _take_range(job_desc, &note, err_msg)))
			return rc;
		(void) auc_range_read_note(note, &range);
		update = &range;
		xfree(note);
	}
	auc_update_begin(job_ptr, &job_desc->tres_per_node, update);
	return SLURM_SUCCESS;
}
