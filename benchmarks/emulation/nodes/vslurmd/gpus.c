/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many GPUs a job has on the node with its script: see vslurmd.h. */
#include "vslurmd.h"

static int _is_gpu(void *x, void *key)
{
	return ((gres_state_t *) x)->plugin_id == *(uint32_t *) key;
}

/* The credential of a launch has the job's GRES, of its nodes in their order. */
extern uint32_t launch_gpus(const batch_job_launch_msg_t *launch)
{
	uint32_t gpu = gres_build_id("gpu"), count = 0;
	slurm_cred_arg_t *cred;
	gres_state_t *state = NULL;
	gres_job_state_t *job;

	if (!launch->cred || !(cred = slurm_cred_get_args(launch->cred)))
		return 0;
	if (cred->job_gres_list)
		state = list_find_first(cred->job_gres_list, _is_gpu, &gpu);
	job = state ? state->gres_data : NULL;
	if (job && job->node_cnt && job->gres_cnt_node_alloc)
		count = job->gres_cnt_node_alloc[0];
	slurm_cred_unlock_args(launch->cred);
	return count;
}
