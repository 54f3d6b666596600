/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Slurm's own thread that saves its state, made to save at once. Its lock is held while that thread
 * is waited for, and no lock is taken under it.
 */
#ifndef AUC_SAVER_H
#define AUC_SAVER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Has Slurm's thread save all that is to be saved, with the state of jobs, and waits for
 * that. No lock of slurmctld's, any thread.
 * IN dir - StateSaveLocation
 * RET SLURM_SUCCESS; EBUSY: not in this time; EIO, nothing was written; ECANCELED: closed
 */
extern int auc_saver_save(const char *dir, int64_t wait_ms);

/*
 * Whether a save could replace the state's files now: no save is better than one that can't.
 * IN dir - StateSaveLocation
 * RET SLURM_SUCCESS or an errno
 */
extern int auc_saver_probe(const char *dir);

/*
 * Whether Slurm's thread has not ended yet, as it was asked to; and: starts it anew if it has. As
 * long as the first is so somebody has to do the second, or nothing is saved any more.
 */
extern bool auc_saver_is_late(void);
extern void auc_saver_mend(void);

/*
 * When slurmctld ends: Slurm's thread is Slurm's alone again; waits for it if it is late. No lock of
 * slurmctld's.
 * IN wait_ms - at most so long where threads are a pool's (26.05); else until it has ended
 */
extern void auc_saver_open(void);
extern void auc_saver_close(int64_t wait_ms);

#endif
