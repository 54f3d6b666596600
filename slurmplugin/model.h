/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A job as the auction sees it, and what nodes have of what it asks. */
#ifndef AUC_MODEL_H
#define AUC_MODEL_H

#include "quotas.h"
#include "status.h"

/* Whether two jobs ask for the same, as far as their records tell, and as whom: a queue's are mostly alike. Job read lock. */
extern bool auc_are_alike(const job_record_t *a, const job_record_t *b);

/*
 * Tells the library where nodes stand, as Slurm's topology plug-in says, unless it knows. Before jobs are
 * described. The agent's thread, node read lock.
 */
extern void auc_tell_topology(auc_library_t *library);

/* Whether a running job has the blocks of its nodes to itself: nobody else may start there. Job read lock. */
extern bool auc_holds_leaves(const job_record_t *job_ptr);

/*
 * Slurm counts the time for which a job waits for few switches from its first own try, which it
 * does not make of jobs that we decide: from when the job could have started, then. Before
 * select_nodes(). Job write lock.
 */
extern void auc_note_switch_wait(job_record_t *job_ptr);

extern void auc_topology_free(void);

/*
 * The cores of nodes: who holds them, and which are idle. An array of bitmaps has one for each
 * node, by its index, or NULL; it is the caller's, and freed with auc_cores_free().
 *
 * Job and node read locks.
 */

/* A completing job has given all back; its nodes are busy until they are clean. */
extern bool auc_holds_nodes(const job_record_t *job_ptr);

/*
 * A job that was suspended by hand (which takes its priority) keeps its memory and GPUs,
 * but select/cons_tres gives its cores to others. Those that gang scheduling suspends
 * keep them.
 */
extern bool auc_gave_cores(const job_record_t *job_ptr);

/* The idle cores of the nodes in want; NULL elsewhere. */
extern bitstr_t **auc_idle_cores(const bitstr_t *want);

/* Sets or clears the cores that a job holds, on nodes of which there is a bitmap. */
extern void auc_cores_mark(const job_resources_t *held, bitstr_t **nodes,
			   bool set);
extern void auc_cores_free(bitstr_t **cores);

/*
 * What partitions have to say of who may be on which nodes: defaults for each GPU,
 * MaxCPUsPerNode, nodes that are one user's. Job write lock, node and partition read locks.
 */

/* Forgets what is looked at once in a cycle. */
extern void auc_part_rules_refresh(void);

/* MaxCPUsPerNode, or what MaxCPUsPerSocket leaves of a node; 0: none. Node read lock. */
extern uint32_t auc_most_cpus(const part_record_t *part_ptr);

/* Whether other users must not be on the nodes of the job. */
extern bool auc_wants_own_nodes(const job_record_t *job_ptr,
				const part_record_t *part_ptr);

/* Whether filter_by_node_owner() can make a difference, as the cycle began. */
extern bool auc_may_meet_owners(const job_record_t *job_ptr,
				const part_record_t *part_ptr);

/* Whether the job is for that partition, which may be gone. */
extern bool auc_has_partition(const job_record_t *job_ptr,
			      const part_record_t *part_ptr);

/* Whether a gres shares GPUs (shard, mps): a GPU is given whole, or jobs have shares of it. */
extern bool auc_gres_is_share(uint32_t id);

/* Which one is counted in this cycle. Conf and node read locks, job write lock. */
extern void auc_shares_refresh(void);

/* The id of that one, 0: none. Job write lock. */
extern uint32_t auc_share_gres(void);

/* Whether it is known of a node's shares which GPU each is of. */
extern bool auc_shares_are_known(const gres_node_state_t *shares);

/* Whether jobs have shares of GPU number gpu of a node, and of how many. Node read lock. */
extern bool auc_is_shared_gpu(const node_record_t *node_ptr, int gpu);
extern int auc_shared_gpus(const node_record_t *node_ptr);

/*
 * Has Slurm know again which GPUs of a job's nodes are in shared use, when the job has given back
 * what it had: 22.05 takes a GPU that others still have shares of for one that nobody has, and
 * could give it away whole. Node write lock.
 */
