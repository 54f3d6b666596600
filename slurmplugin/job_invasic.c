/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Invasive jobs in slurmctld: see job_invasic.h. */
#include <time.h>

#include "compat.h"
#include "src/common/env.h"

#include "invasic.h"
#include "job_invasic.h"

/* A job's priority for the negotiation: --nice takes from this. */
#define USUAL_POINTS 100
#define MOST_POINTS 1000000

/* A negative one is an administrator's. */
static int64_t _nice(uint32_t nice)
{
	return (nice == NO_VAL) ? 0 : (int64_t) nice - NICE_OFFSET;
}

static uint32_t _points(const job_desc_msg_t *job_desc)
{
	int64_t points = USUAL_POINTS - _nice(job_desc->nice);

	if ((job_desc->priority != NO_VAL) && job_desc->priority &&
	    (job_desc->priority != INFINITE))
		points = job_desc->priority;	/* slurmctld asks who may */
	return MIN(MAX(points, 0), MOST_POINTS);
}

/* What the request alone says; 0: nothing. */
static uint32_t _cores(const job_desc_msg_t *job_desc)
{
	bool tasks = job_desc->num_tasks != NO_VAL;
	bool cpus = job_desc->cpus_per_task != NO_VAL16;

	if (!tasks && !cpus)
		return 0;
	return (tasks ? MAX(job_desc->num_tasks, 1) : 1) *
		(cpus ? MAX(job_desc->cpus_per_task, 1) : 1);
}

/* Slurm doesn't look at this while a job is held. */
static uint32_t _most_cores(word_t name)
{
	char *text = xstrndup(name.at, name.len);
	part_record_t *part_ptr = find_part_record(text);

	xfree(text);
	return part_ptr ? part_ptr->total_cpus : 0;
}

/* RET NULL, or what a job of this partition can't have */
static const char *_refused(const job_desc_msg_t *job_desc, bool alone)
{
	if (!alone)
		return "its jobs can't have other partitions besides";
	if (!job_desc->script)
		return "its jobs are batch jobs: use sbatch";
	if (job_desc->array_inx)
		return "its jobs can't be arrays";
	if (job_desc->het_job_offset != NO_VAL)
		return "its jobs can't be heterogeneous";
	if (job_desc->begin_time > time(NULL))
		return "its jobs can't have --begin";
	if ((job_desc->min_nodes != NO_VAL) && (job_desc->min_nodes > 1))
		return "its jobs have one node";
	return NULL;
}

/* IN name - the partition's. RET an error, with its words in err_msg */
static int _refuse(word_t name, const char *why, char **err_msg)
{
	if (err_msg)
		*err_msg = xstrdup_printf("aucsched: partition %.*s: %s",
					  (int) name.len, name.at, why);
	return EINVAL;
}

/*
 * With auc_invasic_urgent=QOS that QOS makes a job urgent, and nothing else does; who may have
 * it Slurm says only if it enforces QOS. With auc_invasic_urgent=* each job says so itself.
 * Otherwise no job is urgent: it takes cores from those of other users.
 * IN qos - the job's, may be NULL
 * IN made - the job doesn't ask anew
 */
static int _judge_urgent(word_t name, const char *qos, bool made,
			 auc_invasic_t *want, char **err_msg)
{
	bool enforced = slurm_conf.accounting_storage_enforce &
		ACCOUNTING_ENFORCE_QOS;
	word_t urgent = { "", 0 };

	(void) auc_param(slurm_conf.sched_params, "auc_invasic_urgent=",
			 &urgent);
	if (auc_is(urgent, "*"))
		return SLURM_SUCCESS;
	enforced = enforced && urgent.len && qos && auc_is(urgent, qos);
	if (want->urgent && !made && !enforced)
		return _refuse(name, "urgent jobs are those of a QOS, see auc_invasic_urgent in slurm.conf",
			       err_msg);
	want->urgent = enforced;
	return SLURM_SUCCESS;
}

/* Where jobs that adapt find the iHypervisor. */
static void _tell_job(job_desc_msg_t *job_desc)
{
	word_t path;
	char *socket;

	if (!auc_param(slurm_conf.sched_params, "auc_invasic_socket=", &path) ||
	    (path.at[0] != '/'))
		path = (word_t) { AUC_INVASIC_SOCKET,
				  strlen(AUC_INVASIC_SOCKET) };
	socket = xstrndup(path.at, path.len);
	env_array_overwrite(&job_desc->environment, "AUCSCHED_INVASIVE",
			    socket);
	job_desc->env_size = envcount(job_desc->environment);
	xfree(socket);
}

