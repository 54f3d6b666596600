/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loading libaucsched.so or libaucsched-older.so: see library.h. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "compat.h"
#include "library.h"
#include "plugin_dir.h"

/*
 * RTLD_LOCAL keeps Go's symbols to itself. Beside the plug-in comes first: that is the
 * library which was built with it.
 */
static void *_open(const auc_settings_t *settings, char **path, char **why)
{
	const char *older = settings->counts ? "" : "-older";
	char *dir;
	void *handle;

	if (settings->library) {
		*path = xstrdup(settings->library);
	} else {
		dir = auc_object_dir((const void *) auc_library_open);
		*path = xstrdup_printf("%s/libaucsched%s.so", dir ? dir : ".",
				       older);
		xfree(dir);
		if (access(*path, R_OK)) {
			xfree(*path);
			*path = xstrdup_printf("libaucsched%s.so", older);
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

	library->open = dlsym(library->handle, "aucsched_open");
	library->configure = dlsym(library->handle, "aucsched_configure");
	library->cycle = dlsym(library->handle, "aucsched_cycle");
	library->save_files = dlsym(library->handle, "aucsched_save_files");
	library->load_files = dlsym(library->handle, "aucsched_load_files");
	library->last_error = dlsym(library->handle, "aucsched_last_error");
	library->worker_fault = dlsym(library->handle, "aucsched_worker_fault");
	library->close = dlsym(library->handle, "aucsched_close");
	if (abi && (abi() != AUCSCHED_ABI)) {
		*why = xstrdup_printf("%s has ABI %d, the plug-in was built for %d",
				      library->path, abi(), AUCSCHED_ABI);
		return SLURM_ERROR;
	}
	if (!abi || !version || !library->open || !library->configure ||
	    !library->cycle || !library->last_error || !library->close ||
	    !library->save_files || !library->load_files) {
		*why = xstrdup_printf("%s is not libaucsched", library->path);
		return SLURM_ERROR;
	}
	library->version = version();
	return SLURM_SUCCESS;
}

extern char *auc_library_differs(const auc_library_t *library,
				 const auc_settings_t *settings)
{
	char *words = NULL;

	if (!library->handle || !xstrcmp(library->asked, settings->library))
		return NULL;
	words = xstrdup_printf("auc_library=%s is not what was loaded: %s stays until slurmctld is restarted, which alone can load another",
			       settings->library ? settings->library : "(none)",
			       library->path);
	if (settings->library && access(settings->library, R_OK))
		xstrfmtcat(words, "; and it can't be read: %m");
	return words;
}

/* Once, until it is as it was again. */
static void _say_differs(auc_library_t *library, const auc_settings_t *settings)
{
	char *words = auc_library_differs(library, settings);

	if (words && !library->other)
		error("aucsched: SchedulerParameters: %s", words);
	library->other = words != NULL;
	xfree(words);
}

extern char *auc_library_worker_fault(const auc_library_t *library)
{
	char text[512] = "";

	if (library->worker_fault)
		library->worker_fault(library->scheduler, text, sizeof(text));
	return xstrdup(text);
}

extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings, char **why)
{
	char text[512] = "";

	if (!library->handle) {
		xfree(library->path);
		library->handle = _open(settings, &library->path, why);
		if (!library->handle)
			return SLURM_ERROR;
		xfree(library->asked);
		library->asked = xstrdup(settings->library);
	}
	_say_differs(library, settings);
	if (!library->version && _resolve(library, why)) {
		/* What was opened is no Go library of ours: it can go. */
		dlclose(library->handle);
		library->handle = NULL;
		return SLURM_ERROR;
	}
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

	_say_differs(library, settings);
	if (!library->configure(library->scheduler, settings->engine))
		return SLURM_SUCCESS;
	library->last_error(library->scheduler, text, sizeof(text));
	*why = xstrdup(text);
	if (!settings->counts && !strstr(library->path, "-older"))
		xstrcat(*why, "; slurmctld loads another when it is restarted");
	return SLURM_ERROR;
}

extern void auc_library_close(auc_library_t *library)
{
	if (library->scheduler)
		library->close(library->scheduler);
	library->scheduler = 0;
}
