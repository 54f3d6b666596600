/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Updates of jobs: what becomes of their notes. */
#include "../request.h"
#include "../select_hooks.h"
#include "units.h"

typedef struct {
	const char *comment;	/* of the job before, whose request is gres:gpu:1 of 8 tasks */
	const char *tres;	/* of the update, NULL: none */
	const auc_gpus_t *update;
	bool taken;		/* slurmctld takes it */
	uint32_t tasks;		/* what the record has then */
	const char *want;	/* the comment afterwards */
	const char *want_tres;
} update_case_t;

static const auc_gpus_t sets = { .low = 2, .high = 4, .type = "a100" }, drops;

static const update_case_t updates[] = {
	/* Refused, or one that changes nothing. */
	{ "x;auc:alt=n1,N1-0;auc:gpu=1-3", "gres:gpu:2", &sets, false, 8, "x;auc:alt=n1,N1-0;auc:gpu=1-3", "gres:gpu:1" },
	{ "auc:gpu=1-3", "gres:gpu:1", &sets, false, 8, "auc:gpu=1-3", "gres:gpu:1" },
	{ "auc:gpu=1-3", "gres:gpu:4", &drops, false, 8, "auc:gpu=1-3", "gres:gpu:1" },
	{ "auc:alt=n1,N1-0", NULL, NULL, true, 8, "auc:alt=n1,N1-0", "gres:gpu:1" },
	{ "x", "gres:gpu:2", &sets, false, 8, "x", "gres:gpu:1" },
	{ NULL, "gres:gpu:2", &sets, false, 8, NULL, "gres:gpu:1" },
	/* Taken. */
	{ "x;auc:alt=n1,N1-0;auc:gpu=1-3", "gres:gpu:2", &sets, true, 8, "x;auc:gpu=a100:2-4", "gres:gpu:2" },
	{ "auc:gpu=1-3", "gres:gpu:1", &sets, true, 8, "auc:gpu=a100:2-4", "gres:gpu:1" },
	{ "auc:gpu=1-3", "gres:gpu:1", &drops, true, 8, NULL, "gres:gpu:1" },
	{ "auc:gpu=1-3;auc:first=y", "", &drops, true, 8, NULL, "" },
	{ "auc:alt=n1,N1-0;auc:gpu=1-3", NULL, NULL, true, 9, "auc:gpu=1-3", "gres:gpu:1" },
	{ "auc:first=y", NULL, NULL, true, 9, NULL, "gres:gpu:1" },
	{ NULL, "gres:gpu:2", &sets, true, 8, "auc:gpu=a100:2-4", "gres:gpu:2" },
	{ "y", "gres:gpu:2", &drops, true, 8, "y", "gres:gpu:2" },
};

static void _test_update(const update_case_t *u)
{
	__typeof__(*((job_record_t *) 0)->details) details = { .num_tasks = 8 };
	job_record_t job = { .details = &details,
		.admin_comment = xstrdup(u->comment),
		.tres_per_node = xstrdup("gres:gpu:1") };
	char *tres = xstrdup(u->tres);

	auc_update_begin(&job, &tres, u->update);
	if (u->taken) {
		details.num_tasks = u->tasks;
		if (tres) {
			xfree(job.tres_per_node);
			job.tres_per_node = tres;
			tres = NULL;
		}
	}
	(void) auc_update_settle(&job);
	CHECK(!xstrcmp(job.admin_comment, u->want), "%s and %s: %s", u->comment,
	      u->tres, job.admin_comment);
	CHECK(!xstrcmp(job.tres_per_node, u->want_tres), "%s and %s: %s",
	      u->comment, u->tres, job.tres_per_node);
	CHECK(!auc_update_settle(&job), "only once");
	xfree(job.admin_comment);
	xfree(job.tres_per_node);
	xfree(tres);
}

static void _test_updates(void)
{
	for (int i = 0; i < ARRAY_SIZE(updates); i++)
		_test_update(&updates[i]);
}

/* A thread that serves others afterwards has forgotten the job that it took in. */
static void _test_immediate(void)
{
	static const struct {
		time_t since, submitted, now;
		bool want;
	} cases[] = {
		{ 0, 100, 100, false }, { 100, 100, 100, true },
		{ 100, 101, 101, true }, { 100, 99, 100, false },
		{ 100, 100, 102, false }, { 100, 103, 103, false },
		{ 100, 50, 101, false }, { 100, 0, 0, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK(auc_is_immediate(cases[i].since, cases[i].submitted,
				       cases[i].now) == cases[i].want, "%d", i);
}

extern void test_updates(void)
{
	_test_updates();
	_test_immediate();
}
