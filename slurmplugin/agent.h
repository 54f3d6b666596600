/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The thread that runs the cycles: for the entry points of the plug-in. Its callers may hold locks
 * of slurmctld's.
 */
#ifndef AUC_AGENT_H
#define AUC_AGENT_H

extern int auc_agent_start(void);
extern void auc_agent_stop(void);
extern void auc_agent_reconfig(void);

#endif
