/* SchedulerParameters=auc_...: see scheduler.h and docs/slurm.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler.h"

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
} number_t;

#define FIELD(name) offsetof(auc_settings_t, name)

/* The first field, enabled, is no number: offset 0 stands for none. */
static const number_t numbers[] = {
	{ "interval", 1, 3600, 3, FIELD(interval), NULL },
	{ "delay_ms", 0, 60000, 1000, FIELD(delay_ms), NULL },
	{ "start_ms", 1, 60000, 500, FIELD(start_ms), NULL },
	{ "deadline_ms", 1, 600000, 500, FIELD(deadline_ms), "deadline_ms" },
	{ "window", 1, 100000, 200, 0, "window" },
	{ "depth", 0, 100000, 500, 0, "depth" },
	{ "bids", 1, 4096, 15, 0, "bids" },
	{ "drafts", 0, 4096, 7, 0, "drafts" },
	{ "reservations", 0, 64, 1, 0, "reservations" },
	{ "patience", 0, 31536000, 0, 0, "patience_s", .implied = true },
	{ "slurm_bids", 0, 10000, 0, FIELD(offers), NULL },
	{ "work", 0, 1000000000000L, 10000000, 0, "work" },
};

typedef struct {
	const char *key;
	const char *values;	/* "|" between them; NULL: any path */
	const char *engine;
} text_t;

static const text_t texts[] = {
	{ "enabled", "yes|no", NULL },
	{ "save", "yes|no", NULL },
	{ "objective", "priority|size|rate", "objective" },
	{ "compact", "yes|no", "compact" },
	{ "throughput", "yes|no", "throughput" },
	{ "solver", "native|auto|highs", "solver" },
	{ "worker", NULL, "worker" },
	{ "library", NULL, NULL },
	{ "status", NULL, NULL },
};

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

static bool _take_text(auc_settings_t *settings, const char *key,
		       const char *value)
{
	for (int i = 0; i < ARRAY_SIZE(texts); i++) {
		const text_t *text = &texts[i];

		if (xstrcmp(text->key, key))
			continue;
		if (text->values ? !_among(value, text->values) :
		    (value[0] != '/')) {
			error("aucsched: SchedulerParameters: auc_%s=%s: must be %s; using the default",
			      key, value, text->values ? text->values :
			      "an absolute path");
			return true;
		}
		if (!xstrcmp(key, "enabled"))
			settings->enabled = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "save"))
			settings->save = !xstrcmp(value, "yes");
		else if (!xstrcmp(key, "library")) {
			xfree(settings->library);
			settings->library = xstrdup(value);
		} else if (!xstrcmp(key, "status")) {
			xfree(settings->status);
			settings->status = xstrdup(value);
		}
		if (text->engine)
			_set_engine(settings, text->engine, value);
		return true;
	}
	return false;
}

static void _defaults(auc_settings_t *settings)
{
	auc_settings_free(settings);
	settings->enabled = settings->save = true;
	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		const number_t *number = &numbers[i];

		if (number->field)
			*(int *) ((char *) settings + number->field) =
				number->normal;
		if (number->engine && !number->implied)
			_set_engine_number(settings, number->engine,
					   number->normal);
	}
}

/* The last value that the engine is given for a key. */
static long _engine_number(const char *engine, const char *key)
{
	char *text = xstrdup_printf(" %s", engine);
	char *wanted = xstrdup_printf(" %s=", key);
	long value = 0;

	for (char *at = text; (at = strstr(at, wanted)); at++)
		value = strtol(at + strlen(wanted), NULL, 10);
	xfree(text);
	xfree(wanted);
	return value;
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
	long bids, drafts;

	_defaults(settings);
	for (token = params ? strtok_r(params, ", ", &save) : NULL; token;
	     token = strtok_r(NULL, ", ", &save)) {
		char *value = strchr(token, '=');

		if (xstrncmp(token, "auc_", 4))
			continue;
		if (value)
			*value++ = '\0';
		if (!value || (!_take_number(settings, token + 4, value) &&
			       !_take_text(settings, token + 4, value)))
			error("aucsched: SchedulerParameters: %s%s%s: there is no such setting; ignored",
			      token, value ? "=" : "", value ? value : "");
	}
	xfree(params);
	if (!strstr(settings->engine, "solver=native") &&
	    strstr(settings->engine, "solver=") &&
	    !strstr(settings->engine, "worker="))
		_set_engine(settings, "worker", AUC_WORKER);
	settings->max_rpcs = _max_rpcs();
	bids = _engine_number(settings->engine, "bids");
	drafts = _engine_number(settings->engine, "drafts");
	if (drafts > bids)
		_set_engine_number(settings, "drafts", bids);
	settings->limit = _engine_number(settings->engine, "window") +
		_engine_number(settings->engine, "depth");
}

extern void auc_settings_free(auc_settings_t *settings)
{
	xfree(settings->library);
	xfree(settings->status);
	xfree(settings->engine);
	memset(settings, 0, sizeof(*settings));
}
