/*
 * What the files share that take the snapshot; the rest of the scheduler has scheduler.h.
 *
 * Everything here is called by auc_snapshot_take(), in the agent's thread and under the
 * locks. The arrays are the snapshot's: they grow, and are kept from cycle to cycle.
 */
#ifndef AUC_SNAPSHOT_H
#define AUC_SNAPSHOT_H

#include "scheduler.h"

/* ---- snapshot.c ---- */

/* A job's segment of node n, joined to the one before where that is alike. */
extern void auc_add_segment(struct aucsched_segment **segments, size_t *cap,
			    uint32_t *len, uint32_t first, int n,
			    uint16_t cores, uint8_t gpus);

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

/* ---- left.c ---- */

/* Describes a record's job to the auction. RET NULL, or why it is left to Slurm */
extern const char *auc_why_left(const auc_snapshot_t *snapshot,
				const job_queue_rec_t *record,
				const auc_memo_t *memo, auc_request_t *request);

/* Notes that a job is left to Slurm, and logs why if that is news. */
extern void auc_leave(auc_snapshot_t *snapshot, job_record_t *job_ptr,
		      auc_memo_t *memo, const char *why);

/* A job behind all that the library is given: Slurm may find a gap for it. */
extern void auc_leave_beyond(auc_snapshot_t *snapshot, job_record_t *job_ptr,
			     auc_memo_t *memo);

/* The same where nobody may, unless the job is left to Slurm for what it asks for. */
extern void auc_keep_beyond(auc_snapshot_t *snapshot,
			    const job_queue_rec_t *record, auc_memo_t *memo);

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

/* ---- queue.c ---- */

/*
 * The pending jobs in the order in which Slurm would try them, with their masks and what
 * stock Slurm would give the first of them. Nodes and running jobs must be there.
 */
extern void auc_add_queue(auc_snapshot_t *snapshot,
			  const auc_settings_t *settings,
			  auc_select_hooks_t *hooks, uint32_t cycle);

#endif
