/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The monotonic clock, and waiting by it. Any thread, no lock. */
#ifndef AUC_CLOCK_H
#define AUC_CLOCK_H

#include <pthread.h>
#include <stdint.h>

/* The monotonic clock, in microseconds and in seconds. */
extern int64_t auc_now_us(void);
extern int64_t auc_now_s(void);

/* A condition that is waited for by that clock; until_us is auc_now_us()'s. */
extern void auc_cond_init(pthread_cond_t *cond);
extern void auc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			  int64_t until_us);

#endif
