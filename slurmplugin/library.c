/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "compat.h"
#include "library.h"
#include "request.h"

/* ---- Loading libaucsched.so ---- */

/*
 * RTLD_LOCAL keeps Go's symbols to itself. Beside the plug-in comes first: that is the
 * library which was built with it.
 */
static void *_open(const char *wanted, char **path, char **why)
{
	static const char name[] = "libaucsched.so";
	char *dir;
	void *handle;

	if (wanted) {
		*path = xstrdup(wanted);
	} else {
		dir = auc_object_dir((const void *) auc_library_load);
		*path = xstrdup_printf("%s/%s", dir ? dir : ".", name);
		xfree(dir);
		if (access(*path, R_OK)) {
			xfree(*path);
			*path = xstrdup(name);
		}
	}
	if (!(handle = dlopen(*path, RTLD_NOW | RTLD_LOCAL)))
		*why = xstrdup(dlerror());
	return handle;
}

static int _resolve(auc_library_t *library, char **why)
{
	int (*abi)(void) = dlsym(library->handle, "aucsched_abi");
	const char *(*version)(void) =
		dlsym(library->handle, "aucsched_version");
	bool all = abi && version;

	if (abi && (abi() != AUCSCHED_ABI)) {
		*why = xstrdup_printf("%s has ABI %d, the plug-in was built for %d",
				      library->path, abi(), AUCSCHED_ABI);
		return SLURM_ERROR;
	}
#define FIND(name) \
	all &= (library->name = dlsym(library->handle, "aucsched_" #name)) != NULL;
	FIND(settings) FIND(alternatives) FIND(open) FIND(configure) FIND(topology) FIND(tiers) FIND(price)
	FIND(cycle) FIND(keep_files) FIND(status) FIND(shadow)
	FIND(last_error) FIND(close)
	if (!all) {
		*why = xstrdup_printf("%s is not libaucsched", library->path);
		return SLURM_ERROR;
	}
	library->version = version();
	return SLURM_SUCCESS;
}

extern char *auc_library_differs(const auc_library_t *library,
				 const char *wanted)
{
	char *words = NULL;

	if (!library->handle || !xstrcmp(library->asked, wanted))
		return NULL;
	words = xstrdup_printf("auc_library=%s is not what was loaded: %s stays until slurmctld is restarted, which alone can load another",
			       wanted ? wanted : "(none)", library->path);
	if (wanted && access(wanted, R_OK))
		xstrfmtcat(words, "; and it can't be read: %m");
	return words;
}

extern int auc_library_load(auc_library_t *library, const char *params,
			    char **why)
{
	char *wanted = auc_path_param(params, "auc_library="), *words;

	if (!library->handle) {
		xfree(library->path);
		library->handle = _open(wanted, &library->path, why);
		xfree(library->asked);
		library->asked = xstrdup(wanted);
	}
	/* Once, until it is as it was again. */
	words = auc_library_differs(library, wanted);
	if (words && !library->other)
		error("aucsched: SchedulerParameters: %s", words);
	library->other = words != NULL;
	xfree(words);
	xfree(wanted);
	if (!library->handle)
		return SLURM_ERROR;
	if (!library->version && _resolve(library, why)) {
		/* What was opened is no Go library of ours: it can go. */
		dlclose(library->handle);
		library->handle = NULL;
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings, char **why)
{
	char text[512] = "";

	library->scheduler = library->open(settings->engine, text,
					   sizeof(text));
	if (library->scheduler > 0)
		return SLURM_SUCCESS;
	*why = xstrdup_printf("%s: %s", library->path, text);
	library->scheduler = 0;
	return SLURM_ERROR;
}

extern int auc_library_configure(auc_library_t *library,
				 const auc_settings_t *settings, char **why)
{
	char text[512] = "";

	if (!library->configure(library->scheduler, settings->engine))
		return SLURM_SUCCESS;
	library->last_error(library->scheduler, text, sizeof(text));
	*why = xstrdup(text);
	return SLURM_ERROR;
}

extern void auc_library_close(auc_library_t *library)
{
	if (library->scheduler)
		library->close(library->scheduler);
	library->scheduler = 0;
}
