/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What running jobs hold of the nodes, and until when. Job and node read locks. */
#ifndef AUC_RUNNING_H
#define AUC_RUNNING_H

#include "snapshot.h"

/* Takes what running jobs hold off the nodes, which must be there. */
extern void auc_add_running(auc_snapshot_t *snapshot);

#endif
