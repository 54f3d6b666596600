/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auction_settings.h"
#include "compat.h"
#include "settings.h"

/* ---- SchedulerParameters=auc_..., as docs/slurm.md has them ---- */

/* Where the package puts the command, which is the worker process too. */
#ifndef AUC_WORKER
#define AUC_WORKER "/usr/bin/aucsched"
#endif

#define FIELD(name) offsetof(auc_settings_t, name)
#define PATH "/"		/* values: any absolute path */
#define WORD ""			/* values: any word */

typedef struct {
	const char *key;	/* without auc_ */
	long least, most;
	const char *values;	/* NULL: a number; PATH; WORD; or names with "|" between, which count from 0 */
	const char *engine;	/* key of aucsched_configure(), or NULL */
	const char *instead;	/* why the next version has no such setting, or NULL */
	size_t field;		/* of auc_settings_t: an int, or of a path or word a char *; 0: none */
	int normal;		/* of an int */
} setting_t;

static const setting_t known[] = {
	AUC_AUCTION_SETTINGS,
	{ "interval", 1, 3600, NULL, NULL, NULL, FIELD(interval), 3 },
	{ "delay_ms", 0, 60000, NULL, NULL, NULL, FIELD(delay_ms), 1000 },
	{ "start_ms", 1, 60000, NULL, NULL, NULL, FIELD(start_ms), 500 },
	{ "lock_percent", 1, 100, NULL, NULL, NULL, FIELD(lock_percent), 10 },
	{ "deadline_ms", 1, 600000, NULL, NULL, NULL, FIELD(deadline_ms), 500 },
	{ "file_memory", 0, 2147483647, NULL, NULL, NULL, FIELD(file_memory), 0 },
	{ "file_age", 0, 31536000, NULL, "file_age_s" },
	{ "slurm_bids", 0, 10000, NULL, NULL, NULL, FIELD(offers), 0 },
	{ "net_s", 0, 86400, NULL, NULL, NULL, FIELD(net_s), -1 },
	{ "users_share", 0, 100, NULL, NULL, NULL, FIELD(users_share), 100 },
	{ "shadow_mb", 1, 4096, NULL, NULL, NULL, FIELD(shadow_mb), 16 },
	{ "enabled", 0, 0, "no|yes", NULL, NULL, FIELD(enabled), 1 },
	{ "mode", 0, 0, "on|shadow", NULL, NULL, FIELD(shadow), 0 },
	{ "save", 0, 0, "no|yes", NULL, NULL, FIELD(save), 1 },
	{ "beyond", 0, 0, "slurm|wait", NULL, NULL, FIELD(beyond_waits), -1 },
	{ "locality", 0, 0, "no|yes", NULL, NULL, FIELD(locality), 0 },
	{ "at_once", 0, 0, "no|yes", NULL, NULL, FIELD(at_once), -1 },
	{ "preempt", 0, 0, "no|yes", NULL, NULL, FIELD(preempt), 1 },
	{ "policy", 0, 0, "auction2|auction1|ipsched", "policy" },
	{ "node_limits", 0, 0, "no|yes", "node_limits" },
	{ "on_timeout", 0, 0, "incumbent|halve", "on_timeout" },
	{ "solver", 0, 0, "native|auto|highs", "solver" },
	{ "worker", 0, 0, PATH, "worker" },
	{ "library", 0, 0, PATH, NULL, NULL, FIELD(library) },
	{ "status", 0, 0, PATH, NULL, NULL, FIELD(status) },
	{ "shadow", 0, 0, PATH, NULL, NULL, FIELD(shadow_file) },
	{ "record", 0, 0, PATH, NULL, NULL, FIELD(record) },
	{ "partitions", 0, 0, WORD, NULL, NULL, FIELD(partitions) },
	{ "alternatives", 0, 0, "no|yes" }, /* these are job_submit's */
	{ "gpu_ranges", 0, 0, "no|yes" },
	{ "invasic", 0, 0, WORD },
	{ "invasic_socket", 0, 0, PATH },
	{ "invasic_urgent", 0, 0, WORD },
};

