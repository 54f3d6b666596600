/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Notes of alternative requests, and of the first one: see alternative_note.h. */
#include <stdio.h>
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "alternative_note.h"
#include "note.h"
#include "word.h"

extern bool auc_alternative_counts(const auc_alternative_t *a,
				   uint32_t cpus_per_task)
{
	uint64_t each = cpus_per_task ? cpus_per_task : 1, on_node = a->per_node;

	/* So many on each if the tasks are even over the nodes. */
	if (!on_node && (each > 1) && a->min_nodes)
		on_node = (a->tasks + (uint64_t) a->min_nodes - 1) / a->min_nodes;
	return (a->tasks * each <= MOST_CPUS) &&
		(on_node * each <= MOST_CPUS_PER_NODE);
}

/* An alternative is noted as n64,N2-8,t8,gpu:a100:1-3,contiguous; '/' is between two. */
static void _format(char **text, const auc_alternative_t *a)
{
	xstrfmtcat(*text, "%sn%u,N%u-%u", *text ? "/" : "", a->tasks,
		   a->min_nodes, a->max_nodes);
	if (a->per_node)
		xstrfmtcat(*text, ",t%u", a->per_node);
	if (a->high)
		xstrfmtcat(*text, ",gpu:%s%s%u-%u", a->type,
			   a->type[0] ? ":" : "", a->low, a->high);
	if (a->contiguous)
		xstrcat(*text, ",contiguous");
}

extern void auc_alternatives_set_note(char **comment,
				      const auc_alternative_t *alternatives,
				      int len)
{
	char *text = NULL;

	for (int i = 0; i < len; i++)
		_format(&text, &alternatives[i]);
	if (text)
		auc_note_set(comment, AUC_ALTERNATIVES_NOTE, text);
	else
		auc_note_drop(comment, AUC_ALTERNATIVES_NOTE);
	xfree(text);
}

/* The part up to a separator; the rest begins behind it. */
static word_t _cut(word_t *rest, char separator)
{
	const char *at = rest->len ? memchr(rest->at, separator, rest->len) :
		NULL;
	word_t part = *rest;

	if (at)
		part.len = at - rest->at;
	*rest = auc_after(*rest, part.len + (at ? 1 : 0));
	return part;
}

/* [TYPE:]LOW-HIGH */
static bool _read_gpus(word_t text, auc_alternative_t *a)
{
	word_t rest = text, type = _cut(&rest, ':');

	if (type.len == text.len)
		return auc_range_of(text, MOST_GPUS, &a->low, &a->high);
	if (!type.len || (type.len >= AUC_TYPE_SIZE))
		return false;
	memcpy(a->type, type.at, type.len);
	a->type[type.len] = '\0';
	return auc_range_of(rest, MOST_GPUS, &a->low, &a->high);
}

static bool _read_field(word_t field, auc_alternative_t *a)
{
	if (auc_is(field, "contiguous"))
		return a->contiguous = true;
	if (auc_begins(field, "gpu:"))
		return _read_gpus(auc_after(field, 4), a);
	if (auc_begins(field, "n"))
		return auc_number(auc_after(field, 1), MOST_CPUS, &a->tasks);
	if (auc_begins(field, "t"))
		return auc_number(auc_after(field, 1), MOST_PER_NODE,
				  &a->per_node);
	return false;
}

/* MIN-MAX, where a MAX of 0 stands for any. */
static bool _read_nodes(word_t field, auc_alternative_t *a)
{
	word_t rest = auc_after(field, 1), low = _cut(&rest, '-');

	return auc_number(low, MOST_NODES, &a->min_nodes) &&
		(auc_is(rest, "0") || (auc_number(rest, MOST_NODES, &a->max_nodes) &&
				    (a->min_nodes <= a->max_nodes)));
}

static bool _read(word_t text, auc_alternative_t *a)
{
	memset(a, 0, sizeof(*a));
	while (text.len) {
		word_t field = _cut(&text, ',');

		if (auc_begins(field, "N") ? !_read_nodes(field, a) :
		    !_read_field(field, a))
			return false;
	}
	return a->tasks && a->min_nodes && (a->tasks >= a->min_nodes) &&
		(!a->per_node || ((a->min_nodes == a->max_nodes) &&
				  (a->tasks == (uint64_t) a->min_nodes * a->per_node)));
}

extern int auc_alternatives_find_note(const char *comment,
				      auc_alternative_t *alternatives)
{
	word_t rest = { 0 };
	int len = 0;

	rest.at = auc_note_find(comment, AUC_ALTERNATIVES_NOTE, &rest.len);
	while (rest.at && rest.len) {
		if ((len == AUC_ALTERNATIVES) ||
		    !_read(_cut(&rest, '/'), &alternatives[len]))
			return 0;
		len++;
	}
	return len;
}

static char *_format_first(const auc_first_t *first)
{
	return xstrdup_printf("n%u,N%u-%u,c%u-%u,t%u,p%u,k%u,s%u,g%u-%u:%s",
			      first->tasks, first->min_nodes, first->max_nodes,
			      first->min_cpus, first->max_cpus,
			      first->ntasks_per_node, first->cpus_per_node,
			      first->contiguous, first->flags, first->low,
			      first->high, first->tres_per_node ?
			      first->tres_per_node : "");
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
	(void) sscanf(text, "n%u,N%u-%u,c%u-%u,t%u,p%u,k%u,s%u,g%u-%u:%n",
		      &first->tasks, &first->min_nodes, &first->max_nodes,
		      &first->min_cpus, &first->max_cpus,
		      &first->ntasks_per_node, &first->cpus_per_node,
		      &first->contiguous, &first->flags, &first->low,
		      &first->high, &at);
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
