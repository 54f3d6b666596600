/*
 * The thread that runs the cycles: see scheduler.h.
 *
 * A cycle takes its snapshot under the locks, decides without them, and takes them again
 * to start what was decided. While cycles come to decisions the auction claims the jobs that it
 * models: Slurm's own schedulers hear from the select shim that the nodes are
 * busy. The claim lapses by itself when no cycle has ended for a while, so that a
 * thread that hangs, in the library or elsewhere, costs nothing but the auction.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "scheduler.h"

/* How long the claim outlasts the last cycle, and a start of slurmctld, at least. */
#define CLAIM_SECONDS 10

/* From one cycle to the next at least, however many want one. */
#define LEAST_MS 100

/* Between two batches of starts others get the locks. */
#define YIELD_US 20000

/* What time alone brings (--begin, limits, a place that is due) waits for a cycle so long at most. */
#define STILL_SECONDS 30

/* How long fini() waits for the thread, beyond the deadline of a decision. */
#define JOIN_SECONDS 10

static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, stop, reconfig;
	int64_t wanted_ms;	/* somebody wants a job started, since; 0: nobody */
} cycles = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/*
 * When the auction's claim to its jobs lapses; 0: there is none. Changed under the job
 * write lock, read under it by _owned().
 */
static time_t claimed_until;

/* The agent's thread alone. */
static auc_settings_t settings;
static auc_library_t library;
static auc_snapshot_t snapshot;
static auc_status_t status = { .state = "starting" };
static auc_select_hooks_t *hooks;
static uint32_t cycle_number;
static bool failing;		/* the last cycle came to no decision */
static time_t looked;		/* of the last snapshot, if it led to no start though there was time; or 0 */
static bool state_unrepaired = true;	/* no keeper has looked at it yet */
static char *state_dir;
static char *sched_params;	/* that the settings were read from */
static char *said;	/* what the log says that we run with */

static slurmctld_lock_t auc_locks = {
	READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK
};

/* ---- the claim ---- */

static void _set_claim(time_t until)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };

	lock_slurmctld(locks);
	claimed_until = until;
	unlock_slurmctld(locks);
}

static void _wake(void)
{
	slurm_mutex_lock(&cycles.lock);
	if (!cycles.wanted_ms) {
		cycles.wanted_ms = auc_now_us() / 1000;
		slurm_cond_signal(&cycles.wake);
	}
	slurm_mutex_unlock(&cycles.lock);
}

/* Whether the auction keeps a job for itself: for the select shim. Job write lock. */
static bool _owned(job_record_t *job_ptr)
{
	auc_request_t request;
	auc_memo_t *memo;

	if (time(NULL) >= claimed_until)
		return false;
	memo = auc_memo_find(job_ptr->job_id);
	if (memo && (memo->left || (memo->until > time(NULL))))
		return false;
	if (auc_model(job_ptr, job_ptr->part_ptr, &request))
		return false;
	_wake();
	return true;
}

/* ---- starts and ends of others ---- */

/* Slurm's own schedulers have found a job its nodes: they launch it at once. */
static void _taken(job_record_t *job_ptr)
{
	auc_journal_start(job_ptr->job_id, time(NULL));
	auc_keeper_want();
}

static void _freed(job_record_t *job_ptr)
{
	auc_journal_end(job_ptr);
}

/* Job write lock, so that nobody is in one of them. */
static void _set_hooks(bool on, bool save)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };

	if (!hooks)
		return;
	lock_slurmctld(locks);
	hooks->owned = on ? _owned : NULL;
	hooks->taken = (on && save) ? _taken : NULL;
	hooks->freed = (on && save) ? _freed : NULL;
	unlock_slurmctld(locks);
}

/*
 * A new slurmctld repairs what a killed one left behind, whatever the settings are now. From
 * then on there is a journal without gaps, or none.
 */
