/* Finding shared objects along PluginDir. */
#ifndef AUC_PLUGIN_DIR_H
#define AUC_PLUGIN_DIR_H

#include "compat.h"

/*
 * Opens the first FILE along slurm.conf's PluginDir that is not the object which
 * holds the address self, with dlopen()'s flags (RTLD_NOLOAD finds loaded ones only).
 * IN file - name without directory, such as "select_cons_tres.so"
 * IN self - an address in the caller's object, NULL to leave out nothing
 * OUT path - if not NULL, where it was found; caller must xfree()
 * RET handle or NULL, with the reason in the log at debug level
 */
extern void *auc_plugin_open(const char *file, int flags, const void *self,
			     char **path);

/* Directory of the object that holds address; caller must xfree(). NULL on failure. */
extern char *auc_object_dir(const void *address);

#endif
