/*
 * job_submit/aucsched: at submission, GPU ranges and alternative requests. A range
 * --gres=gpu:LOW-HIGH becomes gpu:LOW for Slurm, and a note on the job for the auction;
 * lines #AUCSCHED --alternative of a batch script become a note as well. Wrong ones are
 * refused in words. Whatever has neither passes untouched. With auc_locality=yes a part
 * input=PATH:SIZE of the comment is looked at too, and left where it is. Jobs of the
 * partition auc_invasic=PARTITION are held: see job_invasic.h.
 *
 * Locks: slurmctld's job, node and partition read locks are the caller's.
 */
#include "alternative.h"
#include "compat.h"
#include "gpu_range.h"
#include "input_file.h"
#include "job_invasic.h"
#include "note.h"
#include "select_hooks.h"

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
}

static bool _node_has_type(node_record_t *node_ptr, const char *name)
{
	gres_state_t *gres;
	list_itr_t *iter;
	bool found = false;

	if (!node_ptr || !node_ptr->gres_list)
		return false;
	iter = list_iterator_create(node_ptr->gres_list);
	while (!found && (gres = list_next(iter))) {
		gres_node_state_t *have = gres->gres_data;

		for (int i = 0; have && (i < have->type_cnt); i++)
			found |= !xstrcmp(have->type_name[i], name);
	}
	list_iterator_destroy(iter);
	return found;
}

static bool _is_type(const char *name)
{
	for (int n = 0; n < node_record_count; n++)
		if (_node_has_type(node_record_table_ptr[n], name))
			return true;
	return false;
}

/* IN/OUT note - the comment that keeps the range */
static int _take_range(job_desc_msg_t *job_desc, char **note, char **err_msg)
{
	uint32_t low = 0, high = 0;
	char *error = NULL, *single;

	switch (auc_range_parse(job_desc->tres_per_node, _is_type, &low, &high,
				&error)) {
	case AUC_RANGE_NONE:
		auc_range_drop_note(note);
		return SLURM_SUCCESS;
	case AUC_RANGE_BAD:
		if (err_msg)
			*err_msg = error;
		else
			xfree(error);
		return ESLURM_INVALID_GRES;
	default:
		break;
	}
	if (!(single = auc_range_with_count(job_desc->tres_per_node, low)))
		return ESLURM_INVALID_GRES;
	xfree(job_desc->tres_per_node);
	job_desc->tres_per_node = single;
	auc_range_add_note(note, low, high);
	return SLURM_SUCCESS;
}

/* Adds the range that a client's filter put into the comment: see cli_filter.c. */
static void _from_comment(job_desc_msg_t *job_desc)
{
	uint32_t low, high;

	if (!auc_range_find_note(job_desc->comment, &low, &high))
		return;
	auc_range_drop_note(&job_desc->comment);
	xstrfmtcat(job_desc->tres_per_node, "%s" AUC_GRES_PREFIX "gpu:%u-%u",
		   job_desc->tres_per_node ? "," : "", low, high);
}

/* Takes the alternatives out of the script, into the note. */
static int _take_alternatives(job_desc_msg_t *job_desc, char **err_msg)
{
	auc_alternative_t alternatives[AUC_ALTERNATIVES];
	uint32_t cpus_per_task = (job_desc->cpus_per_task == NO_VAL16) ? 1 :
		MAX(job_desc->cpus_per_task, 1);
	char *error = NULL;
	int len = auc_alternatives_parse(job_desc->script, cpus_per_task,
					 _is_type, alternatives, &error);

	if (len < 0) {
		if (err_msg)
			*err_msg = error;
		else
			xfree(error);
		return EINVAL;
	}
	auc_alternatives_set_note(&job_desc->admin_comment, alternatives, len);
	auc_note_drop(&job_desc->admin_comment, AUC_FIRST_NOTE);
	return SLURM_SUCCESS;
}

/* A comment that names an input, but not so that it is understood, is refused. */
static int _check_input(const char *comment, char **err_msg)
{
	auc_input_t input;
	char *error = NULL;

	if (!auc_locality_is_on(slurm_conf.sched_params) ||
	    (auc_input_parse(comment, &input, &error) != AUC_INPUT_BAD))
		return SLURM_SUCCESS;
	if (err_msg)
		*err_msg = error;
	else
		xfree(error);
	return EINVAL;
}

extern int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid,
		      char **err_msg)
{
	int rc;

	if (!hooks)
		hooks = auc_find_select_hooks();
	if (hooks && hooks->immediate)
		*hooks->immediate() = job_desc->immediate == 1;
	if ((rc = _check_input(job_desc->comment, err_msg)) ||
	    (rc = _take_alternatives(job_desc, err_msg)))
		return rc;
	_from_comment(job_desc);
	if ((rc = _take_range(job_desc, &job_desc->admin_comment, err_msg)))
		return rc;
	return auc_invasic_submit(job_desc, err_msg);
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
 * The notes go to the job's record directly: slurmctld lets administrators alone change an
 * admin_comment by request. The caller holds the job write lock here.
 */
extern int job_modify(job_desc_msg_t *job_desc, job_record_t *job_ptr,
		      uint32_t submit_uid, char **err_msg)
{
	int rc;

	if ((rc = _check_input(job_desc->comment, err_msg)) ||
	    (rc = auc_invasic_modify(job_desc, job_ptr, submit_uid,
				     err_msg)))
		return rc;
	if (!_asks_otherwise(job_desc) || !IS_JOB_PENDING(job_ptr) ||
	    ((submit_uid != job_ptr->user_id) && !validate_operator(submit_uid)))
		return SLURM_SUCCESS;
	auc_note_drop(&job_ptr->admin_comment, AUC_ALTERNATIVES_NOTE);
	auc_note_drop(&job_ptr->admin_comment, AUC_FIRST_NOTE);
	if (!job_desc->tres_per_node)
		return SLURM_SUCCESS;
	return _take_range(job_desc, &job_ptr->admin_comment, err_msg);
}
