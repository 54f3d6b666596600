/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Slurm's own thread that saves its state, made to save at once: see saver.h.
 *
 * Slurm has one thread that saves (state_save.c), which waits up to five seconds. Nobody else may
 * call dump_all_job_state(): it compares the file's time with the one that it wrote itself, and a
 * backup controller in control ends itself if they differ. So the thread is asked to end, for
 * which it first saves all that is asked for, and is started anew. (It ends when it finds nothing
 * to save, so not while things happen all the time; and the new one saves once more at the first
 * request.) Between sched_g_init() and sched_g_fini() nobody else ends it or joins it.
 *
 * From 26.05 on threads are a pool's, which can only be waited for. The threads that are started
 * here say themselves that they have ended; for the first one, which is slurmctld's own, another
 * thread waits. Before the plug-in is unloaded Slurm gets one that runs Slurm's code alone.
 *
 * From 26.05 on, too, each call of Slurm's function registers a probe, which nobody can take back.
 * So the thread that was started here stays out of it for a minute, once it was asked to save, and
 * calls itself what Slurm's function calls. It is still the only one that does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "compat.h"
#include "plugin_dir.h"
#include "saver.h"
#include "src/slurmctld/trigger_mgr.h"

/* So often it is looked at whether the thread has ended: no clock that can be set is asked. */
#define LOOK_US 200

/* And at the file, which may be another machine's. */
#define LOOK_AT_FILE_US 5000

/* So long our thread saves by itself; and all that there is as often as Slurm does. */
#define ALONE_US 60000000
#define ALL_US 5000000

static struct {
	pthread_mutex_t lock;	/* held while the thread is waited for; no lock is taken under it */
	bool ending;		/* it was asked to end, and is not known to have ended */
	bool closed;		/* it is Slurm's alone from now on */
	/* Of a pool: */
	bool ours;		/* it runs _save() */
	bool waited;		/* waiter waits for it, since it does not */
	pthread_t waiter;
	bool ended;		/* atomic: it has ended, or will at once */
} saver = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* The thread that runs _save(), if it is of a pool. */
static struct {
	pthread_mutex_t lock;	/* taken last, but for Slurm's on what is to be saved */
	pthread_cond_t wake, done;
	bool inside;		/* it is in Slurm's function, or will be at once */
	bool end;		/* it is to end */
	bool left;		/* it is left to Slurm, since it did not */
	uint64_t asked, saved;	/* so many saves; the last of them has ended */
	int rc;			/* so */
} own = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static pthread_once_t made = PTHREAD_ONCE_INIT;

/* Before somebody waits. */
static void _make(void)
{
	auc_cond_init(&own.wake);
	auc_cond_init(&own.done);
}

static void _say_ended(void)
{
	__atomic_store_n(&saver.ended, true, __ATOMIC_RELEASE);
}

/* Under own.lock, but for the time that it takes. */
static void _dump(bool all)
{
	uint64_t asked = own.asked;
	int rc;

	slurm_mutex_unlock(&own.lock);
	rc = dump_all_job_state();
	if (all) {
		(void) dump_all_node_state();
		(void) dump_all_part_state();
		(void) dump_all_resv_state();
		(void) trigger_state_save();
	}
	slurm_mutex_lock(&own.lock);
	own.saved = asked;
	own.rc = rc;
	slurm_cond_broadcast(&own.done);
}

/* When Slurm's function has ended. RET whether it is to be called again */
static bool _serve(void)
{
	int64_t begin_us = auc_now_us(), all_us = begin_us + ALL_US, now;
	bool again;

	slurm_mutex_lock(&own.lock);
	own.inside = false;
	if (own.left) {		/* Slurm has it end */
		slurm_mutex_unlock(&own.lock);
		return false;
	}
	while (!own.end && !own.left) {
		now = auc_now_us();
		if ((own.saved == own.asked) && (now >= begin_us + ALONE_US))
			break;
		if (now >= all_us) {
			all_us = now + ALL_US;
			_dump(true);
		} else if (own.saved < own.asked) {
			_dump(false);
		} else
			auc_cond_wait(&own.wake, &own.lock, all_us);
	}
	own.inside = again = !own.end;
	slurm_mutex_unlock(&own.lock);
	return again;
}