extern void auc_mark_shared(const bitstr_t *nodes);

/*
 * A job as the auction sees it, or why the job is left to Slurm. Nothing is remembered of a job. The
 * agent's thread alone; locks are told with each.
 */

/* Whether it must be over by some time. Job read lock. */
static inline bool auc_has_deadline(const job_record_t *job_ptr)
{
	return job_ptr->deadline && (job_ptr->deadline != NO_VAL);
}

/*
 * The time limit that a job of the partition would have if it started now, in minutes, or INFINITE:
 * as Slurm's main loop does it, it ends by its deadline. Job read lock.
 */
extern uint32_t auc_minutes(const job_record_t *job_ptr,
			    const part_record_t *part_ptr);

/*
 * Describes a pending job to the auction.
 * RET NULL, or one word that says why the job is left to Slurm (docs/reference/slurm-jobs.md has
 *	the table). Job and node read locks.
 */
extern const char *auc_model(job_record_t *job_ptr, part_record_t *part_ptr,
			     auc_request_t *request);

/* The request of a job as an alternative, of job 0. */
extern struct aucsched_alternative auc_as_alternative(const struct aucsched_job *job);

/*
 * How Slurm has read what a job wants of features: its nodes are to have all of them (FEATURE_OP_AND), any
 * (FEATURE_OP_OR), or all the same one (FEATURE_OP_MOR). OUT len - how many there are
 * RET one of these; FEATURE_OP_XAND: something else
 */
extern uint8_t auc_features(const job_record_t *job_ptr, int *len);

/* Whether the job takes its nodes as a whole. */
extern bool auc_is_whole(const job_record_t *job_ptr,
			 const part_record_t *part_ptr);

/* CPUs of a core of the node that jobs may use. */
extern uint16_t auc_threads_of(const node_record_t *node_ptr);

/* How many GPUs each of a partition's nodes has at least. */
extern uint32_t auc_fewest_gpus(const part_record_t *part_ptr);

/* Looks at the nodes again; to be called before a cycle's jobs are described, with the library that
 * reads requests. Job write lock and node read lock. */
extern void auc_model_refresh(auc_library_t *library);

/* What auc_model() returns of a request that the library has not read yet: another snapshot is due. */
extern const char auc_unread[];

/* The alternatives that are noted on a job. RET how many there are; 0 too if the note is not ours */
extern int auc_alternatives_of(const job_record_t *job_ptr,
			       auc_alternative_t *alternatives);

/*
 * Makes a pending job ask for count GPUs on each node.
 * Job write lock.
 */
extern int auc_set_gpus(job_record_t *job_ptr, uint32_t count);

/* The job's request for GPUs, NULL if there is none; the first of one for each of several types, or NULL then too. */
extern gres_job_state_t *auc_gpu_request(const job_record_t *job_ptr);
extern gres_job_state_t *auc_only_gpus(const job_record_t *job_ptr);

/*
 * So many of a node's GPUs of which nobody has anything, those near the cores (NULL: any) first. Node read lock.
 * RET FREE_NULL_BITMAP(); NULL: there are not so many, or the node does not tell them apart
 */
extern bitstr_t *auc_free_gpus(const node_record_t *node_ptr, const gres_node_state_t *gpus,
			       bitstr_t *cores, int count);

/* The node's GPUs, NULL if it has none, or there is no node. */
extern gres_node_state_t *auc_node_gpus(const node_record_t *node_ptr);

/* What the node has of a gres, NULL if there is none. */
extern gres_node_state_t *auc_node_gres(const node_record_t *node_ptr,
					uint32_t id);

/* Whether a gres is GPUs. */
extern bool auc_gres_is_gpu(uint32_t id);

/*
 * A pending job's record with another request in it: an alternative, or what it asked for first.
 * All under the job write lock and the node read lock.
 */

