/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vclock.so: put before libc (LD_PRELOAD), it gives a process the time of the page in the
 * file AUCSCHED_VCLOCK (vclock.h), and has its sleeps and waits take as long by that
 * clock. The rate may change at any moment, and processes may start at any moment: all
 * is in the page.
 *
 * Scaled, in the files beside this one:
 *	time.c	time, gettimeofday, clock_gettime of all clocks but those of CPU time
 *	sleep.c	nanosleep, clock_nanosleep, usleep, sleep; poll and select without descriptors
 *	lock.c	pthread_cond_timedwait, pthread_cond_clockwait, pthread_mutex_timedlock,
 *		pthread_timedjoin_np, sem_timedwait
 *	timer.c	timer_settime (Slurm 24.11 has one)
 *
 * All the clocks show the same virtual time, nanoseconds since 1970: what is asked of the
 * monotonic one may be waited for by another.
 *
 * Not scaled:
 * - poll, select and epoll with descriptors: they wait for peers, which live in real time.
 *   So time-outs in slurm.conf are to be large.
 * - alarm, setitimer, timerfd, timer_gettime, sem_clockwait, pthread_mutex_clocklock,
 *   pthread_clockjoin_np, ppoll, pselect, sigtimedwait, mq_timedsend and -receive,
 *   SO_RCVTIMEO, C11's threads, time's kin timespec_get and ftime: nothing in slurmctld,
 *   slurmd, munged, Slurm's plug-ins or ours calls them.
 * - what does not come through libc's own symbols: libc's calls inside itself (syslog's
 *   time stamps), system calls made directly, and Go, which asks the vDSO and sleeps by
 *   futex. Go code in such a process lives in real time.
 * - what the kernel stamps: files, processes.
 *
 * Without the variable this does nothing; with a file that is no page it says so, once, and
 * does nothing.
 */
#include "inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Waits of a microsecond of real time are a millisecond at rate 1000. */
#define TIMER_SLACK_NS 1000

/* How often a reader tries again before it lets others run, and how long before it gives up. */
#define SPINS 200
#define PATIENCE_NS SECOND

libc_calls_t libc;
static const volatile struct vclock_page *page;
static int made;	/* 0: no; 1: being made; 2: done */

/* Before libc's own is known, and when it can't be found. */
static int kernel_gettime(clockid_t clock, struct timespec *ts)
{
	return syscall(SYS_clock_gettime, clock, ts);
}

static const struct vclock_page *map(const char *path)
{
	const struct vclock_page *mapped;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_size < VCLOCK_PAGE)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	mapped = mmap(NULL, VCLOCK_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return NULL;
	if ((mapped->magic != VCLOCK_MAGIC) || (mapped->rate_milli < 1) ||
	    (mapped->most_milli < mapped->rate_milli)) {
		munmap((void *) mapped, VCLOCK_PAGE);
		errno = EINVAL;
		return NULL;
	}
	return mapped;
}

static void find_page(void)
{
	const char *path = getenv(VCLOCK_VARIABLE);

	if (!path || !path[0])
		return;
	if ((page = map(path)))
		prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	else
		fprintf(stderr, "vclock: " VCLOCK_VARIABLE "=%s: %s: the real clock is used\n",
			path, errno == EINVAL ? "no page of a clock" : strerror(errno));
}

/*
 * The constructors of other libraries may come first, and ask for the time: whoever
 * comes first makes it, at a time when there is one thread. What that calls
 * (dlsym may allocate) gets the real time.
 */
__attribute__((constructor)) static void make(void)
{
	int saved = errno;

	if (made)
		return;
	made = 1;
	libc.clock_gettime = kernel_gettime;
	libc_find(&libc);
	find_page();
	__atomic_store_n(&made, 2, __ATOMIC_RELEASE);
	errno = saved;
}

bool vclock_on(void)
{
	if (__builtin_expect(!made, 0))
		make();
	return page;
}

/* The page's own formula, as in clock.go, and with its rounding. */
static int64_t virtual_at(int64_t since, int64_t virt0, int64_t rate_milli)
{
	return virt0 + since / SECOND * rate_milli * (SECOND / 1000) +
		since % SECOND * rate_milli / 1000;
}

/* Keeps what is read after it from being read before what is read before it. */
static inline void in_order(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");	/* rdtsc as well */
#elif defined(__aarch64__)
	__asm__ volatile("dsb ld; isb" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static int64_t real_now(void)
{
	struct timespec ts;

	libc.clock_gettime(CLOCK_MONOTONIC, &ts);
	return time_ns(&ts);
}

/*
 * RET the number of a state of the page that is whole. A writer that is put to sleep in the
 * middle of a change is waited for. One that does not wake up was killed there: the page is
 * taken as it is then, and not waited for again.
 */
static uint64_t whole_state(const volatile struct vclock_page *p)
{
	static uint64_t given_up;
	uint64_t seq = __atomic_load_n(&p->seq, __ATOMIC_ACQUIRE), first = seq;
	int64_t since = 0;

	for (unsigned tries = 0; seq & 1; tries++) {
		if (__atomic_load_n(&given_up, __ATOMIC_RELAXED) == seq)
			break;
		if (tries >= SPINS) {
			if (!since || (seq != first)) {
				first = seq;
				since = real_now();
			} else if (real_now() - since > PATIENCE_NS) {
				__atomic_store_n(&given_up, seq, __ATOMIC_RELAXED);
				break;
			}
			sched_yield();
		}
		seq = __atomic_load_n(&p->seq, __ATOMIC_ACQUIRE);
	}
	return seq;
}

instant_t vclock_now(void)
{
	const volatile struct vclock_page *p = page;
	int64_t mono0, virt0;
	instant_t now;
	uint64_t seq;

	do {
		seq = whole_state(p);
		mono0 = p->mono0;
		virt0 = p->virt0;
		now.rate_milli = p->rate_milli;
		now.most_milli = p->most_milli;
		in_order();
		/* Within the bracket: the rate is the one of this moment. */
		now.mono = real_now();
		in_order();
	} while (__atomic_load_n(&p->seq, __ATOMIC_RELAXED) != seq);
	now.virt = virtual_at(now.mono - mono0, virt0, now.rate_milli);
	return now;
}
