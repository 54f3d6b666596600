/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The thread that runs the cycles: see agent.h.
 *
 * A cycle takes its snapshot under the locks, decides without them, and takes them again
 * to start what was decided. While cycles come to decisions the auction claims the jobs that it
 * models: Slurm's own schedulers hear from the select shim that the nodes are
 * busy. The claim lapses by itself when no cycle has ended for a while, so that a
 * thread that hangs, in the library or elsewhere, costs nothing but the auction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent.h"
#include "common.h"
#include "model.h"
#include "reason.h"
#include "start.h"

/* How long the claim outlasts the last cycle, and a start of slurmctld, at least. */
#define CLAIM_SECONDS 10

/* From one cycle to the next at least, however many want one. */
#define LEAST_MS 100

/* Nobody has wanted a job started for this part of the delay, one in so many: all are there. */
#define QUIET_PART 4

/* The longest hold of the locks while starting jobs; then others get them. */
#define START_US 500000

/* Between two batches of starts others get the locks. */
#define YIELD_US 20000

/*
 * What time alone brings (--begin, limits, a place that is due) waits for a cycle so long at
 * most.
 */
#define STILL_SECONDS 30

/* From one cycle to the next, at most, while nodes that are kept are cleaned up. */
#define KEEPS_MS 500

/* How long fini() waits for the thread, beyond the deadline of a decision. */
#define JOIN_SECONDS 10

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, stop, reconfig;
	int64_t wanted_ms;	/* somebody wants a job started, since; 0: nobody */
	int64_t last_ms;	/* and somebody has wanted one last */
} cycles = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/* What the select shim's calls go by. Changed under the job write lock, read under it. */
static struct {
	int64_t until_us;	/* when the claim to our jobs lapses, by the monotonic clock; 0: there is none */
	bool at_once;		/* auc_at_once */
	bool preempt;		/* the auction says who is preempted */
	int delay_ms;		/* auc_delay_ms */
	bool closed;		/* slurmctld ends: hooks are not set again */
	uint32_t passing;	/* a job that Slurm may start at once; 0: none */
	uint32_t left;		/* the one asked about last that is left to Slurm; 0: it is not */
} claim;

/* The agent's thread alone. */
static auc_settings_t settings;
static auc_library_t library;
static auc_snapshot_t snapshot;
static auc_status_t status = { .state = "starting" };
static auc_select_hooks_t *hooks;
static uint32_t cycle_number;
static int64_t paced_ms;	/* from the last begin of a cycle to the next at least */
static bool failing;		/* the last cycle came to no decision */
static auc_waits_t waits;	/* for places that are kept until others have ended */
static bool asks;		/* there is somebody left to ask about: see overdue.c */
static time_t looked;		/* of the last snapshot, if it led to no start though there was time; or 0 */
static int64_t looked_us;	/* when that was, by the monotonic clock */
static auc_starts_t starts = { .status = &status }; /* with jobs that were suspended before they were launched */
static bool state_unrepaired = true;	/* no keeper has looked at it yet */
static char *state_dir;
static char *sched_params;	/* that the settings were read from */
static char *said;	/* what the log says that we run with */
static bool private_jobs;	/* PrivateData=jobs */
static bool in_shadow;		/* so it was when the settings were last looked at */

static slurmctld_lock_t auc_locks = {
	READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK
};

static slurmctld_lock_t job_lock = { .job = WRITE_LOCK };

/* ---- the claim ---- */

/* IN seconds - from now on; 0: no claim */
static void _set_claim(int seconds)
{
	bool ends = !seconds && (claim.until_us > auc_now_us());

	lock_slurmctld(job_lock);
	claim.until_us = seconds ? auc_now_us() + seconds * 1000000LL : 0;
	unlock_slurmctld(job_lock);
	if (ends)	/* Slurm has passed over the jobs that were ours, and would not come back to them soon */
		queue_job_scheduler();
}

