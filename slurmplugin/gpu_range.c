/* SPDX-License-Identifier: GPL-2.0-or-later */

/* GPU ranges: see gpu_range.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "gpu_range.h"
#include "note.h"

/* More GPUs than any node has; keeps numbers in range. */
#define MOST 1024

static bool _number(const char *text, size_t len, uint32_t *out)
{
	uint32_t value = 0;

	if (!len || (len > 9))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char) text[i]))
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*out = value;
	return true;
}

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

	if (!_number(count, dash - count, &range->low) ||
	    !_number(dash + 1, end - dash - 1, &range->high))
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
	return dash && _number(note, dash - note, &range->low) &&
		_number(dash + 1, note + len - dash - 1, &range->high) &&
		range->low && (range->low <= range->high) &&
		(range->high <= MOST);
}

extern bool auc_range_find_note(const char *comment, uint32_t *low,
				uint32_t *high)
{
	auc_gpus_t range;

	if (!auc_range_read_note(comment, &range))
		return false;
	*low = range.low;
	*high = range.high;
	return true;
}

extern void auc_range_drop_note(char **comment)
{
	auc_note_drop(comment, AUC_RANGE_NOTE);
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
