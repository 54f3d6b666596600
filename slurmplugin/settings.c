/* SPDX-License-Identifier: GPL-2.0-or-later */

/* SchedulerParameters=auc_...: see settings.h and docs/slurm.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "settings.h"

/* Where the package puts the command, which is the worker process too. */
#ifndef AUC_WORKER
#define AUC_WORKER "/usr/bin/aucsched"
#endif

typedef struct {
	const char *key;	/* without auc_ */
	long least, most, normal;
	size_t field;		/* offset of an int in auc_settings_t, or 0 */
	const char *engine;	/* key of aucsched_configure(), or NULL */
	bool implied;		/* unless given, the library's default: others imply it */
	bool paper;		/* likewise with auc_paper=yes */
} number_t;

#define FIELD(name) offsetof(auc_settings_t, name)

/* The first field, enabled, is no number: offset 0 stands for none. */
static const number_t numbers[] = {
	{ "interval", 1, 3600, 3, FIELD(interval), NULL },
	{ "delay_ms", 0, 60000, 1000, FIELD(delay_ms), NULL },
	{ "start_ms", 1, 60000, 500, FIELD(start_ms), NULL },
	{ "lock_percent", 1, 100, 10, FIELD(lock_percent), NULL },
	{ "deadline_ms", 1, 600000, 500, FIELD(deadline_ms), "deadline_ms" },
	{ "window", 1, 100000, 200, 0, "window" },
	{ "depth", 0, 100000, 500, 0, "depth", .paper = true },
	{ "bids", 1, 4096, 15, 0, "bids", .paper = true },
	{ "drafts", 0, 4096, 7, 0, "drafts", .paper = true },
	{ "reservations", 0, 64, 1, 0, "reservations", .implied = true },
	{ "patience", 0, 31536000, 0, 0, "patience_s", .implied = true },
	{ "promise", 0, 31536000, 0, 0, "promise_s", .implied = true },
	{ "file_memory", 0, 2147483647, 0, FIELD(file_memory), NULL },
	{ "file_age", 0, 31536000, 86400, 0, "file_age_s", .implied = true },
	{ "slurm_bids", 0, 10000, 0, FIELD(offers), NULL },
	{ "net_s", 0, 86400, 60, FIELD(net_s), NULL },
	{ "work", 0, 1000000000000L, 10000000, 0, "work" },
	{ "users_share", 0, 100, 100, FIELD(users_share), NULL },
	{ "shadow_mb", 1, 4096, 16, FIELD(shadow_mb), NULL },
};

typedef struct {
	const char *key;
	const char *values;	/* "|" between them; NULL: any path; "": any word */
	const char *engine;
} text_t;

static const text_t texts[] = {
	{ "enabled", "yes|no", NULL },
	{ "mode", "on|shadow", NULL },
	{ "shadow", NULL, NULL },
	{ "record", NULL, NULL },
	{ "partitions", "", NULL },
	{ "save", "yes|no", NULL },
	{ "beyond", "slurm|wait", NULL },
	{ "locality", "yes|no", NULL },
	{ "at_once", "yes|no", NULL },
	{ "preempt", "yes|no", NULL },
	{ "objective", "priority|size|rate", "objective" },
	{ "policy", "auction2|auction1|ipsched", "policy" },
	{ "compact", "yes|no", "compact" },
	{ "keep_holes", "yes|no", "keep_holes" },
	{ "contiguous_bids", "yes|no", "contiguous_bids" },
	{ "paper", "yes|no", "paper" },
	{ "throughput", "yes|no", "throughput" },
	{ "preset", "none|default|short|throughput", "preset" },
	{ "node_limits", "yes|no", "node_limits" },
	{ "on_timeout", "incumbent|halve", "on_timeout" },
	{ "solver", "native|auto|highs", "solver" },
	{ "worker", NULL, "worker" },
	{ "library", NULL, NULL },
	{ "alternatives", "yes|no", NULL }, /* these are job_submit's */
	{ "gpu_ranges", "yes|no", NULL },
	{ "invasic", "", NULL },
	{ "invasic_socket", NULL, NULL },
	{ "invasic_urgent", "", NULL },
	{ "status", NULL, NULL },
};

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

static bool _among(const char *value, const char *values)
{
	size_t len = strlen(value);

	for (const char *v = values; v; v = strchr(v, '|')) {
		if (*v == '|')
			v++;
		if (!strncmp(v, value, len) && ((v[len] == '|') || !v[len]))
			return true;
	}
	return false;
}

static bool _is_fine(const char *value, const char *values)
{
	if (!values)
		return value[0] == '/';
	return values[0] ? _among(value, values) : (value[0] != '\0');
}

static bool _read_number(const char *value, const number_t *number, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(value, &end, 10);
	if (errno || (end == value) || *end || (*out < number->least) ||
	    (*out > number->most)) {
		error("aucsched: SchedulerParameters: auc_%s=%s: must be a number from %ld to %ld; using %ld",
		      number->key, value, number->least, number->most,
		      number->normal);
		return false;
	}
	return true;
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

static bool _take_number(auc_settings_t *settings, const char *key,
			 const char *value)
{
	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		const number_t *number = &numbers[i];
		long read;

		if (xstrcmp(number->key, key))
			continue;
		if (!_read_number(value, number, &read))
			return true;
		if (number->field)
			*(int *) ((char *) settings + number->field) = read;
		if (number->engine)
			_set_engine_number(settings, number->engine, read);
		return true;
	}
	return false;
}

