/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers the nodes: see vslurmd.h. All of them, whichever was asked for, as the first node
 * that a question goes to is not named in it. slurmctld asks when it starts, and,
 * unless SlurmdTimeout is 0, now and then.
 */
#include <pthread.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "vslurmd.h"

/* slurmctld takes one at a time; more than one is under way. */
#define THREADS 4

/* A node has been up for so long when vslurmd starts: it was not rebooted. */
#define UP_SECONDS 3600

#define PAUSE_SECONDS 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;

/* Of the nodes, those from next on are to be registered. */
static int next;
static bool again;		/* all of them, after those */
static time_t started;
static struct utsname machine;

/* What a node says of itself. RET whether slurmctld has heard of it */
static bool _register(const vnode_t *node)
{
	const slurm_conf_node_t *line = node->line;
	slurm_node_registration_status_msg_t message = {
		.arch = machine.machine,
		.os = "vslurmd",
		.node_name = node->name,
		.hostname = node->name,
		.version = SLURM_VERSION_STRING,
		.cpus = line->cpus,
		.boards = line->boards,
		.sockets = line->tot_sockets,
		.cores = line->cores,
		.threads = line->threads,
		.real_memory = line->real_memory,
		.free_mem = line->real_memory,
		.tmp_disk = line->tmp_disk,
		.hash_val = slurm_conf.hash_val,
		.slurmd_start_time = started,
		.timestamp = time(NULL),
	};
	int code, rc;

	message.up_time = message.timestamp - started + UP_SECONDS;
	message.energy = acct_gather_energy_alloc(1);
	message.gres_info = init_buf(256);
	gres_pack(line->gres, line->cpus, message.gres_info);
	message.job_count = jobs_on(node->name, &message.step_id);
	rc = controller_send(MESSAGE_NODE_REGISTRATION_STATUS, &message, &code);
	xfree(message.step_id);
	free_buf(message.gres_info);
	acct_gather_energy_destroy(message.energy);
	if (!rc && code)
		error("node %s: slurmctld on its registration: %s", node->name,
		      slurm_strerror(code));
	return !rc;
}

/* The next node that is to be registered. */
static const vnode_t *_next(void)
{
	const vnode_t *node;

	slurm_mutex_lock(&lock);
	while ((next == nodes_count()) && !again)
		slurm_cond_wait(&wanted, &lock);
	if (next == nodes_count()) {
		next = 0;
		again = false;
	}
	node = nodes_get(next++);
	slurm_mutex_unlock(&lock);
	return node;
}

/* As long as slurmctld is down; when it comes up it asks by itself, but perhaps not for all. */
static void *_run(void *arg)
{
	while (true) {
		const vnode_t *node = _next();

		while (!_register(node))
			sleep(PAUSE_SECONDS);
		debug("node %s: registered", node->name);
	}
	return NULL;
}

extern void register_all(void)
{
	slurm_mutex_lock(&lock);
	again = true;
	slurm_cond_broadcast(&wanted);
	slurm_mutex_unlock(&lock);
}

extern void register_start(void)
{
	started = time(NULL);
	uname(&machine);
	next = nodes_count();
	for (int i = 0; i < THREADS; i++)
		slurm_thread_create_detached(NULL, _run, NULL);
	register_all();
}
