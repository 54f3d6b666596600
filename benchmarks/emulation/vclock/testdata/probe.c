/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the tests of vclock.so run under it:
 *
 *	probe wait KIND SECONDS    a wait of that kind for so many virtual seconds
 *	probe interrupt KIND       a wait of 100000 s, ended by a signal after 100 ms of real time
 *	probe invalid KIND         a wait until a time that is none
 *	probe past KIND            a wait until a moment that is over
 *	probe ready KIND           the same, for something that is there already
 *	probe wake LATER           a wait for a condition for 100000 s, woken after LATER real ms
 *	probe pingpong N SECONDS MS
 *	                           two threads wake each other N times, which wait for so many
 *	                           seconds at most, and have the lock for so many real ms
 *	probe monotone N           N times the time, in two threads, half of them in each
 *	probe relay N              two processes tell each other the time N times
 *	probe speed N              N times the time, and N times of libc's
 *	probe clocks               all clocks, at one moment
 *
 * wait, interrupt, invalid, past and ready print "RESULT ERRNO VIRTUAL REAL LEFT", times in
 * nanoseconds. The other ones print a line of figures too, and fail with one in words.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL
#define FAR (100000 * NS)

static void die(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static int64_t ns_of(struct timespec ts)
{
	return ts.tv_sec * NS + ts.tv_nsec;
}

static struct timespec ts_of(int64_t ns)
{
	return (struct timespec) { ns / NS, ns % NS };
}

static int64_t virt(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ns_of(ts);
}

static int64_t real(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return ns_of(ts);
}

static void real_sleep(int64_t ns)
{
	struct timespec ts = ts_of(ns);

	while (syscall(SYS_nanosleep, &ts, &ts) && (errno == EINTR))
		;
}

static void thread(void *(*run)(void *), void *arg)
{
	pthread_t id;

	if (pthread_create(&id, NULL, run, arg))
		die("pthread_create");
}

/* ---- waits ---- */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty, full;
static pthread_t sleeper, ended;
static timer_t timer;

static void *sleep_for_ever(void *arg)
{
	while (1)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL);
	return arg;
}

static void *hold(void *arg)
{
	pthread_mutex_lock(&held);
	sem_post(arg);
	return sleep_for_ever(arg);
}

static void *end(void *arg)
{
	return arg;
}

static void set_up(void)
{
	pthread_condattr_t monotonic;
	sem_t holding;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&never, &monotonic);
	sem_init(&empty, 0, 0);
	sem_init(&full, 0, 1);
	sem_init(&holding, 0, 0);
	thread(hold, &holding);
	sem_wait(&holding);
	pthread_create(&sleeper, NULL, sleep_for_ever, NULL);
	pthread_create(&ended, NULL, end, NULL);
}

/* Waits until a moment, absolute, or for ns if the call takes that. RET as the call */
typedef struct {
	const char *name;
	int (*wait)(int64_t ns, struct timespec until, int64_t *left);
	/* The same, for something that is there; NULL: that makes no sense. */
	int (*ready)(struct timespec until);
} kind_t;

static int by_sleep(int64_t ns, struct timespec until, int64_t *left)
{
	unsigned rest = sleep(ns / NS);

	(void) until;
	*left = rest * NS;
	return rest ? -1 : 0;
}

static int by_usleep(int64_t ns, struct timespec until, int64_t *left)
{
	(void) until, (void) left;
	return usleep(ns / 1000);
}

static int by_nanosleep(int64_t ns, struct timespec until, int64_t *left)
{
	struct timespec ts = ts_of(ns), rest = { 0 };
	int rc;

	if (until.tv_nsec >= NS)
		ts = until;
	rc = nanosleep(&ts, &rest);
	*left = ns_of(rest);
	return rc;
}

static int by_clock_nanosleep(int64_t ns, struct timespec until, int64_t *left)
{
	struct timespec ts = ts_of(ns), rest = { 0 };
	int rc;

	if (until.tv_nsec >= NS)
		ts = until;
	rc = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &rest);
	*left = ns_of(rest);
	return rc;
}

