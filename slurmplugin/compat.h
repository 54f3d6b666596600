/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The differences between Slurm versions, and nothing else: the only file of the
 * plug-ins that looks at SLURM_VERSION_NUMBER. The sources are written for the newest
 * names; older versions are given them here.
 */
#ifndef AUC_COMPAT_H
#define AUC_COMPAT_H

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "src/common/slurm_xlator.h"

#define AUC_VERSION_AT_LEAST(major, minor) \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

#if !AUC_VERSION_AT_LEAST(22, 5)
#error "Slurm 22.05 or newer is needed"
#endif

/* One of two expressions, by whether Slurm is of a version or newer. */
#if AUC_VERSION_AT_LEAST(23, 2)
#define AUC_FROM_23_02(now, before) now
#else
#define AUC_FROM_23_02(now, before) before
#endif
#if AUC_VERSION_AT_LEAST(24, 5)
#define AUC_FROM_24_05(now, before) now
#else
#define AUC_FROM_24_05(now, before) before
#endif
#if AUC_VERSION_AT_LEAST(24, 11)
#define AUC_FROM_24_11(now, before) now
#else
#define AUC_FROM_24_11(now, before) before
#endif
#if AUC_VERSION_AT_LEAST(25, 5)
#define AUC_FROM_25_05(now, before) now
#else
#define AUC_FROM_25_05(now, before) before
#endif
#if AUC_VERSION_AT_LEAST(25, 11)
#define AUC_FROM_25_11(now, before) now
#else
#define AUC_FROM_25_11(now, before) before
#endif

/* slurmctld reads its configuration by starting a new one. */
#define AUC_RECONFIGURES_ANEW AUC_VERSION_AT_LEAST(23, 11)

/* It begins without a file of its state rather than with the one before. Nobody else loads select/. */
#define AUC_FORGETS_OLD_STATE AUC_VERSION_AT_LEAST(25, 5)

#include "src/common/bitstring.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if AUC_VERSION_AT_LEAST(23, 2)
#include "src/common/job_features.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/topology.h"
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#else
#include "src/common/gres.h"
#include "src/common/select.h"
#include "src/common/slurm_topology.h"
#include "src/slurmctld/preempt.h"
typedef struct xlist list_t;
typedef struct listIterator list_itr_t;
#endif
#include "src/common/assoc_mgr.h"
#include "src/common/job_resources.h"
#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/agent.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/proc_req.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/state_save.h"
#if AUC_VERSION_AT_LEAST(24, 11)
#include "src/common/node_features.h"
#endif
#if AUC_VERSION_AT_LEAST(26, 5)
#include "src/common/threadpool.h"
#endif
#if AUC_VERSION_AT_LEAST(24, 5)
#include "src/stepmgr/gres_stepmgr.h"
#include "src/stepmgr/srun_comm.h"
#include "src/stepmgr/stepmgr.h"
#define auc_set_job_tres_cnt gres_stepmgr_set_job_tres_cnt
#else
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/srun_comm.h"
#define auc_set_job_tres_cnt gres_ctld_set_job_tres_cnt
#endif

/* What Slurm puts before the name of a gres in a job's request. */
#if AUC_VERSION_AT_LEAST(23, 11)
#define AUC_GRES_PREFIX "gres/"
#else
#define AUC_GRES_PREFIX "gres:"
#endif

/* Where a node stands: its switches or blocks from the top on, and what each of these is. */
#if AUC_VERSION_AT_LEAST(23, 11)
#define auc_node_addr topology_g_get_node_addr
#else
#define auc_node_addr slurm_topo_get_node_addr
#endif

/* SelectTypeParameters. */
#if !AUC_VERSION_AT_LEAST(25, 11)
#define SELECT_SOCKET CR_SOCKET
#define SELECT_CORE CR_CORE
#define SELECT_MEMORY CR_MEMORY
#define SELECT_ONE_TASK_PER_CORE CR_ONE_TASK_PER_CORE
#define SELECT_LLN CR_LLN
#if AUC_VERSION_AT_LEAST(23, 11)
#define SELECT_MULTIPLE_SHARING_GRES_PJ MULTIPLE_SHARING_GRES_PJ
#else
#define SELECT_MULTIPLE_SHARING_GRES_PJ 0	/* never */
#endif
#endif

/* Whether a job's shares of a node's GPUs may be of several. */
static inline bool auc_shares_are_split(void)
{
	return slurm_conf.select_type_param & SELECT_MULTIPLE_SHARING_GRES_PJ;
}

