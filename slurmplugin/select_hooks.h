/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the scheduler plug-in and the select shim share. The shim owns the one
 * instance, auc_select_hooks; the scheduler finds it by dlsym() and fills it in.
 */
#ifndef AUC_SELECT_HOOKS_H
#define AUC_SELECT_HOOKS_H

#include "compat.h"

#define AUC_HOOKS_VERSION 6
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
	bool unnamed;		/* the select plug-in is given no other nodes, instead of naming them */
	/*
	 * A question instead of a start: called once, when stock code has put what the job
	 * would get into its job_resrcs and gres lists; the caller of
	 * select_p_job_test() hears that the nodes are busy. NULL: a start.
	 */
	void (*got)(job_record_t *job_ptr, void *arg);
	void *arg;
	bool asked;		/* it was called */
	/* Of a question: others may be preempted for the job; and whether some would have to be. */
	bool may_preempt, preempts;
} auc_pin_t;

typedef struct {
	uint32_t version;	/* AUC_HOOKS_VERSION */
	/* NULL: nothing is pinned. Set and cleared by the scheduler's thread. */
	auc_pin_t *pin;
	/*
	 * Whether the auction keeps a job from being started by anybody else.
	 * NULL: no. Called under the job write lock, from any thread.
	 */
	bool (*owned)(job_record_t *job_ptr);
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