static void _set_keeper(bool on)
{
	if (on || state_unrepaired)
		auc_keeper_start(state_dir);
	state_unrepaired = false;
	if (!on)
		auc_keeper_stop(true);
}

/* ---- states ---- */

static void _state(const char *state, const char *text)
{
	status.state = state;
	xfree(status.state_text);
	status.state_text = xstrdup(text);
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

/* Only if they are new: what is wrong in them is logged once. */
static void _read_settings(void)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK };

	lock_slurmctld(locks);
	if (!settings.engine ||
	    xstrcmp(sched_params, slurm_conf.sched_params)) {
		auc_settings_read(&settings);
		xfree(sched_params);
		sched_params = xstrdup(slurm_conf.sched_params);
	}
	xfree(state_dir);
	state_dir = xstrdup(slurm_conf.state_save_location);
	unlock_slurmctld(locks);
}

/* Says so whenever there is something new in it. */
static void _say_on(void)
{
	char *text = xstrdup_printf("%s %s, every %d s, slurm_bids=%d %s",
				    library.path, library.version,
				    settings.interval, settings.offers,
				    settings.engine);

	if (xstrcmp(text, said) || xstrcmp(status.state, "on"))
		info("aucsched: on: %s", text);
	xfree(said);
	said = text;
	_state("on", "");
}

static auc_select_hooks_t *_find_hooks(void)
{
	slurmctld_lock_t locks = { .conf = READ_LOCK };
	auc_select_hooks_t *found;

	lock_slurmctld(locks);
	found = auc_find_select_hooks();
	unlock_slurmctld(locks);
	return found;
}

/* Makes ready what a cycle needs; false if there is to be none. */
static bool _ready(void)
{
	char *why = NULL;

	if (!settings.enabled) {
		if (xstrcmp(status.state, "off"))
			info("aucsched: off (auc_enabled=no); Slurm's own schedulers go on alone");
		_state("off", "auc_enabled=no");
		_set_claim(0);
		_set_hooks(false, false);
		_set_keeper(false);
		return false;
	}
	if (!hooks && !(hooks = _find_hooks())) {
		_give_up("no-shim", "select/cons_tres is not the one of aucsched: its directory must come first in PluginDir");
		return false;
	}
	/* The journal is open before its hooks are set. */
	_set_keeper(settings.save);
	_set_hooks(true, settings.save);
	if (library.scheduler ? auc_library_configure(&library, &settings, &why) :
	    auc_library_open(&library, &settings, &why)) {
		_give_up("no-library", why);
		xfree(why);
		return false;
	}
	if (settings.locality)
		auc_files_load(&library, state_dir);
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

static void _extend_claim(void)
{
	claimed_until = time(NULL) + MAX(CLAIM_SECONDS, 3 * settings.interval) +
		settings.deadline_ms / 1000;
}

static void _prepare(struct aucsched_output *out)
{
	memset(out, 0, sizeof(*out));
	out->abi = AUCSCHED_ABI;
	out->size = sizeof(*out);
}

static void _look_at_files(const struct aucsched_output *out)
{
	if (!snapshot.in.stores_len)
		return;
	status.files = out->files;
	status.copies = out->copies;
	auc_files_keep(&library, out, state_dir);
}

/* Without a job in the queue: who runs reads files all the same. */
static void _only_look_at_files(void)
{
	struct aucsched_output out;

	if (!snapshot.in.stores_len)
		return;
	_prepare(&out);
	if (!library.cycle(library.scheduler, &snapshot.in, &out))
		_look_at_files(&out);
}

static bool _decide(struct aucsched_output *out)
{
	char text[512] = "";
	int64_t begin = auc_now_us();
	int rc;

	_prepare(out);
	rc = library.cycle(library.scheduler, &snapshot.in, out);
	auc_figure_add(&status.decide_us, auc_now_us() - begin);
	if (!rc && (out->decisions_len == snapshot.in.jobs_len)) {
		_look_at_files(out);
		status.window = out->window;
		status.bids = out->bids;
		status.objective = out->objective;
		status.bound = out->bound;
		status.optimal = out->optimal;
		status.late = out->late;
		status.worker_failures += out->worker_failures;
		return true;
	}
	library.last_error(library.scheduler, text, sizeof(text));
	status.cycles_failed++;
	xfree(status.last_failure);
	status.last_failure = xstrdup_printf("%d: %s", rc, text);
	return false;
}

/*
 * Starts in batches, with the locks free in between. A start is saved before the nodes hear
 * of it: a slurmctld that was killed in between would start the job again.
 * RET how long the locks were held, us
 */
static int64_t _start(const struct aucsched_output *out)
{
	auc_starts_t starts = { 0 };
	int64_t since, held = 0;
	bool more = true;

	while (more) {
		_lock(&since);
		if ((more = !slurmctld_config.shutdown_time)) {
			auc_start(&snapshot, out, hooks,
				  settings.start_ms * 1000LL, &starts);
			more = starts.next < snapshot.in.jobs_len;
		}
		held += _unlock(since);
		if (starts.launches_len) {
			if (settings.save)
				(void) auc_keeper_save();
			_lock(&since);
			auc_launch(&starts);
			held += _unlock(since);
		}
		if (more)
			usleep(YIELD_US);
	}
	status.started += starts.started;
	status.starts_failed += starts.failed;
	status.readers += starts.readers;
	status.holders += starts.holders;
	auc_starts_free(&starts);
	return held;
}

/* RET how long the locks were held, us */
static int64_t _finish(const struct aucsched_output *out)
{
	int64_t since;

	_lock(&since);
	auc_explain(&snapshot, out);
	_extend_claim();
	return _unlock(since);
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
	return looked && (time(NULL) < looked + STILL_SECONDS) &&
		(last_job_update < looked) && (last_node_update < looked) &&
		(last_part_update < looked) && (last_resv_update < looked);
}

/* A claim that would not last until the next cycle but one. */
static void _keep_claim(void)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };

	if (claimed_until > time(NULL) + 2 * settings.interval + 1)
		return;
	lock_slurmctld(locks);
	_extend_claim();
	unlock_slurmctld(locks);
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
	_keep_claim();
	status.skipped++;
	return true;
}