static void _wake(void)
{
	int64_t now = auc_now_us() / 1000;

	slurm_mutex_lock(&cycles.lock);
	cycles.last_ms = now;
	if (!cycles.wanted_ms) {
		cycles.wanted_ms = now;
		slurm_cond_signal(&cycles.wake);
	}
	slurm_mutex_unlock(&cycles.lock);
}

/*
 * Whether the auction keeps a job for itself, or who is preempted for it: for the select shim. Whether
 * it can model a job the next cycle says. Job write lock.
 */
static auc_whose_t _whose(job_record_t *job_ptr)
{
	const auc_memo_t *memo;

	claim.passing = claim.left = 0;
	if (auc_now_us() >= claim.until_us)
		return AUC_SLURMS;
	memo = auc_memo_find(job_ptr->job_id);
	/* The components of a heterogeneous job start together. */
	if ((memo && (memo->left || (memo->until > auc_now_s()))) ||
	    job_ptr->het_job_id || auc_out_of_scope(job_ptr, job_ptr->part_ptr)) {
		claim.left = job_ptr->job_id;
		return AUC_SLURMS;
	}
	if (claim.at_once && !memo && auc_alone_is(job_ptr, claim.delay_ms)) {
		claim.passing = job_ptr->job_id;
		if (!claim.preempt || !slurm_preemption_enabled())
			return AUC_SLURMS;
		_wake();	/* it may find nothing free */
		return AUC_ON_FREE;
	}
	auc_alone_waits(job_ptr);
	_wake();
	return AUC_AUCTIONED;
}

/* Keeps places for jobs whose victims are on their way out: for the select shim. Job write lock. */
static void _keep(job_record_t *job_ptr, bitstr_t *nodes)
{
	if (auc_now_us() < claim.until_us)
		auc_holds_keep(job_ptr, nodes);
}

/* ---- starts and ends of others ---- */

/* Slurm's own schedulers have found a job its nodes: they launch it at once. */
static void _taken(job_record_t *job_ptr)
{
	auc_verdict_drop(job_ptr);
	if (claim.passing == job_ptr->job_id)
		auc_alone_started(job_ptr);
	if (claim.left == job_ptr->job_id)
		auc_left_started(job_ptr);
	claim.passing = claim.left = 0;
	auc_journal_start(job_ptr->job_id, time(NULL));
	auc_keeper_want();
}

/* Job write lock, so that nobody is in one of them. */
static void _set_hooks(bool on)
{
	if (!hooks)
		return;
	lock_slurmctld(job_lock);
	on = on && !claim.closed;
	claim.at_once = settings.at_once;
	claim.delay_ms = settings.delay_ms;
	claim.preempt = settings.preempt;
	hooks->whose = on ? _whose : NULL;
	hooks->keep = on ? _keep : NULL;
	hooks->taken = on ? _taken : NULL;
	hooks->freed = on ? auc_journal_end : NULL;
	hooks->aside = settings.enabled && settings.shadow && !claim.closed;
	unlock_slurmctld(job_lock);
}

/*
 * A new slurmctld repairs what a killed one left behind, whatever the settings are now. When
 * that is done there is a journal without gaps, or none. A save may be late even then.
 */
static void _tend_keeper(void)
{
	bool on = settings.enabled && hooks && !settings.shadow;

	if (on || state_unrepaired)
		auc_keeper_start(state_dir);
	state_unrepaired = false;
	if (!on && !auc_keeper_asks())
		auc_keeper_stop(true);
	auc_saver_mend();
}

/* ---- states ---- */

static void _state(const char *state, const char *text)
{
	status.state = state;
	(void) auc_set_text(&status.state_text, text);
}

/* Slurm alone schedules from now on; says so once. */
static void _give_up(const char *state, const char *text)
{
	if (xstrcmp(status.state, state))
		error("aucsched: %s; Slurm's own schedulers go on alone", text);
	_state(state, text);
	_set_claim(0);
	status.fallbacks++;
}

