/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "common.h"
#include "save.h"

/* ---- Jobs that have their nodes, until the nodes hear of them: under the locks ---- */

static slurm_step_id_t _batch_step_of(uint32_t job_id)
{
	return (slurm_step_id_t) {
		.job_id = job_id,
		.step_id = SLURM_BATCH_SCRIPT,
		.step_het_comp = NO_VAL,
	};
}

/*
 * launch_job() notes the batch step. It is noted here before, so that no state is ever saved of a
 * job that runs without one: of such a job slurmctld does not believe slurmstepd, where there is
 * a slurmdbd, that the script has ended.
 */
static void _note_step(job_record_t *job_ptr)
{
	if (job_ptr->batch_flag && !pick_batch_host(job_ptr))
		(void) build_batch_step(job_ptr);
}

/* Makes room for that of launch_job(), which would be a second one. */
static void _forget_step(job_record_t *job_ptr)
{
	slurm_step_id_t batch = _batch_step_of(job_ptr->job_id);
	step_record_t *step_ptr = find_step_record(job_ptr, &batch);

	if (step_ptr)
		delete_step_record(job_ptr, step_ptr);
}

/*
 * What the user is told, and the node, has to wait until the start is saved. A job that is
 * configured first (a PrologSlurmctld, a PrEp plug-in, nodes that boot) Slurm
 * launches when it is ready, perhaps before that.
 */
extern void auc_will_launch(auc_starts_t *starts, job_record_t *job_ptr)
{
	bool by_slurm = IS_JOB_CONFIGURING(job_ptr) ||
		job_ptr->details->prolog_running;

	if (!by_slurm)
		_note_step(job_ptr);
	last_job_update = time(NULL);
	rebuild_job_part_list(job_ptr);
	AUC_APPEND(starts->launches, (auc_launch_t) { job_ptr->job_id, job_ptr->start_time, by_slurm });
	auc_journal_start(job_ptr->job_id, job_ptr->start_time);
}

/* RET whether it has to be tried again */
static bool _launch(const auc_launch_t *launch)
{
	job_record_t *job_ptr = find_job_record(launch->job_id);

	/* It may have been cancelled since, or even started again. */
	if (!job_ptr || (job_ptr->start_time != launch->start))
		return false;
	if (IS_JOB_COMPLETING(job_ptr) || IS_JOB_FINISHED(job_ptr)) {
		if (!job_ptr->batch_flag) /* who has not heard of a start waits for it */
			srun_allocate_abort(job_ptr);
		return false;
	}
	if (IS_JOB_SUSPENDED(job_ptr))
		return true;
	if (!IS_JOB_RUNNING(job_ptr))
		return false;
	if (!job_ptr->batch_flag)
		srun_allocate(job_ptr);
	else if (!launch->by_slurm) {
		_forget_step(job_ptr);
		launch_job(job_ptr);
	}
	return false;
}

extern void auc_launch(auc_starts_t *starts)
{
	size_t kept = 0;

	for (size_t i = 0; i < starts->launches_len; i++)
		if (_launch(&starts->launches[i]))
			starts->launches[kept++] = starts->launches[i];
	starts->launches_len = kept;
}

extern void auc_starts_free(auc_starts_t *starts)
{
	xfree(starts->launches);
	starts->launches_len = starts->launches_cap = 0;
}

/*
 * Slurm saves the state of jobs every few seconds. A slurmctld that is killed in between has
 * forgotten starts, and runs those jobs again; and ends, and takes those jobs for running.
 * Here
 * - the auction's starts are saved before the nodes hear of them, where it is the auction that
 *   tells the nodes (not with a PrologSlurmctld);
 * - those of Slurm's own schedulers are saved as soon as may be after them;
 * - the journal has all starts and ends that may not be saved, or not be launched. A new
 *   slurmctld ends the jobs that had ended, and asks the nodes of those that had just
 *   started whether they are there: one that was never launched goes back to the queue.
 */

