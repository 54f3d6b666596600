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
#define CONTROLLERS_MAX 8
static slurm_addr_t controllers[CONTROLLERS_MAX];
static int controllers_n;
static int current;	/* the one that answered last */

/* The names are looked up once. */
extern void controller_find(void)
{
	slurm_conf_t *conf = slurm_conf_lock();

	slurm_mutex_lock(&lock);
	controllers_n = MIN(conf->control_cnt, CONTROLLERS_MAX);
	for (int i = 0; i < controllers_n; i++)
		slurm_set_addr(&controllers[i], conf->slurmctld_port, conf->control_addr[i]);
	slurm_mutex_unlock(&lock);
	slurm_conf_unlock();
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

/* One that only stands by counts as none. */
static int _send_to(slurm_addr_t *addr, uint16_t msg_type, void *data, int *code)
{
	slurm_msg_t request, reply;
	int fd, rc;

	slurm_msg_t_init(&request);
	slurm_msg_t_init(&reply);
	if ((fd = slurm_open_msg_conn(addr)) < 0)
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
	return (*code == ESLURM_IN_STANDBY_MODE) ? SLURM_ERROR : SLURM_SUCCESS;
}

/* Each controller is asked once, the one that answered last before the others. */
extern int controller_send(uint16_t msg_type, void *data, int *code)
{
	int first, n;

	slurm_mutex_lock(&lock);
	first = current;
	n = controllers_n;
	slurm_mutex_unlock(&lock);
	for (int i = 0; i < n; i++) {
		int at = (first + i) % n;
		slurm_addr_t addr = controllers[at];	/* written before there were threads */

		if (_send_to(&addr, msg_type, data, code))
			continue;
		slurm_mutex_lock(&lock);
		current = at;
		slurm_mutex_unlock(&lock);
		return SLURM_SUCCESS;
	}
	return SLURM_ERROR;
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