static int by_clock_nanosleep_abs(int64_t ns, struct timespec until, int64_t *left)
{
	(void) ns, (void) left;
	return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

static int by_poll(int64_t ns, struct timespec until, int64_t *left)
{
	(void) until, (void) left;
	return poll(NULL, 0, ns / 1000000);
}

static int by_select(int64_t ns, struct timespec until, int64_t *left)
{
	struct timeval tv = { ns / NS, ns % NS / 1000 };
	int rc = select(0, NULL, NULL, NULL, &tv);

	(void) until;
	*left = tv.tv_sec * NS + tv.tv_usec * 1000;
	return rc;
}

/* The lock is held after each of them. */
static int unlocked(int rc)
{
	if (pthread_mutex_trylock(&lock) != EBUSY)
		die("the lock is not held after a wait");
	pthread_mutex_unlock(&lock);
	return rc;
}

static int by_cond(int64_t ns, struct timespec until, int64_t *left)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	(void) ns, (void) left;
	pthread_mutex_lock(&lock);
	return unlocked(pthread_cond_timedwait(&cond, &lock, &until));
}

static int by_cond_monotonic(int64_t ns, struct timespec until, int64_t *left)
{
	(void) ns, (void) left;
	pthread_mutex_lock(&lock);
	return unlocked(pthread_cond_timedwait(&never, &lock, &until));
}

static int by_cond_clockwait(int64_t ns, struct timespec until, int64_t *left)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	(void) ns, (void) left;
	pthread_mutex_lock(&lock);
	return unlocked(pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &until));
}

static int by_mutex(int64_t ns, struct timespec until, int64_t *left)
{
	(void) ns, (void) left;
	return pthread_mutex_timedlock(&held, &until);
}

static int ready_mutex(struct timespec until)
{
	return pthread_mutex_timedlock(&lock, &until);
}

static int by_join(int64_t ns, struct timespec until, int64_t *left)
{
	(void) ns, (void) left;
	return pthread_timedjoin_np(sleeper, NULL, &until);
}

static int ready_join(struct timespec until)
{
	real_sleep(NS / 10);	/* for it to end */
	return pthread_timedjoin_np(ended, NULL, &until);
}

static int by_sem(int64_t ns, struct timespec until, int64_t *left)
{
	(void) ns, (void) left;
	return sem_timedwait(&empty, &until);
}

static int ready_sem(struct timespec until)
{
	return sem_timedwait(&full, &until);
}

/* Set again whenever it goes off before its time, as those who have one must. */
static int by_timer(int64_t ns, struct timespec until, int64_t *left)
{
	struct itimerspec at = { .it_value = until };
	int signal;
	sigset_t set;

	(void) ns, (void) left;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	do {
		if (timer_settime(timer, TIMER_ABSTIME, &at, NULL))
			return -1;
		sigwait(&set, &signal);
	} while (virt() < ns_of(until));
	return 0;
}

static const kind_t kinds[] = {
	{ "sleep", by_sleep, NULL },
	{ "usleep", by_usleep, NULL },
	{ "nanosleep", by_nanosleep, NULL },
	{ "clock_nanosleep", by_clock_nanosleep, NULL },
	{ "clock_nanosleep_abs", by_clock_nanosleep_abs, NULL },
	{ "poll", by_poll, NULL },
	{ "select", by_select, NULL },
	{ "cond", by_cond, NULL },
	{ "cond_monotonic", by_cond_monotonic, NULL },
	{ "cond_clockwait", by_cond_clockwait, NULL },
	{ "mutex", by_mutex, ready_mutex },
	{ "join", by_join, ready_join },
	{ "sem", by_sem, ready_sem },
	{ "timer", by_timer, NULL },
};

static const kind_t *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	die("no such kind of wait");
	return NULL;
}

/* Blocked in all threads but while the timer is waited for. */
static void set_up_timer(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (timer_create(CLOCK_REALTIME, NULL, &timer))
		die("timer_create");
}

