/*
 * The parts of sched/aucsched and what they hand each other.
 *
 *   settings.c   SchedulerParameters=auc_...
 *   grow.c       arrays that grow
 *   library.c    libaucsched.so
 *   fallback.c   Slurm's own backfill scheduler, wrapped
 *   model.c      a job as the auction sees it, or why the job is left to Slurm
 *   shape.c      the arithmetic of that
 *   request_swap.c  a job's record with another request in it
 *   memo.c       what is remembered of pending jobs from cycle to cycle
 *   snapshot.c   the cluster as flat arrays (what follows is told in snapshot.h):
 *     nodes.c      its nodes
 *     running.c    what running jobs hold of them
 *     segment.c    that, and places, as the library is told of them
 *     queue.c      the pending jobs
 *     masks.c      the nodes that each may use
 *     claims.c     those that others have been promised
 *     limits.c     limits of associations and QOS
 *     ledger.c     and what the rows before would use of them, and of licences
 *     left_to_slurm.c  which jobs are left to Slurm, and why
 *     asleep.c     nodes that are powered down
 *     files.c      the input files that they read, and the nodes hold
 *   offer.c      what stock Slurm would allocate, as bids
 *   overdue.c    jobs that Slurm could start, and the auction does not: they are Slurm's
 *   cores.c      cores of nodes: held by jobs, and idle
 *   start.c      decisions into jobs that have their nodes
 *   reason.c     and into reasons for waiting
 *   memory.c     winners that have no room for their memory beside each other
 *   misses.c     starts that failed
 *   launch.c     jobs that have their nodes, until the nodes hear of them
 *   alone.c      which jobs have nobody in their way, and start at once
 *   journal.c    starts and ends that Slurm may not have saved
 *   saver.c      Slurm's thread that saves its state, made to do so now
 *   keeper.c     the thread that has them saved, and repairs what a kill -9 left behind
 *   status.c     the figures for `aucsched status`
 *   agent.c      the thread that runs the cycles
 *
 * Locks. "Under the locks" below means slurmctld's conf and partition read locks and
 * its job and node write locks (auc_locks). Everything else runs in the agent's thread
 * only, save auc_owned(), which any thread may call that holds the job write lock; it
 * shares the memos and a few words of state, which are only changed under that lock; and
 * the journal and the keeper, which have locks of their own, taken after Slurm's.
 */
#ifndef AUC_SCHED_H
#define AUC_SCHED_H

#include "alternative.h"
#include "aucsched.h"
#include "compat.h"
#include "select_hooks.h"

/* ---- grow.c ---- */

/* Grows an array of elements of size to hold len; what it holds stays. */
extern void *auc_grow(void *array, size_t *cap, size_t len, size_t size);

#define AUC_GROW(array, cap, len) \
	(array) = auc_grow((array), &(cap), (len), sizeof(*(array)))

/* ---- settings.c ---- */

typedef struct {
	bool enabled;		/* auc_enabled */
	int interval;		/* auc_interval, s */
	int delay_ms;		/* auc_delay_ms */
	int start_ms;		/* auc_start_ms */
	int deadline_ms;	/* auc_deadline_ms */
	bool save;		/* auc_save */
	int beyond_waits;	/* auc_beyond=wait; below 0 while none is known */
	int net_s;		/* auc_net_s; 0: no such net */
	int at_once;		/* auc_at_once: 0 or 1 */
	bool locality;		/* auc_locality */
	int file_memory;	/* auc_file_memory, MB a node; 0: all that the node has */
	int max_rpcs;		/* max_rpc_cnt; 0: none */
	int offers;		/* auc_slurm_bids */
	int limit;		/* window + depth: jobs handed to the library */
	char *library;		/* auc_library; NULL: beside the plug-in, then the loader's path */
	char *status;		/* auc_status; NULL: in StateSaveLocation */
	char *engine;		/* settings for aucsched_configure() */
} auc_settings_t;

/*
 * Reads slurm.conf's SchedulerParameters into settings, which must be zero or of an
 * earlier call. A wrong value is logged by name and its default used. Conf read lock.
 */
