/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the scheduler plug-in and the select shim share. The shim owns the one
 * instance, auc_select_hooks; the scheduler finds it by dlsym() and fills it in.
 */
#ifndef AUC_SELECT_HOOKS_H
#define AUC_SELECT_HOOKS_H

#include "compat.h"

#define AUC_HOOKS_VERSION 8
#define AUC_HOOKS_SYMBOL "auc_select_hooks"

/*
 * The place of the job that is being started, or asked about. Lives on the stack of the
 * scheduler's thread for the duration of one select_nodes(), under the job and node
 * write locks; nobody else calls select_p_job_test() to run a job meanwhile.
 */
typedef struct {
	job_record_t *job_ptr;
	bitstr_t *nodes;	/* by node index */
	bitstr_t **cores;	/* [node]: the cores to take; NULL: any */
	bitstr_t **gpus;	/* [node]: the GPU indices to take; NULL: any */
	uint32_t share_gres;	/* the job gets its shares on share_node of one device of this gres; */
	int share_node, device;	/* 0: it gets none, or of any */
	bool unnamed;		/* the select plug-in is given no other nodes, instead of naming them */
	/*
	 * A question instead of a start: called once, when stock code has put what the job
	 * would get into its job_resrcs and gres lists; the caller of
	 * select_p_job_test() hears that the nodes are busy. NULL: a start.
	 */
	void (*got)(job_record_t *job_ptr, void *arg);
	void *arg;
	bool asked;		/* it was called */
	/*
	 * Of a question: others may be preempted for the job, with victims no others than those with
	 * these ids; and whether some would have to be: which, got() may look at.
	 */
	bool may_preempt, preempts;
	const uint32_t *victims;
	uint32_t victims_len;
	list_t *preempted;	/* stock code's; NULL: nobody, or got() is over */
} auc_pin_t;

/* Whose it is to start a job. */
typedef enum {
	AUC_SLURMS,		/* Slurm's */
	AUC_ON_FREE,		/* Slurm's, if it preempts nobody for it */
	AUC_AUCTIONED		/* the auction's alone */
} auc_whose_t;

typedef struct {
	uint32_t version;	/* AUC_HOOKS_VERSION */
	/* NULL: nothing is pinned. Set and cleared by the scheduler's thread. */
	auc_pin_t *pin;
	/*
	 * Whether the auction keeps a job from being started by anybody else.
	 * NULL: no. Called under the job write lock, from any thread.
	 */
	auc_whose_t (*whose)(job_record_t *job_ptr);
	/*
	 * Takes those off nodes that are kept for other jobs, before anybody else finds a job its
	 * nodes to run now. NULL: there are none. Called under the job write lock, from any thread.
	 */
	void (*keep)(job_record_t *job_ptr, bitstr_t *nodes);
	/*
	 * A job started by anybody else has been found its nodes; a job gives its nodes
	 * back. NULL: nobody wants to know. Called under the job write lock, from any
	 * thread.
	 */
	void (*taken)(job_record_t *job_ptr);
	void (*freed)(job_record_t *job_ptr);
	/*
	 * The thread's own: when it last took in, by job_submit/aucsched, a job that must start at
	 * once or fail (srun --immediate); 0: the last one was another. See auc_is_immediate().
	 */
	time_t *(*immediate)(void);
	/* auc_mode=shadow: all calls are stock's, as if there were no shim. */
	bool aside;
} auc_select_hooks_t;

/*
 * Whether a job is the one that a thread took in at since, so that it is Slurm's. It is
 * asked about at once, in the same thread; what the thread does later is about other jobs.
 */
static inline bool auc_is_immediate(time_t since, time_t submitted, time_t now)
{
	return since && (submitted >= since) && (submitted <= since + 1) &&
		(now <= since + 1);
}

#endif
