/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The thread that has starts and ends saved, and repairs what a kill -9 left behind. Its lock is
 * taken after Slurm's.
 */
#ifndef AUC_KEEPER_H
#define AUC_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Repairs what slurmctld could not save before it was killed, by the journal in dir, and
 * starts the thread. To be called from the agent's thread, without a lock.
 */
extern void auc_keeper_start(const char *dir);

/*
 * IN discard - slurmctld goes on without: the journal is removed. Not while auc_saver_is_late()
 *	goes unmended
 */
extern void auc_keeper_stop(bool discard);

/* Whether it still asks nodes what became of jobs. */
extern bool auc_keeper_asks(void);

/*
 * Has Slurm save the state of jobs now, and waits for it, but not for long: not at all for a
 * while after a save that failed, when the thread tries again. No lock of slurmctld's.
 * RET 0 or an error
 */
extern int auc_keeper_save(void);

/* How often that failed. */
extern uint64_t auc_keeper_failed(void);

/* Has it saved soon. Any thread, any lock. */
extern void auc_keeper_want(void);

#endif