/* What presets of the library say that the plug-in goes by too; the first is without one. */
typedef struct {
	const char *name, *older;
	long window, depth;
} preset_t;

static const preset_t presets[] = { AUC_PRESETS };

/*
 * Slurm's own words in SchedulerParameters that have no value, in any version: a list of
 * partitions ends with one of these.
 */
static const char *const slurms_words[] = {
	"allow_zero_lic", "assoc_limit_stop", "bf_allow_magnetic_slot",
	"bf_busy_nodes", "bf_continue", "bf_hetjob_immediate", "bf_licenses",
	"bf_one_resv_per_job", "bf_running_job_reserve", "bf_topopt_enable",
	"defer", "defer_batch", "disable_hetero_steps", "disable_hetjob_steps",
	"disable_job_shrink", "enable_hetero_steps", "enable_hetjob_steps",
	"enable_job_state_cache", "enable_user_top", "extra_constraints",
	"ignore_constraint_validation", "Ignore_NUMA",
	"ignore_prefer_validation", "no_backup_scheduling", "no_env_cache",
	"nohold_on_prolog_fail", "pack_serial_at_end", "permit_job_expansion",
	"preempt_strict_order", "preempt_youngest_first",
	"reduce_completing_frag", "requeue_on_resume_failure",
	"requeue_setup_env_fail", "salloc_wait_nodes", "sbatch_wait_nodes",
	"spec_cores_first", "time_min_as_soft_limit", "whole_hetjob",
	"whole_pack",
};

static bool _is_slurms(const char *word)
{
	for (int i = 0; i < ARRAY_SIZE(slurms_words); i++)
		if (!xstrcasecmp(slurms_words[i], word))
			return true;
	return strchr(word, '=') || !xstrncmp(word, "auc_", 4);
}

/* The place of value among names with "|" between; below 0: it is none of them. */
static int _among(const char *value, const char *values)
{
	size_t len = strlen(value);
	int n = 0;

	for (const char *v = values; v; v = strchr(v, '|'), n++) {
		if (*v == '|')
			v++;
		if (!strncmp(v, value, len) && ((v[len] == '|') || !v[len]))
			return n;
	}
	return -1;
}

/* Whether it may be the setting's. OUT number - what it stands for, but for paths and words. */
static bool _read(const char *value, const setting_t *setting, long *number)
{
	char *end;

	if (setting->values) {
		*number = 0;
		if (setting->values[0] == '/')
			return value[0] == '/';
		if (!setting->values[0])
			return value[0] != '\0';
		return (*number = _among(value, setting->values)) >= 0;
	}
	errno = 0;
	*number = strtol(value, &end, 10);
	return !errno && (end != value) && !*end &&
		(*number >= setting->least) && (*number <= setting->most);
}

static void _say_wrong(const setting_t *setting, const char *value)
{
	char *must = !setting->values ?
		xstrdup_printf("a number from %ld to %ld", setting->least,
			       setting->most) :
		xstrdup(setting->values[0] == '/' ? "an absolute path" :
			setting->values[0] ? setting->values : "a name");

	error("aucsched: SchedulerParameters: auc_%s=%s: must be %s; using the default",
	      setting->key, value, must);
	xfree(must);
}

/* What goes to the library: "key=value " for each, the last value given. */
static void _set_engine(auc_settings_t *settings, const char *key,
			const char *value)
{
	char *wanted = xstrdup_printf("%s=", key), *save = NULL, *pair;
	char *old = settings->engine;

	settings->engine = NULL;
	for (pair = old ? strtok_r(old, " ", &save) : NULL; pair;
	     pair = strtok_r(NULL, " ", &save))
		if (xstrncmp(pair, wanted, strlen(wanted)))
			xstrfmtcat(settings->engine, "%s%s",
				   settings->engine ? " " : "", pair);
	xstrfmtcat(settings->engine, "%s%s%s", settings->engine ? " " : "",
		   wanted, value);
	xfree(wanted);
	xfree(old);
}

