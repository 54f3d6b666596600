/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Input files of jobs: see input_file.h. */
#include <stdio.h>
#include <string.h>

#include "src/common/slurm_xlator.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#include "aucsched.h"
#include "input_file.h"
#include "note.h"
#include "word.h"
#include "yes_no.h"

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
static const char *_read(word_t text, auc_input_t *input)
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
	why = _read(text, input);
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

extern bool auc_locality_is_on(const char *sched_params)
{
	return auc_yes(sched_params, "auc_locality=", false);
}