static void *_save(void *arg)
{
	do
		(void) slurmctld_state_save(arg);
	while (_serve());
	_say_ended();
	return NULL;
}

/* Makes it look what there is to do; out of Slurm's function, if it is in there. Under own.lock. */
static void _stir(void)
{
	if (own.inside)
		shutdown_state_save();
	else
		slurm_cond_signal(&own.wake);
}

/* Has our thread save. As auc_saver_save() */
static int _save_own(int64_t end_us)
{
	uint64_t number;
	int rc = EBUSY;

	slurm_mutex_lock(&own.lock);
	number = ++own.asked;
	_stir();
	while ((own.saved < number) && (auc_now_us() < end_us))
		auc_cond_wait(&own.done, &own.lock, end_us);
	if (own.saved >= number)
		rc = own.rc ? EIO : SLURM_SUCCESS;
	slurm_mutex_unlock(&own.lock);
	return rc;
}

static void _end(void)
{
	slurm_mutex_lock(&own.lock);
	own.end = true;
	_stir();
	slurm_mutex_unlock(&own.lock);
}

/* It has not ended: Slurm will have it end, and till then it is as Slurm's own. */
static void _leave(void)
{
	slurm_mutex_lock(&own.lock);
	own.left = true;
	own.end = false;
	slurm_mutex_unlock(&own.lock);
}

/* Nobody changes the thread's id as long as it has not ended. */
static void *_await(void *arg)
{
	auc_pool_join(slurmctld_config.thread_id_save);
	_say_ended();
	return NULL;
}

/* If the thread has ended it is waited for. RET whether it had */
static bool _join(void)
{
	if (!AUC_THREADS_ARE_POOLED)
		/* Not EBUSY: nobody can wait for it any more. */
		return pthread_tryjoin_np(slurmctld_config.thread_id_save,
					  NULL) != EBUSY;
	if (!__atomic_load_n(&saver.ended, __ATOMIC_ACQUIRE))
		return false;
	if (saver.waited)
		pthread_join(saver.waiter, NULL);
	else
		auc_pool_join(slurmctld_config.thread_id_save);
	saver.ended = saver.waited = false;
	return true;
}

/* If the thread has ended it is started anew. RET whether it had */
static bool _turn_to(bool ours)
{
	if (!_join())
		return false;
	saver.ending = false;
	saver.ours = ours;
	if (ours) {	/* nobody else looks at it now */
		pthread_once(&made, _make);
		own.inside = true;
		own.end = own.left = false;
	}
	auc_saver_create(&slurmctld_config.thread_id_save,
			 ours ? _save : slurmctld_state_save);
	return true;
}

static bool _turn(void)
{
	return _turn_to(AUC_THREADS_ARE_POOLED);
}

static void _ask_to_end(void)
{
	saver.ending = true;
	if (saver.ours) {
		_end();
		return;
	}
	shutdown_state_save();
	if (AUC_THREADS_ARE_POOLED) {
		saver.waited = true;
		auc_thread_create(&saver.waiter, _await);
	}
}

/* Which file it is, and of when: one of these is another with each save. */
typedef struct {
	ino_t number;		/* 0: there is none */
	struct timespec written;
} file_t;

static file_t _file(const char *dir)
{
	char *path = xstrdup_printf("%s/job_state", dir);
	struct stat status;
	file_t file = { 0 };

	if (!stat(path, &status))
		file = (file_t) { status.st_ino, status.st_mtim };
	xfree(path);
	return file;
}

static bool _is_same(const file_t *a, const file_t *b)
{
	return (a->number == b->number) &&
		(a->written.tv_sec == b->written.tv_sec) &&
		(a->written.tv_nsec == b->written.tv_nsec);
}

/* Notes the file if it is another one than that of before. RET whether it is */
static bool _is_new(const char *dir, file_t *seen)
{
	file_t now = _file(dir);

	if (!now.number || _is_same(seen, &now))	/* none: just being replaced */
		return false;
	*seen = now;
	return true;
}

