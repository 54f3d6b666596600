/*
 * The thread that keeps slurmctld's saved state up to date, and repairs it after a
 * kill: see scheduler.h.
 *
 * Slurm saves the state of jobs every few seconds. A slurmctld that is killed in between has
 * forgotten starts, and runs those jobs again; and ends, and takes those jobs for running.
 * Here
 * - the auction's starts are saved before the nodes hear of them;
 * - those of Slurm's own schedulers are saved as soon as may be after them;
 * - the journal has all starts and ends that may not be saved, or not be launched. A new
 *   slurmctld ends the jobs that had ended, and asks the nodes of those that had just
 *   started whether they are there: one that was never launched goes back to the queue.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "scheduler.h"

/* Saving takes this part of the time at most, one in so many, and rests so long at least. */
#define SAVE_SHARE 10
#define REST_MS 50

/* A node is waited for so long, and asked again after that. */
#define ASK_TIMEOUT_MS 1000
#define ASK_EVERY_MS 1000

/* A node that does not answer for so long is Slurm's business. */
#define ASK_SECONDS 300

/* Jobs asked about in a row, before saving has its turn. */
#define ASK_BATCH 64

/* A job that a new slurmctld found running, and may never have been launched. */
typedef struct {
	uint32_t job_id;
	time_t start;
	char *node;		/* with the batch script; NULL: settled */
	uint16_t protocol;	/* the node's */
} suspect_t;

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, stop, wanted;
} keeper = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/* One at a time, so that an older state never overwrites a newer one of ours. */
static pthread_mutex_t saving = PTHREAD_MUTEX_INITIALIZER;

/* The thread's alone. */
static suspect_t *suspects;
static size_t suspects_len, suspects_next;

static slurmctld_lock_t repair_locks = {
	READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK
};

extern int auc_keeper_save(void)
{
	size_t mark;
	int rc;

	slurm_mutex_lock(&saving);
	mark = auc_journal_mark();
	if (!(rc = dump_all_job_state()))
		auc_journal_forget(mark, time(NULL));
	slurm_mutex_unlock(&saving);
	return rc;
}

extern void auc_keeper_want(void)
{
	slurm_mutex_lock(&keeper.lock);
	keeper.wanted = true;
	slurm_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
}

/* ---- repair ---- */

/* The job of a run, if it is running it, or was suspended in it. Job read lock. */
static job_record_t *_running(uint32_t job_id, time_t start)
{
	job_record_t *job_ptr = find_job_record(job_id);

	if (!job_ptr ||
	    !(IS_JOB_RUNNING(job_ptr) || IS_JOB_SUSPENDED(job_ptr)) ||
	    IS_JOB_COMPLETING(job_ptr) || (job_ptr->start_time != start))
		return NULL;
	return job_ptr;
}

/* Ends a job as it has ended before slurmctld was killed. Repair locks. */
static void _end(job_record_t *job_ptr, const auc_run_t *run)
{
	uint32_t base = run->state & JOB_STATE_BASE, code = run->exit_code;
	uid_t uid = slurm_conf.slurm_user_id;

	info("aucsched: %pJ had ended (%s) when slurmctld was killed, and this was not saved yet",
	     job_ptr, job_state_string(base));
	switch (base) {
	case JOB_PENDING:	/* requeued */
		(void) job_complete(job_ptr->job_id, uid, true, false, NO_VAL);
		break;
	case JOB_COMPLETE:
	case JOB_FAILED:
	case JOB_OOM:
		(void) job_complete(job_ptr->job_id, uid, false, false, code);
		break;
	case JOB_TIMEOUT:	/* job_complete() tells by the time */
		job_ptr->end_time = job_ptr->start_time;
		(void) job_complete(job_ptr->job_id, uid, false, false, 0);
		break;
	default:		/* NO_VAL stands for a cancelled one */
		(void) job_complete(job_ptr->job_id, uid, false,
				    base == JOB_NODE_FAIL, NO_VAL);
	}
}

