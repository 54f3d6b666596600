/* Finding shared objects along PluginDir: see plugin_dir.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin_dir.h"
#include "select_hooks.h"

static bool _same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && (sa.st_dev == sb.st_dev) &&
	       (sa.st_ino == sb.st_ino);
}

extern void *auc_plugin_open(const char *file, int flags, const void *self,
			     char **path)
{
	char *dirs = xstrdup(slurm_conf.plugindir), *save = NULL, *dir;
	char *found = NULL;
	void *handle = NULL;
	Dl_info me = { 0 };

	if (self)
		(void) dladdr(self, &me);
	for (dir = strtok_r(dirs, ":", &save); dir && !handle;
	     dir = strtok_r(NULL, ":", &save)) {
		xfree(found);
		found = xstrdup_printf("%s/%s", dir, file);
		if (access(found, R_OK))
			continue;
		if (me.dli_fname && _same_file(me.dli_fname, found))
			continue;
		if (!(handle = dlopen(found, flags)))
			debug("aucsched: %s: %s", found, dlerror());
	}
	xfree(dirs);
	if (handle && path) {
		*path = found;
		return handle;
	}
	xfree(found);
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

extern auc_select_hooks_t *auc_find_select_hooks(void)
{
	auc_select_hooks_t *hooks = NULL;
	void *handle = auc_plugin_open("select_cons_tres.so",
				       RTLD_LAZY | RTLD_NOLOAD, NULL, NULL);

	if (!handle)
		return NULL;
	hooks = dlsym(handle, AUC_HOOKS_SYMBOL);
	/* RTLD_NOLOAD has taken a reference; Slurm's own keeps the object. */
	dlclose(handle);
	if (hooks && (hooks->version != AUC_HOOKS_VERSION))
		return NULL;
	return hooks;
}
