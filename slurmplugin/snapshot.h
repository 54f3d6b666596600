/*
 * What the files share that take the snapshot; the rest of the scheduler has scheduler.h.
 *
 * Everything here is called by auc_snapshot_take(), in the agent's thread and under the
 * locks. The arrays are the snapshot's: they grow, and are kept from cycle to cycle.
 */
#ifndef AUC_SNAPSHOT_H
#define AUC_SNAPSHOT_H

#include "scheduler.h"

/* ---- nodes.c ---- */

/*
 * Every node of the table: cores and memory as if no job were running, free GPUs as
 * Slurm counts them.
 */
extern void auc_add_nodes(auc_snapshot_t *snapshot);

/* ---- running.c ---- */

/* Takes what running jobs hold off the nodes, which must be there. */
extern void auc_add_running(auc_snapshot_t *snapshot);

/* ---- files.c ---- */

/* What nodes keep of files, which must be there; nothing with auc_locality=no. */
extern void auc_add_stores(auc_snapshot_t *snapshot,
			   const auc_settings_t *settings);

/* The file of the job that comes next, if it names one. RET whether it does */
extern bool auc_add_job_read(auc_snapshot_t *snapshot,
			     const job_record_t *job_ptr);
extern void auc_add_running_read(auc_snapshot_t *snapshot,
				 const job_record_t *job_ptr);

/* ---- claims.c ---- */

/* More claims than this are not looked at: those of the first jobs count. */
#define AUC_CLAIMS_MAX 64

/* What a job that is left to Slurm has been promised by the backfill scheduler. */
typedef struct {
	time_t start;
	bitstr_t *nodes;	/* owned */
} auc_claim_t;

typedef struct {
	auc_claim_t claims[AUC_CLAIMS_MAX];
	int len;
} auc_claims_t;

/* Notes what a job is planned to get, if it is. */
extern void auc_claims_add(auc_claims_t *claims, job_record_t *job_ptr);

/* Takes off nodes those of claims that start before end. */
extern void auc_claims_exclude(const auc_claims_t *claims, int64_t end,
			       bitstr_t *nodes);
extern void auc_claims_free(auc_claims_t *claims);

/* ---- left_to_slurm.c ---- */

/* Describes a record's job to the auction. RET NULL, or why it is left to Slurm */
extern const char *auc_why_left(const auc_snapshot_t *snapshot,
				const job_queue_rec_t *record,
				const auc_memo_t *memo, auc_request_t *request);

/* Whether there is a job that this one may preempt. */
extern bool auc_may_preempt(job_record_t *job_ptr);

/* Notes that a job is left to Slurm, and logs why if that is news. */
extern void auc_leave(auc_snapshot_t *snapshot, job_record_t *job_ptr,
		      auc_memo_t *memo, const char *why);

/* A job behind all that the library is given: Slurm may find a gap for it. */
extern void auc_leave_beyond(auc_snapshot_t *snapshot, job_record_t *job_ptr,
			     auc_memo_t *memo);

/* The same where nobody may, unless the job is left to Slurm for what it asks for. */
extern void auc_keep_beyond(auc_snapshot_t *snapshot,
			    const job_queue_rec_t *record, auc_memo_t *memo);

/* ---- asleep.c ---- */

/* Which nodes are powered down. */
extern void auc_add_asleep(auc_snapshot_t *snapshot);

/* Takes them off the nodes that a job is shown, if those that are up would do. RET whether it did */
extern bool auc_let_sleep(const auc_snapshot_t *snapshot,
			  const struct aucsched_job *job, bitstr_t *nodes);

/* ---- memory.c ---- */

/* Whether memory is given out in the partition. Conf and partition read locks. */
extern bool auc_consumes_memory(const part_record_t *part_ptr);

/* ---- overdue.c ---- */

/* The queue begins; then its jobs in their order. IN waited - s */
extern void auc_overdue_begin(int net_s);
extern void auc_overdue_add(const job_record_t *job_ptr, uint32_t waited);

/* ---- masks.c ---- */

/* A queue's jobs are mostly alike: so many different masks are compared with. */
#define AUC_RECENT_MASKS 16

/* The bitmap of mask m is at m % AUC_RECENT_MASKS, and owned. */
typedef struct {
	bitstr_t *recent[AUC_RECENT_MASKS];
} auc_masks_t;

/*
 * The nodes that Slurm would let the job have: its partition's, less those excluded,
 * those that lack a feature or the memory, those of reservations that it would run
 * into, and those of claims.
 * IN/OUT request - becomes approximate if memory keeps nodes from it
 * OUT nodes - caller must free
 * IN/OUT why - NULL; set if the job is left to Slurm
 * RET false, without nodes, if the job can't run now, or is left to Slurm
 */
extern bool auc_eligible_nodes(const auc_snapshot_t *snapshot,
			       const job_queue_rec_t *record,
			       auc_request_t *request,
			       const auc_claims_t *claims, bitstr_t **nodes,
			       const char **why);

/* The index of a mask, added if none of the last few is the same. Takes nodes over. */
extern int32_t auc_add_mask(auc_snapshot_t *snapshot, auc_masks_t *masks,
			    bitstr_t *nodes);
