/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers the nodes: see vslurmd.h. Whichever was asked for, as the first node that a
 * question goes to is not named in it, all those are that have not done so lately with this
 * slurmctld. It asks when it starts, in many questions, and then, unless SlurmdTimeout is 0,
 * now and then.
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

/* A node that has registered with this slurmctld need not do so again for so long. */
#define FRESH_SECONDS 300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;

/* Of the nodes, those from next on are to be looked at. */
static int next;
static bool again;		/* all of them, after those */
static bool reread;		/* after slurm.conf is read anew */
static bool asking;		/* when slurmctld was started, before that */
static time_t *registered;	/* when, of each node */
static time_t needed;		/* those that have registered later are not to */
static int working;		/* on so many of them */
static int anew;		/* so many have registered in this round */
static time_t started;
static struct utsname machine;

/* What a node says of itself. RET whether slurmctld has heard of it */
static bool _register(const vnode_t *node)
{
	slurm_node_registration_status_msg_t message = {
		.arch = machine.machine,
		.os = "vslurmd",
		.node_name = node->name,
		.hostname = node->name,
		.version = SLURM_VERSION_STRING,
		.cpus = node->cpus,
		.boards = node->boards,
		.sockets = node->sockets,
		.cores = node->cores,
		.threads = node->threads,
		.real_memory = node->real_memory,
		.free_mem = node->real_memory,
		.tmp_disk = node->tmp_disk,
		.hash_val = slurm_conf.hash_val,
		.slurmd_start_time = started,
		.timestamp = time(NULL),
	};
	int code, rc;

	message.up_time = message.timestamp - started + UP_SECONDS;
	message.energy = acct_gather_energy_alloc(1);
	message.gres_info = init_buf(256);
	gres_pack(node->gres, node->cpus, message.gres_info);
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

/* No node is worked on. A port can't change: there are those who know the old one. */
static void _reread(void)
{
	slurm_conf_reinit(NULL);
	controller_find();
	if (!nodes_read())
		error("the nodes stay as they were");
	xfree(registered);
	registered = xcalloc(nodes_count(), sizeof(*registered));
}

/* Begins a round. Lock, which it lets go of. */
static void _begin(void)
{
	bool rereads = reread;
	time_t boot;

	again = reread = false;
	asking = true;
	slurm_mutex_unlock(&lock);
	if (rereads)
		_reread();
	boot = controller_boot();
	slurm_mutex_lock(&lock);
	needed = MAX(boot, time(NULL) - FRESH_SECONDS);
	next = anew = 0;
	asking = false;
	slurm_cond_broadcast(&wanted);
}

/* The next node that is to be registered. */
static int _next(void)
{
	int index;

	slurm_mutex_lock(&lock);
	do {
		while (asking || (next == nodes_count())) {
			if (again && !asking && (!reread || !working))
				_begin();
			else
				slurm_cond_wait(&wanted, &lock);
		}
		index = next++;
	} while (registered[index] > needed);
	working++;
	slurm_mutex_unlock(&lock);
	return index;
}

static void _done(int index)
{
	slurm_mutex_lock(&lock);
	registered[index] = time(NULL);
	anew++;
	if (!--working && (next == nodes_count())) {
		info("all nodes are registered, %d of them anew", anew);
		slurm_cond_broadcast(&wanted);
	}
	slurm_mutex_unlock(&lock);
}

/* As long as slurmctld is down; when it comes up it asks by itself, but perhaps not for all. */
static void *_run(void *arg)
{
	while (true) {
		int index = _next();

		while (!_register(nodes_get(index)))
			sleep(PAUSE_SECONDS);
		debug("node %s: registered", nodes_get(index)->name);
		_done(index);
	}
	return NULL;
}

extern void register_all(bool rereads)
{
	slurm_mutex_lock(&lock);
	again = true;
	reread |= rereads;
	slurm_cond_broadcast(&wanted);
	slurm_mutex_unlock(&lock);
}

extern void register_start(void)
{
	started = time(NULL);
	uname(&machine);
	next = nodes_count();
	registered = xcalloc(next, sizeof(*registered));
	for (int i = 0; i < THREADS; i++)
		start_thread(_run);
	register_all(false);
}
