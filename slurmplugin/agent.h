/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The thread that runs the cycles, for the entry points of the plug-in. */
#ifndef AUC_AGENT_H
#define AUC_AGENT_H

#include "snapshot.h"

/* Their callers may hold locks of slurmctld's. */
extern int auc_agent_start(void);
extern void auc_agent_stop(void);
extern void auc_agent_reconfig(void);

/*
 * auc_mode=shadow: the auction decides, and nothing comes of it but a file. The agent's thread
 * alone; locks are told with each.
 */

/*
 * Between these two, under the agent's locks and without letting go of them, pending jobs may be looked at
 * by whatever the auction calls: what that has written to their records is taken back.
 */
extern void auc_shadow_begin(void);
extern void auc_shadow_end(void);

/*
 * Notes what Slurm has done since the last time. Before the snapshot, which forgets the memos of
 * jobs that are not pending. Under the agent's locks.
 * IN path - of the file
 */
extern void auc_shadow_look(const char *path);

/* Notes what would have been started. Under the agent's locks. */
extern void auc_shadow_note(const auc_snapshot_t *snapshot,
			    const struct aucsched_output *out);

/*
 * Has the library write what is new, and a look at the machine. No lock: it may take its time.
 * IN secret - nobody but its owner may read the file
 * IN decided - the library's last cycle was on the snapshot
 */
extern void auc_shadow_write(const auc_settings_t *settings, const char *path,
			     bool secret, auc_library_t *library,
			     const auc_snapshot_t *snapshot, bool decided);

extern void auc_shadow_free(void);

#endif
