/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"
#include "save.h"
#include "src/slurmctld/trigger_mgr.h"

/*
 * What slurmctld may not have saved when it is killed.
 *
 * A file in StateSaveLocation, a line for each event:
 *
 *	S JOB START		the job got its nodes at START
 *	E JOB START STATE CODE	the run of that start ended so
 *
 * A line is written before anybody outside hears of the event, by one write(), which a
 * killed process has not to finish: it is the kernel's then. Only a machine that goes
 * down loses lines; slurmd's jobs are gone then too, or Slurm finds them when it asks the nodes.
 *
 * What is in the file is in memory too, also while the file can't be written: when Slurm has
 * saved its state next, the whole file is written, and has no gap.
 */

/* A start is remembered so long even if it is saved: it may not be launched yet. */
#define KEEP_SECONDS 120

/* So long after a start its node has made a step of it. */
#define LAUNCH_US 1000000

/* More than this is no journal. */
#define MOST_RUNS (1 << 20)

/* Lines of what is forgotten that the file may have, beside those in use. */
#define SPARE_LINES 1024

static struct {
	pthread_mutex_t lock;	/* taken last of all locks, also while the file is written */
	bool open;		/* events are remembered */
	int fd;			/* -1: there is no file, or one with a gap */
	char *path;
	const char *why;	/* fd is -1: static text */
	size_t gap;		/* a mark: of what came before it something is not known */
	auc_run_t *runs;	/* in the order of the lines */
	size_t len, cap;
	size_t forgotten;	/* runs forgotten since the journal was opened */
	size_t lines;		/* of the file */
	int64_t started_us;	/* when the last start was, or 0 */
} journal = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.fd = -1,
};

extern int auc_run_format(char *line, size_t size, const auc_run_t *run)
{
	if (!run->ended)
		return snprintf(line, size, "S %u %" PRId64 "\n", run->job_id,
				(int64_t) run->start);
	return snprintf(line, size, "E %u %" PRId64 " %u %u\n", run->job_id,
			(int64_t) run->start, run->state, run->exit_code);
}

extern bool auc_run_parse(const char *line, auc_run_t *run)
{
	char again[AUC_RUN_LINE];
	int64_t start = 0;

	memset(run, 0, sizeof(*run));
	if (*line == 'E') {
		run->ended = true;
		if (sscanf(line, "E %u %" SCNd64 " %u %u", &run->job_id, &start,
			   &run->state, &run->exit_code) != 4)
			return false;
	} else if (sscanf(line, "S %u %" SCNd64, &run->job_id, &start) != 2)
		return false;
	run->start = start;
	/* Half a line, or anything that sscanf() is too kind to. */
	(void) auc_run_format(again, sizeof(again), run);
	return !strcmp(line, again);
}

/* Without a file for now: one with a gap is worse than none. */
static void _break(const char *what)
{
	error("aucsched: %s %s: %m; starts and ends are not recorded until Slurm's state is saved again",
	      what, journal.path);
	journal.why = what;
	if (journal.fd >= 0) {
		(void) unlink(journal.path);
		close(journal.fd);
	}
	journal.fd = -1;
}

static bool _remember(const auc_run_t *run)
{
	if (journal.len >= MOST_RUNS)
		return false;
	AUC_GROW(journal.runs, journal.cap, journal.len + 1);
	journal.runs[journal.len++] = *run;
	return true;
}

/* So many that nobody can have saved for long: they are forgotten, all of them. */
static void _overflow(void)
{
	errno = EFBIG;
	if (journal.fd >= 0)
		_break("can't add to");
	journal.forgotten += journal.len;
	journal.len = 0;
	journal.gap = journal.forgotten + 1;
}

static void _append(const auc_run_t *run)
{
	char line[AUC_RUN_LINE];
	int len = auc_run_format(line, sizeof(line), run);

	slurm_mutex_lock(&journal.lock);
	if (!journal.open) {
		;
	} else if (!_remember(run)) {
		_overflow();
	} else if (journal.fd < 0) {
		;
	} else if (write(journal.fd, line, len) != len) {
		_break("can't write");
	} else
		journal.lines++;
	slurm_mutex_unlock(&journal.lock);
}