/* Only if they are new: what is wrong in them is logged once. The library reads them, if there is to be one. */
static void _read_settings(void)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK, .job = WRITE_LOCK,
				   .part = READ_LOCK };
	bool fresh;

	lock_slurmctld(locks);
	fresh = auc_set_text(&sched_params, slurm_conf.sched_params) ||
		!settings.engine;
	(void) auc_set_text(&state_dir, slurm_conf.state_save_location);
	private_jobs = slurm_conf.private_data & PRIVATE_DATA_JOBS;
	if (!hooks)
		hooks = auc_find_select_hooks();
	unlock_slurmctld(locks);
	if (fresh) {
		bool load = auc_yes(sched_params, "auc_enabled=", true);

		if (load && auc_library_load(&library, sched_params))
			load = false;
		auc_settings_read(&settings, load ? &library : NULL,
				  sched_params);
	}
	lock_slurmctld(locks);
	auc_scope_refresh(&settings);
	unlock_slurmctld(locks);
}

/* Cycles come to decisions. */
static void _state_on(void)
{
	if (settings.shadow)
		_state("shadow", "decides, and starts nothing (auc_mode=shadow)");
	else
		_state("on", "");
}

/* Says so whenever there is something new in it. */
static void _say_on(void)
{
	const char *mode = settings.shadow ? "shadow" : "on";
	char *text = xstrdup_printf("%s %s, every %d s, %s", library.path,
				    library.version, settings.interval,
				    settings.engine);

	if (settings.partitions)
		xstrfmtcat(text, " partitions=%s", settings.partitions);
	if (settings.users_share < 100)
		xstrfmtcat(text, " users_share=%d", settings.users_share);
	if (xstrcmp(text, said) || xstrcmp(status.state, mode))
		info("aucsched: %s: %s", mode, text);
	xfree(said);
	said = text;
	_state_on();
}

/* Nothing is to be started before the first cycle, for which the library has to be loaded. */
static void _claim_first(void)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK };
	word_t mode = { 0 };
	bool starts_jobs;

	lock_slurmctld(locks);
	starts_jobs = (!auc_param(slurm_conf.sched_params, "auc_mode=", &mode) ||
		       auc_is(mode, "on")) &&
		auc_yes(slurm_conf.sched_params, "auc_enabled=", true);
	hooks = auc_find_select_hooks();
	(void) auc_set_text(&state_dir, slurm_conf.state_save_location);
	unlock_slurmctld(locks);
	if (!starts_jobs)
		return;
	/* Before the hooks are set: jobs end while the library is loaded. */
	auc_keeper_start(state_dir);
	state_unrepaired = false;
	_set_claim(CLAIM_SECONDS);
	_set_hooks(true);
}

/* What has to be done without cycles too. */
static void _idle(void)
{
	lock_slurmctld(auc_locks);
	if (!slurmctld_config.shutdown_time) {
		auc_holds_free();
		auc_requests_restore();
		auc_clear_reasons();
	}
	unlock_slurmctld(auc_locks);
}

/* In shadow mode nobody claims a job, keeps a node or hears of starts; nor is anything left of that. */
static void _stand_aside(void)
{
	_set_claim(0);
	_set_hooks(false);
	if (!in_shadow)
		_idle();
	asks = false;
	waits = AUC_NOBODY;
}

/* What nodes hold of files outlasts slurmctld. IN end - the last time, before the library is closed */
static void _keep_files(bool end)
{
	char *path;

	if (!settings.locality || !library.scheduler)
		return;
	path = xstrdup_printf("%s/aucsched_files", state_dir);
	if (auc_library_keep_files(&library, path, end))
		error("aucsched: %s: %s", path, library.error);
	xfree(path);
}