/* What a swap changes of a job, as it was, and of its bit_flags a part. Nothing of it is anybody else's. */
#define AUC_SWAPPED(JOB, DETAIL) \
	DETAIL(num_tasks) DETAIL(min_nodes) DETAIL(max_nodes) DETAIL(min_cpus) DETAIL(max_cpus) \
	DETAIL(orig_min_cpus) DETAIL(orig_max_cpus) DETAIL(pn_min_cpus) DETAIL(orig_pn_min_cpus) \
	DETAIL(pn_min_memory) DETAIL(usable_nodes) DETAIL(ntasks_per_node) DETAIL(cpus_per_task) \
	DETAIL(contiguous) DETAIL(env_cnt) DETAIL(env_sup) \
	JOB(total_cpus) JOB(total_nodes) JOB(cpu_cnt) JOB(node_cnt_wag) JOB(admin_comment) \
	JOB(tres_per_node) JOB(gres_list_req) JOB(gres_list_req_accum) \
	JOB(tres_req_cnt) JOB(tres_req_str) JOB(tres_fmt_req_str)

typedef struct {
	AUC_SWAPPED(AUC_JOB_FIELD, AUC_DETAIL_FIELD)
	uint64_t bit_flags;
} auc_kept_t;

/*
 * Makes a pending job ask for an alternative, to be looked at by auc_model() and so on.
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
 * Drops what a pending job asked for beside its record, if it was changed since; before
 * it is started, or described. The job write lock is enough.
 */
extern void auc_update_judge(job_record_t *job_ptr);

/*
 * Has jobs that are back in the queue (requeued, say) ask for what they asked for first, and
 * for the low end of their GPU range.
 */
extern void auc_requests_restore(void);

/*
 * Every node of the table, and what running jobs hold of it and until when. Topology must have been told. Under
 * the locks.
 */
extern void auc_add_machine(auc_snapshot_t *snapshot,
			    const auc_settings_t *settings);

/* Whether new jobs may start on node n as it is: up, and nothing completes on it. Node read lock. */
extern bool auc_takes_jobs(int n);

#define AUC_GPU_TYPES UINT32_MAX

/* The one type of a node's GPUs, 0: none; AUC_GPU_TYPES if there are several. */
extern uint32_t auc_gpu_type(const gres_node_state_t *gpus);

/* Whether memory is given out in the partition. Conf and partition read locks. */
extern bool auc_consumes_memory(const part_record_t *part_ptr);

/* All that jobs may have of a node's memory, MB. Node read lock. */
extern uint64_t auc_all_memory(int n);

/*
 * What the library counts beside cores and GPUs: memory, CPUs of partitions, GPUs by type where nodes
 * have several types, and other gres. Arrays are the snapshot's. Under the locks.
 */

/* What the job that is added next, or the next alternative, uses as its request says. */
extern void auc_add_uses(auc_snapshot_t *snapshot, bool alternative,
			 const auc_request_t *request,
			 const part_record_t *part_ptr);

/* Whether the library counts the gres, or the type of it, so that no mask need say where it is. */
extern bool auc_counts_gres(const auc_snapshot_t *snapshot, uint32_t gres,
			    uint32_t type);

/*
 * Shares of GPUs in the snapshot, and at starts: gres/shard, or gres/mps with no_one_sharing,
 * whichever some node has. A job's shares of a node are all of one GPU.
 */

/*
 * The device that a start gets, for a bin that the library has named; starts of a cycle that are
 * given the same bin get the same one. Node write lock.
 * IN cores - the job's; GPUs that are close to them are preferred
 * RET index in the gres's topology, -1 if none has room any more
 */
extern int auc_share_device(const auc_snapshot_t *snapshot, int n, uint8_t bin,
			    uint32_t share, bitstr_t *cores);

/* Whether GPU index gpu is close to the cores; true too if nobody said which are. Node read lock. */
extern bool auc_is_near(const gres_node_state_t *gpus, int gpu, bitstr_t *cores);

/*
 * Which input files nodes hold, as the library is told, and the file in StateSaveLocation in which
 * that outlasts a restart. The agent's thread alone.
 */

/* The file of the job that comes next, or of the running one, if it names one. RET whether it does */
extern bool auc_add_read(auc_snapshot_t *snapshot, const job_record_t *job_ptr,
			 bool runs);

#endif