static void _cycle(bool wanted)
{
	struct aucsched_output out;
	int64_t begin = auc_now_us(), since, locked;

	if (_skip(wanted))
		return;
	looked = 0;
	_lock(&since);
	if (slurmctld_config.shutdown_time ||
	    slurmctld_config.scheduling_disabled) {
		(void) _unlock(since);
		return;
	}
	/* For CompleteWait seconds Slurm's schedulers wait for all of a job's nodes. */
	if (job_is_completing(NULL)) {
		_extend_claim();
		(void) _unlock(since);
		status.skipped++;
		return;
	}
	auc_snapshot_take(&snapshot, &settings, hooks, ++cycle_number);
	if (!snapshot.in.jobs_len)
		_extend_claim();
	locked = _unlock(since);
	auc_figure_add(&status.snapshot_us, locked);
	if (!snapshot.in.jobs_len) {
		status.skipped++;
		auc_figure_add(&status.lock_us, locked);
		_only_look_at_files();
		return;
	}
	if (!_decide(&out)) {
		char *text = xstrdup_printf("no decision: %s",
					    status.last_failure);

		_give_up("failing", text);
		xfree(text);
		failing = true;
		return;
	}
	if (failing)
		info("aucsched: deciding again");
	failing = false;
	_state("on", "");
	if (out.starts)
		auc_figure_add(&status.start_us, _start(&out));
	locked += _finish(&out);
	if (!out.starts && !out.late)
		looked = snapshot.in.now;
	status.cycles++;
	auc_figure_add(&status.lock_us, locked);
	auc_figure_add(&status.cycle_us, auc_now_us() - begin);
}