/* A thread of our own, which is joined with pthread_join(). */
static inline void auc_thread_create(pthread_t *id, void *(*run)(void *))
{
#if AUC_VERSION_AT_LEAST(26, 5)
	/* Those of Slurm's pool can only be waited for. */
	int rc = pthread_create(id, NULL, run, NULL);

	if (rc)
		fatal("aucsched: no thread: %s", slurm_strerror(rc));
#else
	slurm_thread_create(id, run, NULL);
#endif
}

/* Whether Slurm's threads are of a pool: nobody can look whether one has done its work. */
#define AUC_THREADS_ARE_POOLED AUC_VERSION_AT_LEAST(26, 5)

/* Slurm's thread that saves its state; run is slurmctld_state_save() or calls it. */
static inline void auc_saver_create(pthread_t *id, void *(*run)(void *))
{
#if AUC_THREADS_ARE_POOLED
	slurm_thread_create("sstate", id, run, NULL);
#else
	slurm_thread_create(id, run, NULL);
#endif
}

/* Waits for a thread of the pool. */
static inline void auc_pool_join(pthread_t id)
{
#if AUC_THREADS_ARE_POOLED
	(void) threadpool_join(id, __func__);
#endif
}

/* FailedNode of "scontrol show job". */
static inline void auc_note_failed_node(job_record_t *job_ptr, const char *node)
{
#if AUC_VERSION_AT_LEAST(24, 5)
	xfree(job_ptr->failed_node);
	job_ptr->failed_node = xstrdup(node);
#endif
}

/*
 * Ends a job as its node would have. Job write lock.
 * IN code - from 24.11 on the job's exit code too if it is requeued, or its node has failed
 */
static inline int auc_job_complete(job_record_t *job_ptr, uid_t uid,
				   bool requeue, bool node_fail, uint32_t code)
{
#if AUC_VERSION_AT_LEAST(25, 11)
	slurm_step_id_t step_id = STEP_ID_FROM_JOB_RECORD(job_ptr);

	return job_complete(&step_id, uid, requeue, node_fail, code);
#else
	return job_complete(job_ptr->job_id, uid, requeue, node_fail, code);
#endif
}

/* What srun and salloc prove who they are with, where TLS is used; NULL: nothing. */
static inline char *auc_client_cert(const job_record_t *job_ptr)
{
	return AUC_FROM_25_05(job_ptr->alloc_tls_cert, NULL);
}
static inline void auc_expect_cert(slurm_msg_t *msg, char *cert)
{
#if AUC_VERSION_AT_LEAST(25, 5)
	msg->tls_cert = cert;
#endif
}

/* What a job is to get of device from of node n, it gets of another one instead. */
static inline void auc_move_shares(gres_job_state_t *request, int n, int from,
				   int to)
{
#if AUC_VERSION_AT_LEAST(23, 11)
	uint64_t *shares = request->gres_per_bit_select ?
		request->gres_per_bit_select[n] : NULL;
	uint64_t count = shares ? shares[from] : 0;

	if (shares) {
		shares[from] = 0;
		shares[to] = count;
	}
#endif
	bit_clear(request->gres_bit_select[n], from);
	bit_set(request->gres_bit_select[n], to);
}

/* Nodes of a segment (--segment), 0: none. */
static inline uint32_t auc_segment(const job_record_t *job_ptr)
{
	return AUC_FROM_24_05(job_ptr->details->segment_size, 0);
}

/* Whether the segments of a job are to be spread over blocks, or brought together. */
static inline bool auc_arranges_segments(const job_record_t *job_ptr)
{
	return AUC_FROM_25_11(
		job_ptr->bit_flags & (SPREAD_SEGMENTS | CONSOLIDATE_SEGMENTS),
		false);
}

/*
 * The flag of jobs whose greatest number of nodes is their number of tasks, for they named none:
 * these get as few nodes as will do, and not as many as they may have.
 */
#if AUC_VERSION_AT_LEAST(26, 5)
#define AUC_IMPLIED_MAX_NODES JOB_IMPLICIT_MAX_NODES
#else
#define AUC_IMPLIED_MAX_NODES ((uint64_t) 0)
#endif

/* A job that runs nothing on nodes without a slurmd, and such a node. Node read lock. */
static inline bool auc_is_external(const job_record_t *job_ptr)
{
	return AUC_FROM_25_05(job_ptr->bit_flags & EXTERNAL_JOB, false);
}
static inline bool auc_is_external_node(int n)
{
	return AUC_FROM_25_05(bit_test(external_node_bitmap, n), false);
}

/* Whether a job has been requeued to start before all others. */
static inline bool auc_is_expedited(const job_record_t *job_ptr)
{
	return AUC_FROM_25_11(IS_JOB_EXPEDITING(job_ptr), false);
}