extern void auc_journal_start(uint32_t job_id, time_t start)
{
	auc_run_t run = { .job_id = job_id, .start = start };

	_append(&run);
	slurm_mutex_lock(&journal.lock);
	journal.started_us = auc_now_us();
	slurm_mutex_unlock(&journal.lock);
}

extern int64_t auc_journal_rest_us(void)
{
	int64_t rest = 0;

	slurm_mutex_lock(&journal.lock);
	if (journal.started_us)
		rest = journal.started_us + LAUNCH_US - auc_now_us();
	slurm_mutex_unlock(&journal.lock);
	return MAX(rest, 0);
}

extern void auc_journal_end(job_record_t *job_ptr)
{
	auc_run_t run = {
		.job_id = job_ptr->job_id,
		.start = job_ptr->start_time,
		.ended = true,
		.state = job_ptr->job_state,
		.exit_code = job_ptr->exit_code,
	};

	_append(&run);
}

static void _read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[AUC_RUN_LINE];
	uint32_t bad = 0;
	auc_run_t run;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		journal.lines++;
		if (!auc_run_parse(line, &run))
			bad++;
		else if (!_remember(&run))
			break;
	}
	fclose(file);
	if (bad)
		error("aucsched: %s: %u lines are no starts or ends; left out",
		      path, bad);
}

/* Writes to a new file what is not forgotten. RET its descriptor, or -1 */
static int _write_new(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC |
		      O_NOFOLLOW, 0600);
	char *text = xstrdup(""), *end = NULL, line[AUC_RUN_LINE];
	size_t size;

	for (size_t i = 0; i < journal.len; i++) {
		(void) auc_run_format(line, sizeof(line), &journal.runs[i]);
		xstrcatat(text, &end, line);
	}
	size = strlen(text);
	if ((fd >= 0) && (write(fd, text, size) != size)) {
		close(fd);
		fd = -1;
	}
	xfree(text);
	return fd;
}

/* Writes the whole file. Whoever is killed meanwhile leaves the old one, which is as good, only longer. */
static void _rewrite(void)
{
	char *new = xstrdup_printf("%s.new", journal.path);
	int fd = _write_new(new);

	if ((fd >= 0) && !rename(new, journal.path)) {
		if (journal.fd >= 0)
			close(journal.fd);
		journal.fd = fd;
		journal.lines = journal.len;
		journal.why = NULL;
	} else {
		error("aucsched: can't write %s: %m", new);
		journal.lines = 0;	/* tried again after as many lines */
		if (fd >= 0)
			close(fd);
		(void) unlink(new);
	}
	xfree(new);
}

extern auc_run_t *auc_journal_open(const char *dir, size_t *len)
{
	auc_run_t *runs = NULL;

	slurm_mutex_lock(&journal.lock);
	xfree(journal.path);
	journal.path = xstrdup_printf("%s/aucsched_journal", dir);
	journal.len = journal.lines = journal.gap = 0;
	_read(journal.path);
	if ((*len = journal.len)) {
		runs = xcalloc(journal.len, sizeof(*runs));
		memcpy(runs, journal.runs, journal.len * sizeof(*runs));
	}
	journal.open = true;
	journal.why = "can't write";
	_rewrite();
	slurm_mutex_unlock(&journal.lock);
	return runs;
}

extern const char *auc_journal_why_off(void)
{
	const char *why;

	slurm_mutex_lock(&journal.lock);
	why = (journal.fd >= 0) ? NULL : journal.open ? journal.why : "off";
	slurm_mutex_unlock(&journal.lock);
	return why;
}

extern size_t auc_journal_mark(void)
{
	size_t mark;

	slurm_mutex_lock(&journal.lock);
	mark = journal.forgotten + journal.len;
	slurm_mutex_unlock(&journal.lock);
	return mark;
}

