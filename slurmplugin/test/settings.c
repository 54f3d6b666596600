/* SPDX-License-Identifier: GPL-2.0-or-later */

/* SchedulerParameters. */
#include <string.h>

#include "../library.h"
#include "../settings.h"
#include "../common.h"
#include "units.h"

extern auc_library_t *units_loaded(void)
{
	static auc_library_t library;
	char *own = xstrdup_printf("auc_library=%s", units_library), *why = NULL;

	CHECK(!auc_library_load(&library, own, &why), "%s: %s", own, why);
	xfree(own);
	return &library;
}

extern auc_settings_t units_settings(const char *params)
{
	auc_settings_t settings = { 0 };

	auc_settings_read(&settings, units_loaded(), params);
	return settings;
}

static const struct {
	const char *params;	/* SchedulerParameters */
	int net_s, at_once;
} nets[] = {
	{ NULL, 60, 1 },
	{ "auc_net_s=0,auc_at_once=no", 0, 0 },
	{ "auc_net_s=86400", 86400, 1 },
	{ "auc_net_s=86401,auc_at_once=1", 60, 1 },
	{ "auc_net_s=-1", 60, 1 },
	{ "auc_paper=yes", 0, 0 },
	{ "auc_preset=paper", 0, 0 },
	{ "auc_preset=packed", 60, 1 },
	{ "auc_policy=ipsched", 0, 0 },
	{ "auc_policy=ipsched,auc_policy=auction2", 60, 1 },
	{ "auc_net_s=60,auc_paper=yes,auc_at_once=yes", 60, 1 },
	{ "auc_paper=yes,auc_net_s=5", 5, 0 },
	{ "auc_policy=ipsched,auc_net_s=x,auc_at_once=maybe", 0, 0 },
};

static void _test_nets(void)
{
	for (int i = 0; i < ARRAY_SIZE(nets); i++) {
		auc_settings_t s = units_settings(nets[i].params);

		CHECK((s.net_s == nets[i].net_s) &&
		      (s.at_once == nets[i].at_once), "%s: %d %d",
		      nets[i].params, s.net_s, s.at_once);
	}
}

static const struct {
	const char *params;	/* SchedulerParameters */
	bool waits;		/* who stands behind the window */
} beyond[] = {
	{ NULL, false },
	{ "auc_paper=no,auc_policy=auction1", false },
	{ "auc_paper=yes", true },
	{ "auc_policy=ipsched,auc_interval=7", true },
	{ "auc_policy=ipsched,auc_policy=auction2", false },
	{ "auc_worker=/x/policy=ipsched", false },
	{ "auc_beyond=wait", true },
	{ "auc_beyond=wait,auc_beyond=slurm", false },
	{ "auc_beyond=slurm,auc_paper=yes,auc_policy=ipsched", false },
	{ "auc_beyond=,auc_beyond=yes,auc_beyond=wai,auc_paper=yes", true },
};

static const struct {
	const char *params;	/* SchedulerParameters */
	const char *engine;	/* is in what the library gets */
	int limit;
} presets[] = {
	{ "auc_preset=none", "preset=none", 700 },
	{ "auc_preset=default,auc_promise=3600", "preset=default promise_s=3600",
	  700 },
	{ "auc_preset=short", "preset=short", 1000 },
	{ "auc_preset=short,auc_window=100", "window=100", 600 },
	{ "auc_preset=throughput", "preset=throughput", 1000 },
	{ "auc_preset=throughput,auc_objective=priority", "objective=priority",
	  1000 },
	{ "auc_preset=packed,auc_compact=no", "compact=no", 700 },
	{ "auc_preset=paper", "preset=paper", 200 },
	{ "auc_preset=fast", "deadline_ms=500", 700 },
	{ "auc_keep_holes=yes", "keep_holes=yes", 700 },
	{ "auc_patience=60,auc_objective=rate", "patience_s=60", 700 },
	/* By their older names. */
	{ "auc_throughput=yes", "throughput=yes", 700 },
	{ "auc_throughput=no", "throughput=no", 700 },
	{ "auc_paper=yes", "paper=yes", 200 },
	{ "auc_depth=7,auc_drafts=3,auc_paper=yes,auc_window=20", "drafts=3",
	  27 },
	{ "auc_worker=/x/paper=no,auc_paper=yes,auc_paper=no,auc_status=/paper=yes",
	  "paper=no", 700 },
	{ "auc_worker=/x/paper=yes", "worker=", 700 },
};

