/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finding shared objects along PluginDir: see plugin_dir.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "plugin_dir.h"
#include "select_hooks.h"

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
	if (hooks && (hooks->version != AUC_HOOKS_VERSION))
		return NULL;
	return hooks;
}