/* Makes ready what a cycle needs; false if there is to be none. */
static bool _ready(void)
{
	if (!settings.enabled) {
		const char *why = auc_yes(sched_params, "auc_enabled=", true) ?
			"a setting is wrong that says for which jobs it is" :
			"auc_enabled=no";

		if (xstrcmp(status.state, "off"))
			info("aucsched: off (%s); Slurm's own schedulers go on alone",
			     why);
		_state("off", why);
		_set_claim(0);
		_set_hooks(false);
		return false;
	}
	if (settings.shadow) {
		_stand_aside();
	} else if (!hooks) {
		_give_up("no-shim", "select/cons_tres is not the one of aucsched: its directory must come first in PluginDir");
		return false;
	} else {
		/* The journal is open before its hooks are set. */
		_tend_keeper();
		_set_hooks(true);
	}
	if (!settings.engine || auc_library_open(&library, &settings)) {
		_give_up("no-library", library.error);
		return false;
	}
	_keep_files(false);
	_say_on();
	return true;
}

/* ---- a cycle ---- */

static void _lock(int64_t *since)
{
	lock_slurmctld(auc_locks);
	*since = auc_now_us();
}

static int64_t _unlock(int64_t since)
{
	int64_t held = auc_now_us() - since;

	unlock_slurmctld(auc_locks);
	return held;
}

/* As jobs have further ways to start, there may be more to be read. */
#define MOST_READS 4

/*
 * Takes the snapshot. What jobs ask for that none has asked for before the engine reads without the
 * locks, and then it is taken again.
 * RET how long the locks were held before *since, us
 */
static int64_t _look(int64_t *since)
{
	int64_t held = 0;
	bool failed;

	for (int i = 0; ; i++) {
		snapshot.again = i;
		if (in_shadow)
			auc_shadow_begin();
		auc_snapshot_take(&snapshot, &settings, &library, ++cycle_number);
		if (in_shadow)
			auc_shadow_end();
		if (!library.unread_len || (i == MOST_READS))
			return held;
		held += _unlock(*since);
		failed = auc_library_answer(&library);
		_lock(since);
		if (failed || slurmctld_config.shutdown_time)
			return held;
	}
}

static void _extend_claim(void)
{
	status.left_wait_s = auc_left_waits();
	claim.until_us = auc_now_us() + settings.deadline_ms * 1000LL +
		MAX(CLAIM_SECONDS, 3 * settings.interval) * 1000000LL +
		2 * paced_ms * 1000;
}

/* Without a job in the queue: who runs reads files all the same. */
static void _only_look_at_files(void)
{
	struct aucsched_output out;

	if (snapshot.in.stores_len &&
	    !auc_library_decide(&library, &snapshot.in, &out))
		_keep_files(false);
}

/* What the library has left out it says of the first; the log says whose that is, once. */
static void _note_faults(const struct aucsched_output *out)
{
	static uint32_t noted;
	uint32_t job_id = (out->first_fault < snapshot.in.jobs_len) ?
		snapshot.rows[out->first_fault].job_id : 0;

	if (!out->faults || (noted && (noted == job_id)))
		return;
	noted = job_id;
	error("aucsched: %u faults in what the library was shown, the first of JobId=%u: %s",
	      out->faults, job_id, library.error);
}

static bool _decide(struct aucsched_output *out)
{
	int64_t begin = auc_now_us();
	int failed = auc_library_decide(&library, &snapshot.in, out);

	auc_figure_add(&status.decide_us, auc_now_us() - begin);
	if (failed) {
		status.cycles_failed++;
		(void) auc_set_text(&status.last_failure, library.error);
		return false;
	}
	if (out->unrecorded)
		error("aucsched: auc_record: %s; nothing more is recorded",
		      library.error);
	_note_faults(out);
	status.late_cycles += out->late;
	_keep_files(false);
	return true;
}

/* Launches are on their way so soon, if the nodes answer; and their agents have begun. */
#define LAUNCH_MS 250
#define BEGIN_MS 10

