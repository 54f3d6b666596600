/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences between Slurm versions, and nothing else. */
#ifndef VSLURMD_COMPAT_H
#define VSLURMD_COMPAT_H

#include "config.h"

#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"

#define AT_LEAST(major, minor) \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

#if !AT_LEAST(22, 5)
#error "Slurm 22.05 or newer is needed"
#endif

#include "src/common/forward.h"
#include "src/common/hostlist.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/pack.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#if AT_LEAST(23, 11)
#include "src/interfaces/cred.h"
#else
#include "src/common/slurm_cred.h"
#endif
#if AT_LEAST(23, 2)
#include "src/interfaces/acct_gather_energy.h"
#include "src/interfaces/gres.h"
#else
#include "src/common/gres.h"
#include "src/common/slurm_acct_gather_energy.h"
#endif

/* What messages are unpacked with, beside slurm_init()'s. 22.05 loads plug-ins when they are needed. */
#if AT_LEAST(23, 2)
#include "src/interfaces/select.h"
#define load_plugins() do {				\
	if (select_g_init(true))			\
		fatal("plug-ins are missing");		\
} while (0)
#else
#define load_plugins() do { } while (0)
#endif

/* A list of node names; a name out of it is free()d. */
#if AT_LEAST(23, 2)
typedef hostlist_t names_t;
#else
typedef struct hostlist names_t;
#endif

/* Starts a thread that nobody waits for. */
#if AT_LEAST(23, 11)
#define start_thread(run) slurm_thread_create_detached(run, NULL)
#else
#define start_thread(run) slurm_thread_create_detached(NULL, run, NULL)
#endif

#endif
