/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to slurmctld: see vslurmd.h. Slurm's own calls for it try again for minutes while
 * slurmctld is down, in a thread that has to wait for that.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vslurmd.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static slurm_addr_t controller;

/* The name is looked up once. */
extern void controller_find(void)
{
	slurm_conf_t *conf = slurm_conf_lock();
	slurm_addr_t addr;

	slurm_set_addr(&addr, conf->slurmctld_port, conf->control_addr[0]);
	slurm_conf_unlock();
	slurm_mutex_lock(&lock);
	controller = addr;
	slurm_mutex_unlock(&lock);
}

/*
 * A connection that is closed after its answer leaves nothing behind: thousands that the
 * kernel keeps for a minute make it slow to find a port for the next.
 */
static void _forget_when_closed(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	(void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

extern int controller_send(uint16_t msg_type, void *data, int *code)
{
	slurm_msg_t request, reply;
	slurm_addr_t addr;
	int fd, rc;

	slurm_msg_t_init(&request);
	slurm_msg_t_init(&reply);
	slurm_mutex_lock(&lock);
	addr = controller;
	slurm_mutex_unlock(&lock);
	if ((fd = slurm_open_msg_conn(&addr)) < 0)
		return SLURM_ERROR;
	_forget_when_closed(fd);
	request.msg_type = msg_type;
	request.data = data;
	slurm_msg_set_r_uid(&request, SLURM_AUTH_UID_ANY);
	rc = slurm_send_recv_msg(fd, &request, &reply, 0);
	close(fd);		/* which that does not */
	if (rc)
		return SLURM_ERROR;
	*code = slurm_get_return_code(reply.msg_type, reply.data);
	slurm_free_msg_members(&reply);
	return SLURM_SUCCESS;
}

extern time_t controller_boot(void)
{
	slurm_conf_t *conf = NULL;
	time_t boot;

	if (slurm_load_ctl_conf(0, &conf))
		return time(NULL);
	boot = conf->boot_time;
	slurm_free_ctl_conf(conf);
	return boot;
}
