/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * site_factor/age: jobs age without a slurmdbd. Where there is none, priority/multifactor
 * ignores PriorityWeightAge, and never computes a priority a second time. Here a job's
 * site factor is its age, a point for each whole minute up to PriorityMaxAge, as
 * PriorityWeightAge has it with as many points as PriorityMaxAge has minutes; and once in
 * PriorityCalcPeriod all priorities are computed anew, by Slurm itself.
 *
 * Locks: the thread takes jobs to write, and nodes and partitions to read, as
 * priority/multifactor's own does, and lock only to wait. The other functions are called
 * by slurmctld.
 */
#include <pthread.h>

#include "config.h"

#include "src/common/slurm_xlator.h"

#include "src/common/list.h"
#include "src/common/macros.h"
#include "src/common/read_config.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"

const char plugin_name[] = "Age of jobs as site factor";
const char plugin_type[] = "site_factor/age";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool over; /* under lock */

extern void site_factor_p_set(job_record_t *job_ptr)
{
	time_t since = job_ptr->details ? job_ptr->details->accrue_time : 0;
	time_t age = since ? MAX(time(NULL) - since, 0) : 0;

	job_ptr->site_factor = NICE_OFFSET +
		MIN(age, (time_t) slurm_conf.priority_max_age) / 60;
}

extern void site_factor_p_reconfig(void)
{
}

/* Only priority/multifactor's own thread calls this, where there is a slurmdbd. */
extern void site_factor_p_update(void)
{
}

static int _compute(void *x, void *arg)
{
	job_record_t *job_ptr = x;

	if (IS_JOB_PENDING(job_ptr) && job_ptr->priority)
		set_job_prio(job_ptr);
	return SLURM_SUCCESS;
}

static void _compute_all(void)
{
	slurmctld_lock_t locks =
		{ NO_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK, NO_LOCK };

	lock_slurmctld(locks);
	if (job_list) {
		(void) list_for_each(job_list, _compute, NULL);
		last_job_update = time(NULL);
	}
	unlock_slurmctld(locks);
}

/* Waits for the end, a period at most. RET whether that has come */
static bool _wait(void)
{
	struct timespec until = {
		.tv_sec = time(NULL) + MAX(slurm_conf.priority_calc_period, 1)
	};
	bool ends;

	slurm_mutex_lock(&lock);
	while (!over && (time(NULL) < until.tv_sec))
		slurm_cond_timedwait(&cond, &lock, &until);
	ends = over;
	slurm_mutex_unlock(&lock);
	return ends;
}

static void *_run(void *arg)
{
	while (!_wait())
		_compute_all();
	return NULL;
}

extern int init(void)
{
	slurm_thread_create(&thread, _run, NULL);
	return SLURM_SUCCESS;
}

extern int fini(void)
{
	slurm_mutex_lock(&lock);
	over = true;
	slurm_cond_signal(&cond);
	slurm_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return SLURM_SUCCESS;
}
