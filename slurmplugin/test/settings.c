/* SPDX-License-Identifier: GPL-2.0-or-later */

/* SchedulerParameters. */
#include <string.h>

#include "../library.h"
#include "../common.h"
#include "units.h"

extern auc_library_t *units_loaded(void)
{
	static auc_library_t library;
	char *own = xstrdup_printf("auc_library=%s", units_library);

	CHECK(!auc_library_load(&library, own), "%s: %s", own, library.error);
	xfree(own);
	return &library;
}

extern auc_settings_t units_settings(const char *params)
{
	auc_settings_t settings = { 0 };

	auc_settings_read(&settings, units_loaded(), params);
	return settings;
}

/* What each value may be is tested in internal/slurm/params; here, that all of them arrive. */
static void _test_settings(void)
{
	auc_settings_t s = units_settings(NULL);

	CHECK(s.enabled && !s.shadow && (s.interval == 3) &&
	      (s.delay_ms == 1000) && (s.deadline_ms == 500) &&
	      (s.net_s == 60) && s.at_once && !s.locality && s.preempt &&
	      (s.limit == 700) && !s.max_rpcs && !s.status &&
	      !xstrcmp(s.engine, "deadline_ms=500"), "%s", s.engine);
	s = units_settings("bf_interval=5,auc_interval=7,auc_enabled=no,auc_status=/a,max_rpc_cnt=9,auc_locality=yes,auc_preempt=no,auc_preset=short");
	CHECK(!s.enabled && (s.interval == 7) && s.locality && !s.preempt &&
	      (s.limit == 1000) && (s.max_rpcs == 9) &&
	      !xstrcmp(s.status, "/a") && strstr(s.engine, "preset=short"),
	      "%s", s.engine);
	s = units_settings("auc_lab=yes,auc_delay_ms=5,auc_net_s=0,auc_at_once=no,auc_window=10,auc_depth=5");
	CHECK((s.delay_ms == 5) && !s.net_s && !s.at_once && (s.limit == 15) &&
	      strstr(s.engine, "window=10"), "%s", s.engine);
	s = units_settings("auc_interval=0,auc_nonsense=1,auc_window=9");
	CHECK((s.interval == 3) && strstr(s.said, "!auc_interval=0: ") &&
	      strstr(s.said, "!auc_nonsense=1: ") &&
	      strstr(s.said, "\nauc_window has no effect"), "%s", s.said);
	CHECK(auc_pace_ms(40000) == 400, "%d", (int) auc_pace_ms(40000));
	CHECK(auc_pace_ms(INT64_MAX / 10) == 60000, "%d",
	      (int) auc_pace_ms(INT64_MAX / 10));
}

static const struct {
	const char *params;	/* SchedulerParameters */
	const char *partitions;	/* NULL: all */
} lists[] = {
	{ "auc_interval=3", NULL },
	{ "auc_partitions=a", "a" },
	{ "auc_partitions=a,b,auc_interval=3,c", "a,b" },
	{ "auc_partitions=a,b,defer,c", "a,b" },
	{ "auc_partitions=a,bf_interval=3,c", "a" },
	{ "bf_continue,auc_partitions=a,BF_Continue,no_env_cache", "a" },
	{ "auc_partitions=,b", NULL },
	{ "auc_partitions", NULL },
	{ "auc_partitions=a,b,auc_partitions=c", "c" },
};

static void _test_part_of_the_jobs(void)
{
	auc_settings_t s = units_settings(NULL);

	CHECK((s.users_share == 100) && !s.shadow, "%d", s.users_share);
	for (int i = 0; i < ARRAY_SIZE(lists); i++) {
		s = units_settings(lists[i].params);
		CHECK(!xstrcmp(s.partitions, lists[i].partitions), "%s: %s",
		      lists[i].params, s.partitions);
	}
	s = units_settings("auc_mode=shadow,auc_record=/b,auc_users_share=0,auc_interval=7");
	CHECK(s.shadow && s.enabled && strstr(s.engine, "record=/b ") &&
	      !s.users_share && (s.interval == 7), "%s", s.engine);
	s = units_settings("auc_mode=off,auc_mode=,auc_mode=Shadow,auc_record=,auc_users_share=101");
	CHECK(!s.shadow && !strstr(s.engine, "record=") && (s.users_share == 100), "%d", s.users_share);
	s = units_settings("auc_mode=shadow,auc_mode=on");
	CHECK(!s.shadow, "the last one counts");
}

/* What is known where there is no library: whether one is wanted, which, and where to say that it is not there. */
static void _test_early(void)
{
	static const struct {
		const char *params, *value;
	} cases[] = {
		{ NULL, NULL }, { "auc_library=x", NULL }, { "auc_library=", NULL },
		{ "a,auc_library=/x auc_library=/y,b", "/y" }, { "xauc_library=/x", NULL },
	};
	auc_settings_t s;

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		char *value = auc_path_param(cases[i].params, "auc_library=");

		CHECK(!xstrcmp(value, cases[i].value), "%s: %s", cases[i].params, value);
		xfree(value);
	}
	auc_settings_read(&s, NULL, "auc_enabled=no,auc_status=/s,auc_interval=7");
	CHECK(!s.enabled && !xstrcmp(s.status, "/s") && !s.engine,
	      "%s", s.status);
	auc_settings_read(&s, NULL, NULL);
	CHECK(s.enabled && !s.status && (s.users_share == 100), "%s", s.status);
}

extern void test_settings(void)
{
	_test_early();
	_test_part_of_the_jobs();
	_test_settings();
}
