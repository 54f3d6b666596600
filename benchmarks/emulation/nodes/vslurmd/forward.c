/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld asks many nodes by asking one, which is to pass the question on and to collect
 * the answers. Those other nodes are here as well: libslurm's forward_msg(), which would
 * connect to them, is replaced by one that answers for them at once. (slurmctld's message
 * is looked at only after this; the one node that it is for does what there is to do,
 * for all.)
 */
#include <stdlib.h>

#include "vslurmd.h"

extern int forward_msg(forward_struct_t *forward, header_t *header)
{
	names_t *names = hostlist_create(header->forward.nodelist);
	int code = serve_code(header->msg_type);
	char *name;

	while ((name = hostlist_shift(names))) {
		ret_data_info_t *answer = xmalloc(sizeof(*answer));
		return_code_msg_t *message = xmalloc(sizeof(*message));

		message->return_code = code;
		answer->type = RESPONSE_SLURM_RC;
		answer->node_name = xstrdup(name);
		answer->data = message;
		list_append(forward->ret_list, answer);
		free(name);
	}
	hostlist_destroy(names);
	return SLURM_SUCCESS;
}