/* What has to be done without cycles too. */
static void _idle(void)
{
	lock_slurmctld(auc_locks);
	if (!slurmctld_config.shutdown_time) {
		auc_requests_restore();
		auc_untell_all();
	}
	unlock_slurmctld(auc_locks);
}

/* ---- the thread ---- */

/*
 * Waits for the next cycle: an interval after the last one began, or, if somebody wants a
 * job started, the delay after that, so that what is submitted together is
 * decided together. *wanted is whether somebody does.
 * RET false to stop
 */
static bool _wait(int64_t last_ms, bool *reconfig, bool *wanted)
{
	bool go_on;

	slurm_mutex_lock(&cycles.lock);
	while (!cycles.stop && !cycles.reconfig) {
		int64_t now = auc_now_us() / 1000, due;
		struct timespec ts;

		due = last_ms + settings.interval * 1000LL;
		if (cycles.wanted_ms)
			due = MIN(due, cycles.wanted_ms + settings.delay_ms);
		due = MAX(due, last_ms + LEAST_MS);
		if (now >= due)
			break;
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_nsec += ((due - now) % 1000) * 1000000;
		ts.tv_sec += (due - now) / 1000 + ts.tv_nsec / 1000000000;
		ts.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&cycles.wake, &cycles.lock, &ts);
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
	auc_status_write(&status, &settings, &library, &snapshot, state_dir);
}

static void *_run(void *arg)
{
	int64_t last_ms = 0;
	bool reconfig = true, ready = false, wanted = true;

	prctl(PR_SET_NAME, "aucsched", NULL, NULL, NULL);
	_read_settings();
	/* Nothing is to be started before the first cycle. */
	if (settings.enabled)
		_set_claim(time(NULL) + CLAIM_SECONDS);
	do {
		if (reconfig || !xstrcmp(status.state, "no-shim")) {
			_read_settings();
			ready = _ready();
		}
		last_ms = auc_now_us() / 1000;
		if (ready)
			_cycle(wanted || reconfig);
		else
			_idle();
		_write_status(last_ms, reconfig);
	} while (_wait(last_ms, &reconfig, &wanted));
	return NULL;
}

extern int auc_agent_start(void)
{
	cycles.stop = false;
	slurm_mutex_lock(&cycles.lock);
	if (!cycles.running) {
		cycles.running = true;
		slurm_thread_create(&cycles.thread, _run, NULL);
	}
	slurm_mutex_unlock(&cycles.lock);
	return SLURM_SUCCESS;
}

/* Waits for the thread, but not for ever: it may hang in the library. */
static bool _join(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += settings.deadline_ms / 1000 + JOIN_SECONDS;
	return !pthread_timedjoin_np(cycles.thread, NULL, &ts);
}

extern void auc_agent_stop(void)
{
	slurmctld_lock_t locks = { .job = WRITE_LOCK };
	bool running;

	slurm_mutex_lock(&cycles.lock);
	cycles.stop = true;
	running = cycles.running;
	cycles.running = false;
	slurm_cond_signal(&cycles.wake);
	slurm_mutex_unlock(&cycles.lock);
	if (!running)
		return;
	if (!_join()) {
		error("aucsched: the scheduling thread hangs; left behind");
		return;
	}
	_set_hooks(false, false);
	auc_keeper_stop(false);
	lock_slurmctld(locks);
	claimed_until = 0;
	auc_memo_free();
	unlock_slurmctld(locks);
	auc_files_end(&library, state_dir);
	auc_library_close(&library);
	auc_snapshot_free(&snapshot);
	auc_settings_free(&settings);
	xfree(status.state_text);
	xfree(status.last_failure);
	xfree(state_dir);
	xfree(sched_params);
	xfree(said);
}

extern void auc_agent_reconfig(void)
{
	slurm_mutex_lock(&cycles.lock);
	cycles.reconfig = true;
	slurm_cond_signal(&cycles.wake);
	slurm_mutex_unlock(&cycles.lock);
}
