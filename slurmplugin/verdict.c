/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the auction says of a waiting job: see verdict.h. */
#include <string.h>

#include "note.h"
#include "verdict.h"

#define KEY "auc:why="

/* Winners that are named, and looks for them in a cycle. */
#define MOST_NAMED 4
#define MOST_LOOKS 100000

static bool quiet;

extern void auc_verdict_quiet(bool on)
{
	quiet = on;
}

/* The part " NAME..." of a note up to the next blank; NULL: none. */
static const char *_part(const char *note, size_t len, const char *name,
			 size_t *part_len)
{
	size_t name_len = strlen(name);

	for (size_t i = 0; i + name_len <= len; i++) {
		if (strncmp(note + i, name, name_len))
			continue;
		*part_len = name_len;
		while ((i + *part_len < len) && (note[i + *part_len] != ' '))
			(*part_len)++;
		return note + i;
	}
	return NULL;
}

/* Whether a note says the word and the detail, whatever comes behind. */
static bool _says(const char *note, size_t len, const char *text)
{
	size_t text_len = strlen(text);

	return (len > text_len) && !strncmp(note, text, text_len) &&
		(!strncmp(note + text_len, " since=", 7) ||
		 !strncmp(note + text_len, " lost=", 6));
}

/* IN lost - " lost=...", or NULL: what an older note says of that */
static void _write(job_record_t *job_ptr, const char *text, const char *lost)
{
	size_t len, part_len;
	const char *note = auc_note_find(job_ptr->system_comment, KEY, &len);
	const char *part = NULL;
	char *value;

	if (quiet || (note && _says(note, len, text) && !lost))
		return;
	value = xstrdup(text);
	if (lost)
		xstrcat(value, lost);
	else if (note && (part = _part(note, len, " lost=", &part_len)))
		xstrncat(value, part, part_len);
	xstrfmtcat(value, " since=%lld", (long long) time(NULL));
	auc_note_set(&job_ptr->system_comment, KEY, value);
	xfree(value);
	last_job_update = time(NULL);
}

extern void auc_verdict_tell(job_record_t *job_ptr, const char *word,
			     const char *detail)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s%s", word, detail ? " " : "",
		 detail ? detail : "");
	_write(job_ptr, text, NULL);
}

static bool _takes_of(const auc_snapshot_t *s, const struct aucsched_output *out,
		      uint32_t winner, int32_t mask)
{
	const struct aucsched_decision *d = &out->decisions[winner];
	const uint64_t *words;

	if (mask < 0)
		return true;
	words = s->masks + (size_t) mask * s->in.mask_words;
	for (uint32_t i = 0; i < d->segments; i++) {
		const struct aucsched_segment *segment =
			&out->segments[d->first_segment + i];

		for (uint32_t n = segment->first; n <= segment->last; n++)
			if (words[n / 64] >> (n % 64) & 1)
				return true;
	}
	return false;
}

/* Who loses is told of others' jobs only where users may see these. */
static bool _may_name(const job_record_t *job_ptr, uint32_t winner)
{
	const job_record_t *other = find_job_record(winner);

	if (!(slurm_conf.private_data & PRIVATE_DATA_JOBS))
		return true;
	return other && (other->user_id == job_ptr->user_id);
}

extern void auc_verdict_lost(job_record_t *job_ptr, const auc_snapshot_t *s,
			     const struct aucsched_output *out, uint32_t row,
			     auc_winners_t *winners)
{
	char *lost = NULL;
	int named = 0;
	uint32_t last = 0;
	bool others = false;

	for (uint32_t i = 0; !quiet && (i < s->in.jobs_len); i++) {
		if (out->decisions[i].why != AUCSCHED_STARTS)
			continue;
		if (++winners->looks > MOST_LOOKS)
			break;
		if (s->rows[i].job_id == last)	/* a task of an array that is named */
			continue;
		if ((s->rows[i].job_id == job_ptr->job_id) ||
		    !_takes_of(s, out, i, s->jobs[row].mask))
			continue;
		if ((named == MOST_NAMED) || !_may_name(job_ptr, s->rows[i].job_id)) {
			others = true;
			continue;
		}
		xstrfmtcat(lost, "%s%u", lost ? "," : " lost=",
			   s->rows[i].job_id);
		last = s->rows[i].job_id;
		named++;
	}
	if (others)
		xstrfmtcat(lost, "%sothers", lost ? "," : " lost=");
	if (lost)
		xstrfmtcat(lost, "@%lld", (long long) time(NULL));
	_write(job_ptr, "lost", lost);
	xfree(lost);
}

extern void auc_verdict_drop(job_record_t *job_ptr)
{
	size_t len;

	if (quiet || !auc_note_find(job_ptr->system_comment, KEY, &len))
		return;
	auc_note_drop(&job_ptr->system_comment, KEY);
	last_job_update = time(NULL);
}
