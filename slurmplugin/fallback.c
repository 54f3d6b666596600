/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The safety net: Slurm's own backfill scheduler, from the stock sched_backfill.so,
 * runs beside the auction with its own settings and its own thread. It starts whatever
 * is left to Slurm, in priority order, plans starts for the rest, and takes over all jobs
 * as soon as the auction stops claiming them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "compat.h"
#include "fallback.h"
#include "plugin_dir.h"

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

extern int auc_fallback_start(void)
{
	if (!stock && _load())
		return SLURM_ERROR;
	return stock_init();
}

extern void auc_fallback_reconfig(void)
{
	if (stock_reconfig)
		stock_reconfig();
}

extern void auc_fallback_stop(void)
{
	if (stock_fini)
		stock_fini();
}