static void _set_path(char **path, const char *value)
{
	xfree(*path);
	*path = xstrdup(value);
}

static bool _take_text(auc_settings_t *settings, const char *key,
		       const char *value)
{
	for (int i = 0; i < ARRAY_SIZE(texts); i++) {
		const text_t *text = &texts[i];

		if (xstrcmp(text->key, key))
			continue;
		if (!_is_fine(value, text->values)) {
			error("aucsched: SchedulerParameters: auc_%s=%s: must be %s; using the default",
			      key, value, !text->values ? "an absolute path" :
			      text->values[0] ? text->values : "a name");
			return true;
		}
		if (!xstrcmp(key, "enabled"))
			settings->enabled = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "save"))
			settings->save = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "beyond"))
			settings->beyond_waits = !xstrcmp(value, "wait");
		else if (!xstrcmp(key, "locality"))
			settings->locality = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "at_once"))
			settings->at_once = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "preempt"))
			settings->preempt = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "mode"))
			settings->shadow = !xstrcmp(value, "shadow");
		else if (!xstrcmp(key, "library"))
			_set_path(&settings->library, value);
		else if (!xstrcmp(key, "status"))
			_set_path(&settings->status, value);
		else if (!xstrcmp(key, "shadow"))
			_set_path(&settings->shadow_file, value);
		else if (!xstrcmp(key, "record"))
			_set_path(&settings->record, value);
		else if (!xstrcmp(key, "partitions"))
			_set_path(&settings->partitions, value);
		if (text->engine)
			_set_engine(settings, text->engine, value);
		return true;
	}
	return false;
}

static void _defaults(auc_settings_t *settings)
{
	auc_settings_free(settings);
	settings->enabled = settings->save = settings->preempt = true;
	settings->beyond_waits = -1;
	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		const number_t *number = &numbers[i];

		if (number->field)
			*(int *) ((char *) settings + number->field) =
				number->normal;
	}
	settings->net_s = settings->at_once = -1;
}

/* The value that a number has where nothing is given. */
static int _normal(const char *key)
{
	for (int i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!xstrcmp(numbers[i].key, key))
			return numbers[i].normal;
	return 0;
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

/* 0: nothing. */
static long _given_number(const char *engine, const char *key)
{
	const char *value = _given(engine, key);

	return value ? strtol(value, NULL, 10) : 0;
}

static bool _is_given(const char *engine, const char *key, const char *value)
{
	return !xstrncmp(_given(engine, key), value, strlen(value));
}

/* What a start is worth: as given, or by auc_throughput or auc_preset. */
static auc_objective_t _objective(const char *engine)
{
	bool size = _is_given(engine, "preset", "throughput");
	bool rate = _is_given(engine, "throughput", "yes") ||
		_is_given(engine, "preset", "default") ||
		_is_given(engine, "preset", "short");

	if (_given(engine, "objective")) {
		size = _is_given(engine, "objective", "size");
		rate = _is_given(engine, "objective", "rate");
	}
	if (size)
		return AUC_BY_SIZE;
	return rate ? AUC_BY_RATE : AUC_BY_PRIORITY;
}

/* Unless given. These presets plan for more jobs than take part otherwise. */
static long _usual(const char *engine, const number_t *number)
{
	if (!xstrcmp(number->key, "window") &&
	    (_is_given(engine, "preset", "short") ||
	     _is_given(engine, "preset", "throughput")))
		return 500;
	return number->normal;
}

/* What was not given, save numbers that something else implies. */
static void _fill_in(auc_settings_t *settings)
{
	bool paper = _is_given(settings->engine, "paper", "yes");
	/* In the systems of the papers nobody else starts jobs. */
	bool alone = paper || _is_given(settings->engine, "policy", "ipsched");

	settings->counts = !_is_given(settings->engine, "policy", "ipsched") &&
		!_is_given(settings->engine, "policy", "auction1");
	settings->objective = _objective(settings->engine);
	if (settings->beyond_waits < 0)
		settings->beyond_waits = alone;
	if (settings->net_s < 0)
		settings->net_s = alone ? 0 : _normal("net_s");
	if (settings->at_once < 0)
		settings->at_once = !alone;
	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		const number_t *number = &numbers[i];

		if (number->engine && !number->implied &&
		    !(paper && number->paper) &&
		    !_given(settings->engine, number->engine))
			_set_engine_number(settings, number->engine,
					   _usual(settings->engine, number));
	}
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
	const char *solver;
	long bids, drafts;
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
		if (!value || (!_take_number(settings, token + 4, value) &&
			       !_take_text(settings, token + 4, value)))
			error("aucsched: SchedulerParameters: %s%s%s: there is no such setting; ignored",
			      token, value ? "=" : "", value ? value : "");
		listing = !xstrcmp(token, "auc_partitions") &&
			settings->partitions;
	}
	xfree(params);
	_fill_in(settings);
	solver = _given(settings->engine, "solver");
	if (solver && xstrncmp(solver, "native", 6) &&
	    !_given(settings->engine, "worker"))
		_set_engine(settings, "worker", AUC_WORKER);
	settings->max_rpcs = _max_rpcs();
	bids = _given_number(settings->engine, "bids");
	drafts = _given_number(settings->engine, "drafts");
	if (bids && (drafts > bids))
		_set_engine_number(settings, "drafts", bids);
	/* With auc_paper=yes there is no depth unless it is given. */
	settings->limit = _given_number(settings->engine, "window") +
		_given_number(settings->engine, "depth");
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
