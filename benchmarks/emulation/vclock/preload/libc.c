/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds libc's own functions: see inside.h. */
#include "inside.h"

#include <dlfcn.h>

/*
 * With the version that programs are linked with: the plain name may be of an older one,
 * which takes other structures.
 */
static void *find(const char *name, const char *version)
{
	void *call = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	return call ? call : dlsym(RTLD_NEXT, name);
}

#define FIND(field, name, version) do {		\
	void *call = find(name, version);	\
	if (call)				\
		calls->field = call;		\
} while (0)

void libc_find(libc_calls_t *calls)
{
	FIND(clock_gettime, "clock_gettime", NULL);
	FIND(clock_nanosleep, "clock_nanosleep", "GLIBC_2.17");
	FIND(poll, "poll", NULL);
	FIND(select, "select", NULL);
	FIND(cond_signal, "pthread_cond_signal", "GLIBC_2.3.2");
	FIND(cond_broadcast, "pthread_cond_broadcast", "GLIBC_2.3.2");
	FIND(cond_timedwait, "pthread_cond_timedwait", "GLIBC_2.3.2");
	FIND(cond_clockwait, "pthread_cond_clockwait", NULL);
	FIND(mutex_timedlock, "pthread_mutex_timedlock", NULL);
	FIND(mutex_clocklock, "pthread_mutex_clocklock", NULL);
	FIND(timedjoin, "pthread_timedjoin_np", NULL);
	FIND(clockjoin, "pthread_clockjoin_np", NULL);
	FIND(sem_timedwait, "sem_timedwait", NULL);
	FIND(sem_clockwait, "sem_clockwait", NULL);
	FIND(timer_settime, "timer_settime", "GLIBC_2.34");
}
