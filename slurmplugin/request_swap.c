/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A pending job's record with another request in it: see request_swap.h.
 *
 * Slurm starts a job with what its record asks for. So a job whose alternative has won
 * gets that request into its record, as slurmctld would have written it had the job been
 * submitted with it, and is started like any other; what it asked for first is kept, in
 * memory in case the start fails, and in a note on the job for when it is requeued. The
 * fields are set here and not by update_job(): that asks other plug-ins, lifts limits in
 * the name of the administrator, and can't be undone.
 *
 * All under the job write lock and the node read lock.
 */
#include <string.h>

#include "gpu_range.h"
#include "model.h"
#include "note.h"
#include "request_swap.h"
#include "update.h"

/* What the environment of a batch script says of its request. */
#define NTASKS "SLURM_NTASKS="
#define NPROCS "SLURM_NPROCS="
#define NTASKS_PER_NODE "SLURM_NTASKS_PER_NODE="
#define GPUS_PER_NODE "SLURM_GPUS_PER_NODE="
#define WHICH "AUCSCHED_ALTERNATIVE="

static const char *variables[] = {
	NTASKS, NPROCS, NTASKS_PER_NODE, GPUS_PER_NODE, WHICH,
};

/* ---- the environment ---- */

static bool _begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool _is_ours(const char *text)
{
	for (int i = 0; i < ARRAY_SIZE(variables); i++)
		if (_begins(text, variables[i]))
			return true;
	return false;
}

static void _free_env(char **env, uint16_t len)
{
	for (int i = 0; i < len; i++)
		xfree(env[i]);
	xfree(env);
}

/*
 * Slurm lays these over the environment that came with the job. Those for arrays stay.
 * OUT len - with room for ours behind them
 */
static char **_others(const job_record_t *job_ptr, uint16_t *len)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	char **env = xcalloc(details->env_cnt + ARRAY_SIZE(variables) + 1,
			     sizeof(char *));

	*len = 0;
	for (int i = 0; i < details->env_cnt; i++)
		if (!_is_ours(details->env_sup[i]))
			env[(*len)++] = xstrdup(details->env_sup[i]);
	return env;
}

/* Of the variables, those that came with the job. */
static void _came_with(job_record_t *job_ptr, bool *per_node, bool *gpus)
{
	uint32_t len = 0;
	char **env = get_job_env(job_ptr, &len);

	*per_node = *gpus = false;
	for (uint32_t i = 0; env && (i < len); i++) {
		*per_node |= _begins(env[i], NTASKS_PER_NODE);
		*gpus |= _begins(env[i], GPUS_PER_NODE);
	}
	if (env && len)
		xfree(env[0]);	/* the text of them all */
	xfree(env);
}

/* srun in the script takes its defaults from these. */
static void _set_env(job_record_t *job_ptr, const auc_alternative_t *a,
		     int number, int gpus_each)
{
	uint16_t len;
	char **env = _others(job_ptr, &len);
	bool per_node, gpus;

	_came_with(job_ptr, &per_node, &gpus);
	env[len++] = xstrdup_printf(NTASKS "%u", a->tasks);
	env[len++] = xstrdup_printf(NPROCS "%u", a->tasks);
	/* It can't be taken away. As many as there are in all is no restriction. */
	if (a->per_node || per_node)
		env[len++] = xstrdup_printf(NTASKS_PER_NODE "%u", a->per_node ?
					    a->per_node : a->tasks);
	if (gpus)
		env[len++] = xstrdup_printf(GPUS_PER_NODE "%s%s%u", a->type,
					    a->type[0] ? ":" : "", gpus_each);
	env[len++] = xstrdup_printf(WHICH "%d", number);
	job_ptr->details->env_sup = env;
	job_ptr->details->env_cnt = len;
}

/* ---- the record ---- */

#define SWAPPED_FLAGS (JOB_NTASKS_SET | AUC_IMPLIED_MAX_NODES)