extern int auc_invasic_submit(job_desc_msg_t *job_desc, char **err_msg)
{
	uint32_t cores;
	auc_invasic_t want;
	const char *why, *list = job_desc->partition ?
		job_desc->partition : default_part_name;
	word_t name;
	bool alone;
	int rc;

	if (!auc_param(slurm_conf.sched_params, "auc_invasic=", &name) ||
	    !auc_names_partition(list, name, &alone))
		return SLURM_SUCCESS;
	if ((why = _refused(job_desc, alone)))
		return _refuse(name, why, err_msg);
	cores = _cores(job_desc);
	if (!auc_invasic_parse(job_desc->comment, cores, false, &want, err_msg))
		return EINVAL;
	if (want.low > _most_cores(name))
		return _refuse(name, "it has less cores", err_msg);
	if ((rc = _judge_urgent(name, job_desc->qos, false, &want, err_msg)))
		return rc;
	want.points = _points(job_desc);
	want.held = !job_desc->priority;
	auc_invasic_note(&job_desc->comment, &want);
	if (!cores)	/* what it is sure to get, for Slurm's accounts */
		job_desc->min_cpus = want.low;
	job_desc->priority = 0;
	_tell_job(job_desc);
	return SLURM_SUCCESS;
}

/* RET NULL, or what can't be changed of a job of this partition */
static const char *_unchangeable(const job_desc_msg_t *job_desc)
{
	if (job_desc->begin_time > time(NULL))
		return "its jobs can't have a begin time";
	if ((job_desc->min_nodes != NO_VAL) && (job_desc->min_nodes > 1))
		return "its jobs have one node";
	return NULL;
}

/* A changed comment is looked at as at submission; what it says of points and holds is ours. */
static int _change_note(word_t name, job_desc_msg_t *job_desc,
			job_record_t *job_ptr, const auc_invasic_t *before,
			char **err_msg)
{
	const char *qos = job_desc->qos ? job_desc->qos :
		job_ptr->qos_ptr ? job_ptr->qos_ptr->name : NULL;
	bool made = !job_desc->comment;
	auc_invasic_t want;
	int rc;

	if (made)
		job_desc->comment = xstrdup(job_ptr->comment);
	if (!auc_invasic_parse(job_desc->comment, 0, true, &want, err_msg))
		return EINVAL;
	if (want.low > _most_cores(name))
		return _refuse(name, "it has less cores", err_msg);
	if ((rc = _judge_urgent(name, qos, made, &want, err_msg)))
		return rc;
	want.points = before->points;
	want.held = before->held;
	auc_invasic_note(&job_desc->comment, &want);
	return SLURM_SUCCESS;
}

/*
 * To hold a held job, or to release one, is a word of its note: it is held on until it was
 * negotiated. Who releases a job whose note has no such word starts it.
 */
static int _hold(word_t name, job_desc_msg_t *job_desc, job_record_t *job_ptr,
		 uint32_t submit_uid, auc_invasic_t *note, char **err_msg)
{
	bool operator = validate_operator(submit_uid);

	if (job_ptr->priority || (job_desc->priority == NO_VAL))
		return SLURM_SUCCESS;
	if (!operator && (submit_uid != job_ptr->user_id))
		return SLURM_SUCCESS;	/* Slurm refuses it */
	if (job_desc->priority && !note->held)
		return operator ? SLURM_SUCCESS :
			_refuse(name, "its jobs are held until they were negotiated",
				err_msg);
	if (job_desc->priority && !operator &&
	    (job_ptr->state_reason != WAIT_HELD_USER))
		return SLURM_SUCCESS;	/* an administrator's: Slurm refuses it */
	note->held = !job_desc->priority;
	auc_invasic_note(&job_ptr->comment, note);
	if (job_desc->priority)
		job_desc->priority = NO_VAL;
	return SLURM_SUCCESS;
}

extern int auc_invasic_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
			      uint32_t submit_uid, char **err_msg)
{
	auc_invasic_t note;
	const char *why;
	word_t name;
	bool ours, to, alone;
	int rc;

	if (!auc_param(slurm_conf.sched_params, "auc_invasic=", &name))
		return SLURM_SUCCESS;
	ours = auc_names_partition(job_ptr->partition, name, &alone);
	to = auc_names_partition(job_desc->partition, name, &alone);
	if (job_desc->partition && (ours != (to && alone)))
		return _refuse(name, "jobs can't be moved to it, or away from it",
			       err_msg);
	if (!ours || !IS_JOB_PENDING(job_ptr))
		return SLURM_SUCCESS;
	if ((why = _unchangeable(job_desc)))
		return _refuse(name, why, err_msg);
	/* One that was there before the plug-in has no note; an administrator may release it. */
	if (!auc_invasic_parse(job_ptr->comment, 0, true, &note, NULL))
		note.points = USUAL_POINTS;
	if ((rc = _hold(name, job_desc, job_ptr, submit_uid, &note, err_msg)))
		return rc;
	if (job_desc->comment || job_desc->qos)
		return _change_note(name, job_desc, job_ptr, &note, err_msg);
	return SLURM_SUCCESS;
}
