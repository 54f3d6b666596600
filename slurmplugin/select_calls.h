/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The calls of a select plug-in that the shim forwards untouched: all but init, fini,
 * select_p_job_test and select_p_job_fini. They come and go with Slurm's versions.
 */
#ifndef AUC_SELECT_CALLS_H
#define AUC_SELECT_CALLS_H

#include "compat.h"

#define AUC_SELECT_CALLS(X) \
	X(select_p_node_init) X(select_p_job_begin) X(select_p_job_ready) \
	X(select_p_job_expand) X(select_p_job_resized) \
	X(select_p_job_suspend) X(select_p_job_resume) \
	X(select_p_select_nodeinfo_set_all) X(select_p_select_nodeinfo_set) \
	X(select_p_reconfigure) \
	AUC_SELECT_UNTIL_23_02(X) AUC_SELECT_UNTIL_23_11(X) \
	AUC_SELECT_UNTIL_25_05(X) AUC_SELECT_FROM_26_05(X)

#endif