/*
 * Saving takes this part of the time at most, one in so many, and rests so long at least; at most
 * as long as Slurm itself rests between two saves.
 */
#define SAVE_SHARE 10
#define REST_MS 50
#define MOST_REST_MS 5000

/* Slurm's thread may have ended since it was last looked at: it is looked at so often. */
#define MEND_EVERY_MS 100

/* What is started waits so long for its saving, and the launch with it. */
#define SAVE_MS 2000

/* What is to be done when slurmctld ends has so long. */
#define CLOSE_MS 5000

/*
 * After a failed save none is tried for so long, twice as long each time, up to Slurm's own
 * interval. No longer at once: the journal goes on after the first good save.
 */
#define PAUSE_MS 50
#define MOST_PAUSE_MS 5000

/* So long at most if none was even tried, since the files can't be replaced. */
#define MOST_PROBE_PAUSE_MS 200

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
	char *node;		/* to ask; NULL: settled */
	uint16_t protocol;	/* the node's, or the client's */
	/* Of srun and salloc, which run on node. */
	uint16_t port;		/* where it waits for nodes; 0: a batch job */
	uid_t user;
	char *cert;
	resource_allocation_response_msg_t *nodes;	/* what it waits for */
} suspect_t;

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, wanted;
	char *dir;		/* StateSaveLocation; changed while no thread runs */
	/* Any thread reads them. */
	_Atomic bool stop;
	_Atomic bool asking;	/* there may be suspects left */
	_Atomic bool late;	/* auc_saver_is_late(), after the last save */
	_Atomic int64_t paused_us; /* the last save failed, and none is tried until then; or 0 */
	_Atomic uint64_t failed; /* saves in all that did */
	int64_t pause_ms;	/* likewise, for so long. Under saving */
} keeper = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/* One save at a time: the journal forgets what came before the last. */
static pthread_mutex_t saving = PTHREAD_MUTEX_INITIALIZER;

/* The thread's alone. */
static suspect_t *suspects;
static size_t suspects_len, suspects_next;

static slurmctld_lock_t repair_locks = {
	READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK
};

/* For how long none is tried, since the last one failed. */
static int64_t _pause_us(void)
{
	return MAX(keeper.paused_us - auc_now_us(), 0);
}

/* Says so when it begins, and when it is over. Under saving. */
static void _count(int rc, int64_t most_pause_ms)
{
	int64_t was = keeper.pause_ms;

	if (rc == ECANCELED)	/* slurmctld ends, and saves by itself */
		return;
	keeper.pause_ms = !rc ? 0 : was ? MIN(2 * was, most_pause_ms) : PAUSE_MS;
	keeper.paused_us = rc ? auc_now_us() + keeper.pause_ms * 1000 : 0;
	keeper.failed += rc != 0;
	if (rc && !was)
		error("aucsched: Slurm's state could not be saved in %d ms: %s; jobs start all the same",
		      SAVE_MS, (rc == EBUSY) ? "it is still being written" :
		      strerror(rc));
	else if (!rc && was)
		info("aucsched: Slurm's state is saved in time again");
}

/* The keeper's thread looks after Slurm's as long as that is late. Under saving. */
static void _note_late(void)
{
	bool late = auc_saver_is_late();

	slurm_mutex_lock(&keeper.lock);
	if ((keeper.late = late))
		slurm_cond_signal(&keeper.wake);
	slurm_mutex_unlock(&keeper.lock);
}

/* Under saving. */
static int _save(void)
{
	size_t mark = auc_journal_mark();
	int rc = auc_saver_probe(keeper.dir);
	bool may_save = !rc;

	if (may_save && !(rc = auc_saver_save(keeper.dir, SAVE_MS)))
		auc_journal_forget(mark, time(NULL));
	_count(rc, may_save ? MOST_PAUSE_MS : MOST_PROBE_PAUSE_MS);
	_note_late();
	return rc;
}

