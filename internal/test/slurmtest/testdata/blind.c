/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A libaucsched.so for tests that is blind: whatever it is shown, every job waits. The
 * net below it has to catch them all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aucsched.h"

/* More than any test submits. */
#define MOST 4096

static struct aucsched_decision decisions[MOST];

int aucsched_abi(void)
{
	return AUCSCHED_ABI;
}

const char *aucsched_version(void)
{
	return "blind";
}

/* Those that the tests give, and defaults. */
int aucsched_settings(const char *text, struct aucsched_settings *out,
		      char *buf, size_t len)
{
	const char *net = text ? strstr(text, "auc_net_s=") : NULL;

	*out = (struct aucsched_settings) {
		.enabled = 1, .interval = 1, .delay_ms = 1000,
		.deadline_ms = 200, .preempt = 1, .users_share = 100,
		.net_s = net ? atoi(net + 10) : 60,
		.limit = text && strstr(text, "auc_window=5") ? 10 : 700,
		.engine = buf };
	snprintf(buf, len, "deadline_ms=200");
	return AUCSCHED_OK;
}

int aucsched_submission(const struct aucsched_submission *job, struct aucsched_submission_answer *out, char *buf, size_t len)
{
	*out = (struct aucsched_submission_answer) { 0 };
	return job->partition ? AUCSCHED_EINVAL : AUCSCHED_OK;
}

int aucsched_topology(int64_t handle, const char *nodes, uint32_t nodes_len, const char *sizes)
{
	return AUCSCHED_OK;
}

/* So many cores, anywhere. */
int aucsched_shape(int64_t handle, const struct aucsched_numbers *numbers, struct aucsched_shape *out)
{
	*out = (struct aucsched_shape) { .len = 1, .layouts[0] = { .min_nodes = numbers->min_nodes, .max_nodes = numbers->max_nodes } };
	out->layouts[0].cores = numbers->min_cpus > numbers->min_nodes ? numbers->min_cpus : numbers->min_nodes;
	return AUCSCHED_OK;
}

int aucsched_noted(const char *note, uint32_t cpus_per_task, struct aucsched_noted *out)
{
	return 0;
}

int aucsched_input_file(const char *comment, struct aucsched_read *out, char *buf, size_t len)
{
	return AUCSCHED_OK;
}

int64_t aucsched_open(const char *settings, char *err, size_t errlen)
{
	return 1;
}

int aucsched_configure(int64_t handle, const char *settings)
{
	return AUCSCHED_OK;
}

int aucsched_cycle(int64_t handle, const struct aucsched_input *in,
		   struct aucsched_output *out)
{
	struct aucsched_output none = { out->abi, out->size };

	if (in->jobs_len > MOST)
		return AUCSCHED_EFAILED;
	*out = none;
	for (uint32_t i = 0; i < in->jobs_len; i++) {
		memset(&decisions[i], 0, sizeof(decisions[i]));
		decisions[i].why = AUCSCHED_WAITS_LOST;
	}
	out->decisions = decisions;
	out->decisions_len = in->jobs_len;
	out->window = in->jobs_len;
	return AUCSCHED_OK;
}

int aucsched_keep_files(int64_t handle, const char *path, int end)
{
	return AUCSCHED_OK;
}

int aucsched_status(int64_t handle, const struct aucsched_status *status, char *buf, size_t len)
{
	snprintf(buf, len, "{\"time\":%lld,\"interval_s\":1,\"state\":\"%s\",\"overdue\":%llu}\n", (long long) time(NULL),
		 status->state, (unsigned long long) status->overdue);
	return AUCSCHED_OK;
}

int aucsched_shadow(int64_t handle, const struct aucsched_shadow *shadow)
{
	return AUCSCHED_OK;
}

size_t aucsched_last_error(int64_t handle, char *buf, size_t len)
{
	if (len)
		buf[0] = '\0';
	return 0;
}

int aucsched_close(int64_t handle)
{
	return AUCSCHED_OK;
}

int aucsched_handles(void)
{
	return 0;
}