/* Whether a partition goes by another topology than the cluster's: auc_node_addr() is of that. */
static inline bool auc_has_other_topology(const part_record_t *part_ptr)
{
	return AUC_FROM_25_05(part_ptr->topology_idx, false);
}

/* RestrictedCoresPerGPU */
static inline uint16_t auc_cores_kept_per_gpu(const node_record_t *node_ptr)
{
	return AUC_FROM_24_05(node_ptr->res_cores_per_gpu, 0);
}

/* MaxCPUsPerSocket; INFINITE: none */
static inline uint32_t auc_most_of_socket(const part_record_t *part_ptr)
{
	return AUC_FROM_23_02(part_ptr->max_cpus_per_socket, INFINITE);
}

/* Whether a job has the blocks of its nodes to itself: --exclusive=topo, or its partition's rule. */
static inline bool auc_has_own_blocks(const job_record_t *job_ptr,
				      const part_record_t *part_ptr)
{
	return AUC_FROM_24_05(
		(job_ptr->details->whole_node & WHOLE_TOPO) ||
		(part_ptr && (part_ptr->flags & PART_FLAG_EXCLUSIVE_TOPO)),
		false);
}

/* What "scontrol show topology" prints, as far as it has sizes of blocks. xfree(); NULL: nothing */
static inline char *auc_topology_text(void)
{
	char *text = NULL;
#if AUC_VERSION_AT_LEAST(24, 11)
	dynamic_plugin_data_t *topology = NULL;
#if AUC_VERSION_AT_LEAST(25, 11)
	(void) topology_g_get(TOPO_DATA_TOPOLOGY_PTR, NULL, &topology);
	if (topology) {
		topology_g_topoinfo_print(topology, NULL, NULL, &text);
		topology_g_topoinfo_free(topology);
	}
#else
#if AUC_VERSION_AT_LEAST(25, 5)
	(void) topology_g_get(TOPO_DATA_TOPOLOGY_PTR, NULL, &topology);
	if (topology)
		topology_g_topology_print(topology, NULL, NULL, &text);
#else
	(void) topology_g_get(TOPO_DATA_TOPOLOGY_PTR, &topology);
	if (topology)
		topology_g_topology_print(topology, NULL, &text);
#endif
	if (topology)
		topology_g_topology_free(topology);
#endif
#endif
	return text;
}

/* The core-exclusion argument of select_p_job_test(). */
#if AUC_VERSION_AT_LEAST(23, 11)
#define AUC_EXC_PER_NODE 1 /* resv_exc_t with a bitmap a node; before: one bitmap of all cores */
typedef resv_exc_t auc_exc_t;
#else
#define AUC_EXC_PER_NODE 0
typedef bitstr_t auc_exc_t;
#endif

/* What follows it. */
#if AUC_VERSION_AT_LEAST(24, 11)
#define AUC_JOB_TEST_MORE , will_run_data_t *will_run
#define AUC_JOB_TEST_PASS , will_run
#else
#define AUC_JOB_TEST_MORE
#define AUC_JOB_TEST_PASS
#endif

/* The calls of a select plug-in that only some versions have. */
#if !AUC_VERSION_AT_LEAST(23, 2)
#define AUC_SELECT_UNTIL_23_02(X) \
	X(select_p_job_signal) X(select_p_select_jobinfo_sprint) \
	X(select_p_select_jobinfo_xstrdup) X(select_p_update_node_config)
#else
#define AUC_SELECT_UNTIL_23_02(X)
#endif
#if !AUC_VERSION_AT_LEAST(23, 11)
#define AUC_SELECT_UNTIL_23_11(X) X(select_p_resv_test)
#else
#define AUC_SELECT_UNTIL_23_11(X)
#endif
#if !AUC_VERSION_AT_LEAST(25, 5)
#define AUC_SELECT_UNTIL_25_05(X) \
	X(select_p_state_save) X(select_p_state_restore) X(select_p_job_init) \
	X(select_p_step_pick_nodes) X(select_p_step_start) \
	X(select_p_step_finish) X(select_p_select_nodeinfo_pack) \
	X(select_p_select_nodeinfo_unpack) X(select_p_select_nodeinfo_alloc) \
	X(select_p_select_nodeinfo_free) X(select_p_select_nodeinfo_get) \
	X(select_p_select_jobinfo_alloc) X(select_p_select_jobinfo_free) \
	X(select_p_select_jobinfo_set) X(select_p_select_jobinfo_get) \
	X(select_p_select_jobinfo_copy) X(select_p_select_jobinfo_pack) \
	X(select_p_select_jobinfo_unpack) X(select_p_get_info_from_plugin)
