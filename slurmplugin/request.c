/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aucsched.h"
#include "common.h"
#include "request.h"
#include "src/common/macros.h"
#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* ---- GPU ranges ---- */

/* More GPUs than any node has; keeps numbers in range. */
#define MOST 1024

/* The end of the element that begins at text. */
static const char *_element_end(const char *text)
{
	return text + strcspn(text, ",");
}

/* Past "gres:", "gres/" and the like; NULL if the element is not a gpu. */
static const char *_after_gpu(const char *text, const char *end)
{
	if (((end - text) > 5) && (!strncmp(text, "gres:", 5) ||
				   !strncmp(text, "gres/", 5)))
		text += 5;
	if (((end - text) < 3) || strncmp(text, "gpu", 3))
		return NULL;
	text += 3;
	if ((text == end) || (*text == ':') || (*text == '='))
		return text;
	return NULL;
}

/* The part behind the last ':' or '=' of a GPU element, NULL if it has none. */
static const char *_count_part(const char *after, const char *end)
{
	for (const char *at = end; at > after; at--)
		if ((at[-1] == ':') || (at[-1] == '='))
			return at;
	return NULL;
}

static auc_range_t _bad(const char *text, const char *end, const char *what,
			char **error)
{
	char *element = xstrndup(text, end - text);

	*error = xstrdup_printf("%s: %s (GPUs a node are a number, or a range LOW-HIGH such as gpu:1-3 or gpu:a100:1-3)",
				element, what);
	xfree(element);
	return AUC_RANGE_BAD;
}

/* The name between "gpu:" and the count; false if that is none. */
static bool _read_type(const char *after, const char *count, char *type)
{
	size_t len = (count > after + 1) ? count - after - 2 : 0;

	if (count <= after + 1) {
		type[0] = '\0';
		return true;
	}
	if (!len || (len >= AUC_TYPE_SIZE))
		return false;
	memcpy(type, after + 1, len);
	type[len] = '\0';
	return !strpbrk(type, ":=;/ ");
}

static bool _is_name(const char *count, const char *end,
		     bool (*is_type)(const char *name))
{
	char *name = xstrndup(count, end - count);
	bool is = is_type && is_type(name);

	xfree(name);
	return is;
}

/* RET NULL, or what is wrong with the range behind a type, or without one */
static const char *_read_range(const char *after, const char *count,
			       const char *end, auc_gpus_t *range)
{
	const char *dash = memchr(count, '-', end - count);

	if (!auc_digits((word_t) { count, dash - count }, &range->low) ||
	    !auc_digits((word_t) { dash + 1, end - dash - 1 }, &range->high))
		return "neither a range nor a GPU type of this cluster";
	if (!_read_type(after, count, range->type))
		return "what is before the range is no GPU type";
	if (!range->low)
		return "the range must begin at 1 or more";
	if (range->low > range->high)
		return "the range ends below its beginning";
	if (range->high > MOST)
		return "no node has so many GPUs";
	return NULL;
}

static auc_range_t _parse_element(const char *text, const char *end,
				  const char *after, const char *count,
				  bool (*is_type)(const char *name),
				  auc_gpus_t *range, char **error)
{
	bool typed = count > after + 1;
	const char *why;

	if (!memchr(count, '-', end - count) ||
	    (!typed && _is_name(count, end, is_type)))
		return AUC_RANGE_NONE;
	if (!(why = _read_range(after, count, end, range)))
		return AUC_RANGE_OK;
	if (!typed && !is_type)
		return AUC_RANGE_NONE;	/* it may be a type's name */
	return _bad(text, end, why, error);
}

extern auc_range_t auc_range_parse(const char *text,
				   bool (*is_type)(const char *name),
				   auc_gpus_t *range, char **error)
{
	auc_range_t found = AUC_RANGE_NONE;
	const char *end, *all = text;
	int elements = 0;

	for (; text && *text; text = *end ? end + 1 : end) {
		const char *after, *count;
		auc_gpus_t here = { 0 };
		auc_range_t what;

		end = _element_end(text);
		if (!(after = _after_gpu(text, end)))
			continue;
		elements++;
		if (!(count = _count_part(after, end)))
			continue;
		what = _parse_element(text, end, after, count, is_type, &here,
				      error);
		if (what == AUC_RANGE_BAD)
			return what;
		if (what == AUC_RANGE_OK) {
			found = what;
			*range = here;
		}
	}
	if ((found == AUC_RANGE_OK) && (elements > 1))
		return _bad(all, all + strlen(all), "a range of GPUs can't be asked for beside other GPUs",
			    error);
	return found;
}

/* Whether what stands for the count is one: digits and dashes. */
static bool _is_count(const char *count, const char *end)
{
	if (count == end)
		return false;
	for (const char *at = count; at < end; at++)
		if (!isdigit((unsigned char) *at) && (*at != '-'))
			return false;
	return true;
}

extern char *auc_range_with_count(const char *text, uint32_t count)
{
	char *out = NULL;
	const char *end;
	bool any = false;

	for (; text && *text; text = *end ? end + 1 : end) {
		const char *after, *part;

		end = _element_end(text);
		if (out)
			xstrcatchar(out, ',');
		if (!(after = _after_gpu(text, end))) {
			xstrncat(out, text, end - text);
			continue;
		}
		any = true;
		part = _count_part(after, end);
		if (part && _is_count(part, end)) {
			xstrncat(out, text, part - text);
			xstrfmtcat(out, "%u", count);
		} else {
			xstrncat(out, text, end - text);
			xstrfmtcat(out, ":%u", count);
		}
	}
	if (!any)
		xfree(out);
	return out;
}