extern void auc_journal_forget(size_t mark, time_t now)
{
	size_t kept = 0;
	bool again;

	slurm_mutex_lock(&journal.lock);
	for (size_t i = 0; i < journal.len; i++) {
		const auc_run_t *run = &journal.runs[i];

		if ((journal.forgotten + i >= mark) ||
		    (!run->ended && (run->start + KEEP_SECONDS > now)))
			journal.runs[kept++] = *run;
	}
	journal.forgotten += journal.len - kept;
	journal.len = kept;
	again = journal.open && (journal.fd < 0) && (mark >= journal.gap);
	if (again || ((journal.fd >= 0) &&
		      (journal.lines > 2 * kept + SPARE_LINES)))
		_rewrite();
	if (again && (journal.fd >= 0))
		info("aucsched: starts and ends are recorded again");
	slurm_mutex_unlock(&journal.lock);
}

extern void auc_journal_close(bool discard)
{
	slurm_mutex_lock(&journal.lock);
	if (journal.fd >= 0)
		close(journal.fd);
	if (journal.path && discard)
		(void) unlink(journal.path);
	journal.open = false;
	journal.fd = -1;
	xfree(journal.path);
	xfree(journal.runs);
	journal.len = journal.cap = journal.lines = 0;
	slurm_mutex_unlock(&journal.lock);
}

/*
 * Slurm's own thread that saves its state, made to save at once.
 *
 * Slurm has one thread that saves (state_save.c), which waits up to five seconds. Nobody else may
 * call dump_all_job_state(): it compares the file's time with the one that it wrote itself, and a
 * backup controller in control ends itself if they differ. So the thread is asked to end, for
 * which it first saves all that is asked for, and is started again. (It ends when it finds nothing
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
	pthread_mutex_t lock;	/* taken last, except for Slurm's on what is to be saved */
	pthread_cond_t wake, done;
	bool inside;		/* it is in Slurm's function, or will be at once */
	bool end;		/* it is to end */
	bool left;		/* it is left to Slurm, since it did not */
	uint64_t asked, saved;	/* so many saves; the last of them has ended */
	int rc;			/* so */
} own = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void __attribute__((constructor)) _make(void)
{
	auc_cond_init(&own.wake);
	auc_cond_init(&own.done);
}

static void _say_ended(void)
{
	__atomic_store_n(&saver.ended, true, __ATOMIC_RELEASE);
}

/* Under own.lock, except for the time that it takes. */
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

/* The thread has ended, and is started again. */
static void _restart(bool ours)
{
	saver.ending = false;
	saver.ours = ours;
	if (ours) {	/* nobody else looks at it now */
		own.inside = true;
		own.end = own.left = false;
	}
	auc_saver_create(&slurmctld_config.thread_id_save,
			 ours ? _save : slurmctld_state_save);
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

	if (!stat(path, &status)) {
		file.number = status.st_ino;
		file.written = status.st_mtim;
	}
	xfree(path);
	return file;
}

/* Notes the file if it is another one than that of before. RET whether it is */
static bool _is_new(const char *dir, file_t *seen)
{
	file_t now = _file(dir);

	if (!now.number || !memcmp(seen, &now, sizeof(now)))	/* none: it is just being replaced */
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
	bool saved;

	_ask(dir, &seen);
	while (written < 2) {
		int64_t now = auc_now_us();

		if (_join()) {
			/* If nothing was written Slurm's log has the words; if it could not be linked, nobody has. */
			saved = _file(dir).number &&
				(written || _is_new(dir, &seen));
			_restart(AUC_THREADS_ARE_POOLED);
			if (ours)
				return saved ? SLURM_SUCCESS : EIO;
		}
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
	if (saver.ending && !saver.closed && _join())
		_restart(AUC_THREADS_ARE_POOLED);
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
	 * However long it takes, where nobody else could start it again: Slurm waits for it next, and
	 * has no thread then for what is to be saved meanwhile.
	 */
	while (saver.ending && !saver.closed) {
		if (_join())
			_restart(false);
		else if (AUC_THREADS_ARE_POOLED && (auc_now_us() >= end))
			break;
		else
			usleep(LOOK_US);
	}
	/* It is in our code, or somebody who waits for it is. */
	if (AUC_THREADS_ARE_POOLED && saver.ending && !saver.closed) {
		auc_object_keep(&saver);
		if (saver.ours)
			_leave();
	}
	saver.closed = true;
	slurm_mutex_unlock(&saver.lock);
}