static void _keep(auc_kept_t *kept, job_record_t *job_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	*kept = (auc_kept_t) {
		.num_tasks = details->num_tasks,
		.min_nodes = details->min_nodes,
		.max_nodes = details->max_nodes,
		.min_cpus = details->min_cpus,
		.max_cpus = details->max_cpus,
		.orig_min_cpus = details->orig_min_cpus,
		.orig_max_cpus = details->orig_max_cpus,
		.pn_min_cpus = details->pn_min_cpus,
		.orig_pn_min_cpus = details->orig_pn_min_cpus,
		.pn_min_memory = details->pn_min_memory,
		.usable_nodes = details->usable_nodes,
		.total_cpus = job_ptr->total_cpus,
		.total_nodes = job_ptr->total_nodes,
		.cpu_cnt = job_ptr->cpu_cnt,
		.node_cnt_wag = job_ptr->node_cnt_wag,
		.ntasks_per_node = details->ntasks_per_node,
		.cpus_per_task = details->cpus_per_task,
		.contiguous = details->contiguous,
		.env_cnt = details->env_cnt,
		.env_sup = details->env_sup,
		.bit_flags = job_ptr->bit_flags,
		.admin_comment = job_ptr->admin_comment,
		.tres_per_node = job_ptr->tres_per_node,
		.gres = job_ptr->gres_list_req,
		.accumulated = job_ptr->gres_list_req_accum,
		.tres_req_cnt = job_ptr->tres_req_cnt,
		.tres_req_str = job_ptr->tres_req_str,
		.tres_fmt_req_str = job_ptr->tres_fmt_req_str,
	};
	job_ptr->admin_comment = xstrdup(kept->admin_comment);
	job_ptr->tres_per_node = NULL;
	job_ptr->gres_list_req = job_ptr->gres_list_req_accum = NULL;
}

/* The numbers of a request, as slurmctld writes them into a new job's record. */
static void _set_numbers(job_record_t *job_ptr, const auc_alternative_t *a)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	uint32_t per_task = MAX(details->cpus_per_task, 1);

	details->num_tasks = a->tasks;
	details->min_nodes = a->min_nodes;
	details->max_nodes = a->max_nodes;
	details->min_cpus = details->orig_min_cpus = a->tasks * per_task;
	details->max_cpus = details->orig_max_cpus = NO_VAL;
	details->ntasks_per_node = a->per_node;
	details->pn_min_cpus = (a->tasks > 1) && a->per_node ?
		a->per_node * per_task : per_task;
	details->orig_pn_min_cpus = details->pn_min_cpus;
	details->contiguous = a->contiguous;
	job_ptr->bit_flags &= ~AUC_IMPLIED_MAX_NODES;
	job_ptr->bit_flags |= JOB_NTASKS_SET;
}

static int _set_gres(job_record_t *job_ptr, const auc_alternative_t *a)
{
	auc_range_drop_note(&job_ptr->admin_comment);
	if (!a->high)
		return SLURM_SUCCESS;
	job_ptr->tres_per_node = xstrdup_printf(AUC_GRES_PREFIX "gpu:%s%s%u",
						a->type, a->type[0] ? ":" : "",
						a->low);
	if (a->low < a->high)
		auc_range_add_note_of(&job_ptr->admin_comment,
				      job_ptr->tres_per_node, a->low, a->high);
	return auc_gres_validate(job_ptr);
}

extern int auc_swap(job_record_t *job_ptr, const auc_alternative_t *a,
		    auc_kept_t *kept)
{
	int rc;

	/* More CPUs a task than at submission, MaxMemPerCPU may have made it. */
	if (!auc_alternative_counts(a, job_ptr->details->cpus_per_task))
		return ESLURM_TOO_MANY_REQUESTED_CPUS;
	_keep(kept, job_ptr);
	_set_numbers(job_ptr, a);
	if ((rc = _set_gres(job_ptr, a)))
		auc_swap_back(job_ptr, kept);
	return rc;
}

/* The sums of what a pending job asks for, whatever it has had in an earlier run. */
static void _set_tres(job_record_t *job_ptr)
{
	uint32_t cpus = job_ptr->total_cpus, nodes = job_ptr->node_cnt;

	job_ptr->total_cpus = job_ptr->node_cnt = 0;
	job_set_req_tres(job_ptr, false);
	job_ptr->total_cpus = cpus;
	job_ptr->node_cnt = nodes;
}