static void _suspect(const job_record_t *job_ptr, time_t start)
{
	const node_record_t *node_ptr;
	suspect_t *suspect;

	if (!job_ptr->batch_flag || IS_JOB_CONFIGURING(job_ptr) ||
	    !job_ptr->batch_host ||
	    !(node_ptr = find_node_record(job_ptr->batch_host)))
		return;
	suspect = &suspects[suspects_len++];
	suspect->job_id = job_ptr->job_id;
	suspect->start = start;
	suspect->node = xstrdup(job_ptr->batch_host);
	suspect->protocol = node_ptr->protocol_version;
}

/* A start is noted by Slurm in the second of the journal's, or just after it. */
static job_record_t *_started(const auc_run_t *run)
{
	job_record_t *job_ptr = NULL;

	for (time_t late = 0; !job_ptr && (late <= 1); late++)
		job_ptr = _running(run->job_id, run->start + late);
	return job_ptr;
}

/* All ends first: a job that is then still running has started for good, or on paper. */
static void _repair(const auc_run_t *runs, size_t len)
{
	job_record_t *job_ptr;
	uint32_t ended = 0;

	suspects = xcalloc(len + 1, sizeof(*suspects));
	lock_slurmctld(repair_locks);
	for (size_t i = 0; i < len; i++) {
		if (runs[i].ended &&
		    (job_ptr = _running(runs[i].job_id, runs[i].start))) {
			_end(job_ptr, &runs[i]);
			ended++;
		}
	}
	for (size_t i = 0; i < len; i++)
		if (!runs[i].ended && (job_ptr = _started(&runs[i])))
			_suspect(job_ptr, job_ptr->start_time);
	unlock_slurmctld(repair_locks);
	if (ended || suspects_len)
		info("aucsched: after a kill of slurmctld: %u jobs had ended, %zu had just started",
		     ended, suspects_len);
}

typedef enum { THERE, MISSING, UNKNOWN } answer_t;

/* Asks a node for the processes of a job's batch script. No lock: it may take its time. */
static answer_t _ask(const suspect_t *suspect)
{
	slurm_step_id_t step = {
		.job_id = suspect->job_id,
		.step_id = SLURM_BATCH_SCRIPT,
		.step_het_comp = NO_VAL,
	};
	slurm_msg_t question, reply;
	answer_t answer = UNKNOWN;

	slurm_msg_t_init(&question);
	slurm_msg_t_init(&reply);
	if (slurm_conf_get_addr(suspect->node, &question.address, 0))
		return UNKNOWN;
	question.msg_type = REQUEST_JOB_STEP_PIDS;
	question.data = &step;
	question.protocol_version = suspect->protocol;
	slurm_msg_set_r_uid(&question, slurm_conf.slurmd_user_id);
	if (slurm_send_recv_node_msg(&question, &reply, ASK_TIMEOUT_MS))
		return UNKNOWN;
	if (reply.msg_type == RESPONSE_JOB_STEP_PIDS)
		answer = THERE;
	else if ((reply.msg_type == RESPONSE_SLURM_RC) &&
		 (slurm_get_return_code(reply.msg_type, reply.data) ==
		  ESLURM_INVALID_JOB_ID))
		answer = MISSING;
	slurm_free_msg_members(&reply);
	return answer;
}

/*
 * Slurm's own rule for a batch job that its node does not know, which it applies when
 * the node registers, perhaps an hour later.
 */
static void _requeue(const suspect_t *suspect)
{
	job_record_t *job_ptr;

	lock_slurmctld(repair_locks);
	job_ptr = _running(suspect->job_id, suspect->start);
	if (job_ptr) {
		bool again = job_ptr->details && job_ptr->details->requeue;

		info("aucsched: %pJ was not launched on %s before slurmctld was killed%s",
		     job_ptr, suspect->node, again ? ": requeued" : "");
		job_ptr->exit_code = 1;
		(void) job_complete(suspect->job_id, slurm_conf.slurm_user_id,
				    again, true, NO_VAL);
	}
	unlock_slurmctld(repair_locks);
}

