/* SPDX-License-Identifier: GPL-2.0-or-later */

/* libaucsched.so. */
#ifndef AUC_LIBRARY_H
#define AUC_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "aucsched.h"
#include "settings.h"

/*
 * Loading libaucsched.so, and calling it. The agent's thread, without a lock; job_submit has a library_t of
 * its own, for what needs no handle.
 */

typedef struct auc_library {
	void *handle;		/* of dlopen(); never closed: Go can't be unloaded */
	char *path;		/* as long as the handle */
	const char *version;
	int64_t scheduler;	/* of aucsched_open(); 0: none */
	int (*settings)(const char *, struct aucsched_settings *, char *,
			size_t);
	int (*alternatives)(const char *, uint32_t, const char *, char *,
			    size_t);
	int64_t (*open)(const char *, char *, size_t);
	int (*configure)(int64_t, const char *);
	int (*topology)(int64_t, const char *const *, const char *const *,
			const char *const *, uint32_t, const char *,
			struct aucsched_topology *);
	int (*tiers)(struct aucsched_node *, const struct aucsched_preference *,
		     uint32_t);
	int (*price)(const struct aucsched_input *, struct aucsched_running *,
		     struct aucsched_job *, const struct aucsched_stake *,
		     uint32_t);
	int (*cycle)(int64_t, const struct aucsched_input *,
		     struct aucsched_output *);
	int (*keep_files)(int64_t, const char *, int);
	int (*status)(const struct aucsched_status *, char *, size_t);
	int (*shadow)(int64_t, const struct aucsched_shadow *);
	size_t (*last_error)(int64_t, char *, size_t);
	int (*close)(int64_t);
	char *asked;		/* auc_library when it was loaded, NULL: none; as long */
	bool other;		/* that auc_library names another by now was said */
} auc_library_t;

/*
 * Loads the library that SchedulerParameters name, if none is loaded yet. To be called from the
 * agent's thread, after slurmctld has daemonised.
 * RET SLURM_SUCCESS, or SLURM_ERROR with the reason in *why; caller must xfree(). So for the next two.
 */
extern int auc_library_load(auc_library_t *library, const char *params,
			    char **why);

/* Opens a scheduler with the settings; or has the one that is open go by others. */
extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings, char **why);
extern int auc_library_configure(auc_library_t *library,
				 const auc_settings_t *settings, char **why);
extern void auc_library_close(auc_library_t *library);

/*
 * What is wrong if auc_library has changed since a library was loaded, which stays.
 * IN wanted - what it is now; NULL: none
 * RET NULL if nothing is; caller must xfree()
 */
extern char *auc_library_differs(const auc_library_t *library,
				 const char *wanted);

#endif
