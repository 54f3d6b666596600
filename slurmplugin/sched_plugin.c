/* SPDX-License-Identifier: GPL-2.0-or-later */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "agent.h"
#include "common.h"
#include "save.h"

/*
 * The safety net: Slurm's own backfill scheduler, from the stock sched_backfill.so,
 * runs beside the auction with its own settings and its own thread. It starts whatever
 * is left to Slurm, in priority order, plans starts for the rest, and takes over all jobs
 * as soon as the auction stops claiming them.
 */

static void *stock;
static int (*stock_init)(void);
static void (*stock_fini)(void);
static int (*stock_reconfig)(void);

static int _load(void)
{
	stock = auc_plugin_open("sched_backfill.so", RTLD_LAZY | RTLD_LOCAL,
				AUC_STOCK);
	if (!stock) {
		error("aucsched: no stock sched_backfill.so along PluginDir=%s: name Slurm's own directory there too, after that of aucsched",
		      slurm_conf.plugindir);
		return SLURM_ERROR;
	}
	stock_init = dlsym(stock, "init");
	stock_fini = dlsym(stock, "fini");
	if (!(stock_reconfig = dlsym(stock, "sched_p_reconfig")))
		stock_reconfig = dlsym(stock, "slurm_sched_p_reconfig");
	if (stock_init && stock_fini && stock_reconfig)
		return SLURM_SUCCESS;
	error("aucsched: the stock sched_backfill.so lacks a symbol");
	return SLURM_ERROR;
}

/*
 * sched/aucsched: the scheduler plug-in's entry points. Built under two names:
 * sched_aucsched.so, and sched_backfill.so for the directory that comes first in PluginDir.
 * Under the second slurm.conf keeps SchedulerType=sched/backfill, which slurmctld
 * insists on before it takes heterogeneous jobs.
 */

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
	/* First Slurm's: without it nothing that we leave to it would start. It has a thread. */
	if ((!stock && _load()) || stock_init())
		return SLURM_ERROR;
	return auc_agent_start();
}

/*
 * From 23.11 on a reconfiguration is a new slurmctld, which first of all has the slurmds start
 * again too. These look at the steps they have, take the script of a batch job whose step
 * is not quite there for a stray one, and delete it: the job fails.
 */
extern void fini(void)
{
	auc_agent_stop();
	if (stock_fini)
		stock_fini();
	if (AUC_RECONFIGURES_ANEW)
		usleep(auc_journal_rest_us());
}

extern int sched_p_reconfig(void)
{
	if (stock_reconfig)
		stock_reconfig();
	auc_agent_reconfig();
	return SLURM_SUCCESS;
}