/*
 * Gives all locks back but that of the configuration, and this one when what was launched is on
 * its way. Whoever begins to send while slurmctld reads slurm.conf again does so without
 * AuthInfo, and the launch fails; or with TreeWidth 0, and never ends (Slurm's
 * set_span()), and nobody hears of the job. Slurm's own schedulers launch from job to job
 * under the lock.
 */
static int64_t _unlock_launched(int64_t since, int agents, int retries)
{
	slurmctld_lock_t conf = { .conf = READ_LOCK }, others = auc_locks;
	int64_t end = auc_now_us() + LAUNCH_MS * 1000;
	int64_t held = auc_now_us() - since;

	if (AUC_RECONFIGURES_ANEW)
		return _unlock(since);
	others.conf = NO_LOCK;
	unlock_slurmctld(others);
	do
		usleep(BEGIN_MS * 1000);
	while (((retry_list_size() > retries) ||
		(get_agent_count() > agents)) &&
	       (auc_now_us() < end));
	unlock_slurmctld(conf);
	return held;
}

/*
 * What has its nodes is saved before the nodes hear of it: a slurmctld that was killed in
 * between would start the job again.
 * RET how long the locks were held, us
 */
static int64_t _save_and_launch(bool save)
{
	int64_t since;
	int agents, retries;

	if (save)
		(void) auc_keeper_save();
	_lock(&since);
	agents = get_agent_count();
	retries = retry_list_size();
	auc_launch(&starts);
	return _unlock_launched(since, agents, retries);
}

/*
 * Starts in batches, with the locks free in between. Saving takes half of the time at most: with a
 * long queue it takes longer than a batch, and several are saved and launched together.
 * RET how long the locks were held, us
 */
static int64_t _start(const struct aucsched_output *out)
{
	int64_t since, held = 0, took = 0, saved = auc_now_us();
	bool more = true;

	starts.next = 0;
	while (more) {
		_lock(&since);
		if ((more = !slurmctld_config.shutdown_time)) {
			auc_start(&snapshot, out, hooks, START_US, &starts);
			more = !auc_all_tried(&snapshot, &starts);
		}
		held += _unlock(since);
		if (starts.launches_len &&
		    (!more || (auc_now_us() >= saved + took))) {
			took = auc_now_us();
			held += _save_and_launch(true);
			saved = auc_now_us();
			took = saved - took;
		}
		if (more)
			usleep(YIELD_US);
	}
	/* The starts for which others have to end. */
	if (out->victims_len) {
		_lock(&since);
		if (!slurmctld_config.shutdown_time)
			status.preempted += auc_preempt(&snapshot, out, hooks,
							START_US, &starts);
		held += _unlock(since);
		if (starts.launches_len)
			held += _save_and_launch(true);
	}
	return held;
}

/*
 * What the auction has been blind to. Under the locks.
 * RET whether there is something to launch
 */
static bool _start_overdue(const struct aucsched_output *out)
{
	auc_overdue_t found = { 0 };

	if (!slurmctld_config.shutdown_time)
		found = auc_overdue_ask(&snapshot, out, hooks, &starts);
	status.overdue += found.started;
	asks = found.waits;
	return found.started;
}

/*
 * IN locked - how long the cycle has held the locks, us, except for starts
 * RET how long the locks were held, us
 */
static int64_t _finish(const struct aucsched_output *out, int64_t locked)
{
	int64_t since, held;
	bool started;

	_lock(&since);
	auc_explain(&snapshot, out);
	auc_leave_without_place(&snapshot, out, hooks);
	started = _start_overdue(out);
	auc_alone_end(&snapshot);
	paced_ms = auc_pace_ms(locked + auc_now_us() - since);
	_extend_claim();
	held = _unlock(since);
	if (started)
		held += _save_and_launch(true);
	return held;
}