static void say(int rc, int64_t v0, int64_t r0, int64_t left)
{
	int number = errno;

	printf("%d %d %lld %lld %lld\n", rc, (rc == -1) ? number : 0, (long long) (virt() - v0),
	       (long long) (real() - r0), (long long) left);
}

static void wait_for(const kind_t *kind, int64_t ns)
{
	int64_t v0 = virt(), r0 = real(), left = 0;
	int rc = kind->wait(ns, ts_of(v0 + ns), &left);

	say(rc, v0, r0, left);
}

static void wait_invalid(const kind_t *kind)
{
	int64_t v0 = virt(), r0 = real(), left = 0;
	struct timespec until = { v0 / NS + 1, NS };
	int rc = kind->wait(NS, until, &left);

	say(rc, v0, r0, left);
}

static void wait_ready(const kind_t *kind)
{
	int64_t v0 = virt(), r0 = real();
	int rc = kind->ready(ts_of(v0 - NS));

	say(rc, v0, r0, 0);
}

static void handler(int number)
{
	(void) number;
}

static void *interrupter(void *arg)
{
	real_sleep(NS / 10);
	pthread_kill(*(pthread_t *) arg, SIGUSR1);
	return NULL;
}

static void interrupt(const kind_t *kind)
{
	static pthread_t self;

	self = pthread_self();
	signal(SIGUSR1, handler);
	thread(interrupter, &self);
	wait_for(kind, FAR);
}

/* ---- conditions ---- */

static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *waker(void *arg)
{
	real_sleep(*(int64_t *) arg * 1000000);
	pthread_mutex_lock(&lock);
	turn = 1;
	pthread_cond_signal(&turned);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void wake(int64_t later)
{
	int64_t r0 = real();
	struct timespec until = ts_of(virt() + FAR);
	int rc = 0;

	thread(waker, &later);
	pthread_mutex_lock(&lock);
	while (!turn && !rc)
		rc = pthread_cond_timedwait(&turned, &lock, &until);
	printf("%d %lld\n", rc, (long long) (real() - r0));
}

static struct { int n; int64_t far, hold; } turns;

/*
 * Each waits for its turn, keeps the lock for a while, so that a part of the other one's wait
 * ends and can't return, and wakes the other.
 */
static void take_turns(int mine)
{
	for (int i = 0; i < turns.n; i++) {
		struct timespec until;

		pthread_mutex_lock(&lock);
		until = ts_of(virt() + turns.far);
		while (turn != mine)
			if (pthread_cond_timedwait(&turned, &lock, &until))
				die("the other one's signal was lost");
		if (turns.hold)
			real_sleep(turns.hold);
		turn = !mine;
		pthread_cond_signal(&turned);
		pthread_mutex_unlock(&lock);
	}
}

static void *other_turns(void *arg)
{
	take_turns(1);
	return arg;
}

static void pingpong(void)
{
	int64_t r0 = real();
	pthread_t other;

	pthread_create(&other, NULL, other_turns, NULL);
	take_turns(0);
	pthread_join(other, NULL);
	printf("%lld\n", (long long) (real() - r0));
}

/* ---- the time ---- */

static void *read_times(void *arg)
{
	int64_t last = virt();

	for (int64_t i = *(int64_t *) arg / 2; i; i--) {
		int64_t now = virt();

		if (now < last) {
			printf("time went back by %lld ns\n", (long long) (last - now));
			exit(1);
		}
		last = now;
	}
	return NULL;
}

static void monotone(int64_t n)
{
	int64_t v0 = virt(), r0 = real();
	pthread_t other;

	pthread_create(&other, NULL, read_times, &n);
	read_times(&n);
	pthread_join(other, NULL);
	printf("%lld %lld\n", (long long) (virt() - v0), (long long) (real() - r0));
}

/* Hands the time on, n times, and checks that what it is handed is no later than its own. */
static void hand_on(int in, int out, int64_t n)
{
	for (int64_t theirs, mine; n; n--) {
		if (read(in, &theirs, sizeof(theirs)) != sizeof(theirs))
			die("read");
		mine = virt();
		if (mine < theirs) {
			printf("another process is ahead by %lld ns\n", (long long) (theirs - mine));
			exit(1);
		}
		/* The other one has had enough after its last. */
		if ((write(out, &mine, sizeof(mine)) != sizeof(mine)) && (n > 1))
			die("write");
	}
}

static void relay(int64_t n)
{
	int there[2], back[2], status;
	int64_t now = virt(), r0 = real();
	pid_t child;

	if (pipe(there) || pipe(back) || (write(back[1], &now, sizeof(now)) != sizeof(now)))
		die("pipe");
	fflush(stdout);
	if (!(child = fork())) {
		close(there[1]);
		close(back[0]);
		hand_on(there[0], back[1], n);
		fflush(stdout);
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	hand_on(back[0], there[1], n);
	if ((waitpid(child, &status, 0) != child) || status)
		exit(1);
	printf("%lld %lld\n", (long long) (virt() - now), (long long) (real() - r0));
}

static void speed(int64_t n)
{
	struct timespec ts;
	int64_t r0 = real(), r1;

	for (int64_t i = 0; i < n; i++)
		clock_gettime(CLOCK_REALTIME, &ts);
	r1 = real();
	for (int64_t i = 0; i < n; i++)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	printf("%.1f %.1f\n", (double) (r1 - r0) / n, (double) (real() - r1) / n);
}

/* All between two readings of the first. */
static void clocks(void)
{
	static const clockid_t scaled[] = {
		CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC, CLOCK_MONOTONIC_COARSE,
		CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_TAI,
	};
	int64_t first = virt(), last;
	struct timespec ts[7], cpu;
	struct timeval tv;
	time_t seconds;

	for (int i = 0; i < 7; i++)
		if (clock_gettime(scaled[i], &ts[i]))
			die("clock_gettime");
	gettimeofday(&tv, NULL);
	if (time(&seconds) != seconds)
		die("time returns one thing and stores another");
	last = virt();
	for (int i = 0; i < 7; i++)
		if ((ns_of(ts[i]) < first) || (ns_of(ts[i]) > last))
			die("a clock is not like the others");
	if ((tv.tv_sec * NS + tv.tv_usec * 1000 < first / 1000 * 1000) ||
	    (tv.tv_sec * NS + tv.tv_usec * 1000 > last))
		die("gettimeofday is not like the clocks");
	if ((seconds < first / NS) || (seconds > last / NS))
		die("time is not like the clocks");
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) || (cpu.tv_sec > 60))
		die("the time of the CPU is scaled");
	if (!clock_gettime(12345, &cpu) || (errno != EINVAL))
		die("a clock that is none");
	printf("%lld %lld\n", (long long) first, (long long) real());
}

