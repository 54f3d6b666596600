/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Parts of a text that are looked at where they are, and the numbers in them: for reading
 * alternative requests.
 */
#ifndef AUC_WORD_H
#define AUC_WORD_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What the auction counts with, and fields of a job's record hold. */
#define MOST_NODES 1048576
#define MOST_PER_NODE 65000
#define MOST_GPUS 15
#define MOST_CPUS 2147483647
#define MOST_CPUS_PER_NODE 65535

typedef struct {
	const char *at;
	size_t len;
} word_t;

static inline bool auc_blank(char c)
{
	return isspace((unsigned char) c);
}

static inline bool auc_is(word_t word, const char *text)
{
	return (word.len == strlen(text)) &&
		!strncmp(word.at, text, word.len);
}

static inline bool auc_begins(word_t word, const char *text)
{
	return (word.len >= strlen(text)) &&
		!strncmp(word.at, text, strlen(text));
}

static inline word_t auc_after(word_t word, size_t len)
{
	return (word_t) { word.at + len, word.len - len };
}

/* A number from 1 to most. */
static inline bool auc_number(word_t word, uint32_t most, uint32_t *out)
{
	uint32_t value = 0;

	if (!word.len || (word.len > 9))
		return false;
	for (size_t i = 0; i < word.len; i++) {
		if (!isdigit((unsigned char) word.at[i]))
			return false;
		value = value * 10 + (word.at[i] - '0');
	}
	*out = value;
	return value && (value <= most);
}

/* NUMBER or LOW-HIGH */
static inline bool auc_range_of(word_t word, uint32_t most, uint32_t *low,
				uint32_t *high)
{
	const char *dash = word.len ? memchr(word.at, '-', word.len) : NULL;
	size_t len = dash ? dash - word.at : word.len;

	if (!auc_number((word_t) { word.at, len }, most, low))
		return false;
	*high = *low;
	return !dash || (auc_number(auc_after(word, len + 1), most, high) &&
			 (*low <= *high));
}

#endif