extern void auc_settings_read(auc_settings_t *settings);
extern void auc_settings_free(auc_settings_t *settings);

/* ---- library.c ---- */

typedef struct {
	void *handle;		/* of dlopen(); never closed: Go can't be unloaded */
	char *path;		/* as long as the handle */
	const char *version;
	int64_t scheduler;	/* of aucsched_open(); 0: none */
	int64_t (*open)(const char *, char *, size_t);
	int (*configure)(int64_t, const char *);
	int (*cycle)(int64_t, const struct aucsched_input *,
		     struct aucsched_output *);
	int64_t (*save_files)(int64_t, void *, size_t);
	int (*load_files)(int64_t, const void *, size_t);
	size_t (*last_error)(int64_t, char *, size_t);
	size_t (*worker_fault)(int64_t, char *, size_t); /* NULL: an older library */
	int (*close)(int64_t);
	char *asked;		/* auc_library when it was loaded, NULL: none; as long */
	bool other;		/* that auc_library names another by now was said */
} auc_library_t;

/*
 * Loads the library and opens a scheduler with the settings. To be called from the
 * agent's thread, after slurmctld has daemonised.
 * RET SLURM_SUCCESS, or SLURM_ERROR with the reason in *why; caller must xfree()
 */
extern int auc_library_open(auc_library_t *library,
			    const auc_settings_t *settings, char **why);
extern int auc_library_configure(auc_library_t *library,
				 const auc_settings_t *settings, char **why);
extern void auc_library_close(auc_library_t *library);

/*
 * What is wrong if auc_library has changed since a library was loaded, which stays.
 * RET NULL if nothing is; caller must xfree()
 */
extern char *auc_library_differs(const auc_library_t *library,
				 const auc_settings_t *settings);

/* Why a worker process failed in the last cycle; "" if nobody knows. Caller must xfree() */
extern char *auc_library_worker_fault(const auc_library_t *library);

/* ---- fallback.c ---- */

/* Loads the stock sched_backfill.so and starts its thread. */
extern int auc_fallback_start(void);
extern void auc_fallback_reconfig(void);
extern void auc_fallback_stop(void);

/* ---- model.c ---- */

typedef struct {
	struct aucsched_job job; /* without priority and mask */
	uint64_t memory;	/* MB a node, or a CPU with MEM_PER_CPU; 0: no matter */
	uint32_t gpu_type;	/* gres type id; 0: any */
	uint16_t threads;	/* CPUs a core */
	/*
	 * The request stands for more than the auction sees (other layouts of the
	 * tasks, say): if it finds no place, Slurm may try.
	 */
	bool approximate;
	bool lets_sleep;	/* it is not shown nodes that are powered down */
} auc_request_t;

/* ---- shape.c ---- */

/* What a request is made of. 0 means that the job does not say, unless told otherwise. */
typedef struct {
	uint32_t min_nodes, max_nodes; /* within all limits; max 0: any */
	uint32_t asked_nodes;	/* the job's own min_nodes */
	bool node_range;	/* -N MIN-MAX */
	uint32_t tasks, cpus_per_task, tasks_per_node;
	uint32_t min_cpus, max_cpus, node_min_cpus;
	bool whole;		/* it takes its nodes as a whole, */
	uint32_t node_cores;	/* with so many cores each; 0: they differ */
	uint32_t min_gpus, max_gpus; /* on each node */
	uint32_t minutes;	/* INFINITE or NO_VAL: no limit */
	uint16_t threads;	/* CPUs a core */
} auc_numbers_t;

/*
 * Sets cores, nodes, GPUs, time limit and threads of a request, which may be approximate then.
 * Whatever the numbers are, the library takes the request.
 * RET NULL, or one word as auc_model()
 */
extern const char *auc_shape(const auc_numbers_t *numbers,
			     auc_request_t *request);

/* ---- model.c again ---- */

/*
 * Describes a pending job to the auction.
 * RET NULL, or one word that says why the job is left to Slurm (docs/slurm.md has
 *	the table). Job and node read locks.
 */