/* RET whether the suspect is settled */
static bool _settle(const suspect_t *suspect)
{
	time_t waits = slurm_conf.batch_start_timeout +
		MIN(DEFAULT_MSG_TIMEOUT, slurm_conf.msg_timeout);
	time_t asked = time(NULL);

	switch (_ask(suspect)) {
	case THERE:
		return true;
	case MISSING:	/* or about to be launched */
		if (asked <= suspect->start + waits)
			return false;
		_requeue(suspect);
		return true;
	default:
		return asked > suspect->start + ASK_SECONDS;
	}
}

/* Asks about some of the suspects. RET whether any are left */
static bool _ask_some(void)
{
	size_t left = 0, asked = 0;

	for (size_t i = 0; i < suspects_len; i++) {
		suspect_t *suspect = &suspects[(suspects_next + i) % suspects_len];

		if (!suspect->node)
			continue;
		if ((asked++ < ASK_BATCH) && _settle(suspect))
			xfree(suspect->node);
		else
			left++;
	}
	if (suspects_len)
		suspects_next = (suspects_next + ASK_BATCH) % suspects_len;
	return left;
}

static void _free_suspects(void)
{
	for (size_t i = 0; i < suspects_len; i++)
		xfree(suspects[i].node);
	xfree(suspects);
	suspects_len = suspects_next = 0;
}

/* ---- the thread ---- */

/*
 * Waits until there is something to save, or for wait_ms if that is not 0; rests first.
 * RET whether there is something to save
 */
static bool _wait(int64_t rest_ms, int64_t wait_ms)
{
	int64_t now = auc_now_us() / 1000, due = now + wait_ms;
	int64_t rested = now + rest_ms;
	struct timespec ts;
	bool wanted;

	slurm_mutex_lock(&keeper.lock);
	while (!keeper.stop && ((now = auc_now_us() / 1000) < rested ||
				(!keeper.wanted && (!wait_ms || now < due)))) {
		int64_t ms = 1000;

		if (now < rested)
			ms = rested - now;
		else if (wait_ms)
			ms = due - now;
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += (ms % 1000) * 1000000;
		ts.tv_sec += ms / 1000 + ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&keeper.wake, &keeper.lock, &ts);
	}
	wanted = keeper.wanted;
	keeper.wanted = false;
	slurm_mutex_unlock(&keeper.lock);
	return wanted;
}

static bool _stopped(void)
{
	bool stop;

	slurm_mutex_lock(&keeper.lock);
	stop = keeper.stop;
	slurm_mutex_unlock(&keeper.lock);
	return stop;
}

static void *_run(void *arg)
{
	bool asking = suspects_len;
	int64_t rest_ms = 0;

	prctl(PR_SET_NAME, "auckeeper", NULL, NULL, NULL);
	while (!_stopped()) {
		bool save = _wait(rest_ms, asking ? ASK_EVERY_MS : 0);
		int64_t begin = auc_now_us();

		if (save && !_stopped())
			(void) auc_keeper_save();
		rest_ms = MAX(REST_MS, (SAVE_SHARE - 1) *
			      (auc_now_us() - begin) / 1000);
		if (asking && !_stopped() && !(asking = _ask_some()))
			_free_suspects();
	}
	_free_suspects();
	return NULL;
}

extern void auc_keeper_start(const char *dir)
{
	size_t len = 0;
	auc_run_t *runs;

	if (keeper.running)
		return;
	runs = auc_journal_open(dir, &len);
	_repair(runs, len);
	xfree(runs);
	keeper.stop = false;
	keeper.running = true;
	slurm_thread_create(&keeper.thread, _run, NULL);
}

extern void auc_keeper_stop(bool discard)
{
	if (!keeper.running)
		return;
	slurm_mutex_lock(&keeper.lock);
	keeper.stop = true;
	slurm_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
	pthread_join(keeper.thread, NULL);
	keeper.running = false;
	auc_journal_close(discard);
}