extern int auc_keeper_save(void)
{
	int rc;

	slurm_mutex_lock(&saving);
	rc = _pause_us() ? EAGAIN : _save();
	slurm_mutex_unlock(&saving);
	if (rc && (rc != ECANCELED))
		auc_keeper_want();	/* again, after the pause */
	return rc;
}

extern uint64_t auc_keeper_failed(void)
{
	return keeper.failed;
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
	bool requeued = base == JOB_PENDING, node_failed = base == JOB_NODE_FAIL;

	info("aucsched: %pJ had ended (%s) when slurmctld was killed, and this was not saved yet",
	     job_ptr, job_state_string(base));
	if (base == JOB_TIMEOUT) {	/* job_complete() tells by the time */
		job_ptr->end_time = job_ptr->start_time;
		code = 0;
	} else if (node_failed) {
		job_ptr->exit_code = code;
	} else if (!requeued && (base != JOB_COMPLETE) && (base != JOB_FAILED) &&
		   (base != JOB_OOM)) {
		code = NO_VAL;		/* which stands for a cancelled one */
	}
	(void) auc_job_complete(job_ptr, slurm_conf.slurm_user_id, requeued,
				node_failed, code);
}

static suspect_t *_new_suspect(const job_record_t *job_ptr, const char *node)
{
	suspect_t *suspect = &suspects[suspects_len++];

	suspect->job_id = job_ptr->job_id;
	suspect->start = job_ptr->start_time;
	suspect->node = xstrdup(node);
	return suspect;
}

/* Its srun or salloc may not have been told. With a step it surely was. Repair locks. */
static void _suspect_client(job_record_t *job_ptr)
{
	suspect_t *suspect;

	if (!job_ptr->alloc_resp_port || !job_ptr->resp_host ||
	    !job_ptr->job_resrcs || job_ptr->het_job_id ||
	    (job_ptr->step_list && list_count(job_ptr->step_list)))
		return;
	suspect = _new_suspect(job_ptr, job_ptr->resp_host);
	suspect->port = job_ptr->alloc_resp_port;
	suspect->user = job_ptr->user_id;
	suspect->protocol = job_ptr->start_protocol_ver;
	suspect->cert = xstrdup(auc_client_cert(job_ptr));
	suspect->nodes = build_alloc_msg(job_ptr, SLURM_SUCCESS, NULL);
}

/* Repair locks. */
static void _suspect(job_record_t *job_ptr)
{
	const node_record_t *node_ptr;

	if (IS_JOB_CONFIGURING(job_ptr))
		return;
	if (!job_ptr->batch_flag)
		_suspect_client(job_ptr);
	else if (job_ptr->batch_host &&
		 (node_ptr = find_node_record(job_ptr->batch_host)))
		_new_suspect(job_ptr, job_ptr->batch_host)->protocol =
			node_ptr->protocol_version;
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
			_suspect(job_ptr);
	unlock_slurmctld(repair_locks);
	if (ended || suspects_len)
		info("aucsched: after a restart of slurmctld: %u jobs had ended, %zu had just started",
		     ended, suspects_len);
}

typedef enum { THERE, MISSING, UNKNOWN } answer_t;