extern const char *auc_model(job_record_t *job_ptr, part_record_t *part_ptr,
			     auc_request_t *request);

/* The request of a job as an alternative, of job 0. */
extern struct aucsched_alternative auc_as_alternative(const struct aucsched_job *job);

/* Looks at the nodes again; to be called before a cycle's jobs are described. Job
 * write lock and node read lock. */
extern void auc_model_refresh(void);

/* The range of GPUs a node that job_submit/aucsched noted, false if there is none. */
extern bool auc_gpu_range(const job_record_t *job_ptr, uint32_t *low,
			  uint32_t *high);

/*
 * Makes a pending job ask for count GPUs on each node.
 * Job write lock.
 */
extern int auc_set_gpus(job_record_t *job_ptr, uint32_t count);

/* Lowers the GPU count of a pending job with a range to the low end again, if it has been
 * raised. Job write lock and node read lock. */
extern void auc_back_to_range(job_record_t *job_ptr);

/* The count of GPUs a node that the job asks for, and its gres record, if any. */
extern gres_job_state_t *auc_gpu_request(const job_record_t *job_ptr);

/* The node's GPUs, NULL if it has none. */
extern gres_node_state_t *auc_node_gpus(const node_record_t *node_ptr);

/* ---- request_swap.c ---- */

/* What a swap changes of a job, as it was. Nothing of it is anybody else's. */
typedef struct {
	uint32_t num_tasks, min_nodes, max_nodes;
	uint32_t min_cpus, max_cpus, orig_min_cpus, orig_max_cpus;
	uint32_t pn_min_cpus, orig_pn_min_cpus;
	uint32_t total_cpus, total_nodes, cpu_cnt, node_cnt_wag, usable_nodes;
	uint64_t pn_min_memory, bit_flags;
	uint16_t ntasks_per_node, cpus_per_task, contiguous, env_cnt;
	char **env_sup;
	char *admin_comment, *tres_per_node;
	list_t *gres, *accumulated;
	uint64_t *tres_req_cnt;
	char *tres_req_str, *tres_fmt_req_str;
} auc_kept_t;

/*
 * Makes a pending job ask for an alternative, to be looked at by auc_model() and the like.
 * OUT kept - for auc_swap_back(), which has to follow
 * RET SLURM_SUCCESS; or an error, and then the job is as it was
 */
extern int auc_swap(job_record_t *job_ptr, const auc_alternative_t *alternative,
		    auc_kept_t *kept);

/*
 * The same for a job that is to start: with a note of its first request, and the
 * environment that the script is to have.
 * IN number - the alternative's, from 1 on
 * IN gpus - how many it gets on each node
 * OUT kept - for auc_swap_back(), or auc_kept_free() once it has started
 */
extern int auc_swap_for_start(job_record_t *job_ptr,
			      const auc_alternative_t *alternative,
			      int number, int gpus, auc_kept_t *kept);
extern void auc_swap_back(job_record_t *job_ptr, auc_kept_t *kept);
extern void auc_kept_free(auc_kept_t *kept);

/*
 * Drops what a pending job asked for besides its record, if it was changed since; before
 * it is started, or described. Job write lock.
 */
extern void auc_update_judge(job_record_t *job_ptr);

/*
 * Has jobs that are back in the queue (requeued, say) ask for what they asked for first, and
 * for the low end of their GPU range. Job write lock and node read lock.
 */
extern void auc_requests_restore(void);

/* ---- memo.c ---- */

typedef struct {
	uint32_t job_id;	/* 0: empty slot */
	uint32_t cycle;		/* the last one that saw the job */
	uint8_t misses;		/* starts that failed since the last one that did not */
	bool may_wake;		/* it found no place on nodes that are up */
	int missed_rc;		/* of the last of them that was logged */
	bool left;		/* to Slurm, until the next cycle says otherwise */
	bool stuck;		/* it found no place in the last decision */
	const char *why;	/* the word that was logged; static text */
	uint8_t unmodelled;	/* bit k: alternative k + 1 was logged as left out */
	int64_t until;		/* left to Slurm until then, by auc_now_s(), for its misses */
	const char *until_why;	/* or for another reason: the word; static text */
	int64_t could_us;	/* Slurm could start it, since; 0: or could not. Monotonic */
	int64_t asked_us;	/* when it last said so */
} auc_memo_t;