/* Clients come first, as they do with Slurm's schedulers. */
static bool _many_rpcs(void)
{
	bool many;

	slurm_mutex_lock(&slurmctld_config.thread_count_lock);
	many = settings.max_rpcs &&
		(slurmctld_config.server_thread_count >= settings.max_rpcs);
	slurm_mutex_unlock(&slurmctld_config.thread_count_lock);
	return many;
}

/*
 * Whether a cycle would see what the last one saw, which started nothing: then it has
 * nothing to start either. Slurm notes the second of every change; they are read without
 * locks, for a cycle that comes late only comes the next time.
 */
static bool _still(void)
{
	int64_t most_us = STILL_SECONDS * 1000000LL;

	if (settings.net_s)
		most_us = MIN(most_us, MAX(settings.net_s / 4, 1) * 1000000LL);
	return looked && !asks && !waits && (auc_now_us() < looked_us + most_us) &&
		(last_job_update < looked) && (last_node_update < looked) &&
		(last_part_update < looked) && (last_resv_update < looked);
}

/* A claim that would not last until the next cycle but one. */
static void _keep_claim(void)
{
	if (claim.until_us > auc_now_us() +
	    (2 * settings.interval + 1) * 1000000LL)
		return;
	lock_slurmctld(job_lock);
	_extend_claim();
	unlock_slurmctld(job_lock);
}

/* RET whether this time there is to be no cycle */
static bool _skip(bool wanted)
{
	if (_many_rpcs()) {
		status.skipped++;
		return true;
	}
	if (wanted || !_still())
		return false;
	if (!in_shadow)
		_keep_claim();
	status.skipped++;
	return true;
}

/* RET whether there is a cycle, and so the locks are held since then */
static bool _begin(bool wanted, int64_t *since)
{
	if (_skip(wanted))
		return false;
	looked = 0;
	_lock(since);
	if (!slurmctld_config.shutdown_time &&
	    !slurmctld_config.scheduling_disabled && !job_is_completing(NULL))
		return true;
	/* For CompleteWait seconds Slurm's schedulers wait for all of a job's nodes. */
	if (!in_shadow)
		_extend_claim();
	(void) _unlock(*since);
	status.skipped++;
	return false;
}

/* Another cycle would see the same, and start nobody either. */
static void _note_still(int64_t begin)
{
	looked = snapshot.in.now;
	looked_us = begin;
}

static void _cycle(bool wanted)
{
	struct aucsched_output out;
	int64_t begin = auc_now_us(), since, locked;
	bool started;		/* some, before the decision */
	bool none;		/* no jobs are to be decided on */

	if (!_begin(wanted, &since))
		return;
	auc_alone_begin();
	waits = auc_holds_tend(hooks, &starts);
	started = starts.launches_len;
	locked = _look(&since);
	none = !snapshot.in.jobs_len && !library.unread_len;
	if (none) {
		started |= _start_overdue(NULL);
		auc_alone_end(&snapshot);
		paced_ms = auc_pace_ms(locked + auc_now_us() - since);
		_extend_claim();
	}
	locked += _unlock(since);
	auc_figure_add(&status.snapshot_us, locked);
	if (started)
		locked += _save_and_launch(true);
	if (none) {
		status.skipped++;
		auc_figure_add(&status.lock_us, locked);
		_only_look_at_files();
		if (failing)	/* whatever it was about is gone */
			_state_on();
		failing = false;
		return;
	}
	if (!_decide(&out)) {
		char *text = xstrdup_printf("no decision: %s",
					    status.last_failure);

		_give_up("failing", text);
		xfree(text);
		if (!failing) {	/* what was said of jobs is over */
			_lock(&since);
			if (!slurmctld_config.shutdown_time)
				auc_clear_reasons();
			(void) _unlock(since);
		}
		failing = true;
		return;
	}
	if (failing)
		info("aucsched: deciding again");
	failing = false;
	_state_on();
	if (out.starts || auc_turns_wait())
		auc_figure_add(&status.start_us, _start(&out));
	locked += _finish(&out, locked);
	if (!out.starts && !out.late && !library.unread_len)
		_note_still(begin);
	status.cycles++;
	auc_figure_add(&status.lock_us, locked);
	auc_figure_add(&status.cycle_us, auc_now_us() - begin);
}

