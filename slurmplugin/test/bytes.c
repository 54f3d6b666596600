/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Any bytes, for whatever reads what users or administrators write. */
#include <stdlib.h>
#include <string.h>

#include "../request.h"
#include "../save.h"
#include "../library.h"
#include "../common.h"
#include "units.h"

static void _fuzz_update(const char *text)
{
	__typeof__(*((job_record_t *) 0)->details) details = { 0 };
	job_record_t job = { .details = &details,
		.admin_comment = xstrdup_printf("auc:gpu=1-3;" AUC_UPDATE_NOTE "%s", text),
		.tres_per_node = xstrdup(text) };
	auc_gpus_t range;

	(void) auc_update_settle(&job);
	if (auc_range_read_note(job.admin_comment, &range))
		CHECK(units_sound_range(&range), "%s", job.admin_comment);
	CHECK(!auc_update_settle(&job) || strchr(text, ';'), "%s", text);
	xfree(job.admin_comment);
	xfree(job.tres_per_node);
}

static void _fuzz_words(const char *text)
{
	auc_run_t run;

	(void) auc_run_parse(text, &run);
	(void) auc_yes(text, "a=", true);
}

static void _fuzz_settings(const char *text)
{
	char *params = xstrdup_printf("auc_interval=%s,auc_%s,auc_engine=%s,auc_library=/%s",
				      text, text, text, text);
	auc_settings_t s = units_settings(params);

	CHECK(s.engine && (s.interval >= 1) && (s.interval <= 3600) &&
	      (s.limit >= 1), "%s", params);
	xfree(params);
}

/* Any bytes, for whatever reads what users or administrators write. */
static void _fuzz_bytes(unsigned seed, int rounds)
{
	srand(seed);
	for (int i = 0; i < rounds; i++) {
		char text[200], *script;
		int len = rand() % sizeof(text);
		int kind = rand() % 3;

		for (int k = 0; k < len; k++)
			text[k] = kind == 0 ? 1 + rand() % 255 : kind == 1 ?
				"0123456789-:;,=/nNtg \n#"[rand() % 23] :
				' ' + rand() % 95;
		text[len] = '\0';
		script = xstrdup_printf("#AUCSCHED --alternative %s", text);
		units_fuzz_note(script);
		units_fuzz_note(text[0] ? text : "x");
		xfree(script);
		units_fuzz_range(text);
		_fuzz_words(text);
		_fuzz_update(text);
		if (!(i % 20))
			_fuzz_settings(text);
	}
}

extern void test_bytes(unsigned seed)
{
	_fuzz_bytes(seed, 20000);
}
