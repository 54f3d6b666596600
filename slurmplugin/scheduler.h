/*
 * The parts of sched/aucsched and what they hand each other.
 *
 *   settings.c   SchedulerParameters=auc_...
 *   grow.c       arrays that grow
 *   library.c    libaucsched.so
 *   net.c        Slurm's own backfill scheduler, wrapped
 *   model.c      a job as the auction sees it, or why the job is left to Slurm
 *   switch.c     a job's record with another request in it
 *   memo.c       what is remembered of pending jobs from cycle to cycle
 *   snapshot.c   the cluster as flat arrays (what follows is told in snapshot.h):
 *     nodes.c      its nodes
 *     running.c    what running jobs hold of them
 *     queue.c      the pending jobs
 *     masks.c      the nodes that each may use
 *     claims.c     those that others have been promised
 *     left.c       which jobs are left to Slurm, and why
 *     files.c      the input files that they read, and the nodes hold
 *   offer.c      what stock Slurm would allocate, as bids
 *   start.c      decisions into running jobs, and into reasons for waiting
 *   journal.c    starts and ends that Slurm may not have saved
 *   keeper.c     the thread that saves them, and repairs what a kill -9 left behind
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
	char *path;
	const char *version;
	int64_t scheduler;	/* of aucsched_open(); 0: none */
	int64_t (*open)(const char *, char *, size_t);
	int (*configure)(int64_t, const char *);
	int (*cycle)(int64_t, const struct aucsched_input *,
		     struct aucsched_output *);
	int64_t (*save_files)(int64_t, void *, size_t);
	int (*load_files)(int64_t, const void *, size_t);
	size_t (*last_error)(int64_t, char *, size_t);
	int (*close)(int64_t);
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

/* ---- net.c ---- */

/* Loads the stock sched_backfill.so and starts its thread. */
extern int auc_net_start(void);
extern void auc_net_reconfig(void);
extern void auc_net_stop(void);

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
} auc_request_t;

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

/* ---- switch.c ---- */

/* What a switch changes of a job, as it was. Nothing of it is anybody else's. */
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
 * OUT kept - for auc_switch_back(), which has to follow
 * RET SLURM_SUCCESS; or an error, and then the job is as it was
 */
extern int auc_switch(job_record_t *job_ptr, const auc_alternative_t *alternative,
		      auc_kept_t *kept);

/*
 * The same for a job that is to start: with a note of its first request, and the
 * environment that the script is to have.
 * IN number - the alternative's, from 1 on
 * IN gpus - how many it gets on each node
 * OUT kept - for auc_switch_back(), or auc_kept_free() once it has started
 */
extern int auc_switch_for_start(job_record_t *job_ptr,
				const auc_alternative_t *alternative,
				int number, int gpus, auc_kept_t *kept);
extern void auc_switch_back(job_record_t *job_ptr, auc_kept_t *kept);
extern void auc_kept_free(auc_kept_t *kept);

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
	bool left;		/* to Slurm, until the next cycle says otherwise */
	const char *why;	/* the word that was logged; static text */
	uint8_t unmodelled;	/* bit k: alternative k + 1 was logged as left out */
	time_t until;		/* left to Slurm for its misses until then */
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
	size_t memory_cap, type_cap, spare_cap;
	uint32_t queue;		/* records of the queue, left ones too */
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

/* ---- running.c ---- */

/* The idle cores of the nodes in want, by node index (NULL elsewhere); job and
 * node read locks. Free with auc_cores_free(). */
extern bitstr_t **auc_idle_cores(const bitstr_t *want);
extern void auc_cores_free(bitstr_t **cores);

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

/* ---- clock.c ---- */

/* The monotonic clock. */
extern int64_t auc_now_us(void);

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

/* Any thread; without an open journal nothing is written. */
extern void auc_journal_start(uint32_t job_id, time_t start);
extern void auc_journal_end(const job_record_t *job_ptr);

/* How long it will take until all that was started is a step on its node, at most 1 s. */
extern int64_t auc_journal_rest_us(void);

/* Where the journal is now, and: Slurm has saved what happened before a mark. */
extern size_t auc_journal_mark(void);
extern void auc_journal_forget(size_t mark, time_t now);

/* IN discard - remove the file: from now on there would be gaps in it */
extern void auc_journal_close(bool discard);

/* ---- start.c ---- */

typedef struct {
	uint32_t started;
	uint32_t failed;	/* Slurm refused, or gave other cores than the bid's */
	uint32_t readers;	/* of those started: jobs that name an input file, */
	uint32_t holders;	/* and of these, on nodes that all hold it */
	uint32_t stale;		/* the job or its nodes have changed since the snapshot */
	uint32_t next;		/* row to go on with; == jobs_len: done */
	auc_run_t *launches;	/* runs that have their nodes and are to be launched */
	size_t launches_len, launches_cap;
} auc_starts_t;

/*
 * Gives jobs their nodes as decided, from starts->next on, until all are done or
 * budget_us is over (one start is always tried). Every job is validated again first. Under
 * the locks. auc_launch() has to follow.
 */
extern void auc_start(const auc_snapshot_t *snapshot,
		      const struct aucsched_output *out,
		      auc_select_hooks_t *hooks, int64_t budget_us,
		      auc_starts_t *starts);

/* Tells the nodes, and those who wait for them, of starts->launches, and empties it. Under
 * the locks. */
extern void auc_launch(auc_starts_t *starts);

extern void auc_starts_free(auc_starts_t *starts);

/* Tells waiting jobs why they wait, and when they are expected to start. Under the locks. */
extern void auc_explain(const auc_snapshot_t *snapshot,
			const struct aucsched_output *out);

/* Tells a job that it waits behind the window, or that it does so no more. Under the locks. */
extern void auc_tell_behind(job_record_t *job_ptr);
extern void auc_untell_behind(job_record_t *job_ptr);
extern void auc_untell_all(void);

/* ---- keeper.c ---- */

/*
 * Repairs what slurmctld could not save before it was killed, by the journal in dir, and
 * starts the thread. To be called from the agent's thread, without a lock.
 */
extern void auc_keeper_start(const char *dir);
extern void auc_keeper_stop(bool discard);

/* Saves the state of jobs now. No lock of slurmctld's. RET 0 or an error */
extern int auc_keeper_save(void);

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
		fallbacks, worker_failures, readers, holders;
	uint32_t files, copies;
	char *last_failure;
	auc_figure_t cycle_us, snapshot_us, decide_us, start_us, lock_us;
	uint32_t window, bids;
	double objective, bound;
	bool optimal, late;
} auc_status_t;

extern void auc_figure_add(auc_figure_t *figure, int64_t value);

/*
 * Writes the file anew, so that a reader never sees half of it. No lock.
 * IN path - auc_status, or NULL for the default below state_dir
 */
extern void auc_status_write(const auc_status_t *status,
			     const auc_settings_t *settings,
			     const auc_library_t *library,
			     const auc_snapshot_t *snapshot,
			     const char *state_dir);

/* ---- agent.c ---- */

extern int auc_agent_start(void);
extern void auc_agent_stop(void);
extern void auc_agent_reconfig(void);

#endif