/* What the job asked for first, for when it is in the queue again. */
static bool _note_first(job_record_t *job_ptr, const auc_kept_t *kept)
{
	auc_first_t first = {
		.tasks = kept->num_tasks,
		.min_nodes = kept->min_nodes,
		.max_nodes = kept->max_nodes,
		.min_cpus = kept->orig_min_cpus,
		.max_cpus = kept->orig_max_cpus,
		.ntasks_per_node = kept->ntasks_per_node,
		.cpus_per_node = kept->orig_pn_min_cpus,
		.contiguous = kept->contiguous,
		.flags = ((kept->bit_flags & JOB_NTASKS_SET) ?
			  AUC_FIRST_TASKS : 0) |
			((kept->bit_flags & AUC_IMPLIED_MAX_NODES) ?
			 AUC_FIRST_IMPLIED : 0),
		.tres_per_node = kept->tres_per_node,
	};

	if (!auc_range_find_note(kept->admin_comment, &first.low, &first.high))
		first.low = first.high = 0;
	return auc_first_set_note(&job_ptr->admin_comment, &first);
}

extern int auc_swap_for_start(job_record_t *job_ptr,
			      const auc_alternative_t *a, int number, int gpus,
			      auc_kept_t *kept)
{
	int rc = auc_swap(job_ptr, a, kept);

	if (rc)
		return rc;
	if (!_note_first(job_ptr, kept)) {
		auc_swap_back(job_ptr, kept);
		return ESLURM_INVALID_GRES;
	}
	_set_env(job_ptr, a, number, gpus);
	job_ptr->tres_req_cnt = NULL;
	job_ptr->tres_req_str = job_ptr->tres_fmt_req_str = NULL;
	_set_tres(job_ptr);
	return SLURM_SUCCESS;
}

/* Frees what is not what was kept: the other of the two requests. */
#define FREE_OTHER(mine, kept_)						\
	do {								\
		if ((mine) != (kept_))					\
			xfree(mine);					\
	} while (0)

extern void auc_swap_back(job_record_t *job_ptr, auc_kept_t *kept)
{
	__typeof__(job_ptr->details) details = job_ptr->details;

	FREE_OTHER(job_ptr->admin_comment, kept->admin_comment);
	FREE_OTHER(job_ptr->tres_per_node, kept->tres_per_node);
	FREE_OTHER(job_ptr->tres_req_cnt, kept->tres_req_cnt);
	FREE_OTHER(job_ptr->tres_req_str, kept->tres_req_str);
	FREE_OTHER(job_ptr->tres_fmt_req_str, kept->tres_fmt_req_str);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	if (details->env_sup != kept->env_sup)
		_free_env(details->env_sup, details->env_cnt);
	details->num_tasks = kept->num_tasks;
	details->min_nodes = kept->min_nodes;
	details->max_nodes = kept->max_nodes;
	details->min_cpus = kept->min_cpus;
	details->max_cpus = kept->max_cpus;
	details->orig_min_cpus = kept->orig_min_cpus;
	details->orig_max_cpus = kept->orig_max_cpus;
	details->pn_min_cpus = kept->pn_min_cpus;
	details->orig_pn_min_cpus = kept->orig_pn_min_cpus;
	details->pn_min_memory = kept->pn_min_memory;
	details->usable_nodes = kept->usable_nodes;
	/* Which an attempt to start it sets too. */
	job_ptr->total_cpus = kept->total_cpus;
	job_ptr->total_nodes = kept->total_nodes;
	job_ptr->cpu_cnt = kept->cpu_cnt;
	job_ptr->node_cnt_wag = kept->node_cnt_wag;
	details->ntasks_per_node = kept->ntasks_per_node;
	details->cpus_per_task = kept->cpus_per_task;
	details->contiguous = kept->contiguous;
	details->env_sup = kept->env_sup;
	details->env_cnt = kept->env_cnt;
	job_ptr->bit_flags &= ~SWAPPED_FLAGS;
	job_ptr->bit_flags |= kept->bit_flags & SWAPPED_FLAGS;
	job_ptr->admin_comment = kept->admin_comment;
	job_ptr->tres_per_node = kept->tres_per_node;
	job_ptr->gres_list_req = kept->gres;
	job_ptr->gres_list_req_accum = kept->accumulated;
	job_ptr->tres_req_cnt = kept->tres_req_cnt;
	job_ptr->tres_req_str = kept->tres_req_str;
	job_ptr->tres_fmt_req_str = kept->tres_fmt_req_str;
}

