/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to slurmctld: see vslurmd.h. Slurm's own calls for it try again for minutes while
 * slurmctld is down, in a thread that has to wait for that.
 */
#include <unistd.h>

#include "vslurmd.h"

extern int controller_send(uint16_t msg_type, void *data, int *code)
{
	slurm_msg_t request, reply;
	slurm_addr_t addr;
	int fd, rc;

	slurm_msg_t_init(&request);
	slurm_msg_t_init(&reply);
	slurm_set_addr(&addr, slurm_conf.slurmctld_port,
		       slurm_conf.control_addr[0]);
	if ((fd = slurm_open_msg_conn(&addr)) < 0)
		return SLURM_ERROR;
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