/* All under the job write lock. */
extern auc_memo_t *auc_memo_find(uint32_t job_id);
extern auc_memo_t *auc_memo_of(uint32_t job_id);	/* made if need be */
extern void auc_memo_sweep(uint32_t cycle);	/* forgets jobs not seen in it */
extern void auc_memo_free(void);

/* ---- snapshot.c ---- */

/* What a row of the queue is in Slurm. */
typedef struct {
	uint32_t job_id;	/* of an array's record: the array's */
	bool array;		/* one of the tasks that an array's record stands for */
	bool approximate;
	bool reads;		/* it names an input file */
	bool lets_sleep;	/* it is not shown nodes that are powered down */
	bool put_off;		/* it won, and waits for the next cycle: see memory.c */
	uint64_t memory;	/* MB a node, or a CPU with MEM_PER_CPU; 0: none is consumed */
	uint16_t threads;	/* CPUs a core */
	uint8_t alternatives;	/* how many the library got */
	uint8_t numbers[AUC_ALTERNATIVES]; /* of these, from 1 on */
	uint32_t first_alternative; /* index in the snapshot's */
} auc_row_t;

typedef struct {
	const char *why;	/* static text */
	uint32_t jobs;
} auc_left_t;

#define AUC_LEFT_MAX 24

typedef struct {
	struct aucsched_input in; /* points into what follows */
	struct aucsched_node *nodes;
	struct aucsched_running *running;
	struct aucsched_segment *segments;
	struct aucsched_job *jobs;
	uint64_t *masks;
	struct aucsched_offer *offers;
	struct aucsched_segment *offer_segments;
	struct aucsched_alternative *alternatives;
	struct aucsched_store *stores;
	struct aucsched_read *job_reads, *running_reads;
	auc_row_t *rows;
	size_t nodes_cap, running_cap, segments_cap, jobs_cap, masks_cap,
		rows_cap, offers_cap, offer_segments_cap, alternatives_cap,
		stores_cap, job_reads_cap, running_reads_cap;
	uint64_t *free_memory;	/* [node], MB */
	uint32_t *gpu_type;	/* [node], 0: no GPUs, AUC_GPU_TYPES: several types */
	uint8_t *spare_gpus;	/* [node], held by nobody */
	bitstr_t *asleep;	/* nodes that are powered down; NULL: none */
	size_t memory_cap, type_cap, spare_cap;
	uint32_t *held;		/* job ids, for which the limits have less room than rows want */
	uint32_t held_len;
	size_t held_cap;
	uint32_t queue;		/* records of the queue, left ones too */
	uint32_t beyond;	/* of these, behind all that the library was given */
	uint32_t left_jobs;	/* records left to Slurm */
	auc_left_t left[AUC_LEFT_MAX];
	int left_len;
	bool beyond_waits;	/* jobs behind the window are not for Slurm to start */
	time_t config;		/* slurm.conf's, when the nodes had these indices */
} auc_snapshot_t;

#define AUC_GPU_TYPES UINT32_MAX

/* Fills the snapshot, keeping its memory. Under the locks. */
extern void auc_snapshot_take(auc_snapshot_t *snapshot,
			      const auc_settings_t *settings,
			      auc_select_hooks_t *hooks, uint32_t cycle);
extern void auc_snapshot_free(auc_snapshot_t *snapshot);

/* ---- nodes.c ---- */

/* Whether new jobs may start on node n as it is: up, and nothing completes on it. */
extern bool auc_takes_jobs(int n);

/* The one type of a node's GPUs, 0: none; AUC_GPU_TYPES if there are several. */
extern uint32_t auc_gpu_type(const gres_node_state_t *gpus);

/* How many GPUs of the type nobody holds. Job and node read locks. */
extern uint64_t auc_free_gpus(const gres_node_state_t *gpus, uint32_t type);

/* ---- files.c ---- */