/* Asks a node for the processes of a job's batch script. No lock: it may take its time. */
static answer_t _ask(const suspect_t *suspect)
{
	slurm_step_id_t step = _batch_step_of(suspect->job_id);
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
 * Whether the nodes of a job have been heard of: before that srun could make no step there, and
 * would not try again for minutes. So it is of a job that is gone.
 */
static bool _nodes_are_up(const suspect_t *suspect)
{
	slurmctld_lock_t locks = { .job = READ_LOCK, .node = READ_LOCK };
	job_record_t *job_ptr;
	bool up;

	lock_slurmctld(locks);
	job_ptr = find_job_record(suspect->job_id);
	up = !job_ptr || !job_ptr->node_bitmap ||
		bit_super_set(job_ptr->node_bitmap, up_node_bitmap);
	unlock_slurmctld(locks);
	return up;
}

/*
 * Tells srun or salloc again which nodes it has; it does not listen any more if it knows.
 * Not by Slurm's agent, which would cancel the job then. No lock: it may take its time.
 */
static answer_t _tell(const suspect_t *suspect)
{
	slurm_msg_t msg;
	int rc = SLURM_SUCCESS;

	slurm_msg_t_init(&msg);
	slurm_set_addr(&msg.address, suspect->port, suspect->node);
	msg.msg_type = RESPONSE_RESOURCE_ALLOCATION;
	msg.data = suspect->nodes;
	msg.protocol_version = suspect->protocol;
	auc_expect_cert(&msg, suspect->cert);
	slurm_msg_set_r_uid(&msg, suspect->user);
	if (!_nodes_are_up(suspect))
		return UNKNOWN;
	errno = 0;
	if (!slurm_send_recv_rc_msg_only_one(&msg, &rc, ASK_TIMEOUT_MS)) {
		info("aucsched: JobId=%u had not been told of its nodes when slurmctld was killed, and is now",
		     suspect->job_id);
		return THERE;
	}
	return (errno == ECONNREFUSED) ? THERE : UNKNOWN;
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
		auc_note_failed_node(job_ptr, suspect->node);
		job_ptr->exit_code = 1;
		(void) auc_job_complete(job_ptr, slurm_conf.slurm_user_id,
					again, true, 1);
	}
	unlock_slurmctld(repair_locks);
}

/*
 * A node that can't confirm a launch, since slurmctld was killed as it waited for that, takes it
 * for a failure of its own: the job is held. It is not the job's fault, nor the node's. Slurm
 * holds even a job that was cancelled meanwhile: whoever cancelled it (requid) does not want it
 * released.
 * RET whether that is what became of the job
 */
static bool _release(const suspect_t *suspect)
{
	job_record_t *job_ptr;
	bool held;

	lock_slurmctld(repair_locks);
	job_ptr = find_job_record(suspect->job_id);
	held = job_ptr && IS_JOB_PENDING(job_ptr) &&
		!IS_JOB_COMPLETING(job_ptr) && !job_ptr->priority &&
		(job_ptr->requid == (uint32_t) -1) &&
		!xstrcmp(job_ptr->state_desc, "launch failed requeued held");
	if (held) {
		info("aucsched: %pJ was being launched on %s when slurmctld was killed: released",
		     job_ptr, suspect->node);
		set_job_prio(job_ptr);
		job_ptr->state_reason = WAIT_NO_REASON;
		xfree(job_ptr->state_desc);
		job_ptr->exit_code = 0;
		last_job_update = time(NULL);
		schedule_job_save();
	}
	unlock_slurmctld(repair_locks);
	return held;
}

