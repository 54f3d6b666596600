/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "request.h"

extern void auc_free(void *element)
{
	xfree(element);
}

extern bool auc_set_text(char **text, const char *to)
{
	if (!xstrcmp(*text, to))
		return false;
	xfree(*text);
	*text = xstrdup(to);
	return true;
}

extern void auc_say_file(char **said, const char *path, const char *fault,
			 const char *what)
{
	bool news = auc_set_text(said, fault);

	if (news && fault)
		error("aucsched: can't write %s: %s; %s", path, fault, what);
	else if (news)
		info("aucsched: %s is written again", path);
}

extern void *auc_gres_data(list_t *gres_list, uint32_t id)
{
	gres_state_t *gres = gres_list ?
		list_find_first(gres_list, gres_find_id, &id) : NULL;

	return gres ? gres->gres_data : NULL;
}

/* ---- The monotonic clock, and waiting by it ---- */

extern int64_t auc_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

extern int64_t auc_now_s(void)
{
	return auc_now_us() / 1000000;
}

extern void auc_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

extern void auc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			  int64_t until_us)
{
	struct timespec ts = {
		.tv_sec = until_us / 1000000,
		.tv_nsec = until_us % 1000000 * 1000,
	};

	pthread_cond_timedwait(cond, lock, &ts);
}

/* ---- Settings that are yes or no ---- */

/* The next value with the key, which has neither comma nor blank, from *at on, which is moved behind it. RET false if there is none */
static bool _next(const char **at, const char *key, word_t *value)
{
	size_t len = strlen(key);

	while (*at && **at) {
		word_t word = { *at, strcspn(*at, ", ") };

		*at += word.len;
		*at += strspn(*at, ", ");
		if (!strncmp(word.at, key, len)) {
			*value = (word_t) { word.at + len, word.len - len };
			return true;
		}
	}
	return false;
}

extern bool auc_yes(const char *params, const char *key, bool normal)
{
	word_t value;

	while (_next(&params, key, &value))
		if (auc_is(value, "yes") || auc_is(value, "no"))
			normal = auc_is(value, "yes");
	return normal;
}

extern bool auc_param(const char *sched_params, const char *key, word_t *value)
{
	bool found = false;

	while (_next(&sched_params, key, value))
		found = value->len;
	return found;
}

extern char *auc_path_param(const char *params, const char *key)
{
	word_t value;

	return auc_param(params, key, &value) && (value.at[0] == '/') ?
		xstrndup(value.at, value.len) : NULL;
}

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

/* ---- Finding shared objects along PluginDir ---- */

/* In every object of ours: they have the names of those that they wrap. */
const char auc_marker[] = "aucsched";

extern void *auc_plugin_open(const char *file, int flags, auc_origin_t origin)
{
	char *dirs = xstrdup(slurm_conf.plugindir), *save = NULL, *dir;
	void *handle = NULL;

	for (dir = strtok_r(dirs, ":", &save); dir && !handle;
	     dir = strtok_r(NULL, ":", &save)) {
		char *path = xstrdup_printf("%s/%s", dir, file);

		if (!access(path, R_OK)) {
			if (!(handle = dlopen(path, flags)))
				debug("aucsched: %s: %s", path, dlerror());
			else if (!dlsym(handle, "auc_marker") ==
				 (origin == AUC_OURS)) {
				dlclose(handle);
				handle = NULL;
			}
		}
		xfree(path);
	}
	xfree(dirs);
	return handle;
}

extern char *auc_object_dir(const void *address)
{
	Dl_info info;
	char *dir, *slash;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	dir = xstrdup(info.dli_fname);
	if ((slash = strrchr(dir, '/')))
		*slash = '\0';
	else
		xfree(dir);
	return dir;
}

extern void auc_object_keep(const void *address)
{
	Dl_info info;

	if (dladdr(address, &info) && info.dli_fname)
		(void) dlopen(info.dli_fname,
			      RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

extern auc_select_hooks_t *auc_find_select_hooks(void)
{
	auc_select_hooks_t *hooks = NULL;
	void *handle = auc_plugin_open("select_cons_tres.so",
				       RTLD_LAZY | RTLD_NOLOAD, AUC_OURS);

	if (!handle)
		return NULL;
	hooks = dlsym(handle, AUC_HOOKS_SYMBOL);
	/* RTLD_NOLOAD has taken a reference; Slurm's own keeps the object. */
	dlclose(handle);
	return (hooks && (hooks->version == AUC_HOOKS_VERSION)) ? hooks : NULL;
}

/* ---- Notes on a job ---- */

/* The note in a comment, up to *end; NULL if there is none. */
static const char *_find(const char *comment, const char *key,
			 const char **end)
{
	const char *at = comment;

	for (; at && *at; at = **end ? *end + 1 : *end) {
		*end = at + strcspn(at, ";");
		if (!strncmp(at, key, strlen(key)))
			return at;
	}
	return NULL;
}

extern const char *auc_note_find(const char *comment, const char *key,
				 size_t *len)
{
	const char *end, *note = _find(comment, key, &end);

	if (!note)
		return NULL;
	note += strlen(key);
	*len = end - note;
	return note;
}

static void _drop(char **comment, const char *note, const char *end)
{
	char *rest = NULL;

	xstrncat(rest, *comment, note - *comment);
	xstrcat(rest, *end ? end + 1 : "");
	if (rest && rest[0] && !*end && (rest[strlen(rest) - 1] == ';'))
		rest[strlen(rest) - 1] = '\0';
	if (rest && !rest[0])
		xfree(rest);
	xfree(*comment);
	*comment = rest;
}

extern void auc_note_drop(char **comment, const char *key)
{
	const char *end, *note;

	while ((note = _find(*comment, key, &end)))
		_drop(comment, note, end);
}

extern void auc_note_set(char **comment, const char *key, const char *value)
{
	auc_note_drop(comment, key);
	xstrfmtcat(*comment, "%s%s%s", (*comment && (*comment)[0]) ? ";" : "",
		   key, value);
}
