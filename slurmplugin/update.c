/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Updates that are not judged yet: see update.h. */
#include <stdio.h>
#include <string.h>

#include "alternative_note.h"
#include "input_file.h"
#include "note.h"
#include "update.h"

/*
 * What a job asks for, in a number. Only what the job itself says: no attempt to start it changes
 * it.
 */
static uint64_t _request(const job_record_t *job_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
	char *text = xstrdup_printf("%u,%u-%u,%u-%u,%u,%u,%u,%u,%s",
				    details->num_tasks, details->min_nodes,
				    details->max_nodes, details->orig_min_cpus,
				    details->orig_max_cpus,
				    details->orig_pn_min_cpus,
				    details->ntasks_per_node,
				    details->orig_cpus_per_task,
				    details->contiguous,
				    job_ptr->tres_per_node ?
				    job_ptr->tres_per_node : "");
	uint64_t id = auc_id_of(text, strlen(text));

	xfree(text);
	return id;
}

static bool _has_notes(const char *comment)
{
	size_t len;

	return auc_note_find(comment, AUC_ALTERNATIVES_NOTE, &len) ||
		auc_note_find(comment, AUC_FIRST_NOTE, &len) ||
		auc_note_find(comment, AUC_RANGE_NOTE, &len);
}

/*
 * The note is the number of the request, ',' and what the update makes of the range:
 * nothing, gpu= for none, or gpu=[TYPE:]LOW-HIGH, which a site's own rules may look at.
 */
extern void auc_update_begin(job_record_t *job_ptr, char **tres_per_node,
			     auc_update_t update, const auc_gpus_t *range)
{
	static const char *const texts[] = {
		[AUC_UPDATE_KEEPS] = "", [AUC_UPDATE_DROPS] = "gpu=",
	};
	char *text, *other;

	if (!_has_notes(job_ptr->admin_comment) && (update != AUC_UPDATE_SETS))
		return;
	if (*tres_per_node &&
	    !xstrcmp(*tres_per_node, job_ptr->tres_per_node) &&
	    (other = auc_range_respelled(*tres_per_node))) {
		xfree(*tres_per_node);
		*tres_per_node = other;
	}
	text = xstrdup_printf("%016llx,",
			      (unsigned long long) _request(job_ptr));
	if (update == AUC_UPDATE_SETS) {
		other = NULL;
		auc_range_add_note(&other, range);
		xstrcat(text, other + strlen("auc:"));
		xfree(other);
	} else
		xstrcat(text, texts[update]);
	auc_note_set(&job_ptr->admin_comment, AUC_UPDATE_NOTE, text);
	xfree(text);
}

static void _take_over(job_record_t *job_ptr, const char *range)
{
	char **comment = &job_ptr->admin_comment, *plain, *note;
	auc_gpus_t gpus;

	auc_note_drop(comment, AUC_ALTERNATIVES_NOTE);
	auc_note_drop(comment, AUC_FIRST_NOTE);
	if ((plain = auc_range_plain(job_ptr->tres_per_node))) {
		xfree(job_ptr->tres_per_node);
		job_ptr->tres_per_node = plain;
	}
	if (!range[0])
		return;
	auc_range_drop_note(comment);
	note = xstrdup_printf("auc:%s", range);
	if (auc_range_read_note(note, &gpus))
		auc_range_add_note(comment, &gpus);
	xfree(note);
}

extern bool auc_update_settle(job_record_t *job_ptr)
{
	unsigned long long before;
	size_t len;
	const char *note = auc_note_find(job_ptr->admin_comment,
					 AUC_UPDATE_NOTE, &len);
	char *text;
	int at = 0;
	bool changed;

	if (!note || !job_ptr->details)
		return false;
	text = xstrndup(note, len);
	auc_note_drop(&job_ptr->admin_comment, AUC_UPDATE_NOTE);
	changed = (sscanf(text, "%16llx,%n", &before, &at) == 1) && at &&
		(before != _request(job_ptr));
	if (changed)
		_take_over(job_ptr, text + at);
	xfree(text);
	return changed;
}