static void _test_settings(void)
{
	auc_settings_t defaults = units_settings(NULL), s;
	char *engine = xstrdup(defaults.engine);

	CHECK(defaults.lock_percent == 10, "%d", defaults.lock_percent);
	s = units_settings("auc_lock_percent=0");
	CHECK(s.lock_percent == 10, "%d", s.lock_percent); /* it divides */
	s = units_settings("auc_lock_percent=5");
	CHECK(auc_pace_ms(&s, 40000) == 800, "%d", (int) auc_pace_ms(&s, 40000));
	CHECK(auc_pace_ms(&s, INT64_MAX) == 60000, "%d",
	      (int) auc_pace_ms(&s, INT64_MAX));
	CHECK(defaults.enabled && (defaults.interval == 3) &&
	      (defaults.limit == 700), "%d %d", defaults.interval,
	      defaults.limit);
	s = units_settings("bf_interval=5,auc_interval=7,auc_window=10,auc_depth=5,auc_bids=4,auc_enabled=no,auc_worker=/x/y,auc_status=/a");
	CHECK(!s.enabled && (s.interval == 7) && (s.limit == 15) &&
	      !xstrcmp(s.status, "/a"), "%s", s.engine);
	CHECK(strstr(s.engine, "bids=4") && strstr(s.engine, "window=10") &&
	      strstr(s.engine, "worker=/x/y"), "%s", s.engine);
	s = units_settings("auc_file_memory=5,auc_file_age=60");
	CHECK((s.file_memory == 5) && strstr(s.engine, "file_age_s=60") &&
	      !strstr(engine, "file_age_s"), "%s", s.engine);
	s = units_settings("auc_solver=auto");
	CHECK(strstr(s.engine, "worker=/"), "%s", s.engine);
	/* The library has what a preset implies; the plug-in goes by some of it. */
	CHECK(!xstrcmp(engine, "deadline_ms=500"), "%s", engine);
	for (int i = 0; i < ARRAY_SIZE(presets); i++) {
		s = units_settings(presets[i].params);
		CHECK(strstr(s.engine, presets[i].engine) &&
		      (s.limit == presets[i].limit), "%s: %s %d",
		      presets[i].params, s.engine, s.limit);
	}
	s = units_settings("auc_policy=auction2,auc_policy=ipsched,auc_node_limits=no,auc_on_timeout=halve,auc_contiguous_bids=yes");
	CHECK(strstr(s.engine, "policy=ipsched") &&
	      !strstr(s.engine, "policy=auction2") &&
	      strstr(s.engine, "node_limits=no") &&
	      strstr(s.engine, "on_timeout=halve") &&
	      strstr(s.engine, "contiguous_bids=yes"), "%s", s.engine);
	for (int i = 0; i < ARRAY_SIZE(beyond); i++) {
		s = units_settings(beyond[i].params);
		CHECK(s.beyond_waits == beyond[i].waits, "%s: %d",
		      beyond[i].params, s.beyond_waits);
	}
	/* What is wrong is left out, each by itself. */
	s = units_settings("auc_interval=0,auc_window=x,auc_bids=,auc_deadline_ms=1e3,auc_enabled=maybe,auc_objective=fun,auc_patience=-1,auc_compact=1,auc_throughput=,auc_policy=auction,auc_paper=on,auc_contiguous_bids=,auc_node_limits=0,auc_on_timeout=half,auc_library=lib.so,auc_nonsense=1,auc_,auc_depth,auc_preset=,auc_preset=shor,auc_work=-1,auc_file_age=-1,auc_file_memory=4G");
	CHECK(s.enabled && (s.interval == defaults.interval) &&
	      !xstrcmp(s.engine, engine), "%s", s.engine);
	xfree(engine);
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

	CHECK((s.users_share == 100) && !s.shadow && (s.shadow_mb == 16) &&
	      !s.shadow_file, "%d", s.users_share);
	for (int i = 0; i < ARRAY_SIZE(lists); i++) {
		s = units_settings(lists[i].params);
		CHECK(!xstrcmp(s.partitions, lists[i].partitions), "%s: %s",
		      lists[i].params, s.partitions);
	}
	s = units_settings("auc_mode=shadow,auc_shadow=/a,auc_shadow_mb=1,auc_record=/b,auc_users_share=0,auc_interval=7");
	CHECK(s.shadow && s.enabled && !xstrcmp(s.shadow_file, "/a") &&
	      (s.shadow_mb == 1) && strstr(s.engine, "record=/b ") &&
	      !s.users_share && (s.interval == 7), "%d", s.shadow_mb);
	s = units_settings("auc_mode=off,auc_mode=,auc_mode=Shadow,auc_shadow=a,auc_shadow_mb=0,auc_record=,auc_users_share=101");
	CHECK(!s.shadow && !s.shadow_file && (s.shadow_mb == 16) &&
	      !strstr(s.engine, "record=") && (s.users_share == 100), "%d", s.users_share);
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
	CHECK(!s.enabled && !xstrcmp(s.status, "/s") && !s.engine && !s.save &&
	      s.lock_percent, "%s", s.status);
	auc_settings_read(&s, NULL, NULL);
	CHECK(s.enabled && !s.status && (s.users_share == 100), "%s", s.status);
}

extern void test_settings(void)
{
	_test_early();
	_test_part_of_the_jobs();
	_test_settings();
	_test_nets();
}
