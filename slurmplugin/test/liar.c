/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A library that does what ours must not: a .so of its own, which the engine loads. The settings
 * of aucsched_open() say what it does in each cycle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine.h"

static char does[64];
static struct aucsched_decision decisions[1 << 12];
static struct aucsched_segment segments[1];
static uint32_t victims[1];
static uint64_t files;
static uint32_t told;	/* of so many nodes, where they stand */

int aucsched_abi(void)
{
	return AUCSCHED_ABI;
}

const char *aucsched_version(void)
{
	return "liar";
}

int aucsched_settings(const char *text, struct aucsched_settings *out, char *buf, size_t len)
{
	out->engine = out->said = buf + len;	/* none of it is in buf */
	out->status = "elsewhere";
	return AUCSCHED_OK;
}

int64_t aucsched_open(const char *settings, char *err, size_t errlen)
{
	snprintf(does, sizeof(does), "%s", settings);
	snprintf(err, errlen, "refused");
	return strcmp(does, "refuse") ? 7 : AUCSCHED_EINVAL;
}

int aucsched_configure(int64_t handle, const char *settings)
{
	return strcmp(settings, "refuse") ?
		(aucsched_open(settings, NULL, 0) == 7 ? 0 : AUCSCHED_EINVAL) :
		AUCSCHED_EINVAL;
}

int aucsched_cycle(int64_t handle, const struct aucsched_input *in, struct aucsched_output *out)
{
	memset(decisions, 0, sizeof(decisions));
	for (uint32_t i = 0; i < in->jobs_len; i++)
		decisions[i].why = AUCSCHED_WAITS_FIT;
	memset(segments, 0, sizeof(segments));
	victims[0] = 0;
	out->decisions = decisions;
	out->decisions_len = in->jobs_len;
	out->segments = segments;
	out->victims = victims;
	out->segments_len = out->victims_len = 1;
	out->shift = strcmp(does, "shift") ? 3 : 64;
	if (!strcmp(does, "abort")) {
		fputs("fatal error: all is lost\nand more\n", stderr);
		abort();
	} else if (!strcmp(does, "exit")) {
		exit(5);
	} else if (!strcmp(does, "hang")) {
		pause();
	} else if (!strcmp(does, "fail")) {
		return AUCSCHED_EFAILED;
	} else if (!strcmp(does, "decisions")) {
		out->decisions_len++;
	} else if (!strcmp(does, "many")) {
		out->decisions_len = UINT32_MAX;
	} else if (!strcmp(does, "node")) {
		segments[0].last = in->nodes_len;
	} else if (!strcmp(does, "backwards")) {
		segments[0].first = 1;
	} else if (!strcmp(does, "bin")) {
		segments[0].bin = 200;
	} else if (!strcmp(does, "running")) {
		victims[0] = in->running_len;
	} else if (!strcmp(does, "why")) {
		decisions[0].why = 200;
	} else if (!strcmp(does, "quota")) {
		decisions[0].quota = 1;
	} else if (!strcmp(does, "segments")) {
		decisions[0].first_segment = UINT32_MAX;
		decisions[0].segments = 2;
	} else if (!strcmp(does, "victims")) {
		decisions[0].victims = 2;
	} else if (!strcmp(does, "alternative")) {
		decisions[0].alternative = 9;
	}
	return AUCSCHED_OK;
}

int aucsched_keep_files(int64_t handle, const char *path, int end)
{
	return AUCSCHED_EFAILED;
}

int aucsched_shadow(int64_t handle, const struct aucsched_shadow *shadow)
{
	return AUCSCHED_OK;
}

int aucsched_status(int64_t handle, const struct aucsched_status *status, char *buf, size_t len)
{
	auc_call_t *call = (void *) ((char *) status - offsetof(auc_call_t, status));

	memset(buf, 'x', len);	/* without an end */
	call->buf = (char *) 1;	/* no place to read */
	call->buf_len = SIZE_MAX;
	return AUCSCHED_OK;
}

size_t aucsched_last_error(int64_t handle, char *buf, size_t len)
{
	return snprintf(buf, len, "no luck");
}

int aucsched_submission(const struct aucsched_submission *job, struct aucsched_submission_answer *out, char *buf, size_t len)
{
	if (!strcmp(does, "exit"))
		exit(5);
	memset(buf, 'x', len);
	*out = (struct aucsched_submission_answer) { .comment = buf + 1, .socket = buf + len, .job_comment = (char *) 1, .gres = (char *) job,
						     .admin_comment = buf - 1 };
	if (job->gres)
		memset(&out->gpus, 'x', sizeof(out->gpus));	/* a type without an end */
	return job->change ? AUCSCHED_EINVAL : AUCSCHED_OK;
}

int aucsched_topology(int64_t handle, const char *nodes, uint32_t nodes_len, const char *sizes)
{
	told = nodes_len;
	return !strcmp(nodes, "b\n");
}

int aucsched_shape(int64_t handle, const struct aucsched_numbers *numbers, struct aucsched_shape *out)
{
	memset(out, 0, sizeof(*out));
	out->len = strcmp(does, "layouts") ? 1 : 10;
	out->left = strcmp(does, "word") ? 0 : 100;
	out->switches = told;
	return AUCSCHED_OK;
}

int aucsched_noted(const char *note, uint32_t cpus_per_task, struct aucsched_noted *out)
{
	return strcmp(does, "noted") ? 1 : 9;
}

int aucsched_input_file(const char *comment, struct aucsched_read *out, char *buf, size_t len)
{
	out->file = ++files;
	return snprintf(buf, len, "words") == 5 && strcmp(comment, "bad") ? AUCSCHED_OK : AUCSCHED_EINVAL;
}