static void _set_engine_number(auc_settings_t *settings, const char *key,
			       long value)
{
	char *text = xstrdup_printf("%ld", value);

	_set_engine(settings, key, text);
	xfree(text);
}

static void _store(auc_settings_t *settings, const setting_t *setting,
		   const char *value, long number)
{
	void *field = (char *) settings + setting->field;

	if (!setting->values ||
	    (setting->values[0] && (setting->values[0] != '/'))) {
		*(int *) field = number;
		return;
	}
	xfree(*(char **) field);
	*(char **) field = xstrdup(value);
}

static bool _take(auc_settings_t *settings, const char *key, const char *value)
{
	for (int i = 0; i < ARRAY_SIZE(known); i++) {
		const setting_t *setting = &known[i];
		long number;

		if (xstrcmp(setting->key, key))
			continue;
		if (setting->instead)
			info("aucsched: SchedulerParameters: auc_%s is deprecated, and the next version does not have it: %s",
			     key, setting->instead);
		if (!_read(value, setting, &number)) {
			_say_wrong(setting, value);
			return true;
		}
		if (setting->field)
			_store(settings, setting, value, number);
		if (setting->engine)
			_set_engine(settings, setting->engine, value);
		return true;
	}
	return false;
}

static void _defaults(auc_settings_t *settings)
{
	auc_settings_free(settings);
	for (int i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].normal)
			*(int *) ((char *) settings + known[i].field) =
				known[i].normal;
}

/* What the engine is given for a key, and whatever comes after it; NULL: nothing. */
static const char *_given(const char *engine, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = engine; at; at = strchr(at, ' ')) {
		if (*at == ' ')
			at++;
		if (!strncmp(at, key, len) && (at[len] == '='))
			return at + len + 1;
	}
	return NULL;
}

static long _given_number(const char *engine, const char *key, long missing)
{
	const char *value = _given(engine, key);

	return value ? strtol(value, NULL, 10) : missing;
}

/* The whole value, which a blank ends or nothing. */
static bool _is_given(const char *engine, const char *key, const char *value)
{
	const char *given = _given(engine, key);
	size_t len = strlen(value);

	return given && !strncmp(given, value, len) &&
		(!given[len] || (given[len] == ' '));
}

static const preset_t *_preset(const char *engine)
{
	for (int i = 1; i < ARRAY_SIZE(presets); i++)
		if (_is_given(engine, "preset", presets[i].name) ||
		    (presets[i].older &&
		     _is_given(engine, presets[i].older, "yes")))
			return &presets[i];
	return &presets[0];
}

/* What was not given, and what the plug-in goes by of that which is for the library. */
static void _fill_in(auc_settings_t *settings)
{
	const char *engine = settings->engine;
	const preset_t *preset = _preset(engine);
	bool ipsched = _is_given(engine, "policy", "ipsched");
	/* In the systems of the papers nobody else starts jobs. */
	bool alone = ipsched || !xstrcmp(preset->name, "paper");

	settings->counts = !ipsched && !_is_given(engine, "policy", "auction1");
	settings->limit = _given_number(engine, "window", preset->window) +
		_given_number(engine, "depth", preset->depth);
	if (settings->beyond_waits < 0)
		settings->beyond_waits = alone;
	if (settings->net_s < 0)
		settings->net_s = alone ? 0 : 60;
	if (settings->at_once < 0)
		settings->at_once = !alone;
	if (_given(engine, "solver") && !_is_given(engine, "solver", "native") &&
	    !_given(engine, "worker"))
		_set_engine(settings, "worker", AUC_WORKER);
	_set_engine_number(settings, "deadline_ms", settings->deadline_ms);
}