/* All without a lock. Takes over what an earlier slurmctld has left in dir, the first time. */
extern void auc_files_load(const auc_library_t *library, const char *dir);

/* Saves what the library knows of files, if that has changed and it is not too soon. */
extern void auc_files_keep(const auc_library_t *library,
			   const struct aucsched_output *out, const char *dir);

/* The last time, before the library is closed. */
extern void auc_files_end(const auc_library_t *library, const char *dir);

/* ---- offer.c ---- */

/* What is tested goes by what was tested before it: as if the earlier jobs had started. */
typedef struct {
	bitstr_t **taken;	/* [node]: cores; NULL until the first */
} auc_offers_t;

/*
 * Asks stock Slurm what it would give to the job of a row now, and adds that to the snapshot
 * as the job's offer. The job is as it was afterwards. Under the locks.
 * IN nodes - those that the job may use
 */
extern void auc_offer(auc_snapshot_t *snapshot, auc_offers_t *offers,
		      auc_select_hooks_t *hooks, job_record_t *job_ptr,
		      const bitstr_t *nodes, uint32_t row);
extern void auc_offers_free(auc_offers_t *offers);

/*
 * Asks stock Slurm whether it would start the job now on some of the nodes. The job is as it was
 * afterwards. Under the locks.
 */
extern bool auc_could_start(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			    const bitstr_t *nodes);

/*
 * Has stock Slurm start it there, whoever else keeps the job; it is to be launched then. Under the
 * locks. RET as select_nodes()
 */
extern int auc_select_among(auc_select_hooks_t *hooks, job_record_t *job_ptr,
			    const bitstr_t *nodes);

/* ---- overdue.c ---- */

typedef struct {
	uint32_t started;
	bool waits;	/* a job could start, or has not been asked about: there must be a next time */
} auc_overdue_t;

/*
 * Asks about some of the jobs that were waiting as the snapshot was taken, and starts those that
 * are overdue. Under the locks.
 * IN out - what was decided on the snapshot; NULL: nothing
 */
extern auc_overdue_t auc_overdue_ask(const auc_snapshot_t *snapshot,
				     const struct aucsched_output *out,
				     auc_select_hooks_t *hooks);
extern void auc_overdue_free(void);

/* ---- clock.c ---- */

/* The monotonic clock, in microseconds and in seconds. */
extern int64_t auc_now_us(void);
extern int64_t auc_now_s(void);

/* A condition that is waited for by that clock; until_us is auc_now_us()'s. */
extern void auc_cond_init(pthread_cond_t *cond);
extern void auc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
			  int64_t until_us);

/* ---- journal.c ---- */

/* One start of a job, or its end. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool ended;
	uint32_t state;		/* with ended: job_state as it was given back its nodes */
	uint32_t exit_code;
} auc_run_t;

#define AUC_RUN_LINE 80

/* A run as a line of the file, and back. RET false if the line is none */
extern int auc_run_format(char *line, size_t size, const auc_run_t *run);
extern bool auc_run_parse(const char *line, auc_run_t *run);

/*
 * Opens the journal in dir, and keeps what is in it.
 * RET that, in the order of the events; caller must xfree()
 */
extern auc_run_t *auc_journal_open(const char *dir, size_t *len);

/*
 * Why there is no file at the moment; NULL: there is one. Static text. Any thread.
 */
extern const char *auc_journal_why_off(void);

/* Any thread; without an open journal nothing is written. */
extern void auc_journal_start(uint32_t job_id, time_t start);
extern void auc_journal_end(const job_record_t *job_ptr);

/* How long it will take until all that was started is a step on its node, at most 1 s. */
extern int64_t auc_journal_rest_us(void);

/* Where the journal is now, and: Slurm has saved what happened before a mark. The latter
 * may write the file anew; one thread at a time. */
extern size_t auc_journal_mark(void);
extern void auc_journal_forget(size_t mark, time_t now);

/* IN discard - remove the file: from now on there would be gaps in it */
extern void auc_journal_close(bool discard);

/* ---- status.c ---- */