/* RET whether the suspect is settled */
static bool _settle(const suspect_t *suspect)
{
	time_t waits = slurm_conf.batch_start_timeout +
		MIN(DEFAULT_MSG_TIMEOUT, slurm_conf.msg_timeout);
	time_t asked = time(NULL);

	if (!suspect->port && _release(suspect))
		return true;
	switch (suspect->port ? _tell(suspect) : _ask(suspect)) {
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

extern bool auc_keeper_asks(void)
{
	return keeper.asking;
}

static void _clear(suspect_t *suspect)
{
	xfree(suspect->node);
	xfree(suspect->cert);
	if (suspect->nodes)	/* it is slurmctld's, here and there */
		suspect->nodes->working_cluster_rec = NULL;
	slurm_free_resource_allocation_response_msg(suspect->nodes);
	suspect->nodes = NULL;
}

/* Asks about some of the suspects, until it is to stop. RET whether any are left */
static bool _ask_some(void)
{
	size_t left = 0, asked = 0;

	for (size_t i = 0; i < suspects_len; i++) {
		suspect_t *suspect = &suspects[(suspects_next + i) % suspects_len];

		if (!suspect->node)
			continue;
		if ((asked++ < ASK_BATCH) && !keeper.stop && _settle(suspect))
			_clear(suspect);
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
		_clear(&suspects[i]);
	xfree(suspects);
	suspects_len = suspects_next = 0;
	keeper.asking = false;
}

/* ---- the thread ---- */

/*
 * Waits until there is something to save, and it has rested; or until due_us; or, while Slurm's
 * thread is late, until that is to be looked at.
 * RET whether there is something to save
 */
static bool _wait(int64_t rested_us, int64_t due_us)
{
	int64_t mend_us = auc_now_us() + MEND_EVERY_MS * 1000;
	bool wanted = false;

	slurm_mutex_lock(&keeper.lock);
	while (!keeper.stop) {
		int64_t now = auc_now_us();
		int64_t until = keeper.late ? MIN(due_us, mend_us) : due_us;

		wanted = keeper.wanted && (now >= rested_us);
		if (wanted || (now >= until))
			break;
		if (keeper.wanted)
			until = MIN(until, rested_us);
		if (until == INT64_MAX)
			pthread_cond_wait(&keeper.wake, &keeper.lock);
		else
			auc_cond_wait(&keeper.wake, &keeper.lock, until);
	}
	if (wanted)
		keeper.wanted = false;
	slurm_mutex_unlock(&keeper.lock);
	return wanted;
}

/* Until when it rests after a save that began then. */
static int64_t _rested_us(int64_t begin_us)
{
	int64_t now = auc_now_us();
	int64_t rest_us = (SAVE_SHARE - 1) * (now - begin_us);

	rest_us = MAX(MIN(rest_us, MOST_REST_MS * 1000), REST_MS * 1000);
	return now + MAX(rest_us, _pause_us() + 1000);
}

static void *_run(void *arg)
{
	int64_t rested_us = 0, ask_us = auc_now_us() + ASK_EVERY_MS * 1000;

	prctl(PR_SET_NAME, "auckeeper", NULL, NULL, NULL);
	while (!keeper.stop) {
		bool asking = keeper.asking;
		bool save = _wait(rested_us, asking ? ask_us : INT64_MAX);
		int64_t begin_us = auc_now_us();

		if (keeper.late) {	/* nothing at all is saved without Slurm's thread */
			slurm_mutex_lock(&saving);
			auc_saver_mend();
			_note_late();
			slurm_mutex_unlock(&saving);
		}
		if (save && !keeper.stop) {
			(void) auc_keeper_save();
			rested_us = _rested_us(begin_us);
		}
		if (asking && (begin_us >= ask_us) && !keeper.stop) {
			if (!_ask_some())
				_free_suspects();
			ask_us = auc_now_us() + ASK_EVERY_MS * 1000;
		}
	}
	_free_suspects();
	return NULL;
}

static void __attribute__((constructor)) _make(void)
{
	auc_cond_init(&keeper.wake);
}

extern void auc_keeper_start(const char *dir)
{
	size_t len = 0;
	auc_run_t *runs;

	if (keeper.running && !xstrcmp(keeper.dir, dir))
		return;
	auc_keeper_stop(true);	/* StateSaveLocation has changed */
	xfree(keeper.dir);
	keeper.dir = xstrdup(dir);
	auc_saver_open();
	runs = auc_journal_open(dir, &len);
	_repair(runs, len);
	xfree(runs);
	keeper.stop = false;
	keeper.running = true;
	keeper.asking = suspects_len;
	auc_thread_create(&keeper.thread, _run);
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
	if (!discard)
		auc_saver_close(CLOSE_MS);
	auc_journal_close(discard);
}