/*
 * The one place where shadow mode parts from the other: a cycle that decides as usual, and ends with
 * a note in a file. What the queue was asked is taken back under the same locks.
 */
static void _shadow_cycle(bool wanted)
{
	struct aucsched_output out;
	int64_t begin = auc_now_us(), since, locked;
	char *path;
	bool decided = false;

	if (!_begin(wanted, &since))
		return;
	path = xstrdup_printf("%s/aucsched.shadow", state_dir);
	auc_shadow_look(path);
	locked = _look(&since);
	locked += _unlock(since);
	auc_figure_add(&status.snapshot_us, locked);
	if (!snapshot.in.jobs_len && !library.unread_len) {
		status.skipped++;
		_only_look_at_files();
	} else if ((decided = _decide(&out))) {
		_lock(&since);
		auc_shadow_begin();
		auc_shadow_note(&snapshot, &out);
		auc_explain(&snapshot, &out);
		auc_shadow_end();
		locked += _unlock(since);
		if (!out.late && !library.unread_len)
			_note_still(begin);
		status.cycles++;
		_state_on();
	} else
		_give_up("failing", status.last_failure);
	paced_ms = auc_pace_ms(locked);
	auc_figure_add(&status.lock_us, locked);
	auc_shadow_write(&settings, path, private_jobs, &library, &snapshot,
			 decided);
	if (decided)
		auc_figure_add(&status.cycle_us, auc_now_us() - begin);
	xfree(path);
}

/* ---- the thread ---- */

/* IN closed - hooks are not set again */
static void _close_hooks(bool closed)
{
	lock_slurmctld(job_lock);
	claim.closed = closed;
	unlock_slurmctld(job_lock);
}

/*
 * When the next cycle is due: an interval after the last one began, or, if somebody wants a
 * job started, the delay after that, so that what is submitted together is decided
 * together; sooner if for a part of the delay nobody has wanted one. Not before the locks have
 * been free for long enough.
 */
static int64_t _due_ms(int64_t last_ms)
{
	int64_t due = last_ms + ((waits == AUC_FOR_NODES) ? KEEPS_MS :
				 settings.interval * 1000LL);

	if (cycles.wanted_ms)
		due = MIN(due, MIN(cycles.wanted_ms + settings.delay_ms,
				   cycles.last_ms +
				   settings.delay_ms / QUIET_PART));
	return MAX(due, last_ms + MAX(LEAST_MS, paced_ms));
}

/*
 * Waits for the next cycle. *wanted is whether somebody wants a job started.
 * RET false to stop
 */
static bool _wait(int64_t last_ms, bool *reconfig, bool *wanted)
{
	bool go_on;

	slurm_mutex_lock(&cycles.lock);
	while (!cycles.stop && !cycles.reconfig) {
		int64_t due_us = _due_ms(last_ms) * 1000;

		if (auc_now_us() >= due_us)
			break;
		auc_cond_wait(&cycles.wake, &cycles.lock, due_us);
	}
	go_on = !cycles.stop;
	*reconfig = cycles.reconfig;
	cycles.reconfig = false;
	*wanted = cycles.wanted_ms;
	cycles.wanted_ms = 0;
	slurm_mutex_unlock(&cycles.lock);
	return go_on;
}

/* At most once a second: the directory may be on another machine. */
static void _write_status(int64_t now_ms, bool at_once)
{
	static int64_t written_ms;
	static const char *state;

	if (!at_once && (state == status.state) &&
	    (now_ms < written_ms + 1000))
		return;
	written_ms = now_ms;
	state = status.state;
	status.journal = auc_journal_why_off();
	if (!status.journal)
		status.journal = "on";
	status.saves_failed = auc_keeper_failed();
	auc_status_write(&status, &settings, &library, &snapshot, state_dir);
}

