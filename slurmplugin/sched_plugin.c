/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * sched/aucsched: the scheduler plug-in's entry points. Built under two names:
 * sched_aucsched.so, and sched_backfill.so for the directory that comes first in PluginDir.
 * Under the second slurm.conf keeps SchedulerType=sched/backfill, which slurmctld
 * insists on before it takes heterogeneous jobs.
 */
#include <unistd.h>

#include "agent.h"
#include "compat.h"
#include "fallback.h"
#include "journal.h"

#ifdef AUC_AS_BACKFILL
const char plugin_name[] = "Collective scheduler aucsched over Slurm's backfill";
const char plugin_type[] = "sched/backfill";
#else
const char plugin_name[] = "Collective scheduler aucsched";
const char plugin_type[] = "sched/aucsched";
#endif
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

extern int init(void)
{
	if (slurmctld_config.scheduling_disabled)
		return SLURM_SUCCESS;
	/* First the fallback: without it nothing that we leave to Slurm would start. */
	if (auc_fallback_start())
		return SLURM_ERROR;
	return auc_agent_start();
}

/*
 * From 23.11 on a reconfiguration is a new slurmctld, which first of all has the slurmds start
 * anew too. These look at the steps they have, take the script of a batch job whose step
 * is not quite there for a stray one, and delete it: the job fails.
 */
extern void fini(void)
{
	auc_agent_stop();
	auc_fallback_stop();
	if (AUC_RECONFIGURES_ANEW)
		usleep(auc_journal_rest_us());
}

extern int sched_p_reconfig(void)
{
	auc_fallback_reconfig();
	auc_agent_reconfig();
	return SLURM_SUCCESS;
}