/* A save that began after this one was asked for. */
static void _ask(const char *dir, file_t *seen)
{
	*seen = _file(dir);
	schedule_job_save();
	if (!saver.ending)
		_ask_to_end();
}

/*
 * The thread ends when nothing is left to save, which may take long where much happens. It saves
 * all the while: what was written second has begun after it was asked for.
 */
static int _wait(const char *dir, int64_t end_us)
{
	bool ours = !saver.ending;	/* it was not asked to end before */
	int64_t look_us = auc_now_us() + LOOK_AT_FILE_US;
	int written = 0;
	file_t seen;

	_ask(dir, &seen);
	while (written < 2) {
		int64_t now = auc_now_us();

		if (_turn() && ours)	/* if nothing was written Slurm's log has the words */
			return (written || _is_new(dir, &seen)) ?
				SLURM_SUCCESS : EIO;
		if (!saver.ending) {
			ours = true;
			written = 0;
			_ask(dir, &seen);
		}
		if (now >= end_us)
			return EBUSY;
		if (now >= look_us) {
			look_us = now + LOOK_AT_FILE_US;
			written += _is_new(dir, &seen);
		}
		usleep(LOOK_US);
	}
	return SLURM_SUCCESS;
}

/*
 * Slurm replaces job_state by unlink() and link(), and does not look whether they succeed: one
 * link() that fails leaves neither job_state nor job_state.old.
 */
extern int auc_saver_probe(const char *dir)
{
	char *file = xstrdup_printf("%s/aucsched_probe", dir);
	char *link_to = xstrdup_printf("%s.link", file);
	int fd, rc = 0;
	struct stat status;

	(void) unlink(link_to);		/* of one who was killed */
	(void) unlink(file);
	fd = open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if ((fd < 0) || fstat(fd, &status) || link(file, link_to) ||
	    unlink(link_to))
		rc = errno;
	if (fd >= 0)
		(void) close(fd);
	if (unlink(file) && !rc)
		rc = errno;
	xfree(file);
	xfree(link_to);
	return rc;
}

extern int auc_saver_save(const char *dir, int64_t wait_ms)
{
	int rc = ECANCELED;

	slurm_mutex_lock(&saver.lock);
	if (!saver.closed && slurmctld_config.thread_id_save)
		rc = (saver.ours && !saver.ending) ?
			_save_own(auc_now_us() + wait_ms * 1000) :
			_wait(dir, auc_now_us() + wait_ms * 1000);
	slurm_mutex_unlock(&saver.lock);
	return rc;
}

extern void auc_saver_mend(void)
{
	slurm_mutex_lock(&saver.lock);
	if (saver.ending && !saver.closed)
		(void) _turn();
	slurm_mutex_unlock(&saver.lock);
}

extern bool auc_saver_is_late(void)
{
	bool late;

	slurm_mutex_lock(&saver.lock);
	late = saver.ending;
	slurm_mutex_unlock(&saver.lock);
	return late;
}

extern void auc_saver_open(void)
{
	slurm_mutex_lock(&saver.lock);
	if (saver.closed)	/* Slurm has had another thread since */
		saver.ending = saver.ours = saver.waited = saver.ended = false;
	saver.closed = false;
	slurm_mutex_unlock(&saver.lock);
}

extern void auc_saver_close(int64_t wait_ms)
{
	int64_t end = auc_now_us() + wait_ms * 1000;

	slurm_mutex_lock(&saver.lock);
	if (saver.ours && !saver.ending && !saver.closed)
		_ask_to_end();
	/*
	 * However long it takes, where nobody else could start it anew: Slurm waits for it next, and
	 * has no thread then for what is to be saved meanwhile.
	 */
	while (saver.ending && !saver.closed && !_turn_to(false) &&
	       (!AUC_THREADS_ARE_POOLED || (auc_now_us() < end)))
		usleep(LOOK_US);
	/* It is in our code, or somebody who waits for it is. */
	if (AUC_THREADS_ARE_POOLED && saver.ending && !saver.closed) {
		auc_object_keep(&saver);
		if (saver.ours)
			_leave();
	}
	saver.closed = true;
	slurm_mutex_unlock(&saver.lock);
}
