/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What slurmctld asks of nodes: see vslurmd.h. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vslurmd.h"

/* So many questions are answered at a time; others wait in the socket's queue. */
#define THREADS 8

/* The exit status of a job whose script has no duration. */
#define NO_DURATION (2 << 8)

#define NO_ANSWER -1

static int listener;

extern int serve_code(uint16_t msg_type)
{
	switch (msg_type) {
	case REQUEST_TERMINATE_JOB:
	case REQUEST_KILL_TIMELIMIT:
	case REQUEST_KILL_PREEMPTED:
		/* At once, without epilog: no other message tells of the end. */
		return ESLURMD_KILL_JOB_ALREADY_COMPLETE;
	case REQUEST_ABORT_JOB:
	case REQUEST_SIGNAL_TASKS:
	case REQUEST_NODE_REGISTRATION_STATUS:
	case REQUEST_PING:
	case REQUEST_HEALTH_CHECK:
	case REQUEST_ACCT_GATHER_UPDATE:
	case REQUEST_RECONFIGURE:
	case REQUEST_SHUTDOWN:
		return SLURM_SUCCESS;
	default:
		return ESLURM_NOT_SUPPORTED;
	}
}

/* The first of a job's nodes, which has its script; xfree(). */
static char *_first(const char *nodes)
{
	names_t *names = hostlist_create(nodes);
	char *name = hostlist_shift(names), *copy = xstrdup(name);

	free(name);
	hostlist_destroy(names);
	return copy;
}

static int _launch(const batch_job_launch_msg_t *launch)
{
	work_t work = { 0 };
	bool known = script_work(launch->script, &work);
	double seconds = work_seconds(&work, launch_gpus(launch));
	char *node = _first(launch->nodes);
	int rc;

	if (!known)
		error("job %u: its script does not say how long it takes",
		      launch->job_id);
	rc = jobs_add(launch->job_id, node, known ? seconds : 0,
		      known ? 0 : NO_DURATION);
	if (rc)
		error("job %u: runs already, not launched again",
		      launch->job_id);
	else
		verbose("job %u: launched on %s for %g s", launch->job_id, node,
		      seconds);
	xfree(node);
	return rc;
}

/* A job as a whole, or its script: there are no other steps. */
static int _kill(const slurm_msg_t *msg)
{
	const kill_job_msg_t *kill = msg->data;

	if ((kill->step_id.step_id == NO_VAL) ||
	    (kill->step_id.step_id == SLURM_BATCH_SCRIPT)) {
		if (jobs_remove(kill->step_id.job_id))
			verbose("job %u: ended by slurmctld",
			      kill->step_id.job_id);
	}
	return serve_code(msg->msg_type);
}

/* What ends a process that does nothing about it. */
static bool _is_fatal(int number)
{
	switch (number) {
	case SIGCHLD:
	case SIGCONT:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return (number > 0) && (number < NSIG);
	}
}

static int _signal(const signal_tasks_msg_t *signal)
{
	bool script = (signal->flags & (KILL_FULL_JOB | KILL_JOB_BATCH)) ||
		(signal->step_id.step_id == SLURM_BATCH_SCRIPT);

	if (script && _is_fatal(signal->signal))
		(void) jobs_kill(signal->step_id.job_id, signal->signal);
	return SLURM_SUCCESS;
}

/* Whether the script of a job is there. RET whether that was the answer */
static bool _pids(slurm_msg_t *msg)
{
	const slurm_step_id_t *step = msg->data;
	job_step_pids_t pids = { .node_name = jobs_node(step->job_id) };
	slurm_msg_t reply;

	if (!pids.node_name)
		return false;
	slurm_msg_t_copy(&reply, msg);
	reply.msg_type = RESPONSE_JOB_STEP_PIDS;
	reply.data = &pids;
	slurm_send_node_msg(msg->conn_fd, &reply);
	xfree(pids.node_name);
	return true;
}

/* RET the return code to answer with, or NO_ANSWER: none is wanted, or it was another one */
static int _answer(slurm_msg_t *msg)
{
	if ((msg->auth_uid != slurm_conf.slurm_user_id) && msg->auth_uid) {
		error("%s from user %u refused", rpc_num2string(msg->msg_type),
		      msg->auth_uid);
		return ESLURM_USER_ID_MISSING;
	}
	switch (msg->msg_type) {
	case REQUEST_BATCH_JOB_LAUNCH:
		return _launch(msg->data);
	case REQUEST_TERMINATE_JOB:
	case REQUEST_KILL_TIMELIMIT:
	case REQUEST_KILL_PREEMPTED:
	case REQUEST_ABORT_JOB:
		return _kill(msg);
	case REQUEST_SIGNAL_TASKS:
		return _signal(msg->data);
	case REQUEST_JOB_STEP_PIDS:
		return _pids(msg) ? NO_ANSWER : ESLURM_INVALID_JOB_ID;
	case REQUEST_NODE_REGISTRATION_STATUS:
		register_all(false);
		break;
	case REQUEST_RECONFIGURE:
		register_all(true);
		return NO_ANSWER;
	case REQUEST_SHUTDOWN:
		return NO_ANSWER;
	}
	return serve_code(msg->msg_type);
}

static void _serve(int fd, slurm_addr_t *addr)
{
	slurm_msg_t *msg = xmalloc(sizeof(*msg));
	bool ends;

	slurm_msg_t_init(msg);
	if (!slurm_receive_msg_and_forward(fd, addr, msg)) {
		int code;

		debug2("%s", rpc_num2string(msg->msg_type));
		if ((code = _answer(msg)) != NO_ANSWER)
			slurm_send_rc_msg(msg, code);
	}
	ends = (msg->msg_type == REQUEST_SHUTDOWN);
	if (msg->conn_fd >= 0)
		close(msg->conn_fd);
	slurm_free_msg(msg);
	if (ends) {
		info("shut down by slurmctld");
		_exit(0);
	}
}

static void *_run(void *arg)
{
	while (true) {
		slurm_addr_t addr = { 0 };
		int fd = slurm_accept_msg_conn(listener, &addr);

		if (fd >= 0)
			_serve(fd, &addr);
		else
			error("accept: %m");
	}
	return NULL;
}

extern void serve_start(int socket)
{
	listener = socket;
	for (int i = 0; i < THREADS; i++)
		start_thread(_run);
}
