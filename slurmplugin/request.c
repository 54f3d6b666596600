/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aucsched.h"
#include "common.h"
#include "request.h"

/* ---- GPU ranges ---- */

/* More GPUs than any node has; keeps numbers in range. */
#define MOST 1024

/* An element gpu[:TYPE]:COUNT of a list of gres. */
typedef struct {
	const char *name_end;	/* behind "gpu" */
	const char *count;
	const char *end;	/* of it */
} element_t;

/* The first such element. RET false if there is none */
static bool _find_gpus(const char *list, element_t *e)
{
	for (const char *at = list; at && *at; at = *e->end ? e->end + 1 : e->end) {
		e->end = at + strcspn(at, ",");
		if (!strncmp(at, "gres:", 5) || !strncmp(at, "gres/", 5))
			at += 5;
		if (strncmp(at, "gpu", 3))
			continue;
		e->name_end = e->count = at + 3;
		while (e->count + strcspn(e->count, ":=") < e->end)
			e->count += strcspn(e->count, ":=") + 1;
		if ((e->count > e->name_end) && strchr(":=", *e->name_end) &&
		    (e->count < e->end) &&
		    (strspn(e->count, "0123456789-") >= e->end - e->count))
			return true;
	}
	return false;
}

/* The list with another number. xfree() */
static char *_with(const char *list, const element_t *e, const char *count)
{
	return xstrdup_printf("%.*s%s%s", (int) (e->count - list), list, count, e->end);
}

extern char *auc_range_with_count(const char *list, uint32_t count)
{
	char number[16];
	element_t e;

	snprintf(number, sizeof(number), "%u", count);
	return _find_gpus(list, &e) ? _with(list, &e, number) : NULL;
}

extern char *auc_range_respelled(const char *list)
{
	element_t e;

	if (!_find_gpus(list, &e) || (*e.count == '0') || (*e.count == '-'))
		return NULL;
	e.end = e.count;
	return _with(list, &e, "0");
}

extern char *auc_range_plain(const char *list)
{
	element_t e;

	if (!_find_gpus(list, &e) || (e.count[0] != '0') ||
	    !isdigit((unsigned char) e.count[1]))
		return NULL;
	e.end = e.count + 1;
	return _with(list, &e, "");
}

/* [TYPE:]LOW-HIGH */
extern bool auc_range_read_note(const char *comment, auc_gpus_t *range)
{
	size_t len;
	const char *note = auc_note_find(comment, AUC_RANGE_NOTE, &len);
	char text[AUC_TYPE_SIZE + 32], *numbers = text, *colon;
	int end = 0;

	memset(range, 0, sizeof(*range));
	if (!note || (len >= sizeof(text)))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int) len, note);
	if ((colon = strrchr(text, ':'))) {
		*colon = '\0';
		numbers = colon + 1;
		if ((colon == text) || (colon - text >= AUC_TYPE_SIZE) || strpbrk(text, ":=,/ "))
			return false;
		strcpy(range->type, text);
	}
	return (strspn(numbers, "0123456789-") == strlen(numbers)) &&
		(sscanf(numbers, "%9u-%9u%n", &range->low, &range->high, &end) == 2) &&
		!numbers[end] && range->low && (range->low <= range->high) && (range->high <= MOST);
}

extern void auc_range_add_note(char **comment, const auc_gpus_t *range)
{
	char text[AUC_TYPE_SIZE + 32];

	snprintf(text, sizeof(text), "%s%s%u-%u", range->type,
		 range->type[0] ? ":" : "", range->low, range->high);
	auc_note_set(comment, AUC_RANGE_NOTE, text);
}

extern void auc_range_add_note_of(char **comment, const char *list,
				  uint32_t low, uint32_t high)
{
	auc_gpus_t range = { .low = low, .high = high };
	element_t e;

	if (_find_gpus(list, &e) && (e.name_end + 1 < e.count))
		snprintf(range.type, sizeof(range.type), "%.*s",
			 (int) (e.count - e.name_end - 2), e.name_end + 1);
	auc_range_add_note(comment, &range);
}

/* ---- Notes of first requests ---- */

#define FORM(form, x) form
#define VALUE(form, x) first->x,
#define PLACE(form, x) &first->x,

static char *_format_first(const auc_first_t *first)
{
	return xstrdup_printf(AUC_FIRST(FORM) ",s%u,g%u-%u:%s", AUC_FIRST(VALUE)
			      first->flags, first->low, first->high,
			      first->tres_per_node ? first->tres_per_node : "");
}

extern bool auc_first_set_note(char **comment, const auc_first_t *first)
{
	char *text;

	if (first->tres_per_node && strchr(first->tres_per_node, ';'))
		return false;
	text = _format_first(first);
	auc_note_set(comment, AUC_FIRST_NOTE, text);
	xfree(text);
	return true;
}

extern bool auc_first_find_note(const char *comment, auc_first_t *first)
{
	size_t len;
	const char *note = auc_note_find(comment, AUC_FIRST_NOTE, &len);
	char *text, *again;
	int at = 0;
	bool same;

	if (!note)
		return false;
	memset(first, 0, sizeof(*first));
	text = xstrndup(note, len);
	(void) sscanf(text, AUC_FIRST(FORM) ",s%u,g%u-%u:%n", AUC_FIRST(PLACE)
		      &first->flags, &first->low, &first->high, &at);
	if (at && text[at])
		first->tres_per_node = xstrdup(text + at);
	/* What is not just as it was written is not ours. */
	again = _format_first(first);
	same = at && !strcmp(text, again) && first->min_nodes &&
		(first->ntasks_per_node <= UINT16_MAX) &&
		(first->contiguous <= UINT16_MAX) &&
		(first->flags <= (AUC_FIRST_TASKS | AUC_FIRST_IMPLIED)) &&
		(first->low <= first->high) && (first->high <= 1024) &&
		(!first->low == !first->high);
	if (!same)
		xfree(first->tres_per_node);
	xfree(text);
	xfree(again);
	return same;
}

/* ---- Updates that are not judged yet ---- */

extern uint64_t auc_id_of(const char *text, size_t len)
{
	uint64_t id = 14695981039346656037ULL; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		id = (id ^ (unsigned char) text[i]) * 1099511628211ULL;
	return id ? id : 1;
}

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
			     const auc_gpus_t *range)
{
	char *text, *other = NULL;

	if (!_has_notes(job_ptr->admin_comment) && (!range || !range->high))
		return;
	if (*tres_per_node &&
	    !xstrcmp(*tres_per_node, job_ptr->tres_per_node) &&
	    (other = auc_range_respelled(*tres_per_node))) {
		xfree(*tres_per_node);
		*tres_per_node = other;
	}
	other = NULL;
	if (range && range->high)
		auc_range_add_note(&other, range);
	text = xstrdup_printf("%016llx,%s",
			      (unsigned long long) _request(job_ptr),
			      other ? other + strlen("auc:") :
			      range ? "gpu=" : "");
	auc_note_set(&job_ptr->admin_comment, AUC_UPDATE_NOTE, text);
	xfree(text);
	xfree(other);
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
	auc_note_drop(comment, AUC_RANGE_NOTE);
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