#else
#define AUC_SELECT_UNTIL_25_05(X)
#endif
#if AUC_VERSION_AT_LEAST(26, 5)
#define AUC_SELECT_FROM_26_05(X) X(select_p_job_mem_reduce)
#else
#define AUC_SELECT_FROM_26_05(X)
#endif

/* select_nodes() for a job that is to start now. */
static inline int auc_select_nodes(job_record_t *job_ptr)
{
#if AUC_VERSION_AT_LEAST(24, 11)
	job_node_select_t js = { .job_ptr = job_ptr };

	return select_nodes(&js, false, false, SLURMDB_JOB_FLAG_SCHED);
#else
	return select_nodes(job_ptr, false, NULL, NULL, false,
			    SLURMDB_JOB_FLAG_SCHED);
#endif
}

/*
 * The nodes that reservations leave to a job now; the caller must free *nodes.
 * OUT some_cores - there are reservations of single cores, which nodes can't express
 */
static inline int auc_test_resv(job_record_t *job_ptr, time_t *when,
				bitstr_t **nodes, bool *some_cores)
{
	bool overlap = false;
	int rc;
#if AUC_EXC_PER_NODE
	resv_exc_t exc = { 0 };

	rc = job_test_resv(job_ptr, when, false, nodes, &exc, &overlap, false);
	*some_cores = exc.core_bitmap || exc.exc_cores;
#if !AUC_VERSION_AT_LEAST(25, 5)
	/* Which Slurm itself forgets. */
	FREE_NULL_LIST(exc.gres_list_exc);
	FREE_NULL_LIST(exc.gres_list_inc);
#endif
	reservation_delete_resv_exc_parts(&exc);
#else
	bitstr_t *exc = NULL;

	rc = job_test_resv(job_ptr, when, false, nodes, &exc, &overlap, false);
	*some_cores = exc && (bit_ffs(exc) != -1);
	FREE_NULL_BITMAP(exc);
#endif
	return rc;
}

/* Whether the reason why a job waits is a limit of its association or QOS. */
static inline bool auc_waits_for_limit(const job_record_t *job_ptr)
{
	return AUC_FROM_24_05(
		job_state_reason_check(job_ptr->state_reason, JSR_QOS_ASSOC),
		!acct_policy_job_runnable_state((job_record_t *) job_ptr));
}

/* --extra with extra_constraints: takes off the nodes that do not meet it now. */
static inline void auc_and_extra(const job_record_t *job_ptr, bitstr_t *nodes)
{
#if AUC_VERSION_AT_LEAST(23, 11)
	for (int n = 0; job_ptr->extra_constraints && (n < node_record_count);
	     n++) {
		const node_record_t *node_ptr = node_record_table_ptr[n];

		if (bit_test(nodes, n) &&
		    (!node_ptr->extra_data ||
		     !extra_constraints_test(job_ptr->extra_constraints,
					     node_ptr->extra_data)))
			bit_clear(nodes, n);
	}
#endif
}

static inline const char *auc_extra(const job_record_t *job_ptr)
{
	return AUC_FROM_23_02(job_ptr->extra, NULL);
}

/* Whether Slurm's selection preempts others for their licences. */
static inline bool auc_preempts_for_licences(void)
{
	return AUC_FROM_24_11(
		xstrcasestr(slurm_conf.preempt_params, "reclaim_licenses"),
		false);
}

/*
 * Whether a licence of a job's list can't be counted: it is one of several, any of which will do,
 * or one of certain nodes.
 */
static inline bool auc_is_odd_licence(const licenses_t *licence)
{
	return AUC_FROM_25_05(
		licence->op_or || (licence->id.hres_id != NO_VAL16),
		false);
}

/* Whether an entry of bf_licenses_initial() is of the licence that a job wants. */
static inline bool auc_is_licence(const bf_license_t *licence,
				  const licenses_t *want)
{
	return AUC_FROM_25_05(
		licence->id.lic_id == want->id.lic_id,
		!xstrcmp(licence->name, want->name));
}

/* TRES x seconds that running jobs still may use of what a QOS grants to a user or an account. */
static inline uint64_t *auc_used_run_secs(slurmdb_used_limits_t *used)
{
#if AUC_VERSION_AT_LEAST(24, 5)
	return used->tres_run_secs;
#else
	return NULL;	/* not kept */
#endif
}