/* Slurm's own setting: so many RPCs under way, and schedulers stand back. 0: never. */
static int _max_rpcs(void)
{
	char *at = xstrcasestr(slurm_conf.sched_params, "max_rpc_cnt=");

	return at ? MAX(atoi(at + strlen("max_rpc_cnt=")), 0) : 0;
}

extern void auc_settings_read(auc_settings_t *settings)
{
	char *params = xstrdup(slurm_conf.sched_params), *save = NULL, *token;
	bool listing = false;	/* auc_partitions=a,b has commas too */

	_defaults(settings);
	for (token = params ? strtok_r(params, ", ", &save) : NULL; token;
	     token = strtok_r(NULL, ", ", &save)) {
		char *value = strchr(token, '=');

		if (listing && (listing = !_is_slurms(token)))
			xstrfmtcat(settings->partitions, ",%s", token);
		if (xstrncmp(token, "auc_", 4))
			continue;
		if (value)
			*value++ = '\0';
		if (!value || !_take(settings, token + 4, value))
			error("aucsched: SchedulerParameters: %s%s%s: there is no such setting; ignored",
			      token, value ? "=" : "", value ? value : "");
		listing = !xstrcmp(token, "auc_partitions") &&
			settings->partitions;
	}
	xfree(params);
	_fill_in(settings);
	settings->max_rpcs = _max_rpcs();
}

extern void auc_settings_free(auc_settings_t *settings)
{
	xfree(settings->library);
	xfree(settings->status);
	xfree(settings->shadow_file);
	xfree(settings->record);
	xfree(settings->partitions);
	xfree(settings->engine);
	memset(settings, 0, sizeof(*settings));
}

extern int64_t auc_pace_ms(const auc_settings_t *settings, int64_t held)
{
	return MIN(held / 10 / settings->lock_percent, 60000);
}

/*
 * For whom the auction is.
 *
 * Changed under the job write lock, read under it or the job read lock.
 */

static struct {
	char *partitions;	/* NULL: all */
	char *said;		/* of which the faults are logged */
	int users_share;
} scope = { .users_share = 100 };

extern bool auc_is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		if (*at == ',')
			at++;
		if (!strncmp(at, name, len) && ((at[len] == ',') || !at[len]))
			return true;
	}
	return false;
}

static void _say_unknown(void)
{
	char *names = xstrdup(scope.partitions), *save = NULL, *name;

	for (name = names ? strtok_r(names, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save))
		if (!find_part_record(name))
			error("aucsched: SchedulerParameters: auc_partitions=%s: there is no partition %s",
			      scope.partitions, name);
	xfree(names);
}

extern void auc_scope_refresh(const auc_settings_t *settings)
{
	scope.users_share = settings->users_share;
	if (xstrcmp(scope.partitions, settings->partitions)) {
		xfree(scope.partitions);
		scope.partitions = xstrdup(settings->partitions);
	}
	if (xstrcmp(scope.said, scope.partitions)) {
		_say_unknown();
		xfree(scope.said);
		scope.said = xstrdup(scope.partitions);
	}
}

/* Of a mixer of bits, so that neighbouring numbers of users are not together. */
extern bool auc_user_in_share(uint32_t uid, int share)
{
	uint64_t x = uid + 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	x ^= x >> 31;
	return (int) (x % 100) < share;
}

static int _is_out(void *x, void *key)
{
	return !auc_is_listed(key, ((part_record_t *) x)->name);
}

extern const char *auc_out_of_scope(const job_record_t *job_ptr,
				    const part_record_t *part_ptr)
{
	if (!auc_user_in_share(job_ptr->user_id, scope.users_share))
		return "user";
	if (!scope.partitions)
		return NULL;
	if (!auc_is_listed(scope.partitions, part_ptr->name) ||
	    (job_ptr->part_ptr_list &&
	     list_find_first(job_ptr->part_ptr_list, _is_out,
			     scope.partitions)))
		return "partition";
	return NULL;
}

extern void auc_scope_free(void)
{
	xfree(scope.partitions);
	xfree(scope.said);
	scope.users_share = 100;
}
