/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generic resources: see vslurmd.h. The format is that of Slurm's gres_node_config_pack(),
 * which knows the node alone on which it runs.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "vslurmd.h"

/* One of NAME[:TYPE][:COUNT], COUNT with K, M, G, and perhaps (SOCKETS). */
typedef struct {
	char *name, *type;
	uint64_t count;
} item_t;

static bool _count(const char *text, uint64_t *count)
{
	static const char units[] = "kmgtp";
	const char *unit;
	char *end;

	if (!isdigit((unsigned char) *text))
		return false;
	*count = strtoull(text, &end, 10);
	if (*end && (unit = strchr(units, tolower((unsigned char) *end)))) {
		*count <<= 10 * (unit - units + 1);
		end++;
	}
	return !*end;
}

static item_t _parse(char *text)
{
	item_t item = { .count = 1 };
	char *end = strchr(text, '('), *word, *rest = NULL;

	if (end)
		*end = '\0';
	item.name = strtok_r(text, ":", &rest);
	while ((word = strtok_r(NULL, ":", &rest)))
		if (!_count(word, &item.count) && xstrcmp(word, "no_consume"))
			item.type = word;
	return item;
}

/* GPUs are files, of which each has its place in a bitmap; others are just counted. */
static uint32_t _flags(const item_t *item)
{
	return (xstrcmp(item->name, "gpu") ? 0 : GRES_CONF_HAS_FILE) |
		(item->type ? GRES_CONF_HAS_TYPE : 0);
}

static void _pack(const item_t *item, uint32_t cpus, buf_t *buffer)
{
	pack32(GRES_MAGIC, buffer);
	pack64(item->count, buffer);
	pack32(cpus, buffer);
	pack32(_flags(item), buffer);
	pack32(gres_build_id(item->name), buffer);
	packnull(buffer);			/* cores */
	packnull(buffer);			/* links */
	packstr(item->name, buffer);
	packstr(item->type, buffer);
	packnull(buffer);			/* unique_id */
}

/* Commas in parentheses are no separators. RET where the next item begins, or NULL */
static char *_cut(char *text)
{
	int depth = 0;

	for (; *text; text++) {
		if (*text == '(')
			depth++;
		else if (*text == ')')
			depth--;
		else if ((*text == ',') && (depth <= 0)) {
			*text = '\0';
			return text + 1;
		}
	}
	return NULL;
}

extern void gres_pack(const char *gres, uint32_t cpus, buf_t *buffer)
{
	char *copy = xstrdup(gres), *next = NULL;
	uint32_t count_at;
	uint16_t count = 0;

	pack16(SLURM_PROTOCOL_VERSION, buffer);
	count_at = get_buf_offset(buffer);
	pack16(0, buffer);
	for (char *at = copy; at; at = next) {
		item_t item;

		next = _cut(at);
		item = _parse(at);
		if (!item.name)
			continue;
		_pack(&item, cpus, buffer);
		count++;
	}
	if (count) {
		uint32_t end = get_buf_offset(buffer);

		set_buf_offset(buffer, count_at);
		pack16(count, buffer);
		set_buf_offset(buffer, end);
	}
	xfree(copy);
}