extern void auc_masks_free(auc_masks_t *masks);

/* ---- limits.c ---- */

/* Whether AccountingStorageEnforce has limits. */
extern bool auc_limits_enforced(void);

/* assoc_mgr's write locks of associations and QOS, and its read lock of TRES. */
extern void auc_limits_lock(void);
extern void auc_limits_unlock(void);

/*
 * What a job counts against limits, by what the auction would give it: never more than
 * Slurm will count when it starts. Arrays of slurmctld_tres_cnt.
 */
typedef struct {
	uint64_t *tres;		/* owned */
	uint64_t *run_secs;	/* TRES x seconds; behind tres */
} auc_need_t;

/* With auc_limits_lock(). Free with auc_need_free(). */
extern void auc_need_count(job_record_t *job_ptr, const auc_request_t *request,
			   auc_need_t *need);
extern void auc_need_free(auc_need_t *need);

typedef enum {
	AUC_ASSOC,
	AUC_QOS,
	AUC_QOS_ACCOUNT,	/* what an account has of a QOS; sub: its association */
	AUC_QOS_USER,		/* what a user has; sub: the user */
	AUC_LICENCE,
} auc_holder_kind_t;

/* Whose limits count for a job, and where Slurm counts what is used of them. */
typedef struct {
	auc_holder_kind_t kind;
	uint32_t id, sub;
	uint64_t *tres, *run_secs; /* run_secs: NULL if nobody asks for them */
	uint32_t *jobs;
	bitstr_t *nodes;	/* that are used; NULL: none, or nodes are not limited */
	uint64_t spared;	/* of nodes, by auc_spare_nodes() */
	bool narrowed;		/* the job gets none but nodes */
} auc_holder_t;

#define AUC_HOLDERS_MAX 32

/*
 * Those who have limits. With auc_limits_lock(), which holders don't outlive; 0 for a job without
 * a valid association.
 */
extern int auc_holders(job_record_t *job_ptr, auc_holder_t *holders);

/* Takes nodes off usage that the job may share, and puts them back. With auc_limits_lock(). */
extern void auc_spare_nodes(const auc_snapshot_t *snapshot,
			    const auc_request_t *request,
			    const auc_need_t *need, auc_holder_t *holders,
			    int len);
extern void auc_unspare_nodes(auc_holder_t *holders, int len);

/*
 * Whether Slurm would start the job, as far as limits go. The job is as it was afterwards. With
 * auc_limits_lock(), and only if it has holders.
 */
extern bool auc_limits_ask(job_record_t *job_ptr, const auc_need_t *need);

/*
 * Whether limits on what jobs ask for allow the request; the job is as it was. Takes the locks by
 * itself, as what follows.
 */
extern bool auc_limits_allow(const auc_snapshot_t *snapshot,
			     job_record_t *job_ptr,
			     const auc_request_t *request);

/* What was found of a job, for those that are like it. */
typedef struct {
	const job_record_t *job_ptr; /* NULL: nothing */
	auc_request_t request;
	bool may;		/* Slurm would start it, as far as limits go */
	uint32_t reason;	/* if not */
	slurmdb_qos_rec_t *blocking;
	bool held;		/* the ledger had no row for it, */
	bool left;		/* and it was left to Slurm */
} auc_verdict_t;

#define AUC_VERDICTS 16

/* Zero at first; good for as long as the locks are held and no job starts or ends. */
typedef struct {
	auc_verdict_t kept[AUC_VERDICTS], unlimited;
	uint32_t next;
} auc_verdicts_t;

/*
 * Whether Slurm would start the job, as far as limits go, and if not the reason for users to
 * see; a job that may, and waited for a limit until now, is told Priority.
 * OUT limit - the reason for which it did, or WAIT_NO_REASON
 * RET the verdict; NULL: it may not
 */
extern auc_verdict_t *auc_within_limits(auc_verdicts_t *verdicts,
					const auc_snapshot_t *snapshot,
					job_record_t *job_ptr,
					const auc_request_t *request,
					uint32_t *limit);

/* ---- ledger.c ---- */

typedef struct auc_ledger auc_ledger_t;

/* For one snapshot. */
extern auc_ledger_t *auc_ledger_new(void);
extern void auc_ledger_free(auc_ledger_t *ledger);

/*
 * Admits rows of a job that is within all limits by itself, as many as can start together with
 * the rows before, and notes them.
 * IN/OUT request - with a smaller range of GPUs if the limits have no room for more
 * IN/OUT nodes - the job's; less those that a limit on nodes keeps from it
 * OUT left - there are none, and the job may be left to Slurm
 */
extern uint32_t auc_ledger_admit(auc_ledger_t *ledger,
				 const auc_snapshot_t *snapshot,
				 job_record_t *job_ptr,
				 auc_request_t *request, bitstr_t *nodes,
				 uint32_t copies, bool *left);

/* ---- queue.c ---- */

/*
 * The pending jobs in the order in which Slurm would try them, with their masks and what
 * stock Slurm would give the first of them. Nodes and running jobs must be there.
 */
extern void auc_add_queue(auc_snapshot_t *snapshot,
			  const auc_settings_t *settings,
			  auc_select_hooks_t *hooks, uint32_t cycle);

#endif
