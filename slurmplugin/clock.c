/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The monotonic clock, and waiting by it: see clock.h. */
#include <time.h>

#include "clock.h"
#include "compat.h"

extern int64_t auc_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

extern int64_t auc_now_s(void)
{
	return auc_now_us() / 1000000;
}

extern void auc_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

extern void auc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			  int64_t until_us)
{
	struct timespec ts = {
		.tv_sec = until_us / 1000000,
		.tv_nsec = until_us % 1000000 * 1000,
	};

	pthread_cond_timedwait(cond, lock, &ts);
}