static void *_run(void *arg)
{
	int64_t last_ms = 0;
	bool reconfig = true, ready = false, wanted = true;

	prctl(PR_SET_NAME, "aucsched", NULL, NULL, NULL);
	if (!status.began)	/* counters go on when Slurm loads its plug-ins again */
		status.began = time(NULL);
	_close_hooks(false);
	_claim_first();
	do {
		if (reconfig || !xstrcmp(status.state, "no-shim") ||
		    !xstrcmp(status.state, "no-library")) {
			_read_settings();
			ready = _ready();
			in_shadow = settings.enabled && settings.shadow;
			if (!in_shadow)
				auc_shadow_free();
		}
		last_ms = auc_now_us() / 1000;
		if (starts.launches_len)	/* suspended when they were to be launched */
			(void) _save_and_launch(false);
		_tend_keeper();
		paced_ms = 0;
		if (ready && in_shadow)
			_shadow_cycle(reconfig);
		else if (ready)
			_cycle(wanted || reconfig);
		else
			_idle();
		_write_status(last_ms, reconfig);
	} while (_wait(last_ms, &reconfig, &wanted));
	return NULL;
}

static void __attribute__((constructor)) _make(void)
{
	auc_cond_init(&cycles.wake);
}

extern int auc_agent_start(void)
{
	slurm_mutex_lock(&cycles.lock);
	cycles.stop = false;
	if (!cycles.running) {
		cycles.running = true;
		auc_thread_create(&cycles.thread, _run);
	}
	slurm_mutex_unlock(&cycles.lock);
	return SLURM_SUCCESS;
}

/* Waits for the thread, but not for ever: it may hang in the library. */
static bool _join(void)
{
	int64_t end = auc_now_us() +
		(settings.deadline_ms + JOIN_SECONDS * 1000LL) * 1000;

	while (pthread_tryjoin_np(cycles.thread, NULL) == EBUSY) {
		if (auc_now_us() >= end)
			return false;
		usleep(1000);
	}
	return true;
}

static void _free(void)
{
	lock_slurmctld(job_lock);
	memset(&claim, 0, sizeof(claim));
	auc_memo_free();
	auc_alone_free();
	auc_holds_free();
	auc_overdue_free();
	auc_scope_free();
	auc_topology_free();
	unlock_slurmctld(job_lock);
	_keep_files(true);
	auc_library_close(&library);
	auc_shadow_free();
	in_shadow = false;
	auc_snapshot_free(&snapshot);
	memset(&settings, 0, sizeof(settings));
	auc_starts_free(&starts);
	xfree(status.state_text);
	xfree(status.last_failure);
	xfree(state_dir);
	xfree(sched_params);
	xfree(said);
}

/*
 * slurmctld may unload the plug-in and go on: whatever the thread does, nobody calls us
 * any more then. What it hangs in it may still read.
 */
extern void auc_agent_stop(void)
{
	bool running, ended;

	slurm_mutex_lock(&cycles.lock);
	cycles.stop = true;
	running = cycles.running;
	cycles.running = false;
	slurm_cond_signal(&cycles.wake);
	slurm_mutex_unlock(&cycles.lock);
	if (!running)
		return;
	_close_hooks(true);
	if (!(ended = _join()))
		error("aucsched: the scheduling thread hangs; left behind");
	_set_hooks(false);
	auc_keeper_stop(false);
	if (ended)
		_free();
}

extern void auc_agent_reconfig(void)
{
	slurm_mutex_lock(&cycles.lock);
	cycles.reconfig = true;
	slurm_cond_signal(&cycles.wake);
	slurm_mutex_unlock(&cycles.lock);
}
