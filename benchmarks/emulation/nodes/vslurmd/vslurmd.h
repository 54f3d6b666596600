/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vslurmd: one process that plays the slurmd of all nodes of a stock slurmctld. Nothing is
 * executed: a batch job takes the time that its script says, and has then ended well.
 *
 *	vslurmd.c	options, and the threads
 *	serve.c		what slurmctld asks of nodes
 *	forward.c	the answers of the nodes that a question is to be passed on to
 *	jobs.c		the jobs that run, by their ends
 *	script.c	how long a job takes
 *	gpus.c		how many GPUs it has
 *	report.c	says that jobs have ended
 *	nodes.c		the nodes of slurm.conf
 *	gres.c		their generic resources
 *	register.c	registers them
 *	controller.c	the way to slurmctld
 *	compat.h	the differences between Slurm versions
 *
 * All nodes have the same NodeAddr and Port, so that a question to one of them does not
 * say to which; where it matters, all of them answer.
 *
 * While there is nothing to do all threads sleep, without a time-out but that to the end of
 * the next job: whoever measures the load of the emulation is not misled.
 */
#ifndef VSLURMD_H
#define VSLURMD_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "compat.h"

/* ---- nodes.c ---- */

typedef struct {
	char *name;
	char *gres;		/* as in slurm.conf */
	uint16_t cpus, boards, sockets, cores, threads;	/* sockets: of all boards */
	uint64_t real_memory;	/* MB */
	uint32_t tmp_disk;	/* MB */
} vnode_t;

/*
 * Takes the nodes from the configuration that Slurm has read. Not while others use them. RET the
 * port that all of them share, or 0 after an error message, and nothing has changed
 */
extern uint16_t nodes_read(void);
extern int nodes_count(void);
extern const vnode_t *nodes_get(int index);

/* ---- gres.c ---- */

/* Packs the generic resources of a Gres= of slurm.conf as a node reports them. */
extern void gres_pack(const char *gres, uint32_t cpus, buf_t *buffer);

/* ---- register.c ---- */

/* Starts the threads that register nodes. */
extern void register_start(void);

/*
 * All nodes are to be registered, once more if this is going on. reread: after slurm.conf is read
 * anew
 */
extern void register_all(bool reread);

/* ---- jobs.c ---- */

/* A job that has ended, or was ended, and whose end slurmctld is to hear of. */
typedef struct {
	uint32_t job_id;
	uint32_t run;		/* tells it from others of that id */
	uint32_t status;	/* as of wait() */
	uint32_t tries;
	char *node;		/* with the script; xfree() */
} ended_t;

/*
 * A job runs from now on, for so many seconds, and has then the status, as of wait().
 * node: with its script. RET SLURM_SUCCESS, or ESLURM_DUPLICATE_JOB_ID if it runs already
 */
extern int jobs_add(uint32_t job_id, const char *node, double seconds,
		    uint32_t status);

/* slurmctld has ended the job. RET whether there was one */
extern bool jobs_remove(uint32_t job_id);

/* A signal has ended the job, and slurmctld is to hear of it. RET whether there was one */
extern bool jobs_kill(uint32_t job_id, int signal);

/* RET the node with the script of a job, xfree(), or NULL if there is no such job */
extern char *jobs_node(uint32_t job_id);

/* The jobs whose scripts are on a node; also those that have ended while slurmctld does not know. */
extern uint32_t jobs_on(const char *node, slurm_step_id_t **steps);

/* Waits until a job has ended. Several threads may wait. */
extern ended_t jobs_wait(void);

/* slurmctld has heard of the end. */
extern void jobs_reported(const ended_t *ended);

/* It has not: the job is to come out of jobs_wait() again in so many seconds. */
extern void jobs_again(const ended_t *ended, double seconds);

/* ---- script.c ---- */

/* What a job has to do: seconds, with so many GPUs a node if that is not 0. */
typedef struct {
	double seconds, gpus;
} work_t;

/* RET whether the script says what there is to do */
extern bool script_work(const char *script, work_t *work);

/* RET how long that takes with so many GPUs on each node */
extern double work_seconds(const work_t *work, uint32_t gpus);

/* ---- gpus.c ---- */

/* RET how many GPUs a job has on its first node */
extern uint32_t launch_gpus(const batch_job_launch_msg_t *launch);

/* ---- report.c ---- */

/* Starts the threads that report ends. */
extern void report_start(void);

/* ---- serve.c ---- */

/* Starts the threads that answer at a socket. */
extern void serve_start(int socket);

/* RET what a node answers that has nothing to do but to agree */
extern int serve_code(uint16_t msg_type);

/* ---- controller.c ---- */

/* Takes slurmctld's address from the configuration that Slurm has read. */
extern void controller_find(void);

/*
 * Sends a message to slurmctld and waits for its answer. Does not try again. RET SLURM_SUCCESS
 * and the return code of the answer, or SLURM_ERROR if there is no answer
 */
extern int controller_send(uint16_t msg_type, void *data, int *code);

/* RET when slurmctld was started, now if it can't be asked. Waits while it is down */
extern time_t controller_boot(void);

#endif