/* Starts that failed, by what was said of them. */
#define AUC_MISSES 16
#define AUC_MISS_SIZE 64

typedef struct {
	struct {
		char why[AUC_MISS_SIZE];
		uint64_t count;
	} of[AUC_MISSES];
	int len;
} auc_misses_t;

/* Counts. IN why - such as slurm_strerror()'s; those of many kinds are "other" */
extern void auc_miss(auc_misses_t *misses, const char *why, uint64_t count);
extern void auc_misses_add(auc_misses_t *misses, const auc_misses_t *more);

/* ---- alone.c ---- */

/*
 * Whether a job may be started by Slurm right now: it was submitted just now, nobody waits
 * for nodes of its partition, and no other job has just been started so that still runs:
 * jobs that come together are decided together. Job write lock.
 * IN together_ms - how soon after one another jobs come together
 */
extern bool auc_alone_is(job_record_t *job_ptr, int together_ms);

/* What became of a job: Slurm has started it, or it has to wait for a cycle. Job write lock. */
extern void auc_alone_started(job_record_t *job_ptr);
extern void auc_alone_waits(job_record_t *job_ptr);

/* A cycle begins; and it ends, and knows who waits. Under the locks. */
extern void auc_alone_begin(void);
extern void auc_alone_end(const auc_snapshot_t *snapshot);
extern void auc_alone_free(void);

/* ---- launch.c ---- */

/* A job that has its nodes. */
typedef struct {
	uint32_t job_id;
	time_t start;		/* the job's start_time, which tells its runs apart */
	bool by_slurm;		/* it is configured first, and launched by Slurm then */
} auc_launch_t;

typedef struct {
	uint32_t started;
	uint32_t failed;	/* Slurm refused, or gave other cores than the bid's */
	auc_misses_t misses;	/* these, by reason */
	uint32_t readers;	/* of those started: jobs that name an input file, */
	uint32_t holders;	/* and of these, on nodes that all hold it */
	uint32_t stale;		/* the job or its nodes have changed since the snapshot */
	uint32_t next;		/* row to go on with; == jobs_len: done */
	auc_launch_t *launches;	/* of jobs that are to be launched */
	size_t launches_len, launches_cap;
} auc_starts_t;

/* Notes a job that has just been given its nodes. Under the locks. */
extern void auc_will_launch(auc_starts_t *starts, job_record_t *job_ptr);

/* Tells the nodes, and those who wait for them, of starts->launches. What is suspended
 * stays there, and is launched when it goes on. Under the locks. */
extern void auc_launch(auc_starts_t *starts);

extern void auc_starts_free(auc_starts_t *starts);

/* ---- start.c ---- */

/*
 * Gives jobs their nodes as decided, from starts->next on, until all are done or
 * budget_us is over (one start is always tried). Every job is validated again first. Under
 * the locks. auc_launch() has to follow.
 */
extern void auc_start(const auc_snapshot_t *snapshot,
		      const struct aucsched_output *out,
		      auc_select_hooks_t *hooks, int64_t budget_us,
		      auc_starts_t *starts);

/*
 * Makes the next task of an array's record a job of its own; any other job is that already.
 * RET that job, or NULL. Under the locks.
 */
extern job_record_t *auc_split(job_record_t *job_ptr);

/* ---- reason.c ---- */

/* Tells waiting jobs why they wait, and when they are expected to start. Under the locks. */
extern void auc_explain(const auc_snapshot_t *snapshot,
			const struct aucsched_output *out);

/* Tells a job that it waits behind the window, or that it does so no more. Under the locks. */
extern void auc_tell_behind(job_record_t *job_ptr);
extern void auc_untell_behind(job_record_t *job_ptr);
extern void auc_untell_all(void);

/* The same for licences. RET whether they are available. Under the locks. */
extern bool auc_tell_licences(job_record_t *job_ptr, bool available);

/* ---- memory.c ---- */

/*
 * Puts off winners that have no room beside those before them. RET how many; there should be
 * another cycle for them soon
 */
extern uint32_t auc_put_off(auc_snapshot_t *snapshot,
			    const struct aucsched_output *out);

