/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The library that was loaded. */
#include <stdio.h>
#include <string.h>

#include "../library.h"
#include "../settings.h"
#include "units.h"

/* What was loaded stays, whatever the settings say by then. */
static void _test_library(void)
{
	static const struct {
		const char *asked, *now;
		const char *words[3];	/* NULL: nothing is said */
	} cases[] = {
		{ NULL, NULL, { NULL } }, { "/a", "/a", { NULL } },
		{ NULL, "/nonexistent.so", { "auc_library=/nonexistent.so is not", "/loaded.so stays until slurmctld is restarted", "No such file" } },
		{ "/a", "/dev/null", { "auc_library=/dev/null is not", "restarted, which alone can load another", "" } },
		{ "/a", NULL, { "auc_library=(none) is not", "/loaded.so stays", "" } },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		auc_library_t library = { .handle = &library,
			.path = xstrdup("/loaded.so"), .version = "1",
			.asked = xstrdup(cases[i].asked) };
		char *params = cases[i].now ?
			xstrdup_printf("auc_library=%s", cases[i].now) : NULL;
		char *words = auc_library_differs(&library, cases[i].now), *why;

		CHECK(!words == !cases[i].words[0], "%s: %s", cases[i].now, words);
		for (int k = 0; words && (k < 3); k++)
			CHECK(strstr(words, cases[i].words[k]), "%s", words);
		CHECK(!auc_library_load(&library, params, &why) &&
		      (library.other == !!words), "%s", cases[i].now);
		xfree(params);
		xfree(words);
		xfree(library.path);
		xfree(library.asked);
	}
}

extern void test_library(void)
{
	_test_library();
}