/* The nodes of a list of names; nodes that are gone are left out. RET 0 or an error */
static inline int auc_names_to_nodes(char *names, bitstr_t **nodes)
{
#if AUC_VERSION_AT_LEAST(24, 11)
	hostlist_t *gone = NULL;
	int rc = node_name2bitmap(names, true, nodes, &gone);

	FREE_NULL_HOSTLIST(gone);
	return rc;
#else
	return node_name2bitmap(names, true, nodes);
#endif
}

/* One task of an array, and the record of the last one, as jobs of their own. */
#if AUC_VERSION_AT_LEAST(24, 11)
#define auc_array_split(job_ptr) job_array_split(job_ptr, true)
#define auc_array_post_sched(job_ptr) job_array_post_sched(job_ptr, true)
#else
#define auc_array_split(job_ptr) job_array_split(job_ptr)
#define auc_array_post_sched(job_ptr) job_array_post_sched(job_ptr)
#endif

/* A job that is pending and nothing else; newer versions keep a copy of states. */
static inline void auc_set_pending(job_record_t *job_ptr)
{
#if AUC_VERSION_AT_LEAST(23, 11)
	job_state_set(job_ptr, JOB_PENDING);
#else
	job_ptr->job_state = JOB_PENDING;
#endif
}

/*
 * Whether Slurm tries a job with several QOS, one after the other. In 24.11 the list is locked
 * while it does so, also against who has locked it: not even its elements can be counted.
 */
static inline bool auc_has_several_qos(const job_record_t *job_ptr)
{
	return AUC_FROM_24_11(job_ptr->qos_list, false);
}

/* All nodes of a job have the same one of these features. */
#if !AUC_VERSION_AT_LEAST(23, 2)
#define FEATURE_OP_MOR FEATURE_OP_XOR
#endif

/* Which of its feature lists a job is scheduled by; preferred ones are not ours. */
static inline void auc_use_features(job_record_t *job_ptr)
{
	job_ptr->details->features_use = job_ptr->details->features;
	job_ptr->details->feature_list_use = job_ptr->details->feature_list;
}

/* Parses the job's gres request again, after tres_per_node was changed. */
static inline int auc_gres_validate(job_record_t *job_ptr)
{
	__typeof__(job_ptr->details) details = job_ptr->details;
#if AUC_VERSION_AT_LEAST(24, 5)
	gres_job_state_validate_t validate = {
		.cpus_per_tres = job_ptr->cpus_per_tres,
		.mem_per_tres = job_ptr->mem_per_tres,
		.tres_freq = job_ptr->tres_freq,
		.tres_per_job = job_ptr->tres_per_job,
		.tres_per_node = job_ptr->tres_per_node,
		.tres_per_socket = job_ptr->tres_per_socket,
		.tres_per_task = job_ptr->tres_per_task,
		.cpus_per_task = &details->orig_cpus_per_task,
		.max_nodes = &details->max_nodes,
		.min_cpus = &details->min_cpus,
		.min_nodes = &details->min_nodes,
		.ntasks_per_node = &details->ntasks_per_node,
		.ntasks_per_socket = &details->mc_ptr->ntasks_per_socket,
		.ntasks_per_tres = &details->ntasks_per_tres,
		.num_tasks = &details->num_tasks,
		.sockets_per_node = &details->mc_ptr->sockets_per_node,
		.gres_list = &job_ptr->gres_list_req,
	};

	return gres_job_state_validate(&validate);
#else
	return gres_job_state_validate(
		job_ptr->cpus_per_tres, job_ptr->tres_freq,
		job_ptr->tres_per_job, job_ptr->tres_per_node,
		job_ptr->tres_per_socket, job_ptr->tres_per_task,
		job_ptr->mem_per_tres, &details->num_tasks,
		&details->min_nodes, &details->max_nodes,
		&details->ntasks_per_node, &details->mc_ptr->ntasks_per_socket,
		&details->mc_ptr->sockets_per_node,
		&details->orig_cpus_per_task, &details->ntasks_per_tres,
		&job_ptr->gres_list_req);
#endif
}

/* For lists of fields of a job's record, and of its details: to declare, keep and put them back. */
#define AUC_JOB_FIELD(x) __typeof__(((job_record_t *) NULL)->x) x;
#define AUC_DETAIL_FIELD(x) __typeof__(((job_record_t *) NULL)->details->x) x;
#define AUC_KEEP_JOB(x) kept->x = job_ptr->x;
#define AUC_KEEP_DETAIL(x) kept->x = job_ptr->details->x;
#define AUC_BACK_JOB(x) job_ptr->x = kept->x;
#define AUC_BACK_DETAIL(x) job_ptr->details->x = kept->x;

#endif