/* ---- misses.c ---- */

/* A start failed, with an error of Slurm's. Under the locks. */
extern void auc_missed(job_record_t *job_ptr, int rc);

/* ---- asleep.c ---- */

/*
 * After a decision: notes the jobs that found no place without the nodes that are powered down, which the next cycle
 * lets have them; and takes that back from the others. Under the locks.
 * IN woke - that was this cycle: nobody is noted
 * RET whether jobs wait that were decided on without those nodes
 */
extern bool auc_may_wake(const auc_snapshot_t *snapshot,
			 const struct aucsched_output *out, bool woke);

/* ---- saver.c ---- */

/*
 * Has Slurm's thread save all that is to be saved, with the state of jobs, and waits for
 * that. No lock of slurmctld's, any thread.
 * IN dir - StateSaveLocation
 * RET SLURM_SUCCESS; EBUSY: not in this time; EIO, nothing was written; ECANCELED: closed
 */
extern int auc_saver_save(const char *dir, int64_t wait_ms);

/*
 * Whether Slurm's thread has not ended yet, as it was asked to; and: starts it anew if it has. As long as the
 * first is so somebody has to do the second, or nothing is saved any more.
 */
extern bool auc_saver_is_late(void);
extern void auc_saver_mend(void);

/* When slurmctld ends: Slurm's thread is Slurm's alone again; waits for it if it is late. */
extern void auc_saver_open(void);
extern void auc_saver_close(int64_t wait_ms);

/* ---- keeper.c ---- */

/*
 * Repairs what slurmctld could not save before it was killed, by the journal in dir, and
 * starts the thread. To be called from the agent's thread, without a lock.
 */
extern void auc_keeper_start(const char *dir);

/* IN discard - slurmctld goes on without: the journal is removed. Not while auc_saver_is_late() goes unmended */
extern void auc_keeper_stop(bool discard);

/* Whether it still asks nodes what became of jobs. */
extern bool auc_keeper_asks(void);

/*
 * Has Slurm save the state of jobs now, and waits for it, but not for long: not at all for a
 * while after a save that failed, when the thread tries again. No lock of slurmctld's. RET 0 or an error
 */
extern int auc_keeper_save(void);

/* How often that failed. */
extern uint64_t auc_keeper_failed(void);

/* Has it saved soon. Any thread, any lock. */
extern void auc_keeper_want(void);

/* ---- status.c ---- */

typedef struct {
	int64_t last, max;
	double sum;
	uint64_t count;
} auc_figure_t;

typedef struct {
	const char *state;	/* "starting", "on", "off", "no-library", "failing" */
	char *state_text;
	uint64_t cycles, skipped, cycles_failed, started, starts_failed,
		fallbacks, worker_failures, readers, holders, overdue;
	uint32_t files, copies;
	char *last_failure;
	auc_misses_t misses;	/* starts_failed by reason */
	char *worker_fault;	/* why a worker process failed last */
	const char *journal;	/* static text: "on", or why it is not; NULL: not known */
	uint64_t saves_failed;	/* of the jobs' state before a launch */
	auc_figure_t cycle_us, snapshot_us, decide_us, start_us, lock_us;
	uint32_t window, bids;
	double objective, bound;
	bool optimal, late;
} auc_status_t;

extern void auc_figure_add(auc_figure_t *figure, int64_t value);

/* Notes that worker processes failed, and logs the words, which it takes, if they are new. */
extern void auc_status_worker(auc_status_t *status, uint32_t failures,
			      char *fault);

/*
 * Writes the file anew, so that a reader never sees half of it. The directory may be one
 * where others write: no link of theirs is followed. What goes wrong is logged once. No lock;
 * the agent's thread.
 */
extern void auc_status_write(const auc_status_t *status,
			     const auc_settings_t *settings,
			     const auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir);

/* RET false with errno; and then there is no new file */
extern bool auc_status_replace(const char *path, const char *text);

/* ---- agent.c ---- */

extern int auc_agent_start(void);
extern void auc_agent_stop(void);
extern void auc_agent_reconfig(void);

#endif
