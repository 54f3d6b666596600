/* The monotonic clock: see scheduler.h. */
#include <time.h>

#include "scheduler.h"

extern int64_t auc_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}