extern void auc_kept_free(auc_kept_t *kept)
{
	xfree(kept->admin_comment);
	xfree(kept->tres_per_node);
	xfree(kept->tres_req_cnt);
	xfree(kept->tres_req_str);
	xfree(kept->tres_fmt_req_str);
	FREE_NULL_LIST(kept->gres);
	FREE_NULL_LIST(kept->accumulated);
	_free_env(kept->env_sup, kept->env_cnt);
	memset(kept, 0, sizeof(*kept));
}

/* ---- back in the queue ---- */

/* The cluster has no such gres any more. */
static void _hold(job_record_t *job_ptr)
{
	error("aucsched: %pJ is held: its first request, %s, is not valid any more",
	      job_ptr, job_ptr->tres_per_node);
	job_ptr->priority = 0;
	job_ptr->state_reason = WAIT_HELD;
	xfree(job_ptr->state_desc);
}

static void _restore_first(job_record_t *job_ptr, const auc_first_t *first)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	uint16_t len;
	char **env = _others(job_ptr, &len);

	_free_env(details->env_sup, details->env_cnt);
	details->env_sup = env;
	details->env_cnt = len;
	details->num_tasks = first->tasks;
	details->min_nodes = first->min_nodes;
	details->max_nodes = first->max_nodes;
	details->min_cpus = details->orig_min_cpus = first->min_cpus;
	details->max_cpus = details->orig_max_cpus = first->max_cpus;
	details->pn_min_cpus = details->orig_pn_min_cpus =
		first->cpus_per_node;
	details->ntasks_per_node = first->ntasks_per_node;
	details->contiguous = first->contiguous;
	job_ptr->bit_flags &= ~SWAPPED_FLAGS;
	if (first->flags & AUC_FIRST_TASKS)
		job_ptr->bit_flags |= JOB_NTASKS_SET;
	if (first->flags & AUC_FIRST_IMPLIED)
		job_ptr->bit_flags |= AUC_IMPLIED_MAX_NODES;
	auc_note_drop(&job_ptr->admin_comment, AUC_FIRST_NOTE);
	auc_range_drop_note(&job_ptr->admin_comment);
	if (first->high)
		auc_range_add_note_of(&job_ptr->admin_comment,
				      first->tres_per_node, first->low,
				      first->high);
	xfree(job_ptr->tres_per_node);
	job_ptr->tres_per_node = xstrdup(first->tres_per_node);
	FREE_NULL_LIST(job_ptr->gres_list_req);
	FREE_NULL_LIST(job_ptr->gres_list_req_accum);
	if (job_ptr->tres_per_node && auc_gres_validate(job_ptr))
		_hold(job_ptr);
	/* scontrol would show those of the last run. */
	job_ptr->total_nodes = job_ptr->node_cnt_wag = 0;
	_set_tres(job_ptr);
	last_job_update = time(NULL);
}

static void _back_to_first(job_record_t *job_ptr)
{
	auc_first_t first;

	if (!auc_first_find_note(job_ptr->admin_comment, &first))
		return;
	_restore_first(job_ptr, &first);
	info("aucsched: %pJ asks for its first request again", job_ptr);
	xfree(first.tres_per_node);
}

extern void auc_update_judge(job_record_t *job_ptr)
{
	if (!auc_update_settle(job_ptr))
		return;
	info("aucsched: %pJ has been changed: what else it asked for is gone",
	     job_ptr);
	last_job_update = time(NULL);
}

extern void auc_requests_restore(void)
{
	job_record_t *job_ptr;
	list_itr_t *iter = list_iterator_create(job_list);

	while ((job_ptr = list_next(iter))) {
		if (!job_ptr->admin_comment || !IS_JOB_PENDING(job_ptr) ||
		    IS_JOB_COMPLETING(job_ptr) || !job_ptr->details)
			continue;
		auc_update_judge(job_ptr);
		_back_to_first(job_ptr);
		auc_back_to_range(job_ptr);
	}
	list_iterator_destroy(iter);
}
