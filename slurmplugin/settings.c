/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "common.h"
#include "library.h"

/* Cycles hold the locks for this part of the time at most, one in so many. */
#define LOCK_SHARE 10

/* ---- SchedulerParameters=auc_..., which the library reads ---- */

static void _say(const char *lines)
{
	char *copy = xstrdup(lines), *save = NULL, *line;

	for (line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		if (line[0] == '!')
			error("aucsched: SchedulerParameters: %s", line + 1);
		else
			info("aucsched: SchedulerParameters: %s", line);
	xfree(copy);
}

extern void auc_settings_read(auc_settings_t *settings,
			      auc_library_t *library, const char *params)
{
	static char texts[1 << 16], *status;

	if (library && !auc_library_settings(library, params, settings, texts,
					     sizeof(texts))) {
		_say(settings->said);
		return;
	}
	xfree(status);
	status = auc_path_param(params, "auc_status=");
	*settings = (auc_settings_t) {
		.enabled = auc_yes(params, "auc_enabled=", true),
		.interval = 3, .deadline_ms = 500, .users_share = 100,
		.status = status };
}

extern int64_t auc_pace_ms(int64_t held)
{
	return MIN(held * LOCK_SHARE / 1000, 60000);
}

/*
 * For whom the auction is.
 *
 * Changed under the job write lock, read under it or the job read lock.
 */

static struct {
	char *partitions;	/* NULL: all */
	int users_share;
} scope = { .users_share = 100 };

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
	if (auc_set_text(&scope.partitions, settings->partitions))
		_say_unknown();
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
	scope.users_share = 100;
}
