/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "library.h"
#include "request.h"
#include "src/common/env.h"

/*
 * job_submit/aucsched: at submission, GPU ranges and alternative requests. A range
 * --gres=gpu:LOW-HIGH becomes gpu:LOW for Slurm, and a note on the job for the auction;
 * lines #AUCSCHED --alternative of a batch script become a note as well. The library reads both; wrong ones are
 * refused in words. Whatever has neither passes untouched. With auc_locality=yes a part
 * input=PATH:SIZE of the comment is looked at too, and left where it is. Jobs of the
 * partition auc_invasic=PARTITION are held.
 *
 * Locks: slurmctld's job, node and partition read locks are the caller's.
 */

/* Texts of an answer, beside what was there: a job's are of 1024 bytes. */
#define MOST_TEXTS 8192

const char plugin_name[] = "GPU ranges and alternative requests for aucsched";
const char plugin_type[] = "job_submit/aucsched";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static auc_select_hooks_t *hooks;

/* Reads submissions, in an engine of its own; none runs until the first that is to be read. */
static struct {
	pthread_mutex_t lock;
	auc_library_t library;
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

/* What nodes have of GPUs: see struct aucsched_submission. xfree() */
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

static size_t _len(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Whether there may be GPUs for the library to read. */
static bool _may_ask_for_gpus(const struct aucsched_submission *job)
{
	return xstrchr(job->gres, '-') || xstrstr(job->script, "#AUCSCHED") ||
		xstrstr(job->comment, AUC_RANGE_NOTE);
}

/* Whether there may be anything. */
static bool _concerns_us(const struct aucsched_submission *job)
{
	return job->partition || _may_ask_for_gpus(job) ||
		xstrstr(job->admin_comment, "auc:") ||
		(xstrstr(job->comment, AUC_INPUT_NOTE) &&
		 auc_yes(job->settings, "auc_locality=", false));
}

/* Texts are NULL where what is there stays. */
static void _put(char **text, const char *to)
{
	if (to)
		(void) auc_set_text(text, to[0] ? to : NULL);
}

/*
 * Has the library judge a job, and takes over what it says; others pass untouched.
 * IN job_ptr - NULL: a submission
 * OUT gpus - the range that it asks for; err_msg - what is wrong; may be NULL
 * RET an error of Slurm, or SLURM_SUCCESS
 */
static int _judge(struct aucsched_submission *job, job_desc_msg_t *job_desc,
		  job_record_t *job_ptr, auc_gpus_t *gpus, char **err_msg)
{
	struct aucsched_submission_answer answer;
	char *nodes = NULL, *buf;
	size_t len;
	int rc;

	memset(gpus, 0, sizeof(*gpus));
	if (!_concerns_us(job))
		return SLURM_SUCCESS;
	if (_may_ask_for_gpus(job))
		job->nodes = nodes = _gpus_of_nodes();
	len = MOST_TEXTS + _len(job->gres) + 8 * _len(job->comment) +
		_len(job->admin_comment) + 2 * _len(job->job_comment);
	buf = xmalloc(len);
	slurm_mutex_lock(&reader.lock);
	(void) auc_library_load(&reader.library, slurm_conf.sched_params);
	rc = auc_library_submission(&reader.library, job, &answer, buf, len);
	if (rc && reader.library.error[0])
		info("aucsched: a request is refused: %s", reader.library.error);
	slurm_mutex_unlock(&reader.lock);
	xfree(nodes);
	if (rc) {
		rc = answer.wrong_gres ? ESLURM_INVALID_GRES : EINVAL;
		if (err_msg)
			*err_msg = xstrdup(buf);
	} else {
		*gpus = answer.gpus;
		_put(&job_desc->tres_per_node, answer.gres);
		_put(&job_desc->comment, answer.comment);
		_put(&job_desc->admin_comment, answer.admin_comment);
		if (job_ptr)
			_put(&job_ptr->comment, answer.job_comment);
		if (answer.min_cpus)
			job_desc->min_cpus = answer.min_cpus;
		if (answer.released)
			job_desc->priority = NO_VAL;
		if (answer.socket) {
			env_array_overwrite(&job_desc->environment,
					    "AUCSCHED_INVASIVE", answer.socket);
			job_desc->env_size = envcount(job_desc->environment);
		}
	}
	xfree(buf);
	return rc;
}

/* What a submission and a change have in common. */
static struct aucsched_submission _read(const job_desc_msg_t *job_desc)
{
	return (struct aucsched_submission) {
		.settings = slurm_conf.sched_params,
		.gres_prefix = AUC_GRES_PREFIX,
		.comment = job_desc->comment,
		.qos = job_desc->qos,
		.nice = (job_desc->nice == NO_VAL) ? 0 :
			(int64_t) job_desc->nice - NICE_OFFSET,
		.priority = (job_desc->priority == NO_VAL) ? -1 :
			job_desc->priority,
		.nodes_least = (job_desc->min_nodes == NO_VAL) ? 0 :
			job_desc->min_nodes,
		.begins = job_desc->begin_time > time(NULL),
		.enforces_qos = (slurm_conf.accounting_storage_enforce &
				 ACCOUNTING_ENFORCE_QOS) != 0,
	};
}

/* The name of the partition that an invasive resource manager has. xfree(); NULL: there is no such partition */
static char *_invasic_partition(void)
{
	word_t name;

	return auc_param(slurm_conf.sched_params, "auc_invasic=", &name) ?
		xstrndup(name.at, name.len) : NULL;
}

/* The job is of that partition. Slurm doesn't look at its cores while a job is held. */
static void _be_invasic(struct aucsched_submission *job, char *name)
{
	const part_record_t *part_ptr = find_part_record(name);

	job->partition = name;
	job->most_cores = part_ptr ? part_ptr->total_cpus : 0;
}

extern int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		      char **err_msg)
{
	struct aucsched_submission job = _read(job_desc);
	const char *asked = job_desc->partition ? job_desc->partition :
		default_part_name;
	char *name = _invasic_partition();
	auc_gpus_t range;
	int rc;

	if (!hooks)
		hooks = auc_find_select_hooks();
	if (hooks && hooks->immediate)
		*hooks->immediate() = (job_desc->immediate == 1) ?
			time(NULL) : 0;
	job.script = job_desc->script;
	job.gres = job_desc->tres_per_node;
	job.admin_comment = job_desc->admin_comment;
	job.tasks = (job_desc->num_tasks == NO_VAL) ? 0 :
		MAX(job_desc->num_tasks, 1);
	job.cpus_per_task = (job_desc->cpus_per_task == NO_VAL16) ? 0 :
		MAX(job_desc->cpus_per_task, 1);
	if (name && auc_is_listed(asked, name)) {
		_be_invasic(&job, name);
		job.elsewhere = xstrcmp(asked, name) != 0;
		job.array = job_desc->array_inx != NULL;
		job.het = job_desc->het_job_offset != NO_VAL;
	}
	rc = _judge(&job, job_desc, NULL, &range, err_msg);
	if (!rc && job.partition)
		job_desc->priority = 0;
	xfree(name);
	return rc;
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
	bool otherwise = _asks_otherwise(job_desc) && IS_JOB_PENDING(job_ptr) &&
		job_ptr->details;
	struct aucsched_submission job = _read(job_desc);
	char *name = _invasic_partition();
	bool ours = name && auc_is_listed(job_ptr->partition, name);
	auc_gpus_t range;
	int rc;

	job.change = true;
	if (otherwise)
		job.gres = job_desc->tres_per_node;
	job.elsewhere = name && job_desc->partition &&
		(ours != !xstrcmp(job_desc->partition, name));
	if (job.elsewhere || (ours && IS_JOB_PENDING(job_ptr))) {
		_be_invasic(&job, name);
		job.job_comment = job_ptr->comment;
		job.qualifies = job_desc->qos != NULL;
		if (!job.qos && job_ptr->qos_ptr)
			job.qos = job_ptr->qos_ptr->name;
		job.held = !job_ptr->priority;
		job.user_held = job_ptr->state_reason == WAIT_HELD_USER;
		job.operator_ = validate_operator(submit_uid);
		job.owner = submit_uid == job_ptr->user_id;
	}
	rc = _judge(&job, job_desc, job_ptr, &range, err_msg);
	xfree(name);
	if (rc || !otherwise)
		return rc;
	(void) auc_update_settle(job_ptr);
	auc_update_begin(job_ptr, &job_desc->tres_per_node,
			 job_desc->tres_per_node ? &range : NULL);
	return SLURM_SUCCESS;
}
