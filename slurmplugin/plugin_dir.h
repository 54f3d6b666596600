/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finding shared objects along PluginDir, and the select shim. */
#ifndef AUC_PLUGIN_DIR_H
#define AUC_PLUGIN_DIR_H

#include "compat.h"
#include "select_hooks.h"

typedef enum {
	AUC_OURS,	/* the object has our marker */
	AUC_STOCK,	/* it has not */
} auc_origin_t;

/*
 * Opens the first FILE of that origin along slurm.conf's PluginDir, with dlopen()'s flags
 * (RTLD_NOLOAD finds loaded ones only). Conf read lock.
 * IN file - name without directory, such as "select_cons_tres.so"
 * RET handle or NULL
 */
extern void *auc_plugin_open(const char *file, int flags, auc_origin_t origin);

/* Directory of the object that holds address; caller must xfree(). NULL on failure. */
extern char *auc_object_dir(const void *address);

/* Keeps the object that holds address loaded for good. */
extern void auc_object_keep(const void *address);

/* Finds the shim's instance in the process; NULL if it is not loaded. Conf read lock. */
extern auc_select_hooks_t *auc_find_select_hooks(void);

#endif
