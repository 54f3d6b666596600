/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells slurmctld of jobs that have ended: see vslurmd.h. While slurmctld is down, jobs
 * wait in the table: first a second, then ever longer.
 */
#include <pthread.h>
#include <unistd.h>

#include "vslurmd.h"

/* A slurmctld that is busy answers late: others need not wait for that. */
#define THREADS 8

#define LEAST_SECONDS 1
#define MOST_SECONDS 60

/* So often at most, which with those pauses is a week of the virtual clock. */
#define MOST_TRIES 10000

static double _pause(uint32_t tries)
{
	return (tries < 6) ? LEAST_SECONDS << tries : MOST_SECONDS;
}

/* RET whether slurmctld has heard of it, whatever it thinks */
static bool _report(const ended_t *ended)
{
	complete_batch_script_msg_t message = {
		.job_id = ended->job_id,
		.job_rc = ended->status,
		.node_name = ended->node,
		.user_id = getuid(),
	};
	int code;

	if (controller_send(REQUEST_COMPLETE_BATCH_SCRIPT, &message, &code) ||
	    (code == ESLURM_IN_STANDBY_MODE))
		return false;
	if (code && (code != ESLURM_ALREADY_DONE))
		info("job %u: slurmctld on its end: %s", ended->job_id,
		     slurm_strerror(code));
	return true;
}

static void *_run(void *arg)
{
	while (true) {
		ended_t ended = jobs_wait();

		if (_report(&ended)) {
			verbose("job %u: ended, status %u", ended.job_id,
			      ended.status);
			jobs_reported(&ended);
		} else if (ended.tries < MOST_TRIES) {
			if (!ended.tries)
				info("job %u: its end can't be told to slurmctld: %m; trying again",
				     ended.job_id);
			jobs_again(&ended, _pause(ended.tries));
		} else {
			error("job %u: slurmctld was told in vain %u times that it has ended",
			      ended.job_id, ended.tries);
			jobs_reported(&ended);
		}
		xfree(ended.node);
	}
	return NULL;
}

extern void report_start(void)
{
	for (int i = 0; i < THREADS; i++)
		start_thread(_run);
}