int main(int argc, char **argv)
{
	const char *what = (argc > 1) ? argv[1] : "", *arg = (argc > 2) ? argv[2] : "";

	signal(SIGPIPE, SIG_IGN);
	set_up_timer();
	set_up();
	if (!strcmp(what, "wait") && (argc == 4))
		wait_for(kind_of(arg), (int64_t) (atof(argv[3]) * NS));
	else if (!strcmp(what, "interrupt"))
		interrupt(kind_of(arg));
	else if (!strcmp(what, "invalid"))
		wait_invalid(kind_of(arg));
	else if (!strcmp(what, "past"))
		wait_for(kind_of(arg), -NS);
	else if (!strcmp(what, "ready"))
		wait_ready(kind_of(arg));
	else if (!strcmp(what, "wake"))
		wake(atoi(arg));
	else if (!strcmp(what, "pingpong") && (argc == 5)) {
		turns.n = atoi(arg);
		turns.far = atoll(argv[3]) * NS;
		turns.hold = atoll(argv[4]) * 1000000;
		pingpong();
	} else if (!strcmp(what, "monotone"))
		monotone(atoll(arg));
	else if (!strcmp(what, "relay"))
		relay(atoll(arg));
	else if (!strcmp(what, "speed"))
		speed(atoll(arg));
	else if (!strcmp(what, "clocks"))
		clocks();
	else
		die("usage: see the source");
	fflush(stdout);
	_exit(0);
}
