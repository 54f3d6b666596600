/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The library that was loaded, and its worker. */
#include <stdio.h>
#include <string.h>

#include "../library.h"
#include "../settings.h"
#include "../status.h"
#include "units.h"

static int _configure(int64_t handle, const char *settings)
{
	return settings ? AUCSCHED_EINVAL : 0;
}

static size_t _fault(int64_t handle, char *text, size_t size)
{
	return snprintf(text, size, "exit status %lld", (long long) handle);
}

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

/* Another policy may be in a library that a running slurmctld can't load. */
static void _test_policy(void)
{
	static const struct {
		const char *path;
		bool counts, restart;
	} cases[] = {
		{ "/libaucsched.so", false, true }, { "/libaucsched.so", true, false },
		{ "/libaucsched-older.so", false, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		auc_library_t library = { .handle = &library, .scheduler = 7,
			.path = (char *) cases[i].path,
			.configure = _configure, .last_error = _fault };
		auc_settings_t settings = { .engine = "policy=ipsched",
			.counts = cases[i].counts };
		char *why = NULL;

		CHECK(auc_library_configure(&library, &settings, &why) &&
		      (!!strstr(why, "restarted") == cases[i].restart) &&
		      !xstrncmp(why, "exit status 7", 13), "%d: %s", i, why);
		xfree(why);
	}
}

static void _test_worker(void)
{
	auc_library_t library = { .scheduler = 7, .worker_fault = _fault };
	auc_status_t status = { 0 };

	auc_status_worker(&status, 0, NULL);
	CHECK(!status.worker_failures && !status.worker_fault, "none");
	auc_status_worker(&status, 2, auc_library_worker_fault(&library));
	auc_status_worker(&status, 0, NULL);
	CHECK((status.worker_failures == 2) &&
	      !xstrcmp(status.worker_fault, "exit status 7"), "%s",
	      status.worker_fault);
	library.worker_fault = NULL;	/* an older library */
	auc_status_worker(&status, 1, auc_library_worker_fault(&library));
	CHECK((status.worker_failures == 3) && !status.worker_fault[0], "%s",
	      status.worker_fault);
	xfree(status.worker_fault);
}

extern void test_library(void)
{
	_test_library();
	_test_policy();
	_test_worker();
}
