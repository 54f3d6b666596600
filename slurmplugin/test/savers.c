/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The saver, with a thread in place of slurmctld's that saves as slowly as the test wants. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../save.h"
#include "units.h"

#if !AUC_THREADS_ARE_POOLED

slurmctld_config_t slurmctld_config;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;
	int threads;		/* that were started */
	bool asked;		/* the last one is to end */
	bool slow;		/* and can't yet */
	char *state;		/* that it writes before it ends; NULL: none */
	bool loses;		/* what it has written, as by a link() that fails */
} fake = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.change = PTHREAD_COND_INITIALIZER,
};

extern void *slurmctld_state_save(void *arg)
{
	pthread_mutex_lock(&fake.lock);
	fake.threads++;
	pthread_cond_broadcast(&fake.change);
	while (!fake.asked || fake.slow)
		pthread_cond_wait(&fake.change, &fake.lock);
	fake.asked = false;
	if (fake.state) {
		fclose(fopen(fake.state, "w"));
		usleep(50000);	/* it is seen */
		if (fake.loses)
			unlink(fake.state);
	}
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

extern void shutdown_state_save(void)
{
	pthread_mutex_lock(&fake.lock);
	fake.asked = true;
	pthread_cond_broadcast(&fake.change);
	pthread_mutex_unlock(&fake.lock);
}

extern void schedule_job_save(void)
{
}

extern int dump_all_job_state(void)
{
	return 0;
}

extern int dump_all_node_state(void)
{
	return 0;
}

extern int dump_all_part_state(void)
{
	return 0;
}

extern int dump_all_resv_state(void)
{
	return 0;
}

extern int trigger_state_save(void)
{
	return 0;
}

static void *_hurry(void *arg)
{
	usleep(100000);	/* longer than the saver is given */
	pthread_mutex_lock(&fake.lock);
	fake.slow = false;
	pthread_cond_broadcast(&fake.change);
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

/* RET whether so many threads have been started, in good time */
static bool _await(int threads)
{
	struct timespec end = { .tv_sec = time(NULL) + 10 };
	bool there;

	pthread_mutex_lock(&fake.lock);
	while ((fake.threads < threads) &&
	       !pthread_cond_timedwait(&fake.change, &fake.lock, &end))
		;
	there = fake.threads >= threads;
	pthread_mutex_unlock(&fake.lock);
	return there;
}

/* Slurm's thread is there again when slurmctld ends, however late it is. */
static void _test_late(const char *dir)
{
	pthread_t hurry;
	void *ended;

	pthread_create(&slurmctld_config.thread_id_save, NULL,
		       slurmctld_state_save, NULL);
	CHECK(_await(1), "Slurm's own");
	auc_saver_open();
	fake.slow = true;
	CHECK(auc_saver_save(dir, 10) == EBUSY, "it is slow");
	CHECK(auc_saver_is_late(), "it was asked to end");
	pthread_create(&hurry, NULL, _hurry, NULL);
	auc_saver_close(1);
	CHECK(!auc_saver_is_late(), "it has ended");
	CHECK(_await(2), "it was started anew");
	pthread_join(hurry, &ended);
	shutdown_state_save();
	pthread_join(slurmctld_config.thread_id_save, &ended);
}

/* A state that was written, and then has no name, is not saved. */
static void _test_lost(const char *dir)
{
	void *ended;

	fake.state = xstrdup_printf("%s/job_state", dir);
	pthread_create(&slurmctld_config.thread_id_save, NULL,
		       slurmctld_state_save, NULL);
	auc_saver_open();
	CHECK(auc_saver_save(dir, 1000) == SLURM_SUCCESS, "it is written");
	fake.loses = true;
	CHECK(auc_saver_save(dir, 1000) == EIO, "there is no file");
	fake.loses = false;
	CHECK(auc_saver_save(dir, 1000) == SLURM_SUCCESS, "it is written again");
	auc_saver_close(1);
	unlink(fake.state);
	xfree(fake.state);
	shutdown_state_save();
	pthread_join(slurmctld_config.thread_id_save, &ended);
}

/* A probe writes through no link, and leaves nothing. */
static void _test_probe(const char *dir)
{
	char *probe = xstrdup_printf("%s/aucsched_probe", dir);
	char *other = xstrdup_printf("%s/other", dir);
	struct stat status;

	CHECK(!symlink(other, probe), "%m");
	CHECK(auc_saver_probe(dir) == SLURM_SUCCESS, "%m");
	CHECK(lstat(other, &status), "what the link names is not made");
	CHECK(lstat(probe, &status), "nothing is left");
	xfree(probe);
	xfree(other);
}

extern void test_savers(void)
{
	char dir[] = "/tmp/aucsched-savers-XXXXXX";

	CHECK(mkdtemp(dir), "%m");
	_test_late(dir);
	_test_lost(dir);
	_test_probe(dir);
	CHECK(!rmdir(dir), "%m");
}

#else

extern void test_savers(void)
{
}

#endif
