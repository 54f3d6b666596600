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

	*error = xstrdup_printf("%s: %s (GPUs a node are a number, or a range LOW-HIGH such as gpu:1-3)",
				element, what);
	xfree(element);
	return AUC_RANGE_BAD;
}

static auc_range_t _parse_element(const char *text, const char *end,
				  const char *count,
				  bool (*is_type)(const char *name),
				  uint32_t *low, uint32_t *high, char **error)
{
	const char *dash = memchr(count, '-', end - count);
	char *name;
	bool type;

	if (!dash)
		return AUC_RANGE_NONE;
	name = xstrndup(count, end - count);
	type = is_type && is_type(name);
	xfree(name);
	if (type)
		return AUC_RANGE_NONE;
	if (!_number(count, dash - count, low) ||
	    !_number(dash + 1, end - dash - 1, high))
		return _bad(text, end, "neither a range nor a GPU type of this cluster",
			    error);
	if (!*low)
		return _bad(text, end, "the range must begin at 1 or more", error);
	if (*low > *high)
		return _bad(text, end, "the range ends below its beginning", error);
	if (*high > MOST)
		return _bad(text, end, "no node has so many GPUs", error);
	return AUC_RANGE_OK;
}

extern auc_range_t auc_range_parse(const char *text,
				   bool (*is_type)(const char *name),
				   uint32_t *low, uint32_t *high, char **error)
{
	auc_range_t found = AUC_RANGE_NONE;
	const char *end;

	for (; text && *text; text = *end ? end + 1 : end) {
		const char *after, *count;
		auc_range_t here;

		end = _element_end(text);
		if (!(after = _after_gpu(text, end)) ||
		    !(count = _count_part(after, end)))
			continue;
		here = _parse_element(text, end, count, is_type, low, high,
				      error);
		if (here == AUC_RANGE_BAD)
			return here;
		if (here == AUC_RANGE_NONE)
			continue;
		if (found == AUC_RANGE_OK)
			return _bad(text, end, "only one range of GPUs can be asked for",
				    error);
		found = here;
	}
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

extern bool auc_range_find_note(const char *comment, uint32_t *low,
				uint32_t *high)
{
	size_t len;
	const char *note = auc_note_find(comment, AUC_RANGE_NOTE, &len), *dash;

	if (!note)
		return false;
	dash = memchr(note, '-', len);
	return dash && _number(note, dash - note, low) &&
		_number(dash + 1, note + len - dash - 1, high) && *low &&
		(*low <= *high) && (*high <= MOST);
}

extern void auc_range_drop_note(char **comment)
{
	auc_note_drop(comment, AUC_RANGE_NOTE);
}

extern void auc_range_add_note(char **comment, uint32_t low, uint32_t high)
{
	char range[32];

	snprintf(range, sizeof(range), "%u-%u", low, high);
	auc_note_set(comment, AUC_RANGE_NOTE, range);
}