/* The number of the first GPU element that has one; NULL: none has. */
static const char *_first_count(const char *text)
{
	const char *end;

	for (; text && *text; text = *end ? end + 1 : end) {
		const char *after, *count;

		end = _element_end(text);
		if ((after = _after_gpu(text, end)) &&
		    (count = _count_part(after, end)) && _is_count(count, end))
			return count;
	}
	return NULL;
}

extern char *auc_range_respelled(const char *text)
{
	const char *count = _first_count(text);

	if (!count || (*count == '0') || (*count == '-'))
		return NULL;
	return xstrdup_printf("%.*s0%s", (int) (count - text), text, count);
}

extern char *auc_range_plain(const char *text)
{
	const char *count = _first_count(text);

	if (!count || (count[0] != '0') || !isdigit((unsigned char) count[1]))
		return NULL;
	return xstrdup_printf("%.*s%s", (int) (count - text), text, count + 1);
}

extern bool auc_range_read_note(const char *comment, auc_gpus_t *range)
{
	size_t len;
	const char *note = auc_note_find(comment, AUC_RANGE_NOTE, &len);
	const char *colon, *dash;

	memset(range, 0, sizeof(*range));
	if (!note)
		return false;
	if ((colon = memchr(note, ':', len))) {
		size_t type = colon - note;

		if (!type || (type >= AUC_TYPE_SIZE))
			return false;
		memcpy(range->type, note, type);
		if (strpbrk(range->type, "=,/ "))
			return false;
		note += type + 1;
		len -= type + 1;
	}
	dash = memchr(note, '-', len);
	return dash && auc_digits((word_t) { note, dash - note }, &range->low) &&
		auc_digits((word_t) { dash + 1, note + len - dash - 1 },
			   &range->high) &&
		range->low && (range->low <= range->high) &&
		(range->high <= MOST);
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
	const char *end;

	for (; list && *list; list = *end ? end + 1 : end) {
		const char *after, *count;

		end = _element_end(list);
		if (!(after = _after_gpu(list, end)) ||
		    !(count = _count_part(after, end)))
			continue;
		if (!_read_type(after, _is_count(count, end) ? count : end + 1,
				range.type))
			range.type[0] = '\0';
	}
	auc_range_add_note(comment, &range);
}

/* ---- Notes of alternative requests, and of the first one ---- */

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

/*
 * An alternative is noted as n64,N2-8,t8,gpu:a100:1-3,contiguous; '/' is between two. The library, which
 * reads scripts, writes the note.
 */

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

/* ---- Input files of jobs ---- */

/* Longer names are cut in a message. */
#define SHOWN 200

extern uint64_t auc_id_of(const char *text, size_t len)
{
	uint64_t id = 14695981039346656037ULL; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		id = (id ^ (unsigned char) text[i]) * 1099511628211ULL;
	return id ? id : 1;
}

/* NUMBER, or NUMBER and K, M, G or T, the powers of 1024. */
static bool _read_size(word_t size, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit = NULL;
	int shift = 0;

	if (size.len &&
	    (unit = memchr(units, toupper((unsigned char) size.at[size.len - 1]), 4))) {
		shift = 10 * (unit - units + 1);
		size.len--;
	}
	*bytes = 0;
	for (size_t i = 0; i < size.len; i++) {
		if (!isdigit((unsigned char) size.at[i]))
			return false;
		*bytes = *bytes * 10 + (size.at[i] - '0');
		if (*bytes > (AUCSCHED_MAX_FILE >> shift))
			return false;
	}
	*bytes <<= shift;
	return *bytes;
}

/* The same file for all who name it: no path that depends on where they are. */
static bool _is_path(word_t path)
{
	if (path.len && (path.at[0] == '/'))
		return true;
	for (size_t i = 1; i + 3 <= path.len; i++)
		if (!strncmp(path.at + i, "://", 3))
			return true;
	return false;
}

/* RET NULL, or what is wrong with PATH:SIZE */
static const char *_read_file(word_t text, auc_input_t *input)
{
	word_t path = text, size = { 0 };

	while (path.len && (path.at[path.len - 1] != ':'))
		path.len--;
	if (!path.len)
		return "must be PATH:SIZE";
	size = auc_after(text, path.len);
	path.len--;
	if (!_is_path(path))
		return "its path must begin with / or be a URL";
	if (!_read_size(size, &input->bytes))
		return "its size must be a number of bytes above 0, or with K, M, G or T";
	input->file = auc_id_of(path.at, path.len);
	return NULL;
}

extern auc_input_found_t auc_input_parse(const char *comment,
					 auc_input_t *input, char **error)
{
	word_t text = { 0 }, second = { 0 };
	const char *why;

	if (!(text.at = auc_note_find(comment, AUC_INPUT_NOTE, &text.len)))
		return AUC_INPUT_NONE;
	why = _read_file(text, input);
	if (!why && text.at[text.len]) {
		second.at = auc_note_find(text.at + text.len + 1,
					  AUC_INPUT_NOTE, &second.len);
		if (second.at) {
			text = second;
			why = "is a second input; name the largest one alone";
		}
	}
	if (!why)
		return AUC_INPUT_OK;
	if (error)
		*error = xstrdup_printf("aucsched: --comment: input=%.*s: %s",
					(int) MIN(text.len, SHOWN), text.at, why);
	return AUC_INPUT_BAD;
}

/* ---- Updates that are not judged yet ---- */

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
